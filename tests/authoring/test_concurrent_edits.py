"""What all commands that edit a catalog do: they lock it, and do not edit one with problems."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from generator import filesystem
from generator.authoring import chapter_ids, key_entries, new_entries, view_counts
from generator.catalog import reader
from generator.catalog.confined_folder import ConfinedFolder
from tests.authoring.conftest import refused
from tests.conftest import AS_OF, Site, without_help
from tests.support import author_catalogs
from tests.support.author_catalogs import Run


def is_locked(folder: Path) -> bool:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: chapter_ids.assign_ids(folder, 0, print),
        lambda folder: key_entries.add_key(folder, "phone", None, str),
        lambda folder: key_entries.revoke_key(folder, "shop"),
        lambda folder: view_counts.add_views(folder, []),
        lambda folder: new_entries.add_series(folder, "third", {"title": "Third"}, in_folder=False, dry=False),
        lambda folder: new_entries.add_chapter(folder, "first", {}, None, highest=0, now=AS_OF, dry=False, warn=print),
    ],
    ids=["ids", "keys add", "keys revoke", "views", "new series", "new chapter"],
)
def test_edits_hold_the_lock_from_read_to_write(
    site: Site, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    """No other process can use the same id or file name. The lock is released afterwards."""
    folder = site.folder / "catalog_src"
    # Only `ids` accepts chapters without id; to the others it is a problem.
    given = "" if request.node.callspec.id == "ids" else "id: 1, "
    site.write(author_catalogs.FIRST, author_catalogs.series(author_catalogs.chapter(1, given)))
    site.write("keys.yaml", f"- {{name: shop, sha256: {'1' * 63}a}}\n")
    locked = []
    read, write = reader.read, ConfinedFolder.write
    monkeypatch.setattr(reader, "read", lambda *given: (locked.append(is_locked(folder)), read(*given))[1])
    monkeypatch.setattr(ConfinedFolder, "write", lambda *given: (locked.append(is_locked(folder)), write(*given))[1])

    change(folder)

    assert len(locked) > 1 and all(locked)
    assert not is_locked(folder)


def test_a_file_system_without_locks_can_be_edited(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some network file systems do not support locks of folders."""

    def refuse(*_: object) -> None:
        raise OSError("Bad file descriptor")

    monkeypatch.setattr(filesystem.fcntl, "flock", refuse)
    site.write(author_catalogs.FIRST, author_catalogs.series(author_catalogs.chapter(1)))

    chapter_ids.assign_ids(site.folder / "catalog_src", 0, print)

    assert author_catalogs.ids_in(site, author_catalogs.FIRST) == [1]


COMMANDS = ["new series x --title X", "new chapter first", "ids", "keys add x", "keys revoke x", "views access.log"]


@pytest.mark.parametrize("words", COMMANDS)
def test_a_misspelt_catalog_folder_gets_a_suggestion(site: Site, run: Run, words: str) -> None:
    """Same message as in commands that only read."""
    misspelt = site.folder / "catalog_scr"
    message = refused(site, run, *words.split(), "--catalog", misspelt)

    assert message == f"{misspelt}: no such folder; did you mean catalog_src?\n"


@pytest.mark.parametrize("words", COMMANDS)
def test_a_catalog_with_problems_is_not_edited(site: Site, run: Run, words: str) -> None:
    """The problems are those of `check`."""
    site.write(author_catalogs.SECOND, "title: Second\n")
    message = refused(site, run, *words.split(), "--catalog", site.folder / "catalog_src")

    problem = f"{site.folder}/catalog_src/series/second.yaml:1:1: cover: is missing\n"
    assert without_help(message) == f"{problem}1 problem; nothing was written\n"
