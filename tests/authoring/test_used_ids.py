"""No chapter id is used twice, even if its chapter was removed."""

import shutil
import subprocess
from collections.abc import Callable

import pytest
from click.testing import Result

from generator import encoding
from generator.catalog.records import MAX_ID
from tests.conftest import Site
from tests.support import author_catalogs
from tests.support.author_catalogs import FIRST, Run, chapter, everything, ids_in, series


@pytest.fixture
def ids(site: Site, run: Run) -> Callable[..., Result]:
    """Run `build.py ids` on a site whose first series has no chapters."""
    return author_catalogs.ids_command(site, run)


def git(site: Site, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run(["git", *who, *arguments], cwd=site.folder, check=True, capture_output=True)


def commit(site: Site) -> None:
    git(site, "add", "catalog_src")
    git(site, "commit", "-m", "a")


def test_ids_continue_after_the_highest(site: Site, ids: Callable[..., Result]) -> None:
    """Gaps may be ids of removed chapters."""
    site.write(FIRST, series(chapter(1, "id: 40, "), chapter(2), chapter(3, "id: 2, ")))

    ids()

    assert ids_in(site, FIRST) == [40, 41, 2]


def test_ids_of_removed_chapters_are_not_used_again(site: Site, ids: Callable[..., Result]) -> None:
    """A client that stored the id must not get another chapter."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    site.build()
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_ids_of_newer_releases_count_after_a_rollback(site: Site, ids: Callable[..., Result], run: Run) -> None:
    """They were published."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    site.build()
    site.write(FIRST, series(chapter(1, "id: 5, "), chapter(2, "id: 6, ")))
    site.build()
    run("rollback", "--out", site.folder / "dist")
    site.write(FIRST, series(chapter(3)))

    ids()

    assert ids_in(site, FIRST) == [7]


def test_ids_of_removed_scheduled_chapters_count(site: Site, ids: Callable[..., Result]) -> None:
    """The manifest contains them although the release does not show them."""
    site.write(FIRST, series(chapter(1, "id: 5, ").replace("2026", "2099")))
    site.build()
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_ids_of_deleted_releases_count(site: Site, ids: Callable[..., Result]) -> None:
    """Each manifest inherits the highest id."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    site.build()
    site.write(FIRST, series(chapter(1, "id: 2, ")))
    site.build()
    site.build()
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_ids_of_the_previous_manifest_count(site: Site, ids: Callable[..., Result]) -> None:
    """For machines without dist/."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    release = site.build().release
    manifest = site.folder / "dist/releases" / release / "manifest.json"
    manifest.rename(site.folder / "last.json")
    site.write(FIRST, series(chapter(2)))

    ids("--previous", site.folder / "last.json", "--out", site.folder / "none")

    assert ids_in(site, FIRST) == [6]


@pytest.mark.parametrize("folder", ["elsewhere", "elsewhere/current"])
def test_ids_of_a_previous_folder_count(site: Site, ids: Callable[..., Result], folder: str) -> None:
    """That of a built site, or of a release."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    site.build()
    (site.folder / "dist").rename(site.folder / "elsewhere")
    site.write(FIRST, series(chapter(2)))

    ids("--previous", site.folder / folder)

    assert ids_in(site, FIRST) == [6]


@pytest.mark.parametrize("written", ["id: 5, ", '"id": 5, ', "'id' : 5, "])
def test_ids_in_the_git_history_count(site: Site, ids: Callable[..., Result], written: str) -> None:
    """For machines without any release."""
    git(site, "init")
    site.write(FIRST, series(chapter(1, written)))
    commit(site)
    site.write(FIRST, series())
    commit(site)
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_all_ids_of_a_line_count(site: Site, ids: Callable[..., Result]) -> None:
    """A flow list has many ids on one line."""
    git(site, "init")
    fields = "published: 2026-02-02, pages: []"
    site.write(
        FIRST, f"title: A\ncover: c.jpg\nchapters: [{{id: 5, number: 1, {fields}}}, {{id: 4, number: 2, {fields}}}]\n"
    )
    commit(site)
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_ids_of_uncommitted_removals_count(site: Site, ids: Callable[..., Result]) -> None:
    """The last commit contains them."""
    git(site, "init")
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    commit(site)
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_git_settings_do_not_change_the_history(site: Site, ids: Callable[..., Result]) -> None:
    """For example colors."""
    git(site, "init")
    for name, value in (("color.ui", "always"), ("diff.noprefix", "true"), ("log.showSignature", "true")):
        git(site, "config", name, value)
    site.write(".gitattributes", "*.yaml binary\n")
    site.write("series/long/series.yaml", "title: Long\ncover: cover.jpg\n")
    site.write("series/long/chapters/1.yaml", "id: 5\nnumber: 1\npublished: 2026-02-02\npages: []\n")
    commit(site)
    (site.folder / "catalog_src/series/long/chapters/1.yaml").unlink()
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_ids_of_other_records_do_not_count(site: Site, ids: Callable[..., Result]) -> None:
    """For example of an author."""
    git(site, "init")
    site.write("authors.yaml", "- {id: 900, name: Ada Penn}\n")
    site.write(FIRST, series(chapter(1)))
    commit(site)

    ids()

    assert ids_in(site, FIRST) == [1]


def test_numbers_above_the_limit_do_not_count(site: Site, ids: Callable[..., Result]) -> None:
    """A typing error in the history must not use up all ids."""
    git(site, "init")
    site.write(FIRST, series(chapter(1, "id: 9999999999, ")))
    commit(site)
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [1]


def test_no_id_exceeds_the_limit(site: Site, ids: Callable[..., Result]) -> None:
    """Clients store 32-bit integers."""
    site.write(FIRST, series(chapter(1, f"id: {MAX_ID}, "), chapter(2)))
    before = everything(site)

    result = ids()

    assert result.exit_code == 1
    assert result.stderr == (
        f"{site.folder}/catalog_src: no id up to {MAX_ID} is left above the ids in use; write an id yourself\n"
    )
    assert everything(site) == before


def test_the_largest_id_can_be_assigned(site: Site, ids: Callable[..., Result]) -> None:
    """The limit itself is valid."""
    site.write(FIRST, series(chapter(1, f"id: {MAX_ID - 1}, "), chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [MAX_ID - 1, MAX_ID]


def test_a_damaged_manifest_is_an_error(site: Site, ids: Callable[..., Result]) -> None:
    """Without the published ids, no id is assigned."""
    site.write("last.json", "{}")
    site.write(FIRST, series(chapter(1)))
    last = site.folder / "catalog_src/last.json"

    result = ids("--previous", last)

    assert (result.exit_code, result.stderr) == (1, f"{last}: is not the manifest of a release\n")
    assert (site.folder / "catalog_src" / FIRST).read_bytes() == series(chapter(1)).encode()


def test_a_missing_manifest_is_an_error(site: Site, ids: Callable[..., Result]) -> None:
    """The ids of the release are unknown, so they could be assigned again."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    site.build()
    site.write(FIRST, series(chapter(2)))
    shutil.rmtree(site.folder / "dist/releases")

    result = ids()

    assert result.exit_code == 1 and "manifest.json: is missing, so no build can continue" in result.stderr
    assert "id:" not in (site.folder / "catalog_src" / FIRST).read_text()


def test_a_previous_folder_without_a_release_is_an_error(site: Site, ids: Callable[..., Result]) -> None:
    """Without the published ids, no id is assigned."""
    site.write(FIRST, series(chapter(1)))

    result = ids("--previous", site.folder)

    sentence = f"{site.folder}: contains no release; pass a manifest.json, or the folder of a built site\n"
    assert (result.exit_code, result.stderr) == (1, sentence)
    assert (site.folder / "catalog_src" / FIRST).read_bytes() == series(chapter(1)).encode()


def test_the_manifest_has_the_highest_id(site: Site) -> None:
    """For the next build."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    site.build()

    assert encoding.parse((site.folder / "dist/current/manifest.json").read_bytes())["highest_id"] == 5


@pytest.mark.parametrize("form", ["separate", "combined", "off"])
def test_ids_added_in_a_merge_commit_count(site: Site, ids: Callable[..., Result], form: str) -> None:
    """With any git settings about merges."""
    git(site, "init", "--initial-branch", "main")
    git(site, "config", "log.diffMerges", form)
    site.write(FIRST, series())
    commit(site)
    git(site, "checkout", "-b", "branch")
    site.write("series/other.yaml", "title: Other\ncover: c.jpg\n")
    commit(site)
    git(site, "checkout", "main")
    git(site, "merge", "--no-ff", "--no-commit", "branch")
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    commit(site)
    site.write(FIRST, series())
    commit(site)
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]
