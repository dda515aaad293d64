"""What a stranger may read of a host has no API key, no digest over restricted lines, and nothing of an account."""

import gzip
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result

from generator import encoding
from generator.hosts.plain.export import HOSTS
from generator.release import manifest
from tests.conftest import Site
from tests.hosts.publish.conftest import BucketPublisher
from tests.support.object_stores import ObjectStore
from tests.support.pack_reader import PackedFolder
from tests.support.runs import sample
from tests.support.site_variants import SMALL, variant_of


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = variant_of(SMALL, tmp_path_factory.mktemp("small"))
    path = made.folder / "catalog_src/accounts.yaml"
    path.write_text(path.read_text().replace("username: ", "username: account-of-"))
    made.build()
    return made


@pytest.fixture(scope="module")
def secrets(site: Site) -> set[bytes]:
    """Restricted bodies, digests of keys, data of accounts, and all digests over restricted lines of the manifest."""
    bodies = site.manifest.resources.values()
    public = {body.etag for body in bodies if not body.restricted}
    hidden = [body for body in bodies if body.restricted and body.etag not in public]
    texts = {text for body in hidden for text in (body.etag, body.sha256, Path(body.file).name)}
    texts |= {"account-of-one", "una@mail.example", "me & you.png", "una.example"}
    with site.store.table() as table:
        texts |= {table.id, *table.keys, *filter(None, table.keys.values())}
        segments = [table.segment(slug) for slug in table.segments]
    segments.append(manifest.SEPARATOR.join(segments))
    for segment in segments:
        lines = segment.split(manifest.SEPARATOR)
        for text in (segment, *lines, *lines_before_restricted(lines)):
            if b'"restricted":true' in text:
                texts |= {encoding.digest(text), encoding.sha256(text)[:32]}
    contents = {(site.store.root / body.file).read_bytes() for body in hidden}
    assert len(hidden) > 10 and len(texts) > 90
    return {text.encode() for text in texts} | {content for content in contents if len(content) > 40}


def lines_before_restricted(lines: list[bytes]) -> Iterator[bytes]:
    """The segment up to each restricted line."""
    for at, line in enumerate(lines, 1):
        if b'"restricted":true' in line:
            yield manifest.SEPARATOR.join(lines[:at])


def plain(content: bytes) -> bytes:
    return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content


def files(folder: Path) -> bytes:
    """Names and contents of all files."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    assert len(paths) > 1
    return b"\n".join(path.relative_to(folder).as_posix().encode() + b" " + plain(path.read_bytes()) for path in paths)


def found(secrets: set[bytes], text: bytes) -> list[bytes]:
    return sorted(secret for secret in secrets if secret in text)


@pytest.mark.parametrize("options", sample([(), *(("--for", host) for host in sorted(HOSTS)), ("--cubari",)], 3))
def test_exports(
    site: Site, secrets: set[bytes], tmp_path: Path, run: Callable[..., Result], options: tuple[str, ...]
) -> None:
    assert run("export", "--out", site.store.root, *options, tmp_path / "public").exit_code == 0
    assert found(secrets, files(tmp_path / "public")) == []


def test_public_packs(site: Site, secrets: set[bytes], tmp_path: Path, run: Callable[..., Result]) -> None:
    """The worker beside them, which no host serves, checks API keys."""
    assert run("pack", "--out", site.store.root, tmp_path / "edge").exit_code == 0
    packed = PackedFolder(tmp_path / "edge")
    names = [name for _, _, name in packed.packs("public")]
    bodies = [record.body for name in names for _, record in packed.records("public", name)]
    assert found(secrets, b"\n".join((files(tmp_path / "edge/files/public"), *bodies))) == []
    shutil.rmtree(tmp_path / "edge/files/private")
    shutil.rmtree(tmp_path / "edge/worker")
    (tmp_path / "edge/.flatpanel-packs").unlink()
    assert found(secrets, files(tmp_path / "edge")) == []


@pytest.mark.end_to_end
@pytest.mark.hosts
@pytest.mark.parametrize("options", [(), ("--layout", "packs"), ("--layout", "packs", "--with-restricted")])
def test_buckets(
    site: Site, secrets: set[bytes], run: Callable[..., Result], moto: ObjectStore, options: tuple[str, ...]
) -> None:
    """The list that the bucket keeps is part of it. With restricted packs, all of them are below one folder."""
    publish = BucketPublisher(run, site, moto, f"nothing-restricted-{len(options)}")
    publish.totals(*options)
    keys = [key for key in (*publish.bodies(), *publish.own_keys()) if not key.startswith("private/")]
    stored = b"\n".join(key.encode() + b" " + plain(publish.read(key)) for key in keys)
    private = {key.partition("/")[2].encode() for key in publish.bodies() if key.startswith("private/")}
    pointed = {value.partition("/")[2].encode() for value in publish.pointer().values() if "/" in str(value)}
    assert len(keys) > 5 and found(secrets | (private - pointed), stored) == []
