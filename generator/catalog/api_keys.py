"""API keys: make a key, find keys in texts, redact them. The catalog contains SHA-256 digests only."""

import re
import secrets

# Every key starts with this, so that a leaked key is recognised.
PREFIX = "fpk_"
PLAINTEXT = "plaintext API key; remove it and create a new one with `python build.py keys add`"
_BYTES = 32
# A part of a key counts as a key.
_KEY = re.compile(rf"{PREFIX}[-A-Za-z0-9_]{{16,}}")
# Escapes and folded lines in double-quoted YAML, which can disguise a key.
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_FOLD = re.compile(r"\\(?:\r\n|[\r\n\x85\u2028\u2029])\s*")


def new_key() -> str:
    """Make a key of 256 random bits, in characters that need no escaping."""
    return PREFIX + secrets.token_urlsafe(_BYTES)


def positions(text: bytes) -> list[tuple[int, int]]:
    """The line and the column of each key in a text."""
    if PREFIX.encode() not in text:
        return []
    decoded = text.decode("utf-8-sig", "replace")
    positions, line, newline, before = [], 1, -1, 0
    for match in _KEY.finditer(decoded):
        start = match.start()
        line += decoded.count("\n", before, start)
        newline = max(newline, decoded.rfind("\n", before, start))
        before = start
        positions.append((line, start - newline))
    return positions


def has_escaped_key(text: bytes) -> bool:
    """Whether a text contains a key that only appears when YAML escapes are resolved."""
    if b"\\" not in text:
        return False
    decoded = text.decode("utf-8", "replace")
    resolved = _ESCAPE.sub(lambda escape: chr(int(escape[1] or escape[2] or escape[3], 16) % 0x110000), decoded)
    return any(key not in decoded for key in _KEY.findall(_FOLD.sub("", resolved)))


def contains_key(text: str) -> bool:
    return _KEY.search(text) is not None


def redacted(text: str) -> str:
    """The text with every key replaced by its prefix."""
    return _KEY.sub(f"{PREFIX}…", text)
