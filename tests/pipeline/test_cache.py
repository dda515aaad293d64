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
from pathlib import Path

import pytest
from click.testing import Result

from generator.catalog import git
from generator.errors import FlatpanelError
from generator.pipeline import program_version
from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from generator.pipeline.cache import FILE, Cache, Damaged, ListedChapter
from generator.pipeline.open_cache import with_cache
from generator.pipeline.program_version import ProgramVersion
from generator.release import transaction
from generator.release.bodies import BUILD_STATE_FILE
from generator.release.manifest_reader import ManifestReader
from generator.review import verify_files
from tests.conftest import Site, copy_of
from tests.support import tree_snapshot

ITEMS = [
    ListedChapter(place, 1, b'{"id":%d}' % number) for number, place in enumerate((b"aaaa-1", b"aaaa-2", b"bbbb-1"), 1)
]


def version(digest: str, status: str = "") -> ProgramVersion:
    """A version of the program; the status of its files may differ while its contents are the same."""
    return ProgramVersion(status or digest, lambda: digest)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    with closing(Cache(tmp_path, version("1"))) as opened:
        yield opened


def texts(cache: Cache) -> list[bytes]:
    return [cache.chapters.text(bucket) for bucket in cache.chapters.buckets()]


def test_chapters_are_grouped_by_publication_time(cache: Cache) -> None:
    """Buckets list their chapters by position, independent of the order of storage."""
    cache.chapters.keep("one", [ITEMS[2], ITEMS[0]])
    cache.chapters.keep("two", [ITEMS[1]])

    assert texts(cache) == [b'{"id":1},{"id":2}', b'{"id":3}']
    assert [(bucket.size, bucket.modified) for bucket in cache.chapters.buckets()] == [(17, 1), (8, 1)]


def test_an_empty_bucket_is_removed(cache: Cache) -> None:
    """A removed series leaves nothing in the list of all chapters."""
    cache.chapters.keep("one", ITEMS[:2])
    cache.chapters.keep("two", ITEMS[2:])
    cache.chapters.buckets()
    cache.chapters.keep("two", ())

    assert texts(cache) == [b'{"id":1},{"id":2}']


def test_a_bucket_is_compressed_once(cache: Cache) -> None:
    """Its compressed form is removed together with the bucket."""
    cache.chapters.keep("one", ITEMS)
    calls = []
    for _ in range(2):
        for bucket in cache.chapters.buckets():
            cache.chapters.compressed(bucket.digest, "form", lambda: calls.append(1) or b"packed")
    assert len(calls) == 2
    cache.chapters.keep("one", ())
    cache.chapters.buckets()
    cache.chapters.forget_unused()
    cache.chapters.compressed("another", "form", lambda: calls.append(1) or b"packed")

    assert len(calls) == 3


def test_a_cache_of_another_version_is_refused(tmp_path: Path) -> None:
    """Another version may make other results from the same inputs."""
    with closing(Cache(tmp_path, version("1"))) as first:
        first.commit()
    with pytest.raises(Damaged):
        Cache(tmp_path, version("2"))


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


def open_other_file(site: Site) -> None:
    (site.folder / FILE).write_bytes(b"no database" * 100)
    with pytest.raises(Damaged):
        Cache(site.folder, version("1"))


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


@pytest.mark.parametrize(
    "make", [open_other_version, open_other_file, open_damaged_manifest, open_damaged_older_manifest]
)
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
        first.remember("release", "old")
        first.commit()
        first.remember("release", "new")
    with closing(Cache(tmp_path, version("1"))) as second:
        assert second.recall("release") == "old"


@pytest.mark.parametrize(
    ("change", "look"),
    [
        ("UPDATE meta SET value = x'0000000031' WHERE name = 'release'", lambda cache: cache.recall("release")),
        ("UPDATE parsed SET digest = 'other'", lambda cache: cache.files.parsed("other")),
        ("UPDATE series SET slug = 'other'", lambda cache: cache.series.facts()),
        ("UPDATE series SET check_key = 'other'", lambda cache: cache.series.facts()),
        ("UPDATE series SET render_key = 'other'", lambda cache: cache.series.summaries()),
        ("UPDATE series SET summary = NULL", lambda cache: cache.series.summaries()),
        ("UPDATE chapter SET slug = 'other'", lambda cache: cache.chapters.buckets()),
        ("UPDATE chapter SET item = x'00000000'", lambda cache: cache.chapters.buckets()),
        ("DROP TABLE chapter", lambda cache: cache.chapters.buckets()),
        ("UPDATE lines SET slug = 'other'", lambda cache: list(cache.segments.lines("manifest.json"))),
        ("DROP TABLE lines", lambda cache: list(cache.segments.lines("manifest.json"))),
    ],
)
def test_modified_rows_are_damage(cache: Cache, tmp_path: Path, change: str, look: Callable[[Cache], object]) -> None:
    """The checksum of a value covers its key."""
    cache.remember("release", "old")
    cache.files.keep_parsed("digest", b"value")
    cache.series.keep_facts("one", "checked", b"facts")
    cache.series.keep_summary("one", "rendered", b"summary")
    cache.chapters.keep("one", ITEMS)
    cache.segments.keep("one", [], {"manifest.json": b"lines"})
    cache.commit()
    cache.close()
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute(change)
    with closing(Cache(tmp_path, version("1"))) as reopened, pytest.raises(Damaged):
        look(reopened)


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
    assert result.stderr == f"warning: {place}: cannot be used as cache; building without one\n"


def test_the_version_covers_every_program_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An edited template changes status and digest, and so does a new one."""
    (tmp_path / "one.py").write_text("1")
    monkeypatch.setattr(program_version, "_PACKAGE", tmp_path)
    versions = [program_version.current()]
    digests = {versions[0].digest()}
    # The same size; the time of change cannot be set.
    (tmp_path / "one.py").write_text("2")
    os.utime(tmp_path / "one.py", (0, 0))
    for file in ("", "two.conf", "templates/three.html"):
        if file:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text("")
        versions.append(program_version.current())
        digests.add(versions[-1].digest())

    assert len(digests) == len({version.status for version in versions}) == 4


def test_a_replaced_program_keeps_its_version_while_it_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`serve --watch` goes on with the old code, so its results are not those of the new version."""

    def remember(cache: Cache) -> None:
        cache.remember("release", "old")
        cache.commit()

    with_cache(tmp_path, lambda: None, remember)
    monkeypatch.setattr(program_version, "current", lambda: ProgramVersion("new", lambda: "new"))

    assert with_cache(tmp_path, lambda: None, lambda cache: cache.recall("release")) == "old"


def test_compiled_files_and_times_are_no_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The status changes with the times of a file, the digest only with its content."""
    (tmp_path / "one.py").write_text("1")
    monkeypatch.setattr(program_version, "_PACKAGE", tmp_path)
    before, digest = program_version.current(), program_version.current().digest()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/one.py").write_text("")
    (tmp_path / "README.md").write_text("")
    assert program_version.current().status == before.status
    os.utime(tmp_path / "one.py", (0, 0))

    after = program_version.current()
    assert after.status != before.status
    assert after.digest() == digest


def remembering(site: Site) -> Options:
    return replace(site.options, cache=site.folder / "cache")


def change_a_digit(path: Path) -> None:
    """Change a digit in the line of a series."""
    text = path.read_bytes()
    path.write_bytes(re.sub(rb"(?m)^(\"?/.*second\b.*:)\d", rb"\g<1>9", text))
    assert path.read_bytes() != text


def test_a_damaged_map_is_not_copied(site: Site, tmp_path: Path) -> None:
    """A changed digit in a map does not reach the next release."""
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
    assert [edited for fault in verify_files.check_files(site.store) if not str(fault.path).startswith(str(path))] == []


def test_a_damaged_line_of_an_unchanged_series_is_not_continued(site: Site, tmp_path: Path) -> None:
    """The lines of the next release come from the cache; the damaged manifest of the current one does not spread."""
    undamaged = Site(tmp_path / "whole")
    shutil.copytree(site.folder / "catalog_src", undamaged.folder / "catalog_src")
    for edited in (site, undamaged):
        tree_snapshot.first_version(edited)
        pipeline.build(remembering(edited))
    change_a_digit((site.folder / "dist/current/manifest.json").resolve())
    for edited in (site, undamaged):
        tree_snapshot.second_version(edited)
        pipeline.build(remembering(edited))

    assert site.store.current() == undamaged.store.current()
    assert site.manifest == undamaged.manifest


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_damaged_manifest_is_a_message(site: Site, run: Callable[..., Result], jobs: int) -> None:
    """The manifest is valid JSON with a wrong field."""
    tree_snapshot.first_version(site)
    site.build()
    path = (site.folder / "dist/current/manifest.json").resolve()
    path.write_bytes(path.read_bytes().replace(b'"sha256":', b'"sha257":'))
    tree_snapshot.second_version(site)
    result = run("build", *tree_snapshot.options(site)[:-1], jobs)

    assert (result.exit_code, result.stderr) == (
        1,
        f"{path}: does not match the id of the release, so no build can continue the release; restore the file, or "
        f"remove {site.folder}/dist/current to build a first release with new dates\n",
    )


def test_the_history_of_a_commit_is_read_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later builds of the same commit take the dates from the cache."""
    for command in (["init"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-m", "all"]):
        subprocess.run(["git", "-C", site.folder / "catalog_src", *command], check=True, capture_output=True)
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
    for command in (["init"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-m", "all"]):
        subprocess.run(["git", "-C", site.folder / "catalog_src", *command], check=True, capture_output=True)
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
