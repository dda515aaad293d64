"""`verify` finds every file that differs from its release, and changes none."""

import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from generator import encoding
from generator.release.manifest import ID_PLACEHOLDER, files_with_sidecar
from generator.release.store import Store
from generator.review import verify_files
from tests.conftest import Site
from tests.review.test_repair import an_empty_folder, cut, link
from tests.support import tree_snapshot
from tests.support.runs import sample

# No body of two megabytes, and no fsync.
pytestmark = pytest.mark.usefixtures("without_sync_and_docs")

FIRST = "/api/series/first"


@pytest.fixture
def built(site: Site) -> Site:
    """Two releases with bodies of each alone, of both, and with gzip forms."""
    tree_snapshot.first_version(site)
    site.build()
    tree_snapshot.second_version(site)
    site.build()
    return site


def faults(site: Site) -> list[str]:
    """The output of verify without the folder."""
    before = tree_snapshot.state(site.folder)
    sentences = list(verify_files.check_files(site.store))
    assert tree_snapshot.state(site.folder) == before, "verify wrote something"
    return [str(one).replace(f"{site.folder}/dist/", "") for one in sentences]


def body(site: Site, url: str = FIRST) -> str:
    return site.manifest.resources[url].file


def bodies_of_the_previous_release(site: Site) -> list[str]:
    bodies = site.store.manifest(site.store.previous()).resources.values()
    return [path for one in bodies for path in files_with_sidecar(one)]


STEPS = 120  # more than a sidecar has bytes


def test_every_flipped_byte_is_found(site: Site) -> None:
    """In every file, public or not; all bytes of small files are tried."""
    tree_snapshot.first_version(site)
    site.write("site.yaml", "base_url: https://minimal.example\nrestricted: [/authors]\n")
    site.build()
    dist = site.folder / "dist"
    names = [name for name in tree_snapshot.files(dist) if name.startswith(("www/", "private/", "releases/"))]
    assert any(name.startswith("private/") for name in names)
    texts = {dist / name: (dist / name).read_bytes() for name in names if is_plain(dist / name)}
    for step in sample(range(STEPS), 16):
        for path, text in texts.items():
            at = step % len(text) if len(text) <= STEPS else step * len(text) // STEPS
            path.write_bytes(flipped(text, at))

        assert sorted(one.path for one in verify_files.check_files(site.store)) == sorted(texts), step


def flipped(text: bytes, at: int) -> bytes:
    """All bits of a byte, or the lowest one only."""
    return text[:at] + bytes([text[at] ^ (0x01 if at % 2 else 0xFF)]) + text[at + 1 :]


def is_plain(path: Path) -> bool:
    """Whether the file is not a manifest, whose damage hides all other faults."""
    return not path.is_symlink() and path.name != "manifest.json" and path.stat().st_size > 0


@pytest.mark.damages
def test_every_flipped_byte_of_a_manifest_is_found(built: Site) -> None:
    """The id of a release is derived from its manifest. The content of a damaged manifest is ignored."""
    for release in (built.store.previous(), built.store.current()):
        path = built.folder / f"dist/releases/{release}/manifest.json"
        text = path.read_bytes()
        for at in range(0, len(text), 1009):
            path.write_bytes(flipped(text, at))

            (fault,) = map(str, verify_files.check_files(built.store))
            assert fault.startswith(f"{path}: does not match the id of the release")
        path.write_bytes(text)


def test_each_kind_of_file_has_its_fault(built: Site) -> None:
    """tests/review/test_repair.py has every kind of damage."""
    faults_by_file = {
        body(built): "has 2,515 bytes instead of 2,516",
        f"{body(built, '/api/v1/series/first')}.gz": "is not the compressed form of its body",
        f"{body(built)}.headers": "does not hold the validators of its body",
        f"releases/{built.store.current()}/server.conf": "was changed after the build",
        f"releases/{built.store.previous()}/server.conf": "was changed after the build",
    }
    dist = built.folder / "dist"
    for path in faults_by_file:
        cut(dist / path)
    linked, replaced = body(built, "/api/v2/series/first"), body(built, "/api/v1/series/first/1")
    link(dist / linked)
    an_empty_folder(dist / replaced)
    faults_by_file |= {linked: "is a symbolic link, and builds create none here", replaced: "is missing"}

    assert sorted(faults(built)) == sorted(f"{path}: {fault}" for path, fault in faults_by_file.items())


def test_bodies_of_the_previous_release_are_verified(built: Site) -> None:
    """A rollback would serve them."""
    current = {path for one in built.manifest.resources.values() for path in files_with_sidecar(one)}
    old = sorted(set(bodies_of_the_previous_release(built)) - current)
    for path in old:
        (built.folder / "dist" / path).unlink()

    assert sorted(faults(built)) == sorted(f"{path}: is missing" for path in old)


def test_the_gzip_form_of_another_zlib_is_accepted(built: Site) -> None:
    """Only the unpacked body counts."""
    text = (built.folder / "dist" / body(built)).read_bytes()
    compressor = zlib.compressobj(1, zlib.DEFLATED, -15)
    ends = zlib.crc32(text).to_bytes(4, "little") + len(text).to_bytes(4, "little")
    packed = encoding.GZIP_HEADER + compressor.compress(text) + compressor.flush() + ends
    assert packed != encoding.gzip(text)
    (built.folder / "dist" / f"{body(built)}.gz").write_bytes(packed)

    assert faults(built) == []


OTHER = encoding.gzip(b"x" * 5000) or b""


@pytest.mark.parametrize("change", [lambda _: OTHER, lambda packed: packed + b"\0", lambda packed: packed + OTHER])
def test_another_gzip_form_is_found(built: Site, change: Callable[[bytes], bytes]) -> None:
    """That of another body, and more bytes after its own: some clients would read them as part of the body."""
    path = f"{body(built)}.gz"
    file = built.folder / "dist" / path
    file.write_bytes(change(file.read_bytes()))

    assert faults(built) == [f"{path}: is not the compressed form of its body"]


EXTRA = {
    "www/api/series/first.json": "is in no release",
    "private/secret.json": "is in no release",
    "releases/current": "is not a retained release",
    "notes.txt": "is not part of a built site",
}


def test_files_of_no_release_are_found(built: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a body belong its sidecar and its gzip form only; nginx might include another file of a release.

    Also if `dist` is the folder in which the program runs.
    """
    small, large = body(built, "/api/authors"), body(built)
    strays = [f"{large}.gz.headers", f"{large}.headers.gz", f"{small}.gz"]
    strays.append(f"releases/{built.store.current()}/more.conf")
    extra = EXTRA | dict.fromkeys(strays, "is in no release")
    for path in extra:
        file = built.folder / "dist" / path
        file.parent.mkdir(exist_ok=True)
        file.write_text("?")

    assert sorted(faults(built)) == sorted(f"{path}: {fault}" for path, fault in extra.items())
    monkeypatch.chdir(built.folder / "dist")
    assert sorted(map(str, verify_files.check_files(Store(Path())))) == sorted(
        f"{path}: {fault}" for path, fault in extra.items()
    )


def test_a_wrong_target_of_current_is_found(built: Site) -> None:
    """nginx follows the link, so it must point to the release in this dist."""
    release, previous = built.store.current(), built.store.previous()
    shutil.copytree(built.folder / "dist/releases", built.folder / "releases", symlinks=True)
    for name, target in (("current", f"../releases/{release}"), (f"releases/{release}/previous", f"./../{previous}")):
        (built.folder / "dist" / name).unlink()
        (built.folder / "dist" / name).symlink_to(target)

    assert faults(built) == [
        f"current: points to ../releases/{release} instead of releases/{release}",
        f"releases/{release}/previous: points to ./../{previous} instead of ../{previous}",
    ]


def test_a_configuration_without_its_release_id_is_found(built: Site) -> None:
    """The digest is taken before the id is inserted, so it is not enough."""
    path = built.folder / "dist/current/http.conf"
    path.write_bytes(path.read_bytes().replace(str(built.store.current()).encode(), ID_PLACEHOLDER.encode()))

    assert faults(built) == [f"releases/{built.store.current()}/http.conf: was changed after the build"]
