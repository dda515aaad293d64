"""What an edge worker keeps in memory."""

import shutil
from pathlib import Path

import pytest

from tests.conftest import Site
from tests.support import edge_servers, host_sites
from tests.support.edge_servers import RUNTIMES, on_edge_runtimes

pytestmark = on_edge_runtimes


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_polled_url_is_read_once(site: Site, tmp_path: Path, runtime: str) -> None:
    """Its body stays in memory. Without the files, other URLs are an error that no cache keeps."""
    site.build()
    packed = host_sites.pack(site, tmp_path / "packed")
    with edge_servers.running(runtime, packed) as server:
        first = server.ask("/api/v2/series/first")
        shutil.rmtree(packed / "files/public")
        again = server.ask("/api/v2/series/first")
        other = server.ask("/api/v2/series/first", If_None_Match=str(first["etag"]))
        missing = server.ask("/api/v2/docs/swagger-ui-bundle.js")

    assert (again.status, again.body, again["etag"]) == (200, first.body, first["etag"])
    assert other.status == 304
    assert (missing.status, missing["cache-control"]) == (500, "no-store")
