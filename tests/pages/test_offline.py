"""Reading without a network: pages that were visited, chapters that are kept, and what must not be kept."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from generator.catalog.confined_folder import ConfinedFolder
from generator.catalog.problems.load import load_valid
from generator.media.archives import Archiver
from tests.conftest import AS_OF, Site, serving
from tests.pages.test_reading import (
    CHAPTER,
    NEXT,
    RIGHT_TO_LEFT,
    SERIES,
    SHELF,
    WEBTOON,
    open_chapter,
    open_settings,
    remember,
    turn,
    wait_for_page,
)
from tests.support import browser, images, page_sites, servers
from tests.support.browser import PHONE, Tab
from tests.support.lying_proxy import Answer, Asked, lying
from tests.support.page_sites import PageSite

pytestmark = browser.reads_pages

# A comic that is read from left to right, in pairs on wide screens.
COMIC = "/reader/kettle-and-comet/"
RESTRICTED, REMOVED = f"{COMIC}1/1/", "/reader/lighthouse-on-foot/0/30/"
ON_SHELF = "[...document.querySelectorAll('#shelf a')].map((link) => link.pathname + link.hash)"
COPIES = '"series/window-sill-cactus-club/0/1/panel-1.png": 800 of 1600, 0123456789abcdef\n'
KEPT = "caches.keys().then((names) => names.filter((name) => name.includes('kept:')))"
STORED = """(async () => {
    const found = [];
    for (const name of await caches.keys()) {
        for (const { url } of await (await caches.open(name)).keys()) found.push(new URL(url).pathname);
    }
    return found;
})()"""


@pytest.fixture
def edited(tmp_path: Path) -> Iterator[PageSite]:
    """A site that a test may change."""
    with page_sites.example(tmp_path, spare=0, is_edited=True) as served:
        yield served


def reload(served: PageSite) -> None:
    """Build the edited site, and serve it."""
    served.site.build()
    served.web.reload()


def open_with_worker(tab: Tab, url: str) -> None:
    """Open a page and wait for the service worker, and for its copy of the page."""
    tab.open(url)
    tab.wait_until("navigator.serviceWorker.controller !== null")
    tab.wait_until_resolved(f"{STORED}.then((paths) => paths.includes(location.pathname))")


def keep(tab: Tab, url: str) -> None:
    """Keep a chapter, and close the settings."""
    tab.open(url)
    open_settings(tab)
    tab.wait_for("#keep")
    tab.tap("#keep")
    tab.wait_until("document.querySelector('.keep button') && !document.querySelector('#keep')")
    tab.press("Escape")


def visit_again(tab: Tab, url: str) -> None:
    """Open a page in another visit, in which the worker checks what is kept."""
    tab.run("caches.open('flatpanel:files').then((cache) => cache.delete('/checked.txt'))")
    tab.open(url)


def change(served: PageSite, file: str, old: str, new: str) -> None:
    """Replace a text in a file of the catalog of an edited site."""
    path = served.site.folder / "catalog_src" / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")


def move_to_slug(served: PageSite, old: str, new: str) -> None:
    """Rename a series of the edited site with its images, and serve it. Its old slug redirects to this server."""
    change(served, "accounts.yaml", old, new)
    change(served, "site.yaml", page_sites.BASE_URL, served.url(""))
    for path in ("catalog_src/series/{}.yaml", "media/series/{}"):
        (served.site.folder / path.format(old)).rename(served.site.folder / path.format(new))
    file = served.site.folder / f"catalog_src/series/{new}.yaml"
    file.write_text(f"{file.read_text(encoding='utf-8')}\nformerly: [{old}]\n", encoding="utf-8")
    reload(served)


def first_chapter(tab: Tab, url: str) -> None:
    tab.open(url)
    tab.tap(".actions a")
    tab.wait_for("#strip")
    wait_for_page(tab, 1)


def test_a_reader_goes_on_without_a_network(tmp_path: Path) -> None:
    """With a webtoon, a manga from right to left and a comic on a phone, after the browser was closed."""
    site, profile = tmp_path / "site", tmp_path / "profile"
    site.mkdir()
    with (
        page_sites.example(site, spare=0) as served,
        browser.running(profile) as chromium,
        chromium.tab(PHONE, of_profile=True) as phone,
    ):
        url = served.url("")
        open_with_worker(phone, f"{url}/")
        first_chapter(phone, f"{url}{COMIC}")
        turn(phone, "ArrowRight", 2)
        comic = phone.path
        first_chapter(phone, f"{url}{RIGHT_TO_LEFT}")
        phone.tap_at(40, 400)
        wait_for_page(phone, 2)
        manga = phone.path
        keep(phone, f"{url}{WEBTOON}")
        turn(phone, "ArrowRight", 2)
        turn(phone, "ArrowRight", 3)
        webtoon = phone.path
        assert phone.complaints() == []
    with browser.running(profile) as chromium, chromium.tab(PHONE, of_profile=True) as phone:
        phone.open(f"{url}/")
        phone.wait_for("#shelf a")
        assert phone.run(ON_SHELF) == [webtoon, manga, comic]
        for place, (path, page) in enumerate(((webtoon, 3), (manga, 2), (comic, 2)), start=1):
            phone.open(f"{url}/")
            phone.wait_for("#shelf a")
            phone.tap(f"#shelf li:nth-child({place}) a")
            phone.wait_for_path(path)
            wait_for_page(phone, page)
        # A kept chapter is there as a whole, without the last slash, too; of another one, the shelf says what is
        # kept.
        open_chapter(phone, f"{url}{WEBTOON.removesuffix('/')}#last", 4)
        phone.open(f"{url}{CHAPTER}")
        phone.wait_for_path("/shelf/")
        phone.wait_for(f".entries a[href='{WEBTOON}']")


def test_a_chapter_is_kept_while_its_settings_are_closed(example: PageSite, chromium: browser.Browser) -> None:
    """Opened again, they have its progress. Another worker goes on if the browser has ended this one.

    They offer it as soon as the worker is there, also where they are open before.
    """
    go_on, held = Event(), ["/sw.js"]

    def lie(asked: Asked, answer: Answer) -> Answer:
        assert asked.path not in held or go_on.wait(browser.LIMIT)
        # No image comes from the browser's cache.
        return answer.with_header("Cache-Control", "no-cache")

    with lying(example.web.port, lie) as url, chromium.tab(PHONE) as phone:
        open_chapter(phone, url + CHAPTER)
        open_settings(phone)
        assert not phone.run("navigator.serviceWorker.controller || document.querySelector('.keep button')")
        go_on.set()
        phone.wait_for("#keep")
        go_on.clear()
        held[:] = [f"/media/series{CHAPTER.removeprefix('/reader')}002.jpg"]
        phone.tap("#keep")
        phone.wait_until("document.querySelector('.keep').textContent.includes('1 of 5')")
        phone.press("Escape")
        phone.wait_until("!document.querySelector('dialog')")
        open_settings(phone)
        phone.wait_until("document.querySelector('.keep').textContent.includes('1 of 5')")
        phone.send("ServiceWorker.enable")
        phone.send("ServiceWorker.stopAllWorkers")
        go_on.set()
        phone.wait_until("document.querySelector('.keep button') && !document.querySelector('#keep')")


def test_kept_chapters(edited: PageSite, chromium: browser.Browser) -> None:
    """Their size is shown, and they can be deleted. Licensed, restricted and removed ones go at the next visit."""
    with chromium.tab(PHONE) as phone:
        open_with_worker(phone, edited.url("/"))
        for path in (CHAPTER, NEXT, RESTRICTED, REMOVED, WEBTOON):
            keep(phone, edited.url(path))
        assert len(phone.run(KEPT)) == 5
        phone.open(edited.url("/shelf/"))
        phone.wait_until("document.querySelectorAll('.entries li').length === 5")
        assert "MB" in phone.run("document.querySelector('.entries li').textContent")
        phone.tap(".entries button")
        phone.wait_until("document.querySelectorAll('.entries li').length === 4")
        assert phone.run("document.activeElement.textContent") == "Kept offline"
        assert phone.run(KEPT) == [f"flatpanel:kept:{path}" for path in (NEXT, RESTRICTED, REMOVED, WEBTOON)]

        change(edited, "series/kettle-and-comet.yaml", "title:", "restricted: true\ntitle:")
        change(edited, "series/paper-moons.yaml", "licensed: false", "licensed: true")
        folder = edited.site.folder / "catalog_src/series/lighthouse-on-foot/chapters"
        (folder / "030-captain-of-nothing-in-particular.yaml").unlink()
        edited.site.write("variants.yaml", COPIES)
        reload(edited)
        visit_again(phone, edited.url("/"))
        phone.wait_until_resolved(f"{KEPT}.then((names) => String(names) === 'flatpanel:kept:{WEBTOON}')")
        # The page that is kept names no smaller copies: the device has the originals.
        assert "srcset" in edited.web.ask(WEBTOON).body.decode()
        kept_page = f"caches.open('flatpanel:kept:{WEBTOON}').then((cache) => cache.match('{WEBTOON}'))"
        text = phone.run(f"{kept_page}.then((page) => page.text())")
        assert "panel-1.png" in text and "srcset" not in text
        assert not [
            path
            for path in phone.run(STORED)
            if path.startswith(("/reader/paper-moons/1/2/", "/media/series/paper-moons/1/2/"))
        ]


def test_a_cdn_deletes_no_chapter(example: PageSite, chromium: browser.Browser) -> None:
    """Its challenge or its notice takes the place of a page for a while: only this site says that a chapter is gone."""
    refused: dict[str, tuple[int, str, bytes]] = {}

    def lie(asked: Asked, answer: Answer) -> Answer:
        if asked.path not in refused:
            return answer
        status, content_type, body = refused[asked.path]
        page = {"Content-Type": content_type, "Cache-Control": "no-cache"}
        return Answer(status, page, body)

    with lying(example.web.port, lie) as url, chromium.tab(PHONE) as phone:
        open_with_worker(phone, url + CHAPTER)
        stay = (CHAPTER, WEBTOON, RESTRICTED, REMOVED)
        for path in (*stay, NEXT):
            keep(phone, url + path)
        refused |= {
            CHAPTER: (403, "text/html", b"Are you human?"),
            WEBTOON: (200, "Text/HTML", b"<h1>Back soon</h1>"),
            RESTRICTED: (200, "text/plain", b"Back soon"),
            # The list of its series would tell whether the chapter entered a volume.
            REMOVED: (404, "text/html", b""),
            REMOVED.removesuffix("0/30/"): (429, "text/html", b"Too many requests"),
            NEXT: (404, "text/html", b""),
        }
        phone.open(url + CHAPTER)
        visit_again(phone, f"{url}/")
        phone.wait_until_resolved(f"{KEPT}.then((names) => !String(names).includes('{NEXT}'))")
        assert phone.run(KEPT) == [f"flatpanel:kept:{path}" for path in stay]
        assert phone.run(f"caches.open('flatpanel:pages').then((pages) => pages.match('{CHAPTER}')).then(Boolean)")


def test_the_login_of_a_network_is_not_kept(example: PageSite, chromium: browser.Browser) -> None:
    """In the place of a page, an image or a script: visited and kept files are those of this site."""
    script, image = "/assets/cards.js", f"/media/series{CHAPTER.removeprefix('/reader')}006.jpg"
    refused, asked_for = {script, "/shelf/"}, Event()
    type_of = "caches.match('{}').then((stored) => stored.headers.get('Content-Type').split(';')[0])"

    def lie(asked: Asked, answer: Answer) -> Answer:
        is_refused = asked.path in refused
        if asked.path == script:
            asked_for.set()
        page = {"Content-Type": "text/html", "Cache-Control": "max-age=0"}
        return Answer(200, page, b"<h1>Log in</h1>") if is_refused else answer.with_header("Cache-Control", "no-cache")

    with lying(example.web.port, lie) as url, chromium.tab(PHONE) as phone:
        # With a login in place of a script, the worker is not installed, and leaves no registration and no other file.
        phone.open(url + CHAPTER)
        assert asked_for.wait(browser.LIMIT)
        phone.wait_until_resolved("navigator.serviceWorker.getRegistration().then((worker) => !worker)")
        assert not phone.run("caches.has('flatpanel:files')")
        # In place of a page, it is: a theme may have a page that does not start it.
        refused.discard(script)
        open_with_worker(phone, url + CHAPTER)
        assert not phone.run("caches.match('/shelf/').then(Boolean)")
        refused.clear()
        assert phone.run(type_of.format(script)) == "text/javascript"
        refused.add("/latest/")
        phone.open(f"{url}/latest/")
        for place in (CHAPTER, image):
            phone.open(url + CHAPTER)
            refused.add(place)
            open_settings(phone)
            phone.wait_for("#keep")
            phone.tap("#keep")
            phone.wait_until("document.querySelector('.keep').textContent.includes('cannot be kept')")
            assert phone.run(KEPT) == []
            refused.clear()
        keep(phone, url + CHAPTER)
        assert "/latest/" not in phone.run(STORED)
        # An earlier worker kept it in place of an image.
        login = "new Response('<h1>Log in</h1>', { headers: { 'Content-Type': 'text/html' } })"
        phone.run(f"caches.open('flatpanel:kept:{CHAPTER}').then((kept) => kept.put('{image}', {login}))")
        visit_again(phone, url + CHAPTER)
        kept = f"caches.match('{image}', {{ cacheName: 'flatpanel:kept:{CHAPTER}' }})"
        phone.wait_until_resolved(f"{kept}.then((stored) => stored.headers.get('Content-Type') === 'image/jpeg')")


def test_a_kept_chapter_enters_a_volume(edited: PageSite, chromium: browser.Browser) -> None:
    """It moves to its new path as a whole, and stays as it is as long as an image is missing."""
    moved, asked_for = WEBTOON.replace("/0/", "/1/"), Event()

    def lie(asked: Asked, answer: Answer) -> Answer:
        if asked.path.endswith("/1/1/panel-3.png"):
            asked_for.set()
        # No image comes from the browser's cache, and no 404.
        return answer.with_header("Cache-Control", "no-cache")

    with lying(edited.web.port, lie) as url, chromium.tab(PHONE) as phone:
        open_with_worker(phone, f"{url}/")
        keep(phone, url + WEBTOON)
        change(edited, "series/window-sill-cactus-club.yaml", "number: 1\n", "number: 1\n    volume: 1\n")
        folder = edited.site.folder / "media/series/window-sill-cactus-club"
        (folder / "1/1").mkdir(parents=True)
        for panel in (1, 2, 4):
            (folder / f"0/1/panel-{panel}.png").rename(folder / f"1/1/panel-{panel}.png")
        reload(edited)
        visit_again(phone, f"{url}/")
        assert asked_for.wait(browser.LIMIT)
        phone.wait_until_resolved(f"{KEPT}.then((names) => String(names) === 'flatpanel:kept:{WEBTOON}')")

        (folder / "0/1/panel-3.png").rename(folder / "1/1/panel-3.png")
        visit_again(phone, f"{url}/")
        phone.wait_until_resolved(f"{KEPT}.then((names) => String(names) === 'flatpanel:kept:{moved}')")
        kept = phone.run(f"caches.open('flatpanel:kept:{moved}').then((kept) => kept.keys())")
        assert len(kept) == 4 + 2


def test_kept_versions_of_a_chapter(edited: PageSite, chromium: browser.Browser) -> None:
    """If the newer one is removed, the older one has the path of both, and no image of the newer one is left."""
    version, folder = f"{WEBTOON}version-501/", edited.site.folder / "media/series/window-sill-cactus-club/0/1"
    series = edited.site.folder / "catalog_src/series/window-sill-cactus-club.yaml"
    before, newer, after = re.split("(  - id: 502.*?)(?=  - id: 505)", series.read_text("utf-8"), flags=re.DOTALL)
    older = "  - {id: 501, number: 1, published: 2026-01-08, pages: [draft.png]}\n"
    series.write_text(before + older + newer + after, encoding="utf-8")
    shutil.copy(folder / "panel-1.png", folder / "draft.png")
    reload(edited)
    with chromium.tab(PHONE) as phone:
        open_with_worker(phone, edited.url("/"))
        for path in (WEBTOON, version):
            keep(phone, edited.url(path))
        series.write_text(before + older + after, encoding="utf-8")
        reload(edited)
        visit_again(phone, edited.url("/"))
        phone.wait_until_resolved(f"{KEPT}.then((names) => String(names) === 'flatpanel:kept:{WEBTOON}')")
        kept = f"caches.open('flatpanel:kept:{WEBTOON}').then((kept) => kept.keys())"
        kept = phone.run(f"{kept}.then((requests) => requests.map(({{ url }}) => new URL(url).pathname).sort())")
        assert kept == ["/kept.json", f"/media/series{WEBTOON.removeprefix('/reader')}draft.png", WEBTOON]


def test_a_reader_goes_with_a_series_to_a_new_slug(edited: PageSite, chromium: browser.Browser) -> None:
    """With kept chapters and their images, progress, marks, and that the series is followed."""
    series, chapter = "/reader/cactus-club/", "/reader/cactus-club/0/1/"
    with chromium.tab(PHONE) as phone:
        open_with_worker(phone, edited.url("/reader/window-sill-cactus-club/"))
        phone.tap("input[name=follow]")
        phone.wait_until(f"{SHELF}?.series['/reader/window-sill-cactus-club/']?.followed")
        keep(phone, edited.url(WEBTOON))
        turn(phone, "End", 4)
        open_chapter(phone, edited.url(f"{WEBTOON}#page-2"), 2)

        move_to_slug(edited, "window-sill-cactus-club", "cactus-club")
        visit_again(phone, edited.url("/"))
        phone.wait_until_resolved(f"{KEPT}.then((names) => String(names) === 'flatpanel:kept:{chapter}')")
        kept = f"caches.open('flatpanel:kept:{chapter}').then((kept) => kept.keys())"
        images = [f"/media/series{chapter.removeprefix('/reader')}panel-{number}.png" for number in (1, 2, 3, 4)]
        assert phone.run(f"{kept}.then((kept) => kept.map(({{ url }}) => url))") == [
            edited.url(path) for path in (*images, chapter, "/kept.json")
        ]
        assert not [path for path in phone.run(STORED) if path.startswith(WEBTOON)]

        phone.tap("#shelf a")
        phone.wait_for_path(f"{chapter}#page-2")
        wait_for_page(phone, 2)
        # The script that moves the entry loads beside that of the chapter.
        phone.wait_until(f"String(Object.keys({SHELF}.series)) === '{series}'")
        shelf = phone.run(f"{SHELF}.series")
        assert {name: shelf[series][name] for name in ("chapter", "page", "read", "followed")} == {
            "chapter": chapter,
            "page": 2,
            "read": ["0/1/"],
            "followed": True,
        }


def test_what_was_read_under_two_slugs_is_joined(edited: PageSite, chromium: browser.Browser) -> None:
    """The page of the series does so, too: an earlier program, or the file of a shelf, left both of them."""
    series, before = "/reader/cactus-club/", "/reader/window-sill-cactus-club/"
    entries = {
        before: {"chapter": f"{before}0/2/", "next": f"{before}0/3/", "page": 3, "at": 2, "read": ["0/1/"]},
        series: {"chapter": f"{series}0/1/", "page": 1, "at": 1, "read": ["0/2/"], "followed": True},
    }
    move_to_slug(edited, "window-sill-cactus-club", "cactus-club")
    with chromium.tab(PHONE) as phone:
        phone.open(edited.url("/404/"))
        remember(phone, {"series": entries})
        phone.open(edited.url(series))
        phone.wait_for("input[name=follow]:checked")
        later = {"chapter": f"{series}0/2/", "next": f"{series}0/3/", "page": 3, "at": 2}
        later |= {"title": "Window Sill Cactus Club 🌵", "cover": "/media/series/cactus-club/cover.png"}
        assert phone.run(f"{SHELF}.series") == {series: {**later, "followed": True, "read": ["0/2/", "0/1/"]}}
        assert phone.run("document.querySelector('#continue').getAttribute('href')") == f"{series}0/2/#page-3"


def test_the_page_that_is_kept_wins_without_a_network(chromium: browser.Browser, tmp_path: Path) -> None:
    """A later visit stored the page with smaller copies of its images, which are not on the device."""
    with chromium.tab(PHONE) as phone:
        with page_sites.example(tmp_path, spare=0, is_edited=True) as served:
            served.site.write("variants.yaml", COPIES)
            reload(served)
            url = served.url(WEBTOON)
            open_with_worker(phone, url)
            assert "srcset" in served.web.ask(WEBTOON).body.decode()
            keep(phone, url)
        phone.open(url)
        phone.wait_for("#strip img")
        assert phone.run("[...document.querySelectorAll('#strip img')].map((image) => image.srcset).join('')") == ""


def test_updates_and_keys(edited: PageSite, chromium: browser.Browser) -> None:
    """A new page is seen at the next visit. No answer to a key is kept. A site without shelf keeps nothing."""
    with chromium.tab(PHONE) as phone:
        open_with_worker(phone, edited.url(SERIES))
        phone.run("fetch('/groups/?api_key=secret').then((response) => response.text())")
        phone.run("fetch('/latest/', { headers: { 'X-API-Key': 'secret' } }).then((response) => response.text())")
        phone.run("fetch('/api/v2/series').then((response) => response.text())")
        phone.run("fetch('/categories/').then((response) => response.text())")
        phone.wait_until_resolved(f"{STORED}.then((paths) => paths.includes('/categories/'))")
        assert not {"/latest/", "/groups/", "/api/v2/series"} & set(phone.run(STORED))

        change(edited, "series/paper-moons.yaml", "title: Paper Moons", "title: Cardboard Suns")
        reload(edited)
        phone.open(edited.url(SERIES))
        assert phone.run("document.querySelector('h1').textContent") == "Cardboard Suns"

        change(edited, "site.yaml", "shelf: true", "shelf: false")
        reload(edited)
        phone.open(edited.url("/"))
        phone.wait_until_resolved("navigator.serviceWorker.getRegistrations().then((found) => found.length === 0)")
        assert phone.run("caches.keys()") == []


def test_archives_are_not_kept(site: Site, chromium: browser.Browser) -> None:
    """They are large: a reader who saves one has it already."""
    chapter = "{id: 77, number: 1, published: 2026-01-01, pages: [1.png]}"
    site.write("series/far.yaml", f"title: Far\ncover: cover.png\nchapters: [{chapter}]\n")
    (site.folder / "media/series/far/0/1").mkdir(parents=True)
    for image in ("0/1/1.png", "cover.png"):
        (site.folder / "media/series/far" / image).write_bytes(images.png(70, 100))
    settings = "base_url: https://comics.example\npages: true\nmedia_folder: media\napps: [archives]\n"
    site.write("site.yaml", settings)
    catalog, media = ConfinedFolder(site.folder / "catalog_src"), ConfinedFolder(site.folder / "media")
    assert Archiver(catalog, load_valid(catalog), media, AS_OF).write(lambda count: None).written == 1
    with serving(site) as web, chromium.tab(PHONE) as phone:
        open_with_worker(phone, f"http://127.0.0.1:{web.port}/reader/far/0/1/")
        path = phone.run("document.querySelector('a[download]').pathname")
        size = phone.run("fetch(document.querySelector('a[download]')).then((r) => r.blob()).then((b) => b.size)")
        assert size == (site.folder / path.strip("/")).stat().st_size
        # What is fetched later is kept.
        assert phone.run("fetch('/latest/').then(({ status }) => status)") == 200
        phone.wait_until_resolved(f"{STORED}.then((paths) => paths.includes('/latest/'))")
        assert path not in phone.run(STORED)
        assert phone.complaints() == []


@pytest.mark.parametrize("permits", [True, False])
def test_images_of_another_host(site: Site, chromium: browser.Browser, permits: bool) -> None:
    """They can be kept if that host lets scripts read them; else nothing offers it."""
    image = images.png(70, 100)

    class Media(servers.Handler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", str(len(image)))
            if permits:
                self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(image)

    chapter = "{id: 77, number: 1, published: 2026-01-01, pages: [1.png, 2.png]}"
    site.write("series/far.yaml", f"title: Far\ncover: cover.png\nchapters: [{chapter}]\n")
    with servers.answering(Media) as port, chromium.tab(PHONE) as phone:
        media = f"http://127.0.0.1:{port}/"
        site.write("site.yaml", f"base_url: https://comics.example\npages: true\nmedia: {media}\n")
        with serving(site) as web:
            url = f"http://127.0.0.1:{web.port}/reader/far/0/1/"
            open_with_worker(phone, f"http://127.0.0.1:{web.port}/")
            if permits:
                keep(phone, url)
            else:
                phone.open(url)
                open_settings(phone)
                phone.run("new Promise((done) => setTimeout(done, 1000))")
                assert phone.run("document.querySelector('#keep')") is None
            assert phone.run(KEPT) == (["flatpanel:kept:/reader/far/0/1/"] if permits else [])
            assert phone.complaints() == []
