"""The URL of a server: scheme, host, port and folder, checked; and whether no other machine can reach it."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

# The deadline of a request.
REQUEST_SECONDS = 60.0
# A host name, or an IPv6 address in brackets.
_HOST = re.compile(r"(?:[-A-Za-z0-9_~]{1,63}\.)*[-A-Za-z0-9_~]{1,63}\.?|\[[0-9A-Fa-f:.]+\]")
# Printable ASCII; other characters could end the URL in a request line.
URL_CHARACTERS = re.compile(r"[\x21-\x7e]+")
# A password may contain any character, also those that end a host.
_USER = re.compile(r"(?:(?<=://)|\A(?!.*://)).*@", re.DOTALL)


def without_password(url: str) -> str:
    """A URL for a message: without user name and password, which would get into the log of a build."""
    return _USER.sub("…@", url, count=1)


@dataclass(frozen=True, slots=True)
class ServerUrl:
    """A server, and a folder on it."""

    scheme: str
    host: str
    port: int
    folder: str = ""

    @classmethod
    def of(cls, url: str) -> "ServerUrl":
        """Parse a URL. Raises ValueError; its message continues "the URL"."""
        if not URL_CHARACTERS.fullmatch(url):
            raise ValueError("should be a URL of ASCII characters without blanks")
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise ValueError("should be a URL like https://comics.example, with a port up to 65535") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("should be a URL like https://comics.example")
        if "@" in parts.netloc:
            raise ValueError("should contain no user name or password")
        if parts.query or parts.fragment:
            raise ValueError("should have no query (?) and no fragment (#)")
        host = parts.netloc.rpartition(":")[0] if port is not None else parts.netloc.removesuffix(":")
        if not _HOST.fullmatch(host):
            raise ValueError("should name a host of ASCII characters, at most 63 between two dots")
        default_port = 443 if parts.scheme == "https" else 80
        return cls(parts.scheme, host.lower(), port or default_port, parts.path.rstrip("/"))

    @property
    def authority(self) -> str:
        default_port = {"http": 80, "https": 443}[self.scheme]
        return self.host + (f":{self.port}" if self.port != default_port else "")

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    def __str__(self) -> str:
        return self.origin + self.folder


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
