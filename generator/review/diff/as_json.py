"""A comparison as one value, for programs."""

from collections.abc import Sequence

from .compare import UrlDifference
from .entity_changes import BodyReader, EntityChange
from .json_diff import FieldChange, path_text


def comparison_json(reader: BodyReader, found: Sequence[EntityChange], *, every: bool = False) -> dict[str, object]:
    """Nothing is shortened; `every` adds what changed inside each body."""
    comparison = reader.comparison
    return {
        "differs": comparison.differs,
        "old": comparison.old.name,
        "new": comparison.new.name,
        "counts": comparison.counts,
        "complete": not comparison.is_partial,
        "things": [_thing(reader, one) for one in found],
        "urls": [_url(reader, one, every=every) for one in comparison.differences],
        "settings": comparison.settings,
    }


def _thing(reader: BodyReader, one: EntityChange) -> dict[str, object]:
    return {
        "kind": one.name.kind,
        "name": one.name.name,
        "change": one.kind,
        "title": one.title,
        "changes": [_change(change) for change in one.changes],
        "seen_in": one.seen_in or None,
        "because": [str(name) for name in one.because],
        "urls": [reader.shown(difference.url) for difference in one.differences],
    }


def _url(reader: BodyReader, one: UrlDifference, *, every: bool) -> dict[str, object]:
    access, ages = one.access, one.ages
    found: dict[str, object] = {"url": reader.shown(one.url), "change": one.kind}
    if access:
        found["access"] = {"old": access[0], "new": access[1]}
    if ages:
        found["max_age"] = {"old": ages[0], "new": ages[1]}
    if every:
        found["changes"] = [_change(change) for change in reader.details(one)]
    return found


def _change(one: FieldChange) -> dict[str, object]:
    found = {"path": path_text(one.path), "change": one.kind, "old": one.old, "new": one.new}
    return {name: value for name, value in found.items() if value is not None or one.kind == "changed"}
