"""Errors of the unversioned API as clients receive them: status, body and every header."""

from tests.support.nginx_client import Answer

MESSAGES = {
    400: "Bad request",
    404: "Not found",
    405: "Method not allowed",
    412: "Precondition failed",
    413: "Content too large",
    414: "URI too long",
    501: "Not implemented",
    505: "HTTP version not supported",
}
BODIES = {status: f'{{"error":"{message}","status":{status}}}'.encode() for status, message in MESSAGES.items()}


def assert_error(response: Answer, status: int, **more: str) -> None:
    """`more` are headers that not every error has, or with another value. The connection closes."""
    assert (response.status, response.body) == (status, BODIES[status])
    assert response.fields == {
        "server": "nginx",
        "connection": "close",
        "content-type": "application/json",
        "content-length": str(len(BODIES[status])),
        "cache-control": "no-store",
        "x-frame-options": "SAMEORIGIN",
        "x-content-type-options": "nosniff",
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
