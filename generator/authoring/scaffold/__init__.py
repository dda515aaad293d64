"""Create a project: a catalog with one series or an imported one, and the files that a repository and a server need.

The files are in this folder as they are written, except for placeholders: <<name>>.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from ... import installation
from ...catalog import confined_folder, field_values, json_schema, layout, media_folder, patterns
from ...catalog.messages import record_errors
from ...catalog.records import Person
from ...catalog.site_settings import Site
from ...catalog.yaml import editor, reader, writer
from ...errors import FlatpanelError
from ...filesystem import write_if_changed
from .project_folder import CATALOG, check_empty, has_readme

_HERE = Path(__file__).parent
_PLACEHOLDER = re.compile(rb"<<([a-z_]+)>>")
_IGNORED = ".gitignore"
_SITE = f"{CATALOG}/{layout.SITE}"
# Path in the project -> file in this folder. Names with a dot would have an effect on git here, too.
_FILES = {
    "README.md": "readme.md",
    "requirements.txt": "requirements.txt",
    _IGNORED: "gitignore",
    ".github/workflows/publish.yml": "publish.yml",
    ".github/workflows/review.yml": "review.yml",
    "nginx/comics.conf": "comics.conf",
    _SITE: "site.yaml",
    f"{CATALOG}/authors.yaml": "authors.yaml",
    f"{CATALOG}/artists.yaml": "artists.yaml",
    f"{CATALOG}/categories.yaml": "categories.yaml",
    f"{CATALOG}/groups.yaml": "groups.yaml",
    f"{CATALOG}/series/first-series.yaml": "series.yaml",
}
# The folder on the server in examples.
_SERVER_FOLDER = "/srv/comics"
# A part of the README of an imported project.
_IMPORTED = "imported.md"
# The example of a title in site.yaml.
_TITLE = re.compile(rb"(?m)^# title: .*$")
# A setting in site.yaml, or one with its default in a comment.
_SETTING = re.compile(rb"(?m)^(?:# )?([a-z_]+): ")


def check_values(name: str, base_url: str, *, is_given: bool) -> None:
    """Refuse a name or a URL that the files of a project cannot contain. A name that is not given is the folder's."""
    errors = [*record_errors(Person, {"id": 1, "name": name}), *record_errors(Site, {"base_url": base_url})]
    if errors:
        options = {"name": "--name" if is_given else "name of the folder", "base_url": "--base-url"}
        hint = "" if is_given else "; or choose one with --name"
        raise FlatpanelError(
            *(f"{options[field]}: {message}{hint if field == 'name' else ''}" for field, message in errors)
        )


def create_project(folder: Path, name: str, title: str | None, base_url: str, now: int) -> list[str]:
    """Write a new project into a folder; return the names of the written files. `title` is that of the site.

    The folder is missing or empty, or contains only .git, a README or a license, which are kept.
    """
    check_values(name, base_url, is_given=bool(title))
    check_empty(folder)
    people = {"author": ' --author "Ada Example"', "group": ' --group "Our Group"', "imported": ""}
    values = {"name": name, "base_url": base_url, "published": field_values.iso(now), "server_folder": _SERVER_FOLDER}
    files = _files(folder, values | people)
    if title:
        line = f"title: {writer.scalar(title)}".encode()
        files[_SITE] = _TITLE.sub(lambda _: line, files[_SITE])
    files |= {f"{CATALOG}/{layout.SCHEMAS}/{path}": text for path, text in json_schema.files().items()}
    for path, text in files.items():
        write_if_changed(folder / path, text)
    return sorted(files)


def complete_project(folder: Path, name: str, title: str | None, base_url: str | None, command: str) -> list[str]:
    """Write the files around an imported catalog; return the names of the written files. Existing files are kept.

    `title` and `base_url` replace those of the imported site; `command` imports the site again.
    """
    project = confined_folder.of(folder)
    settings = project.content(_SITE)[0]
    for field, value in (("base_url", base_url), ("title", title)):
        if value:
            settings = editor.with_field(settings, (), field, value)
    project.write(_SITE, _with_defaults(settings))
    imported = _filled((_HERE / _IMPORTED).read_bytes(), {"import": command}).decode()
    values = {"name": name, "base_url": reader.load(settings)["base_url"], "author": "", "group": ""}
    # The guide for moving a site creates the project on the server.
    here = str(folder.resolve())
    server_folder = here if re.fullmatch(patterns.SERVER_FOLDER, here) else _SERVER_FOLDER
    files = _files(folder, {**values, "published": "", "imported": imported, "server_folder": server_folder})
    if os.path.lexists(folder / _IGNORED):
        # An import adds files with personal data.
        ignored = project.content(_IGNORED)[0]
        project.write(_IGNORED, ignored if files[_IGNORED] in ignored else files[_IGNORED] + b"\n" + ignored)
    new = sorted(path for path in files if not (path.startswith(CATALOG) or os.path.lexists(folder / path)))
    for path in new:
        project.write(path, files[path])
    return new


def _with_defaults(settings: bytes) -> bytes:
    """Add the paragraphs of a new project's site.yaml about settings that `settings` does not have.

    A folder of images stays a comment if they are on another host.
    """
    existing = set(_SETTING.findall(settings))
    is_local = bool(media_folder.url_path(Site.model_validate(reader.load(settings))))
    for paragraph in (_HERE / "site.yaml").read_bytes().strip().split(b"\n\n"):
        if not existing.issuperset(_SETTING.findall(paragraph)):
            settings += b"\n%b\n" % (paragraph if is_local else paragraph.replace(b"\nmedia_", b"\n# media_"))
    return settings


def _files(folder: Path, values: dict[str, str]) -> dict[str, bytes]:
    """Return the text of each file. A README of the folder stays."""
    values = {**values, "host": urlsplit(values["base_url"]).hostname or "", "requirement": installation.requirement()}
    names = {path: name for path, name in _FILES.items() if path != "README.md" or not has_readme(folder)}
    return {path: _filled((_HERE / name).read_bytes(), values) for path, name in names.items()}


def _filled(text: bytes, values: Mapping[str, str]) -> bytes:
    """Return a text with its placeholders replaced."""
    return _PLACEHOLDER.sub(lambda match: values[match[1].decode()].encode(), text)
