"""JSON Schemas of the files of a catalog, by which editors complete fields, explain them and underline mistakes.

They are made of the models, and say what people may write: every spelling, before it becomes the one form of the
house. What spans fields or files is beyond a schema, and stays with `python build.py check`.
"""

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from .. import encoding
from . import field_docs, field_values, records

Schema = dict[str, Any]

# The newest one that the YAML language server knows in full; of later ones editors complain.
_DIALECT = "http://json-schema.org/draft-07/schema#"
# By the name of the schema: what the file holds as a whole, what it is called, and what it is.
_FILES: dict[str, tuple[Any, str, str]] = {
    "site": (records.Site, "site.yaml", "The site itself; the only file that must exist."),
    "people": (list[records.Person], "authors.yaml and artists.yaml", "The people who write, or those who draw."),
    "categories": (list[records.Category], "categories.yaml", "Kinds of stories; series refer to their ids."),
    "groups": (list[records.Group], "groups.yaml", "The groups that translate, letter, and publish chapters."),
    "members": (list[records.Member], "members.yaml", "The people in groups."),
    "accounts": (list[records.Account], "accounts.yaml", "The people who have keys to what is restricted."),
    "keys": (list[records.IssuedKey], "keys.yaml", "Keys by their digests, made by `python build.py keys add`."),
    "views": (
        records.Views,
        "views.yaml",
        "How often chapters were read, by their ids; `python build.py views` counts.",
    ),
    "series": (records.Series, "series/<slug>.yaml", "A series; its slug is the name of the file or of its folder."),
    "chapter": (records.Chapter, "series/<slug>/chapters/*.yaml", "One chapter of a series."),
}

NAMES = frozenset(_FILES)

# No word of JSON Schema, but editors show it in place of a pattern that nobody can read.
_SENTENCE = "patternErrorMessage"
# Python and JavaScript disagree on what \s is, so it is spelt out.
_BLANK = r"[\t-\r\x20\x85\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_YEARS = r"(?=19(?:69|[7-9][0-9])|[2-9])"
_DAYS = r"(?=.{5}(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))(?!.{5}(?:02-3|(?:0[469]|11)-31))"
_ADDRESS = "^https?://"
_RUN_END = r"(?=\S*[0-9])(?:https?://\S+|[^\s/\\\x00-\x1f\x7f]+)"


def files() -> dict[str, bytes]:
    """Every schema by the name of its file: `series.json` and so on."""
    return {f"{name}.json": encoding.pretty(_file(*parts)) for name, parts in _FILES.items()}


def _file(kind: Any, title: str, description: str) -> Schema:
    schema = TypeAdapter(kind).json_schema(schema_generator=_Written)
    if schema["type"] == "array" or kind is records.Views:
        # A file without a word is a list without an entry.
        schema["type"] = [schema["type"], "null"]
    return {**schema, "$schema": _DIALECT, "title": title, "description": description}


def _instant(_: Schema) -> Schema:
    written = field_values.INSTANT.pattern.replace(r"\d", "[0-9]")
    wanted = "should be a time like 2026-05-01T12:00:00Z, in the years 1970 to 9999"
    return {"type": "string", "pattern": f"^{_YEARS}{_DAYS}(?:{written})$", _SENTENCE: wanted}


def _number(_: Schema) -> Schema:
    wanted = "should be digits with at most one point between them, like 10 or 10.5"
    text = {"type": "string", "pattern": r"^0*[0-9]{1,9}(?:\.[0-9]{1,4}0*)?$", _SENTENCE: wanted}
    return {"anyOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 10**9}, text]}


def _reference(_: Schema) -> Schema:
    return {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}]}


def _filterable(inner: Schema) -> Schema:
    wanted = "should start with neither - nor a blank, and not end with a blank"
    return {**inner, "allOf": [{"pattern": rf"^(?!-|{_BLANK}|[\s\S]*{_BLANK}$)", _SENTENCE: wanted}]}


def _pages(inner: Schema) -> Schema:
    wanted = "should be a list of files or a run like 001.jpg .. 018.jpg"
    run = {"type": "string", "pattern": rf"^\s*{_RUN_END} *\.\. *{_RUN_END}\s*$", _SENTENCE: wanted}
    return {"anyOf": [inner, run]}


def _check_pages(inner: Schema) -> Schema:
    wanted = "should be an address that ends with the name of a file, as all pages of this chapter"
    addresses = {"items": {"pattern": f"^(?:{field_values.IMAGE.pattern})$", _SENTENCE: wanted}}
    return {**inner, "maxItems": field_values.MAX_PAGES, "if": {"contains": {"pattern": _ADDRESS}}, "then": addresses}


def _chapter_title(inner: Schema) -> Schema:
    wanted = (
        "can hold " + ", ".join(f"{{{field}}}" for field in field_values.TITLE_FIELDS) + ", and nothing else in braces"
    )
    names = "|".join(field_values.TITLE_FIELDS)
    return {**inner, "allOf": [{"pattern": rf"^(?![\s\S]*\{{(?!(?:{names})\}})[^{{}}]*\}})", _SENTENCE: wanted}]}


# What each function of ours lets pass, given what is left to the model.
_LETS_PASS: dict[Callable[..., Any], Callable[[Schema], Schema]] = {
    field_values.instant: _instant,
    field_values.number: _number,
    field_values.reference: _reference,
    field_values.filterable: _filterable,
    field_values.pages: _pages,
    field_values.check_pages: _check_pages,
    field_values.chapter_title: _chapter_title,
}


class _Written(GenerateJsonSchema):
    """What pydantic knows of the models, with what our functions let pass and what every field means."""

    def str_schema(self, schema: core_schema.StringSchema) -> Schema:
        found = super().str_schema(schema)
        return {**found, _SENTENCE: records.PATTERN_ADVICE[found["pattern"]]} if "pattern" in found else found

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> Schema:
        return _LETS_PASS[schema["function"]["function"]](self.generate_inner(schema["schema"]))

    def function_after_schema(self, schema: core_schema.AfterValidatorFunctionSchema) -> Schema:
        return _LETS_PASS[schema["function"]["function"]](self.generate_inner(schema["schema"]))

    def dict_schema(self, schema: core_schema.DictSchema) -> Schema:
        return {**super().dict_schema(schema), "additionalProperties": False}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False  # a field is called what it is called

    def model_schema(self, schema: core_schema.ModelSchema) -> Schema:
        found = super().model_schema(schema)
        for name, (meaning, examples) in field_docs.FIELDS[schema["cls"].__name__].items():
            field = found["properties"][name]
            field |= {"description": meaning} | ({"examples": examples} if examples else {})
            if field.get("default", ...) is None:
                del field["default"]  # editors would write it
        return found
