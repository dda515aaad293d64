"""A new project, small and complete: a catalog with one series, and what a repository and a server around it need.

The files lie beside this one as they are written, but for what stands there as a <<name>>.
"""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from ...catalog import field_values, json_schema
from ...catalog.problems.messages import record_errors
from ...catalog.records import Person, Site
from ...errors import FlatpanelError
from ...filesystem import write_if_changed
from .installed_from import requirement

_HERE = Path(__file__).parent
_PLACEHOLDER = re.compile(rb"<<([a-z_]+)>>")
# Where each file goes, and what it is called here: names with a dot would mean something to git in this place, too.
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


# What code hosts put into a new repository: a project may begin beside it.
_MAY_BE_THERE = re.compile(r"\.git|(?:readme|licen[cs]e|copying)(?:[.-].*)?", re.IGNORECASE)


def start(folder: Path, name: str, base_url: str, now: int) -> list[str]:
    """Write a new project into a folder; return the names of the files that were written.

    The folder is missing, empty, or holds a .git, a README or a licence, which stay as they are.
    """
    found = [*record_errors(Person, {"id": 1, "name": name}), *record_errors(Site, {"base_url": base_url})]
    if found:
        options = {"name": "--name", "base_url": "--base-url"}
        raise FlatpanelError(*(f"{options[field]}: {message}" for field, message in found))
    there = _check_empty(folder)
    given = {"name": name, "base_url": base_url, "published": field_values.iso(now), "requirement": requirement()}
    files = _filled(given)
    if any(name.lower().startswith("readme") for name in there):
        del files["README.md"]
    files |= {f"catalog_src/.schemas/{path}": text for path, text in json_schema.files().items()}
    for path, text in files.items():
        write_if_changed(folder / path, text)
    return sorted(files)


def _check_empty(folder: Path) -> list[str]:
    """What the folder holds, if a project may begin there."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise FlatpanelError(f"{folder}: is not a folder; name a folder that is empty or does not exist yet")
    there = os.listdir(folder) if folder.is_dir() else []
    if others := sorted(name for name in there if not _MAY_BE_THERE.fullmatch(name)):
        count = f" and {len(others) - 1} more" if others[1:] else ""
        raise FlatpanelError(
            f"{folder}: holds {others[0]!r}{count}; name a folder that is empty, does not exist yet, "
            "or holds only .git, a README or a licence"
        )
    return there


def _filled(given: dict[str, str]) -> dict[str, bytes]:
    told = {**given, "host": urlsplit(given["base_url"]).hostname or ""}
    return {
        path: _PLACEHOLDER.sub(lambda found: told[found[1].decode()].encode(), (_HERE / name).read_bytes())
        for path, name in _FILES.items()
    }
