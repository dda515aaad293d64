"""A validator like that of an editor, and values to validate."""

import copy
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from jsonschema import Draft7Validator, validators
from jsonschema.exceptions import ValidationError

from generator.catalog import json_schema as schema
from generator.catalog import records, site_settings

Schema = dict[str, Any]
SCHEMAS: dict[str, Schema] = {name: json.loads(text) for name, text in schema.files().items()}


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    """As in JavaScript, and in pydantic: `$` is the end, and not the line break before it."""
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield ValidationError(f"{instance!r} does not match {pattern}")


Editor = validators.extend(Draft7Validator, {"pattern": _pattern})


def plain(value: Any) -> Any:
    """A value of the YAML reader as JSON."""
    match value:
        case Decimal():
            return float(value)
        case list():
            return [plain(one) for one in value]
        case dict():
            return {name: plain(one) for name, one in value.items()}
    return value


def takes(schema: Schema, *values: Any) -> Iterator[bool]:
    """Whether an editor accepts each of the values."""
    editor = Editor(schema)
    return (editor.is_valid(plain(value)) for value in values)


def objects(value: Any) -> Iterator[Schema]:
    """Every object inside of a schema, and itself."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(item)


def _records() -> dict[str, Schema]:
    """The schema of every record by name, each with its definitions."""
    schemas = {}
    for name, whole in SCHEMAS.items():
        defined = whole.get("$defs", {})
        if "properties" in whole:
            schemas[name.removesuffix(".json").capitalize()] = whole
        schemas |= {record: {**schema, "$defs": defined} for record, schema in defined.items()}
    return schemas


RECORDS = _records()

# The required fields of every record.
LEAST: dict[type[records.Record], dict[str, Any]] = {
    site_settings.Site: {"base_url": "https://comics.example"},
    site_settings.CacheAges: {},
    site_settings.VersionAges: {},
    records.Person: {"id": 1, "name": "Ada"},
    records.Category: {"id": "drama", "name": "Drama"},
    records.Role: {"member": 1, "role": "Editor"},
    records.Group: {"id": 1, "name": "Crew"},
    records.Member: {"id": 1, "name": "Wren"},
    records.Key: {"name": "phone", "sha256": "0" * 64},
    records.IssuedKey: {"name": "phone", "sha256": "0" * 64},
    records.Account: {"username": "noor"},
    records.Chapter: {"number": 1, "published": "2026-05-01", "pages": []},
    records.Links: {},
    records.Series: {"title": "One", "cover": "cover.jpg"},
}

_BOUNDS = (0, 1, 2, 100, 999, 25, 65535, 1_000_000, 31_536_000, 999_999_999, 2_147_483_647, 2**53 - 1)
_LENGTHS = (1, 50, 64, 200, 2000)
_WORDS = (
    "", "a", "A b", "a-b_C", "-a", " a", "a ", "\u3000a", "a\ufeff", "\x85a", "a,b", "a/b", "a\\b", ".", "..", ".a",
    "a\tb", "a\nb", "a\r\nb", "a\n", "a\x00b", "a\x07b", "a\x7fb", "é 猫", "é.猫@a+b", "a\u200bb",
    "ongoing", "canceled", "Ongoing", "true",
)  # fmt: skip
_INSTANTS = (
    "2026-05-01", "2026-05-01T12:00", "2026-05-01t12:00:59z", "2026-05-01 12:00:59.5", "2026-05-01T12:00 +02:00",
    "2026-05-01T24:00", "2026-05-01T12:60", "2026-05-01T12:00:60", "2026-5-1", "2026-13-01", "2026-00-01", "2026-01-00",
    "2026-01-32", "2026-04-31", "2026-02-29", "2028-02-29", "1968-12-31", "1969-12-31", "1969-12-31T23:30-01:00",
    "1970-01-01", "1970-01-01T00:00+01:00", "9999-12-31T23:59:59Z", "9999-12-31T23:59-01:00", "10000-01-01",
    "2026-05-01T12:00:00X", "2026-05-01T", "2026-05-01\n", "２０２６-05-01", "yesterday",
)  # fmt: skip
_NUMBERS = (
    "1", "01", "1.0", "10.5", "1.2500000", "0000000000012", "1.00005", "1234567890", "1.", ".5", "-1", "1e3", "1.2.3",
)  # fmt: skip
_ADDRESSES = (
    "https://a.example", "http://a.example/", "https://a.example/b/c.jpg?d=e#f", "https://a.example/b/", "https://",
    "https://a.example/b c", "https://a.example:80", "https://a.example:800000", "ftp://a.example/b.jpg", "htps://a.example",
    "https://user:pw@a.example/b.jpg", "https://a.example:443@b.example/", "https://a@b.example", "https://a.example/@b.jpg",
    "https://.", "https://./b.jpg", "https://a..b/", "https://a.example./", "https://.a/", "https://[::1]/b.jpg",
    "https://[::::::]/b.jpg", "https://[1:2:3:4:5:6:7:8]:80/", "https://[1:2:3:4:5:6:7:8:9]/", "https://[1::2::3]/",
    "https://[]/", "https://[::]/", "https://[1:2:3::5:6:7:8]/b.jpg", "https://[1:2:3:4::5:6:7:8]/", "https://bücher.example/",
    "/", "/a/", "/a", "a/", "//", "/a b/", "/srv/comics", "/srv/comics/", "https://a.example/media/", "/series",
    "/series/{slug}", "/serie", f"/{'a' * 200}", f"/{'a' * 200}/",
    *(f"https://a.example/{'a' * length}" for length in (1982, 1983)),
)  # fmt: skip
_RUNS = (
    "001.jpg .. 018.jpg", "001.jpg..018.jpg", " p1.png .. p12.png ", "1.jpg .. 018.jpg", "9.jpg .. 1.jpg",
    "1.jpg .. 20000.jpg", "a.jpg .. b.jpg", "a1 b.jpg .. a2 b.jpg", "a/1.jpg .. a/2.jpg", "1a1.jpg .. 2a2.jpg",
    "https://a.example/1.jpg .. https://a.example/9.jpg",
)  # fmt: skip
_TITLES = (
    "{volume} {number}", "{titel}", "{", "{}", "{{title}}", "{title}{date}{series}", "{a{title}", "{{{x}}}",
    "{{{title}}}", "{{x}", "{x}}",
)  # fmt: skip

_SCALARS: list[Any] = [
    None, True, False, -1, *(one + step for one in _BOUNDS for step in (-1, 0, 1)),
    *map(Decimal, ("1.0", "10.5", "0.00001", "1.00005", "1e3", "-1.5", "999999999.9999", "1000000000.5")),
    *("a" * (one + step) for one in _LENGTHS for step in (-1, 0, 1)), "0" * 64, "g" * 64,
    *_WORDS, *_INSTANTS, *_NUMBERS, *_ADDRESSES, *_RUNS, *_TITLES,
]  # fmt: skip
_LISTS: list[Any] = [
    [], ["a.jpg", "https://a.example/b.jpg"], ["https://a.example/b.jpg", "https://a.example/c.jpg"],
    ["https://a.example/b.jpg", "https://b.example/c.jpg"], [[]], [{}],
    *([one] for one in _SCALARS),
]  # fmt: skip
_FIELDS: list[Any] = [
    {}, {"unknown": 1}, {"people": 60}, {"people": -1}, {"people": "60"}, {"v1": {"series": -1}}, {"v1": {"serie": 1}},
    *([{**least, "surplus": 1}] for least in LEAST.values()), *([least] for least in LEAST.values()),
]  # fmt: skip
# At the limit of a field, and above it.
_LONG: dict[str, list[Any]] = {
    "pages": [["a.jpg"] * 10_000, ["a.jpg"] * 10_001],
    "aliases": [["a"] * 200, ["a"] * 201],
    "formerly": [["a"] * 1000, ["a"] * 1001],
    **{field: ["a" * 100_000, "a" * 100_001] for field in ("description", "bio")},
}


def values(field: str) -> list[Any]:
    """Values that a person could write after the name of a field."""
    return [*_SCALARS, *_LISTS, *_FIELDS, *_LONG.get(field, ())]


# Keywords without an effect on validation.
_HARMLESS = {"description", "examples", "default", "title", "patternErrorMessage", "properties", "$defs"}


def _demands(schema: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of keywords that make a schema stricter. Those inside a condition do not."""
    if isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from _demands(item, (*path, index))
    for word, inner in schema.items() if isinstance(schema, dict) else ():
        if word in _HARMLESS or (word == "type" and "enum" in schema):
            continue
        yield (*path, word)
        if word not in ("if", "enum", "type", "required"):
            yield from _demands(inner, (*path, word))


def weakened(whole: Schema, field: str) -> Iterator[tuple[str, Schema]]:
    """Every keyword of a field, with the schema of the record without it."""
    for *path, word in _demands(whole["properties"][field]):
        weaker = copy.deepcopy(whole)
        inner = weaker["properties"][field]
        for step in path:
            inner = inner[step]
        del inner[word]
        yield ".".join(map(str, [*path, word])), weaker
