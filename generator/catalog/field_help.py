"""What each field of a catalog file means, as `explain` prints it: read from the schemas that editors use."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from .. import encoding
from . import json_schema
from .problems.suggestions import nearest

# Schemas by catalog file; the others are named after their file.
_SHARED = {"authors.yaml": "people", "artists.yaml": "people"}


class FieldHelp(NamedTuple):
    """One field. `path` leads to it inside its file, `topic` is the argument of `explain` that means it alone."""

    file: str
    topic: str
    path: str
    text: str
    required: bool
    values: list[Any]
    default: Any
    example: Any


def topic(file: str, *names: str) -> str | None:
    """The argument of `explain` for a place in a catalog file: the schema's name, then the fields that lead there."""
    if file.startswith("series/"):
        name = "chapter" if "/chapters/" in file else "series"
    else:
        name = _SHARED.get(file) or file.removesuffix(".yaml")
    return ".".join([name, *names]) if name in json_schema.NAMES else None


def fields() -> list[FieldHelp]:
    """Every field of every file, in the order in which docs/catalog.md has them."""
    return [field for name, text in json_schema.files().items() for field in _file(name, encoding.parse(text))]


def matching(wanted: str) -> list[FieldHelp]:
    """The fields that `explain` prints for an argument: a file, a field, or the fields that lead to it."""
    name = topic(wanted) or wanted
    known = fields()
    itself = [field for field in known if field.topic == name]
    of_file = [field for field in known if field.topic.partition(".")[0] == name]
    ending = [field for field in known if field.topic.endswith(f".{name}")]
    return itself or of_file or ending


def suggestion(wanted: str) -> str | None:
    """The name that is closest to an argument for which there is nothing."""
    names = {part for field in fields() for part in (field.path, field.path.rpartition(".")[2], field.topic)}
    return nearest(wanted, names)


def _file(name: str, text: dict[str, Any]) -> Iterator[FieldHelp]:
    record = _record(text, text)
    yield from _record_fields(name.removesuffix(".json"), "", text["title"], record, text)


def _record_fields(
    topic: str, path: str, file: str, record: dict[str, Any], whole: dict[str, Any]
) -> Iterator[FieldHelp]:
    for name, field in record.get("properties", {}).items():
        inside = f"{path}.{name}".lstrip(".")
        yield FieldHelp(
            file=file,
            topic=f"{topic}.{name}",
            path=inside,
            text=field["description"],
            required=name in record.get("required", ()),
            values=field.get("enum", []),
            default=field.get("default"),
            example=next(iter(field.get("examples", ())), None),
        )
        yield from _record_fields(f"{topic}.{name}", inside, file, _record(field, whole), whole)


def _record(part: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """The schema of the record that a part holds, in a list or by itself; empty where it holds none."""
    if "items" in part:
        return _record(part["items"], whole)
    if "$ref" in part:
        return _record(whole["$defs"][part["$ref"].rpartition("/")[2]], whole)
    return part if "properties" in part else {}
