"""The list of nothing: one body for every address that finds nothing yet, and so without a date of its own."""

import time

import pytest

from generator import encoding
from generator.api.resources import EMPTY_RESULTS_URL
from generator.release import manifest
from generator.review import verify_server
from tests.conftest import Site
from tests.support.nginx_client import Web

ADDRESSES = [
    "/api/v2/pages?series=nobody&volume=1&number=1",
    "/api/v2/pages?series=in-shops&volume=1&number=1",
    "/api/v2/pages?series=full-book&volume=01&number=999",
    "/api/v2/chapters?series=nobody",
    "/api/v2/chapters?series=in-shops",
    "/api/v2/chapters?series=in-shops&date_format=timestamp",
    "/api/v2/chapters?series=members-only",
    EMPTY_RESULTS_URL,
]
BODY = b'{"results":[]}'
TAG = f'"{encoding.etag(BODY)}"'
OLD, NEW = "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"


@pytest.fixture(scope="module")
def site(serve) -> Site:
    return serve("v2")[0]


@pytest.fixture(scope="module")
def web(serve) -> Web:
    return serve("v2")[1]


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", ADDRESSES)
@pytest.mark.parametrize(
    ("conditions", "status"),
    [
        ({}, 200),
        # What has no date has not been the same since any (RFC 9110, 13.1.3) …
        ({"If_Modified_Since": NEW}, 200),
        ({"If_Modified_Since": OLD}, 200),
        # … and what it has not been since is not asked either (13.1.4).
        ({"If_Unmodified_Since": OLD}, 200),
        ({"If_Unmodified_Since": NEW}, 200),
        ({"If_Unmodified_Since": OLD, "If_Modified_Since": NEW}, 200),
        # The tag is right at every address.
        ({"If_None_Match": TAG}, 304),
        ({"If_None_Match": TAG, "If_Modified_Since": OLD}, 304),
        ({"If_None_Match": '"other"', "If_Modified_Since": NEW}, 200),
        ({"If_Unmodified_Since": OLD, "If_None_Match": TAG}, 304),
        ({"If_Match": TAG}, 200),
        ({"If_Match": TAG, "If_Modified_Since": NEW}, 200),
        ({"If_Match": '"other"'}, 412),
    ],
)
def test_nothing_has_a_tag_and_no_date(web: Web, path: str, method: str, conditions, status: int) -> None:
    """What is found there later may be older than the site, and a date would hide it from who asks by date."""
    answer = web.ask(path, method, **conditions)

    assert (answer.status, answer["last-modified"]) == (status, None)
    if status != 412:
        assert answer["etag"] == TAG
        assert answer.body == (BODY if (method, status) == ("GET", 200) else b"")


def test_a_list_that_is_merely_empty_has_its_date(web: Web) -> None:
    """What is filtered to nothing is made of the index, whose date moves with whatever may be found in it."""
    assert web.ask("/api/v2/series?title=nothing-has-this-title")["last-modified"] is not None


def test_the_release_says_the_same_of_it(site: Site, web: Web) -> None:
    """Its sidecar, its line of the manifest, and what a server is compared with."""
    one = site.manifest.resources[EMPTY_RESULTS_URL]
    line = encoding.parse((site.folder / "dist/current/manifest.json").read_bytes())["resources"][EMPTY_RESULTS_URL]

    assert (
        (site.folder / "dist" / f"{one.file}.headers").read_bytes()
        == manifest.sidecar(one)
        == b"ETag: %s\n" % (TAG.encode())
    )
    assert (line["last_modified"], line["modified"]) == (None, one.modified)
    assert verify_server.expected_headers(one, packed=False)["Last-Modified"] is None
    assert verify_server.check_server(site.store, f"http://127.0.0.1:{web.port}", time.monotonic).faults == []
