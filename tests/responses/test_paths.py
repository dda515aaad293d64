"""Which spellings of a path reach a resource. Every other path is a 400 or a 404, as JSON with the API's headers."""

from tests.conftest import Serve
from tests.support.api_errors import assert_error
from tests.support.golden import bodies
from tests.support.nginx_client import Web
from tests.support.tables import each

SITE = "everything"
# The max-age of errors in site.yaml, which a 404 has.
KEPT = {"cache_control": "public, max-age=7"}


@each(
    ("path", "url"),
    [
        ("/api/series/long-road/", "/api/series/long-road"),
        ("/api//series///long-road////", "/api/series/long-road"),
        ("/api/./series/long-road", "/api/series/long-road"),
        ("/api/series/long-road/./", "/api/series/long-road"),
        ("/api/v1/../series/long-road", "/api/series/long-road"),
        ("/other/../api/series/long-road", "/api/series/long-road"),
        ("/api/series/nothing/..", "/api/series"),
        ("/api/%73eries/long%2Droad", "/api/series/long-road"),
        ("/api/v1/%2e%2E/series/%2e/long-road", "/api/series/long-road"),
        ("/api/series/long-road/2/10%2E5", "/api/series/long-road/2/10.5"),
        ("http://other.example/api/series/long-road", "/api/series/long-road"),
        ("https://other.example:8/api/series/long-road/", "/api/series/long-road"),
        ("/api/series/long-road#fragment", "/api/series/long-road"),
        ("/", "/index.json"),
        ("//", "/index.json"),
        ("/api/..", "/index.json"),
    ],
)
def test_equivalent_path_is_the_resource(web: Web, path: str, url: str) -> None:
    """Double and trailing slashes, dot segments, unneeded escapes and absolute URLs change nothing."""
    response = web.ask(path)

    assert (response.status, response.body) == (200, bodies(SITE)[url])


@each(
    "path",
    [
        # No resource has this name.
        "/api",
        "/api/nothing",
        "/favicon.ico",
        "/api/series.json",
        "/api/series/nothing",
        "/api/series/members-only",
        "/api/v1/series/members-only/1/1",
        # Resources of another API version.
        "/api/categories",
        # Too deep.
        "/api/authors/3/series",
        "/api/series/long-road/2/10/1",
        # Escaped separators, which would be a second URL for the resource.
        "/api%2Fseries",
        "/api/series%2Flong-road",
        "/api/series/long-road/2%2f10",
        "/api%5Cseries",
        "/api\\series",
        "/api/series;long-road",
        # Characters that belong to the name.
        "/api/series%0A",
        "/api/series/long-road%0a/",
        "/api/%2573eries",
        "/api/series/$host",
        "/api/series/\"'<>{}|^`",
        # Internal locations.
        "/_flatpanel",
        "/_flatpanel/error",
        # Outside.
        "/dist/current/http.conf",
    ],
)
def test_other_path_is_404(web: Web, path: str) -> None:
    assert_error(web.ask(path), 404, **KEPT)


@each(
    "path",
    [
        "/..",
        "/../api/series",
        "/api/series/../../../api/etc",
        "/api/%00",
        "/api/%zz",
        "/api/series/a b",
        "*",
        "",
    ],
)
def test_malformed_path_is_400(web: Web, path: str) -> None:
    """The path leads above the root, has an incomplete escape or contains invalid characters."""
    assert_error(web.ask(path), 400)


@each("part", ["a", "%41", "/", "/a", "./", "a/../", "\xe9"])
def test_long_path_is_404(web: Web, part: str) -> None:
    """The limit is nginx's buffer."""
    assert_error(web.ask("/api/" + part * (6000 // len(part.encode()))), 404, **KEPT)


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
