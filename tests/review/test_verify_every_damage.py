"""`verify` names every damaged file, or the damage has no effect for clients."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator import encoding
from generator.api import routes
from generator.api.payloads.resources import JSON
from generator.release import journal
from generator.review import verify_files
from tests.conftest import Site, copy_of
from tests.support import tree_snapshot
from tests.support.incremental_pair import in_memory

# The damage, and the damaged files.
Harm = Callable[[list[Path], int, int], list[Path]]


@pytest.fixture(scope="module")
def built() -> Iterator[Site]:
    """Three retained releases with restricted and compressed bodies."""
    with in_memory() as folder, pytest.MonkeyPatch.context() as without_the_page:  # of two megabytes
        without_the_page.setattr(routes, "ROUTES", tuple(one for one in routes.ROUTES if one.type == JSON))
        site = copy_of("minimal", folder / "site")
        site.write("site.yaml", "base_url: https://minimal.example\nkeep_releases: 3\nrestricted: [/authors]\n")
        for version in (tree_snapshot.first_version, tree_snapshot.second_version, tree_snapshot.third_version):
            version(site)
            site.build()
        assert list(verify_files.check_files(site.store)) == []
        yield site


def flip(files: list[Path], which: int, where: int) -> list[Path]:
    """Flip one bit."""
    path = files[which % len(files)]
    text = path.read_bytes()
    if not text:
        return lengthen(files, which, where)
    place, bit = divmod(where, 8)
    place %= len(text)
    path.write_bytes(text[:place] + bytes([text[place] ^ (1 << bit)]) + text[place + 1 :])
    return [path]


def remove(files: list[Path], which: int, where: int) -> list[Path]:
    path = files[which % len(files)]
    path.unlink()
    return [path]


def cut(files: list[Path], which: int, where: int) -> list[Path]:
    path = files[which % len(files)]
    text = path.read_bytes()
    if not text:
        return remove(files, which, where)
    path.write_bytes(text[: where % len(text)])
    return [path]


def lengthen(files: list[Path], which: int, where: int) -> list[Path]:
    path = files[which % len(files)]
    path.write_bytes(path.read_bytes() + bytes([where % 256]))
    return [path]


def add(files: list[Path], which: int, where: int) -> list[Path]:
    """Add a file beside the existing one."""
    path = files[which % len(files)]
    copy = path.with_name(f"{path.stem}{where}{path.suffix}")
    copy.write_bytes(path.read_bytes())
    return [copy]


def swap(files: list[Path], which: int, where: int) -> list[Path]:
    """Swap two different files."""
    first, other = files[which % len(files)], files[(which + 1 + where % (len(files) - 1)) % len(files)]
    text = first.read_bytes()
    if text == other.read_bytes():
        return remove(files, which, where)
    first.write_bytes(other.read_bytes())
    other.write_bytes(text)
    return [first, other]


def is_harmless(path: Path) -> bool:
    """Whether the changed gzip form still unpacks to its body."""
    body = path.with_suffix("")
    return (
        path.suffix == ".gz"
        and body.exists()
        and encoding.gunzip(path.read_bytes(), body.stat().st_size) == body.read_bytes()
    )


@pytest.mark.damages
@given(st.sampled_from([flip, remove, cut, lengthen, add, swap]), st.integers(0, 10**6), st.integers(0, 10**6))
@settings(max_examples=100, suppress_health_check=list(HealthCheck))
def test_every_damage_is_found(built: Site, harm: Harm, which: int, where: int) -> None:
    """`verify` names the file, gives the same result twice, and changes nothing."""
    dist = built.folder / "dist"
    names = sorted(name for name in tree_snapshot.files(dist) if name.startswith(("www/", "private/", "releases/")))
    # Without the journal, or with a part of it, the links determine the releases for clients and for `verify`.
    names.remove(f"releases/{journal.FILE}")
    files = [dist / name for name in names if not (dist / name).is_symlink()]
    before = {path: path.read_bytes() for path in files}
    harmed = harm(files, which, where)
    state = tree_snapshot.state(dist)
    faults = list(verify_files.check_files(built.store))
    again = list(verify_files.check_files(built.store))
    after = tree_snapshot.state(dist)
    harmless = [path for path in harmed if path.exists() and is_harmless(path) and path in before]
    for path in harmed:
        if path in before:
            path.write_bytes(before[path])
        else:
            path.unlink()

    assert (again, after) == (faults, state)
    # Without its manifest, the files of a release are unknown, so only the manifest is reported.
    paths = {str(one.path) for one in faults}
    for path in harmed:
        assert str(path) in paths or path in harmless or "manifest.json" in {one.name for one in harmed}
    assert faults or harmless == harmed
    assert list(verify_files.check_files(built.store)) == []
