"""Loopback base URLs, which only this machine can reach."""

import re

# Names below localhost are loopback names, too (RFC 6761, 6.3).
_LOOPBACK = re.compile(
    r"(?P<scheme>https?)://(?P<host>(?:[^/:]+\.)?localhost|127(?:\.\d{1,3}){3})(?::(?P<port>\d+))?", re.IGNORECASE
)


def is_loopback(base_url: str) -> bool:
    """Whether no other machine can reach a base URL."""
    return _LOOPBACK.fullmatch(base_url) is not None


def local_base_url(base_url: str, port: int) -> str:
    """A loopback base URL with the scheme http and this port; any other base URL unchanged."""
    parts = _LOOPBACK.fullmatch(base_url)
    if not parts or (parts["scheme"].lower() == "http" and int(parts["port"] or 80) == port):
        return base_url
    return f"http://{parts['host']}:{port}"
