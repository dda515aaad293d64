"""What pydantic found wrong -> a sentence that says what would be right."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from .model import WANTED, Key
from .yaml12 import Path

# So many names are compared with a word, and only with one of so many letters.
_COMPARED = 200


def field_name(path: Path) -> str:
    """A path as people write it: chapters[2].number."""
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return name.removeprefix(".")


def did_you_mean(word: object, known: Iterable[str], otherwise: str = "") -> str:
    """A hint to be put behind a sentence: the nearest word that is known, or something else that helps."""
    text, names = str(word), sorted(set(known))
    # Comparing is slow, and somebody may have misspelt everything.
    if len(names) > _COMPARED:
        names = [one for one in names if one[:2].lower() == text[:2].lower()][:_COMPARED]
    close = get_close_matches(text, names, n=1, cutoff=0.7) if len(text) <= _COMPARED else []
    hint = f"did you mean {close[0]}?" if close else otherwise
    return f"; {hint}" if hint else ""


def sentences(model: type[BaseModel], fields: Mapping[str, object]) -> list[str]:
    """Everything that a record with these fields would be blamed for."""
    return [said for _, said in faults(model, fields)]


def faults(model: type[BaseModel], fields: Mapping[str, object]) -> list[tuple[str, str]]:
    """The same, each sentence with the field that it is about."""
    try:
        model.model_validate(fields)
    except ValidationError as error:
        return [(str(one["loc"][0]), sentence(one, model)) for one in error.errors()]
    return []


def sentence(error: ErrorDetails, model: type[BaseModel]) -> str:
    """One pydantic error, found in a `model`, in our words."""
    # What stands among keys may be a key itself, and many may read what is printed here.
    secret = "keys" in error["loc"] or issubclass(model, Key)
    given, limits = "…" if secret else error["input"], error.get("ctx", {})
    match error["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            fields = _fields_at(model, error["loc"])
            return f"is not a field here{did_you_mean(error['loc'][-1], fields, 'known are ' + ', '.join(fields))}"
        case "string_type":
            return _should_be_text(given)
        case "string_too_short":
            return "should not be empty"
        case "string_too_long":
            return f"should have at most {limits['max_length']} characters, has {len(given)}"
        case "string_pattern_mismatch":
            wanted = WANTED[limits["pattern"]]
            return wanted if secret else f"{wanted}, not {_shown(given)}"
        case "int_type":
            return f"should be a whole number, not {_kind(given)}"
        case "bool_type":
            return f"should be true or false, not {_kind(given)}"
        case "list_type":
            form = "whose entries begin with -" if isinstance(given, dict) else "like [one, two]"
            return f"should be a list {form}, not {_kind(given)}"
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


def _should_be_text(given: Any) -> str:
    if given is None:
        return "has no value; write one, or leave the field out"
    if isinstance(given, dict | list):
        return f"should be text, not {_shown(given)}"
    return f"should be text, not {_shown(given)}; put it in quotes"


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


def _fields_at(model: type[BaseModel], path: Path) -> list[str]:
    """The fields of the record that the last step of `path` was looked for in."""
    for step in path[:-1]:
        if isinstance(step, str):
            model = _record_inside(model.model_fields[step].annotation)
    return list(model.model_fields)


def _record_inside(annotation: Any) -> type[BaseModel]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return _record_inside(annotation.__args__[0])
