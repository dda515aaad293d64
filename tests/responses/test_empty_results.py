"""Empty results: one body for every URL without results yet, therefore without Last-Modified."""

from generator import encoding
from generator.api.payloads.resources import EMPTY_RESULTS_URL
from generator.release import manifest
from generator.review.promises.urls import expected_headers
from tests.conftest import Serve
from tests.support.nginx_client import Web
from tests.support.tables import each

URLS = [
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
ETAG = f'"{encoding.etag(BODY)}"'
OLD, NEW = "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"


@each("method", ["GET", "HEAD"])
@each("path", URLS)
@each(
    ("conditions", "status"),
    [
        ({}, 200),
        # Without Last-Modified, If-Modified-Since has no effect (RFC 9110, 13.1.3) …
        ({"If_Modified_Since": NEW}, 200),
        # … and neither has If-Unmodified-Since (13.1.4).
        ({"If_Unmodified_Since": OLD}, 200),
        ({"If_Unmodified_Since": OLD, "If_Modified_Since": NEW}, 200),
        # The ETag is the same at every URL.
        ({"If_None_Match": ETAG}, 304),
        ({"If_None_Match": '"other"', "If_Modified_Since": NEW}, 200),
        ({"If_Unmodified_Since": OLD, "If_None_Match": ETAG}, 304),
        ({"If_Match": ETAG}, 200),
        ({"If_Match": '"other"'}, 412),
    ],
)
def test_empty_results_have_an_etag_but_no_last_modified(
    web: Web, path: str, method: str, conditions, status: int
) -> None:
    """A body that appears later may be older than the site. A date would hide it from clients that compare dates."""
    response = web.ask(path, method, **conditions)

    assert (response.status, response["last-modified"]) == (status, None)
    if status != 412:
        assert response["etag"] == ETAG
        assert response.body == (BODY if (method, status) == ("GET", 200) else b"")


def test_empty_filtered_list_has_last_modified(web: Web) -> None:
    """It is made from the index, whose date increases with every series."""
    assert web.ask("/api/v2/series?title=nothing-has-this-title")["last-modified"] is not None


def test_sidecar_and_manifest_have_no_last_modified(serve: Serve) -> None:
    """`verify` expects none; test_slug_redirects.py verifies a site with this body."""
    site, _ = serve("v2")
    published = site.manifest.resources[EMPTY_RESULTS_URL]
    line = encoding.parse((site.folder / "dist/current/manifest.json").read_bytes())["resources"][EMPTY_RESULTS_URL]

    assert (
        (site.folder / "dist" / f"{published.file}.headers").read_bytes()
        == manifest.sidecar(published)
        == b"ETag: %s\n" % (ETAG.encode())
    )
    assert (line["last_modified"], line["modified"]) == (None, published.modified)
    assert expected_headers(published, packed=False)["Last-Modified"] is None
