"""Descriptions of the fields of catalog files for `explain`, read from the JSON Schemas for editors."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import json_schema
from .suggestions import nearest

# Catalog files whose schema has another name.
_SCHEMA_NAMES = {"authors.yaml": "people", "artists.yaml": "people"}
# Files that commands write: their entries have an id or a path in place of the name of a field.
_WITHOUT_FIELDS = ("views", "sizes", "variants", "archives")
# The path of a file below a folder, which completion in a shell adds; the shortest such folder.
_FILE = re.compile(r"(?:.*?/)??(series/[^/]+(?:/series|/chapters/[^/]+)?\.yaml|[^/]+\.yaml)")


class FieldHelp(NamedTuple):
    """A field. `path` is its path inside the file, `topic` the argument of `explain` for this field only."""

    file: str
    topic: str
    path: str
    text: str
    required: bool
    values: list[Any]
    default: Any
    example: Any


def topic(file: str, *names: str) -> str | None:
    """Return the argument of `explain` for a field of a catalog file: the schema name and the path of the field."""
    if file.startswith("series/"):
        name = "chapter" if "/chapters/" in file else "series"
    else:
        name = _SCHEMA_NAMES.get(file) or file.removesuffix(".yaml")
    if name in _WITHOUT_FIELDS:
        return name
    return ".".join([name, *names]) if name in json_schema.NAMES else None


def fields() -> list[FieldHelp]:
    """Return all fields of all files."""
    all_fields = list[FieldHelp]()
    for name, whole in json_schema.schemas().items():
        all_fields += _record_fields(name, "", whole["title"], _record(whole, whole), whole)
        if name in _WITHOUT_FIELDS:
            text = whole["description"]
            all_fields.append(FieldHelp(whole["title"], f"{name}.*", "*", text, False, [], None, None))
    return all_fields


def matching(argument: str) -> list[FieldHelp]:
    """Return the fields for an argument of `explain`: a file, a field, or the end of a path.

    A word such as `groups` is both a file and a field.
    """
    path = _FILE.fullmatch(argument)
    name = topic(path[1] if path else argument) or argument
    file = _SCHEMA_NAMES.get(f"{argument}.yaml", name)
    all_fields = fields()
    same = [field for field in all_fields if field.topic == name]
    of_file = [field for field in all_fields if field.topic.partition(".")[0] == file]
    ending = [field for field in all_fields if field.topic.endswith(f".{name}") and not argument.endswith(".yaml")]
    if of_file:  # the ages of caches are named after files, too
        ending = [field for field in ending if not field.topic.startswith("site.cache.")]
    return same or [*of_file, *ending]


def suggestion(argument: str) -> str | None:
    """Return the name most similar to an argument without a match."""
    names = {part for field in fields() for part in (field.path, field.path.rpartition(".")[2], field.topic)}
    return nearest(argument, names)


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
    """Return the schema of the record inside a schema, also inside a list; {} if there is none."""
    if "items" in part:
        return _record(part["items"], whole)
    if "$ref" in part:
        return _record(whole["$defs"][part["$ref"].rpartition("/")[2]], whole)
    return part if "properties" in part else {}
