"""Which spellings of a path are a resource, and what every other path is: 400 or 404, in JSON, with our headers."""

import pytest

from tests.conftest import Serve
from tests.responses.test_golden import bodies
from tests.support.nginx_client import Answer, Web

SITE = "everything"
BODIES = {
    400: b'{"error":"Bad request","status":400}',
    404: b'{"error":"Not found","status":404}',
    414: b'{"error":"URI too long","status":414}',
}


@pytest.fixture
def web(serve: Serve) -> Web:
    return serve(SITE)[1]


def assert_error(answer: Answer, status: int) -> None:
    """A whole error: status, body and every header."""
    assert (answer.status, answer.body) == (status, BODIES[status])
    assert answer.fields == {
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


@pytest.mark.parametrize(
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
        ("/", "/"),
        ("//", "/"),
        ("/.", "/"),
        ("/api/..", "/"),
    ],
)
def test_a_spelling_that_means_the_path_is_the_resource(web: Web, path: str, url: str) -> None:
    """Slashes at the end or doubled, dot segments, letters that need no encoding and whole addresses change nothing."""
    answer = web.ask(path)

    assert (answer.status, answer.body) == (200, bodies(SITE)[url])


@pytest.mark.parametrize(
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
@pytest.mark.parametrize("url", ["/api/series", "/api/v1/series/long-road", "/api/v1/releases", "/"])
def test_a_query_string_changes_nothing(web: Web, url: str, query: str) -> None:
    """No parameter is defined, so none is looked at, and none can be wrong."""
    answer = web.ask(url + query)

    assert (answer.status, answer.body) == (200, bodies(SITE)[url])


@pytest.mark.parametrize(
    "path",
    [
        # Nothing has this name.
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
        "/index.json",
        "/favicon.ico",
        "/api/series.json",
        "/api/series/long-road.json",
        "/api/series/nothing",
        "/api/series/tomorrow/0/1",
        "/api/series/long-road/10/99",
        "/api/series/long-road/1",
        "/api/series/members-only",
        "/api/v1/series/members-only/1/1",
        # One family has what another has not.
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
        # A separator that is none: it would be a second URL for the resource.
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
        # Characters that are part of the name.
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
        # What nginx uses for itself.
        "/_flatpanel",
        "/_flatpanel/error",
        "/_flatpanel/fresh",
        "/_flatpanel/fresh/",
        "/_flatpanel/options",
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
def test_any_other_path_is_a_404(web: Web, path: str) -> None:
    """What is no resource is not found, whatever it looks like."""
    assert_error(web.ask(path), 404)


@pytest.mark.parametrize(
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
def test_a_target_that_is_no_path_is_a_400(web: Web, path: str) -> None:
    """What climbs above the root, is cut short or holds what no path may hold is a bad request."""
    assert_error(web.ask(path), 400)


@pytest.mark.parametrize("part", ["a", "%41", "/", "/a", "./", "a/../", "\xe9"])
def test_a_long_path_is_just_another_path(web: Web, part: str) -> None:
    """Up to the size of nginx's buffers, a path that is nowhere is a 404."""
    assert_error(web.ask("/api/" + part * (6000 // len(part.encode()))), 404)


@pytest.mark.parametrize("target", ["/api/" + "a" * 9000, "/api/series?" + "a" * 9000, "/" * 9000, "a" * 9000])
def test_a_path_that_fits_no_buffer_is_a_414(web: Web, target: str) -> None:
    """A request line of more than 8 kB is refused as what it is."""
    assert_error(web.ask(target), 414)


def test_head_of_what_is_missing_has_the_headers_of_get(web: Web) -> None:
    """Length included, and no body."""
    for path in ("/api/nothing", "/api/authors/abc"):
        head, get = web.ask(path, "HEAD"), web.ask(path)

        assert (head.status, head.fields, head.body) == (get.status, get.fields, b"")


@pytest.mark.parametrize("slug", ["__proto__", "constructor", "default", "include", "hostnames", "volatile", "0", "-"])
def test_a_slug_may_be_a_word_that_means_something_elsewhere(serve: Serve, slug: str) -> None:
    """Keywords of nginx maps and names of JavaScript are slugs like others, in one case only."""
    web = serve("hostile")[1]

    assert web.ask(f"/api/series/{slug}").body == bodies("hostile")[f"/api/series/{slug}"]
    assert slug.upper() == slug or web.ask(f"/api/series/{slug.upper()}").status == 404


@pytest.mark.parametrize("slug", ["toString", "hasOwnProperty", "valueOf", "prototype", "LICENSED", "licensed"])
def test_a_word_that_means_something_elsewhere_is_no_slug_by_itself(serve: Serve, slug: str) -> None:
    """What the catalog does not name, or the site hides, is not there."""
    assert serve("hostile")[1].ask(f"/api/series/{slug}").status == 404
