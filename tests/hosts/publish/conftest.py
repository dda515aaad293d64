"""A site, stores, and the command that publishes the one to the other."""

import gzip
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.conftest import Site
from tests.support import ssh_server, store_proxy
from tests.support.object_stores import BUCKET, ObjectStore
from tests.support.paths import ROOT
from tests.support.remote_site import NAME, Remote
from tests.support.ssh_server import SshServer
from tests.support.store_proxy import StoreProxy

_PREFIXES = count(1)


@dataclass
class BucketPublisher:
    """Publishes a site to a prefix of its own."""

    run: Callable[..., Result]
    site: Site
    store: ObjectStore
    prefix: str

    @property
    def target(self) -> str:
        return f"s3://{BUCKET}/{self.prefix}"

    def arguments(self, *options: object) -> list[object]:
        return ["publish", self.target, "--out", self.site.folder / "dist", "--lock-seconds", 1, *options]

    def __call__(self, *options: object, by: ObjectStore | None = None) -> Result:
        return self.run(*self.arguments(*options), **(by or self.store).environment)

    def edit(self, title: str = "Edited") -> None:
        """Change a series and build."""
        self.site.write("series/second.yaml", f"title: {title}\ncover: cover.jpg\nmodified: 2026-03-01T00:00:00Z\n")
        self.site.build()

    def totals(self, *options: object, by: ObjectStore | None = None) -> dict[str, Any]:
        """The counts of a publish that succeeds."""
        result = self(*options, "--json", by=by)
        assert result.exit_code == 0, result.output
        totals: dict[str, Any] = json.loads(result.stdout)
        return totals

    def elsewhere(self, folder: Path) -> "BucketPublisher":
        """Another publisher to the same place, with a copy of the site."""
        shutil.copytree(self.site.folder, folder, symlinks=True)
        return replace(self, site=Site(folder))

    def command(self, *options: object) -> list[str]:
        """The same as a process."""
        return [sys.executable, str(ROOT / "build.py"), *map(str, self.arguments(*options))]

    def bodies(self) -> dict[str, str]:
        """The keys of all objects but the publisher's own, and their tags."""
        keys = self.store.keys(self.prefix)
        return {key: tag for key, tag in keys.items() if not key.startswith(".flatpanel/")}

    def own_keys(self) -> list[str]:
        return sorted(key for key in self.store.keys(self.prefix) if key.startswith(".flatpanel/"))

    def pointer(self) -> dict[str, Any]:
        pointer: dict[str, Any] = json.loads(self.store.read(f"{self.prefix}/.flatpanel/pointer.json"))
        return pointer

    def listed(self) -> dict[str, str]:
        """The keys and tags of the objects, as the list that the pointer names says."""
        data = self.read(self.pointer()["list"])
        stored = json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
        return {key: line[0] for key, line in stored["objects"].items()}

    def is_current(self) -> bool:
        """Whether the pointer says that the bucket has the current release."""
        plan = self.totals("--dry-run")
        return bool(plan["sent"] == plan["removed"] == 0) and self.listed() == self.bodies()

    def read(self, key: str) -> bytes:
        return self.store.read(f"{self.prefix}/{key}")

    def put(self, key: str, data: bytes, **headers: str) -> None:
        self.store.put(f"{self.prefix}/{key}", data, **headers)

    def delete(self, key: str) -> None:
        self.store.delete(f"{self.prefix}/{key}")


def _publisher(site: Site, store: ObjectStore, run: Callable[..., Result]) -> BucketPublisher:
    site.build()
    return BucketPublisher(run, site, store, f"site-{next(_PREFIXES)}")


@pytest.fixture
def publish(site: Site, moto: ObjectStore, run: Callable[..., Result]) -> BucketPublisher:
    return _publisher(site, moto, run)


@pytest.fixture
def to_seaweed(site: Site, seaweed: ObjectStore, run: Callable[..., Result]) -> BucketPublisher:
    return _publisher(site, seaweed, run)


@pytest.fixture
def to_s3rver(site: Site, s3rver: ObjectStore, run: Callable[..., Result]) -> BucketPublisher:
    return _publisher(site, s3rver, run)


@pytest.fixture
def proxy(publish: BucketPublisher) -> Iterator[StoreProxy]:
    with store_proxy.proxy(publish.store) as running:
        yield running


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SshServer]:
    folder = tmp_path / "ssh server"
    folder.mkdir()
    with ssh_server.running(folder) as started:
        yield started


@pytest.fixture
def remote(site: Site, server: SshServer, tmp_path: Path, run: Callable[..., Result]) -> Remote:
    """A built site of two series, and a folder that does not exist yet."""
    site.build()
    return Remote(site, server, tmp_path / "srv" / NAME, run)
