"""Assign ids to chapters that have none."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ..catalog import confined_folder, cross_checks, git, layout
from ..catalog.confined_folder import Folder
from ..catalog.problems import locate
from ..catalog.problems.load import load_valid
from ..catalog.reader import Sources
from ..catalog.records import MAX_ID, Chapter
from ..catalog.yaml import editor
from ..errors import CatalogError, FlatpanelError, UnlocatedProblem
from ..filesystem import exclusive

_NOT_EDITABLE = "cannot be edited in this form; write one field per line as `name: value`, or add an id yourself"

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class AssignedId:
    """A chapter and its new id."""

    file: str
    chapter: Chapter
    id: int


def assign_ids(folder: Folder, highest: int, warn: Warn) -> list[AssignedId]:
    """Write an id into each chapter without one; return these chapters in the order of their ids.

    `highest` is the highest chapter id of all releases.
    """
    with exclusive(layout.existing(folder)):
        sources = load_valid(folder)
        entries = cross_checks.chapters_without_id(sources)
        if not entries:
            return []
        assigned = list(zip(entries, free_ids(folder, sources, highest, warn, len(entries)), strict=True))
        texts, problems = {}, []
        for file, pairs in groupby(sorted(assigned, key=lambda pair: pair[0].file), key=lambda pair: pair[0].file):
            ids = {entry.path: id for entry, id in pairs}
            try:
                texts[file] = editor.with_ids(locate.text(folder, file), ids)
            except editor.NotEditable as error:
                problems += [UnlocatedProblem(file, path, _NOT_EDITABLE) for path in error.paths]
        if problems:
            raise CatalogError(locate.locate(folder, problems))
        for file, text in texts.items():
            confined_folder.of(folder).write(file, text)
        return [AssignedId(entry.file, entry.record, id) for entry, id in assigned]


def free_ids(folder: Folder, sources: Sources, highest: int, warn: Warn, count: int = 1) -> range:
    """Return ids above all that the catalog has, its git history had, and releases had (up to `highest`)."""
    try:
        repository = git.Repository.around(Path(folder))
        committed = repository.ids_in_history() if repository else set()
    except git.GitError as error:
        warn(f"{folder}: {error}; ids that only the git history contains may be assigned again")
        committed = set()
    valid = (id for id in committed if id <= MAX_ID)
    first = 1 + max((highest, *cross_checks.chapter_ids_in_use(sources), *valid))
    if first + count - 1 > MAX_ID:
        raise FlatpanelError(f"{folder}: no id up to {MAX_ID} is left above the ids in use; write an id yourself")
    return range(first, first + count)


def chapter_label(chapter: Chapter) -> str:
    """Return the volume and number of a chapter for people."""
    volume = f"volume {chapter.volume}, " if chapter.volume else ""
    return f"{volume}chapter {chapter.number}"
