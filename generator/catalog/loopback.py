"""Base URLs that only this machine reaches."""

import re

# Names below localhost lead to the machine itself as well (RFC 6761, 6.3).
_LOOPBACK = re.compile(
    r"(?P<scheme>https?)://(?P<host>(?:[^/:]+\.)?localhost|127(?:\.\d{1,3}){3})(?::(?P<port>\d+))?", re.IGNORECASE
)


def is_loopback(base_url: str) -> bool:
    """Whether no other machine reaches a base URL."""
    return _LOOPBACK.fullmatch(base_url) is not None


def local_base_url(base_url: str, port: int) -> str:
    """The base URL of a site that is served without TLS at a port of this machine; a public one stays as it is."""
    parts = _LOOPBACK.fullmatch(base_url)
    if not parts or (parts["scheme"].lower() == "http" and int(parts["port"] or 80) == port):
        return base_url
    return f"http://{parts['host']}:{port}"
