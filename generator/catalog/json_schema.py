"""JSON Schemas of the catalog files, with which editors complete fields, explain them and underline errors.

They are generated from the records and describe the file as written, before values get their canonical form.
`python build.py check` also finds errors between fields and between files.
"""

from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from .. import encoding
from . import field_values, patterns, records, site_settings

Schema = dict[str, Any]

# The newest dialect that the YAML language server supports completely.
_DIALECT = "http://json-schema.org/draft-07/schema#"
# Name of the schema: (type of the whole file, title, description).
_FILES: dict[str, tuple[Any, str, str]] = {
    "site": (site_settings.Site, "site.yaml", "The settings of the site; the only required file."),
    "people": (list[records.Person], "authors.yaml and artists.yaml", "The people who write, or the people who draw."),
    "categories": (list[records.Category], "categories.yaml", "Genres; series refer to their ids."),
    "groups": (list[records.Group], "groups.yaml", "The groups that translate, letter and publish chapters."),
    "members": (list[records.Member], "members.yaml", "The people in groups."),
    "accounts": (list[records.Account], "accounts.yaml", "Accounts with bookmarks, a profile and API keys."),
    "keys": (
        list[records.IssuedKey],
        "keys.yaml",
        "Digests of API keys; `python build.py keys add` makes a key and writes its digest.",
    ),
    "views": (
        records.Views,
        "views.yaml",
        "The number of views of each chapter, by chapter id; `python build.py views` counts them.",
    ),
    "sizes": (
        records.Sizes,
        "sizes.yaml",
        "The sizes of the pages of each chapter, by chapter id; `python build.py media check --write-sizes` "
        "measures them.",
    ),
    "variants": (
        records.Copies,
        "variants.yaml",
        "The smaller copies of images, by path below the media; `python build.py media variants` writes them.",
    ),
    "archives": (
        records.Archives,
        "archives.yaml",
        "The archives of chapters, by chapter id; `python build.py media archives` writes them.",
    ),
    "series": (records.Series, "series/<slug>.yaml", "A series; its slug is the name of the file or of its folder."),
    "chapter": (records.Chapter, "series/<slug>/chapters/*.yaml", "One chapter of a series."),
}

NAMES = frozenset(_FILES)

# Not a JSON Schema keyword. Editors show its text instead of the pattern.
_PATTERN_MESSAGE = "patternErrorMessage"
# \s differs between Python and JavaScript, so the characters are listed.
_SPACE = r"[\t-\r\x20\x85\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
_YEARS = r"(?=19(?:69|[7-9][0-9])|[2-9])"
_DAYS = r"(?=.{5}(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))(?!.{5}(?:02-3|(?:0[469]|11)-31))"
_URL_START = "^https?://"
# The pattern of each time.
INSTANT = f"^{_YEARS}{_DAYS}(?:{field_values.INSTANT.pattern})$".replace(r"\d", "[0-9]")
_RUN_END = r"(?=\S*[0-9])(?:https?://\S+|[^\s/\\\x00-\x1f\x7f]+)"


def files() -> dict[str, bytes]:
    """Return every schema by file name: `series.json` and so on."""
    return {f"{name}.json": encoding.pretty(schema) for name, schema in schemas().items()}


def schemas() -> dict[str, Schema]:
    """Every schema by its name, with fields in the order of the records."""
    schemas = {}
    for name, (kind, title, description) in _FILES.items():
        schema = TypeAdapter(kind).json_schema(schema_generator=_SchemaGenerator)
        if schema["type"] == "array" or kind in (records.Views, records.Sizes, records.Copies, records.Archives):
            # An empty file is a list without entries.
            schema["type"] = [schema["type"], "null"]
        schemas[name] = {**schema, "$schema": _DIALECT, "title": title, "description": description}
    return schemas


def _instant(_: Schema) -> Schema:
    message = "should be a time like 2026-05-01T12:00:00Z, in the years 1970 to 9999"
    return {"type": "string", "pattern": INSTANT, _PATTERN_MESSAGE: message}


def _number(_: Schema) -> Schema:
    message = "should be digits with at most one decimal point between them, like 10 or 10.5"
    text = {"type": "string", "pattern": r"^0*[0-9]{1,9}(?:\.[0-9]{1,4}0*)?$", _PATTERN_MESSAGE: message}
    return {"anyOf": [{"type": "number", "minimum": 0, "exclusiveMaximum": 10**9}, text]}


def _reference(_: Schema) -> Schema:
    return {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}]}


def _filterable(inner: Schema) -> Schema:
    message = "should not start with - or a space, and should not end with a space"
    return {**inner, "allOf": [{"pattern": rf"^(?!-|{_SPACE}|[\s\S]*{_SPACE}$)", _PATTERN_MESSAGE: message}]}


def _link(inner: Schema) -> Schema:
    messages = {
        field_values.MISSPELT_SCHEME: "should begin with http:// or https://",
        field_values.WITH_USER: "should have no user name and no password before the host",
    }
    refused = [
        {"pattern": f"^(?!{refused.pattern})", _PATTERN_MESSAGE: message} for refused, message in messages.items()
    ]
    return {**inner, "allOf": refused}


def _pages(inner: Schema) -> Schema:
    message = "should be a list of files or a run like 001.jpg .. 018.jpg"
    run = {"type": "string", "pattern": rf"^\s*{_RUN_END} *\.\. *{_RUN_END}\s*$", _PATTERN_MESSAGE: message}
    return {"anyOf": [inner, run]}


def _check_pages(inner: Schema) -> Schema:
    message = "should be a URL that ends with a file name, like all pages of this chapter"
    urls = {"items": {"pattern": f"^(?:{field_values.IMAGE.pattern})$", _PATTERN_MESSAGE: message}}
    return {**inner, "maxItems": field_values.MAX_PAGES, "if": {"contains": {"pattern": _URL_START}}, "then": urls}


def _chapter_title(inner: Schema) -> Schema:
    fields = ", ".join(f"{{{field}}}" for field in field_values.TITLE_FIELDS)
    names = "|".join(field_values.TITLE_FIELDS)
    # Two braces, a field, a brace that opens none, another character.
    pattern = rf"^(?:\{{\{{|\{{(?:{names})\}}|\{{(?!\{{|[^{{}}]*\}})|[^{{])*$"
    return {**inner, "allOf": [{"pattern": pattern, _PATTERN_MESSAGE: f"valid fields in braces: {fields}"}]}


# The schema of the values accepted by each validator, from the schema of the type behind it.
_VALIDATORS: dict[Callable[..., Any], Callable[[Schema], Schema]] = {
    field_values.instant: _instant,
    field_values.number: _number,
    field_values.reference: _reference,
    field_values.filterable: _filterable,
    field_values.link: _link,
    records.pages: _pages,
    field_values.check_pages: _check_pages,
    field_values.chapter_title: _chapter_title,
}


class _SchemaGenerator(GenerateJsonSchema):
    """Pydantic's generator, extended by pattern messages and the schemas of validators."""

    def str_schema(self, schema: core_schema.StringSchema) -> Schema:
        text = super().str_schema(schema)
        return {**text, _PATTERN_MESSAGE: patterns.ADVICE[text["pattern"]]} if "pattern" in text else text

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> Schema:
        return _VALIDATORS[schema["function"]["function"]](self.generate_inner(schema["schema"]))

    def function_after_schema(self, schema: core_schema.AfterValidatorFunctionSchema) -> Schema:
        return _VALIDATORS[schema["function"]["function"]](self.generate_inner(schema["schema"]))

    def dict_schema(self, schema: core_schema.DictSchema) -> Schema:
        return {**super().dict_schema(schema), "additionalProperties": False}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> Schema:
        with_default = super().default_schema(schema)
        default = with_default.get("default", ...)
        # Editors would insert null.
        if default is None:
            del with_default["default"]
        elif isinstance(default, dict):
            with_default["default"] = {name: value for name, value in default.items() if value is not None}
        return with_default

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False
