"""The address of a server: scheme, host, port and folder of a URL, checked."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

# A name of parts that can be looked up, or an address in brackets.
_HOST = re.compile(r"(?:[-A-Za-z0-9_~]{1,63}\.)*[-A-Za-z0-9_~]{1,63}\.?|\[[0-9A-Fa-f:.]+\]")
# What has another meaning in a request than as a part of a path.
URL_CHARACTERS = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class ServerUrl:
    """A server, and a folder on it."""

    scheme: str
    host: str
    port: int
    folder: str = ""

    @classmethod
    def of(cls, url: str) -> "ServerUrl":
        """The parts of a URL; ValueError says what is wrong with it."""
        if not URL_CHARACTERS.fullmatch(url):
            raise ValueError("should be a URL of ASCII characters without blanks")
        try:
            parts = urlsplit(url)
            told = parts.port
        except ValueError:
            raise ValueError("should be a URL like https://comics.example, with a port up to 65535") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("should be a URL like https://comics.example")
        if "@" in parts.netloc:
            raise ValueError("should contain no user name or password")
        if parts.query or parts.fragment:
            raise ValueError("should have no query (?) and no fragment (#)")
        host = parts.netloc.rpartition(":")[0] if told is not None else parts.netloc.removesuffix(":")
        if not _HOST.fullmatch(host):
            raise ValueError("should name a host of ASCII characters, at most 63 between two dots")
        port = told or (443 if parts.scheme == "https" else 80)
        return cls(parts.scheme, host.lower(), port, parts.path.rstrip("/"))

    @property
    def authority(self) -> str:
        usual = {"http": 80, "https": 443}[self.scheme]
        return self.host + (f":{self.port}" if self.port != usual else "")

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    def __str__(self) -> str:
        return self.origin + self.folder
