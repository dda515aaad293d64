"""Lists of chapters and series: their order, marks, a way to a number, filters, and what is new."""

import json

from tests.conftest import Site, serving
from tests.pages.test_reading import (
    CHAPTER,
    LAST,
    NEXT,
    SERIES,
    SHELF,
    open_chapter,
    remember,
    set_value,
    turn,
    wait_for_page,
)
from tests.support import browser, images
from tests.support.browser import WIDE, Tab
from tests.support.page_sites import IMAGES, PageSite

pytestmark = browser.reads_pages

CHAPTERS = "[...document.querySelectorAll('.chapters li > a')].map((link) => link.pathname)"
MARKED = "[...document.querySelectorAll('.chapters .read > a')].map((link) => link.pathname)"
FOUND = "[...document.querySelectorAll('#results a')].map((link) => link.textContent)"


def test_chapters_from_the_oldest(example: PageSite, tab: Tab) -> None:
    """Volumes turn, too. The order is kept for all series."""
    tab.open(example.url(SERIES))
    newest_first = tab.run(CHAPTERS)
    tab.wait_for("input[name=oldest]")
    tab.click("input[name=oldest]")
    assert tab.run(CHAPTERS) == newest_first[::-1]
    assert newest_first[-1] == CHAPTER
    tab.open(example.url(SERIES))
    tab.wait_until(f"{CHAPTERS}[0] === '{CHAPTER}'")
    tab.click("input[name=oldest]")
    assert tab.run(CHAPTERS) == newest_first


def test_a_number_leads_to_its_chapter(example: PageSite, tab: Tab) -> None:
    """Also with zeros or a comma, and in a volume that is folded.

    A message says that there is no chapter of a number, until another one is typed.
    """
    tab.open(example.url(SERIES))
    tab.wait_for("input[name=number]")
    tab.click("details:last-of-type summary")
    is_unfolded = f"document.querySelector('li a[href=\"{CHAPTER}\"]').closest('details').open"
    assert tab.run(is_unfolded) is False
    field = "document.querySelector('input[name=number]')"
    for text, path in (("01", CHAPTER), ("2.0", NEXT), ("10,50", f"{SERIES}1/10.5/")):
        tab.run(f"{field}.select()")
        tab.type("99")
        tab.press("Enter")
        tab.wait_until(f"{field}.validationMessage === 'Nothing found.'")
        tab.run(f"{field}.select()")
        tab.send("Input.insertText", text=text)
        assert tab.run(f"{field}.validationMessage") == ""
        tab.press("Enter")
        tab.wait_until(f"document.activeElement.pathname === '{path}'")
    assert tab.run(is_unfolded) is True


def test_the_chapter_that_is_being_read_goes_on(example: PageSite, tab: Tab) -> None:
    """In the list, too: its first page would take the place of the page that was read last. A finished one begins."""
    tab.open(example.url(SERIES))
    assert tab.run("document.querySelector('#continue').checkVisibility()") is False
    open_chapter(tab, example.url(NEXT))
    turn(tab, "ArrowRight", 2)
    for link in ("#continue", f".chapters a[href^='{NEXT}']"):
        tab.open(example.url(SERIES))
        tab.wait_until("document.querySelector('#continue').checkVisibility()")
        tab.click(link)
        tab.wait_for_path(f"{NEXT}#page-2")
        wait_for_page(tab, 2)
    turn(tab, "End", 18)
    tab.open(example.url(SERIES))
    tab.wait_until(f"String({MARKED}) === '{NEXT}'")
    assert tab.run("[...document.querySelectorAll('.chapters a')].filter((link) => link.hash).length") == 0


def test_chapters_are_marked_as_read(example: PageSite, tab: Tab) -> None:
    """One that was read to its end, and all up to one that the reader names; the other way round as well."""
    open_chapter(tab, example.url(CHAPTER))
    turn(tab, "End", 5)
    tab.open(example.url(SERIES))
    tab.wait_until(f"String({MARKED}) === '{CHAPTER}'")
    assert "read" in tab.run("document.querySelector('.chapters .read').innerText")
    tab.click("input[name=marking]")
    tab.click(f"a[href='{NEXT}'] + .mark")
    assert tab.run(MARKED) == [NEXT, CHAPTER]
    tab.open(example.url(SERIES))
    tab.wait_until(f"{MARKED}.length === 2")
    tab.click("input[name=marking]")
    tab.click(f"a[href='{CHAPTER}'] + .mark")
    assert tab.run(MARKED) == []


def test_chapters_since_the_last_visit_are_new(example: PageSite, tab: Tab) -> None:
    """Also in a tab that stays open."""
    tab.open(example.url(SERIES))
    tab.wait_for("input[name=oldest]")
    assert tab.run("document.querySelectorAll('.new').length") == 0
    newest = tab.run(f"Date.parse(document.querySelector('a[href=\"{LAST}\"] ~ small time').dateTime)")
    remember(tab, {"visited": newest - 1})
    tab.open(example.url(SERIES))
    tab.wait_for(".new")
    assert tab.run("[...document.querySelectorAll('.new > a')].map((link) => link.pathname)") == [LAST]
    assert tab.run(f"{SHELF}.since") == newest - 1


def test_a_visit_lasts_while_pages_are_read(example: PageSite, tab: Tab) -> None:
    """Marks of what is new stay in a long one, in which lists are open or only chapters are read."""
    tab.open(example.url(SERIES))
    for seen, read in ((1, 300), (300, 1), (300, 300)):
        now, minute = tab.run("Date.now()"), 60_000
        series = {NEXT: {"chapter": NEXT, "at": now - read * minute}}
        remember(tab, {"since": 5, "visited": now - 300 * minute, "seen": now - seen * minute, "series": series})
        tab.open(example.url(f"{SERIES}?{seen}-{read}"))
        tab.wait_for("input[name=oldest]")
        assert (tab.run(f"{SHELF}.since") == 5) == (seen == 1 or read == 1)


def test_numbers_that_begin_again_in_each_volume(site: Site, chromium: browser.Browser) -> None:
    """A number leads to its chapter in one volume after the other. A chapter of another path may be each of them."""
    chapter = "{{id: {0}{1}, volume: {0}, number: {1}, published: 2026-01-01, pages: []}}"
    chapters = ", ".join(chapter.format(volume, number) for volume in (1, 2) for number in (1, 2))
    site.write("series/far.yaml", f"title: Far\ncover: cover.png\nchapters: [{chapters}]\n")
    site.write("site.yaml", f"base_url: https://comics.example\npages: true\nmedia: {IMAGES}/\n")
    with serving(site) as web, chromium.tab(WIDE) as tab:
        tab.intercept(f"{IMAGES}/*", "image/png", images.png(70, 100))
        url = f"http://127.0.0.1:{web.port}/reader/far/"
        tab.open(url)
        remember(tab, {"series": {"/reader/far/": {"read": ["0/1/", "1/2/"]}}})
        tab.open(f"{url}?")
        tab.wait_until(f"String({MARKED}) === '/reader/far/1/2/'")
        assert tab.run(f"{SHELF}.series['/reader/far/'].read") == ["0/1/", "1/2/"]
        for volume in (2, 1, 2):
            tab.run("document.querySelector('input[name=number]').select()")
            tab.type("1")
            tab.press("Enter")
            tab.wait_until(f"document.activeElement.pathname === '/reader/far/{volume}/1/'")


# The library


def test_the_library_in_another_order(example: PageSite, tab: Tab) -> None:
    """And with filters; the address shows the same again."""
    tab.open(example.url("/reader/"))
    tab.click(".filters summary")
    set_value(tab, "sort", "latest")
    tab.wait_for("#results a")
    expected = json.loads(example.web.ask("/api/v2/series?sort=-latest_upload&limit=48").body)["results"]
    titles = [item["title"] for item in expected if item["updated"] > "1970-01-02"]
    # Series with the same time are in the order of titles.
    assert tab.run(FOUND)[:5] == titles[:5]
    assert tab.run("document.querySelectorAll('.grid:not([hidden])').length") == 1
    tab.click("#more")
    assert len(tab.run(FOUND)) > 48
    set_value(tab, "status", "completed")
    set_value(tab, "kind", "comic")
    tab.wait_until(f"{FOUND}.length === 1")
    assert tab.run(FOUND) == ["Kettle & Comet"]
    tab.open(example.url("/reader/?" + tab.run("location.search.slice(1)")))
    tab.wait_until(f"String({FOUND}) === 'Kettle & Comet'")
    assert tab.run("document.querySelector('#status').checkVisibility()")


def test_a_random_series(example: PageSite, tab: Tab) -> None:
    tab.open(example.url("/reader/"))
    tab.click(".filters summary")
    tab.click("#random")
    tab.wait_for("[data-series]")


# Search


def test_search_finds_people_and_other_titles(example: PageSite, tab: Tab) -> None:
    for text, title in (
        ("quillfeather halloway", "The Ringing Orchard"),
        ("蒸気の", "Un été à vapeur"),
        # Without the marks, and as two characters each.
        ("un ETE", "Un été à vapeur"),
        ("un e\u0301te\u0301", "Un été à vapeur"),
    ):
        tab.open(example.url(f"/search/?title={text}"))
        tab.wait_for("#results a")
        assert tab.run(FOUND) == [title]


def test_an_unknown_order_is_the_usual_one(example: PageSite, tab: Tab) -> None:
    tab.open(example.url("/search/?title=vapeur&sort=bogus&status=bogus"))
    tab.wait_for("#results a")
    assert tab.run("['sort', 'status'].map((name) => document.getElementById(name).value)") == ["title", ""]


def test_a_failed_search_says_so(example: PageSite, tab: Tab) -> None:
    tab.send("Network.setBypassServiceWorker", bypass=True)
    tab.intercept(example.url("/search/titles.json"), "application/json", b"no json")
    tab.open(example.url("/search/?title=moon"))
    tab.wait_until("document.querySelector('#message').textContent.includes('failed')")
