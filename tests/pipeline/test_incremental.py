"""Incremental builds: after any history, the result is that of a build without a cache."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from generator.api.payloads.resources import key
from generator.hosts.packs import pack_format
from generator.hosts.packs.pack_files import pack_release
from generator.pipeline.run import build
from generator.release.manifest import Manifest, files_with_sidecar
from tests.conftest import AS_OF, WRITTEN, Site, copy_of
from tests.support import tree_snapshot
from tests.support.catalog_edits import EDITS, MISTAKES
from tests.support.catalog_factory import iso
from tests.support.incremental_pair import EVENTS, Event, IncrementalPair, flipped, in_memory, stray, visible
from tests.support.pack_reader import PackedFolder
from tests.support.runs import sample

Run = Callable[..., Result]
# The positions of flipped bits, in thousandths of the file.
EVERYWHERE = sample(range(0, 1000, 29), 3)

events = st.builds(Event, st.sampled_from(sorted(EVENTS)), st.integers(0, 11), st.integers(0, 999))
rounds = st.lists(st.lists(events, min_size=1, max_size=3), min_size=1, max_size=12)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder in memory, so that builds do not wait for a disk."""
    with in_memory() as path:
        yield path


@pytest.fixture
def pair(folder: Path) -> IncrementalPair:
    """A catalog and its first release."""
    pair = IncrementalPair(folder)
    build(pair.options)
    pair.built_files = pair.below_series()
    return pair


@pytest.fixture
def site(folder: Path) -> Site:
    """The small catalog of the other tests."""
    return copy_of("minimal", folder)


@pytest.mark.histories
@given(rounds)
# Under CI, hypothesis makes every run the same.
@settings(max_examples=15, phases=set(Phase) - {Phase.explain}, suppress_health_check=list(HealthCheck))
def test_incremental_build_equals_clean_build(history: list[list[Event]]) -> None:
    """After any history, every byte, date and problem is that of a build that has only the last manifest.

    A folder of packs, small ones, has the bytes of a pack into an empty one, and each pack is read right.
    """
    with in_memory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack_format, "MAX_PACK", 6000)
        patch.setattr(pack_format, "MAX_INLINE", 2500)
        pair = IncrementalPair(folder)
        pair.check()
        for events in history:
            pack_release(pair.store, folder / "edge")
            for event in events:
                event(pair)
            pair.check()
        pack_release(pair.store, folder / "edge")
        pack_release(pair.store, folder / "fresh")
        assert tree_snapshot.content(folder / "edge") == tree_snapshot.content(folder / "fresh")
        packed = PackedFolder(folder / "edge")
        with pair.store.table() as table:
            assert all(packed.find(key(entry.url)) for slug in table.segments for entry in table.entries(slug))


@pytest.mark.parametrize("what", sample(sorted(EDITS | MISTAKES), 12))
def test_each_edit_is_published_or_refused(what: str, pair: IncrementalPair) -> None:
    """After each edit, the next build publishes it or reports the problem."""
    before = pair.catalog.files()
    EVENTS[what](pair, 6, 5)
    assert pair.catalog.files() != before or what in {*MISTAKES, "stop_clock", "touch_file", "write_again"}
    pair.check()


@pytest.mark.parametrize("what", sample(sorted(EVENTS.keys() - EDITS.keys() - MISTAKES.keys()), 4))
def test_each_accident_is_survived(what: str, pair: IncrementalPair) -> None:
    """Alone between two edits, and together with one."""
    for edit, how in ("series: title", 0), ("rename_in_authors.yaml", 5):
        EVENTS[edit](pair, 0, how)
        pair.check()
        EVENTS[what](pair, 0, how)
    pair.check()


def test_allocated_page_ids_do_not_depend_on_the_cache(pair: IncrementalPair) -> None:
    """Two chapters compete for a page id; one is removed and restored, the other file never changes."""
    beta = pair.catalog.series["beta"]
    first, rest = beta.chapters[0], beta.chapters[1:]
    for chapters in rest, [first, *rest], rest:
        beta.chapters = chapters
        pair.check()


def change(pair: IncrementalPair) -> set[str]:
    """Build again: one file is parsed, existing bodies are not touched, and new bodies have new names."""
    before, old = tree_snapshot.state(pair.store.root), pair.manifest
    report = build(pair.options)
    after = tree_snapshot.state(pair.store.root)
    new = {path for path in bodies(after) if path not in before}

    assert report.parsed == 1
    assert [path for path in bodies(before) & bodies(after) if before[path] != after[path]] == []
    assert new == named(pair.manifest) - named(old)
    assert report.written == sum(after[path][2] for path in new)
    return new


def bodies(state: dict[str, tuple[int, ...]]) -> set[str]:
    """The paths of files: those with a suffix, but the folder of a version."""
    paths = (path for path in state if path.startswith(("www/", "private/")) and Path(path).suffix)
    return {path for path in paths if not path.endswith("/v1.2")}


def named(manifest: Manifest) -> set[str]:
    return {path for body in manifest.resources.values() for path in files_with_sidecar(body)}


def test_an_edit_parses_one_file(pair: IncrementalPair) -> None:
    """Of a series with a file for each chapter. Only bodies with other bytes are written."""
    pair.catalog.series["beta"].chapters[1].fields["title"] = "In a file of its own"
    pair.catalog.write()

    assert change(pair) != set()


def test_an_edit_that_keeps_size_and_mtime_is_published(pair: IncrementalPair) -> None:
    """The status of a file also has its ctime and inode."""
    path = pair.catalog.folder / "series/alpha.yaml"
    before = path.stat()
    pair.catalog.still = True
    pair.catalog.series["alpha"].fields["title"] = "Alphb"
    pair.catalog.write()

    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert change(pair) != set()


def test_a_build_without_changes_writes_and_parses_nothing(pair: IncrementalPair) -> None:
    """Every inode and every time stays, except in the folder of the cache."""
    before = everything_but_the_cache(pair)
    report = build(pair.options)

    assert (report.parsed, report.written) == (0, 0)
    assert everything_but_the_cache(pair) == before


def everything_but_the_cache(pair: IncrementalPair) -> dict[str, tuple[int, ...]]:
    states = tree_snapshot.state(pair.folder)
    return {path: state for path, state in states.items() if path.partition("/")[0] not in (".", "cache")}


def test_a_fresh_clone_parses_nothing(pair: IncrementalPair) -> None:
    """If every record has a `modified` field, the times of files do not matter."""
    catalog = pair.catalog
    records = [one for found in catalog.lists.values() for one in found if "sha256" not in one]
    records += [one.fields for one in catalog.series.values()] + [one.fields for _, one in catalog.chapters()]
    for fields in records:
        fields.setdefault("modified", iso(AS_OF - 1000))
    pair.check()
    clone = pair.folder / "clone"
    shutil.copytree(catalog.folder, clone)
    for path in clone.rglob("*"):
        os.utime(path, (WRITTEN - 1, WRITTEN - 1))
    release = pair.store.current()
    report = build(replace(pair.options, catalog=clone))

    assert (report.parsed, report.release) == (0, release)


def test_without_the_cache_everything_is_parsed_again(pair: IncrementalPair) -> None:
    """The cache may be deleted at any time."""
    shutil.rmtree(pair.cache)
    report = build(pair.options)

    assert (report.parsed, report.written) == (len(pair.below_series()), 0)
    assert build(pair.options).parsed == 0


def test_a_cache_with_a_wrong_bit_gives_the_same_release(pair: IncrementalPair) -> None:
    """The bit may be anywhere in the file."""
    file, expected = pair.cache / "cache.sqlite", visible(pair.options)
    content = file.read_bytes()
    for place in EVERYWHERE:
        shutil.rmtree(pair.cache)
        pair.cache.mkdir()
        file.write_bytes(flipped(content, len(content) * place // 1000, 1 << place % 8))
        build(pair.options)
        assert visible(pair.options) == expected, place
        assert stray(pair.store) == []


@pytest.mark.parametrize("text", [b"", b"not a database\n", b"SQLite format 3\0"], ids=["empty", "text", "head"])
def test_a_file_that_is_no_cache_is_replaced(text: bytes, pair: IncrementalPair) -> None:
    """The next build has a complete cache again."""
    (pair.cache / "cache.sqlite").write_bytes(text)
    pair.built_files = {}
    pair.check()

    assert build(pair.options).parsed == 0


# The command line


@pytest.mark.parametrize(
    ("words", "files"),
    [
        ([], [".flatpanel_cache/cache.sqlite"]),
        (["--cache", "some/where"], ["some/where/cache.sqlite"]),
        (["--no-cache"], []),
    ],
)
def test_options_set_the_folder_of_the_cache(
    site: Site, run: Run, words: list[str], files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default it is `.flatpanel_cache` beside `--out`. A folder is created, except with `--no-cache`."""
    monkeypatch.chdir(site.folder)

    assert run("build", *tree_snapshot.options(site), *words).exit_code == 0
    assert [path for path in tree_snapshot.files(site.folder) if path.endswith("cache.sqlite")] == files


def test_no_cache_leaves_an_existing_cache_alone(site: Site, run: Run) -> None:
    """`--no-cache` neither reads nor repairs it."""
    run("build", *tree_snapshot.options(site))
    cache = site.folder / ".flatpanel_cache"
    (cache / "cache.sqlite").write_text("not a database\n")
    before = tree_snapshot.state(cache)

    assert run("build", *tree_snapshot.options(site), "--no-cache").exit_code == 0
    assert tree_snapshot.state(cache) == before


@pytest.mark.parametrize("place", ["a-file", "a-file/below", "nowhere", "closed/cache", "/proc/cache"])
def test_an_unwritable_cache_is_reported(place: str, site: Site, run: Run) -> None:
    """The build continues with a warning or ends with a message; the current release stays."""
    site.build()
    (site.folder / "a-file").write_text("mine")
    (site.folder / "nowhere").symlink_to("not-there/either")
    (site.folder / "closed").mkdir(mode=0o500)
    result = run("build", *tree_snapshot.options(site), "--cache", site.folder / place)

    assert result.exit_code in (0, 1)
    assert len(result.stderr.splitlines()) <= 1
    assert (site.folder / "a-file").read_text() == "mine"
    assert stray(site.store) == []


def test_two_catalogs_may_share_a_cache(folder: Path) -> None:
    """Their files have the same names; each release has its own content."""
    sites = [copy_of(name, folder / name) for name in ("minimal", "everything")]
    apart = [build(site.options).release for site in sites]
    for site in sites:
        shutil.rmtree(site.folder / "dist")
    together = [build(replace(site.options, cache=folder / "shared")).release for site in sites * 2]

    assert together == apart * 2
