"""Values that somebody else encoded: each is what it should be, or is taken for nothing. Nothing here raises."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any

from ...catalog import field_values
from ...catalog.records import MAX_ID, MAX_NUMBER
from ...encoding import LAST_INSTANT
from .bounded_json import Items

_NO_VOLUME = ("0", "None", "null", "")
_SPOKEN_NUMBER = re.compile(r"[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,2})?")


def fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def entries(value: Any) -> Iterator[dict[str, Any]]:
    """Those things in a list that have fields."""
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list | Items) else iter(())


def texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """A text as our catalogs hold it: its lines end in one way."""
    return value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else ""


def whole(value: Any) -> int | None:
    """A whole number that can be an id, also one that was written with a point or as text."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(MAX_ID)):
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_ID else None


def count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0


def seconds(value: Any) -> int | None:
    """Digits for a moment."""
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,11}", value) else None


def volume(value: Any) -> int | None:
    """The number of a volume; ValueError for what is neither one nor the word for none."""
    if value is None or str(value) in _NO_VOLUME or value == 0:
        return None
    found = whole(value)
    if found is None or found > MAX_NUMBER:
        raise ValueError(f"has the volume {str(value)[:40]}")
    return found


def number(value: Any) -> str:
    """The number of a chapter in its one spelling; ValueError for what is none."""
    spoken = repr(value) if isinstance(value, float) else str(value)
    if not isinstance(value, bool) and _SPOKEN_NUMBER.fullmatch(spoken):
        with suppress(ValueError):
            return field_values.number(f"{Decimal(spoken):f}")
    raise ValueError(f"has the number {spoken[:40]}")


def http_date(text: str) -> int | None:
    """Seconds since 1970 of a date as HTTP writes it, which is in UTC even if it does not say so."""
    try:
        found = parsedate_to_datetime(text)
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def instant(value: Any) -> int | None:
    """A time as any of the families writes it: ISO, the form of HTTP, or digits for milliseconds."""
    if not isinstance(value, str):
        return None
    if re.fullmatch("[0-9]{1,15}", value):
        found: int | None = int(value) // 1000
    else:
        with suppress(ValueError):
            return field_values.instant(value)
        found = http_date(value)
    return found if found is not None and 0 <= found <= LAST_INSTANT else None
