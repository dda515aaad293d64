"""No id comes back that any chapter ever had."""

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
    """`build.py ids` on the test's site, whose first series is empty."""
    return author_catalogs.giving_ids(site, run)


def git(site: Site, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    subprocess.run(["git", *who, *arguments], cwd=site.folder, check=True, capture_output=True)


def commit(site: Site) -> None:
    git(site, "add", "catalog_src")
    git(site, "commit", "-m", "a")


def test_ids_go_on_after_the_highest_in_the_catalog(site: Site, ids: Callable[..., Result]) -> None:
    """A gap may be the place of a chapter that was removed, so that none is filled."""
    site.write(FIRST, series(chapter(1, "id: 40, "), chapter(2), chapter(3, "id: 2, ")))

    ids()

    assert ids_in(site, FIRST) == [40, 41, 2]


def test_an_id_of_a_removed_chapter_stays_its_own(site: Site, ids: Callable[..., Result]) -> None:
    """A client that knows the chapter 5 must never find another one there."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    site.build()
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_ids_of_a_release_that_was_rolled_back_stay_taken(site: Site, ids: Callable[..., Result], run: Run) -> None:
    """What the newer release had was published, too."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    site.build()
    site.write(FIRST, series(chapter(1, "id: 5, "), chapter(2, "id: 6, ")))
    site.build()
    run("rollback", "--out", site.folder / "dist")
    site.write(FIRST, series(chapter(3)))

    ids()

    assert ids_in(site, FIRST) == [7]


def test_ids_of_a_scheduled_chapter_that_was_removed_stay_taken(site: Site, ids: Callable[..., Result]) -> None:
    """A release knows the ids of chapters that it does not show yet."""
    site.write(FIRST, series(chapter(1, "id: 5, ").replace("2026", "2099")))
    site.build()
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_ids_of_builds_long_ago_stay_taken(site: Site, ids: Callable[..., Result]) -> None:
    """Every release hands the highest id down to the next."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    site.build()
    site.write(FIRST, series(chapter(1, "id: 2, ")))
    site.build()
    site.build()
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_ids_of_a_manifest_from_elsewhere_stay_taken(site: Site, ids: Callable[..., Result]) -> None:
    """A machine without dist/ is told by the last manifest."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    release = site.build().release
    manifest = site.folder / "dist/releases" / release / "manifest.json"
    manifest.rename(site.folder / "last.json")
    site.write(FIRST, series(chapter(2)))

    ids("--previous", site.folder / "last.json", "--out", site.folder / "none")

    assert ids_in(site, FIRST) == [6]


@pytest.mark.parametrize("written", ["id: 5, ", '"id": 5, ', "'id' : 5, "])
def test_ids_in_the_history_of_the_catalog_stay_taken(site: Site, ids: Callable[..., Result], written: str) -> None:
    """Whoever builds somewhere else has only git to ask."""
    git(site, "init")
    site.write(FIRST, series(chapter(1, written)))
    commit(site)
    site.write(FIRST, series())
    commit(site)
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_every_id_of_a_line_stays_taken(site: Site, ids: Callable[..., Result]) -> None:
    """Whoever writes a list on one line gives many ids with it."""
    git(site, "init")
    fields = "published: 2026-02-02, pages: []"
    site.write(
        FIRST, f"title: A\ncover: c.jpg\nchapters: [{{id: 5, number: 1, {fields}}}, {{id: 4, number: 2, {fields}}}]\n"
    )
    commit(site)
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_an_id_that_is_committed_and_just_removed_stays_taken(site: Site, ids: Callable[..., Result]) -> None:
    """The edit at hand counts as history, too."""
    git(site, "init")
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    commit(site)
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [6]


def test_history_is_read_whatever_somebody_has_set_in_git(site: Site, ids: Callable[..., Result]) -> None:
    """Colours and the like are for people's eyes."""
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


def test_ids_of_other_things_do_not_count(site: Site, ids: Callable[..., Result]) -> None:
    """An author 900 leaves the numbers of chapters alone."""
    git(site, "init")
    site.write("authors.yaml", "- {id: 900, name: Ada Penn}\n")
    site.write(FIRST, series(chapter(1)))
    commit(site)

    ids()

    assert ids_in(site, FIRST) == [1]


def test_a_number_that_no_chapter_can_have_is_no_id(site: Site, ids: Callable[..., Result]) -> None:
    """A slip of somebody's hand long ago does not use up all ids."""
    git(site, "init")
    site.write(FIRST, series(chapter(1, "id: 9999999999, ")))
    commit(site)
    site.write(FIRST, series(chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [1]


def test_there_is_an_end_to_ids(site: Site, ids: Callable[..., Result]) -> None:
    """An id that no client can hold is not given."""
    site.write(FIRST, series(chapter(1, f"id: {MAX_ID}, "), chapter(2)))
    before = everything(site)

    result = ids()

    assert result.exit_code == 1
    assert result.stderr == (
        f"{site.folder}/catalog_src: no id up to {MAX_ID} is left above the ids in use; write an id yourself\n"
    )
    assert everything(site) == before


def test_the_last_id_of_all_is_given(site: Site, ids: Callable[..., Result]) -> None:
    """The bound itself is an id."""
    site.write(FIRST, series(chapter(1, f"id: {MAX_ID - 1}, "), chapter(2)))

    ids()

    assert ids_in(site, FIRST) == [MAX_ID - 1, MAX_ID]


def test_a_damaged_manifest_is_not_guessed_at(site: Site, ids: Callable[..., Result]) -> None:
    """Without knowing what was published, no id is given."""
    site.write("last.json", "{}")
    site.write(FIRST, series(chapter(1)))
    last = site.folder / "catalog_src/last.json"

    result = ids("--previous", last)

    assert (result.exit_code, result.stderr) == (1, f"{last}: is not the manifest of a release\n")
    assert (site.folder / "catalog_src" / FIRST).read_bytes() == series(chapter(1)).encode()


def test_the_highest_id_is_in_the_manifest(site: Site) -> None:
    """A release tells the next one how far ids have come."""
    site.write(FIRST, series(chapter(1, "id: 5, ")))
    site.build()

    assert encoding.parse((site.folder / "dist/current/manifest.json").read_bytes())["highest_id"] == 5


@pytest.mark.parametrize("form", ["separate", "combined", "off"])
def test_an_id_that_only_a_merge_gave_stays_taken(site: Site, ids: Callable[..., Result], form: str) -> None:
    """Resolving a conflict is an edit as well, whatever somebody's git shows of merges."""
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
