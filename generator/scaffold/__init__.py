"""A new project, small and complete: a catalog with one series, and what a repository and a server around it need.

The files lie beside this one as they are written, but for what stands there as a <<name>>.
"""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from .. import __version__, schema, values
from ..disk import write_if_changed
from ..errors import FlatpanelError
from ..messages import faults
from ..model import Person, Site

_HERE = Path(__file__).parent
_PLACEHOLDER = re.compile(rb"<<([a-z_]+)>>")
# Where each file goes, and what it is called here: names with a dot would mean something to git in this place, too.
_FILES = {
    "README.md": "readme.md",
    "requirements.txt": "requirements.txt",
    ".gitignore": "gitignore",
    ".github/workflows/publish.yml": "publish.yml",
    "nginx/comics.conf": "comics.conf",
    "catalog_src/site.yaml": "site.yaml",
    "catalog_src/authors.yaml": "authors.yaml",
    "catalog_src/artists.yaml": "artists.yaml",
    "catalog_src/categories.yaml": "categories.yaml",
    "catalog_src/groups.yaml": "groups.yaml",
    "catalog_src/series/first-series.yaml": "series.yaml",
}


def start(folder: Path, name: str, base_url: str, now: int) -> list[str]:
    """Write a new project into a folder that is empty or not there yet; answers with the names of its files."""
    found = [*faults(Person, {"id": 1, "name": name}), *faults(Site, {"base_url": base_url})]
    if found:
        options = {"name": "--name", "base_url": "--base-url"}
        raise FlatpanelError("\n".join(f"{options[field]}: {message}" for field, message in found))
    _check_empty(folder)
    files = _filled({"name": name, "base_url": base_url, "published": values.iso(now)})
    files |= {f"catalog_src/.schemas/{path}": text for path, text in schema.files().items()}
    for path, text in files.items():
        write_if_changed(folder / path, text)
    return sorted(files)


def _check_empty(folder: Path) -> None:
    """Nothing of anybody's is written over; whoever began with `git init` has lost nothing either."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise FlatpanelError(f"{folder}: is not a folder; name one that is empty or not there yet")
    if folder.is_dir() and set(os.listdir(folder)) - {".git"}:
        raise FlatpanelError(f"{folder}: is not empty; name a folder that is empty or not there yet")


def _filled(given: dict[str, str]) -> dict[str, bytes]:
    told = {**given, "version": __version__, "host": urlsplit(given["base_url"]).hostname or ""}
    return {
        path: _PLACEHOLDER.sub(lambda found: told[found[1].decode()].encode(), (_HERE / name).read_bytes())
        for path, name in _FILES.items()
    }
