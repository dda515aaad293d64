"""A comparison as a JSON value."""

from collections.abc import Sequence

from .compare import UrlDifference
from .json_diff import JsonChange, path_text
from .model import BodyReader, EntityChange


def comparison_json(reader: BodyReader, entities: Sequence[EntityChange], *, every: bool = False) -> dict[str, object]:
    """The whole comparison, uncut. `every` adds the changed fields of each URL."""
    comparison = reader.comparison
    return {
        "differs": comparison.differs,
        "old": comparison.old.name,
        "new": comparison.new.name,
        "counts": comparison.counts,
        "complete": not comparison.left_out,
        "things": [_entity_json(reader, entity) for entity in entities],
        "urls": [_url_json(reader, difference, every=every) for difference in comparison.differences],
        "settings": comparison.settings,
    }


def _entity_json(reader: BodyReader, entity: EntityChange) -> dict[str, object]:
    return {
        "kind": entity.name.kind,
        "name": entity.name.name,
        "change": entity.kind,
        "title": entity.title,
        "changes": [_change_json(change) for change in entity.changes],
        "seen_in": entity.body_url or None,
        "because": [str(name) for name in entity.causes],
        "urls": [reader.display_url(difference.url) for difference in entity.differences],
    }


def _url_json(reader: BodyReader, difference: UrlDifference, *, every: bool) -> dict[str, object]:
    access, max_ages = difference.access, difference.max_ages
    value: dict[str, object] = {"url": reader.display_url(difference.url), "change": difference.kind}
    if access:
        value["access"] = {"old": access[0], "new": access[1]}
    if max_ages:
        value["max_age"] = {"old": max_ages[0], "new": max_ages[1]}
    if every:
        value["changes"] = [_change_json(change) for change in reader.details(difference)]
    return value


def _change_json(change: JsonChange) -> dict[str, object]:
    fields = {"path": path_text(change.path), "change": change.kind, "old": change.old, "new": change.new}
    return {name: value for name, value in fields.items() if value is not None or change.kind == "changed"}
