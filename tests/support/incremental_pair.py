"""One catalog and two sites of it: one is built incrementally, the other is built from nothing each time.

After any history, both must be the same.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from generator.errors import CatalogError, Problem
from generator.pipeline import rollback
from generator.pipeline.build_options import Options
from generator.pipeline.build_result import BuildResult
from generator.pipeline.run import build
from generator.release import transaction
from generator.release.manifest import EMPTY, RESOURCES_START, Manifest, files_with_sidecar, load, load_head
from generator.release.store import TREES, Store
from generator.review import verify_files
from tests.conftest import AS_OF
from tests.support import tree_snapshot
from tests.support.catalog_edits import EDITS, MISTAKES
from tests.support.catalog_factory import DAY, HOUR, Catalog, pick
from tests.support.release_table import different_maps

Statuses = dict[str, tuple[int, ...]]
SHARED_MEMORY = Path("/dev/shm")
INSTANTS = (AS_OF, AS_OF + HOUR - 1, AS_OF + HOUR, AS_OF + 3 * HOUR, AS_OF + 40 * DAY, AS_OF - 250 * DAY, 1_500_000_000)


@contextmanager
def in_memory() -> Iterator[Path]:
    """A folder in a file system in memory, if there is one: builds wait until a disk has written everything."""
    with TemporaryDirectory(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None) as folder:
        yield Path(folder)


class IncrementalPair:
    """A catalog, its incrementally built site, and the options of the next build."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.catalog = Catalog(folder / "catalog_src")
        self.catalog.write()
        self.cache, self.store = folder / "cache", Store(folder / "here/dist")
        (folder / "here").mkdir()
        self.as_of, self.jobs = AS_OF, 1
        # The manifest that the next build continues instead of the current one, and all candidates.
        self.previous: Path | None = None
        self.manifests: list[Path] = []
        # The files below series/ as the last build with the cache read them, and whether the cache may be damaged in
        # a place that no build has read since.
        self.built_files: dict[str, str] = {}
        self.doubtful = False

    @property
    def options(self) -> Options:
        catalog, out, conf = self.catalog.folder, self.store.root, self.folder / "here/nginx.conf"
        return Options(catalog, out, conf, self.as_of, self.previous, self.jobs, cache=self.cache)

    @property
    def manifest(self) -> Manifest:
        return self.store.manifest(self.store.current())

    def below_series(self) -> dict[str, str]:
        return {path: text for path, text in self.catalog.written.items() if path.startswith("series/")}

    def check(self) -> None:
        """Build both. If the catalog has a problem, repair it and build again."""
        self.catalog.write()
        if self._build():
            self.catalog.wrong.clear()
            self.catalog.write()
            if self._build():
                self.catalog.restore()
                self.catalog.write()
                assert_none("is still wrong", self._build())
        self.catalog.good = self.catalog.data()
        self.previous, self.jobs = None, 1

    def _build(self) -> tuple[Problem, ...]:
        """Build both and compare them. Return the problems of the catalog."""
        before = tree_snapshot.state(self.folder / "here")
        served = self._keep_manifest()
        older = self.previous or served
        there = self.folder / "there"
        shutil.rmtree(there, ignore_errors=True)
        paths = self.catalog.folder, there / "dist", there / "nginx.conf"
        clean = Options(*paths, self.as_of, self._with_all_ids(older))
        try:
            expected = build(clean)
        except CatalogError as wrong:
            with pytest.raises(CatalogError) as raised:
                build(self.options)
            assert raised.value.problems == wrong.problems, (raised.value, wrong)
            after = tree_snapshot.state(self.folder / "here")
            assert_none("was changed by a build that failed", differences(before, after))
            return wrong.problems
        self._compare(build(self.options), expected, clean)
        assert_none("has a wrong date", wrong_dates(read(older), self.manifest))
        after = tree_snapshot.state(self.folder / "here")
        assert_none("was written again", touched(before, after, read(served), self.manifest))
        return ()

    def _with_all_ids(self, older: Path | None) -> Path | None:
        """The same manifest with all ids that any release in `dist` has: rolled back releases have published them."""
        if older is None:
            return None
        paths = (*sorted(self.store.root.glob("releases/*/manifest.json")), older)
        parts = [path.read_bytes().split(RESOURCES_START, 1) for path in paths]
        heads = [load_head(head + b"}", "") for head, _ in parts]
        merged = heads[-1]._replace(
            highest_id=max(head.highest_id for head in heads),
            page_ids={name: number for head in heads for name, number in head.page_ids.items()},
        )
        path = self.folder / "with-all-ids.json"
        path.write_bytes(merged.dump() + parts[-1][1])
        return path

    def _compare(self, report: BuildResult, expected: BuildResult, clean: Options) -> None:
        assert_none("differs from a clean build", differences(visible(clean), visible(self.options)))
        assert report.release == expected.release
        assert_none("is wrong in dist", stray(self.store))
        assert_none("does not follow from the table", different_maps(self.store))
        below = self.below_series()
        assert expected.parsed == len(below), expected.parsed
        changed = [path for path, text in below.items() if text != self.built_files.get(path)]
        assert report.parsed <= len(changed), f"{report.parsed} files were parsed, but what changed is {changed}"
        self.built_files = {} if self.doubtful else below

    def _keep_manifest(self) -> Path | None:
        """Copy the manifest of the current release."""
        release = self.store.current()
        if not release:
            return None
        copy = self.folder / f"manifest-{len(self.manifests)}.json"
        shutil.copyfile(self.store.root / "releases" / release / "manifest.json", copy)
        self.manifests.append(copy)
        return copy


def assert_none(fault: str, items: Iterable[object]) -> None:
    """Pytest explains only assertions in the tests themselves, so this lists the offenders."""
    if offenders := list(map(str, items)):
        pytest.fail(f"{len(offenders)} times: {fault}:\n" + "\n".join(offenders[:12]))


def read(manifest: Path | None) -> Manifest:
    return load(manifest.read_bytes(), str(manifest)) if manifest else EMPTY


def visible(options: Options) -> dict[str, object]:
    """Everything that clients can get: the release, its bodies with their times, the main configuration."""
    store = Store(options.out)
    release = f"releases/{store.current()}"
    files = tree_snapshot.content(options.out / release)
    files.pop("previous", None)
    files |= {"current": os.readlink(options.out / "current"), "nginx.conf": options.nginx.read_bytes()}
    for body in store.manifest(store.current()).resources.values():
        for path in files_with_sidecar(body):
            with open(f"{options.out}/{path}", "rb") as file:
                dated = os.stat(file.fileno()).st_mtime if path == body.file else None
                files[path] = (file.read(), dated)
    return files


def differences(expected: Mapping[str, object], actual: Mapping[str, object]) -> list[str]:
    """The names of files that differ; their contents would be too long."""
    return sorted(
        f"{name}: {'is missing' if name not in actual else 'is new' if name not in expected else 'differs'}"
        for name in expected.keys() | actual.keys()
        if expected.get(name) != actual.get(name)
    )


def stray(store: Store) -> list[str]:
    """Faults of `dist`: damaged files, files without a reference, and empty folders."""
    faults = list(map(str, verify_files.check_files(store)))
    for tree in TREES:
        for folder, folders, names in os.walk(store.root / tree):
            if not folders and not names and Path(folder).name != tree:
                faults.append(f"{folder}: is empty")
    return faults


def wrong_dates(before: Manifest, after: Manifest) -> list[str]:
    """URLs whose Last-Modified moved without a change of the body, or did not move with one."""
    faults = []
    for url, body in after.resources.items():
        old = before.resources.get(url)
        if old and old.etag == body.etag and old.file_time != body.file_time:
            faults.append(f"{url}: is the same, and its date moved from {old.file_time} to {body.file_time}")
        elif old and old.etag != body.etag and old.file_time >= body.file_time:
            faults.append(f"{url}: changed, and its date went from {old.file_time} to {body.file_time}")
    return faults


def touched(before: Statuses, after: Statuses, old: Manifest, new: Manifest) -> list[str]:
    """Files of bodies that were written again, although both releases give them the same date."""
    dates = {body.file: body.modified for body in old.resources.values()}
    same = (body for body in new.resources.values() if dates.get(body.file) == body.modified)
    named = (f"dist/{path}" for body in same for path in files_with_sidecar(body))
    return [path for path in named if path in before and before[path] != after.get(path)]


# Events outside of the catalog


EventFunction = Callable[[IncrementalPair, int, int], None]


def move_the_clock(pair: IncrementalPair, which: int, how: int) -> None:
    pair.as_of = pick(INSTANTS, how)


def use_two_processes(pair: IncrementalPair, which: int, how: int) -> None:
    pair.jobs = 2


def continue_another(pair: IncrementalPair, which: int, how: int) -> None:
    """Continue the manifest of an earlier release, as if it had been published elsewhere."""
    if pair.manifests:
        pair.previous = pick(pair.manifests, which)


def roll_back(pair: IncrementalPair, which: int, how: int) -> None:
    """One step back, or to any release that exists."""
    releases = pair.store.older()
    if releases and (pair.store.journal()[-1].before or how % 2):
        with transaction.begin(pair.store, pytest.fail) as opened:
            plan = rollback.plan(opened, pick(releases, which) if how % 2 else None)
            rollback.carry_out(opened, plan, pair.as_of)
        assert_none("is wrong after a rollback", stray(pair.store))


def delete_dist(pair: IncrementalPair, which: int, how: int) -> None:
    shutil.rmtree(pair.store.root, ignore_errors=True)


def delete_cache(pair: IncrementalPair, which: int, how: int) -> None:
    shutil.rmtree(pair.cache, ignore_errors=True)
    pair.built_files, pair.doubtful = {}, False


def truncate_cache(pair: IncrementalPair, which: int, how: int) -> None:
    damage(pair, lambda old: old[: len(old) * how // 1000])


def flip_in_cache(pair: IncrementalPair, which: int, how: int) -> None:
    damage(pair, lambda old: flipped(old, len(old) * how // 1000, 1 << which % 8))


def replace_cache(pair: IncrementalPair, which: int, how: int) -> None:
    damage(pair, lambda old: pick((b"", b"not a database\n", old[::-1], b"SQLite format 3\0"), how))


def make_cache_a_folder(pair: IncrementalPair, which: int, how: int) -> None:
    damage(pair, lambda old: b"")
    file = pair.cache / "cache.sqlite"
    if not file.is_dir():
        file.unlink(missing_ok=True)
    (file / "full").mkdir(parents=True, exist_ok=True)


def damage(pair: IncrementalPair, change: Callable[[bytes], bytes]) -> None:
    file = pair.cache / "cache.sqlite"
    if file.is_file():
        file.write_bytes(change(file.read_bytes()))
    pair.built_files, pair.doubtful = {}, True


def flipped(text: bytes, place: int, bits: int) -> bytes:
    return text[:place] + bytes([text[place] ^ bits]) + text[place + 1 :] if text else text


def edited(change: Callable[[Catalog, int, int], None]) -> EventFunction:
    def apply(pair: IncrementalPair, which: int, how: int) -> None:
        change(pair.catalog, which, how)
        pair.catalog.write()

    return apply


EVENTS: dict[str, EventFunction] = {
    event.__name__: event
    for event in (
        *(move_the_clock, use_two_processes, continue_another, roll_back, delete_dist, delete_cache),
        *(truncate_cache, flip_in_cache, replace_cache, make_cache_a_folder),
    )
}
EVENTS |= {name: edited(change) for name, change in (EDITS | MISTAKES).items()}


@dataclass(frozen=True)
class Event:
    """An event with its parameters; its repr can be pasted into an @example."""

    what: str
    which: int
    how: int

    def __call__(self, pair: IncrementalPair) -> None:
        EVENTS[self.what](pair, self.which, self.how)
