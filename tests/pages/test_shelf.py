"""The shelf: what a device remembers across series, and how a reader saves, brings back and deletes it."""

import json
from pathlib import Path

from tests.pages.test_reading import (
    CHAPTER,
    NEXT,
    SERIES,
    SHELF,
    WEBTOON,
    choose,
    open_chapter,
    remember,
    set_value,
    turn,
    wait_for_page,
)
from tests.support import browser
from tests.support.browser import WIDE, Tab
from tests.support.page_sites import PageSite

pytestmark = browser.reads_pages

HEADINGS = "[...document.querySelectorAll('#shelf h2')].map((heading) => heading.textContent)"
ON_SHELF = "[...document.querySelectorAll('#shelf a')].map((link) => link.pathname + link.hash)"
BADGES = "[...document.querySelectorAll('.grid .badge')].map((badge) => badge.closest('a').pathname)"
BACKGROUND = "getComputedStyle(document.body).backgroundColor"

# What the shelf has of each series that it has anything of.
DESCRIBED = {"title": "Paper Moons", "cover": "/media/series/paper-moons/cover.jpg"}


def api_requests(tab: Tab) -> list[str]:
    asked = [event["request"]["url"] for event in tab.events_of("Network.requestWillBeSent")]
    return [url for url in asked if "/api/" in url]


def leave(tab: Tab, link: str) -> None:
    """Follow a link of a page that the browser may keep."""
    tab.run("globalThis.isSamePage = true")
    tab.click(link)


def back_to_the_same_page(tab: Tab, condition: str) -> None:
    """Go back to the page that was left, which meets a condition then."""
    tab.back()
    tab.wait_until(condition)
    assert tab.run("isSamePage") is True


def read_some(example: PageSite, tab: Tab) -> None:
    """The first chapter of one series to its end, and a page of another."""
    open_chapter(tab, example.url(CHAPTER))
    turn(tab, "End", 5)
    open_chapter(tab, example.url(f"{WEBTOON}#page-2"), 2)


def test_the_first_page_says_where_reading_goes_on(example: PageSite, phone: Tab) -> None:
    """In the series that was read last, and in the next chapter of one whose chapter was finished. Nothing moves."""
    phone.open(example.url("/"))
    assert phone.run("document.querySelector('#shelf').checkVisibility()") is False
    read_some(example, phone)
    phone.open(example.url("/"))
    phone.wait_for("#shelf a")
    assert phone.run(ON_SHELF) == [f"{WEBTOON}#page-2", NEXT]
    assert "page 2" in phone.run("document.querySelector('#shelf small').textContent")
    assert phone.layout_shift() <= 0.02
    phone.tap("#shelf li + li a")
    phone.wait_for_path(NEXT)


def test_the_way_back_shows_what_was_read_since(example: PageSite, tab: Tab) -> None:
    """Browsers keep a page as it was left, and show it again without loading it."""
    tab.open(example.url("/"))
    # A worker that begins takes over pages, and none that was left.
    tab.wait_until("navigator.serviceWorker.controller !== null")
    leave(tab, f"a[href='{SERIES}']")
    tab.wait_for_path(SERIES)
    tab.wait_for("input[name=oldest]")
    leave(tab, f"a[href='{CHAPTER}']")
    wait_for_page(tab, 1)
    turn(tab, "End", 5)
    back_to_the_same_page(tab, "document.querySelector('#continue').checkVisibility()")
    assert tab.run("document.querySelector('#continue').getAttribute('href')") == NEXT
    assert tab.run("document.querySelector('.read > a').getAttribute('href')") == CHAPTER
    back_to_the_same_page(tab, f"String({ON_SHELF}) === '{NEXT}'")
    # And what was deleted.
    tab.open(example.url("/shelf/"))
    tab.wait_for(".card button")
    leave(tab, ".card a")
    tab.wait_for_path(NEXT)
    tab.run("localStorage.clear()")
    back_to_the_same_page(tab, "!document.querySelector('.card')")


def test_the_way_back_shows_what_was_chosen_since(example: PageSite, tab: Tab) -> None:
    """What is followed, how pages are shown, and which chapters are kept; the buttons of a list say what they do."""
    kept = "caches.open('flatpanel:kept:/x/').then((cache) => cache.put('/kept.json', new Response('{\"bytes\": 1}')))"
    tab.open(example.url(SERIES))
    tab.wait_until("navigator.serviceWorker.controller !== null")
    for name in ("follow", "marking", "oldest"):
        tab.wait_for(f"input[name={name}]")
        tab.click(f"input[name={name}]")
    leave(tab, f"a[href='{CHAPTER}']")
    wait_for_page(tab, 1)
    turn(tab, "End", 5)
    remember(tab, {"series": {SERIES: {**tab.run(f"{SHELF}.series['{SERIES}']"), "followed": False}}})
    back_to_the_same_page(tab, "!document.querySelector('input[name=follow]').checked")
    assert tab.run("document.querySelector('input[name=marking]').checked")
    assert not tab.run("document.querySelector('input[name=oldest]').checked")
    assert tab.run("document.querySelector('.chapters').dataset.order") == "newest"
    assert tab.run("document.querySelector('.read .mark').textContent") == "Unread from here"
    open_chapter(tab, example.url(CHAPTER))
    leave(tab, "#bar a[rel=next]")
    tab.wait_for_path(NEXT)
    choose(tab, layout="paged")
    back_to_the_same_page(tab, "document.body.classList.contains('paged')")
    assert tab.run(f"{SHELF}.series['{SERIES}'].chapter") != CHAPTER
    tab.open(example.url("/shelf/"))
    tab.wait_for(".card a")
    leave(tab, ".card a")
    tab.wait_for("#strip")
    tab.run(kept)
    back_to_the_same_page(tab, "document.querySelector('.entries li') !== null")


def test_the_way_back_shows_the_place_in_a_tall_page(example: PageSite, tab: Tab) -> None:
    """Single pages as wide as the window are higher than it."""
    open_chapter(tab, example.url(CHAPTER))
    tab.wait_until("navigator.serviceWorker.controller !== null")
    choose(tab, layout="paged", fit="width")
    tab.run("scrollBy({ top: 300, behavior: 'instant' })")
    place = tab.run("scrollY")
    # The bar is hidden while a page is read.
    tab.run("globalThis.isSamePage = true; document.querySelector('#bar a[rel=next]').click()")
    tab.wait_for_path(NEXT)
    back_to_the_same_page(tab, f"location.pathname === '{CHAPTER}'")
    tab.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert tab.run("scrollY") == place


def test_a_chapter_that_got_a_volume_keeps_its_reader(example: PageSite, chromium: browser.Browser) -> None:
    """Its path has changed. The page of errors leads to the series, which finds the chapter by its number."""
    entry = {
        "chapter": f"{SERIES}0/2/",
        "next": f"{SERIES}0/10.5/",
        "page": 3,
        "read": ["0/1/", "1/1/", "0/12/", "0/99/", "3/10.5/"],
    }
    with chromium.tab(WIDE) as tab:
        tab.open(example.url("/shelf/"))
        remember(tab, {"series": {SERIES: entry}})
        tab.open(example.url("/"))
        tab.wait_for("#shelf a")
        tab.click("#shelf a")
        tab.wait_for_path(SERIES)
        tab.wait_until("document.querySelector('#continue').checkVisibility()")
        assert tab.run("document.querySelector('#continue').getAttribute('href')") == f"{NEXT}#page-3"
        moved = {"chapter": NEXT, "next": f"{SERIES}1/10.5/", "page": 3, "read": ["1/1/", "0/12/", "0/99/", "3/10.5/"]}
        assert tab.run(f"{SHELF}.series") == {SERIES: {**DESCRIBED, **moved}}


def test_what_is_new_since_the_last_visit(example: PageSite, tab: Tab) -> None:
    """With one request, on what the page shows. A first visit asks for nothing."""
    tab.open(example.url("/"))
    tab.wait_until("document.readyState === 'complete'")
    assert not api_requests(tab)
    series = json.loads(example.web.ask("/api/v2/series?sort=-latest_upload").body)["results"]
    newest = tab.run(f"Date.parse('{series[0]['updated']}')")
    read = {SERIES: {"title": "Paper Moons", "chapter": CHAPTER, "page": 1, "at": 1}}
    remember(tab, {"visited": newest - 1, "series": read})
    tab.open(example.url("/"))
    tab.wait_for(".grid .badge")
    assert tab.run(BADGES) == [series[0]["url"]]
    # No series that the reader has not begun is one to continue.
    assert tab.run(ON_SHELF) == [CHAPTER]
    assert tab.run("document.querySelector('.latest .badge').parentElement.textContent").endswith(" new")
    assert len(api_requests(tab)) == 1
    # The same visit.
    tab.open(example.url("/"))
    tab.wait_for(".grid .badge")


def test_colours_are_a_choice(example: PageSite, tab: Tab) -> None:
    """Other than those of the device, before a page is painted. A page that the browser has kept has them, too."""
    # Those of the browser around the page are chosen with them.
    frame = (
        "[...document.querySelectorAll('[name=theme-color]')].find(({ media }) => matchMedia(media).matches).content"
    )
    shown = f"String([{BACKGROUND}, {frame}])"
    tab.open(example.url(SERIES))
    tab.wait_until("navigator.serviceWorker.controller !== null")
    light = tab.run(shown)
    for theme in ("dark", "system"):
        leave(tab, "nav a[href='/shelf/']")
        tab.wait_for("select[name=theme]")
        set_value(tab, "theme", theme)
        chosen = tab.run(shown)
        assert (chosen == light) == (theme == "system") == chosen.endswith("#faf8f5")
        back_to_the_same_page(tab, f"{shown} === '{chosen}'")
        tab.open(example.url(SERIES))
        assert tab.run(shown) == chosen


def test_colours_come_and_go_with_a_shelf(example: PageSite, tab: Tab, tmp_path: Path) -> None:
    """Those of a file are seen at once, and after all is deleted those of the device. The focus stays where it was."""
    focused = "document.activeElement.id"
    dark = tmp_path / "dark.json"
    dark.write_text(json.dumps({"version": 1, "settings": {"theme": "dark"}}))
    tab.open(example.url("/shelf/"))
    light = tab.run(BACKGROUND)
    tab.wait_for("#import")
    tab.choose_file("#import", dark)
    tab.wait_until("document.querySelector('select[name=theme]').value === 'dark'")
    assert tab.run(BACKGROUND) != light
    assert tab.run(focused) == "import"
    tab.run("window.confirm = () => true")
    tab.click("#export + button")
    tab.wait_until("document.querySelector('select[name=theme]').value === 'system'")
    assert tab.run(BACKGROUND) == light
    assert tab.run(focused) == "forget"


def test_a_series_is_followed(example: PageSite, tab: Tab) -> None:
    tab.open(example.url(SERIES))
    tab.wait_for("input[name=follow]")
    tab.click("input[name=follow]")
    tab.open(example.url("/"))
    tab.wait_for("#shelf a")
    assert tab.run(ON_SHELF) == [SERIES]
    assert tab.run(HEADINGS) == ["Followed"]
    tab.open(example.url("/shelf/"))
    tab.wait_for(".card button")
    tab.click(".card button")
    assert tab.run(f"Object.keys({SHELF}.series)") == []
    # One that had another title and another cover has the present ones after a visit.
    remember(tab, {"series": {SERIES: {"title": "Paper", "cover": "/media/gone.png", "followed": True}}})
    tab.open(example.url(SERIES))
    tab.wait_for("input[name=follow]")
    assert tab.run(f"{SHELF}.series") == {SERIES: {**DESCRIBED, "followed": True}}


def test_a_series_that_is_only_followed_is_not_one_to_continue(example: PageSite, tab: Tab) -> None:
    tab.open(example.url("/"))
    begun = {"title": "Begun", "chapter": WEBTOON, "page": 1, "at": 1}
    remember(tab, {"series": {SERIES: {"title": "Followed", "followed": True}, "/reader/begun/": begun}})
    tab.open(example.url("/"))
    tab.wait_for("#shelf a")
    assert tab.run(ON_SHELF) == [WEBTOON, SERIES]
    assert tab.run(HEADINGS) == ["Continue reading", "Followed"]
    assert tab.layout_shift() <= 0.02


def test_progress_is_removed_alone(example: PageSite, tab: Tab) -> None:
    """What else is remembered of the series stays; without anything else, it goes."""
    progress = {"chapter": CHAPTER, "heading": "1", "page": 2, "finished": False, "next": NEXT, "at": 1}
    described = {"title": "Paper Moons", "cover": "/assets/icon.svg"}
    others = {"followed": True, "read": ["1/1/"], "layout": "paged"}
    tab.open(example.url("/shelf/"))
    for kept, left in ((others, {SERIES: described | others}), ({"followed": False, "read": []}, {})):
        remember(tab, {"series": {SERIES: described | progress | kept}})
        tab.open(example.url("/shelf/"))
        tab.wait_for(".card button")
        tab.click(".card button")
        assert tab.run(f"{SHELF}.series") == left


def test_a_browser_that_refuses_storage(example: PageSite, tab: Tab) -> None:
    """Nothing is kept, and nothing fails."""
    refused = """Object.defineProperty(window, "localStorage", {
        get() { throw new DOMException("refused", "SecurityError"); } });
        window.confirm = () => globalThis.asked = true;"""
    tab.send("Page.addScriptToEvaluateOnNewDocument", source=refused)
    tab.open(example.url("/shelf/"))
    tab.wait_for("#export + button")
    tab.click("#export + button")
    assert tab.run("asked") is True
    open_chapter(tab, example.url(NEXT))


def test_a_shelf_moves_to_another_device(
    example: PageSite, tab: Tab, chromium: browser.Browser, tmp_path: Path
) -> None:
    """As a file, which joins what the other device has. A file that is no shelf changes nothing."""
    read_some(example, tab)
    tab.open(example.url("/shelf/"))
    tab.wait_for("#export")
    saved = tmp_path / "shelf.json"
    assert json.loads(tab.download("#export", tmp_path, saved.name))["version"] == 1
    wrong = tmp_path / "wrong.json"
    evil = {
        "/x/": {"chapter": "javascript:alert(1)", "next": "/\t/evil.example/"},
        "//evil.example/": {"chapter": "/x/"},
        "/\n/evil.example/": {"chapter": "/x/"},
    }
    wrong.write_text(json.dumps({"version": 1, "series": evil}))
    other = tmp_path / "other.json"
    other.write_text('{"version": 99}')
    with chromium.tab(WIDE) as second:
        open_chapter(second, example.url(NEXT))
        second.open(example.url("/shelf/"))
        second.wait_for("#import")
        second.choose_file("#import", saved)
        second.wait_until(f"{SHELF}.series['/reader/window-sill-cactus-club/']?.page === 2")
        # The later progress wins, and what was read in either is read.
        assert second.run(f"[{SHELF}.series['{SERIES}'].chapter, ...{SHELF}.series['{SERIES}'].read]") == [NEXT, "1/1/"]
        second.choose_file("#import", other)
        second.wait_until("document.querySelector('[role=status]').textContent.includes('no shelf')")
        second.choose_file("#import", wrong)
        second.wait_until("document.querySelector('[role=status]').textContent.includes('was added')")
        assert second.run(f"JSON.stringify({SHELF}.series['/x/'])") == '{"read":[]}'
        assert second.run(f"'//evil.example/' in {SHELF}.series") is False
        assert second.complaints() == []


def test_nothing_is_kept_on_a_site_without_shelf(example: PageSite, tab: Tab) -> None:
    """As `shelf: false` in site.yaml says in one of the scripts: the modes work, and are forgotten."""
    script = example.web.ask("/assets/site.js").body.replace(b"shelf = true", b"shelf = false")
    tab.send("Network.setBypassServiceWorker", bypass=True)
    tab.intercept(example.url("/assets/site.js"), "text/javascript", script)
    open_chapter(tab, example.url(CHAPTER), layout="paged")
    turn(tab, "ArrowRight", 2)
    tab.open(example.url(SERIES))
    tab.wait_for("input[name=oldest]")
    assert tab.run("localStorage.length") == 0
    assert tab.run("document.querySelector('[name=follow]')") is None
