"""The core schema of YAML 1.2: unquoted text -> None, bool, int, Decimal or str."""

import re
from decimal import Decimal

# Longer numbers stay text: Python refuses to parse them, and no field has such values.
MAX_DIGITS = 400

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL_OR_HEX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,4})?")
_NOT_FINITE = re.compile(r"([-+]?)\.(inf|Inf|INF)|()\.(nan|NaN|NAN)")
# The quotes of word processors. YAML takes them for a part of the text.
CURLY_QUOTES = "\u201c\u201d\u201e\u201f\u2018\u2019\u201a\u201b"
# Only values with these first characters can be anything else than text, or an error.
_FIRST_CHARACTERS = frozenset(f"0123456789+-.~nNtTfF{CURLY_QUOTES}")


class CurlyQuotes(ValueError):
    """An unquoted scalar is between curly quotes, which were probably meant as quotes of YAML."""


def scalar(text: str) -> str | int | bool | Decimal | None:
    """Return the value of an unquoted scalar; CurlyQuotes if it is between them."""
    if text and text[0] not in _FIRST_CHARACTERS:
        return text
    if is_in_curly_quotes(text):
        raise CurlyQuotes
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > MAX_DIGITS:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return Decimal(text)
    if _OCTAL_OR_HEX.fullmatch(text):
        return int(text, 0)
    if match := _NOT_FINITE.fullmatch(text):
        return Decimal("".join(filter(None, match.groups())))
    return text


def is_text(text: str) -> bool:
    """Whether an unquoted scalar is text, also one that is refused for its curly quotes."""
    return is_in_curly_quotes(text) or isinstance(scalar(text), str)


def is_in_curly_quotes(text: str) -> bool:
    return len(text) > 1 and text[0] in CURLY_QUOTES and text[-1] in CURLY_QUOTES
