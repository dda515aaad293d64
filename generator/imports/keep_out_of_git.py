"""Keep `accounts.yaml` with personal data out of git: a repository is often public, and does not forget."""

import os
import re
import shlex
from pathlib import Path

from ..catalog.confined_folder import ConfinedFolder, Folder
from ..catalog.git import GitError, Repository
from ..catalog.unfinished_import import JOURNAL
from ..reading_sites.notes import Notes
from .merge import ACCOUNTS

_GITIGNORE = ".gitignore"
_SPECIAL = re.compile(r"[\\*?\[!# ]")
_COMMENT = "# Names and email addresses of readers."


def keep_out_of_git(catalog: Folder, notes: Notes) -> None:
    """Add the file to `.gitignore` of the project, unless it is there, and note whether git has it already."""
    folder = Path(os.path.realpath(catalog))
    is_project = os.path.lexists(folder / ".git")
    project = ConfinedFolder(folder if is_project else folder.parent)
    # The journal of an import has the text of each file until that is written.
    paths = [name if is_project else f"{folder.name}/{name}" for name in (ACCOUNTS, JOURNAL)]
    before = _text(project)
    present = {line.strip().lstrip("/") for line in before.splitlines()}
    lines = [f"/{_escaped(path)}" for path in paths if _escaped(path) not in present]
    if lines:
        end = "" if before.endswith("\n") or not before else "\n"
        text = "".join(f"{line}\n" for line in (*([""] if before else []), _COMMENT, *lines))
        project.write(_GITIGNORE, f"{before}{end}{text}".encode(errors="surrogateescape"))
        notes.add("keeps accounts.yaml out of git; back it up yourself", str(project / _GITIGNORE))
    command = f"git rm --cached {shlex.quote(paths[0])}"
    try:
        repository = Repository.around(folder)
        if repository and repository.is_tracked(ACCOUNTS):
            notes.add(f"is in git already; run `{command}`, and remove it from earlier commits", str(folder / ACCOUNTS))
    except GitError as error:
        notes.add(f"may be in git already, because {error}", str(folder / ACCOUNTS))


def _text(project: ConfinedFolder) -> str:
    try:
        return project.content(_GITIGNORE)[0].decode(errors="surrogateescape")
    except FileNotFoundError:
        return ""


def _escaped(path: str) -> str:
    """Return a path as a pattern; a line break, which no pattern can have, matches any character."""
    return _SPECIAL.sub(r"\\\g<0>", path).replace("\n", "?")
