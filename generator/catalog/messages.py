"""Errors of pydantic -> messages: what is wrong, then what would be right."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from . import patterns
from .field_values import url_advice
from .records import Chapter, Key, Record
from .suggestions import did_you_mean
from .yaml.positions import YamlPath

# List entries without a space after the dash, or with an unusual dash: YAML reads them as one text.
_ENTRIES = re.compile(r"(?:^|\s)[-\u2010-\u2015\u2022]")
_MAX_QUOTED = 60


class FileError(NamedTuple):
    """An error at a path in a file. `of_key`: it is about the name of a field."""

    path: YamlPath
    message: str
    of_key: bool


def field_name(path: YamlPath) -> str:
    """Return a path as text: chapters[2].number."""
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return name.removeprefix(".")


def record_errors(model: type[BaseModel], fields: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return (field, message) for every error of a record with these fields."""
    try:
        model.model_validate(fields)
    except ValidationError as validation:
        return [(str(error["loc"][0]), error_message(error, model)) for error in validation.errors()]
    return []


def file_errors(errors: Iterable[ErrorDetails], value: Any, model: type[BaseModel]) -> Iterator[FileError]:
    """Yield the errors of a file with this value. Of the pages of a run, only the first error is reported."""
    runs = set[YamlPath]()
    for error in errors:
        path, of_key = error["loc"], error["type"] == "extra_forbidden"
        if path[-1:] == ("[key]",):
            path, of_key = path[:-1], True
        if isinstance(reduce(lambda inner, step: inner[step], path[:-1], value), str):
            if path[:-1] in runs:
                continue
            runs.add(path[:-1])
        is_empty = error["input"] is None and not of_key
        yield FileError(path, _empty_message(path, model) if is_empty else error_message(error, model), of_key)


def error_message(error: ErrorDetails, model: type[BaseModel]) -> str:
    """Return the message of one pydantic error in a `model`."""
    # A value below `keys` may be a key, and messages are often public.
    is_secret = "keys" in error["loc"] or issubclass(model, Key)
    value, context = error["input"], error.get("ctx", {})
    shown, with_type = (_kind, _kind) if is_secret else (_quoted, _with_type)
    match error["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return _unknown_field(model, error["loc"])
        case "string_type":
            is_known = value is not None and not isinstance(value, dict | list)
            return f"should be text, not {shown(value)}{'; put it in quotes' * is_known}"
        case "string_unicode":  # an argument of the command line; a file is UTF-8
            return "should be text that can be written in UTF-8"
        case "string_too_short":
            return "should not be empty"
        case "string_too_long":
            return f"should have at most {context['max_length']} characters, has {len(value)}"
        case "too_long":
            return f"should have at most {context['max_length']} entries, has {context['actual_length']}"
        case "string_pattern_mismatch":
            advice = patterns.ADVICE[context["pattern"]]
            return advice if is_secret else f"{advice}, not {shown(value)}{url_advice(value)}"
        case "int_type" | "float_type" as kind:
            return f"should be a {'whole ' * (kind == 'int_type')}number, not {with_type(value)}"
        case "bool_type":
            return f"should be true or false, not {with_type(value)}"
        case "list_type":
            return f"should be a list {_list_example(value)}, not {with_type(value)}"
        case "model_type" | "dict_type":
            return f"should be fields with values, not {with_type(value)}"
        case "literal_error":
            expected = str(context["expected"]).replace("'", "")
            hint = did_you_mean(value, expected.replace(" or", ",").split(", "))
            return f"should be {expected}, not {shown(value)}{hint}"
        case "greater_than_equal":
            return f"should be {context['ge']} or more, not {shown(value)}"
        case "less_than_equal":
            return f"should be {context['le']} or less, not {shown(value)}"
        case _:  # value_error, raised by field_values.py
            message = str(context["error"])
            return f"{message}, not {shown(value)}" if message.startswith("should be") else message


def _empty_message(path: YamlPath, model: type[BaseModel]) -> str:
    if path[-1:] == ("id",) and (model is Chapter or "chapters" in path):
        return "has no value; remove the line, then `python build.py ids` adds an id"
    return "has no value; add one or remove the line"


def _list_example(value: Any) -> str:
    """Return what a list looks like that was probably meant by `value`."""
    if isinstance(value, str) and _ENTRIES.search(value):
        return "whose entries each begin with - and a space"
    return "whose entries begin with -" if isinstance(value, dict) else "like [one, two]"


def _with_type(value: Any) -> str:
    """Return a value for a message; text is marked as such, because it may look like a number."""
    return f'the text "{_quoted(value)}"' if isinstance(value, str) else _quoted(value)


def _kind(value: Any) -> str:
    """Return the kind of a value that may be secret."""
    if value is None or isinstance(value, bool | dict | list):
        return _quoted(value)
    return "text" if isinstance(value, str) else "a number"


def _quoted(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "fields with values"
        case list():
            return "a list"
        case _:
            text = str(value) or '""'
            text = text if text.isprintable() else repr(text)
            return text if len(text) <= _MAX_QUOTED else f"{text[: _MAX_QUOTED - 3]}…"


def _unknown_field(model: type[BaseModel], path: YamlPath) -> str:
    """Suggest the nearest field of the record, or else list all fields, and name another record with this field."""
    name, records = str(path[-1]), list(_records(model, path[:-1]))
    record, _ = records.pop()
    assert issubclass(record, Record)
    if advice := record.removed_fields.get(name):
        return advice
    places = [
        f"; it belongs in {field}"
        for field, info in record.model_fields.items()
        if (inner := record_inside(info.annotation)) and name in inner.model_fields
    ]
    places += [f"; it belongs outside of {field}" for outer, field in records if name in outer.model_fields]
    valid = f"valid fields: {', '.join(record.model_fields)}{''.join(places[:1])}"
    return f"unknown field{did_you_mean(name, record.model_fields, valid)}"


def _records(model: type[BaseModel], path: YamlPath) -> Iterator[tuple[type[BaseModel], str]]:
    """Yield the records on a path, the outermost first, each with the field that contains the next."""
    for step in path:
        if isinstance(step, str):
            yield model, step
            inner = record_inside(model.model_fields[step].annotation)
            assert inner, "only records have unknown fields"
            model = inner
    yield model, ""


def record_inside(annotation: Any) -> type[Record] | None:
    """Return the record type of a field, also that of a list."""
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return annotation
    return next(filter(None, map(record_inside, get_args(annotation))), None)
