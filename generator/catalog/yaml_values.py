"""Values of records -> short YAML values: times, chapter numbers and page runs."""

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

from . import field_values

# A run of two pages is longer than their names.
_MIN_RUN = 3


def yaml_value(value: Any) -> Any:
    """Return `value` in its short form, without fields that are None."""
    if isinstance(value, dict):
        return {name: _FIELDS.get(name, yaml_value)(item) for name, item in value.items() if item is not None}
    return [yaml_value(item) for item in value] if isinstance(value, list) else value


def _instant(value: Any) -> Any:
    return field_values.iso(value) if isinstance(value, int) else value


def _number(value: Any) -> Any:
    with suppress(ValueError):
        return Decimal(value) if isinstance(value, str) and field_values.number(value) == value else value
    return value


def pages(value: Any) -> Any:
    """Return the short form of a list of file names if it means the same."""
    if isinstance(value, list) and len(value) >= _MIN_RUN:
        run = f"{value[0]} .. {value[-1]}"
        with suppress(ValueError):
            return run if field_values.pages(run) == value else value
    return value


_FIELDS: dict[str, Callable[[Any], Any]] = {
    "modified": _instant,
    "published": _instant,
    "number": _number,
    "pages": pages,
}
