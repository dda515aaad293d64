"""Publishing into dist: what a build adds, keeps, collects and refuses."""

import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from generator import encode, verify
from generator.errors import FlatpanelError
from generator.manifest import Manifest, paths, sidecar
from generator.pipeline import build
from generator.store import MARK
from tests import trees
from tests.conftest import Site


def named(site: Site) -> set[str]:
    """Every body, sidecar and compressed form of the current release."""
    return {path for one in site.manifest.resources.values() for path in paths(one)}


def of_release(site: Site) -> dict[str, object]:
    """The current release and everything that it names, as bytes by path."""
    release = f"releases/{site.store.current()}"
    found = trees.content(site.folder / "dist")
    return {path: text for path, text in found.items() if path in named(site) or path.startswith(release)}


def rebuild(site: Site) -> str:
    return site.build().release


def test_a_first_build_holds_what_its_manifest_names_and_nothing_else(site: Site) -> None:
    """After a first build every file is named by the manifest, belongs to the release, or marks the folder."""
    trees.first_version(site)
    release = rebuild(site)
    folder = f"releases/{release}/"
    expected = named(site) | {folder + file for file in site.manifest.files} | {folder + "manifest.json", "current"}

    assert trees.files(site.folder / "dist") == expected | {MARK}
    assert os.readlink(site.folder / "dist/current") == f"releases/{release}"


def test_a_new_release_leaves_the_old_one_whole(site: Site) -> None:
    """Whoever still reads the old release finds every file of it, untouched."""
    trees.first_version(site)
    old = rebuild(site)
    before = of_release(site)
    trees.second_version(site)
    new = rebuild(site)
    after = trees.content(site.folder / "dist")

    assert {path: after.get(path) for path in before} == before
    assert (site.store.current(), site.store.previous()) == (new, old)
    assert new != old


def test_the_release_before_the_last_one_is_collected(site: Site) -> None:
    """Two builds later nothing is left of a release: no body, no folder of its own, no empty folder."""
    trees.first_version(site)
    rebuild(site)
    trees.second_version(site)
    second = rebuild(site)
    kept = named(site)
    trees.third_version(site)
    third = rebuild(site)
    kept |= named(site)
    www = site.folder / "dist/www"

    assert {f"www/{path}" for path in trees.files(www)} == kept
    assert {path.name for path in (site.folder / "dist/releases").iterdir()} == {second, third}
    assert [path for _, path in trees.walk(www) if path.is_dir() and not any(path.iterdir())] == []
    assert not (www / "api/series/first/3").exists()


def test_building_the_same_again_writes_nothing(site: Site) -> None:
    """A second build of an unchanged catalog leaves every inode and every time as it is, the mark's included."""
    trees.first_version(site)
    first = rebuild(site)
    before = trees.state(site.folder)

    assert rebuild(site) == first
    assert trees.state(site.folder) == before


def test_what_is_changed_and_changed_back_is_dated_later(site: Site) -> None:
    """A body that comes back keeps its file and its tag, and gets a date after that of what stood in between."""
    trees.first_version(site)
    rebuild(site)
    first, inodes = site.manifest.resources, trees.state(site.folder / "dist")
    trees.second_version(site)
    rebuild(site)
    second = site.manifest.resources
    trees.first_version(site)
    rebuild(site)
    third, back = site.manifest.resources, [url for url in first if url in second and first[url] != second[url]]

    assert "/api/series/first" in back
    for url in back:
        path = site.folder / "dist" / third[url].file
        assert (third[url].file, third[url].etag) == (first[url].file, first[url].etag)
        assert third[url].modified > second[url].modified
        assert Path(f"{path}.headers").read_bytes() == sidecar(third[url])
        assert (path.stat().st_ino, path.stat().st_mtime) == (inodes[third[url].file][0], third[url].modified)


def test_unchanged_bodies_are_not_touched(site: Site) -> None:
    """A build that changes one series leaves the files of the other alone."""
    trees.first_version(site)
    rebuild(site)
    before = trees.state(site.folder / "dist/www")
    trees.second_version(site)
    rebuild(site)
    after = trees.state(site.folder / "dist/www")
    second = {path for path in before if path.startswith("api/series/second.")}

    assert len(second) == 2
    assert {path: after[path] for path in second} == {path: before[path] for path in second}


def test_rolling_back_serves_the_release_before_and_rolling_back_again_returns(site: Site) -> None:
    """`rollback` goes back and forth between two releases, and both stay whole."""
    trees.first_version(site)
    first = rebuild(site)
    was = of_release(site)
    trees.second_version(site)
    second = rebuild(site)

    assert roll_back(site) == site.store.current() == first
    assert site.store.previous() == second
    assert {path: text for path, text in of_release(site).items() if not path.endswith("/previous")} == was
    assert roll_back(site) == site.store.current() == second
    assert list(verify.files(site.store)) == []


def roll_back(site: Site) -> str:
    with site.store.locked(pytest.fail) as session:
        return session.roll_back()


def test_after_a_rollback_the_same_catalog_gives_the_same_release_again(site: Site) -> None:
    """Building what was rolled back from is no new release."""
    trees.first_version(site)
    rebuild(site)
    trees.second_version(site)
    second = rebuild(site)
    roll_back(site)

    assert rebuild(site) == second
    assert list(verify.files(site.store)) == []


def test_without_an_earlier_release_there_is_no_way_back(site: Site) -> None:
    """`rollback` after a first build is refused, and changes nothing."""
    rebuild(site)
    before = trees.state(site.folder)

    with pytest.raises(FlatpanelError, match="there is no release before this one"):
        roll_back(site)
    assert trees.state(site.folder) == before


def test_a_release_that_lost_a_body_is_not_served_again(site: Site) -> None:
    """`rollback` to a release that is not whole is refused with the name of what is missing."""
    trees.first_version(site)
    rebuild(site)
    lost = site.manifest.resources["/api/series/first"].file
    trees.second_version(site)
    second = rebuild(site)
    (site.folder / "dist" / lost).unlink()

    with pytest.raises(FlatpanelError, match=f"{lost}: is missing, so release"):
        roll_back(site)
    assert site.store.current() == second


def a_file(out: Path) -> None:
    out.write_text("mine")


def a_full_folder(out: Path) -> None:
    out.mkdir()
    (out / "thesis.txt").write_text("mine")


def a_link_to_a_full_folder(out: Path) -> None:
    a_full_folder(out.with_name("elsewhere"))
    out.symlink_to("elsewhere")


def a_link_to_nothing(out: Path) -> None:
    out.symlink_to("nowhere")


@pytest.mark.parametrize("foreign", [a_file, a_full_folder, a_link_to_a_full_folder, a_link_to_nothing])
def test_what_is_not_ours_is_refused_and_left_alone(site: Site, foreign: Callable[[Path], None]) -> None:
    """A build never writes into a place that holds somebody else's work."""
    foreign(site.folder / "dist")
    before = trees.state(site.folder)

    with pytest.raises(FlatpanelError, match=r"/dist: .*choose another with --out"):
        rebuild(site)
    assert trees.state(site.folder) == before


def test_an_empty_folder_is_as_good_as_none(site: Site) -> None:
    """Somebody who made the folder in advance is not turned away."""
    (site.folder / "dist").mkdir()
    release = rebuild(site)

    assert site.store.current() == release


def test_a_copy_without_hidden_files_is_still_ours(site: Site) -> None:
    """A tool that leaves out names with a dot does not make dist a foreign folder."""
    release = rebuild(site)
    (site.folder / "dist" / MARK).unlink()

    assert rebuild(site) == release


def test_a_body_that_was_deleted_is_written_again(site: Site) -> None:
    """A build of an unchanged catalog brings back what somebody deleted."""
    rebuild(site)
    before = trees.content(site.folder)
    one = site.manifest.resources["/api/series/first"]
    (site.folder / "dist" / one.file).unlink()
    rebuild(site)

    assert trees.content(site.folder) == before


def test_where_the_current_release_got_lost_everything_is_built_again(site: Site) -> None:
    """Without `current` nobody knows what is named; a build leaves only what it names itself."""
    trees.first_version(site)
    rebuild(site)
    (site.folder / "dist/current").unlink()
    trees.third_version(site)
    rebuild(site)

    assert {path for path in trees.files(site.folder / "dist") if path.startswith("www/")} == named(site)
    assert list(verify.files(site.store)) == []


def test_what_others_leave_among_the_releases_stays(site: Site) -> None:
    """A file that a desktop drops into the folder, or a link that somebody made, is not ours to delete."""
    rebuild(site)
    releases = site.folder / "dist/releases"
    (releases / ".DS_Store").write_text("")
    (releases / "stable").symlink_to(str(site.store.current()))
    trees.second_version(site)
    rebuild(site)

    assert (releases / ".DS_Store").exists()
    assert (releases / "stable").is_symlink()


def test_folders_that_are_gone_already_need_no_pruning(site: Site) -> None:
    """Somebody's own tidying up does not stop a build."""
    trees.first_version(site)
    rebuild(site)
    trees.third_version(site)
    rebuild(site)
    shutil.rmtree(site.folder / "dist/www/api/series/first/3")
    trees.write_series(site, "Fourth", volumes=1, others=[])
    rebuild(site)

    assert list(verify.files(site.store)) == []


def test_half_of_an_old_release_is_not_taken_for_a_whole_one(site: Site) -> None:
    """A folder with the name of the next release that nothing names is a leftover, and is written anew."""
    trees.first_version(site)
    rebuild(site)
    twin = Site(site.folder / "twin")
    shutil.copytree(site.folder / "catalog_src", twin.folder / "catalog_src")
    shutil.copytree(site.folder / "dist", twin.folder / "dist", symlinks=True)
    trees.second_version(site)
    trees.second_version(twin)
    leftover = twin.folder / "dist/releases" / rebuild(site)
    leftover.mkdir()
    (leftover / "manifest.json").write_text("half of it")
    rebuild(twin)

    assert trees.content(twin.folder / "dist") == trees.content(site.folder / "dist")


def test_a_body_that_is_served_keeps_its_date_until_the_next_release_is(site: Site, tmp_path: Path) -> None:
    """A build that continues other validators dates what it shares with the current release, and going back as well."""
    trees.first_version(site)
    first = rebuild(site)
    mine = site.manifest.resources
    other = tmp_path / "other.json"
    other.write_bytes(later((site.folder / "dist/current/manifest.json").read_bytes()))
    build(replace(site.options, previous=other))

    assert dates(site.manifest) == {url: one.modified + 1 for url, one in mine.items()}
    assert list(verify.files(site.store)) == []
    assert roll_back(site) == first
    assert list(verify.files(site.store)) == []


def later(manifest: bytes) -> bytes:
    """The same manifest with every date a second later."""
    value = encode.parse(manifest)
    for one in value["resources"].values():
        one["modified"] += 1
    return encode.json(value)


def dates(manifest: Manifest) -> dict[str, int]:
    return {url: one.modified for url, one in manifest.resources.items()}


def test_another_idea_of_what_is_worth_compressing_reaches_bodies_that_are_there(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A newer version of the build adds compressed forms, and removes them when no release names them any more."""
    trees.first_version(site)
    monkeypatch.setattr(encode, "GZIP_FROM", 10**9)
    none = rebuild(site)
    monkeypatch.undo()
    some = rebuild(site)
    packed = {path for path in named(site) if path.endswith(".gz")}

    assert none != some
    assert packed == {path for path in trees.files(site.folder / "dist") if path.endswith(".gz")} != set()
    monkeypatch.setattr(encode, "GZIP_FROM", 10**9)
    rebuild(site)
    assert list(verify.files(site.store)) == []
    trees.second_version(site)
    rebuild(site)
    assert list(verify.files(site.store)) == []
    assert [path for path in trees.files(site.folder / "dist") if path.endswith(".gz")] == []


def test_a_second_build_waits_for_the_first(site: Site) -> None:
    """Of two builds at once the second is told so, and goes on when the first is done."""
    told = []
    with ExitStack() as first:
        first.enter_context(site.store.locked(pytest.fail))

        def waiting() -> None:
            told.append(site.store.current())
            first.close()

        report = build(site.options, waiting)

    assert told == [None]
    assert site.store.current() == report.release
