"""Fingerprints of a catalog: they change with its files, and only then."""

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from generator.catalog import snapshot
from generator.catalog.confined_folder import ConfinedFolder
from tests.catalog.test_wrong_catalogs import write


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    folder = tmp_path / "catalog_src"
    write(folder, "site.yaml", "base_url: https://comics.example\n")
    write(folder, "series/first.yaml", "title: First\ncover: c.png\n")
    return folder


def test_each_change_of_a_file_changes_the_snapshot(catalog: Path) -> None:
    """Writing, touching, adding, renaming and removing a file change it; taking it does not."""
    series = catalog / "series/first.yaml"
    steps: list[Callable[[], object]] = [
        lambda: series.write_text(series.read_text() + "\n"),
        lambda: os.utime(series, (5, 5)),
        lambda: write(catalog, "series/third.yaml", "title: Third"),
        lambda: (catalog / "series/third.yaml").rename(catalog / "series/fourth.yaml"),
        lambda: (catalog / "series/fourth.yaml").unlink(),
    ]
    snapshots = [snapshot.take(catalog)]
    for step in steps:
        step()
        snapshots.append(snapshot.take(catalog))

    assert all(before != after for before, after in pairwise(snapshots))
    assert all(snapshot.digest(before) != snapshot.digest(after) for before, after in pairwise(snapshots))
    assert snapshot.take(catalog) == snapshots[-1]


def test_hidden_files_are_not_part_of_a_snapshot(catalog: Path) -> None:
    """The lock of an editor is a hidden link to nothing."""
    before = snapshot.take(catalog)
    (catalog / ".#first.yaml").symlink_to("user@host.1234")

    assert snapshot.take(catalog) == before


def test_a_missing_catalog_has_an_empty_snapshot(tmp_path: Path) -> None:
    """The build reports that the folder is missing."""
    assert snapshot.take(tmp_path / "nowhere") == ()


def test_the_status_of_a_file_is_that_of_the_whole_snapshot(catalog: Path) -> None:
    """Files asked for by name, also behind links, have the same status as in the walk."""
    (catalog / "series/linked.yaml").symlink_to("first.yaml")
    (catalog / "series/folder").symlink_to(".")
    statuses = {file: status for file, status in snapshot.take(catalog) if status}

    assert "series/folder/first.yaml" in statuses
    assert dict(snapshot.statuses(ConfinedFolder(catalog), statuses)) == statuses


def test_a_missing_file_and_a_forbidden_link_have_no_status(catalog: Path) -> None:
    """The reader reports both with their reason."""
    (catalog / "series/out.yaml").symlink_to("/etc/passwd")
    files = ["series/missing.yaml", "series/out.yaml"]

    assert list(snapshot.statuses(ConfinedFolder(catalog), files)) == [(file, "") for file in files]


def test_the_time_of_a_status_is_cut_to_seconds(catalog: Path) -> None:
    os.utime(catalog / "site.yaml", ns=(0, 1_999_999_999))
    ((_, status),) = snapshot.statuses(ConfinedFolder(catalog), ["site.yaml"])

    assert snapshot.modified(status) == 1
