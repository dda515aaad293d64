"""What a plain (unquoted) word means in YAML 1.2: nothing, a boolean, a number to its last digit, or a text."""

import re
from decimal import Decimal

# Longer runs of digits stay text: Python refuses to read them as numbers, and no field wants them.
MAX_NUMBER = 400

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OCTAL_OR_HEX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,4})?")
_NOT_FINITE = re.compile(r"([-+]?)\.(inf|Inf|INF)|()\.(nan|NaN|NAN)")
# Most plain scalars are words; only these first characters can begin anything else.
_MAY_NOT_BE_TEXT = frozenset("0123456789+-.~nNtTfF")


def scalar(text: str) -> str | int | bool | Decimal | None:
    """What a plain (unquoted) scalar means in the core schema of YAML 1.2."""
    if text and text[0] not in _MAY_NOT_BE_TEXT:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > MAX_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return Decimal(text)
    if _OCTAL_OR_HEX.fullmatch(text):
        return int(text, 0)
    if found := _NOT_FINITE.fullmatch(text):
        return Decimal("".join(filter(None, found.groups())))
    return text
