"""The files of the recorded service: imported catalogs name them, and what the service moved is found."""

import lzma
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.catalog.confined_folder import ConfinedFolder
from generator.media import folder_check, moves, named_files
from generator.media.folder_check import FolderCheck
from generator.media.moves import Move
from tests.support import media_server
from tests.support.import_project import project
from tests.support.paths import DATA
from tests.support.real_service import RECORDED_AT, RealService, real_service
from tests.support.tree_snapshot import files

RECORDED = DATA / "real_service"


def recorded_files(name: str) -> list[str]:
    with lzma.open(RECORDED / f"{name}.txt.xz", "rt", encoding="utf-8") as lines:
        return lines.read().splitlines()


@pytest.fixture
def site() -> Iterator[RealService]:
    with real_service() as site:
        yield site


def check(folder: Path) -> FolderCheck:
    named = named_files.read(folder / "catalog_src", RECORDED_AT)
    return folder_check.check(ConfinedFolder(folder / "media"), named, named, None)


def imported(folder: Path, site: RealService, name: str) -> None:
    """A project with an import, and a tiny image for each recorded file."""
    assert project(folder, site).import_("--allow-missing-ids").exit_code == 0
    media_server.fill(folder / "media", recorded_files(name))


def by_folder(result: list[Move]) -> dict[str, str]:
    return {move.target.rpartition("/")[0]: move.source.rpartition("/")[0] for move in result}


COPPER = "series/copper-weather"
# Files of two chapters with one number, of which the service kept those of the last upload.
LOST = {"series/loud-quiet-loud/0/2": 6, "series/loud-quiet-loud/0/3": 12}


@pytest.mark.end_to_end
def test_what_the_service_moved_is_found_and_moved_back(site: RealService, tmp_path: Path) -> None:
    """A changed volume moved the folder of the old one, but its database kept the paths."""
    imported(tmp_path, site, "v0.9.6/media")
    result = check(tmp_path)
    kinds = {kind: [one.path for one in result.findings if one.kind == kind] for kind in folder_check.KINDS}

    assert {"moved", "missing", "extra", "no image"} == {kind for kind, paths in kinds.items() if paths}
    parents = [path.rpartition("/")[0] for path in kinds["missing"]]
    assert {parent: parents.count(parent) for parent in parents} == LOST
    assert by_folder(list(result.moves)) == {
        f"{COPPER}/0/1": f"{COPPER}/2/1",
        f"{COPPER}/0/2": f"{COPPER}/2/2",
        f"{COPPER}/0/3": f"{COPPER}/2/3",
        f"{COPPER}/0/4": f"{COPPER}/2/4",
        f"{COPPER}/5/9": f"{COPPER}/6/9",
        f"{COPPER}/5/11": f"{COPPER}/6/1",
    }
    assert all(move.is_certain and not move.is_copy for move in result.moves)
    assert kinds["no image"] == ["favicon.ico"]

    # After the script, only what the service lost is missing.
    script = "\n".join(moves.script(tmp_path / "media", result.moves))
    subprocess.run(["sh"], input=script, text=True, check=True)
    after = check(tmp_path)

    assert (after.moves, after.named - after.present) == ((), sum(LOST.values()))
    assert len(files(tmp_path / "media")) == len(recorded_files("v0.9.6/media"))


def test_after_edits_files_are_found_again(site: RealService, tmp_path: Path) -> None:
    """The catalog of the edited site and its files."""
    site.edit()
    imported(tmp_path, site, "v0.9.6/media-after-edit")
    result = check(tmp_path)

    missing = {one.path.rpartition("/")[0] for one in result.findings if one.kind == "missing"}
    assert missing == set(LOST)


def test_the_old_version_is_complete(tmp_path: Path) -> None:
    """Version 0.4.5 moved nothing. Two chapters were recorded without files."""
    with real_service(version="v0.4.5") as site:
        imported(tmp_path, site, "v0.4.5/media")
        result = check(tmp_path)

    faults = [one for one in result.findings if folder_check.KINDS[one.kind]]
    assert {one.kind for one in faults} == {"missing"}
    assert {one.path.rpartition("/")[0] for one in faults} == {f"series/the-fog-ledger/1/{number}" for number in (1, 2)}
