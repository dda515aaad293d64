"""Accept-Encoding, and the headers that are never looked at."""

import gzip

import pytest

from tests.conftest import Serve
from tests.responses.test_golden import bodies, sidecar
from tests.support.nginx_client import Web

SITE = "everything"
LARGE, SMALL = "/api/series/long-road", "/api/series/empty"
TAG = sidecar(SITE, LARGE)["etag"]


@pytest.fixture
def web(serve: Serve) -> Web:
    return serve(SITE)[1]


WANTED = [
    "gzip",
    "GZIP",
    "GZip",
    "x-gzip",
    "X-Gzip",
    "gzip, deflate",
    "gzip, deflate, br",
    "gzip, deflate, br, zstd",
    "br, gzip",
    "br;q=1.0, gzip;q=0.8, *;q=0.1",
    "deflate,gzip",
    "deflate;q=0,gzip",
    "identity, gzip",
    "identity;q=0, gzip",
    "gzip;q=1",
    "gzip;q=1.0",
    "gzip;q=1.000",
    "gzip;q=0.5",
    "gzip;q=0.001",
    "gzip;q=0.01",
    "gzip;Q=0.5",
    "gzip ; q=0.5",
    "gzip; q = 0.5",
    "  gzip  ",
    "\tbr\t,\tgzip\t",
    ",,gzip,,",
    "*",
    "*;q=0.5",
    "br, *",
    "gzip, *;q=0",
    "identity;q=0.5, *;q=0, gzip;q=1.0",
    "x-gzip;q=0.1",
    "a" * 7900 + ", gzip",
]
NOT_WANTED = [
    "",
    "identity",
    "identity;q=0",
    "br",
    "br, deflate, zstd",
    "gzip;q=0",
    "gzip;q=0.",
    "gzip;q=0.0",
    "gzip;q=0.00",
    "gzip;q=0.000",
    "GZIP;Q=0",
    "gzip ;q=0",
    "gzip; q=0",
    "gzip;q = 0",
    "gzip ; q = 0.0 , br",
    "x-gzip;q=0",
    "br, gzip;q=0",
    "gzip;q=0, *",
    "gzip;q=0, *;q=1",
    "*;q=0",
    "*;q=0.0",
    "br, *;q=0",
    "gzipped",
    "gzip2",
    "xgzip",
    "x-x-gzip",
    "agzip",
    "gzip-x",
    "g zip",
    '"gzip"',
    "deflate;x=gzip",
    "**",
    "garbage",
    ";",
    ",",
    "q=1",
    "g" * 7900,
    "gzip;q=0," + "br," * 2500,
]


@pytest.mark.parametrize("value", WANTED)
def test_who_takes_gzip_gets_it(web: Web, value: str) -> None:
    """By name, by its old name, in a list, with any weight above none, or because anything will do."""
    answer = web.ask(LARGE, Accept_Encoding=value)

    assert (answer.status, answer["content-encoding"], answer["etag"]) == (200, "gzip", f"W/{TAG}")
    assert gzip.decompress(answer.body) == bodies(SITE)[LARGE]


@pytest.mark.parametrize("value", NOT_WANTED)
def test_who_does_not_take_gzip_gets_the_body_as_it_is(web: Web, value: str) -> None:
    """A weight of nothing, another coding, or something that is none: the body is readable to everybody."""
    answer = web.ask(LARGE, Accept_Encoding=value)

    assert (answer.status, answer["content-encoding"], answer["etag"]) == (200, None, TAG)
    assert answer.body == bodies(SITE)[LARGE]


@pytest.mark.parametrize("value", [None, "gzip", "identity", "*;q=0", "br"])
def test_caches_are_told_that_there_are_two_forms(web: Web, value: str | None) -> None:
    """Whichever of them is sent, on the 200 and on the 304."""
    headers = {} if value is None else {"Accept-Encoding": value}
    found = [web.ask(LARGE, **headers), web.ask(LARGE, If_None_Match="*", **headers)]

    assert [(one.status, one["vary"]) for one in found] == [(200, "Accept-Encoding"), (304, "Accept-Encoding")]


@pytest.mark.parametrize("value", WANTED)
def test_a_small_body_has_one_form(web: Web, value: str) -> None:
    """Nothing is gained by compressing it, so nothing varies."""
    answer = web.ask(SMALL, Accept_Encoding=value)

    assert (answer.body, answer["content-encoding"], answer["vary"]) == (bodies(SITE)[SMALL], None, None)


@pytest.mark.parametrize("tag", [TAG, f"W/{TAG}", f'"other", {TAG}', "*"])
@pytest.mark.parametrize(("coding", "repeated"), [("gzip", f"W/{TAG}"), ("identity", TAG)])
def test_both_forms_are_fresh_under_either_tag(web: Web, tag: str, coding: str, repeated: str) -> None:
    """Weak comparison does not care which form a client got; the 304 repeats the tag of the form that it wants."""
    answer = web.ask(LARGE, Accept_Encoding=coding, If_None_Match=tag)

    assert (answer.status, answer["etag"], answer["content-encoding"]) == (304, repeated, None)


def test_an_error_is_never_compressed(web: Web) -> None:
    """It is too short for that."""
    answer = web.ask("/api/nothing", Accept_Encoding="gzip")

    assert (answer.status, answer["content-encoding"], answer["vary"]) == (404, None, None)
    assert answer.body == b'{"error":"Not found","status":404}'


@pytest.mark.parametrize(
    "value",
    [
        "bytes=0-3",
        "bytes=-5",
        "bytes=5-",
        "bytes=0-0,2-3",
        "bytes=99999-",
        "bytes=5-1",
        "bytes=",
        "items=0-3",
        "garbage",
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("others", [{}, {"If-Match": TAG}, {"If-Range": TAG}, {"Accept-Encoding": "gzip"}], ids=str)
def test_a_range_is_ignored(web: Web, value: str, method: str, others: dict[str, str]) -> None:
    """The whole body is sent, with the headers of a request for the whole, which do not offer ranges."""
    whole, answer = web.ask(LARGE, method, **others), web.ask(LARGE, method, Range=value, **others)

    assert (answer.status, answer.fields, answer.body) == (200, whole.fields, whole.body)


@pytest.mark.parametrize(
    "headers",
    [
        {"Accept": "text/html"},
        {"Accept": "application/json;q=0"},
        {"Accept": "*/*;q=0"},
        {"Accept": ""},
        {"Accept": "garbage,,;"},
        {"Accept-Language": "de"},
        {"Accept-Charset": "iso-8859-1"},
        {"User-Agent": ""},
        {"User-Agent": "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)"},
        {"User-Agent": "() { :; }; echo"},
        {"Cookie": "session=1; csrftoken=2"},
        {"Authorization": "Bearer x"},
        {"X-API-Key": "x"},
        {"Origin": "https://other.example"},
        {"Referer": "https://other.example/"},
        {"X-Forwarded-For": "127.0.0.1"},
        {"X-Original-URL": "/api/series"},
        {"X-Accel-Redirect": "/_flatpanel/error"},
        {"Cache-Control": "no-cache"},
        {"Pragma": "no-cache"},
        {"Upgrade": "h2c"},
        {"Content-Type": "text/html"},
        {"TE": "trailers, gzip"},
    ],
    ids=str,
)
@pytest.mark.parametrize("url", [LARGE, SMALL])
def test_other_headers_change_nothing(web: Web, url: str, headers: dict[str, str]) -> None:
    """Who asks, what they would rather have and where they come from is never looked at."""
    plain, answer = web.ask(url), web.ask(url, **headers)

    assert (answer.status, answer.fields, answer.body) == (200, plain.fields, plain.body)
