"""Values -> words of an nginx configuration: each is quoted here, or refused."""

import re

from ..errors import FlatpanelError

_PLAIN = re.compile(r"[-A-Za-z0-9_./:+=@,]+")
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f$]")
# nginx reads its configuration through a buffer of 4096 bytes, and a word has to fit.
_LONGEST = 4000
# Stands for a `$` while the rest of a word is quoted.
_DOLLAR = "\ue000"


def quote(value: object) -> str:
    """A value as one word of a configuration. nginx has no escape for `$`, and no value of ours needs one."""
    text = str(value)
    if _PLAIN.fullmatch(text) and len(text) <= _LONGEST:
        return text
    if _FORBIDDEN.search(text):
        raise FlatpanelError(f"{text!r} cannot be written into an nginx configuration; rename it")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if len(escaped.encode()) > _LONGEST:
        raise FlatpanelError(f"{text[:60]!r}… is too long for an nginx configuration; shorten it")
    return f'"{escaped}"'


def quote_path(path: object, pattern: str = "") -> str:
    """A path as one word, without what `include` takes for a pattern of names, and without what njs cannot read."""
    if set("*?['\\") & set(str(path)):
        raise FlatpanelError(f"{str(path)!r}: nginx cannot use a folder with *, ?, [, ' or \\ in its name; rename it")
    return quote(f"{path}{pattern}")


def quote_key(text: str) -> str:
    """The left side of a line of a map: never a variable, and a word of nginx's own only with a backslash."""
    if _PLAIN.fullmatch(text):
        return text
    return quote(text.replace("$", _DOLLAR)).replace(_DOLLAR, "$")
