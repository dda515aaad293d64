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
# Only values with these first characters can be anything else than text.
_FIRST_CHARACTERS = frozenset("0123456789+-.~nNtTfF")


def scalar(text: str) -> str | int | bool | Decimal | None:
    """Return the value of an unquoted scalar."""
    if text and text[0] not in _FIRST_CHARACTERS:
        return text
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
