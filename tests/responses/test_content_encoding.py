"""Accept-Encoding, and the headers that nginx ignores."""

import gzip

from tests.responses.conftest import visible
from tests.support.golden import bodies, sidecar
from tests.support.nginx_client import Web
from tests.support.tables import each

SITE = "everything"
LARGE = "/api/series/long-road"
ETAG = sidecar(SITE, LARGE)["etag"]


WITH_GZIP = [
    "gzip",
    "GZIP",
    "x-gzip",
    "gzip, deflate, br, zstd",
    "br;q=1.0, gzip;q=0.8, *;q=0.1",
    "deflate;q=0,gzip",
    "gzip;q=0.001",
    "gzip; q = 0.5",
    "\tbr\t,\tgzip\t",
    ",,gzip,,",
    "br, *",
    "gzip, *;q=0",
    "a" * 7900 + ", gzip",
]
WITHOUT_GZIP = [
    "",
    "identity",
    "gzip;q=0",
    "GZIP;Q=0.000",
    "gzip ; q = 0.0 , br",
    "x-gzip;q=0",
    "gzip;q=0, *",
    "br, *;q=0",
    "gzipped",
    "agzip",
    "g zip",
    '"gzip"',
    "deflate;x=gzip",
    "g" * 7900,
    "gzip;q=0," + "br," * 2500,
]


@each("value", WITH_GZIP)
def test_accepted_gzip_is_sent(web: Web, value: str) -> None:
    """The header names gzip, its old name or *, with any weight above 0."""
    response = web.ask(LARGE, Accept_Encoding=value)

    assert (response.status, response["content-encoding"], response["etag"]) == (200, "gzip", f"W/{ETAG}")
    assert gzip.decompress(response.body) == bodies(SITE)[LARGE]


@each("value", WITHOUT_GZIP)
def test_body_is_uncompressed_without_gzip(web: Web, value: str) -> None:
    """The header has weight 0 for gzip, another coding, or is malformed."""
    response = web.ask(LARGE, Accept_Encoding=value)

    assert (response.status, response["content-encoding"], response["etag"]) == (200, None, ETAG)
    assert response.body == bodies(SITE)[LARGE]


@each("value", ["bytes=0-3", "bytes=0-0,2-3", "bytes=99999-", "garbage"])
@each("method", ["GET", "HEAD"])
@each("more", [{}, {"If-Match": ETAG}, {"If-Range": ETAG}, {"Accept-Encoding": "gzip"}])
def test_range_is_ignored(web: Web, value: str, method: str, more: dict[str, str]) -> None:
    """The response is the whole body, without Accept-Ranges."""
    whole, response = web.ask(LARGE, method, **more), web.ask(LARGE, method, Range=value, **more)

    assert visible(response) == visible(whole)


@each(
    "headers",
    [
        {"Accept": "text/html"},
        {"Accept-Language": "de"},
        {"Cookie": "session=1; csrftoken=2"},
        {"X-API-Key": "x"},
        {"Origin": "https://other.example"},
        {"X-Accel-Redirect": "/_flatpanel/error"},
        {"Upgrade": "h2c"},
        {"TE": "trailers, gzip"},
    ],
)
def test_other_headers_are_ignored(web: Web, headers: dict[str, str]) -> None:
    plain, response = web.ask(LARGE), web.ask(LARGE, **headers)

    assert visible(response) == visible(plain)
