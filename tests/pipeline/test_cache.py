"""The build cache: damaged content is detected and rebuilt, and never reaches a release."""

import gc
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result

from generator.catalog import git
from generator.errors import FlatpanelError
from generator.pipeline import program_version
from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from generator.pipeline.cache import FILE, RELEASE, Cache, Damaged, Step
from generator.pipeline.open_cache import with_cache
from generator.pipeline.program_version import ProgramVersion
from generator.release import transaction
from generator.release.bodies import BUILD_STATE_FILE
from generator.release.manifest_reader import ManifestReader
from generator.review import verify_files
from tests.conftest import Site, copy_of
from tests.support import tree_snapshot

STEP = Step("a step", "an item")


def version(digest: str, status: str = "") -> ProgramVersion:
    """A version of the program; the status of its files may differ while its contents are the same."""
    return ProgramVersion(status or digest, lambda: digest)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    with closing(Cache(tmp_path, version("1"))) as opened:
        yield opened


def test_a_result_is_made_once_for_a_key(cache: Cache) -> None:
    """Another key replaces it, another item is another result."""
    calls: list[str] = []

    def make(value: str) -> bytes:
        calls.append(value)
        return value.encode()

    for item, key, value in (("b", "1", "one"), ("b", "1", "again"), ("b", "2", "two"), ("a", "2", "three")):
        cache.memo(STEP, item, key, partial(make, value))

    assert calls == ["one", "two", "three"]
    assert list(cache.rows(STEP)) == [("a", "2", b"three"), ("b", "2", b"two")]
    assert (cache.items(STEP), cache.items(Step("another"))) == ({"a", "b"}, set())


def test_forgotten_results_are_removed(cache: Cache) -> None:
    """Those of some items, or those of a whole step."""
    for item in ("a", "b", "c"):
        cache.put(STEP, item, "", b"")
        cache.put(Step("another"), item, "", b"")
    cache.forget(STEP, ["a", "b", "unknown"])
    cache.forget(Step("another"))

    assert cache.items(STEP) == {"c"}
    assert cache.items(Step("another")) == set()
    assert cache.get(STEP, "a") is None


def test_a_cache_of_the_same_version_is_used_in_another_checkout(tmp_path: Path) -> None:
    """The files of the program have another status and the same contents. The next build reads none of them."""
    with closing(Cache(tmp_path, version("1", "checkout"))) as first:
        first.commit()
    with closing(Cache(tmp_path, version("1", "clone"))) as second:
        second.commit()

    Cache(tmp_path, ProgramVersion("clone", lambda: pytest.fail("read"))).close()
    with pytest.raises(Damaged):
        Cache(tmp_path, version("2", "checkout"))


def open_files() -> list[str]:
    """The names of the files that this process has open."""
    names = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the descriptor of the folder itself, which is closed again
            names.append(os.readlink(descriptor))
    return sorted(names)


def open_other_version(site: Site) -> None:
    with closing(Cache(site.folder, version("1"))) as first:
        first.commit()
    with pytest.raises(Damaged):
        Cache(site.folder, version("2"))


def open_damaged_manifest(site: Site) -> None:
    site.build()
    path = (site.folder / "dist/current/manifest.json").resolve()
    path.write_bytes(b"{}")
    with pytest.raises(FlatpanelError):
        ManifestReader(path)


def open_damaged_older_manifest(site: Site) -> None:
    for version in (tree_snapshot.first_version, tree_snapshot.second_version):
        version(site)
        site.build()
    (site.folder / "dist/current/previous/manifest.json").resolve().write_bytes(b"{}")
    with pytest.raises(FlatpanelError), transaction.begin(site.store, lambda: None):
        pytest.fail("a damaged release was opened")


@pytest.mark.parametrize("make", [open_other_version, open_damaged_manifest, open_damaged_older_manifest])
def test_a_failed_open_leaves_no_file_open(site: Site, make: Callable[[Site], None]) -> None:
    """A constructor that raises closes the files that it has opened."""
    gc.disable()  # the collector could close a lost connection in time
    try:
        before = open_files()
        make(site)
        assert open_files() == before
    finally:
        gc.enable()


def test_changes_without_commit_are_discarded(tmp_path: Path) -> None:
    """A build that is killed leaves the cache as it was."""
    with closing(Cache(tmp_path, version("1"))) as first:
        first.remember(RELEASE, "old")
        first.commit()
        first.remember(RELEASE, "new")
    with closing(Cache(tmp_path, version("1"))) as second:
        assert second.recall(RELEASE) == "old"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE memo SET step = 'another'",
        "UPDATE memo SET item = x'61'",
        "UPDATE memo SET key = 'other'",
        "UPDATE memo SET key = NULL",
        "UPDATE memo SET value = x'0000000031'",
        "UPDATE memo SET value = NULL",
        "ALTER TABLE memo RENAME TO another",
    ],
)
@pytest.mark.parametrize("look", [lambda cache, step: list(cache.rows(step)), lambda cache, step: cache.get(step, "a")])
def test_modified_rows_are_damage(tmp_path: Path, change: str, look: Callable[[Cache, Step], object]) -> None:
    """The checksum of a value covers its step, its item and its key."""
    with closing(Cache(tmp_path, None)) as cache:
        cache.put(STEP, "b" if "SET item" in change else "a", "key", b"value")
        cache.commit()
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute(change)
    step = Step("another") if "SET step" in change else STEP
    with closing(Cache(tmp_path, None)) as reopened, pytest.raises(Damaged):
        look(reopened, step)


def test_a_cache_that_stays_damaged_is_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The build uses a temporary cache after two attempts."""
    folder = site.folder / "cache"
    original = Cache.__init__

    def damaged(self: Cache, place: Path, version: ProgramVersion | None) -> None:
        original(self, place, version)
        if place == folder:
            self.close()
            raise Damaged

    monkeypatch.setattr(Cache, "__init__", damaged)
    report = pipeline.build(replace(site.options, cache=folder))

    assert report.release == site.store.current()


def test_an_unusable_cache_folder_is_a_warning(site: Site, run: Callable[..., Result]) -> None:
    """The build continues without a cache."""
    place = site.folder / "catalog_src/site.yaml"
    result = run("build", *tree_snapshot.options(site), "--cache", place)

    assert result.exit_code == 0
    assert result.stderr == f"warning: {place}: cannot be used as cache: File exists; building without one\n"


def test_the_version_covers_every_program_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A new or edited file changes status and digest, another time the status only. Compiled files are none of them."""
    monkeypatch.setattr(program_version, "_PACKAGE", tmp_path)
    seen: list[tuple[str, str]] = []

    def write(file: str, text: str = "") -> None:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
        # The time of change cannot be set.
        os.utime(tmp_path / file, (0, 0))
        seen.append((program_version.current().status, program_version.current().digest()))

    write("one.py", "1")
    for file in ("__pycache__/one.py", "README.md"):
        write(file)
        assert seen[-1] == seen[0]
    write("one.py", "1")
    assert seen[-1][0] != seen[0][0] and seen[-1][1] == seen[0][1]
    for file, text in (("one.py", "2"), ("two.conf", ""), ("templates/three.html", "")):
        write(file, text)
    assert [len(set(values)) for values in zip(*seen[-4:], strict=True)] == [4, 4]


def test_a_replaced_program_keeps_its_version_while_it_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`serve --watch` goes on with the old code, so its results are not those of the new version."""

    def remember(cache: Cache) -> None:
        cache.remember(RELEASE, "old")
        cache.commit()

    with_cache(tmp_path, lambda: None, remember)
    monkeypatch.setattr(program_version, "current", lambda: ProgramVersion("new", lambda: "new"))

    assert with_cache(tmp_path, lambda: None, lambda cache: cache.recall(RELEASE)) == "old"


def remembering(site: Site) -> Options:
    return replace(site.options, cache=site.folder / "cache")


def change_a_digit(path: Path) -> None:
    """Change a digit in a line of a series."""
    text = path.read_bytes()
    path.write_bytes(re.sub(rb"(?m)^(\"?/.*second\b.*:)\d", rb"\g<1>9", text))
    assert path.read_bytes() != text


def test_damage_of_a_map_is_not_copied(site: Site, tmp_path: Path) -> None:
    """The lines of an unchanged series in the next release come from the cache."""
    undamaged = copy_of("minimal", tmp_path / "whole")
    for edited in (site, undamaged):
        tree_snapshot.first_version(edited)
        pipeline.build(remembering(edited))
    path = (site.folder / "dist/current/series.map").resolve()
    change_a_digit(path)
    for edited in (site, undamaged):
        tree_snapshot.second_version(edited)
        pipeline.build(remembering(edited))

    assert site.store.current() == undamaged.store.current()
    assert site.manifest == undamaged.manifest
    assert [fault for fault in verify_files.check_files(site.store) if fault.path != path] == []


def test_a_lost_value_of_a_file_discards_the_cache(site: Site) -> None:
    """A series that is rendered again needs the values of its files, which did not change."""
    tree_snapshot.first_version(site)
    pipeline.build(remembering(site))
    with closing(sqlite3.connect(site.folder / "cache" / FILE)) as database, database:
        assert database.execute("DELETE FROM memo WHERE step = 'parsed'").rowcount
    settings = site.folder / "catalog_src/site.yaml"
    settings.write_text(f"{settings.read_text()}title: Another title\n")

    assert pipeline.build(remembering(site)).parsed
    assert list(verify_files.check_files(site.store)) == []


@pytest.mark.parametrize("is_edited", [False, True])
def test_a_damaged_manifest_is_found_before_it_is_continued(site: Site, is_edited: bool) -> None:
    """Also where only the size of a body is wrong, which a build with a cache would copy to the next release."""
    tree_snapshot.first_version(site)
    pipeline.build(remembering(site))
    path = (site.folder / "dist/current/manifest.json").resolve()
    path.write_bytes(path.read_bytes().replace(b'"size":', b'"size":1', 1))
    if is_edited:
        tree_snapshot.second_version(site)

    with pytest.raises(FlatpanelError) as error:
        pipeline.build(remembering(site))
    assert str(error.value) == (
        f"{path}: does not match the id of the release, so no build can continue the release; restore the file, or "
        f"remove {site.folder}/dist/current to build a first release with new dates"
    )


def test_a_copied_manifest_is_no_damage(site: Site) -> None:
    """Such as after `dist` was restored from a backup."""
    tree_snapshot.first_version(site)
    release = pipeline.build(remembering(site)).release
    path = (site.folder / "dist/current/manifest.json").resolve()
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)
    tree_snapshot.second_version(site)

    assert pipeline.build(remembering(site)).release != release
    assert list(verify_files.check_files(site.store)) == []


def commit(site: Site) -> None:
    for command in (["init"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-m", "all"]):
        subprocess.run(["git", "-C", site.folder / "catalog_src", *command], check=True, capture_output=True)


def test_the_history_of_a_commit_is_read_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later builds of the same commit take the dates from the cache."""
    commit(site)
    calls = []
    committed = git.Repository.commit_times
    monkeypatch.setattr(git.Repository, "commit_times", lambda repository: calls.append(1) or committed(repository))
    for title in ("One", "Two"):
        tree_snapshot.write_series(site, title, volumes=1, others=[])
        pipeline.build(remembering(site))

    assert len(calls) == 1


def test_file_names_need_not_be_utf_8(site: Site) -> None:
    """Neither those of chapters, nor those in the history."""
    tree_snapshot.write_series(site, "First", volumes=1, others=[])
    chapter = "number: 99\npublished: 2026-01-01\nmodified: 2026-01-01\npages: []\n"
    site.write("series/long/series.yaml", "title: Long\ncover: c.jpg\nmodified: 2026-01-01\n")
    (site.folder / "catalog_src/series/long/chapters").mkdir()
    name = os.fsencode(site.folder / "catalog_src/series/long/chapters") + b"/\xff.yaml"
    with open(name, "w") as file:
        file.write(chapter)
    commit(site)
    first, again = pipeline.build(remembering(site)), pipeline.build(remembering(site))

    assert "/api/series/long/0/99" in site.manifest.resources
    assert (first.parsed > 0, again.parsed, again.written) == (True, 0, 0)


@pytest.mark.parametrize("lost", ["www", "www/api/series", "www/index.*.json"])
def test_a_removed_folder_is_built_again(site: Site, lost: str) -> None:
    """A build notices missing folders; `verify` finds single missing files."""
    tree_snapshot.first_version(site)
    pipeline.build(remembering(site))
    for path in (site.folder / "dist").glob(lost):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    pipeline.build(remembering(site))

    assert list(verify_files.check_files(site.store)) == []


def test_leftovers_of_a_killed_build_are_removed_without_a_change(site: Site) -> None:
    """The catalog and the current release are unchanged, but `dist` has extra files."""
    pipeline.build(remembering(site))
    (site.folder / "dist" / BUILD_STATE_FILE).write_text("unfinished\n")
    left = site.folder / "dist/www/left.0123456789abcdef0123456789abcdef.json"
    left.write_text("half of")
    pipeline.build(remembering(site))

    assert not left.exists()
    assert list(verify_files.check_files(site.store)) == []
    assert site.store.finished()


def test_a_cache_of_a_removed_release_is_not_used_for_bodies(site: Site) -> None:
    """Builds without the cache have removed the release, then the catalog changes back."""
    tree_snapshot.first_version(site)
    first = pipeline.build(remembering(site)).release
    for title in ("Second", "Third"):
        tree_snapshot.write_series(site, title, volumes=1, others=[])
        site.build()
    assert not (site.folder / "dist/releases" / first).exists()
    tree_snapshot.first_version(site)
    pipeline.build(remembering(site))

    assert list(verify_files.check_files(site.store)) == []
