"""Pages and feeds on a real nginx: bodies, headers, conditions, spellings of their URLs, and errors."""

import json
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from generator.api.payloads.resources import HTML, JSON, SVG
from generator.release.manifest import Published
from tests.conftest import AS_OF, Site, copy_of
from tests.responses.conftest import visible
from tests.responses.test_short_way import both_spellings
from tests.support import nginx_client
from tests.support.nginx_client import Web
from tests.support.site_variants import served
from tests.support.tables import each

SETTINGS = "pages: true\nmedia_folder: images\ncache: {pages: 77}"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' https://images.example; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'self'"
)
EVERYWHERE = {"x-frame-options": "SAMEORIGIN", "x-content-type-options": "nosniff", "access-control-allow-origin": "*"}
OF_PAGES = {"content-security-policy": POLICY, "referrer-policy": "strict-origin-when-cross-origin"}


def outside_api(site: Site) -> dict[str, Published]:
    return {url: body for url, body in site.manifest.resources.items() if not url.startswith("/api/")}


def test_every_body_is_served(running: tuple[Site, Web]) -> None:
    """With its type and validators, with a final slash or without, plain and compressed."""
    site, web = running
    for url, body in outside_api(site).items():
        text = (site.folder / "dist" / body.file).read_bytes()
        expected = {"content-type": body.type, "etag": f'"{body.etag}"', **EVERYWHERE}
        expected |= {"cache-control": f"public, max-age={3600 if url == '/index.json' else 77}"}
        for spelling in both_spellings(url):
            response, packed = web.ask(spelling), web.ask(spelling, Accept_Encoding="gzip")

            assert (spelling, response.status, response.body) == (spelling, 200, text)
            assert response.fields | expected == response.fields
            assert packed["content-encoding"] == ("gzip" if body.gzip else None), spelling
            own = {HTML: OF_PAGES.keys(), SVG: {"content-security-policy"}}.get(body.type, set())
            if url == "/sw.js":
                own = {"content-security-policy"}
            assert OF_PAGES.keys() & response.fields.keys() == own


def urls_in(value: object) -> Iterator[str]:
    """The URLs of series, chapters and pages in a body of the API."""
    if isinstance(value, list):
        for item in value:
            yield from urls_in(item)
    elif isinstance(value, dict):
        yield from (value[name] for name in ("url", "original_url") if isinstance(value.get(name), str))
        yield from urls_in(list(value.values()))


def test_every_url_in_a_public_body_leads_to_a_page(running: tuple[Site, Web]) -> None:
    """Also that of a series without chapters, and of licensed chapters: their pages say why there is nothing."""
    site, web = running
    public = [body for url, body in site.manifest.resources.items() if url.startswith("/api") and not body.restricted]
    bodies = [json.loads((site.folder / "dist" / body.file).read_bytes()) for body in public if body.type == JSON]
    paths = {urlsplit(url).path or "/" for url in urls_in(bodies)}
    answers = {path: web.ask(path) for path in paths}

    assert {path: answer.status for path, answer in answers.items() if answer.status != 200} == {}
    assert len(paths) > 300
    for path, text in (
        *((f"/reader/{slug}/", "No chapters yet.") for slug in ("empty", "tomorrow")),
        *((f"/reader/in-shops/{rest}", "This series is licensed.") for rest in ("", "1/1/")),
    ):
        assert text in answers[path].body.decode()
        assert ("noindex" in answers[path].body.decode()) == (path != "/reader/in-shops/")


def test_pages_tell_nothing_of_restricted_and_scheduled_chapters(web: Web) -> None:
    """Their URLs are those of chapters that do not exist."""
    missing = web.ask("/reader/nobody/1/1/")
    for path in ("members-only/1/1/", "members-only/1/99/", "in-shops-for-members/1/1/", "tomorrow/0/1/"):
        answer = web.ask(f"/reader/{path}")
        assert (answer.status, answer.body) == (404, missing.body)


def test_errors_of_images_are_pages(running: tuple[Site, Web]) -> None:
    """As of all paths outside the API."""
    site, web = running
    (site.folder / "images").mkdir()
    (site.folder / "images/a.jpg").write_bytes(b"image")
    missing, image = web.ask("/nothing.jpg"), web.ask("/media/a.jpg")
    for path in ("/media/x.jpg", "/media/", "//media/x.jpg", "/api/../media/.x.jpg"):
        answer = web.ask(path)
        assert (answer.status, answer.body, answer.fields) == (404, missing.body, missing.fields)
    for answer in (web.ask("/media/a.jpg", Range="bytes=9-"), web.ask("/media/a.jpg", "POST", Content_Length="0")):
        assert answer.body.startswith(b"<!DOCTYPE html>") and answer["content-type"] == HTML
        assert answer["content-security-policy"] == missing["content-security-policy"]
    assert (image.status, image["content-type"], image["content-security-policy"]) == (200, "image/jpeg", None)


@each(
    ("url", "policy"),
    [
        # The icon of a theme may come from another author.
        ("/assets/icon.svg", "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        # The worker loads images of the hosts that pages may show images of.
        ("/sw.js", "default-src 'none'; connect-src 'self' https://images.example"),
        ("/", POLICY),
        ("/reader/full-book/", POLICY),
        ("/nothing/", POLICY),
    ],
)
def test_policies_allow_only_what_is_needed(web: Web, url: str, policy: str) -> None:
    """Pages name the hosts of their images, also on an error."""
    for spelling in both_spellings(url):
        answer = web.ask(spelling)
        assert answer["content-security-policy"] == policy
        assert answer["referrer-policy"] == (OF_PAGES["referrer-policy"] if policy == POLICY else None)


IMAGES = ("/1", "/1/", "/5/", "/999", "/9999/", "/5/?a=b")


@each("image", IMAGES)
@each("chapter", ["/reader/full-book/1/1", "/reader/UPPER-lower_9/0/1", "/reader/full-book/1/2.5"])
def test_number_of_an_image_answers_the_page_of_its_chapter(
    running: tuple[Site, Web], chapter: str, image: str
) -> None:
    """In any spelling, with the validators of the chapter's page."""
    site, web = running
    if f"{chapter}/" not in site.manifest.resources:
        pytest.fail(f"{chapter}/ is no page of this site")

    assert visible(web.ask(chapter + image)) == visible(web.ask(f"{chapter}/"))
    assert web.ask(chapter + image, If_None_Match="*").status == 304


@each(
    "path",
    [
        "/index",
        "/query/series/title/1",
        "/of/index/series",
        "/bad/pages",
        "/private/api/v2/profile",
        "/_flatpanel/error",
        "/_flatpanel/page_error",
        "/reader/Full-Book/",
        "/reader/full-book/%0A",
        "/reader/../of/index/series",
        "/releases.xml",
        "/reader/full-book.Atom",
        "/sitemaps/nothing.xml",
        # A number has one spelling, and an image belongs to a chapter.
        *("/reader/full-book/1/1/0/", "/reader/full-book/1/1/01", "/reader/full-book/1/1/12345/"),
        *("/reader/full-book/1/1/1.5", "/reader/full-book/1/1/-1/", "/reader/full-book/1/1/a"),
        *("/reader/full-book/1/1/1/1/", "/reader/full-book/1/1/5%0a", "/reader/full-book/1/1/%35/x"),
        *("/reader/full-book/1/9999/", "/reader/full-book/1/9999/1/", "/reader/full-book/99/1/1/"),
        *(
            "/reader/full-book/01/1/",
            "/reader/full-book/1/01/1/",
            "/reader/full-book/1/1.0/",
            "/reader/full-book/1/1e0/1/",
        ),
    ],
)
def test_other_paths_are_404_pages(web: Web, path: str) -> None:
    """Keys that are no paths name nothing, even with an API key."""
    for headers in ({}, {"X_API_Key": "key-one"}):
        response = web.ask(path, **headers)

        assert (response.status, response["content-type"]) == (404, HTML)
        assert response.body.lower().startswith(b"<!doctype html>")
        assert response["cache-control"] == "public, max-age=60"
        assert response["etag"] is None
        assert response["last-modified"] is None


@each(
    ("request_line", "headers", "status", "is_page"),
    [
        ("POST / HTTP/1.1", "", 405, True),
        ("POST /api/series HTTP/1.1", "", 405, False),
        ("GET /reader/ HTTP/1.1", "Transfer-Encoding: chunked\r\n", 400, True),
        ("GET /api/series HTTP/1.1", "Transfer-Encoding: chunked\r\n", 400, False),
        ("GET / HTTP/1.1", 'If-Match: "x"\r\n', 412, True),
        ("GET /index.json HTTP/1.1", 'If-Match: "x"\r\n', 412, False),
        ("GET /index.json?a HTTP/1.1", f"X: {'x' * 9000}\r\n", 400, False),
        ("GET /index.jsonx HTTP/1.1", f"X: {'x' * 9000}\r\n", 400, True),
        ("GET /reader/a?b=/api HTTP/1.1", f"X: {'x' * 9000}\r\n", 400, True),
        ("GET http://a/reader/ HTTP/1.1", f"X: {'x' * 9000}\r\n", 400, True),
        ("GET //api/series HTTP/1.1", f"X: {'x' * 9000}\r\n", 400, False),
        ("GET /%61pi/series HTTP/1.1", f"X: {'x' * 9000}\r\n", 400, False),
        ("GET /reader/%zz HTTP/1.1", "", 400, True),
        ("GET /%zz HTTP/1.1", "", 400, False),
        (f"GET /reader/{'a' * 9000} HTTP/1.1", "", 414, True),
        ("GET /reader/ HTTP/9.9", "", 505, True),
        ("nonsense", "", 400, False),
    ],
)
def test_errors_outside_the_api_are_pages(
    web: Web, request_line: str, headers: str, status: int, is_page: bool
) -> None:
    """If nginx refuses a request early, the path must be clearly outside; all else is JSON."""
    body = "0\r\n\r\n" * ("chunked" in headers)
    request = f"{request_line}\r\nHost: a\r\nConnection: close\r\n{headers}\r\n{body}"
    response = nginx_client.parse(web.raw(request.encode()))

    assert (response.status, response["content-type"]) == (status, HTML if is_page else "application/json")
    assert response.body.startswith(b"<!DOCTYPE html>" if is_page else b"{")
    assert status != 414 or b"<h1>URI too long</h1>" in response.body
    assert response["content-security-policy"] == (POLICY if is_page else None)
    assert response["cache-control"] == "no-store"
    assert response["allow"] == ("GET, HEAD, OPTIONS" if status == 405 else None)


def test_site_without_pages_has_no_paths_of_pages(tmp_path) -> None:
    """And its files are those for types that it sends."""
    with served(tmp_path) as (site, web):
        for path in ("/reader/full-book/", "/reader/", "/library/", "/releases.atom", "/of/index/series", "/index"):
            response = web.ask(path)
            assert (response.status, response.body) == (404, b'{"error":"Not found","status":404}')
        for path in ("/", "/index.json"):
            response = web.ask(path)
            assert (response.status, response["content-type"]) == (200, "application/json")
            assert OF_PAGES.keys().isdisjoint(response.fields)
        assert {path.name for path in (site.folder / "dist/current").glob("answer*")} == {
            "answer.conf",
            "answer.css.conf",
            "answer.html.conf",
            "answer.js.conf",
        }


def test_reader_path_with_special_characters(tmp_path) -> None:
    """A dot in the setting matches a dot only; capitals take the long way."""
    with served(tmp_path, settings=f"{SETTINGS}\nreader: /re.ad-er~_/Sub/") as (_, web):
        for path, status in {
            "/re.ad-er~_/Sub/": 200,
            "/re.ad-er~_/Sub/full-book/": 200,
            "/re.ad-er~_/Sub/full-book.atom": 200,
            "/re.ad-er~_/Sub/full-book/1/1/2": 200,
            "/rexad-er~_/Sub/full-book/1/1/2": 404,
            "/rexad-er~_/Sub/full-book.atom": 404,
            "/re.ad-er~_/sub/full-book/": 404,
        }.items():
            assert (path, web.ask(path).status) == (path, status)
        assert web.ask("/re.ad-er~_/Sub/full-book.rss")["content-type"] == "application/rss+xml; charset=utf-8"


def test_missing_page_is_the_body_of_its_url(running: tuple[Site, Web]) -> None:
    """With status 404, uncompressed and without validators."""
    site, web = running
    body = (site.folder / "dist" / site.manifest.resources["/404/"].file).read_bytes()
    for path in ("/nothing", "/reader/nothing/", "/releases.xml"):
        for headers in ({}, {"Accept_Encoding": "gzip"}, {"If_None_Match": "*"}, {"Range": "bytes=0-3"}):
            response = web.ask(path, **headers)

            assert (response.status, response.body) == (404, body)
            assert {"etag", "last-modified", "content-encoding", "accept-ranges"}.isdisjoint(response.fields)
        assert web.ask(path, "HEAD").fields == web.ask(path).fields


def test_error_page_without_its_file(tmp_path) -> None:
    """As after an incomplete copy: the response is still a 404."""
    with served(tmp_path, "minimal", settings=SETTINGS) as (site, web):
        (site.folder / "dist" / site.manifest.resources["/404/"].file).unlink()
        response = web.ask("/nothing")

        assert (response.status, response["content-type"]) == (404, "text/html")


def test_unchanged_pages_keep_their_files(tmp_path) -> None:
    """The configuration depends on the addresses and types of bodies only."""
    site = copy_of("minimal", tmp_path)
    text = (site.folder / "catalog_src/series/first.yaml").read_text()
    written = []
    for seconds, name in ((0, "One"), (60, "Another")):
        site.write("site.yaml", f"base_url: https://minimal.example\n{SETTINGS}\n")
        site.write("series/first.yaml", text.replace("One", name))
        site.build(AS_OF + seconds)
        written.append((site.folder / "dist/current/pages.conf").read_text().replace(site.store.current(), ""))

    assert written[0] == written[1]
