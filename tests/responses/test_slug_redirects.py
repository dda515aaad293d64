"""Redirects from slugs that series had before, to the same path below the present slug."""

import json
import time
from itertools import product

from generator.review.verify_server import check_server
from tests.conftest import SITES, Site
from tests.responses.conftest import visible
from tests.support.nginx_client import Answer, Web
from tests.support.site_variants import served
from tests.support.tables import each

HOST = "https://lists.example"
# The old slugs of each series: public, licensed, restricted, and with capitals; one is as long as possible.
FORMERLY = {
    "full-book": ["first-draft", "Second_Draft"],
    "in-shops": ["not-in-shops"],
    "members-only": ["for-all"],
    "UPPER-lower_9": ["tenth", "l" * 200],
}
PAIRS = [(old, present) for present, slugs in FORMERLY.items() for old in slugs]
PREFIXES = ("/api/series", "/api/v1/series", "/api/v2/series", "/api/v2/cubari")
BELOW = ("", "/1", "/1/1", "/1/10.5", "/abc", "/01/1e3", "/chapters", "/chapters/more", "/a/b/c/d", "/.hidden")


def with_old_slugs() -> dict[str, str]:
    texts = {slug: (SITES / f"v2/series/{slug}.yaml").read_text(encoding="utf-8") for slug in FORMERLY}
    return {f"series/{slug}.yaml": f"formerly: {json.dumps(FORMERLY[slug])}\n{text}" for slug, text in texts.items()}


SETTINGS, FILES = "pages: true\nreader: /my.reader/", with_old_slugs()


def assert_redirect(response: Answer, path: str) -> None:
    assert (response.status, response["location"]) == (308, f"{HOST}{path}")
    assert response.body == json.dumps({"url": f"{HOST}{path}"}, separators=(",", ":")).encode()


@each(("prefix", "below"), list(product(PREFIXES, BELOW)))
@each(("old", "present"), PAIRS)
def test_path_below_an_old_slug_redirects(web: Web, prefix: str, below: str, old: str, present: str) -> None:
    """It exists or not, and the series is public or not: the present path decides."""
    assert_redirect(web.ask(f"{prefix}/{old}{below}"), f"{prefix}/{present}{below}")
    assert_redirect(web.ask(f"{prefix}/{old}{below}/"), f"{prefix}/{present}{below}")


def test_headers_are_those_of_other_redirects(web: Web) -> None:
    """`/read` is the other redirect; the families without keys have no CORS headers for keys."""
    read = web.ask("/api/v2/chapters/11/read").fields
    for prefix in PREFIXES:
        fields = web.ask(f"{prefix}/first-draft").fields
        expected = read | {name: fields[name] for name in ("location", "content-length")}
        if "/v2/" not in prefix:
            del expected["access-control-allow-methods"], expected["access-control-allow-headers"]
        assert fields == expected == web.ask(f"{prefix}/first-draft", "HEAD").fields
    assert read["cache-control"] == "public, max-age=60"


@each(
    ("sent", "repeated"),
    [
        ("?", ""),
        ("?date_format=timestamp", "?date_format=timestamp"),
        ("?a=1&&b&=c&a=2", "?a=1&&b&=c&a=2"),
        ("?a=b%2Fc%zz+d&e[]={f}|'g'", "?a=b%2Fc%zz+d&e[]={f}|'g'"),
        ('?a="\\<>', "?a=%22%5C%3C%3E"),
        ("?a=\u00e9", "?a=%C3%A9"),
        ("?a=1#b", "?a=1"),
    ],
)
def test_query_is_repeated(web: Web, sent: str, repeated: str) -> None:
    """With an escape for a byte that no URL may contain."""
    request = f"GET /api/v2/series/first-draft/chapters{sent} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    location = f"{HOST}/api/v2/series/full-book/chapters{repeated}"

    assert f"\r\nLocation: {location}\r\n".encode() in web.raw(request.encode())


@each(
    ("sent", "repeated"),
    [
        ("?api_key=key-one", ""),
        ("?a=1&api_key=key-one&b=2", "?a=1&b=2"),
        ("?api_key=nonsense&a=1", "?a=1"),
        ("?%61pi_ke%79=key-one", ""),
        ("?api_key=key-one&api_key=key-two", ""),
    ],
)
def test_key_in_the_query_is_dropped(web: Web, sent: str, repeated: str) -> None:
    """And no cache may keep the response, since its URL has the key."""
    response = web.ask(f"/api/v2/cubari/for-all{sent}")

    assert_redirect(response, f"/api/v2/cubari/members-only{repeated}")
    assert response["cache-control"] == "private, no-store"


def test_key_in_the_header_makes_the_response_private(web: Web) -> None:
    """Also in the families that know no keys. An empty key is none."""
    for prefix in PREFIXES:
        assert web.ask(f"{prefix}/for-all", X_API_Key="key-one")["cache-control"] == "private, no-store"
        assert web.ask(f"{prefix}/for-all", X_API_Key="")["cache-control"] == "public, max-age=60"
        assert web.ask(f"{prefix}/for-all?api_key=")["cache-control"] == "public, max-age=60"


@each(
    ("sent", "below"),
    [
        ("/a%0d%0aX:%20y", "/a%0D%0AX:%20y"),
        ("/%22%5c%7B%24%7D", "/%22%5C%7B$%7D"),
        ("/\u00e9", "/%C3%A9"),
        ("/a+b;c=d,e@f!(g)*'~", "/a+b;c=d,e@f!(g)*'~"),
        ("//1///2//", "/1/2"),
        ("%2d", None),
        ("/..", None),
    ],
)
def test_rest_of_the_path_is_encoded(web: Web, sent: str, below: str | None) -> None:
    """No text of a request becomes another header, or a part of the body that is not inside its text."""
    request = f"GET /api/v1/series/first-draft{sent} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    received = web.raw(request.encode())

    if below is None:
        assert b" 308 " not in received
    else:
        assert f"\r\nLocation: {HOST}/api/v1/series/full-book{below}\r\n".encode() in received
        assert json.loads(received.partition(b"\r\n\r\n")[2]) == {"url": f"{HOST}/api/v1/series/full-book{below}"}


@each(
    "path",
    [
        # Paths are case-sensitive.
        *("/api/series/FIRST-DRAFT", "/api/v1/series/First-draft", "/api/v2/cubari/second_draft"),
        *("/api/v2/series/first-draft-2", "/api/v2/series/first", "/api/v1/series/drafts"),
        *("/api/v1/cubari/first-draft", "/api/cubari/first-draft", "/api/v3/series/first-draft", "/first-draft"),
        # An escaped slash would be another URL of the same resource.
        *("/api/v2/series/first-draft%2Fb", "/api/v2/series/first-draft/a%2fb", "/api/v2/series/first-draft/a/%2F"),
    ],
)
def test_other_paths_are_not_found(web: Web, path: str) -> None:
    assert web.ask(path).status == 404


@each(("old", "present"), PAIRS)
@each(
    "query",
    [
        "/series?slug={}",
        "/series?limit=3&slug={}",
        "/chapters?series={}",
        "/chapters?series={}&date_format=timestamp",
        "/pages?series={}&volume=1&number=1",
        "/pages?series={}&volume=1&number=999",
    ],
)
def test_parameter_finds_the_present_series(web: Web, query: str, old: str, present: str) -> None:
    """In any case; a licensed series finds nothing, and a restricted one needs a key, as under its present slug."""
    for headers in ({}, {"X_API_Key": "key-one"}):
        expected = web.ask(f"/api/v2{query.format(present)}", **headers)
        assert present != "full-book" or query.endswith("999") or json.loads(expected.body)["results"]
        for slug in (old, old.upper(), old.lower()):
            assert visible(web.ask(f"/api/v2{query.format(slug)}", **headers)) == visible(expected)


def test_restricted_route_needs_a_key_first(tmp_path) -> None:
    """Without a key, no response shows which slugs there were."""
    settings = 'restricted: ["/series/{slug}", "/series/{slug}/chapters"]'
    with served(tmp_path, settings=settings, files=with_old_slugs()) as (_, web):
        for path in ("/api/v2/series/first-draft", "/api/v2/series/first-draft/chapters"):
            assert web.ask(path).status == 401
            response = web.ask(path, X_API_Key="key-one")
            assert (response.status, response["cache-control"], response["vary"]) == (
                308,
                "private, no-store",
                "X-API-Key",
            )
        assert web.ask("/api/v2/cubari/first-draft").status == 308


# Of pages and feeds


@each("below", ["", "/1/1", "/1/10.5", "/1/1/5", "/1/1/version-12", "/abc", "/a/b/c/d/e", "/.hidden"])
@each(("old", "present"), PAIRS)
def test_page_below_an_old_slug_redirects(web: Web, below: str, old: str, present: str) -> None:
    """To the URL of a page, which ends in a slash; the number of an image is kept."""
    for sent in (below, f"{below}/"):
        assert_redirect(web.ask(f"/my.reader/{old}{sent}"), f"/my.reader/{present}{below}/")


@each("ending", ["atom", "rss", "json"])
@each(("old", "present"), PAIRS)
def test_feed_of_an_old_slug_redirects(web: Web, ending: str, old: str, present: str) -> None:
    assert_redirect(web.ask(f"/my.reader/{old}.{ending}"), f"/my.reader/{present}.{ending}")


@each(
    ("sent", "path"),
    [
        ("first-draft/?a=1&b", "full-book/?a=1&b"),
        ("first-draft/1/1/5?api_key=secret&a=1", "full-book/1/1/5/?a=1"),
        ("first-draft.rss?a=1", "full-book.rss?a=1"),
        ("first-draft/%0d%0aX:%20y/", "full-book/%0D%0AX:%20y/"),
        ("first-draft//1///1//", "full-book/1/1/"),
    ],
)
def test_pages_keep_the_query_and_encode_paths(web: Web, sent: str, path: str) -> None:
    assert_redirect(web.ask(f"/my.reader/{sent}"), f"/my.reader/{path}")


@each(
    "path",
    [
        "/my.reader/FIRST-DRAFT/",
        "/my.reader/first-draft.xml",
        "/my.reader/first-draft.atom.rss",
        "/my.reader/first-draft%2F1/",
        "/myxreader/first-draft/",
        "/first-draft/",
        "/reader/first-draft/",
        "/sitemaps/series/first-draft.xml",
    ],
)
def test_other_paths_of_pages_do_not_redirect(web: Web, path: str) -> None:
    response = web.ask(path)

    assert (response.status, response.body[:1]) == (404, b"<")


def test_headers_of_redirects_of_pages(web: Web) -> None:
    get, head = web.ask("/my.reader/first-draft/"), web.ask("/my.reader/first-draft/", "HEAD")

    assert (head.status, head.fields, head.body) == (308, get.fields, b"")
    assert get["cache-control"] == "public, max-age=60"
    assert web.ask("/my.reader/first-draft/?api_key=a")["cache-control"] == "private, no-store"


def test_redirects_are_absent_without_pages(tmp_path) -> None:
    """A front end of the owner decides on these paths."""
    with served(tmp_path, files=with_old_slugs()) as (site, web):
        assert web.ask("/reader/first-draft/").status == 404
        assert "/reader" not in (site.folder / "dist/current/redirects.map").read_text()


def test_verify_follows_redirects_of_pages(running: tuple[Site, Web]) -> None:
    """Every redirect, and every page, feed and gate."""
    site, web = running
    result = check_server(site.store, f"http://127.0.0.1:{web.port}", time.monotonic)

    assert result.faults == []
    assert result.urls > 200
