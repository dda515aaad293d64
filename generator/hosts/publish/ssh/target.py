"""The URL of a folder on a server: ssh://user@host:port/path."""

import re
from typing import NamedTuple
from urllib.parse import unquote

from ....errors import FlatpanelError
from ....server_url import without_password

_URL = re.compile(r"ssh://(?:([^@/]*)@)?(\[[^\]/]*\]|[^:@/]*)(?::([^/]*))?(/.*)?", re.DOTALL)
# ssh passes both on to programs of its configuration, so they contain nothing that a shell would interpret.
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*|[0-9A-Fa-f:.]+(?:%[A-Za-z0-9]+)?")
_EXAMPLE = "use a URL like ssh://user@comics.example/srv/comics"


class SshTarget(NamedTuple):
    """A folder on a server. A path that begins with `./` is below the home folder of the account."""

    url: str
    user: str
    host: str
    port: int | None
    folder: str

    @classmethod
    def of(cls, url: str) -> "SshTarget":
        """Parse a URL. Raises if it is none, or if a part of it could be read as an option or a command."""
        parsed, shown = _URL.fullmatch(url), without_password(url)
        if not parsed:
            raise FlatpanelError(f"{shown}: is not the URL of a folder on a server; {_EXAMPLE}")
        user, host, port, path = (part or "" for part in parsed.groups())
        if ":" in user:
            raise FlatpanelError("ssh://…: contains a password; use a key, which ssh finds by itself or in ssh-agent")
        host = host.strip("[]")
        if not _HOST.fullmatch(host) or (user and not _USER.fullmatch(user)):
            raise FlatpanelError(f"{shown}: has no valid host or user; {_EXAMPLE}")
        if port and not (port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
            raise FlatpanelError(f"{shown}: has no valid port; {_EXAMPLE}")
        return cls(url, user, host, int(port) if port else None, _folder(url, path))

    def arguments(self) -> list[str]:
        """The arguments of ssh."""
        user = ["-l", self.user] if self.user else []
        port = ["-p", str(self.port)] if self.port else []
        return [*user, *port, "--", self.host]


def _folder(url: str, path: str) -> str:
    if {"?", "#"} & set(path):
        raise FlatpanelError(f"{url}: has parameters; write ? as %3F and # as %23")
    try:
        folder = unquote(path, errors="strict")
    except UnicodeDecodeError:
        raise FlatpanelError(f"{url}: has a path that is not UTF-8; {_EXAMPLE}") from None
    if not folder.isprintable():
        raise FlatpanelError(f"{url}: has control characters in its path; {_EXAMPLE}")
    if not folder.strip("/~"):
        raise FlatpanelError(f"{url}: names no folder; {_EXAMPLE}")
    return re.sub("^/~/", "./", folder).rstrip("/")
