"""Finding and reading a chapter in a browser: by keyboard, by touch, and without scripts."""

import json

from tests.conftest import Serve
from tests.pages.test_each_page import TO_THE_END
from tests.support import browser, images
from tests.support.browser import WIDE, Tab
from tests.support.page_sites import PageSite

pytestmark = browser.reads_pages

# Five pages, then 18, then others; the first chapter of its series.
SERIES = "/reader/paper-moons/"
CHAPTER = "/reader/paper-moons/1/1/"
NEXT = "/reader/paper-moons/1/2/"
# The newest chapter of the series.
LAST = "/reader/paper-moons/0/12/"
WEBTOON = "/reader/window-sill-cactus-club/0/1/"
# Read from right to left.
RIGHT_TO_LEFT = "/reader/mayonaka-no-tokei-neko/"
SHOWN_PAGE = """(() => {
    const middle = innerHeight / 2;
    return [...document.querySelectorAll("#strip img")].findIndex((image) => {
        const box = image.getBoundingClientRect();
        return image.checkVisibility() && box.top <= middle && box.bottom > middle;
    }) + 1;
})()"""
VISIBLE_PAGES = "[...document.querySelectorAll('#strip img')].filter((image) => image.checkVisibility()).length"
STRETCHED = """[...document.querySelectorAll("#strip img")].map((image) => {
    const box = image.getBoundingClientRect();
    return [image.src, box.width / box.height - image.naturalWidth / image.naturalHeight];
}).filter(([, difference]) => Math.abs(difference) > 0.01)"""
SHELF = "JSON.parse(localStorage.getItem('flatpanel'))"
NOT_BLANK = "[...document.querySelectorAll('#strip img.now')].every((image) => image.complete && image.naturalWidth)"


def tab_to(tab: Tab, condition: str) -> None:
    """Press Tab until the focused element meets a condition."""
    seen = set()
    while not tab.run(f"((element) => {condition})(document.activeElement)"):
        tab.press("Tab")
        focused = tab.run("document.activeElement.outerHTML")
        assert focused not in seen or len(seen) < 300, f"never focused: {condition}"
        seen.add(focused)


def wait_for_page(tab: Tab, number: int) -> None:
    """Wait until the chapter shows a page, with its image loaded and its address written."""
    tab.wait_until(f"parseInt(document.querySelector('#position')?.textContent) === {number}")
    tab.wait_until(f"location.hash === '{f'#page-{number}' if number > 1 else ''}'")
    tab.wait_until(f"{SHOWN_PAGE} === {number} && {NOT_BLANK}")


def set_value(tab: Tab, name: str, value: str) -> None:
    """Choose an option of a list by keys."""
    tab.run(f"document.querySelector('select[name={name}]').focus()")
    tab.press("Home")
    for _ in range(10):
        if tab.run(f"document.querySelector('select[name={name}]').value") == value:
            return
        tab.press("ArrowDown")
    raise AssertionError(f"no option {value}")


def open_settings(tab: Tab) -> None:
    tab.wait_for("#settings")
    tab.run("document.querySelector('#settings').focus({ preventScroll: true })")
    tab.press("Enter")
    tab.wait_for("dialog[open]")


def choose(tab: Tab, **values: str) -> None:
    """Choose the layout or the size of pages in the settings of the chapter, and close them."""
    open_settings(tab)
    for name, value in values.items():
        set_value(tab, name, value)
    tab.press("Escape")
    tab.wait_until("!document.querySelector('dialog')")
    tab.run("document.activeElement.blur()")


def open_chapter(tab: Tab, url: str, page: int = 1, **values: str) -> None:
    """Open a chapter, with this layout or size of pages, and wait for a page."""
    tab.open(url)
    if values:
        choose(tab, **values)
    wait_for_page(tab, page)


def turn(tab: Tab, key: str, page: int, *, shift: bool = False) -> None:
    """Press a key that leads to a page, and wait for it."""
    tab.press(key, shift=shift)
    wait_for_page(tab, page)


def remember(tab: Tab, shelf: dict[str, object]) -> None:
    """Let the device have this shelf."""
    tab.run(f"localStorage.setItem('flatpanel', JSON.stringify({json.dumps({'version': 1, **shelf})}))")


def count_of_pages(tab: Tab) -> int:
    count: int = tab.run("document.querySelectorAll('#strip img').length")
    return count


# By keyboard


def test_a_visitor_finds_and_reads_a_chapter_by_keyboard(example: PageSite, tab: Tab) -> None:
    """From the first page to a series, its first chapter, page by page to the end and on to the next chapter."""
    tab.open(example.url("/"))
    tab_to(tab, f"element.pathname === '{SERIES}'")
    tab.press("Enter")
    tab.wait_for_path(SERIES)
    tab_to(tab, f"element.pathname === '{CHAPTER}'")
    tab.press("Enter")
    tab.wait_for_path(CHAPTER)
    tab_to(tab, "element.id === 'settings'")
    tab.press("Enter")
    tab_to(tab, "element.name === 'layout'")
    tab.press("ArrowDown")
    tab.press("Escape")
    for number in range(1, count_of_pages(tab) + 1):
        wait_for_page(tab, number)
        assert tab.run(VISIBLE_PAGES) == 1
        tab.press("ArrowRight")
    tab.wait_for_path(NEXT)
    wait_for_page(tab, 1)
    # The choice is kept.
    assert tab.run(VISIBLE_PAGES) == 1


def test_arrows_move_through_the_strip(example: PageSite, tab: Tab) -> None:
    """All pages stay visible; Home and End go to the first and the last one."""
    tab.open(example.url(NEXT))
    count = count_of_pages(tab)
    for number in (1, 2, 3):
        wait_for_page(tab, number)
        assert tab.run(VISIBLE_PAGES) == count
        tab.press("ArrowRight")
    wait_for_page(tab, 4)
    turn(tab, "ArrowLeft", 3)
    turn(tab, "End", count)
    turn(tab, "Home", 1)
    tab.press("ArrowLeft")
    # Back from the first page is the last page of the chapter before.
    tab.wait_for_path(f"{CHAPTER}#page-5")
    wait_for_page(tab, 5)


def test_the_way_to_the_content_keeps_the_page(example: PageSite, tab: Tab) -> None:
    """Skipping the navigation in the middle of a chapter neither turns pages nor changes the progress."""
    open_chapter(tab, example.url(f"{NEXT}#page-7"), 7)
    tab.run("document.querySelector('.skip').focus({ preventScroll: true })")
    tab.press("Enter")
    tab.wait_until("document.activeElement.id === 'strip'")
    wait_for_page(tab, 7)
    assert tab.path == f"{NEXT}#page-7"
    assert tab.run(f"{SHELF}.series['{SERIES}'].page") == 7


def test_a_slow_script_finds_the_page(example: PageSite, tab: Tab) -> None:
    """Until it comes, pages are a strip, in which a reader begins."""
    script = example.url("/assets/chapter.js")
    tab.intercept(script, "text/javascript", example.web.ask("/assets/chapter.js").body)
    held = tab.hold(script)
    # Before its style sheets are there, the strip is visible, too.
    shown = "addEventListener('animationend', ({ target }) => { window.isShown ||= target.id === 'strip'; })"
    tab.send("Page.addScriptToEvaluateOnNewDocument", source=shown)
    tab.send("Page.navigate", url=example.url(f"{RIGHT_TO_LEFT}0/1/"))
    tab.wait_until("window.isShown")
    tab.run("""(async () => {
        const images = [...document.querySelectorAll("#strip img")].slice(0, 4);
        for (const image of images) image.loading = "eager";
        // An image that comes moves those after it.
        await Promise.all(images.map((image) => image.decode()));
        images[3].scrollIntoView();
    })()""")
    tab.release(held)
    wait_for_page(tab, 4)
    assert tab.run(VISIBLE_PAGES) == 1


def test_the_last_chapter_has_an_end(example: PageSite, tab: Tab) -> None:
    """After its last page, the arrow leads to a note; no other chapter has one. Reading goes on where it ended."""
    tab.open(example.url(CHAPTER))
    assert "That is all so far" not in tab.run("document.querySelector('#end').textContent")
    open_chapter(tab, example.url(LAST))
    turn(tab, "End", count_of_pages(tab))
    tab.press("ArrowRight")
    tab.wait_until("document.activeElement.id === 'end'")
    assert "That is all so far." in tab.run("document.activeElement.textContent")
    count = count_of_pages(tab)
    tab.open(example.url(SERIES))
    tab.wait_until("document.querySelector('#continue').checkVisibility()")
    assert tab.run("document.querySelector('#continue').getAttribute('href')") == f"{LAST}#page-{count}"


def test_right_to_left(example: PageSite, tab: Tab) -> None:
    """The left arrow and the left side of a page lead on."""
    open_chapter(tab, example.url(f"{RIGHT_TO_LEFT}0/1/"), layout="paged")
    turn(tab, "ArrowLeft", 2)
    turn(tab, "ArrowRight", 1)
    tab.click_at(WIDE.width * 0.2, 400)
    wait_for_page(tab, 2)


# By touch


def test_a_chapter_is_read_by_touch(example: PageSite, phone: Tab) -> None:
    """A tap on the side of a page, or a swipe, turns it."""
    phone.open(example.url(SERIES))
    phone.tap(f"a[href='{CHAPTER}']")
    phone.wait_for_path(CHAPTER)
    choose(phone, layout="paged")
    wait_for_page(phone, 1)
    x, y = phone.middle("#strip .now")
    phone.tap_at(x + 100, y)
    wait_for_page(phone, 2)
    phone.tap_at(x - 100, y)
    wait_for_page(phone, 1)
    phone.swipe((x + 120, y), (x - 120, y + 5))
    wait_for_page(phone, 2)
    phone.swipe((x - 120, y), (x + 120, y - 5))
    wait_for_page(phone, 1)


def test_scrolling_by_touch_moves_through_the_strip(example: PageSite, phone: Tab) -> None:
    """The position follows the finger."""
    open_chapter(phone, example.url(NEXT))
    for _ in range(4):
        phone.swipe((190, 600), (195, 200))
    phone.wait_until("parseInt(document.querySelector('#position').textContent) > 1")
    # The page moves on for a moment after the finger has left.
    phone.wait_until(f"parseInt(document.querySelector('#position').textContent) === {SHOWN_PAGE} && {NOT_BLANK}")


# Places


def test_the_url_of_a_page_leads_to_it(example: PageSite, tab: Tab) -> None:
    """Also a path that ends in its number: its body is that of the chapter, and the script goes to the page."""
    for path in (f"{NEXT}#page-7", f"{NEXT}7/"):
        open_chapter(tab, example.url(path), 7)
        assert tab.path == f"{NEXT}#page-7"
    tab.run("location.replace('#page-3')")
    wait_for_page(tab, 3)
    assert tab.path == f"{NEXT}#page-3"
    assert example.web.ask(f"{NEXT}7/").body == example.web.ask(NEXT).body


def test_back_and_forward(example: PageSite, tab: Tab) -> None:
    """Turning pages adds nothing to the history; a chapter is shown where it was left."""
    tab.open(example.url(SERIES))
    tab.click(f"a[href='{CHAPTER}']")
    tab.wait_for_path(CHAPTER)
    turn(tab, "End", 5)
    tab.press("ArrowRight")
    tab.wait_for_path(NEXT)
    turn(tab, "ArrowRight", 2)
    tab.back()
    wait_for_page(tab, 5)
    assert tab.path == f"{CHAPTER}#page-5"
    tab.back()
    assert tab.path == SERIES
    tab.forward()
    tab.forward()
    wait_for_page(tab, 2)
    assert tab.path == f"{NEXT}#page-2"


def test_a_tab_behind_another_is_not_read(example: PageSite, tab: Tab) -> None:
    """A reader opens some chapters beside a series. Where reading goes on follows from what was shown."""
    hidden = "globalThis.isBehind = true; Object.defineProperty(document, 'hidden', { get: () => isBehind })"
    tab.send("Page.addScriptToEvaluateOnNewDocument", source=hidden)
    open_chapter(tab, example.url(f"{NEXT}#page-2"), 2)
    assert not tab.run(f"{SHELF}?.series['{SERIES}']")
    tab.run("isBehind = false; document.dispatchEvent(new Event('visibilitychange'))")
    assert tab.run(f"{SHELF}.series['{SERIES}'].page") == 2


def test_no_version_of_a_finished_number_is_next(serve: Serve, chromium: browser.Browser) -> None:
    """Chapters may share a number: after one of them, reading goes on with another number, if there is one."""
    _, web = serve("pages")
    site, numbers = f"http://127.0.0.1:{web.port}", ("2/10.5", "0/11", "0/11/version-12")
    offered = {}
    with chromium.tab(WIDE) as tab:
        tab.intercept("https://*", "image/png", images.png(70, 100))
        tab.open(f"{site}/read/moons/")
        for number in numbers:
            progress = {"chapter": f"/read/moons/{number}/", "page": 1, "finished": True}
            remember(tab, {"series": {"/read/moons/": progress}})
            tab.open(f"{site}/read/moons/?{number}")
            tab.wait_until("document.querySelector('#continue').checkVisibility()")
            offered[number] = tab.run("document.querySelector('#continue').getAttribute('href')")

    assert offered == {
        "2/10.5": "/read/moons/0/11/",
        "0/11": "/read/moons/0/11/",
        "0/11/version-12": "/read/moons/0/11/version-12/",
    }


def test_page_by_page_is_remembered_for_the_series(example: PageSite, tab: Tab) -> None:
    """Pages of a webtoon are too long to be shown one by one; the choice for another series does not count."""
    tab.open(example.url(CHAPTER))
    choose(tab, layout="paged")
    open_chapter(tab, example.url(WEBTOON))
    assert tab.run(VISIBLE_PAGES) == count_of_pages(tab) > 1
    open_chapter(tab, example.url(NEXT))
    assert tab.run(VISIBLE_PAGES) == 1


def test_far_pages_load_later(example: PageSite, tab: Tab) -> None:
    """Only pages near the window are requested. Each gets the shape of its image, however much space was reserved."""
    open_chapter(tab, example.url(NEXT))
    images_of_chapter = "/media/series/paper-moons/1/2/"
    at_once = [url for url, _ in tab.requests() if images_of_chapter in url]
    tab.run(TO_THE_END)
    in_the_end = [url for url, _ in tab.requests() if images_of_chapter in url]

    assert len(at_once) < count_of_pages(tab) / 2
    assert len(in_the_end) == count_of_pages(tab)
    assert tab.run(STRETCHED) == []


# Without scripts


def test_a_chapter_is_read_without_scripts(example: PageSite, plain: Tab) -> None:
    """All pages are in the strip, and links lead to a series, its chapters and on to the next one."""
    plain.open(example.url("/"))
    plain.tap(f"a[href='{SERIES}']")
    plain.wait_for_path(SERIES)
    plain.tap(f"a[href='{CHAPTER}']")
    plain.wait_for_path(CHAPTER)
    for number in range(1, count_of_pages(plain) + 1):
        plain.middle(f"#strip img:nth-of-type({number})")
        plain.wait_until(f"document.querySelectorAll('#strip img')[{number - 1}].naturalWidth > 0")
    assert plain.run("document.querySelector('#tools').checkVisibility()") is False
    plain.tap("#bar a[rel=next]")
    plain.wait_for_path(NEXT)
    plain.back()
    plain.forward()


def test_search_says_that_it_needs_scripts(example: PageSite, plain: Tab) -> None:
    plain.open(example.url("/search/"))

    assert "needs JavaScript" in plain.run("document.querySelector('main').innerText")


# Search


def test_search(example: PageSite, tab: Tab) -> None:
    """A title in the field of any page leads to its series."""
    tab.open(example.url("/"))
    tab.click("header input[type=search]")
    tab.type("paper moon")
    tab.press("Enter")
    tab.wait_for_path("/search/")
    tab.wait_for("#results a")
    assert tab.run("[...document.querySelectorAll('#results a')].map((link) => link.pathname)") == [SERIES]
    tab.wait_until("[...document.querySelectorAll('#results img')].every((image) => image.naturalWidth)")
    tab.click("#results a")
    tab.wait_for_path(SERIES)
    tab.back()
    tab.wait_for("#results a")


def test_search_by_status_and_category(example: PageSite, tab: Tab) -> None:
    """The list has the series of the API's filter."""
    tab.open(example.url("/search/?status=ongoing&categories=comedy"))
    tab.wait_for("#results a")
    expected = json.loads(example.web.ask("/api/v2/series?status=ongoing&categories=comedy&limit=48").body)
    assert tab.run("[...document.querySelectorAll('#results a')].map((link) => link.textContent)") == [
        item["title"] for item in expected["results"]
    ]


def test_search_without_results(example: PageSite, tab: Tab) -> None:
    tab.open(example.url("/search/?title=no+such+series"))
    tab.wait_until("document.querySelector('#message').textContent === 'Nothing found.'")
