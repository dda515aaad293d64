"""Builds that remember: whatever happens in between, what they publish is what a build without a memory would."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from generator.pipeline.run import build
from generator.release.manifest import Manifest, files_with_sidecar
from tests.conftest import AS_OF, WRITTEN, Site, copy_of
from tests.support import tree_snapshot
from tests.support.catalog_edits import EDITS, MISTAKES
from tests.support.catalog_factory import Catalog, iso
from tests.support.incremental_pair import HAPPENINGS, Do, Twins, flipped, in_memory, stray, visible

Run = Callable[..., Result]
# Where the bytes lie that are flipped, in thousandths of the file.
EVERYWHERE = range(0, 1000, 29)

happenings = st.builds(Do, st.sampled_from(sorted(HAPPENINGS)), st.integers(0, 11), st.integers(0, 999))
rounds = st.lists(st.lists(happenings, min_size=1, max_size=3), min_size=1, max_size=12)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where a test may build without waiting for a disk."""
    with in_memory() as made:
        yield made


@pytest.fixture
def twins(folder: Path) -> Twins:
    """A catalog that was built once."""
    made = Twins(folder)
    build(made.options)
    made.seen = made.below_series()
    return made


@pytest.fixture
def site(folder: Path) -> Site:
    """The small catalog of the other tests."""
    return copy_of("minimal", folder)


@given(rounds)
# Under CI hypothesis itself sees to it that every run is the same.
@settings(max_examples=15, deadline=None, phases=set(Phase) - {Phase.explain}, suppress_health_check=list(HealthCheck))
def test_what_is_remembered_never_shows(history: list[list[Do]]) -> None:
    """After any history every byte, date and complaint is that of a build that knows the last manifest alone."""
    with in_memory() as folder:
        twins = Twins(folder)
        twins.check()
        for happenings in history:
            for happening in happenings:
                happening(twins)
            twins.check()


@pytest.mark.parametrize("what", sorted(EDITS | MISTAKES))
def test_each_edit_is_seen(what: str, twins: Twins) -> None:
    """Whatever it changes and wherever that shows, the next build publishes it, or complains of it."""
    HAPPENINGS[what](twins, 6, 5)
    twins.check()


@pytest.mark.parametrize("what", sorted(HAPPENINGS.keys() - EDITS.keys() - MISTAKES.keys()))
def test_each_accident_is_survived(what: str, twins: Twins) -> None:
    """Between two edits, and together with one."""
    for edit, how in ("retitle_series", 0), ("rename_person", 5), ("retitle_chapter", 500):
        HAPPENINGS[edit](twins, 0, how)
        twins.check()
        HAPPENINGS[what](twins, 0, how)
    twins.check()


def test_ids_of_pages_that_depend_on_other_series_do_not_depend_on_the_memory(twins: Twins) -> None:
    """Two chapters want the same id for a page; one goes and comes back, and nobody touches the file of the other."""
    beta = twins.catalog.series["beta"]
    first, rest = beta.chapters[0], beta.chapters[1:]
    for chapters in rest, [first, *rest], rest:
        beta.chapters = chapters
        twins.check()


def change(twins: Twins) -> set[str]:
    """Build again: one file is parsed, what was there is not touched, and what is new was not named before."""
    before, old = tree_snapshot.state(twins.store.root), twins.manifest
    report = build(twins.options)
    after = tree_snapshot.state(twins.store.root)
    made = {path for path in bodies(after) if path not in before}

    assert report.parsed == 1
    assert [path for path in bodies(before) & bodies(after) if before[path] != after[path]] == []
    assert made == named(twins.manifest) - named(old)
    assert report.written == sum(after[path][2] for path in made)
    return made


def bodies(state: dict[str, tuple[int, ...]]) -> set[str]:
    return {path for path in state if path.startswith(("www/", "private/")) and Path(path).suffix}


def named(manifest: Manifest) -> set[str]:
    return {path for one in manifest.resources.values() for path in files_with_sidecar(one)}


def rename_a_title(catalog: Catalog) -> None:
    catalog.series["alpha"].fields["title"] = "Alphb"


def rename_a_chapter(catalog: Catalog) -> None:
    catalog.series["beta"].chapters[1].fields["title"] = "In a file of its own"


def add_a_file(catalog: Catalog) -> None:
    beta = catalog.series["beta"]
    beta.chapters.append(replace(beta.chapters[1], file="003.yaml"))
    beta.chapters[-1].fields = {**beta.chapters[-1].fields, "id": 77, "number": "77"}


@pytest.mark.parametrize("edit", [rename_a_title, rename_a_chapter, add_a_file])
def test_one_edit_costs_one_file(edit: Callable[[Catalog], None], twins: Twins) -> None:
    """One source is read again, and only bodies whose bytes changed are written."""
    edit(twins.catalog)
    twins.catalog.write()

    assert change(twins) != set()


def test_an_edit_that_keeps_size_and_time_is_seen(twins: Twins) -> None:
    """Neither a file's time nor its size says that it is the same."""
    path = twins.catalog.folder / "series/alpha.yaml"
    before = path.stat()
    twins.catalog.still = True
    rename_a_title(twins.catalog)
    twins.catalog.write()

    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert change(twins) != set()


def test_a_build_of_the_same_again_writes_and_parses_nothing(twins: Twins) -> None:
    """Every inode and every time stays as it is, but for what the memory does with its own folder."""
    before = everything_but_the_cache(twins)
    report = build(twins.options)

    assert (report.parsed, report.written) == (0, 0)
    assert everything_but_the_cache(twins) == before


def everything_but_the_cache(twins: Twins) -> dict[str, tuple[int, ...]]:
    found = tree_snapshot.state(twins.folder)
    return {path: state for path, state in found.items() if path.partition("/")[0] not in (".", "cache")}


def test_a_fresh_clone_parses_nothing(twins: Twins) -> None:
    """Where every entity says when it changed, no time of a file matters."""
    catalog = twins.catalog
    records = [one for found in catalog.lists.values() for one in found if "sha256" not in one]
    records += [one.fields for one in catalog.series.values()] + [one.fields for _, one in catalog.chapters()]
    for fields in records:
        fields.setdefault("modified", iso(AS_OF - 1000))
    twins.check()
    clone = twins.folder / "clone"
    shutil.copytree(catalog.folder, clone)
    for path in clone.rglob("*"):
        os.utime(path, (WRITTEN - 1, WRITTEN - 1))
    release = twins.store.current()
    report = build(replace(twins.options, catalog=clone))

    assert (report.parsed, report.release) == (0, release)


def test_without_its_folder_everything_is_parsed_again(twins: Twins) -> None:
    """What is remembered may be deleted at any time."""
    shutil.rmtree(twins.cache)
    report = build(twins.options)

    assert (report.parsed, report.written) == (len(twins.below_series()), 0)
    assert build(twins.options).parsed == 0


def test_the_first_build_parses_everything_and_makes_the_folder(folder: Path) -> None:
    """The folder of the memory need not be there."""
    twins = Twins(folder)

    assert build(twins.options).parsed == len(twins.below_series())
    assert (twins.cache / "cache.sqlite").is_file()


def test_a_memory_with_one_wrong_bit_is_never_believed(twins: Twins) -> None:
    """Wherever it is, the release is the one that the catalog gives."""
    file, expected = twins.cache / "cache.sqlite", visible(twins.options)
    whole = file.read_bytes()
    for place in EVERYWHERE:
        shutil.rmtree(twins.cache)
        twins.cache.mkdir()
        file.write_bytes(flipped(whole, len(whole) * place // 1000, 1 << place % 8))
        build(twins.options)
        assert visible(twins.options) == expected, place
        assert stray(twins.store) == []


@pytest.mark.parametrize("text", [b"", b"not a database\n", b"SQLite format 3\0"], ids=["empty", "text", "head"])
def test_what_is_no_memory_is_replaced_by_one(text: bytes, twins: Twins) -> None:
    """The build after it has everything again."""
    (twins.cache / "cache.sqlite").write_bytes(text)
    twins.seen = {}
    twins.check()

    assert build(twins.options).parsed == 0


# The command line


def memories(site: Site) -> Iterator[str]:
    return (path for path in tree_snapshot.files(site.folder) if path.endswith("cache.sqlite"))


def test_by_default_a_build_remembers_beside_what_it_builds(site: Site, run: Run) -> None:
    """`.flatpanel_cache` lies in the folder of `--out`, whatever the current one is."""
    assert run("build", *tree_snapshot.options(site)).exit_code == 0
    assert list(memories(site)) == [".flatpanel_cache/cache.sqlite"]


def test_the_memory_may_lie_elsewhere(site: Site, run: Run) -> None:
    """`--cache` names its folder, which is made."""
    result = run("build", *tree_snapshot.options(site), "--cache", site.folder / "some/where")

    assert result.exit_code == 0
    assert list(memories(site)) == ["some/where/cache.sqlite"]


def test_a_build_can_do_without(site: Site, run: Run) -> None:
    """`--no-cache` makes no memory."""
    assert run("build", *tree_snapshot.options(site), "--no-cache").exit_code == 0
    assert not list(memories(site))


def test_a_build_that_does_without_leaves_it_alone(site: Site, run: Run) -> None:
    """`--no-cache` neither believes nor repairs what is there."""
    run("build", *tree_snapshot.options(site))
    kept = site.folder / ".flatpanel_cache"
    (kept / "cache.sqlite").write_text("not a database\n")
    before = tree_snapshot.state(kept)

    assert run("build", *tree_snapshot.options(site), "--no-cache").exit_code == 0
    assert tree_snapshot.state(kept) == before


@pytest.mark.parametrize("place", ["a-file", "a-file/below", "nowhere", "closed/cache", "/proc/cache"])
def test_where_nothing_can_be_remembered_a_build_says_so(place: str, site: Site, run: Run) -> None:
    """It goes on with a warning or ends with a sentence; what was served before is served."""
    site.build()
    (site.folder / "a-file").write_text("mine")
    (site.folder / "nowhere").symlink_to("not-there/either")
    (site.folder / "closed").mkdir(mode=0o500)
    result = run("build", *tree_snapshot.options(site), "--cache", site.folder / place)

    assert result.exit_code in (0, 1)
    assert len(result.stderr.splitlines()) <= 1
    assert (site.folder / "a-file").read_text() == "mine"
    assert stray(site.store) == []


def test_a_memory_of_another_catalog_does_no_harm(folder: Path) -> None:
    """Two catalogs that share it, with files of the same names, get what is theirs."""
    sites = [copy_of(name, folder / name) for name in ("minimal", "everything")]
    apart = [build(one.options).release for one in sites]
    for one in sites:
        shutil.rmtree(one.folder / "dist")
    together = [build(replace(one.options, cache=folder / "shared")).release for one in sites * 2]

    assert together == apart * 2
