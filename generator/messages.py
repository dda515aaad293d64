"""What pydantic found wrong -> a sentence that says what would be right."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from .model import WANTED, Key
from .yaml12 import Path


def field_name(path: Path) -> str:
    """A path as people write it: chapters[2].number."""
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return name.removeprefix(".")


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """A hint to be put behind a sentence, or nothing."""
    close = get_close_matches(str(word), sorted(set(known)), n=1)
    return f"; did you mean {close[0]}?" if close else ""


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
            return f"is not a field here{did_you_mean(error['loc'][-1], fields) or '; known are ' + ', '.join(fields)}"
        case "string_type" | "string_sub_type":
            return _should_be_text(given)
        case "string_unicode":
            return "has a character that no JSON can carry (half of a surrogate pair); write the character itself"
        case "string_too_short":
            return "should not be empty"
        case "string_too_long":
            return f"should have at most {limits['max_length']} characters, has {len(given)}"
        case "string_pattern_mismatch":
            wanted = WANTED[limits["pattern"]]
            return wanted if secret else f"{wanted}, not {_shown(given)}"
        case "int_type" | "int_from_float":
            return f"should be a whole number, not {_shown(given)}"
        case "bool_type":
            return f"should be true or false, not {_shown(given)}"
        case "list_type":
            return f"should be a list like [one, two], not {_shown(given)}"
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"should be fields with values, not {_shown(given)}"
        case "literal_error":
            wanted = str(limits["expected"]).replace("'", "")
            return (
                f"should be {wanted}, not {_shown(given)}{did_you_mean(given, wanted.replace(' or', ',').split(', '))}"
            )
        case "greater_than_equal":
            return f"should be {limits['ge']} or more, not {_shown(given)}"
        case "less_than_equal":
            return f"should be {limits['le']} or less, not {_shown(given)}"
        case "value_error":
            return f"{limits['error']}, not {_shown(given)}" if _fits(given) else str(limits["error"])
        case _:
            return f"{error['msg']}, not {_shown(given)}"


def _fits(given: Any) -> bool:
    return not isinstance(given, dict | list)


def _should_be_text(given: Any) -> str:
    if given is None:
        return 'has no value; write one, or "" for none'
    if _fits(given):
        return f'should be text; put it in quotes: "{_shown(given)}"'
    return f"should be text, not {_shown(given)}"


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
            text = str(given)
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
