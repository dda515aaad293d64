"""Every resource of every golden site, as a client receives it: the body and each header, no other."""

import gzip
import hashlib
import re

import pytest

from tests.conftest import Serve
from tests.responses.test_golden import NAMES, bodies, sidecar
from tests.support.nginx_client import Answer, Web

# What site.yaml of each golden site says, and the defaults where it says nothing.
AGES = {
    "minimal": {
        "index": 3600,
        "api": {"authors": 3600, "artists": 3600, "series": 300, "releases": 60},
        "v1": {"authors": 3600, "artists": 3600, "series": 300, "releases": 60, "categories": 3600, "groups": 3600},
    },
    "everything": {
        "index": 31,
        "api": {"authors": 11, "artists": 11, "series": 12, "releases": 13},
        "v1": {"authors": 21, "artists": 21, "series": 22, "releases": 23, "categories": 24, "groups": 25},
    },
    "hostile": {
        "index": 0,
        "api": {"authors": 0, "artists": 0, "series": 31536000, "releases": 0},
        "v1": {
            "authors": 31536000,
            "artists": 31536000,
            "series": 0,
            "releases": 1,
            "categories": 31535999,
            "groups": 0,
        },
    },
}
V2_DEFAULTS = {"people": 3600, "series": 300, "releases": 60, "categories": 3600, "groups": 3600}
V2_AGES = {
    "minimal": V2_DEFAULTS,
    "everything": {"people": 41, "series": 42, "releases": 43, "categories": 44, "groups": 45},
    "hostile": V2_DEFAULTS,
}
# What the paths of v2 are about, by their first word; /chapters alone changes with every release.
ABOUT = {"authors": "people", "artists": "people", "categories": "categories", "groups": "groups", "members": "groups"}
# From this size on there is a compressed form.
GZIP_FROM = 1400


def age(name: str, url: str) -> int:
    """How long the site says that a cache may keep a URL's answer."""
    if v2 := re.fullmatch(r"/api/v2/([a-z]+)(/.*)?", url):
        return V2_AGES[name]["releases" if url == "/api/v2/chapters" else ABOUT.get(v2[1], "series")]
    found = re.fullmatch(r"/api(/v1)?/([a-z]+)(/.*)?", url)
    return AGES[name]["v1" if found[1] else "api"][found[2]] if found else AGES[name]["index"]


def body_of(body: bytes) -> dict[str, str]:
    """What a 200 says of its body, and a 304 does not, since it has none."""
    return {"content-type": "application/json", "content-length": str(len(body))}


def shared(name: str, url: str) -> dict[str, str]:
    """What a 200 and a 304 have in common, for a client that wants no coding."""
    fields = {
        "server": "nginx",
        "connection": "close",
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


def weak(fields: dict[str, str]) -> dict[str, str]:
    """The same for a client that takes gzip, where there is a gzip form."""
    return fields | {"etag": f"W/{fields['etag']}"} if "vary" in fields else fields


def has_gzip(name: str, url: str) -> bool:
    return len(bodies(name)[url]) >= GZIP_FROM


def ask_all(web: Web, name: str, suffix: str = "", method: str = "GET", **headers: str) -> dict[str, Answer]:
    """The answer to one kind of request for every URL of a site."""
    return {url: web.ask(url + suffix, method, **headers) for url in bodies(name)}


@pytest.mark.parametrize("name", NAMES)
class TestEveryResource:
    def test_is_answered_with_its_golden_body(self, serve: Serve, name: str) -> None:
        """A GET is answered 200, and with the body that the catalog gives, byte for byte."""
        found = {url: (answer.status, answer.body) for url, answer in ask_all(serve(name)[1], name).items()}

        assert found == {url: (200, body) for url, body in bodies(name).items()}

    def test_has_exactly_these_headers(self, serve: Serve, name: str) -> None:
        """Every header that is promised stands there with its value, and nothing else does."""
        found = {url: answer.fields for url, answer in ask_all(serve(name)[1], name).items()}

        assert found == {url: shared(name, url) | body_of(body) for url, body in bodies(name).items()}

    def test_has_the_md5_of_its_body_as_its_tag(self, serve: Serve, name: str) -> None:
        """The tag is what an object store would compute from the same bytes."""
        found = {url: answer["etag"] for url, answer in ask_all(serve(name)[1], name).items()}

        assert found == {url: f'"{hashlib.md5(body).hexdigest()}"' for url, body in bodies(name).items()}

    def test_is_the_same_with_a_slash_at_the_end(self, serve: Serve, name: str) -> None:
        """The form with a slash is answered at once, without a redirect, and with the same headers."""
        web = serve(name)[1]
        plain, slashed = ask_all(web, name), ask_all(web, name, suffix="/")

        assert {url: (one.status, one.fields, one.body) for url, one in slashed.items()} == {
            url: (one.status, one.fields, one.body) for url, one in plain.items()
        }

    @pytest.mark.parametrize("coding", ["identity", "gzip"])
    def test_answers_head_like_get_without_the_body(self, serve: Serve, name: str, coding: str) -> None:
        """HEAD has every header of GET, Content-Length included, and no body."""
        web = serve(name)[1]
        got = ask_all(web, name, Accept_Encoding=coding)
        head = ask_all(web, name, method="HEAD", Accept_Encoding=coding)

        assert {url: (one.status, one.fields, one.body) for url, one in head.items()} == {
            url: (200, one.fields, b"") for url, one in got.items()
        }

    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    @pytest.mark.parametrize("by", ["etag", "last-modified"])
    def test_is_304_to_who_has_it(self, serve: Serve, name: str, by: str, method: str) -> None:
        """The tag alone and the date alone each give a 304, which has no length and no other header than these."""
        web, field = serve(name)[1], {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}[by]
        found = {url: web.ask(url, method, **{field: sidecar(name, url)[by]}) for url in bodies(name)}

        assert {url: (one.status, one.fields) for url, one in found.items()} == {
            url: (304, shared(name, url)) for url in found
        }

    def test_has_a_gzip_form_where_that_pays(self, serve: Serve, name: str) -> None:
        """From 1400 bytes on the compressed form holds the same body under the weak tag; below it, gzip is ignored."""
        found = ask_all(serve(name)[1], name, Accept_Encoding="gzip")
        unpacked = {
            url: gzip.decompress(one.body) if one["content-encoding"] == "gzip" else one.body
            for url, one in found.items()
        }

        assert unpacked == bodies(name)
        assert {url: one.fields for url, one in found.items()} == {
            url: weak(shared(name, url))
            | body_of(found[url].body)
            | ({"content-encoding": "gzip"} if has_gzip(name, url) else {})
            for url in found
        }

    def test_is_304_to_who_has_its_gzip_form(self, serve: Serve, name: str) -> None:
        """The weak tag is taken back from who got it, and repeated as it was sent."""
        web = serve(name)[1]
        found = {
            url: web.ask(url, Accept_Encoding="gzip", If_None_Match=weak(shared(name, url))["etag"])
            for url in bodies(name)
        }

        assert {url: (one.status, one.fields) for url, one in found.items()} == {
            url: (304, weak(shared(name, url))) for url in found
        }

    def test_is_answered_alike_under_a_strong_condition(self, serve: Serve, name: str) -> None:
        """A condition that holds changes nothing of the answer, header for header."""
        web = serve(name)[1]
        found = {url: web.ask(url, If_Match=sidecar(name, url)["etag"]) for url in bodies(name)}

        assert {url: (one.status, one.fields, one.body) for url, one in found.items()} == {
            url: (200, shared(name, url) | body_of(body), body) for url, body in bodies(name).items()
        }


@pytest.mark.parametrize("name", ["everything", "hostile"])
def test_both_forms_are_among_the_golden_bodies(name: str) -> None:
    """Bodies with and without a gzip form are there, or half of the above would say nothing."""
    assert {has_gzip(name, url) for url in bodies(name)} == {True, False}


def test_the_compressed_form_is_smaller(serve: Serve) -> None:
    """What is sent compressed saves bytes, or it would not be."""
    found = ask_all(serve("everything")[1], "everything", Accept_Encoding="gzip")

    assert [url for url, one in found.items() if one["vary"] and len(one.body) >= len(bodies("everything")[url])] == []


def test_every_answer_says_when_it_was_sent(serve: Serve) -> None:
    """Date is an IMF-fixdate on a 200, a 304, a 404 and a 412."""
    web = serve("minimal")[1]
    answers = [
        web.ask("/api/series"),
        web.ask("/api/series", If_None_Match="*"),
        web.ask("/api/nothing"),
        web.ask("/api/series", If_Match='"other"'),
    ]

    assert [one.status for one in answers] == [200, 304, 404, 412]
    assert all(
        re.fullmatch(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", one["date"]) for one in answers
    )


@pytest.mark.parametrize("name", NAMES)
def test_no_file_on_disk_can_be_asked_for_by_its_own_name(serve: Serve, name: str) -> None:
    """Bodies have one URL each; neither their files, nor the sidecars, nor the compressed forms have another."""
    site, web = serve(name)
    www = site.folder / "dist/www"
    files = [f"/{path.relative_to(www).as_posix()}" for path in sorted(www.rglob("*")) if path.is_file()]

    assert len(files) > 2 * len(bodies(name)) - 1
    assert [path for path in files if web.ask(path).status not in (400, 404)] == []
