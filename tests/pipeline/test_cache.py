"""What a build remembers: believed as long as it is whole, and never more than that."""

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
from generator.pipeline import cache, up_to_date
from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from generator.pipeline.cache import FILE, Cache
from generator.pipeline.cache_tables import Damaged, ListedChapter
from generator.release import transaction
from generator.release.bodies import MARK
from generator.release.manifest_reader import ManifestReader
from generator.review import verify_files
from tests.conftest import Site, copy_of
from tests.support import tree_snapshot

ITEMS = [
    ListedChapter(place, 1, b'{"id":%d}' % number) for number, place in enumerate((b"aaaa-1", b"aaaa-2", b"bbbb-1"), 1)
]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Cache]:
    with closing(Cache(tmp_path, "1")) as found:
        yield found


def texts(kept: Cache) -> list[bytes]:
    return [kept.chapters.text(bucket) for bucket in kept.chapters.buckets()]


def test_chapters_stand_together_that_were_published_together(kept: Cache) -> None:
    """In the order of their places, whoever put them there."""
    kept.chapters.keep("one", [ITEMS[2], ITEMS[0]])
    kept.chapters.keep("two", [ITEMS[1]])

    assert texts(kept) == [b'{"id":1},{"id":2}', b'{"id":3}']
    assert [(bucket.size, bucket.modified) for bucket in kept.chapters.buckets()] == [(17, 1), (8, 1)]


def test_a_shelf_that_nobody_stands_on_is_gone(kept: Cache) -> None:
    """A series that is forgotten leaves nothing in the list of all chapters."""
    kept.chapters.keep("one", ITEMS[:2])
    kept.chapters.keep("two", ITEMS[2:])
    kept.chapters.buckets()
    kept.chapters.keep("two", ())

    assert texts(kept) == [b'{"id":1},{"id":2}']


def test_a_compressed_form_is_made_once(kept: Cache) -> None:
    """And forgotten with the shelf that it belongs to."""
    kept.chapters.keep("one", ITEMS)
    made = []
    for _ in range(2):
        for bucket in kept.chapters.buckets():
            kept.chapters.compressed(bucket.digest, "form", lambda: made.append(1) or b"packed")
    assert len(made) == 2
    kept.chapters.keep("one", ())
    kept.chapters.buckets()
    kept.chapters.forget_unused()
    kept.chapters.compressed("another", "form", lambda: made.append(1) or b"packed")

    assert len(made) == 3


def test_another_version_of_the_program_remembers_nothing(tmp_path: Path) -> None:
    """What it would write may differ in every byte."""
    with closing(Cache(tmp_path, "1")) as one:
        one.commit()
    with pytest.raises(Damaged):
        Cache(tmp_path, "2")


def open_files() -> list[str]:
    """What this process has open, by name."""
    names = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the folder itself, which is closed again by now
            names.append(os.readlink(descriptor))
    return sorted(names)


def of_another_version(site: Site) -> None:
    with closing(Cache(site.folder, "1")) as made:
        made.commit()
    with pytest.raises(Damaged):
        Cache(site.folder, "2")


def of_no_database(site: Site) -> None:
    (site.folder / FILE).write_bytes(b"no database" * 100)
    with pytest.raises(Damaged):
        Cache(site.folder, "1")


def of_a_damaged_manifest(site: Site) -> None:
    site.build()
    path = (site.folder / "dist/current/manifest.json").resolve()
    path.write_bytes(b"{}")
    with pytest.raises(FlatpanelError):
        ManifestReader(path)


def of_a_damaged_older_manifest(site: Site) -> None:
    for version in (tree_snapshot.first_version, tree_snapshot.second_version):
        version(site)
        site.build()
    (site.folder / "dist/current/previous/manifest.json").resolve().write_bytes(b"{}")
    with pytest.raises(FlatpanelError), transaction.begin(site.store, lambda: None):
        pytest.fail("a damaged release was opened")


@pytest.mark.parametrize(
    "make", [of_another_version, of_no_database, of_a_damaged_manifest, of_a_damaged_older_manifest]
)
def test_a_failed_open_leaves_no_file_open(site: Site, make: Callable[[Site], None]) -> None:
    """An object that raises while it is made closes the files that it has opened."""
    gc.disable()  # otherwise a lost connection might be closed just in time
    try:
        before = open_files()
        make(site)
        assert open_files() == before
    finally:
        gc.enable()


def test_nothing_is_remembered_of_what_did_not_come_to_its_end(tmp_path: Path) -> None:
    """A build that dies leaves what the one before it left."""
    with closing(Cache(tmp_path, "1")) as one:
        one.remember("release", "old")
        one.commit()
        one.remember("release", "new")
    with closing(Cache(tmp_path, "1")) as two:
        assert two.recall("release") == "old"


@pytest.mark.parametrize(
    ("change", "look"),
    [
        ("UPDATE meta SET value = x'0000000031' WHERE name = 'release'", lambda kept: kept.recall("release")),
        ("UPDATE parsed SET digest = 'other'", lambda kept: kept.files.parsed("other")),
        ("UPDATE series SET slug = 'other'", lambda kept: kept.series.load()),
        ("UPDATE series SET check_key = 'other'", lambda kept: kept.series.load()),
        ("UPDATE chapter SET slug = 'other'", lambda kept: kept.chapters.buckets()),
        ("UPDATE chapter SET item = x'00000000'", lambda kept: kept.chapters.buckets()),
        ("DROP TABLE chapter", lambda kept: kept.chapters.buckets()),
    ],
)
def test_what_was_changed_by_others_is_not_believed(
    kept: Cache, tmp_path: Path, change: str, look: Callable[[Cache], object]
) -> None:
    """A value is known by its name and its checksum."""
    kept.remember("release", "old")
    kept.files.keep_parsed("digest", b"value")
    kept.series.keep_facts("one", "checked", b"facts")
    kept.chapters.keep("one", ITEMS)
    kept.commit()
    kept.close()
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute(change)
    with closing(Cache(tmp_path, "1")) as found, pytest.raises(Damaged):
        look(found)


def test_a_cache_that_is_damaged_again_and_again_is_done_without(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is wrong with the place, the site is built."""
    folder = site.folder / "cache"
    made = Cache.__init__

    def damaged(self: Cache, place: Path, version: str, *, lasting: bool = True) -> None:
        made(self, place, version, lasting=lasting)
        if place == folder:
            self.close()
            raise Damaged

    monkeypatch.setattr(cache.Cache, "__init__", damaged)
    report = pipeline.build(replace(site.options, cache=folder))

    assert report.release == site.store.current()


def test_a_place_where_nothing_can_be_kept_is_a_warning(site: Site, run: Callable[..., Result]) -> None:
    """Every build is the first then, and says why."""
    place = site.folder / "catalog_src/site.yaml"
    result = run("build", *tree_snapshot.options(site), "--cache", place)

    assert result.exit_code == 0
    assert result.stderr == f"warning: {place}: cannot be used as cache; building without one\n"


def test_the_version_is_that_of_every_file_of_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A template that is edited counts, and so does one that is new."""
    (tmp_path / "one.py").write_text("1")
    monkeypatch.setattr(up_to_date, "_PACKAGE", tmp_path)
    versions = {up_to_date.version()}
    (tmp_path / "one.py").write_text("2")
    versions.add(up_to_date.version())
    (tmp_path / "two.conf").write_text("")
    versions.add(up_to_date.version())

    assert len(versions) == 3


def remembering(site: Site) -> Options:
    return replace(site.options, cache=site.folder / "cache")


def change_a_digit(path: Path) -> None:
    """In the line of a series."""
    text = path.read_bytes()
    path.write_bytes(re.sub(rb"(?m)^(\"?/.*second\b.*:)\d", rb"\g<1>9", text))
    assert path.read_bytes() != text


def test_a_release_that_was_damaged_is_not_copied_from(site: Site, tmp_path: Path) -> None:
    """A digit that was changed in a line of a map does not get into the next release."""
    whole = copy_of("minimal", tmp_path / "whole")
    for one in (site, whole):
        tree_snapshot.first_version(one)
        pipeline.build(remembering(one))
    path = (site.folder / "dist/current/series.map").resolve()
    change_a_digit(path)
    for one in (site, whole):
        tree_snapshot.second_version(one)
        pipeline.build(remembering(one))

    assert site.store.current() == whole.store.current()
    assert [one for one in verify_files.check_files(site.store) if not str(one.path).startswith(str(path))] == []


def test_a_damaged_line_of_an_unchanged_series_is_not_continued(site: Site, tmp_path: Path) -> None:
    """The lines of the next release come from the cache; the damaged manifest of the current one does not spread."""
    whole = Site(tmp_path / "whole")
    shutil.copytree(site.folder / "catalog_src", whole.folder / "catalog_src")
    for one in (site, whole):
        tree_snapshot.first_version(one)
        pipeline.build(remembering(one))
    change_a_digit((site.folder / "dist/current/manifest.json").resolve())
    for one in (site, whole):
        tree_snapshot.second_version(one)
        pipeline.build(remembering(one))

    assert site.store.current() == whole.store.current()
    assert site.manifest == whole.manifest


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_manifest_that_was_damaged_is_refused_in_a_sentence(
    site: Site, run: Callable[..., Result], jobs: int
) -> None:
    """It is JSON still, and says what no build has said of a series."""
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


def test_git_is_asked_for_the_past_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the same commit is checked out."""
    for command in (["init"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-m", "all"]):
        subprocess.run(["git", "-C", site.folder / "catalog_src", *command], check=True, capture_output=True)
    asked = []
    committed = git.Repository.commit_times
    monkeypatch.setattr(git.Repository, "commit_times", lambda repository: asked.append(1) or committed(repository))
    for title in ("One", "Two"):
        tree_snapshot.write_series(site, title, volumes=1, others=[])
        pipeline.build(remembering(site))

    assert len(asked) == 1


def test_names_of_files_need_not_be_text(site: Site) -> None:
    """Neither those of chapters, nor those that only git knows."""
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
def test_a_tree_that_somebody_removed_is_built_again(site: Site, lost: str) -> None:
    """Single files are for `verify`; whole folders are missed at once."""
    tree_snapshot.first_version(site)
    pipeline.build(remembering(site))
    for path in (site.folder / "dist").glob(lost):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    pipeline.build(remembering(site))

    assert list(verify_files.check_files(site.store)) == []


def test_what_a_build_left_that_died_is_cleared_up_though_its_edit_was_taken_back(site: Site) -> None:
    """The catalog is as it was, and so is the release that is served; `dist` is not."""
    pipeline.build(remembering(site))
    (site.folder / "dist" / MARK).write_text("unfinished\n")
    left = site.folder / "dist/www/left.json"
    left.write_text("half of")
    pipeline.build(remembering(site))

    assert not left.exists()
    assert list(verify_files.check_files(site.store)) == []
    assert site.store.finished()


def test_a_memory_of_a_release_that_is_gone_is_not_asked_for_its_bodies(site: Site) -> None:
    """Builds without it came in between, and collected what it knows; the catalog is then what it was."""
    tree_snapshot.first_version(site)
    first = pipeline.build(remembering(site)).release
    for title in ("Second", "Third"):
        tree_snapshot.write_series(site, title, volumes=1, others=[])
        site.build()
    assert not (site.folder / "dist/releases" / first).exists()
    tree_snapshot.first_version(site)
    pipeline.build(remembering(site))

    assert list(verify_files.check_files(site.store)) == []
