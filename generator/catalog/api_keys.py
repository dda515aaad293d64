"""Keys to what is restricted: made once, shown once, and known by their digests from then on."""

import re
import secrets

# By which a key is recognised when it turns up where it should not.
PREFIX = "fpk_"
_BYTES = 32
# Half a key is too much already.
_KEY = re.compile(rf"{PREFIX}[-A-Za-z0-9_]{{16,}}")
# Two ways to write a text in double quotes so that it does not look like what it says.
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_FOLD = re.compile(r"\\(?:\r\n|[\r\n\x85\u2028\u2029])\s*")


def new_key() -> str:
    """A key of 256 bits from the system, in letters that need no escaping anywhere."""
    return PREFIX + secrets.token_urlsafe(_BYTES)


def positions(text: bytes) -> list[tuple[int, int]]:
    """The lines and columns in which keys begin."""
    if PREFIX.encode() not in text:
        return []
    shown = text.decode("utf-8-sig", "replace")
    positions, line, newline, before = [], 1, -1, 0
    for found in _KEY.finditer(shown):
        start = found.start()
        line += shown.count("\n", before, start)
        newline = max(newline, shown.rfind("\n", before, start))
        before = start
        positions.append((line, start - newline))
    return positions


def has_escaped_key(text: bytes) -> bool:
    """Whether there is a key that only those see who undo the escapes of a text in double quotes."""
    if b"\\" not in text:
        return False
    shown = text.decode("utf-8", "replace")
    plain = _FOLD.sub("", _ESCAPE.sub(lambda found: chr(int(found[1] or found[2] or found[3], 16) % 0x110000), shown))
    return any(key not in shown for key in _KEY.findall(plain))


def redacted(text: str) -> str:
    """The text as it may be printed."""
    return _KEY.sub(f"{PREFIX}…", text)
