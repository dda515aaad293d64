"""What pydantic found wrong -> a sentence that says what would be right."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from .. import patterns
from ..field_values import url_advice
from ..records import Chapter, Key, Record
from ..yaml.positions import YamlPath
from .suggestions import did_you_mean

# Entries of a list that YAML takes for one text.
_ENTRIES = re.compile(r"(?:^|\s)[-\u2010-\u2015\u2022]")


def field_name(path: YamlPath) -> str:
    """A path as people write it: chapters[2].number."""
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return name.removeprefix(".")


def record_messages(model: type[BaseModel], fields: Mapping[str, object]) -> list[str]:
    """Everything that a record with these fields would be blamed for."""
    return [said for _, said in record_errors(model, fields)]


def record_errors(model: type[BaseModel], fields: Mapping[str, object]) -> list[tuple[str, str]]:
    """The same, each sentence with the field that it is about."""
    try:
        model.model_validate(fields)
    except ValidationError as error:
        return [(str(one["loc"][0]), error_message(one, model)) for one in error.errors()]
    return []


class FileError(NamedTuple):
    """What is wrong at a path inside a file; `of_key` if it is the name of a field."""

    path: YamlPath
    message: str
    of_key: bool


def file_errors(errors: Iterable[ErrorDetails], written: Any, model: type[BaseModel]) -> Iterator[FileError]:
    """Each error of what is `written` in a file; of the pages of a run, which are wrong together, the first."""
    runs = set[YamlPath]()
    for one in errors:
        path, of_key = one["loc"], one["type"] == "extra_forbidden"
        if path[-1:] == ("[key]",):
            path, of_key = path[:-1], True
        if isinstance(_at(path[:-1], written), str):
            if path[:-1] in runs:
                continue
            runs.add(path[:-1])
        is_empty = one["input"] is None and not of_key
        yield FileError(path, _instead_of_nothing(path, model) if is_empty else error_message(one, model), of_key)


def _at(path: YamlPath, written: Any) -> Any:
    return reduce(lambda inside, step: inside[step], path, written)


def error_message(error: ErrorDetails, model: type[BaseModel]) -> str:
    """One pydantic error, found in a `model`, in our words."""
    # What stands among keys may be a key itself, and many may read what is printed here.
    secret = "keys" in error["loc"] or issubclass(model, Key)
    given, limits = "…" if secret else error["input"], error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return _unknown_field(model, error["loc"])
        case "string_type":
            return _should_be_text(given)
        case "string_unicode":  # what was typed, for a file could not hold it
            return "should be text that can be written in UTF-8"
        case "string_too_short":
            return "should not be empty"
        case "string_too_long":
            return f"should have at most {limits['max_length']} characters, has {len(given)}"
        case "string_pattern_mismatch":
            return patterns.ADVICE[limits["pattern"]] + ("" if secret else f", not {_shown(given)}{url_advice(given)}")
        case "int_type":
            return f"should be a whole number, not {_kind(given)}"
        case "bool_type":
            return f"should be true or false, not {_kind(given)}"
        case "list_type":
            return f"should be a list {_form(given)}, not {_kind(given)}"
        case "model_type" | "dict_type":
            return f"should be fields with values, not {_kind(given)}"
        case "literal_error":
            wanted = str(limits["expected"]).replace("'", "")
            hint = did_you_mean(given, wanted.replace(" or", ",").split(", "))
            return f"should be {wanted}, not {_shown(given)}{hint}"
        case "greater_than_equal":
            return f"should be {limits['ge']} or more, not {_shown(given)}"
        case "less_than_equal":
            return f"should be {limits['le']} or less, not {_shown(given)}"
        case _:  # value_error: `values.py` has the words
            wanted = str(limits["error"])
            return f"{wanted}, not {_shown(given)}" if wanted.startswith("should be") else wanted


def _instead_of_nothing(path: YamlPath, model: type[BaseModel]) -> str:
    if path[-1:] == ("id",) and (model is Chapter or "chapters" in path):
        return "has no value; remove the field, and `python build.py ids` gives the chapter an id"
    return "has no value; remove the line or give a value"


def _should_be_text(given: Any) -> str:
    if given is None or isinstance(given, dict | list):
        return f"should be text, not {_shown(given)}"
    return f"should be text, not {_shown(given)}; put it in quotes"


def _form(given: Any) -> str:
    """How a list looks that may have been meant."""
    if isinstance(given, str) and _ENTRIES.search(given):
        return "whose entries each begin with - and a space"
    return "whose entries begin with -" if isinstance(given, dict) else "like [one, two]"


def _kind(given: Any) -> str:
    """A text in quotes, so that nobody takes it for the number or the word that it looks like."""
    return f'the text "{_shown(given)}"' if isinstance(given, str) else _shown(given)


def _shown(given: Any) -> str:
    match given:
        case None:
            return "nothing"
        case bool():
            return str(given).lower()
        case dict():
            return "fields with values"
        case list():
            return "a list"
        case _:
            text = str(given) or '""'
            text = text if text.isprintable() else repr(text)
            return text if len(text) <= 60 else f"{text[:57]}…"


def _unknown_field(model: type[BaseModel], path: YamlPath) -> str:
    """The nearest field of the record, or all of them, and the other record in which there is one of this name."""
    name, records = str(path[-1]), list(_records(model, path[:-1]))
    here, _ = records.pop()
    elsewhere = [
        f"; there is one in {field}"
        for field, info in here.model_fields.items()
        if (record := record_inside(info.annotation)) and name in record.model_fields
    ]
    elsewhere += [f"; there is one outside of {field}" for record, field in records if name in record.model_fields]
    known = f"known are {', '.join(here.model_fields)}{''.join(elsewhere[:1])}"
    return f"is not a field here{did_you_mean(name, here.model_fields, known)}"


def _records(model: type[BaseModel], path: YamlPath) -> Iterator[tuple[type[BaseModel], str]]:
    """The records on a path from the outermost inwards, each with the field that leads on."""
    for step in path:
        if isinstance(step, str):
            yield model, step
            inside = record_inside(model.model_fields[step].annotation)
            assert inside, "only records have fields that are not known"
            model = inside
    yield model, ""


def record_inside(annotation: Any) -> type[Record] | None:
    """The record that a field holds, alone or in a list."""
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    return next(filter(None, map(record_inside, get_args(annotation))), None)
