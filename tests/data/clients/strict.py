"""JSON decoders with exact types: a missing key, a null, or a decimal point in an integer raises `Broken`."""

import json
import re
from collections.abc import Callable
from typing import Any

INT32 = 2_147_483_647
Reader = Callable[[Any], Any]


class Broken(Exception):
    """The app would crash, or show nothing."""


class Decimal(str):
    """A JSON number with a decimal point, as written."""


def parse(body: bytes) -> Any:
    """Decode JSON without duplicate keys. A number with a decimal point is no integer."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len(dict(items)) == len(items), "duplicate key", items)
        return dict(items)

    return json.loads(body.decode("utf-8"), object_pairs_hook=pairs, parse_float=Decimal)


def need(holds: object, what: str, value: object = "") -> None:
    if not holds:
        raise Broken(f"{what}: {value!r:.200}")


def string(value: Any) -> str:
    need(type(value) is str, "no string", value)
    return value


def boolean(value: Any) -> bool:
    need(type(value) is bool, "no boolean", value)
    return value


def int32(value: Any) -> int:
    need(type(value) is int and -INT32 <= value <= INT32, "no integer of 32 bits", value)
    return value


def long(value: Any) -> int:
    need(type(value) is int, "no integer", value)
    return value


def number(value: Any) -> float:
    """Any JSON number, as a float."""
    need(type(value) in (int, Decimal), "no number", value)
    return float(value)


def digits(value: Any) -> int:
    need(re.fullmatch(r"[0-9]+", string(value)), "not only digits", value)
    return int(value)


def absolute(value: Any) -> str:
    need(re.fullmatch(r"https?://[^/?#\s]+/[^\s]*", string(value)), "no absolute URL", value)
    return value


def matching(pattern: str) -> Reader:
    def read(value: Any) -> str:
        need(re.fullmatch(pattern, string(value)), f"does not match {pattern}", value)
        return value

    return read


SERIES_PATH = matching(r"/reader/[-A-Za-z0-9_]+/")
CHAPTER_PATH = matching(r"/reader/[-A-Za-z0-9_]+/[0-9]+/[0-9]+(?:\.[0-9]+)?/")
ISO = matching(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def nullable(read: Reader) -> Reader:
    return lambda value: None if value is None else read(value)


def any_of(*words: str) -> Reader:
    return matching("|".join(words))


def array(read: Reader) -> Reader:
    def each(value: Any) -> list[Any]:
        need(type(value) is list, "no array", value)
        return [read(item) for item in value]

    return each


def fields(**readers: Reader) -> Reader:
    """An object with at least these keys."""

    def read(value: Any) -> dict[str, Any]:
        need(type(value) is dict, "no object", value)
        for name in readers:
            need(name in value, f"{name} is missing", value)
        return {name: reader(value[name]) for name, reader in readers.items()}

    return read


def exactly(**readers: Reader) -> Reader:
    """An object with exactly these keys, in this order."""

    def read(value: Any) -> dict[str, Any]:
        need(type(value) is dict and list(value) == list(readers), "other keys", value)
        return fields(**readers)(value)

    return read
