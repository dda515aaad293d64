"""The folder of a new project: which names it may contain, and the mark of a project that is not finished.

A project that begins with an import can be interrupted, or the import refused. Until it is finished, a file in its
folder has the options of `init`; the same command goes on.
"""

import os
import re
from contextlib import suppress
from pathlib import Path

from ... import encoding, filesystem
from ...catalog import confined_folder
from ...errors import FlatpanelError

CATALOG = "catalog_src"
MARK = ".unfinished-init"
_MAX_SIZE = 1 << 16
# Files that code hosts put into a new repository.
_ALLOWED = re.compile(r"\.git|(?:readme|licen[cs]e|copying)(?:[.-].*)?", re.IGNORECASE)


def check_empty(folder: Path) -> None:
    """Refuse a folder with other names than those of a new repository."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise FlatpanelError(f"{folder}: not a folder; pass a folder that is empty or does not exist")
    _refuse_unfinished(folder, [])
    names = os.listdir(folder) if folder.is_dir() else []
    if others := sorted(name for name in names if not _ALLOWED.fullmatch(name)):
        count = f" and {len(others) - 1} more" if others[1:] else ""
        raise FlatpanelError(
            f"{folder}: contains {others[0]!r}{count}; pass a folder that is empty, does not exist, "
            "or contains only .git, a README or a license"
        )


def has_readme(folder: Path) -> bool:
    """Return whether the folder has a README with any ending."""
    return folder.is_dir() and any(name.lower().startswith("readme") for name in os.listdir(folder))


def begin(folder: Path, arguments: list[str]) -> None:
    """Create and mark the folder of a project. A folder with the mark of the same arguments is accepted as it is.

    Before anything was imported, the arguments may change.
    """
    if not os.path.lexists(folder / MARK):
        check_empty(folder)
    elif os.path.lexists(folder / CATALOG):
        _refuse_unfinished(folder, arguments)
    filesystem.make_folder(folder)
    confined_folder.of(folder).write(MARK, encoding.json(arguments))


def finish(folder: Path) -> None:
    """Remove the mark: the project is complete."""
    confined_folder.of(folder).delete(MARK)


def _refuse_unfinished(folder: Path, arguments: list[str]) -> None:
    if os.path.lexists(folder / MARK) and (unfinished := _arguments(folder)) != arguments:
        # Without the arguments of the mark, which may come with an untrusted repository.
        again = "run the same `init` again to finish it, or " if unfinished else ""
        raise FlatpanelError(f"{folder}: its import is unfinished; {again}remove the folder")


def _arguments(folder: Path) -> object:
    """Return the arguments in the mark; None if the mark is damaged."""
    with suppress(ValueError):
        return encoding.parse(confined_folder.of(folder).content(MARK, _MAX_SIZE)[0])
    return None
