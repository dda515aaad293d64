"""GET and HEAD return resources, OPTIONS returns the CORS headers, and every other method is a 405."""

from tests.support.api_errors import assert_error
from tests.support.golden import bodies
from tests.support.nginx_client import Web
from tests.support.tables import each

SITE = "everything"
RESOURCE = "/api/series/long-road"
PATHS = [
    "/",
    "/api",
    "/api/series",
    RESOURCE,
    f"{RESOURCE}/",
    "/api/v1/groups/5",
    "/api/nothing",
    "/api/authors/abc",
    "/api//x",
]


@each("path", PATHS)
def test_options_is_204_with_cors_headers(web: Web, path: str) -> None:
    """The headers allow conditions and an API key. There is no body."""
    response = web.ask(path, "OPTIONS")

    assert (response.status, response.body) == (204, b"")
    assert response.fields == {
        "server": "nginx",
        "connection": "close",
        "allow": "GET, HEAD, OPTIONS",
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, OPTIONS",
        "access-control-allow-headers": "X-API-Key, If-None-Match, If-Modified-Since",
        "access-control-max-age": "86400",
        "cache-control": "public, max-age=86400",
    }


def test_preflight_request_is_like_options(web: Web) -> None:
    preflight = {
        "Origin": "https://reader.example",
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "x-api-key, if-none-match",
    }
    plain = web.ask(RESOURCE, "OPTIONS")
    response = web.ask(RESOURCE, "OPTIONS", **preflight)

    assert (response.status, response.fields) == (204, plain.fields)


@each("path", [*PATHS, "/api/v2/series", "/api/v2/series?limit=1", "/api/v2/profile", "/api/v2/docs/"])
@each("condition", [{}, {"If-None-Match": "*"}, {"If-Match": "*"}])
def test_other_origins_may_read_only(web: Web, path: str, condition: dict[str, str]) -> None:
    """Every origin may read, without credentials, cookies or frames."""
    response = web.ask(path, Origin="https://other.example", Cookie="a=b", **condition)

    assert response["access-control-allow-origin"] == "*"
    assert response["access-control-allow-methods"] in (None, "GET, HEAD, OPTIONS")
    assert response["access-control-allow-headers"] in (None, "X-API-Key, If-None-Match, If-Modified-Since")
    assert (response["access-control-allow-credentials"], response["set-cookie"]) == (None, None)
    assert response["x-frame-options"] == "SAMEORIGIN"


@each("path", PATHS)
@each("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "PURGE", "FOO", "GETS", "GE", "X-Y_Z"])
def test_other_methods_are_405(web: Web, path: str, method: str) -> None:
    """The path need not exist."""
    assert_error(web.ask(path, method), 405, allow="GET, HEAD, OPTIONS")


@each("method", ["get", "Get", "head", "options", "post"])
def test_lower_case_method_is_400(web: Web, method: str) -> None:
    """Methods are case-sensitive."""
    response = web.ask(RESOURCE, method)

    assert (response.status, response.body) == (400, b'{"error":"Bad request","status":400}')


@each("value", ["POST", "DELETE", "OPTIONS"])
@each("header", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
def test_method_override_headers_are_ignored(web: Web, header: str, value: str) -> None:
    """Only the request line has the method."""
    response = web.ask(RESOURCE, **{header: value})

    assert (response.status, response.body) == (200, bodies(SITE)[RESOURCE])
