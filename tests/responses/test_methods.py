"""GET and HEAD return resources, OPTIONS returns the CORS headers, and every other method is a 405."""

from tests.responses.conftest import OF_V2
from tests.support.api_errors import assert_error
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


@each("path", [*PATHS, "/api/v2/series", "/api/v2/series?limit=1", "/api/v2/profile", "/api/v2/docs/"])
def test_other_origins_may_read_only(web: Web, path: str) -> None:
    """OPTIONS allows conditions and an API key, but no credentials. There is no body."""
    preflight = {"Origin": "https://reader.example", "Access-Control-Request-Method": "POST", "Cookie": "a=b"}
    response = web.ask(path, "OPTIONS", **preflight)

    assert (response.status, response.body) == (204, b"")
    assert response.fields == OF_V2 | {
        "server": "nginx",
        "connection": "close",
        "allow": "GET, HEAD, OPTIONS",
        "access-control-allow-origin": "*",
        "access-control-max-age": "86400",
        "cache-control": "public, max-age=86400",
    }


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
