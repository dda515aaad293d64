"""The worker in front of a bucket answers from the release that the pointer names."""

import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import Result

from generator.api.payloads.resources import SERIES_INDEX_URL, key
from generator.hosts.packs.pack_files import pack_release
from generator.review.verify_server import check_server
from tests.conftest import Site
from tests.hosts.publish.conftest import BucketPublisher
from tests.hosts.test_differential import REASONS
from tests.support import core_server, edge_servers, host_sites, odd_requests, same_answers, site_variants
from tests.support.edge_servers import needs_edge_runtimes
from tests.support.object_stores import BUCKET, ObjectStore
from tests.support.odd_requests import Request
from tests.support.pack_reader import PackedFolder
from tests.support.paths import DATA

URLS = ("/api/series", "/api/series/second", "/api/nothing")


def answers(
    publish: BucketPublisher, folder: Path, *prefixes: str, before: str = "", run: Sequence[str] = ()
) -> list[list[str]]:
    """The lines that the program prints. It runs a command before it reads an object with this part in its key."""
    bucket = f"{publish.store.endpoint}/{BUCKET}"
    program = DATA / "javascript/published_bucket.mjs"
    command = [core_server.NODE, program, folder, bucket, ",".join(prefixes), ",".join(URLS), before, *run]
    environment = {**os.environ, **publish.store.environment}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, env=environment)
    assert done.stderr == ""
    return [line.split() for line in done.stdout.splitlines()]


def tags(site: Site) -> list[list[str]]:
    return [["200", site.manifest.resources[url].etag] for url in URLS[:2]]


@pytest.mark.hosts
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


@pytest.mark.hosts
@pytest.mark.skipif(not core_server.NODE, reason="no node")
@pytest.mark.parametrize("part", ["releases/", "public/"])
def test_a_publish_while_a_worker_starts(to_seaweed: BucketPublisher, tmp_path: Path, part: str) -> None:
    """It removes what the pointer named, or the packs of the release that was read: the next release answers."""
    to_seaweed.totals("--layout", "packs")
    pack_release(to_seaweed.site.store, tmp_path / "edge")
    to_seaweed.edit()
    publish = to_seaweed.command("--layout", "packs")
    lines = answers(to_seaweed, tmp_path / "edge", to_seaweed.prefix, before=part, run=publish)
    assert lines[:2] == tags(to_seaweed.site)
    assert lines[2][0] == "404" and lines[3] == ["pointers", "2"]


@needs_edge_runtimes
@pytest.mark.edge
def test_a_bucket_without_restricted_packs_has_the_rest(
    seaweed: ObjectStore, run: Callable[..., Result], tmp_path: Path
) -> None:
    """What needs no key is as on nginx, with searches and lists; the rest is as if it did not exist, and never 500."""
    with host_sites.served_site("v2", tmp_path) as host:
        publish = BucketPublisher(run, host.site, seaweed, "without-restricted")
        publish.totals("--layout", "packs")
        odd = odd_requests.requests(host.words, 23, 2000)
        # No key opens anything there.
        without_key = [request for request in odd if not {"valid key", "valid key in the query"} & request.features]
        requests = [*(Request(target.url) for target in host.words.targets), *without_key]
        with edge_servers.before_bucket(host.packed, seaweed, publish.prefix) as server:
            ports = {"nginx": host.web.port, "workerd": server.port}
            found = same_answers.differences(ports, requests)
            left = [difference for difference in found if not difference.explained_by(REASONS)]
            public = [difference for difference in left if difference.answers["nginx"].status != 401]

            assert public == [], same_answers.report(public)
            assert left and max(difference.answers["workerd"].status for difference in left) < 500
            assert server.ask("/api/v2/series?limit=5")["date"]


@needs_edge_runtimes
@pytest.mark.edge
@pytest.mark.parametrize("route", ["/series", "/series/{slug}"])
def test_searches_are_as_restricted_as_the_series(
    seaweed: ObjectStore, run: Callable[..., Result], tmp_path: Path, route: str
) -> None:
    """Without the restricted packs, what needs the index of searches is 401, and no public object has the index."""
    with site_variants.served(tmp_path, settings=f'restricted: ["{route}"]') as (made, _):
        publish = BucketPublisher(run, made, seaweed, f"searches-of-{len(route)}")
        publish.totals("--layout", "packs")
        packed = host_sites.pack(made, tmp_path / "packed")
        with edge_servers.before_bucket(packed, seaweed, publish.prefix) as server:
            for url in (
                "/api/v2/series?limit=5",
                "/api/v2/series?title=full",
                "/api/v2/chapters?series=full-book",
                "/api/v2/pages?series=FULL-BOOK&volume=1&number=1",
            ):
                assert server.ask(url).status == 401, url
            assert server.ask("/api/v2/series?page=1").status == (401 if route == "/series" else 200)
            url = f"http://127.0.0.1:{server.port}"
            assert check_server(made.store, url, time.monotonic, host="public-packs").faults == []
    record = PackedFolder(packed).find(key(SERIES_INDEX_URL))
    assert record and record.tree == "private"
