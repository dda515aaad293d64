"""The strip of a chapter: which page is read, and that its place stays while images come and after a visit."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.pages.test_reading import CHAPTER, NEXT, SERIES, SHELF, open_chapter, remember, turn, wait_for_page
from tests.support import browser, images
from tests.support.browser import WIDE, Tab
from tests.support.page_sites import PageSite

pytestmark = browser.reads_pages

TALL = replace(WIDE, height=1600)
POSITION = "parseInt(document.querySelector('#position')?.textContent)"
FINISHED = f"{SHELF}.series['{SERIES}'].finished"
FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture
def tall(chromium: browser.Browser) -> Iterator[Tab]:
    """A tab that is taller than a page."""
    with chromium.tab(TALL) as opened:
        opened.send("Network.setBypassServiceWorker", bypass=True)
        yield opened
        assert opened.complaints() == []


def file_of(site: PageSite, chapter: str, name: str) -> str:
    return site.url(f"/media{chapter.replace('reader', 'series')}{name}")


def top_of(number: int) -> str:
    return f"document.querySelector('#page-{number}').getBoundingClientRect().top"


def scroll_to(tab: Tab, place: str) -> None:
    tab.run(f"scrollTo({{ top: {place}, behavior: 'instant' }})")


def test_a_short_last_page_is_read_at_the_end(example: PageSite, tall: Tab) -> None:
    """It never gets to the middle of a tall window. On the way up, the others are read again."""
    tall.intercept(file_of(example, CHAPTER, "006.jpg"), "image/png", images.png(700, 70))
    tall.send("Emulation.setDeviceMetricsOverride", width=1280, height=2400, deviceScaleFactor=1, mobile=False)
    tall.open(example.url(CHAPTER))
    tall.wait_until(f"{POSITION} > 0")
    for number in (1, 2, 3):
        scroll_to(tall, f"scrollY + {top_of(number)} - 1000")
        tall.wait_until(f"{POSITION} === {number}")
    assert tall.run(FINISHED) is False
    scroll_to(tall, "document.documentElement.scrollHeight")
    tall.wait_until(f"{POSITION} === 5 && document.querySelector('#page-5').naturalHeight === 70")
    assert tall.run(f"{top_of(5)} > innerHeight / 2")
    assert tall.run(FINISHED) is True
    scroll_to(tall, f"scrollY + {top_of(3)} - 1000")
    tall.wait_until(f"{POSITION} === 3")
    scroll_to(tall, "0")
    tall.wait_until(f"{POSITION} < 3")


def test_a_chapter_that_fits_the_window_is_read(example: PageSite, tall: Tab) -> None:
    tall.intercept(file_of(example, CHAPTER, "*"), "image/png", images.png(700, 70))
    tall.open(example.url(CHAPTER))
    # Before its images are there, it does not fit.
    tall.wait_until(f"{POSITION} === 5 && document.documentElement.scrollHeight <= innerHeight")
    assert tall.run("scrollY") == 0
    assert tall.run(FINISHED) is True


def test_a_page_stays_while_the_one_before_grows(example: PageSite, tall: Tab) -> None:
    """The space that is reserved without `sizes.yaml` can be wrong. Progress does not go back."""
    tall.intercept(file_of(example, NEXT, "006.jpg"), "image/png", images.png(700, 2100))
    held = tall.hold("*/006.jpg")
    tall.open(example.url(f"{NEXT}#page-7"))
    tall.wait_until(f"{POSITION} === 7")
    while not held:
        tall.run(FRAMES)
    assert abs(tall.run(top_of(7))) < 1
    tall.release(held)
    tall.wait_until(f"document.querySelector('#page-6').getBoundingClientRect().height === 2400 && {top_of(6)} < -2000")
    tall.run(FRAMES)
    assert abs(tall.run(top_of(7))) < 1
    assert tall.run(f"{SHELF}.series['{SERIES}'].page") == 7
    # From here on, the reader decides.
    scroll_to(tall, f"scrollY + {top_of(9)}")
    tall.wait_until(f"{POSITION} === 9")


def test_turning_the_phone_keeps_the_place(example: PageSite, phone: Tab) -> None:
    """In the middle of a page. Only pairs are arranged again, and only there does `o` choose others."""
    open_chapter(phone, example.url(f"{NEXT}#page-3"), 3)
    scroll_to(phone, "scrollY + 200")
    phone.run(FRAMES)
    phone.send("Emulation.setDeviceMetricsOverride", width=844, height=390, deviceScaleFactor=1, mobile=True)
    phone.wait_until("innerWidth === 844")
    phone.run(FRAMES)
    assert -500 < phone.run(top_of(3)) < -100
    phone.press("o")
    assert phone.run(f"'shifted' in {SHELF}.series['{SERIES}']") is False
    assert phone.run(top_of(3)) < -100


def test_a_visit_by_the_history_finds_the_place(example: PageSite, tall: Tab) -> None:
    """Also in the middle of a page: after a reload, and on the way back. A link leads to the start of the page."""
    open_chapter(tall, example.url(f"{NEXT}#page-7"), 7)
    scroll_to(tall, f"scrollY + {top_of(7)} + 150")
    tall.wait_until("history.state?.part > 0.1")
    tall.reload()
    wait_for_page(tall, 7)
    tall.wait_until(f"Math.abs({top_of(7)} + 150) < 2")
    tall.open(example.url(SERIES))
    tall.back()
    wait_for_page(tall, 7)
    tall.wait_until(f"Math.abs({top_of(7)} + 150) < 2")
    tall.open("about:blank")
    open_chapter(tall, example.url(f"{NEXT}#page-7"), 7)
    tall.wait_until(f"Math.abs({top_of(7)}) < 1")


def test_the_end_of_a_previous_chapter_is_not_read(example: PageSite, tall: Tab) -> None:
    """A visitor who goes back from the next chapter has not read this one, also after a reload. Reading on counts."""
    open_chapter(tall, example.url(NEXT))
    tall.press("ArrowLeft")
    tall.wait_for_path(f"{CHAPTER}#page-5")
    wait_for_page(tall, 5)
    tall.reload()
    wait_for_page(tall, 5)
    assert tall.run(f"{SHELF}.series['{SERIES}'].read") is None
    assert tall.run(FINISHED) is False
    turn(tall, "ArrowLeft", 4)
    turn(tall, "ArrowRight", 5)
    assert tall.run(f"{SHELF}.series['{SERIES}'].read") == ["1/1/"]


def test_addresses_are_written_in_time(example: PageSite, tall: Tab) -> None:
    """Browsers refuse too many of them: pages that pass by share one. A refusal ends nothing."""
    open_chapter(tall, example.url(NEXT))
    tall.wait_until("history.state !== null")
    # Time stands still, and `pass` ends each pause.
    tall.run("""(() => {
        const { replaceState } = history;
        history.replaceState = (...state) => { written += 1; replaceState.apply(history, state); };
        performance.now = () => 5000;
        globalThis.setTimeout = (call, pause) => waiting.push([call, pause]);
        globalThis.pass = () => waiting.splice(0).map(([call, pause]) => { call(); return pause; });
        globalThis.waiting = [];
        globalThis.written = 0;
        dispatchEvent(new Event("pagehide"));
    })()""")
    for _ in range(12):
        tall.press("ArrowRight", held=True)
    # One at once when the page is hidden, and one for all of them.
    assert tall.run("[written, pass(), written]") == [1, [500], 2]
    tall.wait_for_path(f"{NEXT}#page-13")
    tall.run("history.replaceState = () => { written += 1; throw new DOMException('Too many', 'SecurityError'); }")
    tall.press("ArrowRight")
    assert tall.run("[pass(), written]") == [[500], 3]
    tall.press("ArrowRight")
    tall.wait_until(f"{POSITION} === 15")
    assert tall.run(f"{SHELF}.series['{SERIES}'].page") == 15


def test_a_held_key_stays_in_the_chapter(example: PageSite, tall: Tab) -> None:
    open_chapter(tall, example.url(CHAPTER))
    for _ in range(8):
        tall.press("ArrowRight", held=True)
    wait_for_page(tall, 5)
    assert tall.run("location.pathname") == CHAPTER
    tall.press("ArrowRight")
    tall.wait_for_path(NEXT)


def test_a_chapter_is_printed_page_by_page(example: PageSite, tall: Tab) -> None:
    """All pages, each of them whole and on one sheet, also in other layouts; dark text on white paper."""
    for layout in ("strip", "paged", "double"):
        tall.open(example.url(NEXT))
        remember(tall, {"settings": {"theme": "dark"}, "series": {SERIES: {"layout": layout}}})
        open_chapter(tall, example.url(NEXT))
        tall.send("Page.printToPDF")
        tall.wait_until("[...document.querySelectorAll('#strip img')].every((image) => image.naturalWidth)")
        tall.send("Emulation.setEmulatedMedia", media="print")
        tall.send("Emulation.setDeviceMetricsOverride", width=900, height=700, deviceScaleFactor=1, mobile=False)
        heights = tall.run("""[...document.querySelectorAll('#strip img')]
            .map((image) => [image.checkVisibility(), Math.round(image.getBoundingClientRect().height)])""")
        assert heights == [[True, 700]] * 18, layout
        colours = "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        assert tall.run(colours) == ["rgb(28, 27, 31)", "rgb(250, 248, 245)"]
        tall.prepare(TALL)
