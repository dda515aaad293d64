"""Quote values for an nginx configuration, or refuse them."""

import re

from ..errors import FlatpanelError

_PLAIN = re.compile(r"[-A-Za-z0-9_./:+=@,]+")
# Needs quotes and no escapes.
_SPACED = re.compile(r"[-A-Za-z0-9_./:+=@, ]+")
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f$]")
# nginx reads its configuration through a buffer of 4096 bytes, which a word must fit into.
_MAX_BYTES = 4000
# Replaces `$` while the rest of a word is quoted.
_DOLLAR = "\ue000"


def quote(value: object) -> str:
    """A value as one word. `$` is refused: nginx has no escape for it."""
    text = str(value)
    if _PLAIN.fullmatch(text) and len(text) <= _MAX_BYTES:
        return text
    if _SPACED.fullmatch(text) and len(text) <= _MAX_BYTES:
        return f'"{text}"'
    if _FORBIDDEN.search(text):
        raise FlatpanelError(f"{text!r} cannot be written into an nginx configuration; rename it")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if len(escaped.encode()) > _MAX_BYTES:
        raise FlatpanelError(f"{text[:60]!r}… is too long for an nginx configuration; shorten it")
    return f'"{escaped}"'


def quote_path(path: object, pattern: str = "") -> str:
    """A path as one word, without wildcards of `include` and characters that njs cannot read."""
    if set("*?['\\") & set(str(path)):
        raise FlatpanelError(f"{str(path)!r}: nginx cannot use a folder with *, ?, [, ' or \\ in its name; rename it")
    return quote(f"{path}{pattern}")


def quote_key(text: str, dollar: str = "$") -> str:
    """The key of a map's line, where `$` is an ordinary character.

    In the value of a line, `dollar` is a variable whose value is `$`.
    """
    if _PLAIN.fullmatch(text):
        return text
    return quote(text.replace("$", _DOLLAR)).replace(_DOLLAR, dollar)
