"""The theme of a site: the files of `theme/` beside the catalog, with their names checked. It does not read what is in
them: the pages do.
"""

import errno
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from .. import encoding
from ..errors import Problem
from ..filesystem import is_inside
from . import api_keys, snapshot
from .confined_folder import ConfinedFolder, Folder
from .layout import THEME
from .media_folder import project_folder
from .snapshot import Snapshot

# Icons for devices that show no SVG, such as iPhones, with their widths and heights.
ICONS = {"icon-192.png": 192, "icon-512.png": 512}
# A larger file, a larger theme or more files are a mistake: each page has a link to each text.
MAX_SIZE, MAX_TOTAL, MAX_FILES = 1 << 20, 8 << 20, 100
_NAME = re.compile(r"[a-z0-9][-a-z0-9_]{0,99}\.(?:html|css|md|png|svg|yaml)")
# Hidden files, and those that editors leave behind.
_IGNORED = re.compile(r"\..*|#.*#|.*~", re.DOTALL)
_ADVICE = (
    "is not used; a theme has templates (.html), style.css, extra.css, icon.svg, icon-192.png, icon-512.png, "
    "texts.yaml and texts of your own (.md), named with a-z, 0-9, - and _"
)


class Text(NamedTuple):
    """A text as HTML. `title` is its first heading of the first level; `image_origins` are the hosts of its images."""

    html: str
    title: str
    image_origins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThemeFiles:
    """The contents of the files by name, and the folder for messages."""

    folder: Path
    files: Mapping[str, str] = field(default_factory=dict)
    # Those that are no texts.
    images: Mapping[str, bytes] = field(default_factory=dict)
    # The texts of the owner, by the names of their files; a theme that was not examined has none.
    texts: Mapping[str, Text] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """A digest of all files; the same for no folder and for an empty one."""
        images = sorted((name, encoding.sha256(content)) for name, content in self.images.items())
        return encoding.digest(encoding.json([sorted(self.files.items()), images]))

    def named(self, suffix: str) -> dict[str, str]:
        """The files whose names end so."""
        return {name: content for name, content in self.files.items() if name.endswith(suffix)}

    @property
    def template_folder(self) -> Path | None:
        """The folder, if it has templates: only bounded processes run them."""
        return self.folder if self.named(".html") else None

    def problem(self, file: str, message: str, line: int = 1, column: int = 1, name: str = "") -> Problem:
        return Problem(str(self.folder / file), line, column, name, message)


NO_THEME = ThemeFiles(Path(THEME))


def folder_of(catalog: Folder) -> ConfinedFolder:
    """The folder of the theme. Links in it may lead where those of the catalog may."""
    follow = catalog.follow if isinstance(catalog, ConfinedFolder) else ()
    return ConfinedFolder(project_folder(catalog) / THEME, follow)


def _shown_folder(catalog: Folder) -> Path:
    """The folder for messages, which are relative if those of the catalog are."""
    path = Path(catalog)
    return path.parent / THEME if path.name not in ("", "..") else folder_of(catalog).path


def is_permitted(catalog: Folder) -> bool:
    """Whether the folder of the theme, which may be a link, is in the project or in a folder of `--follow`."""
    folder = folder_of(catalog)
    real = os.path.realpath(folder.path)
    return any(is_inside(real, os.path.realpath(path)) for path in (project_folder(catalog), *folder.follow))


def snapshot_with_theme(catalog: Folder) -> Snapshot:
    """The status of every file of the catalog and of the theme."""
    return *snapshot.take(catalog), *(
        (f"../{THEME}/{file}", status) for file, status in snapshot.take(folder_of(catalog))
    )


def read(catalog: Folder) -> tuple[ThemeFiles, list[Problem]]:
    """The files of the theme, and what is wrong with their names; hidden files and backups are ignored."""
    folder = folder_of(catalog)
    files: dict[str, str] = {}
    images: dict[str, bytes] = {}
    theme = ThemeFiles(_shown_folder(catalog), files, images)
    problems: list[Problem] = []
    if not folder.path.is_dir():
        return theme, problems
    if not is_permitted(catalog):
        message = "the link leads out of the project; use a real folder, or --follow DIR allows links into DIR"
        return theme, [theme.problem("", message)]
    names = sorted(name for name in folder.names("") if not _IGNORED.fullmatch(name))
    if len(names) > MAX_FILES:
        return theme, [theme.problem("", f"has {len(names)} files; a theme can have {MAX_FILES}")]
    for name in names:
        if not _NAME.fullmatch(name):
            problems.append(theme.problem(name, _ADVICE))
            continue
        try:
            content = folder.content(name, MAX_SIZE)[0]
            if name.endswith(".png"):
                images[name] = content
            elif keys := api_keys.positions(content):
                # Its content is in no message about other problems.
                problems += [theme.problem(name, api_keys.PLAINTEXT, *position) for position in keys]
            else:
                files[name] = content.decode()
        except UnicodeDecodeError:
            problems.append(theme.problem(name, "is not UTF-8; save it as UTF-8"))
        except OSError as error:
            is_large = error.errno == errno.EFBIG
            fault = f"has more than {MAX_SIZE >> 20} MiB; make it smaller" if is_large else None
            problems.append(theme.problem(name, fault or f"cannot be read: {error.strerror}"))
    if (total := sum(map(len, (*files.values(), *images.values())))) > MAX_TOTAL:
        message = f"has {total:,} characters; a theme can have {MAX_TOTAL:,}"
        problems.append(theme.problem("", message))
    return theme, problems
