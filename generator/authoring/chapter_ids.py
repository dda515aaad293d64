"""Assign ids to chapters that have none."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from ..catalog import confined_folder, cross_checks, git, layout
from ..catalog.confined_folder import Folder
from ..catalog.load import load_valid
from ..catalog.problems import locate
from ..catalog.reader import Sources
from ..catalog.records import MAX_ID, Chapter
from ..catalog.yaml import editor
from ..errors import FlatpanelError
from ..filesystem import exclusive
from . import catalog_edit

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Given:
    """A chapter and the id that it has now."""

    file: str
    chapter: Chapter
    id: int


def give_ids(folder: Folder, highest: int, warn: Warn) -> list[Given]:
    """Give an id to every chapter that lacks one; answers with them in the order of their ids.

    No id comes back that a chapter has, had in the catalog's history, or had up to `highest` in a release.
    """
    with exclusive(layout.existing(folder)):
        sources = load_valid(folder)
        lacking = cross_checks.chapters_without_id(sources)
        if not lacking:
            return []
        given = list(zip(lacking, free_ids(folder, sources, highest, warn, len(lacking)), strict=True))
        texts = {}
        for file, group in groupby(sorted(given, key=lambda pair: pair[0].file), key=lambda pair: pair[0].file):
            ids = {entry.path: number for entry, number in group}
            text = locate.text(folder, file)
            texts[file] = catalog_edit.edited(folder, file, partial(editor.with_first_field, text, "id", ids))
        for file, text in texts.items():
            confined_folder.of(folder).write(file, text)
        return [Given(entry.file, entry.record, number) for entry, number in given]


def free_ids(folder: Folder, sources: Sources, highest: int, warn: Warn, count: int = 1) -> range:
    """The next ids that no chapter has, had in the catalog's history, or had up to `highest` in a release."""
    try:
        repository = git.Repository.around(Path(folder))
        committed = repository.ids_in_history() if repository else set()
    except git.GitError as error:
        warn(f"{folder}: {error}; an id that only git remembers may be given again")
        committed = set()
    known = (one for one in committed if one <= MAX_ID)
    first = 1 + max((highest, *cross_checks.chapter_ids_in_use(sources), *known))
    if first + count - 1 > MAX_ID:
        raise FlatpanelError(
            f"{folder}: no id up to {MAX_ID} is left above those that chapters had; write one yourself"
        )
    return range(first, first + count)


def chapter_label(chapter: Chapter) -> str:
    """The volume and number of a chapter, for people."""
    volume = f"volume {chapter.volume}, " if chapter.volume else ""
    return f"{volume}chapter {chapter.number}"
