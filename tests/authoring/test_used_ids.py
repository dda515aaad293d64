"""No chapter id is used twice, even if its chapter was removed."""

import shutil
from collections.abc import Callable

import pytest

from generator.catalog.records import MAX_ID
from tests.authoring.conftest import git, refused
from tests.conftest import Site
from tests.support.author_catalogs import FIRST, Run, chapter, ids_in, series

FIVE = chapter(1, "id: 5, ")
NewIds = Callable[..., list[int | None]]


@pytest.fixture
def new_ids(site: Site, ids: Run) -> NewIds:
    """Write chapters, by default one without an id, run `ids`, and return the ids of all."""

    def assign(*arguments: object, chapters: tuple[str, ...] = (chapter(2),)) -> list[int | None]:
        site.write(FIRST, series(*chapters))
        assert ids(*arguments).exit_code == 0
        return ids_in(site, FIRST)

    return assign


def build(site: Site, *chapters: str) -> str:
    site.write(FIRST, series(*chapters))
    return site.build().release


def commit(site: Site, *chapters: str) -> None:
    site.write(FIRST, series(*chapters))
    git(site.folder, "add", "catalog_src")
    git(site.folder, "commit", "-m", "a")


def test_ids_continue_after_the_highest(new_ids: NewIds) -> None:
    """Gaps may be ids of removed chapters. The largest id can be assigned."""
    assert new_ids(chapters=(chapter(1, "id: 40, "), chapter(2), chapter(3, "id: 2, "))) == [40, 41, 2]
    assert new_ids(chapters=(chapter(1, f"id: {MAX_ID - 1}, "), chapter(2))) == [MAX_ID - 1, MAX_ID]


def test_ids_of_newer_releases_count_after_a_rollback(site: Site, new_ids: NewIds, run: Run) -> None:
    """They were published."""
    build(site, FIVE)
    build(site, FIVE, chapter(2, "id: 6, "))
    run("rollback", "--out", site.folder / "dist")

    assert new_ids() == [7]


def test_ids_of_removed_scheduled_chapters_count(site: Site, new_ids: NewIds) -> None:
    """The manifest contains them although the release does not show them."""
    build(site, FIVE.replace("2026", "2099"))

    assert new_ids() == [6]


def test_ids_of_deleted_releases_count(site: Site, new_ids: NewIds) -> None:
    """Each manifest inherits the highest id."""
    build(site, FIVE)
    for _ in range(2):
        build(site, chapter(1, "id: 2, "))

    assert new_ids() == [6]


def test_ids_of_the_previous_manifest_count(site: Site, new_ids: NewIds) -> None:
    """For machines without dist/."""
    manifest = site.folder / "dist/releases" / build(site, FIVE) / "manifest.json"
    manifest.rename(site.folder / "last.json")

    assert new_ids("--previous", site.folder / "last.json", "--out", site.folder / "none") == [6]


@pytest.mark.parametrize("folder", ["elsewhere", "elsewhere/current"])
def test_ids_of_a_previous_folder_count(site: Site, new_ids: NewIds, folder: str) -> None:
    """That of a built site, or of a release."""
    build(site, FIVE)
    (site.folder / "dist").rename(site.folder / "elsewhere")

    assert new_ids("--previous", site.folder / folder) == [6]


@pytest.mark.parametrize("written", ["id: 5, ", '"id": 5, ', "'id' : 5, "])
def test_ids_in_the_git_history_count(site: Site, new_ids: NewIds, written: str) -> None:
    """For machines without any release."""
    git(site.folder, "init")
    commit(site, chapter(1, written))
    commit(site)

    assert new_ids() == [6]


def test_all_ids_of_a_line_count(site: Site, new_ids: NewIds) -> None:
    """A flow list has many ids on one line. The last commit contains them, and their removal is not committed."""
    git(site.folder, "init")
    commit(site)
    fields = "published: 2026-02-02, pages: []"
    site.write(
        FIRST, f"title: A\ncover: c.jpg\nchapters: [{{id: 5, number: 1, {fields}}}, {{id: 4, number: 2, {fields}}}]\n"
    )
    git(site.folder, "commit", "--all", "-m", "a")

    assert new_ids() == [6]


def test_git_settings_do_not_change_the_history(site: Site, new_ids: NewIds) -> None:
    """For example colors."""
    git(site.folder, "init")
    for name, value in (("color.ui", "always"), ("diff.noprefix", "true"), ("log.showSignature", "true")):
        git(site.folder, "config", name, value)
    site.write(".gitattributes", "*.yaml binary\n")
    site.write("series/long/series.yaml", "title: Long\ncover: cover.jpg\n")
    site.write("series/long/chapters/1.yaml", "id: 5\nnumber: 1\npublished: 2026-02-02\npages: []\n")
    commit(site)
    (site.folder / "catalog_src/series/long/chapters/1.yaml").unlink()

    assert new_ids() == [6]


def test_ids_of_other_records_and_above_the_limit_do_not_count(site: Site, new_ids: NewIds) -> None:
    """For example of an author. A typing error in the history must not use up all ids."""
    git(site.folder, "init")
    site.write("authors.yaml", "- {id: 900, name: Ada Penn}\n")
    commit(site, chapter(1, "id: 9999999999, "))

    assert new_ids() == [1]


@pytest.mark.parametrize("form", ["separate", "combined", "off"])
def test_ids_added_in_a_merge_commit_count(site: Site, new_ids: NewIds, form: str) -> None:
    """With any git settings about merges."""
    git(site.folder, "init", "--initial-branch", "main")
    git(site.folder, "config", "log.diffMerges", form)
    commit(site)
    git(site.folder, "checkout", "-b", "branch")
    site.write("series/other.yaml", "title: Other\ncover: c.jpg\n")
    commit(site)
    git(site.folder, "checkout", "main")
    git(site.folder, "merge", "--no-ff", "--no-commit", "branch")
    commit(site, FIVE)
    commit(site)

    assert new_ids() == [6]


def test_no_id_exceeds_the_limit(site: Site, ids: Run) -> None:
    """Clients store 32-bit integers."""
    site.write(FIRST, series(chapter(1, f"id: {MAX_ID}, "), chapter(2)))

    message = f"no id up to {MAX_ID} is left above the ids in use; write an id yourself"
    assert refused(site, ids) == f"{site.folder}/catalog_src: {message}\n"


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("last.json", "is not the manifest of a release"),
        ("", "contains no release; pass a manifest.json, or the folder of a built site"),
    ],
)
def test_without_the_published_ids_no_id_is_assigned(site: Site, ids: Run, place: str, sentence: str) -> None:
    """The manifest is damaged, or the folder has none."""
    (site.folder / "last.json").write_text("{}")
    site.write(FIRST, series(chapter(1)))

    message = refused(site, ids, "--previous", site.folder / place)
    assert message == f"{site.folder / place}: {sentence}\n"


def test_a_missing_manifest_is_an_error(site: Site, ids: Run) -> None:
    """The ids of the release are unknown, so they could be assigned again."""
    build(site, FIVE)
    site.write(FIRST, series(chapter(2)))
    shutil.rmtree(site.folder / "dist/releases")

    assert "manifest.json: is missing, so no build can continue" in refused(site, ids)
