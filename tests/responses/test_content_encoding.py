"""Accept-Encoding, and the headers that nginx ignores."""

import gzip

from tests.support.golden import bodies, sidecar
from tests.support.nginx_client import Web
from tests.support.tables import each

SITE = "everything"
LARGE, SMALL = "/api/series/long-road", "/api/series/empty"
ETAG = sidecar(SITE, LARGE)["etag"]


WITH_GZIP = [
    "gzip",
    "GZIP",
    "x-gzip",
    "gzip, deflate",
    "gzip, deflate, br",
    "gzip, deflate, br, zstd",
    "br;q=1.0, gzip;q=0.8, *;q=0.1",
    "deflate,gzip",
    "deflate;q=0,gzip",
    "identity;q=0, gzip",
    "gzip;q=1.000",
    "gzip;q=0.001",
    "gzip;Q=0.5",
    "gzip; q = 0.5",
    "\tbr\t,\tgzip\t",
    ",,gzip,,",
    "*",
    "br, *",
    "gzip, *;q=0",
    "identity;q=0.5, *;q=0, gzip;q=1.0",
    "x-gzip;q=0.1",
    "a" * 7900 + ", gzip",
]
WITHOUT_GZIP = [
    "",
    "identity",
    "br, deflate, zstd",
    "gzip;q=0",
    "gzip;q=0.0",
    "gzip;q=0.000",
    "GZIP;Q=0",
    "gzip ; q = 0.0 , br",
    "x-gzip;q=0",
    "gzip;q=0, *",
    "*;q=0",
    "br, *;q=0",
    "gzipped",
    "xgzip",
    "agzip",
    "g zip",
    '"gzip"',
    "deflate;x=gzip",
    "garbage",
    ",",
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


@each("value", [None, "gzip", "identity", "*;q=0", "br"])
def test_vary_on_200_and_304(web: Web, value: str | None) -> None:
    """Vary does not depend on the sent coding."""
    headers = {} if value is None else {"Accept-Encoding": value}
    responses = [web.ask(LARGE, **headers), web.ask(LARGE, If_None_Match="*", **headers)]

    assert [(response.status, response["vary"]) for response in responses] == [
        (200, "Accept-Encoding"),
        (304, "Accept-Encoding"),
    ]


@each("value", WITH_GZIP)
def test_small_body_is_never_compressed(web: Web, value: str) -> None:
    """It has no Vary."""
    response = web.ask(SMALL, Accept_Encoding=value)

    assert (response.body, response["content-encoding"], response["vary"]) == (bodies(SITE)[SMALL], None, None)


@each("etag", [ETAG, f"W/{ETAG}", f'"other", {ETAG}', "*"])
@each(("coding", "expected"), [("gzip", f"W/{ETAG}"), ("identity", ETAG)])
def test_weak_and_strong_etag_are_304_for_both_codings(web: Web, etag: str, coding: str, expected: str) -> None:
    """The 304 has the ETag of the coding that the client accepts."""
    response = web.ask(LARGE, Accept_Encoding=coding, If_None_Match=etag)

    assert (response.status, response["etag"], response["content-encoding"]) == (304, expected, None)


def test_error_is_never_compressed(web: Web) -> None:
    """Errors are short."""
    response = web.ask("/api/nothing", Accept_Encoding="gzip")

    assert (response.status, response["content-encoding"], response["vary"]) == (404, None, None)
    assert response.body == b'{"error":"Not found","status":404}'


@each(
    "value",
    [
        "bytes=0-3",
        "bytes=5-",
        "bytes=0-0,2-3",
        "bytes=99999-",
        "items=0-3",
        "garbage",
    ],
)
@each("method", ["GET", "HEAD"])
@each("more", [{}, {"If-Match": ETAG}, {"If-Range": ETAG}, {"Accept-Encoding": "gzip"}])
def test_range_is_ignored(web: Web, value: str, method: str, more: dict[str, str]) -> None:
    """The response is the whole body, without Accept-Ranges."""
    whole, response = web.ask(LARGE, method, **more), web.ask(LARGE, method, Range=value, **more)

    assert (response.status, response.fields, response.body) == (200, whole.fields, whole.body)


@each(
    "headers",
    [
        {"Accept": "text/html"},
        {"Accept": "application/json;q=0"},
        {"Accept": ""},
        {"Accept-Language": "de"},
        {"Accept-Charset": "iso-8859-1"},
        {"User-Agent": ""},
        {"Cookie": "session=1; csrftoken=2"},
        {"Authorization": "Bearer x"},
        {"X-API-Key": "x"},
        {"Origin": "https://other.example"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"X-Original-URL": "/api/series"},
        {"X-Accel-Redirect": "/_flatpanel/error"},
        {"Cache-Control": "no-cache"},
        {"Upgrade": "h2c"},
        {"TE": "trailers, gzip"},
    ],
)
@each("url", [LARGE, SMALL])
def test_other_headers_are_ignored(web: Web, url: str, headers: dict[str, str]) -> None:
    plain, response = web.ask(url), web.ask(url, **headers)

    assert (response.status, response.fields, response.body) == (200, plain.fields, plain.body)
