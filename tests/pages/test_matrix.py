"""What readers use most, on every screen: three sizes, both schemes, large text, both directions, each mode."""

from dataclasses import replace

import pytest

from tests.pages.test_each_page import CUT_OFF, read_through
from tests.pages.test_reading import NEXT, NOT_BLANK, SERIES, open_chapter, remember
from tests.support import browser, node_tools
from tests.support.browser import PHONE, Tab, Viewport
from tests.support.page_sites import PageSite

pytestmark = [*browser.reads_pages, node_tools.needs_node_tools]

SCREENS = {"phone": PHONE, "tablet": Viewport(820, 1180, touch=True), "wide": Viewport(1440, 900)}
PATHS = ("/", "/reader/", SERIES, NEXT, "/shelf/")
LAYOUTS = ("strip", "paged", "double")
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def cut_off(tab: Tab) -> list[object]:
    """What does not fit, also if the page is turned to the other direction."""
    found = []
    for direction in ("rtl", "ltr"):
        tab.run(f"document.documentElement.dir = '{direction}'")
        if tab.run(WIDER):
            found.append((direction, tab.run(CUT_OFF)))
    return found


def faults(tab: Tab) -> list[object]:
    """What does not fit, and what axe-core finds."""
    return [*cut_off(tab), *node_tools.accessibility_faults(tab)]


@pytest.mark.parametrize(("screen", "scheme"), [*((screen, "light") for screen in SCREENS), ("wide", "dark")])
def test_pages_of_a_reader_fit_each_screen(
    example: PageSite, chromium: browser.Browser, screen: str, scheme: str
) -> None:
    """Nothing is cut off, moves or is loaded twice, and axe-core finds nothing; with a series on the shelf.

    The dark scheme changes colours only, so one screen shows it, and large text is read in the light one.
    """
    found = {}
    with chromium.tab(replace(SCREENS[screen], scheme=scheme)) as tab:
        open_chapter(tab, example.url(f"{NEXT}#page-2"), 2)
        for percent in (100, 200, 300) if scheme == "light" else (100,):
            tab.send("Page.setFontSizes", fontSizes={"standard": 16 * percent // 100})
            for path in PATHS:
                if percent == 100:
                    read_through(tab, example, path)
                    if tab.layout_shift() > 0.02:
                        found[path, percent, "shift"] = [tab.layout_shift()]
                else:
                    tab.open(example.url(path))
                if problems := cut_off(tab) if percent == 200 else faults(tab):
                    found[path, percent, ""] = problems
        assert tab.complaints() == []
        assert tab.loaded_twice() == set()

    assert found == {}


@pytest.mark.parametrize("screen", SCREENS)
def test_each_mode_fits_each_screen(example: PageSite, chromium: browser.Browser, screen: str) -> None:
    """From its start: a mode that the reader chose before moves nothing. Also its settings, in large text."""
    found = {}
    with chromium.tab(SCREENS[screen]) as tab:
        for layout in LAYOUTS:
            tab.open(example.url(NEXT))
            remember(tab, {"series": {SERIES: {"layout": layout}}})
            for percent in (100, 300):
                tab.send("Page.setFontSizes", fontSizes={"standard": 16 * percent // 100})
                tab.open(example.url(NEXT))
                tab.wait_for("#settings")
                tab.wait_until(NOT_BLANK)
                if percent == 100 and tab.layout_shift() > 0.02:
                    found[layout, percent, "shift"] = [tab.layout_shift()]
                if problems := faults(tab):
                    found[layout, percent, ""] = problems
                tab.run("document.querySelector('#settings').click()")
                tab.wait_for("dialog[open]")
                if problems := faults(tab):
                    found[layout, percent, "settings"] = problems
        assert tab.complaints() == []

    assert found == {}
