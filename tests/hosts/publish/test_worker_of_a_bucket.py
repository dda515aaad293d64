"""The worker in front of a bucket answers from the release that the pointer names."""

import subprocess
from pathlib import Path

import pytest

from generator.hosts.packs.pack_files import pack_release
from tests.conftest import Site
from tests.hosts.publish.conftest import BucketPublisher
from tests.support import core_server
from tests.support.object_stores import BUCKET
from tests.support.paths import DATA

URLS = ("/api/series", "/api/series/second", "/api/nothing")


def answers(publish: BucketPublisher, folder: Path, *prefixes: str) -> list[list[str]]:
    """The lines that the program prints."""
    bucket = f"{publish.store.endpoint}/{BUCKET}"
    program = DATA / "javascript/published_bucket.mjs"
    command = [core_server.NODE, program, folder, bucket, ",".join(prefixes), ",".join(URLS)]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return [line.split() for line in done.stdout.splitlines()]


def tags(site: Site) -> list[list[str]]:
    return [["200", site.manifest.resources[url].etag] for url in URLS[:2]]


@pytest.mark.skipif(not core_server.NODE, reason="no node")
def test_the_pointer_decides(to_seaweed: BucketPublisher, tmp_path: Path) -> None:
    """A new release needs no deployment; a worker that never had a pointer answers 500."""
    options = ("--layout", "packs", "--with-restricted")
    to_seaweed.totals(*options)
    pack_release(to_seaweed.site.store, tmp_path / "edge")
    old, first = tags(to_seaweed.site), to_seaweed.prefix
    to_seaweed.prefix = f"{first}-later"
    to_seaweed.edit()
    to_seaweed.totals(*options)
    new = tags(to_seaweed.site)
    assert old != new
    lines = answers(to_seaweed, tmp_path / "edge", first, to_seaweed.prefix)
    assert lines[:2] == old and lines[3:5] == new
    assert [status for status, *_ in lines] == ["200", "200", "404", "200", "200", "404", "pointers", *["500"] * 3]
    assert lines[6] == ["pointers", "2"]
