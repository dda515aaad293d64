"""Every resource of every golden site as a client receives it: the body and exactly the expected headers."""

import gzip
import re
from collections.abc import Callable
from functools import cache
from itertools import product

from generator import encoding
from generator.catalog.site_settings import CacheAges, Site
from generator.catalog.yaml import reader
from tests.conftest import SITES, Serve
from tests.responses.conftest import OF_API, OF_V2, visible
from tests.responses.test_golden import NAMES
from tests.support.golden import bodies, sidecar
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


def common_headers(name: str, url: str) -> dict[str, str]:
    """The headers that a 200 and a 304 have in common, without compression."""
    fields = OF_API | sidecar(name, url) | {"cache-control": f"public, max-age={age(name, url)}"}
    if url.startswith("/api/v2/"):
        fields |= OF_V2
    return fields | ({"vary": "Accept-Encoding"} if has_gzip(name, url) else {})


def has_gzip(name: str, url: str) -> bool:
    return len(bodies(name)[url]) >= GZIP_FROM


Condition = Callable[[dict[str, str]], dict[str, str]]
CONDITIONS: dict[str, Condition] = {
    "": lambda sent: {},
    "ETag": lambda sent: {"If-None-Match": sent["etag"]},
    "date": lambda sent: {"If-Modified-Since": sent["last-modified"]},
    "ETag that must match": lambda sent: {"If-Match": sent["etag"]},
}


@each("name", NAMES)
@each(
    ("method", "end", "coding", "condition"),
    [
        *product(["GET", "HEAD"], [""], ["", "gzip"], [""]),
        *product(["GET", "HEAD"], [""], [""], ["ETag", "date"]),
        ("GET", "/", "", ""),
        ("GET", "", "gzip", "ETag"),
        ("GET", "", "", "ETag that must match"),
    ],
)
def test_every_resource_has_its_golden_body_and_exactly_the_expected_headers(
    serve: Serve, name: str, method: str, end: str, coding: str, condition: str
) -> None:
    """No header is missing, and there is no other; a 304 has neither body nor length. A final slash changes nothing.

    A large body is sent compressed to clients that accept gzip, with a weak ETag.
    """
    web, status = serve(name)[1], 304 if condition in ("ETag", "date") else 200
    differing = {}
    for url, body in bodies(name).items():
        fields, sent = common_headers(name, url), body
        if coding and has_gzip(name, url):
            fields["etag"], sent = f"W/{fields['etag']}", encoding.gzip(body) or b""
        headers = CONDITIONS[condition](fields) | ({"Accept-Encoding": coding} if coding else {})
        answer = web.ask(url + end, method, **headers)
        if status == 200:
            fields |= {"content-length": str(len(sent))} | ({"content-encoding": "gzip"} if sent != body else {})
        expected = (status, fields, sent if (method, status) == ("GET", 200) else b"")
        if visible(answer) != expected:
            differing[url] = answer

    assert differing == {}


@each("name", ["everything", "hostile"])
def test_golden_bodies_are_large_and_small(serve: Serve, name: str) -> None:
    """Otherwise half of the test above would check nothing. What is sent compressed is smaller, and the same."""
    answers = {url: serve(name)[1].ask(url, Accept_Encoding="gzip") for url in bodies(name)}
    packed = {url: answer.body for url, answer in answers.items() if answer["content-encoding"]}

    assert 0 < len(packed) < len(answers)
    for url, body in packed.items():
        assert len(body) < len(bodies(name)[url]) and gzip.decompress(body) == bodies(name)[url]


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
