"""One catalog and two sites of it: one that is built again and again and remembers, one that never existed before.

Whatever happened in between, both must come out the same.
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

SHARED_MEMORY = Path("/dev/shm")
INSTANTS = (AS_OF, AS_OF + HOUR - 1, AS_OF + HOUR, AS_OF + 3 * HOUR, AS_OF + 40 * DAY, AS_OF - 250 * DAY, 1_500_000_000)


@contextmanager
def in_memory() -> Iterator[Path]:
    """A folder in a file system that needs no disk, where there is one: builds wait until a disk has everything."""
    with TemporaryDirectory(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None) as folder:
        yield Path(folder)


class Twins:
    """The catalog, what it was built into, and what the next build is told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.catalog = Catalog(folder / "catalog_src")
        self.catalog.write()
        self.cache, self.store = folder / "cache", Store(folder / "here/dist")
        (folder / "here").mkdir()
        self.as_of, self.jobs = AS_OF, 1
        # A manifest that the next build continues instead of the one it serves, and all that there could be.
        self.previous: Path | None = None
        self.manifests: list[Path] = []
        # What the files below series/ held when the cache last saw them, and whether it may be damaged where it has
        # not been looked at since.
        self.seen: dict[str, str] = {}
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
        """Build both. A catalog that is wrong is repaired afterwards, and built again."""
        self.catalog.write()
        if self._build():
            self.catalog.wrong.clear()
            self.catalog.write()
            if self._build():
                self.catalog.take_back()
                self.catalog.write()
                none("is still wrong", self._build())
        self.catalog.good = self.catalog.meant()
        self.previous, self.jobs = None, 1

    def _build(self) -> tuple[Problem, ...]:
        """Build both and compare; what is wrong with the catalog, or nothing."""
        before = tree_snapshot.state(self.folder / "here")
        served = self._remember()
        older = self.previous or served
        there = self.folder / "there"
        shutil.rmtree(there, ignore_errors=True)
        clean = Options(self.catalog.folder, there / "dist", there / "nginx.conf", self.as_of, self._told(older))
        try:
            expected = build(clean)
        except CatalogError as wrong:
            with pytest.raises(CatalogError) as raised:
                build(self.options)
            assert raised.value.problems == wrong.problems, (raised.value, wrong)
            none("was changed by a build that failed", differences(before, tree_snapshot.state(self.folder / "here")))
            return wrong.problems
        self._compare(build(self.options), expected, clean)
        none("disobeys", disobeyed(read(older), self.manifest))
        after = tree_snapshot.state(self.folder / "here")
        none("was written again", touched(before, after, read(served), self.manifest))
        return ()

    def _told(self, older: Path | None) -> Path | None:
        """The same manifest, with all ids that any release in dist knows of: what was taken back had been published."""
        if older is None:
            return None
        heads = [load_head(path.read_bytes().split(RESOURCES_START)[0] + b"}", "") for path in self._manifests()]
        head, lines = older.read_bytes().split(RESOURCES_START)
        own = load_head(head + b"}", "")
        every = [*heads, own]
        merged = own._replace(
            highest_id=max(one.highest_id for one in every),
            page_ids={name: number for one in every for name, number in one.page_ids.items()},
        )
        told = self.folder / "told.json"
        told.write_bytes(merged.dump() + lines)
        return told

    def _manifests(self) -> list[Path]:
        return sorted(self.store.root.glob("releases/*/manifest.json"))

    def _compare(self, report: BuildResult, expected: BuildResult, clean: Options) -> None:
        none("differs from a clean build", differences(visible(clean), visible(self.options)))
        assert report.release == expected.release
        none("is wrong in dist", stray(self.store))
        below = self.below_series()
        assert expected.parsed == len(below), expected.parsed
        changed = [path for path, text in below.items() if text != self.seen.get(path)]
        assert report.parsed <= len(changed), f"{report.parsed} files were parsed, but what changed is {changed}"
        self.seen = {} if self.doubtful else below

    def _remember(self) -> Path | None:
        """Keep the manifest of what is served now."""
        release = self.store.current()
        if not release:
            return None
        kept = self.folder / f"manifest-{len(self.manifests)}.json"
        shutil.copyfile(self.store.root / "releases" / release / "manifest.json", kept)
        self.manifests.append(kept)
        return kept


def none(what: str, found: Iterable[object]) -> None:
    """Pytest explains only the assertions of the tests themselves."""
    if shown := list(map(str, found)):
        pytest.fail(f"{len(shown)} times: {what}:\n" + "\n".join(shown[:12]))


def read(manifest: Path | None) -> Manifest:
    return load(manifest.read_bytes(), str(manifest)) if manifest else EMPTY


def visible(options: Options) -> dict[str, object]:
    """All that is served: the release, the bodies that it names with their times, the main configuration."""
    store = Store(options.out)
    release = f"releases/{store.current()}"
    found = tree_snapshot.content(options.out / release)
    found.pop("previous", None)
    found |= {"current": os.readlink(options.out / "current"), "nginx.conf": options.nginx.read_bytes()}
    for one in store.manifest(store.current()).resources.values():
        for path in files_with_sidecar(one):
            file = options.out / path
            dated = file.stat().st_mtime if path == one.file else None
            found[path] = (file.read_bytes(), dated)
    return found


def differences(expected: Mapping[str, object], found: Mapping[str, object]) -> list[str]:
    """The names of what is not as expected; the bytes would be too many to read."""
    return sorted(
        f"{name}: {'is missing' if name not in found else 'is new' if name not in expected else 'differs'}"
        for name in expected.keys() | found.keys()
        if expected.get(name) != found.get(name)
    )


def stray(store: Store) -> list[str]:
    """Whatever is in `dist` and should not be, empty folders included."""
    found = list(map(str, verify_files.check_files(store)))
    for tree in TREES:
        for folder, folders, names in os.walk(store.root / tree):
            if not folders and not names and Path(folder).name != tree:
                found.append(f"{folder}: is empty")
    return found


def disobeyed(before: Manifest, after: Manifest) -> list[str]:
    """Where Last-Modified did not stay with the body that stayed, or did not move on with the one that changed."""
    found = []
    for url, one in after.resources.items():
        old = before.resources.get(url)
        if old and old.etag == one.etag and old.modified != one.modified:
            found.append(f"{url}: is the same, and its date moved from {old.modified} to {one.modified}")
        elif old and old.etag != one.etag and old.modified >= one.modified:
            found.append(f"{url}: changed, and its date went from {old.modified} to {one.modified}")
    return found


def touched(
    before: dict[str, tuple[int, ...]], after: dict[str, tuple[int, ...]], old: Manifest, new: Manifest
) -> list[str]:
    """Files of bodies that were there before and were written again, though both releases date them alike."""
    dates = {one.file: one.modified for one in old.resources.values()}
    same = (one for one in new.resources.values() if dates.get(one.file) == one.modified)
    named = (f"dist/{path}" for one in same for path in files_with_sidecar(one))
    return [path for path in named if path in before and before[path] != after.get(path)]


# What happens outside of the catalog


Happening = Callable[[Twins, int, int], None]


def move_the_clock(twins: Twins, which: int, how: int) -> None:
    twins.as_of = pick(INSTANTS, how)


def use_two_processes(twins: Twins, which: int, how: int) -> None:
    twins.jobs = 2


def continue_another(twins: Twins, which: int, how: int) -> None:
    """What was served some builds ago, as if it had been published elsewhere."""
    if twins.manifests:
        twins.previous = pick(twins.manifests, which)


def roll_back(twins: Twins, which: int, how: int) -> None:
    """One step back, or to any release that is there."""
    releases = twins.store.older()
    if releases and (twins.store.journal()[-1].before or how % 2):
        with transaction.begin(twins.store, pytest.fail) as session:
            found = rollback.plan(session, pick(releases, which) if how % 2 else None)
            rollback.carry_out(session, found, twins.as_of)
        none("is wrong after going back", stray(twins.store))


def delete_dist(twins: Twins, which: int, how: int) -> None:
    shutil.rmtree(twins.store.root, ignore_errors=True)


def delete_cache(twins: Twins, which: int, how: int) -> None:
    shutil.rmtree(twins.cache, ignore_errors=True)
    twins.seen, twins.doubtful = {}, False


def truncate_cache(twins: Twins, which: int, how: int) -> None:
    damage(twins, lambda old: old[: len(old) * how // 1000])


def flip_in_cache(twins: Twins, which: int, how: int) -> None:
    damage(twins, lambda old: flipped(old, len(old) * how // 1000, 1 << which % 8))


def replace_cache(twins: Twins, which: int, how: int) -> None:
    damage(twins, lambda old: pick((b"", b"not a database\n", old[::-1], b"SQLite format 3\0"), how))


def make_cache_a_folder(twins: Twins, which: int, how: int) -> None:
    damage(twins, lambda old: b"")
    file = twins.cache / "cache.sqlite"
    if not file.is_dir():
        file.unlink(missing_ok=True)
    (file / "full").mkdir(parents=True, exist_ok=True)


def damage(twins: Twins, change: Callable[[bytes], bytes]) -> None:
    file = twins.cache / "cache.sqlite"
    if file.is_file():
        file.write_bytes(change(file.read_bytes()))
    twins.seen, twins.doubtful = {}, True


def flipped(text: bytes, place: int, bits: int) -> bytes:
    return text[:place] + bytes([text[place] ^ bits]) + text[place + 1 :] if text else text


def edited(change: Callable[[Catalog, int, int], None]) -> Happening:
    def happen(twins: Twins, which: int, how: int) -> None:
        change(twins.catalog, which, how)
        twins.catalog.write()

    return happen


OUTSIDE: tuple[Happening, ...] = (
    move_the_clock,
    use_two_processes,
    continue_another,
    roll_back,
    delete_dist,
    delete_cache,
    truncate_cache,
    flip_in_cache,
    replace_cache,
    make_cache_a_folder,
)
HAPPENINGS: dict[str, Happening] = {one.__name__: one for one in OUTSIDE}
HAPPENINGS |= {name: edited(change) for name, change in (EDITS | MISTAKES).items()}


@dataclass(frozen=True)
class Do:
    """Something that happens; it prints as it can be written in an @example."""

    what: str
    which: int
    how: int

    def __call__(self, twins: Twins) -> None:
        HAPPENINGS[self.what](twins, self.which, self.how)
