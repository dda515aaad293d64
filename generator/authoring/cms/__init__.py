"""A page that edits the catalog in a browser: Sveltia CMS, with fields made from the JSON Schemas of the files.

Each field has the help and the check of its schema. `editor.js` adds the only field that Sveltia lacks: pages, which
are a list or a run. A value that Sveltia cannot show is lost when its file is saved.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ... import encoding
from ...catalog import json_schema
from ...catalog.confined_folder import ConfinedFolder
from ...catalog.git import Repository
from ...catalog.layout import SERIES, SITE, THEME, Layout
from ...catalog.media_folder import project_folder
from ...catalog.reader import read_site
from ...errors import FlatpanelError
from ...filesystem import is_inside, write_if_changed

Schema = dict[str, Any]
Field = dict[str, Any]

_HERE = Path(__file__).parent
# Made again at each run; and the file that belongs to the owner.
COLLECTIONS, SETTINGS = "collections.json", "settings.yaml"
# The end of the hosts that the policy of the page names.
_HOSTS = b"https://codeberg.org"
# The lists that people edit, with the names of their schemas. Commands write the other files.
_LISTS = {
    "authors": "people",
    "artists": "people",
    "categories": "categories",
    "groups": "groups",
    "members": "members",
    "accounts": "accounts",
}
# Fields with references: the list, and the field of its entries that is written.
_REFERENCES = {
    "authors": ("authors", "name"),
    "artists": ("artists", "name"),
    "groups": ("groups", "name"),
    "categories": ("categories", "id"),
    "member": ("members", "name"),
    "account": ("accounts", "username"),
}
_YAML = {"extension": "yaml", "format": "yaml"}
_NUMBER_BOUNDS = {"min": "minimum", "max": "maximum"}
_LENGTHS = {"minlength": "minLength", "maxlength": "maxLength"}


def write(folder: Path, catalog: ConfinedFolder) -> None:
    """Write the page into a folder that no release has files of."""
    project, site = project_folder(catalog), read_site(catalog)
    media = (site and site.media_folder) or "media"
    for published in (
        Path(os.path.abspath(catalog)),
        *(project / name for name in (THEME, "dist", media)),
    ):
        if is_inside(os.path.realpath(folder), os.path.realpath(published)):
            raise FlatpanelError(f"{folder}: is in {published.name}, which a site is made of; choose another folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / COLLECTIONS).is_file():
        raise FlatpanelError(f"{folder}: has other files; choose an empty folder, or the one of an earlier run")
    repository = Repository.around(Path(str(catalog)))
    path = repository.prefix.rstrip("/") if repository else Path(os.path.abspath(catalog)).name
    series = Layout(catalog, [], []).series_files()
    in_folders = [files.slug for files in series if files.file.count("/") > 1]
    if not (folder / SETTINGS).exists():
        write_if_changed(folder / SETTINGS, (_HERE / SETTINGS).read_bytes())
    for name in ("index.html", "editor.js", "package.json"):
        text = (_HERE / name).read_bytes()
        write_if_changed(folder / name, text.replace(_HOSTS, b" ".join([_HOSTS, *_own_hosts(folder / SETTINGS)])))
    write_if_changed(folder / COLLECTIONS, encoding.indented({"collections": collections(path, in_folders)}))


def _own_hosts(settings: Path) -> list[bytes]:
    """The hosts in the settings of the owner, such as that of an own git host. Comments name none."""
    return sorted(set(re.findall(rb"(?im)^[^#\n]*?\b(https?://[-a-z0-9.:]+)", settings.read_bytes())))


def collections(catalog: str, series_folders: Iterable[str]) -> list[dict[str, Any]]:
    """The kinds of entries in the editor; each series in a folder has one for its chapters."""
    schemas = json_schema.schemas()
    series, chapter = (_Fields(schemas[name]).of_object(schemas[name]) for name in ("series", "chapter"))
    folder = f"{catalog}/{SERIES}"
    slug = schemas["series"]["properties"]["formerly"]["items"]
    return [
        {
            "name": "series",
            "label": "Series",
            "folder": folder,
            **_YAML,
            "slug": {
                "template": "{{title}}",
                "editable": ["create"],
                "pattern": [slug["pattern"], slug["patternErrorMessage"]],
                "hint": "part of the URLs of the series",
            },
            "fields": series,
        },
        {
            "name": "series_in_folders",
            "label": "Series in folders",
            "folder": folder,
            "path": "{{slug}}/series",
            **_YAML,
            "create": False,
            "fields": [field for field in series if field["name"] != "chapters"],
        },
        *(
            {
                "name": f"chapters_of_{slug}",
                "label": f"Chapters of {slug}",
                "folder": f"{folder}/{slug}/chapters",
                **_YAML,
                "identifier_field": "number",
                "summary": "{{number}} {{title}}",
                "fields": chapter,
            }
            for slug in series_folders
        ),
        {"name": "lists", "label": "Lists and settings", "files": list(_files(catalog, schemas))},
    ]


def _files(catalog: str, schemas: dict[str, Schema]) -> Iterable[dict[str, Any]]:
    for file, name in _LISTS.items():
        schema = schemas[name]
        fields = _Fields(schema).of_object(schema["items"])
        entries = {"name": file, "label": file, "widget": "list", "root": True, "required": False, "fields": fields}
        yield {"name": file, "file": f"{catalog}/{file}.yaml", "format": "yaml", "fields": [{**entries, **_FOLDED}]}
    fields = _Fields(schemas["site"]).of_object(schemas["site"])
    yield {"name": "site", "file": f"{catalog}/{SITE}", "format": "yaml", "fields": fields}


# A list of objects shows one line for each.
_FOLDED = {"collapsed": True, "summary": "{{name}}{{number}} {{title}}"}


class _Fields:
    """The fields of a schema; its definitions are those of the file."""

    def __init__(self, file: Schema) -> None:
        self.definitions: dict[str, Schema] = file.get("$defs", {})

    def of_object(self, schema: Schema) -> list[Field]:
        schema = self._resolved(schema)
        required = schema.get("required", ())
        # `modified`, which all records have first, is seldom needed.
        names = sorted(schema["properties"], key=lambda name: name == "modified")
        return [self._field(name, self._resolved(schema["properties"][name]), name in required) for name in names]

    def _resolved(self, schema: Schema) -> Schema:
        name = schema.get("$ref", "").removeprefix("#/$defs/")
        return {**self.definitions[name], **schema} if name else schema

    def _field(self, name: str, schema: Schema, is_required: bool) -> Field:
        help = schema["description"]
        if schema.get("default") not in (None, "", [], {}, False):
            help += f" (default: {encoding.json_text(schema['default'])})"
        return {"name": name, "label": name, "hint": help, "required": is_required, **self._widget(name, schema)}

    def _widget(self, name: str, schema: Schema) -> Field:
        """What edits a value, and its check."""
        is_list = schema.get("type") == "array"
        items = self._resolved(schema["items"]) if is_list else schema
        if name in _REFERENCES:
            file, value = _REFERENCES[name]
            shown = [f"{file}.*.{'username' if file == 'accounts' else 'name'}"]
            path = {"value_field": f"{file}.*.{value}", "display_fields": shown, "search_fields": shown}
            return {"widget": "relation", "collection": "lists", "file": file, **path, "multiple": is_list}
        if "enum" in items:
            return {"widget": "select", "options": items["enum"], "multiple": is_list}
        if is_list and "properties" in items:
            return {"widget": "list", "fields": self.of_object(items), **_FOLDED}
        if is_list:
            return {"widget": "list", "field": {"name": "item", "label": name, **self._widget("", items)}}
        if "properties" in schema:
            return {"widget": "object", "fields": self.of_object(schema), "collapsed": True}
        if name == "pages" and "anyOf" in schema:
            images, run = (part.get("items", part) for part in schema["anyOf"])
            message = f"{images['patternErrorMessage']}; or a run like 001.jpg .. 018.jpg"
            return {"widget": "pages", "page": images["pattern"], "run": run["pattern"], "message": message}
        # A number may also be text, for its zeros at the end.
        return _plain_widget(schema.get("anyOf", [schema])[0])


def _plain_widget(schema: Schema) -> Field:
    kind = schema["type"]
    if kind == "boolean":
        # The switch of Sveltia would write each false that the file leaves out.
        return {"widget": "select", "options": [{"label": text, "value": text == "true"} for text in ("true", "false")]}
    if kind in ("integer", "number"):
        number = {"widget": "number", "value_type": "int" if kind == "integer" else "float"}
        return number | {bound: schema[name] for bound, name in _NUMBER_BOUNDS.items() if name in schema}
    if schema.get("pattern") == json_schema.INSTANT:
        return {"widget": "datetime", "format": "YYYY-MM-DDTHH:mm:ss[Z]", "picker_utc": True}
    parts = [part for part in (schema, *schema.get("allOf", ())) if "pattern" in part]
    field = {bound: schema[name] for bound, name in _LENGTHS.items() if name in schema}
    # Sveltia checks one pattern, which it must not take for one between slashes.
    pattern = "^" + "".join(f"(?={part['pattern']})" for part in parts)
    field["pattern"] = [pattern, "; ".join(part["patternErrorMessage"] for part in parts)]
    return {"widget": "text" if re.search(pattern, "two\nlines") else "string", **field}
