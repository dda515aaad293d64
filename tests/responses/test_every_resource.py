"""Every resource of every golden site as a client receives it: the body and exactly the expected headers."""

import gzip
import hashlib
import re
from functools import cache

from generator.catalog.site_settings import CacheAges, Site
from generator.catalog.yaml import reader
from tests.conftest import SITES, Serve
from tests.responses.test_golden import NAMES
from tests.support.golden import bodies, sidecar
from tests.support.nginx_client import Answer, Web
from tests.support.tables import each

# The setting with the max-age of a path by its first segment, unless it has the name of the segment.
SETTINGS = {"authors": "people", "artists": "people", "members": "groups"}
SETTINGS_OF_V2 = SETTINGS | dict.fromkeys(("cubari", "pages", "chapters"), "series")
# Bodies of at least this size have a compressed form.
GZIP_FROM = 1400


@cache
def ages(name: str) -> CacheAges:
    """Those of site.yaml, or the defaults."""
    return Site.model_validate(reader.load((SITES / name / "site.yaml").read_bytes())).cache


def age(name: str, url: str) -> int:
    """The max-age of a URL. Of v2, the list of all chapters alone has that of releases."""
    parts = re.fullmatch(r"/api(?:/(v[12]))?/([a-z]+)(?:/.*)?", url)
    if not parts:
        return ages(name).index
    settings = SETTINGS_OF_V2 if parts[1] == "v2" else SETTINGS
    setting = "releases" if url == "/api/v2/chapters" else settings.get(parts[2], parts[2])
    return int(getattr(getattr(ages(name), parts[1] or "unversioned"), setting))


def body_headers(body: bytes) -> dict[str, str]:
    """The headers that a 200 has and a 304 does not."""
    return {"content-length": str(len(body))}


def common_headers(name: str, url: str) -> dict[str, str]:
    """The headers that a 200 and a 304 have in common, without compression."""
    fields = {
        "server": "nginx",
        "connection": "close",
        "content-type": "application/json",
        **sidecar(name, url),
        "cache-control": f"public, max-age={age(name, url)}",
        "x-frame-options": "SAMEORIGIN",
        "x-content-type-options": "nosniff",
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag",
    }
    if url.startswith("/api/v2/"):
        fields |= {
            "access-control-allow-methods": "GET, HEAD, OPTIONS",
            "access-control-allow-headers": "X-API-Key, If-None-Match, If-Modified-Since",
        }
    return fields | ({"vary": "Accept-Encoding"} if has_gzip(name, url) else {})


def with_weak_etag(fields: dict[str, str]) -> dict[str, str]:
    """The headers for a client that accepts gzip."""
    return fields | {"etag": f"W/{fields['etag']}"} if "vary" in fields else fields


def has_gzip(name: str, url: str) -> bool:
    return len(bodies(name)[url]) >= GZIP_FROM


def ask_all(web: Web, name: str, suffix: str = "", method: str = "GET", **headers: str) -> dict[str, Answer]:
    """The responses to one kind of request, by URL."""
    return {url: web.ask(url + suffix, method, **headers) for url in bodies(name)}


class TestEveryResource:
    @each("name", NAMES)
    def test_has_its_golden_body_and_exactly_the_expected_headers(self, serve: Serve, name: str) -> None:
        """GET returns 200. No header is missing, and there is no other. Object stores compute the same ETag."""
        responses = ask_all(serve(name)[1], name)

        assert {url: (response.status, response.fields, response.body) for url, response in responses.items()} == {
            url: (200, common_headers(name, url) | body_headers(body), body) for url, body in bodies(name).items()
        }
        assert [url for url, one in responses.items() if one["etag"] != f'"{hashlib.md5(one.body).hexdigest()}"'] == []

    @each("name", NAMES)
    def test_trailing_slash_changes_nothing(self, serve: Serve, name: str) -> None:
        """There is no redirect, and the headers are the same."""
        web = serve(name)[1]
        plain, slashed = ask_all(web, name), ask_all(web, name, suffix="/")

        assert {url: (response.status, response.fields, response.body) for url, response in slashed.items()} == {
            url: (response.status, response.fields, response.body) for url, response in plain.items()
        }

    @each("name", NAMES)
    @each("coding", ["identity", "gzip"])
    def test_head_has_the_headers_of_get(self, serve: Serve, name: str, coding: str) -> None:
        """Content-Length is included; the body is empty."""
        web = serve(name)[1]
        got = ask_all(web, name, Accept_Encoding=coding)
        head = ask_all(web, name, method="HEAD", Accept_Encoding=coding)

        assert {url: (response.status, response.fields, response.body) for url, response in head.items()} == {
            url: (200, response.fields, b"") for url, response in got.items()
        }

    @each("name", NAMES)
    @each("method", ["GET", "HEAD"])
    @each("by", ["etag", "last-modified"])
    def test_matching_etag_or_date_is_304(self, serve: Serve, name: str, by: str, method: str) -> None:
        """The 304 has the headers of the 200 without Content-Length."""
        web, field = serve(name)[1], {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}[by]
        responses = {url: web.ask(url, method, **{field: sidecar(name, url)[by]}) for url in bodies(name)}

        assert {url: (response.status, response.fields) for url, response in responses.items()} == {
            url: (304, common_headers(name, url)) for url in responses
        }

    @each("name", NAMES)
    def test_large_body_has_a_compressed_form(self, serve: Serve, name: str) -> None:
        """From 1400 bytes on, gzip returns the same body with a weak ETag. Below, gzip is ignored."""
        responses = ask_all(serve(name)[1], name, Accept_Encoding="gzip")
        unpacked = {
            url: gzip.decompress(response.body) if response["content-encoding"] == "gzip" else response.body
            for url, response in responses.items()
        }

        assert unpacked == bodies(name)
        assert {url: response.fields for url, response in responses.items()} == {
            url: with_weak_etag(common_headers(name, url))
            | body_headers(responses[url].body)
            | ({"content-encoding": "gzip"} if has_gzip(name, url) else {})
            for url in responses
        }

    @each("name", NAMES)
    def test_weak_etag_is_304(self, serve: Serve, name: str) -> None:
        """The 304 repeats the weak ETag."""
        web = serve(name)[1]
        responses = {
            url: web.ask(url, Accept_Encoding="gzip", If_None_Match=with_weak_etag(common_headers(name, url))["etag"])
            for url in bodies(name)
        }

        assert {url: (response.status, response.fields) for url, response in responses.items()} == {
            url: (304, with_weak_etag(common_headers(name, url))) for url in responses
        }

    @each("name", NAMES)
    def test_condition_that_holds_changes_nothing(self, serve: Serve, name: str) -> None:
        """The headers and the body are the usual ones."""
        web = serve(name)[1]
        responses = {url: web.ask(url, If_Match=sidecar(name, url)["etag"]) for url in bodies(name)}

        assert {url: (response.status, response.fields, response.body) for url, response in responses.items()} == {
            url: (200, common_headers(name, url) | body_headers(body), body) for url, body in bodies(name).items()
        }


@each("name", ["everything", "hostile"])
def test_golden_bodies_are_large_and_small(name: str) -> None:
    """Otherwise half of the tests above would check nothing."""
    assert {has_gzip(name, url) for url in bodies(name)} == {True, False}


def test_compressed_body_is_smaller(serve: Serve) -> None:
    responses = ask_all(serve("everything")[1], "everything", Accept_Encoding="gzip")

    assert [
        url
        for url, response in responses.items()
        if response["vary"] and len(response.body) >= len(bodies("everything")[url])
    ] == []


def test_every_response_has_a_date(serve: Serve) -> None:
    """Date is an IMF-fixdate on a 200, a 304, a 404 and a 412."""
    web = serve("minimal")[1]
    responses = [
        web.ask("/api/series"),
        web.ask("/api/series", If_None_Match="*"),
        web.ask("/api/nothing"),
        web.ask("/api/series", If_Match='"other"'),
    ]

    assert [response.status for response in responses] == [200, 304, 404, 412]
    assert all(
        re.fullmatch(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", response["date"])
        for response in responses
    )


@each("name", NAMES)
def test_file_names_are_no_urls(serve: Serve, name: str) -> None:
    """Bodies, sidecars and compressed files have no URL of their own."""
    site, web = serve(name)
    www = site.folder / "dist/www"
    files = [f"/{path.relative_to(www).as_posix()}" for path in sorted(www.rglob("*")) if path.is_file()]

    assert len(files) > 2 * len(bodies(name)) - 1
    assert [path for path in files if web.ask(path).status not in (400, 404)] == []
