"""Paths of apps: what is public and nothing else, redirects that every app follows, and errors in JSON."""

import json
import re
from hashlib import md5

import pytest

from generator.api.app_routes import BODIES, REDIRECTS
from generator.api.payloads.resources import SERIES_INDEX_URL
from tests.conftest import SITES, Site
from tests.responses.conftest import visible
from tests.responses.test_gates import ABSENT, INVALID, KEYS, KINDS
from tests.support.nginx_client import Answer, Web
from tests.support.site_variants import served
from tests.support.tables import each

HOST = "https://lists.example"
MEDIA = f"{HOST}/media/series/full-book/1/1"
# Characters of a URL that mean something to nginx or JavaScript.
ODD_IMAGE = "https://images.example/a$1$uri'(b);%22/%7Bc%7D.JPEG?d=$args&e=%5C#f"
ODD_CHAPTER = f"""
  - {{id: 9001, number: 90, published: 2026-01-01T00:00:00Z, modified: 2026-01-01T00:00:00Z, pages: ["{ODD_IMAGE}"]}}
  - {{id: 9002, number: 91, published: 2026-01-01T00:00:00Z, modified: 2026-01-01T00:00:00Z, pages: []}}
"""
_BOOK = (SITES / "v2/series/full-book.yaml").read_text(encoding="utf-8").rstrip()
SETTINGS = "apps: [komga, opds]"
FILES = {"series/full-book.yaml": f"formerly: [first-draft, Second_Draft]\n{_BOOK}{ODD_CHAPTER}"}
# Calls that are answered from a body or a gate of /api/v2, and the rows of series and chapters.
CALLS = (
    *("/opds/v1.2/pages/{id}/0", "/komga/api/v1/books/{id}/pages", "/komga/api/v1/books/{id}/pages/1"),
    *("/komga/api/v1/books/{id}/thumbnail", "/komga/book/{id}"),
)
# The lists of the site have no second page.
ROWS = tuple(route.path for route in (*BODIES, *REDIRECTS) if "{page}" not in route.path)
PATHS = (*CALLS, *(path for path in ROWS if re.search(r"series/\{slug\}|(?:chapters|books)/\{id\}", path)))


def url_of(path: str, kind: str) -> str:
    slug, chapter, _, _ = KINDS[kind]
    return re.sub(r"\{(?!slug|id)\w+\}", "1", path).format(slug=slug, id=chapter)


@each("path", PATHS)
@each("kind", [kind for kind in KINDS if kind != "bad"])
def test_only_what_is_public_exists(web: Web, path: str, kind: str) -> None:
    """Licensed, restricted and scheduled series look like unknown ones, with every API key and without."""
    url = url_of(path, kind)
    answers = []
    for headers, query, verdict in KEYS.values():
        if verdict not in (ABSENT, INVALID) or query or headers:
            answers.append(web.ask(f"{url}?{query}" if query else url, **headers))
    answer = web.ask(url)

    if kind == "open":
        # The series has fewer chapters than a second page of OPDS needs.
        assert answer.status in ((404,) if "{page}" in path else (200, 302))
    else:
        unknown = web.ask(url_of(path, "unknown"))
        assert (answer.status, answer.fields, answer.body) == (404, unknown.fields, unknown.body)
    for other in answers:
        assert visible(other) == visible(answer)


MISSING = b'{"error":"Not found","status":404}'


def shape(answer: Answer) -> tuple[int, str | None, str | None, str | None]:
    return answer.status, answer["content-type"], answer["cache-control"], answer["x-robots-tag"]


# Path, and where it leads; None is a 404.
REDIRECTED = {
    "/opds/v1.2/pages/11/0": f"{MEDIA}/001.png",
    "/opds/v1.2/pages/11/2": f"{MEDIA}/%E4%B8%89.png",
    "/opds/v1.2/pages/11/2/": f"{MEDIA}/%E4%B8%89.png",
    "//opds//v1.2/./pages/%31%31/2": f"{MEDIA}/%E4%B8%89.png",
    "/opds/v1.2/pages/11/0?width=100": f"{MEDIA}/001.png",
    "/opds/v1.2/pages/9001/0": ODD_IMAGE,
    "/komga/api/v1/books/11/pages/1": f"{MEDIA}/001.png",
    "/komga/api/v1/books/11/pages/3?convert=png": f"{MEDIA}/%E4%B8%89.png",
    "/komga/api/v1/books/11/thumbnail": f"{MEDIA}/001.png",
    "/komga/api/v1/books/9001/thumbnail": ODD_IMAGE,
    "/komga/book/11": f"{HOST}/reader/full-book/1/1/",
    "/komga/series/full-book": f"{HOST}/reader/full-book/",
    # Old slugs.
    "/komga/series/first-draft": f"{HOST}/komga/series/full-book",
    "/komga/api/v1/series/Second_Draft/books?unpaged=true&api_key=x": (
        f"{HOST}/komga/api/v1/series/full-book/books?unpaged=true"
    ),
    "/opds/v1.2/series/first-draft/": f"{HOST}/opds/v1.2/series/full-book",
    "/opds/v1.2/page/2/series/first-draft": f"{HOST}/opds/v1.2/page/2/series/full-book",
    "/opds/v2/series/first-draft?a=%0d%0ab": f"{HOST}/opds/v2/series/full-book?a=%0d%0ab",
    "/komga/series/first-draft/%0aSet-Cookie": f"{HOST}/komga/series/full-book/%0ASet-Cookie",
    # Numbers that are not canonical, or belong to no page.
    **dict.fromkeys(
        (
            *("/opds/v1.2/pages/11/3", "/opds/v1.2/pages/11/00", "/opds/v1.2/pages/11/-1", "/opds/v1.2/pages/11/1.0"),
            *("/opds/v1.2/pages/11/1e0", "/opds/v1.2/pages/011/0", "/opds/v1.2/pages/11/0%0A", "/opds/v1.2/pages/11"),
            *("/opds/v1.2/pages/11/__proto__", "/opds/v1.2/pages/11/length", "/opds/v1.2/pages/9002/0"),
            *("/opds/v1.2/pages/11%2F0", "/opds/v1.2/pages/11/99999999999", "/opds/v1.2/pages/11/0/0"),
            *("/komga/api/v1/books/11/pages/0", "/komga/api/v1/books/11/pages/4", "/komga/api/v1/books/9002/thumbnail"),
            *("/komga/api/v1/books/11/pages/01", "/komga/api/v1/books/x/pages", "/komga/book/11/read", "/komga/book/x"),
            *("/komga/series/First-Draft", "/komga/v1/series/first-draft", "/opds/v3/series/first-draft"),
            *("/opds/v1.2/pages/11/{pageNumber}", "/opds/v1.2/page/1/series", "/opds/v1.2/page/99/series"),
            *("/opds/v1.2", "/opds/v1.2/series/nothing", "/opds/v1.2/groups/99", "/opds/v2/chapters/999999/manifest"),
            *("/opds", "/opds/", "/komga", "/komga/", "/opds/v1.2/nothing", "/komga/api/v1/nothing", "/opds/../opds/x"),
        )
    ),
}


@each(("path", "location"), REDIRECTED.items())
def test_redirects_are_302_with_an_absolute_url(web: Web, path: str, location: str | None) -> None:
    """Some apps follow no 308. An image may be kept as long as the list of images."""
    answer = web.ask(path)

    assert answer["location"] == location
    if location is None:
        assert (shape(answer), answer.body) == ((404, "application/json", "public, max-age=60", "noindex"), MISSING)
    else:
        assert shape(answer) == (302, "application/json", "public, max-age=300", "noindex")
        assert json.loads(answer.body) == {"url": location}
        assert web.ask(path, If_None_Match="*", If_Match='"x"').status == 302
    assert answer["access-control-allow-origin"] == "*"
    head = web.ask(path, "HEAD")
    assert (head.status, head.fields, head.body) == (answer.status, answer.fields, b"")


def test_images_of_a_book(web: Web) -> None:
    """From the list of pages of /api/v2, with its date and age."""
    pages, answer = web.ask("/api/v2/chapters/11/pages"), web.ask("/komga/api/v1/books/11/pages")
    names = ["001.png", "two & a half.png", "三.png"]

    assert json.loads(answer.body) == [
        {"number": number, "fileName": name, "mediaType": "image/png", "width": None, "height": None}
        for number, name in enumerate(names, 1)
    ]
    for name in ("last-modified", "cache-control", "content-type"):
        assert answer[name] == pages[name]
    (odd,) = json.loads(web.ask("/komga/api/v1/books/9001/pages").body)
    assert (odd["fileName"], odd["mediaType"]) == ("{c}.JPEG", "image/jpeg")
    assert web.ask("/komga/api/v1/books/9002/pages").body == b"[]"


@each(
    "path",
    ["/komga/api/v1/books/11/pages", "/komga/api/v1/series?search=o", "/api/v2/series?title=full&limit=5"],
)
def test_conditions_of_an_assembled_body(web: Web, path: str) -> None:
    """They are those of files, by the MD5 of the body. A 304 has no length."""
    plain = web.ask(path)
    etag, date = f'"{md5(plain.body, usedforsecurity=False).hexdigest()}"', str(plain["last-modified"])
    fresh = web.ask(path, If_None_Match=f'"x", W/{etag}')

    assert (plain["etag"], plain["cache-control"]) == (etag, "public, max-age=300")
    assert (fresh.status, fresh.body, fresh["etag"], fresh["content-length"]) == (304, b"", etag, None)
    assert fresh["x-robots-tag"] == plain["x-robots-tag"]
    assert visible(web.ask(path, If_Match=etag)) == visible(plain)
    for headers, status in (
        ({"If_None_Match": '"x"', "If_Modified_Since": date}, 200),
        ({"If_Modified_Since": date}, 304),
        ({"If_Modified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"}, 200),
        ({"If_Match": '"x"'}, 412),
    ):
        assert (headers, web.ask(path, **headers).status) == (headers, status)
    head = web.ask(path, "HEAD")
    assert (head.status, head.fields, head.body) == (200, plain.fields, b"")


def test_a_body_of_an_app(running: tuple[Site, Web]) -> None:
    """It has the media type of its row, and is not listed by search engines, also without changes."""
    site, web = running
    body, answer = site.manifest.resources["/opds/v1.2/catalog"], web.ask("/opds/v1.2/catalog")

    assert answer.status == 200 and answer["etag"] == f'"{body.etag}"'
    assert answer["content-type"] == "application/atom+xml;profile=opds-catalog;kind=navigation"
    assert answer["x-robots-tag"] == "noindex"
    fresh = web.ask("/opds/v1.2/catalog", If_None_Match=f'"{body.etag}"')
    assert (fresh.status, fresh["x-robots-tag"]) == (304, "noindex")
    assert web.ask("/opds/v1.2/catalog?api_key=none", X_API_Key="none").body == answer.body


@each("line", ["GET /opds/%zz HTTP/1.1", "GET //komga?%zz HTTP/1.1", "GET /opds HTTP/9.9", "GET  /opds/x y HTTP/1.1"])
def test_broken_requests_get_json(web: Web, line: str) -> None:
    """Also on a site with pages, whose other errors are HTML (`tests/javascript/test_like_nginx.py`)."""
    answer = web.raw(f"{line}\r\nHost: test\r\nConnection: close\r\n\r\n".encode())

    assert b"\r\nContent-Type: application/json\r\n" in answer
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["status"] >= 400


def test_nothing_changes_without_apps(tmp_path_factory: pytest.TempPathFactory, running: tuple[Site, Web]) -> None:
    """No file of a release mentions apps, and their paths are missing; with them, all other bodies stay the same."""
    with served(tmp_path_factory.mktemp("none"), settings="apps: [archives]", files=FILES) as (site, web):
        release = site.store.root / "current"
        texts = {path.name: path.read_bytes() for path in release.iterdir() if path.suffix != ".js"}
        assert [name for name, text in texts.items() if re.search(rb"komga|opds|fp_call|fp_robots|\bapps", text)] == []
        assert not (release / "apps.js").exists()
        for path in ("/opds/v1.2/catalog", "/komga/series/first-draft"):
            answer = web.ask(path)
            assert (answer.status, answer.body, answer["x-robots-tag"]) == (404, MISSING, None)
        with_apps = running[0].manifest.resources.items()
        bodies = {url: body.etag for url, body in with_apps if not url.startswith(("/opds/", "/komga/"))}
        # Searches in Komga's API read more of the index.
        index = bodies[SERIES_INDEX_URL]
        etags = {url: body.etag for url, body in site.manifest.resources.items()}
        assert etags == bodies | {SERIES_INDEX_URL: etags[SERIES_INDEX_URL]}
        assert index != etags[SERIES_INDEX_URL]


def test_no_body_of_an_app_has_a_location_of_its_own(running: tuple[Site, Web]) -> None:
    """nginx would compile a location for each page of each list, in every worker; patterns cover them all."""
    site, _ = running
    configuration = "".join(path.read_text() for path in (site.store.root / "current").glob("*.conf"))

    assert re.findall(r"location = /(?:opds|komga)/\S+", configuration) == []
