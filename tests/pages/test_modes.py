"""How a chapter is shown and how its pages are turned: pairs, sizes, the bar, keys, and what loads when."""

from dataclasses import replace
from itertools import pairwise

from tests.pages.test_each_page import TO_THE_END
from tests.pages.test_reading import (
    CHAPTER,
    LAST,
    NEXT,
    RIGHT_TO_LEFT,
    choose,
    open_chapter,
    open_settings,
    set_value,
    tab_to,
    turn,
    wait_for_page,
)
from tests.support import browser, images
from tests.support.browser import WIDE, Tab
from tests.support.page_sites import PageSite

pytestmark = browser.reads_pages

# The numbers of the visible pages, from left to right.
SHOWN = """[...document.querySelectorAll("#strip img")].map((image, index) => [image, index + 1])
    .filter(([image]) => image.checkVisibility())
    .sort(([first], [second]) => first.getBoundingClientRect().x - second.getBoundingClientRect().x)
    .map(([, number]) => number)"""
BAR_IS_SEEN = "document.querySelector('#bar').getBoundingClientRect().top < innerHeight - 10"
BOXES = """[...document.querySelectorAll("#strip img")].filter((image) => image.checkVisibility())
    .map((image) => image.getBoundingClientRect()).map(({ left, right, top, bottom }) => [left, right, top, bottom])"""

# How the style of a page lets the next page come in, of the rules that apply.
TRANSITIONS = """[...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSMediaRule && matchMedia(rule.conditionText).matches)
    .flatMap((rule) => [...rule.cssRules])
    .filter((rule) => rule instanceof CSSViewTransitionRule).map((rule) => rule.navigation)"""


def wait_until_shown(tab: Tab, *numbers: int) -> None:
    tab.wait_until(f"String({SHOWN}) === '{','.join(map(str, numbers))}'")


def go(tab: Tab, key: str, *groups: tuple[int, ...]) -> None:
    for group in groups:
        tab.press(key)
        wait_until_shown(tab, *group)


# Pairs


def test_pages_in_pairs(example: PageSite, tab: Tab) -> None:
    """The first page and a wide one are alone; `o` pairs the first, and the choice is kept for the series."""
    tab.send("Network.setBypassServiceWorker", bypass=True)
    tab.intercept(example.url(f"/media{NEXT.replace('reader', 'series')}004.jpg"), "image/png", images.png(1400, 1000))
    tab.open(example.url(NEXT))
    choose(tab, layout="double")
    wait_until_shown(tab, 1)
    go(tab, "ArrowRight", (2, 3), (4,), (5, 6))
    assert tab.run("document.querySelector('#position').textContent") == "5–6 / 18"
    assert tab.run("document.querySelector('[role=status]').textContent") == "Page 5–6 of 18"
    go(tab, "ArrowLeft", (4,), (2, 3), (1,))
    tab.press("o")
    wait_until_shown(tab, 1, 2)
    go(tab, "ArrowRight", (3,), (4,), (5, 6))
    tab.open(example.url(CHAPTER))
    wait_until_shown(tab, 1, 2)


def test_pairs_from_right_to_left(example: PageSite, tab: Tab) -> None:
    """The second page of a pair is on the left."""
    tab.open(example.url(RIGHT_TO_LEFT))
    tab.click(".actions a")
    tab.wait_for("#strip[data-direction=rtl]")
    choose(tab, layout="double")
    go(tab, "ArrowLeft", (3, 2), (4,))


def test_an_upright_screen_shows_pairs_one_by_one(example: PageSite, phone: Tab) -> None:
    phone.open(example.url(NEXT))
    choose(phone, layout="double")
    go(phone, "ArrowRight", (2,), (3,))
    # On its side, the screen has room for two.
    phone.send("Emulation.setDeviceMetricsOverride", width=844, height=390, deviceScaleFactor=1, mobile=False)
    wait_until_shown(phone, 2, 3)


def test_an_image_that_turns_out_wide_is_alone(example: PageSite, tab: Tab) -> None:
    """The position follows the pages that are shown."""
    tab.send("Network.setBypassServiceWorker", bypass=True)
    tab.intercept(example.url(f"/media{NEXT.replace('reader', 'series')}003.jpg"), "image/png", images.png(1400, 1000))
    tab.open(example.url(NEXT))
    choose(tab, layout="double")
    held = tab.hold("*/003.jpg")
    tab.open(example.url(NEXT))
    wait_until_shown(tab, 1)
    tab.press("ArrowRight")
    wait_until_shown(tab, 2, 3)
    assert tab.run("document.querySelector('#position').textContent") == "2–3 / 18"
    tab.release(held)
    wait_until_shown(tab, 2)
    assert tab.run("document.querySelector('#position').textContent") == "2 / 18"


# Sizes


def test_the_settings_show_the_size_of_the_layout(example: PageSite, tab: Tab) -> None:
    """Each layout has a usual one."""
    tab.open(example.url(NEXT))
    open_settings(tab)
    for layout, fit in (("paged", "height"), ("strip", "width"), ("double", "height")):
        set_value(tab, "layout", layout)
        tab.wait_until(f"document.querySelector('#strip').dataset.fit === '{fit}'")
        assert tab.run("document.querySelector('select[name=fit]').value") == fit


def test_sizes_of_pages(example: PageSite, tab: Tab) -> None:
    """`f` changes them: a page as high as the window, as wide as it, or as it is."""
    open_chapter(tab, example.url(NEXT), layout="paged")
    ((left, right, top, bottom),) = tab.run(BOXES)
    assert (round(top), round(bottom)) == (0, WIDE.height) and right - left <= WIDE.width
    tab.press("f")
    ((left, right, _, _),) = tab.run(BOXES)
    natural = tab.run("document.querySelector('#strip .now').naturalWidth")
    assert right - left == natural
    tab.press("f")
    ((left, right, _, bottom),) = tab.run(BOXES)
    assert (left, right) == (0, WIDE.width) and bottom > WIDE.height
    open_chapter(tab, example.url(CHAPTER))
    assert tab.run("document.querySelector('#strip').dataset.fit") == "width"


def test_a_strip_has_no_gaps(example: PageSite, phone: Tab, tab: Tab) -> None:
    """From edge to edge on a phone, and of a readable width on a wide screen."""
    for screen, width in ((phone, 390), (tab, 800)):
        open_chapter(screen, example.url(NEXT))
        screen.run(TO_THE_END)
        boxes = screen.run(BOXES)
        assert {round(right - left) for left, right, _, _ in boxes} == {width}
        assert all(abs(bottom - top) < 1 for (*_, bottom), (*_, top, _) in pairwise(boxes))


def test_a_strip_as_high_as_the_window(example: PageSite, tab: Tab) -> None:
    open_chapter(tab, example.url(NEXT), fit="height")
    assert {round(bottom - top) for _, _, top, bottom in tab.run(BOXES)} == {WIDE.height}


# Turning


def test_a_tap_in_the_middle_shows_the_bar(example: PageSite, phone: Tab) -> None:
    """It hides when a page is turned, and comes back on a tap and on focus. Taps on the sides turn pages."""
    phone.open(example.url(NEXT))
    choose(phone, layout="paged")
    phone.tap_at(360, 400)
    wait_for_page(phone, 2)
    phone.wait_until(f"!({BAR_IS_SEEN})")
    phone.tap_at(195, 400)
    phone.wait_until(BAR_IS_SEEN)
    phone.tap_at(195, 400)
    phone.wait_until(f"!({BAR_IS_SEEN})")
    assert phone.run("document.querySelector('#position').textContent") == "2 / 18"
    tab_to(phone, "element.closest('#bar') !== null")
    phone.wait_until(BAR_IS_SEEN)


def test_a_page_that_is_zoomed_in_moves_with_the_finger(example: PageSite, phone: Tab) -> None:
    """In each direction, and is not turned."""
    open_chapter(phone, example.url(NEXT), layout="paged")
    phone.send("Emulation.setPageScaleFactor", pageScaleFactor=2.5)
    phone.wait_until("visualViewport.scale === 2.5")
    # Painted after the event that tells of it.
    phone.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    phone.swipe((300, 300), (100, 300))
    phone.wait_until("visualViewport.offsetLeft > 50")
    assert phone.run(SHOWN) == [1]


def test_the_bar_hides_while_a_strip_is_read(example: PageSite, phone: Tab) -> None:
    """It comes back on the way up, without motion on a device that wants none.

    The focus that its settings give back holds it only for a reader who sees the focus, and turns no page.
    """
    open_chapter(phone, example.url(NEXT))
    assert phone.run("getComputedStyle(document.querySelector('#bar')).transitionDuration") == "0s"
    phone.tap("#settings")
    phone.wait_for("dialog")
    phone.tap("dialog > :last-child button")
    phone.wait_until("document.activeElement.id === 'settings'")
    phone.swipe((190, 700), (195, 200))
    phone.wait_until(f"!({BAR_IS_SEEN})")
    phone.swipe((190, 300), (195, 600))
    phone.wait_until(BAR_IS_SEEN)
    open_settings(phone)
    phone.press("Escape")
    phone.wait_until(f"document.activeElement.id === 'settings' && {BAR_IS_SEEN}")
    phone.press("ArrowRight")
    phone.wait_until(f"!({BAR_IS_SEEN})")


def test_the_wheel_turns_single_pages(example: PageSite, tab: Tab) -> None:
    """One turn of it turns one page; above the first page and below the last one, it scrolls."""
    open_chapter(tab, example.url(CHAPTER), layout="paged")
    turn(tab, "ArrowRight", 2)
    for delta, page in ((120, 3), (-120, 2)):
        tab.run("new Promise((done) => setTimeout(done, 300))")
        tab.send("Input.dispatchMouseEvent", type="mouseWheel", x=600, y=400, deltaX=0, deltaY=delta)
        wait_for_page(tab, page)
    turn(tab, "End", 5)
    tab.run("new Promise((done) => setTimeout(done, 300))")
    tab.send("Input.dispatchMouseEvent", type="mouseWheel", x=600, y=400, deltaX=0, deltaY=400)
    tab.wait_until("document.querySelector('#end').getBoundingClientRect().top < innerHeight")


def test_a_tall_page_is_read_to_its_end_by_space(example: PageSite, tab: Tab) -> None:
    """And from its end to its start with Shift, before another page is shown."""
    open_chapter(tab, example.url(NEXT), layout="paged", fit="width")
    edges = """(({ top, bottom }) => [Math.round(top), Math.round(bottom) - innerHeight])(
        document.querySelector('#strip').getBoundingClientRect())"""
    tab.wait_until(f"{edges}[0] === 0 && {edges}[1] > {WIDE.height * 0.9}")
    tab.press(" ")
    tab.wait_until(f"{edges}[0] === {-WIDE.height * 0.9}")
    tab.press(" ")
    tab.wait_until(f"{edges}[1] === 0")
    assert tab.run(SHOWN) == [1]
    tab.press(" ")
    wait_until_shown(tab, 2)
    tab.press(" ")
    tab.wait_until(f"{edges}[0] < 0")
    tab.press(" ", shift=True)
    tab.wait_until(f"{edges}[0] === 0")
    assert tab.run(SHOWN) == [2]
    tab.press(" ", shift=True)
    wait_until_shown(tab, 1)


def test_a_wide_page_is_seen_as_a_whole(example: PageSite, phone: Tab) -> None:
    """In its original size: a finger and the arrows move over the page, and turn it only at its side."""
    side = "Math.abs(document.querySelector('#strip').scrollLeft)"
    whole = "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('#strip'))"
    for path, (start, end), onwards in (
        (NEXT, (300, 60), "ArrowRight"),
        (f"{RIGHT_TO_LEFT}0/1/", (60, 300), "ArrowLeft"),
    ):
        phone.send("Network.setBypassServiceWorker", bypass=True)
        phone.intercept(example.url("/media/series/*"), "image/png", images.png(700, 1000))
        open_chapter(phone, example.url(path), layout="paged", fit="original")
        assert phone.run(whole) == 310
        for place in (200, 308):
            phone.swipe((start, 400), (end, 400))
            phone.wait_until(f"{side} > {place}")
        assert phone.run(SHOWN) == [1]
        phone.swipe((start, 400), (end, 400))
        wait_until_shown(phone, 2)
        # Each page begins at its first side, where a swipe in the other direction turns back.
        assert phone.run(side) == 0
        phone.swipe((end, 400), (start, 400))
        wait_until_shown(phone, 1)
        phone.press(onwards)
        phone.wait_until(f"{side} > 308")
        phone.press(onwards)
        wait_until_shown(phone, 2)
        phone.press(onwards)
        phone.wait_until(f"{side} > 308")
        assert phone.run(SHOWN) == [2]
        phone.press(onwards)
        wait_until_shown(phone, 3)


def test_the_slider_leads_to_a_page(example: PageSite, tab: Tab) -> None:
    tab.open(example.url(NEXT))
    open_settings(tab)
    tab.run("document.querySelector('#jump').focus()")
    tab.press("End")
    tab.press("Escape")
    wait_for_page(tab, 18)


def test_the_end_of_a_chapter_names_the_next_one(example: PageSite, tab: Tab) -> None:
    """With a cover; the last chapter names the series and its feeds."""
    open_chapter(tab, example.url(CHAPTER))
    tab.run(TO_THE_END)
    assert tab.run("document.querySelector('#end img').naturalWidth") > 0
    tab.click("#end a")
    tab.wait_for_path(NEXT)
    tab.open(example.url(LAST))
    links = tab.run("[...document.querySelectorAll('#end a')].map((link) => link.pathname)")
    feeds = [f"/reader/paper-moons.{format}" for format in ("atom", "rss", "json")]
    # The last one is the discussion, on another host.
    assert links == ["/reader/paper-moons/", *feeds, "/t/paper-moons"]


def test_pages_and_the_bar_move_if_a_reader_likes_motion(example: PageSite, chromium: browser.Browser) -> None:
    """A page follows another one in a transition, without another message than that the browser skips it.

    A browser skips one at any time, for example while the machine is busy.
    """
    with chromium.tab(replace(WIDE, motion=True)) as moving:
        open_chapter(moving, example.url(CHAPTER))
        assert moving.run("getComputedStyle(document.querySelector('#bar')).transitionDuration") == "0.2s"
        assert moving.run(TRANSITIONS) == ["auto"]
        turn(moving, "End", 5)
        moving.press("ArrowRight")
        moving.wait_for_path(NEXT)
        wait_for_page(moving, 1)
        assert moving.run(TRANSITIONS) == ["auto"]
        assert [message for message in moving.complaints() if "Transition was" not in str(message)] == []


# Keys


def test_single_keys_can_be_switched_off(example: PageSite, tab: Tab) -> None:
    """`?` lists the keys, Shift+F fills the screen. Without single keys, the arrows still turn pages."""
    open_chapter(tab, example.url(NEXT))
    tab.press("?")
    tab.wait_for("dialog[open] kbd")
    tab.press("Escape")
    tab.wait_until("!document.querySelector('dialog')")
    tab.press("F", shift=True)
    tab.wait_until("document.fullscreenElement !== null")
    tab.press("F", shift=True)
    tab.wait_until("document.fullscreenElement === null")
    open_settings(tab)
    # Not a click: the window may still be on its way back from the full screen.
    tab.run("document.querySelector('input[name=keys]').focus()")
    tab.press(" ")
    tab.press("Escape")
    tab.wait_until("!document.querySelector('dialog')")
    tab.run("document.activeElement.blur()")
    for key in ("?", "f", "o"):
        tab.press(key)
    assert tab.run("[document.querySelectorAll('dialog').length, document.querySelector('#strip').dataset.fit]") == [
        0,
        "width",
    ]
    turn(tab, "ArrowRight", 2)


# Loading


def test_what_comes_next_is_loaded(example: PageSite, tab: Tab) -> None:
    """Three pages ahead; near the end also the start of the next chapter. Nothing is loaded twice."""
    open_chapter(tab, example.url(CHAPTER), layout="paged")
    turn(tab, "End", 5)
    start = "/media/series/paper-moons/1/2/00"
    tab.wait_until(
        f"performance.getEntriesByType('resource').filter(({{name}}) => name.includes('{start}')).length === 2"
    )
    tab.press("ArrowRight")
    tab.wait_for_path(NEXT)
    wait_for_page(tab, 1)
    numbers = [url.rpartition("/")[2] for url, _ in tab.requests() if start in url]
    assert {"001.jpg", "002.jpg", "003.jpg", "004.jpg"} <= set(numbers)
    assert "006.jpg" not in numbers
    assert tab.loaded_twice() == set()


def test_a_failed_image_is_tried_again(example: PageSite, tab: Tab) -> None:
    """By itself, and after that by a tap."""
    url = example.url(f"/media{NEXT.replace('reader', 'series')}002.jpg")
    # Nothing stands for a server of the service worker.
    tab.send("Network.setBypassServiceWorker", bypass=True)
    tab.intercept(url, "image/png", b"no image")
    tab.open(example.url(NEXT))
    tab.wait_for("#page-2.failed")
    assert "Tap to try again" in tab.run("document.querySelector('#page-2').alt")
    assert len([asked for asked, _ in tab.requests() if asked == url]) == 3
    # A tap beside its text turns the page, as on each page.
    choose(tab, layout="paged")
    tab.press("ArrowRight")
    tab.wait_until(f"String({SHOWN}) === '2'")
    tab.click_at(WIDE.width * 0.7, WIDE.height / 2)
    wait_until_shown(tab, 3)
    tab.press("ArrowLeft")
    wait_until_shown(tab, 2)
    tab.intercept(url, "image/png", images.png(700, 1000))
    tab.click("#page-2")
    tab.wait_until("document.querySelector('#page-2').naturalWidth === 700")
    assert tab.run("document.querySelector('#page-2').alt") == "Page 2"
