"""Which spellings of a path reach a resource. Every other path is a 400 or a 404, as JSON with the API's headers."""

from tests.conftest import Serve
from tests.support.golden import bodies
from tests.support.nginx_client import Answer, Web
from tests.support.tables import each

SITE = "everything"
BODIES = {
    400: b'{"error":"Bad request","status":400}',
    404: b'{"error":"Not found","status":404}',
    414: b'{"error":"URI too long","status":414}',
}


def assert_error(response: Answer, status: int) -> None:
    """Status, body and every header are those of an error."""
    assert (response.status, response.body) == (status, BODIES[status])
    assert response.fields == {
        "server": "nginx",
        "connection": "close",
        "content-type": "application/json",
        "content-length": str(len(BODIES[status])),
        "cache-control": "public, max-age=7" if status == 404 else "no-store",
        "x-frame-options": "SAMEORIGIN",
        "x-content-type-options": "nosniff",
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag",
    }


@each(
    ("path", "url"),
    [
        ("/api/series/long-road", "/api/series/long-road"),
        ("/api/series/long-road/", "/api/series/long-road"),
        ("//api/series/long-road", "/api/series/long-road"),
        ("/api//series///long-road////", "/api/series/long-road"),
        ("/api/./series/long-road", "/api/series/long-road"),
        ("/api/series/long-road/.", "/api/series/long-road"),
        ("/api/series/long-road/./", "/api/series/long-road"),
        ("/api/v1/../series/long-road", "/api/series/long-road"),
        ("/other/../api/series/long-road", "/api/series/long-road"),
        ("/api/series/nothing/..", "/api/series"),
        ("/api/%73eries/long%2Droad", "/api/series/long-road"),
        ("/%61%70%69/series/long%2droad", "/api/series/long-road"),
        ("/api/v1/%2e%2E/series/%2e/long-road", "/api/series/long-road"),
        ("/api/series/long-road/2/10%2E5", "/api/series/long-road/2/10.5"),
        ("http://other.example/api/series/long-road", "/api/series/long-road"),
        ("https://other.example:8/api/series/long-road/", "/api/series/long-road"),
        ("/api/series/long-road#fragment", "/api/series/long-road"),
        ("/", "/index.json"),
        ("//", "/index.json"),
        ("/.", "/index.json"),
        ("/api/..", "/index.json"),
    ],
)
def test_equivalent_path_is_the_resource(web: Web, path: str, url: str) -> None:
    """Double and trailing slashes, dot segments, unneeded escapes and absolute URLs change nothing."""
    response = web.ask(path)

    assert (response.status, response.body) == (200, bodies(SITE)[url])


@each(
    "query",
    [
        "?",
        "?x",
        "?x=1&y=2",
        "?q=long&status=completed",
        "?page=2",
        "?/../..",
        "?%2F%00",
        "?%zz",
        "?a=\xe9",
        "?'\"<>{}|\\^`$",
        "??",
        "?#",
    ],
)
@each("url", ["/api/series", "/api/v1/series/long-road", "/api/v1/releases", "/"])
def test_query_string_is_ignored(web: Web, url: str, query: str) -> None:
    """These routes define no parameters."""
    response = web.ask(url + query)

    assert (response.status, response.body) == (200, bodies(SITE)[url if url != "/" else "/index.json"])


@each(
    "path",
    [
        # No resource has this name.
        "/api",
        "/api/",
        "/api/v1",
        "/api/v1/",
        "/api/nothing",
        "/api/nothing/",
        "/api/v1/nothing",
        "/api/v3/series",
        "/apis",
        "/ap",
        "/index",
        "/favicon.ico",
        "/api/series.json",
        "/api/series/long-road.json",
        "/api/series/nothing",
        "/api/series/tomorrow/0/1",
        "/api/series/long-road/10/99",
        "/api/series/long-road/1",
        "/api/series/members-only",
        "/api/v1/series/members-only/1/1",
        # Resources of another API version.
        "/api/categories",
        "/api/groups",
        "/api/groups/5",
        "/api/groups/abc",
        "/api/v1/categories/action",
        "/api/v1/releases/1",
        "/api/releases/abc",
        # Too deep.
        "/api/authors/3/series",
        "/api/authors/abc/1",
        "/api/v1/groups/5/members",
        "/api/series/long-road/2/10/1",
        "/api/series/long-road/abc/10/001.jpg",
        "/api/series/long-road/2/10/abc/def",
        # Another case.
        "/API/series",
        "/api/Series",
        "/api/V1/series",
        "/api/series/Long-Road",
        "/api/series/LONG-ROAD/2/10",
        # Escaped separators, which would be a second URL for the resource.
        "/api%2Fseries",
        "/api%2fseries",
        "/%2Fapi/series",
        "/api/series%2Flong-road",
        "/api/series/long-road%2F",
        "/api/series/long-road/2%2f10",
        "/api/authors%2Fabc",
        "http://other.example/api%2Fseries",
        "/api%5Cseries",
        "/api%5cseries",
        "/api\\series",
        "/api/series;long-road",
        "/api/series;",
        "/api/series;v=1/long-road",
        # Characters that belong to the name.
        "/api/series/%20",
        "/api/series%20",
        "/api/%20series",
        "/api/series/%0A",
        "/api/series%0A",
        "/api/series%0D%0A",
        "/api/series/long-road%0a/",
        "/api/series%3F",
        "/api/series%23",
        "/api/series%25",
        "/api/%2573eries",
        "/api%252Fseries",
        "/api/series,",
        "/api/series*",
        "/api/series$",
        "/api/series/$host",
        "/api/series/${uri}",
        "/api/series/\xe9",
        "/api/series/%ff",
        "/api/series/%E9%A1%B5",
        "/api/series/\"'<>{}|^`",
        "/api/series/...",
        "/api/series/..long-road",
        "/api/series/~long-road",
        "/api/series/*",
        "/api/series/.*",
        "/api/series/long-roa",
        "/api/series/long-roadd",
        # Internal locations.
        "/_flatpanel",
        "/_flatpanel/error",
        "/_flatpanel/fresh",
        "/_flatpanel/fresh/",
        "/_flatpanel/options",
        "/_flatpanel/refused",
        "/_flatpanel/again",
        # Outside.
        "/etc/passwd",
        "/dist/current/http.conf",
        "/releases",
        "/api/../etc/passwd",
        "/current/manifest.json",
        "/nginx.conf",
    ],
)
def test_other_path_is_404(web: Web, path: str) -> None:
    assert_error(web.ask(path), 404)


@each(
    "path",
    [
        "/..",
        "/../api/series",
        "/api/../../api/series",
        "/%2e%2e/api/series",
        "/api/series/../../../api/etc",
        "/api/%00",
        "/api/series%00",
        "/api/series/%00/1",
        "/api/%",
        "/api/%4",
        "/api/%zz",
        "/api/%u0041",
        "/api/series/a b",
        "/api/\x01",
        "/api/\x7f",
        "api/series",
        "*",
        "",
        "http:///api/series",
    ],
)
def test_malformed_path_is_400(web: Web, path: str) -> None:
    """The path leads above the root, has an incomplete escape or contains invalid characters."""
    assert_error(web.ask(path), 400)


@each("part", ["a", "%41", "/", "/a", "./", "a/../", "\xe9"])
def test_long_path_is_404(web: Web, part: str) -> None:
    """The limit is nginx's buffer."""
    assert_error(web.ask("/api/" + part * (6000 // len(part.encode()))), 404)


@each("target", ["/api/" + "a" * 9000, "/api/series?" + "a" * 9000, "/" * 9000, "a" * 9000])
def test_oversized_path_is_414(web: Web, target: str) -> None:
    """The limit of a request line is 8 kB."""
    assert_error(web.ask(target), 414)


def test_head_of_a_missing_path_has_the_headers_of_get(web: Web) -> None:
    """Content-Length is included; the body is empty."""
    for path in ("/api/nothing", "/api/authors/abc"):
        head, get = web.ask(path, "HEAD"), web.ask(path)

        assert (head.status, head.fields, head.body) == (get.status, get.fields, b"")


@each("slug", ["__proto__", "constructor", "default", "include", "hostnames", "volatile", "0", "-"])
def test_slug_may_be_a_keyword(serve: Serve, slug: str) -> None:
    """Keywords of nginx maps and property names of JavaScript are ordinary, case-sensitive slugs."""
    web = serve("hostile")[1]

    assert web.ask(f"/api/series/{slug}").body == bodies("hostile")[f"/api/series/{slug}"]
    assert slug.upper() == slug or web.ask(f"/api/series/{slug.upper()}").status == 404


@each("slug", ["toString", "hasOwnProperty", "valueOf", "prototype", "LICENSED", "licensed"])
def test_keyword_that_is_no_slug_is_404(serve: Serve, slug: str) -> None:
    """The catalog does not contain these slugs, or the site hides them."""
    assert serve("hostile")[1].ask(f"/api/series/{slug}").status == 404
