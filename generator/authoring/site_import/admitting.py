"""What a source told of one thing -> a record that a catalog may hold, without what would be wrong in it."""

from collections.abc import Mapping
from typing import Any

from ...catalog.api_keys import hidden
from ...catalog.problems.messages import record_errors
from ...catalog.records import Record
from .notes import Notes


def admitted(model: type[Record], told: Mapping[str, Any], place: str, notes: Notes) -> dict[str, Any] | None:
    """The fields that may stand in a catalog; nothing, if one is missing without which there is no record."""
    required = {name for name, one in model.model_fields.items() if one.is_required()}
    given = {name: value for name, value in told.items() if name in required or value not in (None, "", [], False)}
    wrong = dict(record_errors(model, given))
    wrong |= {name: "holds a key" for name, value in given.items() if hidden(str(value)) != str(value)}
    left = {name: value for name, value in given.items() if name not in wrong}
    lost = bool(record_errors(model, left))
    for name, sentence in wrong.items():
        notes.add(f"{name} {sentence}; {'all of it' if lost else 'the field'} is left out", place)
    return None if lost else left
