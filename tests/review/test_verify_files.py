"""`verify` finds everything that is not as it was built, and repairs nothing."""

import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from generator import encoding, filesystem
from generator.errors import FlatpanelError
from generator.release.manifest import ID_PLACEHOLDER, files_with_sidecar
from generator.release.store import Store
from generator.review import verify_files
from tests.conftest import Site
from tests.support import tree_snapshot

FIRST = "/api/series/first"


@pytest.fixture
def built(site: Site) -> Site:
    """Two releases, with bodies of each alone, of both, and with compressed forms."""
    tree_snapshot.first_version(site)
    site.build()
    tree_snapshot.second_version(site)
    site.build()
    return site


def found(site: Site) -> list[str]:
    """What verify says, without the folder."""
    before = tree_snapshot.state(site.folder)
    sentences = list(verify_files.check_files(site.store))
    assert tree_snapshot.state(site.folder) == before, "verify wrote something"
    return [str(one).replace(f"{site.folder}/dist/", "") for one in sentences]


def body(site: Site, url: str = FIRST) -> str:
    return site.manifest.resources[url].file


def bodies_of_the_previous_release(site: Site) -> list[str]:
    known = site.store.manifest(site.store.previous()).resources.values()
    return [path for one in known for path in files_with_sidecar(one)]


def test_what_was_built_is_as_it_was_built(built: Site) -> None:
    """Nothing is found in a dist that nobody touched."""
    assert found(built) == []


def test_where_nothing_was_built_there_is_nothing_to_verify(site: Site) -> None:
    """Without a release verify says so instead of passing."""
    with pytest.raises(FlatpanelError, match=r"/dist: nothing has been built yet$"):
        found(site)


STEPS = 100  # more than a sidecar has bytes


def test_every_flipped_byte_is_found(site: Site) -> None:
    """Whichever byte of whichever file is another, verify names that file: every byte of a small one is tried."""
    tree_snapshot.first_version(site)
    site.build()
    dist = site.folder / "dist"
    names = [name for name in tree_snapshot.files(dist) if name.startswith(("www/", "releases/"))]
    texts = {dist / name: (dist / name).read_bytes() for name in names if is_plain(dist / name)}
    for step in range(STEPS):
        for path, text in texts.items():
            at = step % len(text) if len(text) <= STEPS else step * len(text) // STEPS
            path.write_bytes(flipped(text, at))

        assert sorted(one.path for one in verify_files.check_files(site.store)) == sorted(texts), step


def flipped(text: bytes, at: int) -> bytes:
    """All bits of a byte, or the lowest one only."""
    return text[:at] + bytes([text[at] ^ (0x01 if at % 2 else 0xFF)]) + text[at + 1 :]


def is_plain(path: Path) -> bool:
    """A manifest that was changed makes everything else unknown, and has a test of its own."""
    return not path.is_symlink() and path.name != "manifest.json" and path.stat().st_size > 0


def test_every_flipped_byte_of_a_manifest_is_found(built: Site) -> None:
    """A manifest that no longer gives its release its name is named, and nothing that it says is believed."""
    for release in (built.store.previous(), built.store.current()):
        path = built.folder / f"dist/releases/{release}/manifest.json"
        text = path.read_bytes()
        for at in range(0, len(text), 101):
            path.write_bytes(flipped(text, at))

            assert list(map(str, verify_files.check_files(built.store))) == [
                f"{path}: does not match the id of the release"
            ]
        path.write_bytes(text)


def remove(dist: Path, path: str) -> None:
    (dist / path).unlink()


def cut(dist: Path, path: str) -> None:
    (dist / path).write_bytes((dist / path).read_bytes()[:-1])


def lengthen(dist: Path, path: str) -> None:
    (dist / path).write_bytes((dist / path).read_bytes() + b" ")


def empty(dist: Path, path: str) -> None:
    (dist / path).write_bytes(b"")


def make_a_folder(dist: Path, path: str) -> None:
    (dist / path).unlink()
    (dist / path).mkdir()


def make_a_link(dist: Path, path: str) -> None:
    (dist / path).rename(dist / "run/elsewhere")
    (dist / path).symlink_to(dist / "run/elsewhere")


BODY_SENTENCES = {
    remove: "is missing",
    cut: "has 2515 bytes instead of 2516",
    lengthen: "has 2517 bytes instead of 2516",
    empty: "has 0 bytes instead of 2516",
    make_a_folder: "is missing",
    make_a_link: "is a symbolic link, and builds create none here",
}
PACKED_SENTENCES = dict.fromkeys((cut, lengthen, empty), "is not the compressed form of its body")
SIDECAR_SENTENCES = dict.fromkeys((cut, lengthen, empty), "does not hold the validators of its body")
RELEASE_SENTENCES = dict.fromkeys((cut, lengthen, empty), "was changed after the build")


@pytest.mark.parametrize("change", BODY_SENTENCES, ids=lambda change: change.__name__)
@pytest.mark.parametrize(
    ("suffix", "sentences"),
    [("", {}), (".gz", PACKED_SENTENCES), (".headers", SIDECAR_SENTENCES)],
    ids=["body", "packed", "sidecar"],
)
def test_what_happened_to_a_file_is_said(
    built: Site, change: Callable[[Path, str], None], suffix: str, sentences: dict[object, str]
) -> None:
    """A body, a compressed form or a sidecar that is missing, cut, longer, empty, a folder or a link: one sentence."""
    path = body(built) + suffix
    change(built.folder / "dist", path)

    assert found(built) == [f"{path}: {(BODY_SENTENCES | sentences)[change]}"]


@pytest.mark.parametrize("change", BODY_SENTENCES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("which", [Store.current, Store.previous])
def test_what_happened_to_a_file_of_a_release_is_said(
    built: Site, change: Callable[[Path, str], None], which: Callable[[Store], str]
) -> None:
    """The same for the configuration, of the current release and of the one before it."""
    path = f"releases/{which(built.store)}/server.conf"
    change(built.folder / "dist", path)

    assert found(built) == [f"{path}: {(BODY_SENTENCES | RELEASE_SENTENCES)[change]}"]


def test_a_body_of_the_release_before_is_verified_too(built: Site) -> None:
    """What a rollback would serve is as precious as what is served."""
    current = {path for one in built.manifest.resources.values() for path in files_with_sidecar(one)}
    old = sorted(set(bodies_of_the_previous_release(built)) - current)
    for path in old:
        (built.folder / "dist" / path).unlink()

    assert sorted(found(built)) == sorted(f"{path}: is missing" for path in old)


def test_two_bodies_that_changed_places_are_found(built: Site) -> None:
    """A body is compared with its own digest, not only with its name."""
    one, other = (built.folder / "dist" / body(built, url) for url in ("/api/authors", "/api/artists"))
    text = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(text)

    assert {sentence.partition(".")[0] for sentence in found(built)} == {"www/api/artists", "www/api/authors"}


def test_a_compressed_form_of_another_body_is_found(built: Site) -> None:
    """A compressed form that can be unpacked, but gives something else, is no compressed form of this body."""
    path = body(built) + ".gz"
    packed = encoding.gzip(b"x" * 5000)
    assert packed
    (built.folder / "dist" / path).write_bytes(packed)

    assert found(built) == [f"{path}: is not the compressed form of its body"]


def test_another_zlib_is_no_damage(built: Site) -> None:
    """What was packed less well, but unpacks to the body, is right."""
    text = (built.folder / "dist" / body(built)).read_bytes()
    press = zlib.compressobj(1, zlib.DEFLATED, -15)
    ends = zlib.crc32(text).to_bytes(4, "little") + len(text).to_bytes(4, "little")
    packed = encoding.GZIP_HEADER + press.compress(text) + press.flush() + ends
    assert packed != encoding.gzip(text)
    (built.folder / "dist" / f"{body(built)}.gz").write_bytes(packed)

    assert found(built) == []


@pytest.mark.parametrize("more", [b"\0", encoding.gzip(b"x" * 5000)], ids=["a zero", "a member"])
def test_what_follows_a_compressed_form_is_found(built: Site, more: bytes) -> None:
    """Some readers ignore zeros after a compressed form, or read on; clients would get another body."""
    path = f"{body(built)}.gz"
    (built.folder / "dist" / path).write_bytes((built.folder / "dist" / path).read_bytes() + more)

    assert found(built) == [f"{path}: is not the compressed form of its body"]


EXTRA = {
    "www/api/series/first.json": "is in no release",
    "www/api/fourth.0123456789abcdef0123456789abcdef.json": "is in no release",
    "private/secret.json": "is in no release",
    "releases/notes.txt": "is not a retained release",
    "releases/current": "is not a retained release",
    "notes.txt": "is not part of a built site",
    ".new": "is not part of a built site",
}


@pytest.mark.parametrize("path", EXTRA)
def test_what_no_release_names_is_found(built: Site, path: str) -> None:
    """A file more is a difference, wherever it lies."""
    file = built.folder / "dist" / path
    file.parent.mkdir(exist_ok=True)
    file.write_text("?")

    assert found(built) == [f"{path}: {EXTRA[path]}"]


def test_what_is_beside_a_body_under_a_wrong_name_is_found(built: Site) -> None:
    """Only a body's own sidecar and compressed form may lie beside it."""
    small, large = body(built, "/api/authors"), body(built)
    strays = [f"{large}.gz.headers", f"{large}.headers.gz", f"{small}.gz"]
    for path in strays:
        (built.folder / "dist" / path).write_text("?")

    assert sorted(found(built)) == sorted(f"{path}: is in no release" for path in strays)


def test_what_no_release_names_inside_a_release_is_found(built: Site) -> None:
    """A file that somebody put beside the configuration could be included by it."""
    path = f"releases/{built.store.current()}/more.conf"
    (built.folder / "dist" / path).write_text("?")

    assert found(built) == [f"{path}: is in no release"]


def test_a_folder_that_is_a_link_is_found(built: Site) -> None:
    """A tree that lies elsewhere is not the one that was built."""
    path = "www/api/v1"
    (built.folder / "dist" / path).rename(built.folder / "v1")
    (built.folder / "dist" / path).symlink_to(built.folder / "v1")

    assert [one for one in found(built) if one.startswith(f"{path}:")] == [
        f"{path}: is a symbolic link, and builds create none here"
    ]


def test_a_current_that_leads_elsewhere_is_found(built: Site) -> None:
    """nginx follows the link to its end, so its end must be the release of that name in this dist."""
    release, previous = built.store.current(), built.store.previous()
    shutil.copytree(built.folder / "dist/releases", built.folder / "releases", symlinks=True)
    for link, target in (("current", f"../releases/{release}"), (f"releases/{release}/previous", f"./../{previous}")):
        (built.folder / "dist" / link).unlink()
        (built.folder / "dist" / link).symlink_to(target)

    assert found(built) == [
        f"current: points to ../releases/{release} instead of releases/{release}",
        f"releases/{release}/previous: points to ./../{previous} instead of ../{previous}",
    ]


def test_a_configuration_without_the_name_of_its_release_is_found(built: Site) -> None:
    """The digest is taken before the release has a name; what still has none was never built."""
    path = built.folder / "dist/current/http.conf"
    path.write_bytes(path.read_bytes().replace(str(built.store.current()).encode(), ID_PLACEHOLDER.encode()))

    assert found(built) == [f"releases/{built.store.current()}/http.conf: was changed after the build"]


def test_a_file_that_cannot_be_read_is_an_error_of_its_own(built: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What verify may not read it does not call missing."""

    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(filesystem, "read_regular", refuse)
    with pytest.raises(PermissionError):
        found(built)
