"""Create a project: a catalog with one series, and the files that a repository and a server need.

The files are in this folder as they are written, except for placeholders: <<name>>.
"""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from ...catalog import field_values, json_schema
from ...catalog.problems.messages import record_errors
from ...catalog.records import Person
from ...catalog.site_settings import Site
from ...errors import FlatpanelError
from ...filesystem import write_if_changed
from .installed_from import requirement

_HERE = Path(__file__).parent
_PLACEHOLDER = re.compile(rb"<<([a-z_]+)>>")
# Path in the project -> file in this folder. Names with a dot would have an effect on git here, too.
_FILES = {
    "README.md": "readme.md",
    "requirements.txt": "requirements.txt",
    ".gitignore": "gitignore",
    ".github/workflows/publish.yml": "publish.yml",
    ".github/workflows/review.yml": "review.yml",
    "nginx/comics.conf": "comics.conf",
    "catalog_src/site.yaml": "site.yaml",
    "catalog_src/authors.yaml": "authors.yaml",
    "catalog_src/artists.yaml": "artists.yaml",
    "catalog_src/categories.yaml": "categories.yaml",
    "catalog_src/groups.yaml": "groups.yaml",
    "catalog_src/series/first-series.yaml": "series.yaml",
}


# Files that code hosts put into a new repository.
_ALLOWED = re.compile(r"\.git|(?:readme|licen[cs]e|copying)(?:[.-].*)?", re.IGNORECASE)


def create_project(folder: Path, name: str, base_url: str, now: int) -> list[str]:
    """Write a new project into a folder; return the names of the written files.

    The folder is missing or empty, or contains only .git, a README or a license, which are kept.
    """
    errors = [*record_errors(Person, {"id": 1, "name": name}), *record_errors(Site, {"base_url": base_url})]
    if errors:
        options = {"name": "--name", "base_url": "--base-url"}
        raise FlatpanelError(*(f"{options[field]}: {message}" for field, message in errors))
    existing = _check_empty(folder)
    values = {"name": name, "base_url": base_url, "published": field_values.iso(now), "requirement": requirement()}
    files = _filled(values)
    if any(name.lower().startswith("readme") for name in existing):
        del files["README.md"]
    files |= {f"catalog_src/.schemas/{path}": text for path, text in json_schema.files().items()}
    for path, text in files.items():
        write_if_changed(folder / path, text)
    return sorted(files)


def _check_empty(folder: Path) -> list[str]:
    """Return the names in the folder; refuse a folder with other names than those of a new repository."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise FlatpanelError(f"{folder}: not a folder; pass a folder that is empty or does not exist")
    names = os.listdir(folder) if folder.is_dir() else []
    if others := sorted(name for name in names if not _ALLOWED.fullmatch(name)):
        count = f" and {len(others) - 1} more" if others[1:] else ""
        raise FlatpanelError(
            f"{folder}: contains {others[0]!r}{count}; pass a folder that is empty, does not exist, "
            "or contains only .git, a README or a license"
        )
    return names


def _filled(values: dict[str, str]) -> dict[str, bytes]:
    """Return the text of each file, with the placeholders replaced."""
    values = {**values, "host": urlsplit(values["base_url"]).hostname or ""}
    return {
        path: _PLACEHOLDER.sub(lambda match: values[match[1].decode()].encode(), (_HERE / name).read_bytes())
        for path, name in _FILES.items()
    }
