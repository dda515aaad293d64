"""The notice over the pages of an explicit series: what it hides, how it closes, and what the device remembers."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.conftest import Serve
from tests.pages.conftest import quiet
from tests.support import browser, node_tools
from tests.support.browser import PHONE, WIDE, Tab

pytestmark = browser.needs_browser

# Of the test site `pages`.
SERIES, CHAPTER, OTHER = "/read/rightwards/", "/read/rightwards/0/1/", "/read/moons/1/1/"
CLOSE = "#notice a"
IS_OVER_ALL = """[[0.5, 0.5], [0.1, 0.02], [0.5, 0.98]].every(([x, y]) =>
    document.elementFromPoint(innerWidth * x, innerHeight * y).closest("#notice"))"""
SEEN = """[...document.body.querySelectorAll(":scope > :not(#notice)")]
    .filter((element) => element.checkVisibility({ visibilityProperty: true })).length"""
NOTED = "(JSON.parse(localStorage.getItem('flatpanel'))?.series ?? {})['/read/rightwards/']?.chapter ?? null"


@pytest.fixture
def home(serve: Serve) -> str:
    return f"http://127.0.0.1:{serve('pages')[1].port}"


@pytest.fixture
def tab(chromium: browser.Browser) -> Iterator[Tab]:
    yield from quiet(chromium, WIDE, "https://*")


@pytest.fixture
def plain(chromium: browser.Browser) -> Iterator[Tab]:
    yield from quiet(chromium, replace(PHONE, scripts=False), "https://*")


def is_behind_the_notice(tab: Tab) -> bool:
    """Whether the notice is over the whole window, and nothing else is seen or reached."""
    return bool(tab.run(IS_OVER_ALL)) and tab.run(SEEN) == 0


@pytest.mark.end_to_end
def test_a_reader_closes_the_notice_once(home: str, tab: Tab) -> None:
    """Until then, keys reach its two links only, and no page is turned or noted; the shelf brings it back."""
    tab.open(f"{home}{CHAPTER}#page-2")
    assert is_behind_the_notice(tab)
    focused = []
    for _ in range(2):
        tab.press("Tab")
        focused.append(tab.run("document.activeElement.getAttribute('href')"))
    assert focused == ["#notice", "/"]
    tab.press("ArrowLeft")
    assert (tab.path, tab.run(NOTED)) == (f"{CHAPTER}#page-2", None)
    assert not tab.run("document.querySelector('#settings')")

    tab.click(CLOSE)
    tab.wait_for("#settings")
    # The page that the link named.
    tab.wait_until("document.querySelector('#position').textContent.startsWith('2')")
    assert not tab.run("document.querySelector('#notice').checkVisibility()")
    assert (tab.run(NOTED), tab.run("document.activeElement.id")) == (CHAPTER, "content")
    for path in (SERIES, CHAPTER):
        tab.open(home + path)
        assert not tab.run("document.querySelector('#notice').checkVisibility()")
        assert tab.run(SEEN) > 2

    tab.open(f"{home}/shelf/")
    tab.wait_for("input[name=notice]")
    tab.click("input[name=notice]")
    tab.open(home + SERIES)
    assert is_behind_the_notice(tab)
    tab.open(home + OTHER)
    assert not tab.run("document.querySelector('#notice')")


def test_without_scripts_the_notice_is_closed_on_each_page(home: str, plain: Tab) -> None:
    for path in (SERIES, CHAPTER):
        plain.open(home + path)
        assert is_behind_the_notice(plain)
        plain.tap(CLOSE)
        plain.wait_until("location.hash === '#notice' && !document.querySelector('#notice').checkVisibility()")
        assert plain.run(SEEN) > 2
    plain.open(home + SERIES)
    plain.tap("#notice a:last-child")
    plain.wait_for_path("/")


@pytest.mark.end_to_end
@node_tools.needs_node_tools
def test_the_notice_fits_a_phone_and_has_no_fault(home: str, chromium: browser.Browser) -> None:
    """Also with text of three times the usual size."""
    for percent in (100, 300):
        for tab in quiet(chromium, PHONE, "https://*"):
            tab.send("Page.setFontSizes", fontSizes={"standard": 16 * percent // 100})
            tab.open(home + SERIES)
            assert tab.run("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
            assert tab.run("document.querySelector('#notice').scrollWidth <= innerWidth")
            assert node_tools.accessibility_faults(tab) == []
            tab.click(CLOSE)
            assert tab.run(SEEN) > 2
