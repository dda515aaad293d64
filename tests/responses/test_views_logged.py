"""Which requests count as views, and what the log contains: a time, an id and a chapter."""

import re

import pytest

from generator import encoding
from tests.support.nginx_client import Web
from tests.support.site_variants import served
from tests.support.tables import each

PAGES = "/api/v2/chapters/11/pages"
PLACE = "/api/v2/pages?series=full-book&volume=1&number=1"
SECRET = "/api/v2/chapters/31/pages"
SECRET_PLACE = "/api/v2/pages?series=members-only&volume=1&number=1"
KEY = {"X_API_Key": "key-one"}
SETTINGS = ""  # a server of this module
COMPLAINTS = ("client intended to send too large body", "client sent invalid chunked body")


@pytest.fixture
def log(running):
    """Read and remove the written lines. nginx logs a request before it closes the connection."""
    path = running[0].folder / "dist/run/views.log"

    def read() -> str:
        text = path.read_text()
        path.write_text("")
        return text

    read()
    return read


def chapters(text: str) -> list[str]:
    return [line.split(" ")[2] for line in text.splitlines()]


def test_line_has_time_id_and_chapter(web: Web, log) -> None:
    """The line contains nothing about the client and no API key."""
    web.ask(f"{PAGES}?track=true&api_key=key-one", User_Agent="somebody", Referer="somewhere")

    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[-+]\d\d:\d\d [0-9a-f]{32} 11\n", log())


def test_view_of_a_shared_number_is_one_of_the_highest_id(tmp_path_factory) -> None:
    """That is the chapter whose pages are served."""
    with served(tmp_path_factory.mktemp("versions"), "imported") as (site, web):
        web.ask("/api/v2/pages?series=versions&volume=0&number=2&track=true")

        assert chapters((site.folder / "dist/run/views.log").read_text()) == ["75"]


def test_every_line_has_a_unique_id(web: Web, log) -> None:
    """Two views of a chapter in the same second are two views."""
    for _ in range(3):
        web.ask(f"{PAGES}?track=true")

    assert len(set(log().splitlines())) == 3


@each(
    ("method", "path", "headers", "status", "chapter"),
    [
        ("GET", f"{PAGES}?track=true", {}, 200, "11"),
        ("GET", f"{PAGES}/?track=true", {}, 200, "11"),
        ("GET", f"{PAGES}?track=false&track=true", {}, 200, "11"),
        ("GET", f"{PAGES}?track=true", {"Accept_Encoding": "gzip"}, 200, "11"),
        ("GET", f"{PAGES}?track=true", {"If_None_Match": '"other"'}, 200, "11"),
        ("GET", f"{PAGES}?track=true", {"If_None_Match": "*"}, 304, "11"),
        ("GET", f"{PAGES}?track=true", {"If_Modified_Since": "Fri, 01 Jan 2100 00:00:00 GMT"}, 304, "11"),
        ("GET", f"{PAGES}?track=true", {"If_Match": "*"}, 200, "11"),
        ("GET", f"{PAGES}?track=true", {"If_Match": "*", "If_None_Match": "*"}, 304, "11"),
        ("GET", f"{PAGES}?track=true", {"If_Match": "*", "If_None_Match": '"other"'}, 200, "11"),
        # Decoded like every other parameter.
        ("GET", f"{PAGES}?tr%61ck=tru%65", {}, 200, "11"),
        # The fragment after # is not part of the query.
        ("GET", f"{PAGES}?track=true#&track=false", {}, 200, "11"),
        ("GET", f"{PAGES}?track=true#x", {"If_None_Match": "*"}, 304, "11"),
        ("GET", f"{PLACE}&track=true", {}, 200, "11"),
        ("GET", f"{PLACE}&track=true", {"If_None_Match": "*"}, 304, "11"),
        ("GET", f"{PLACE}&track=true", {"If_Match": "*"}, 200, "11"),
        ("GET", f"{SECRET}?track=true", KEY, 200, "31"),
        ("GET", f"{SECRET}?track=true&api_key=key-one", {}, 200, "31"),
        ("GET", f"{SECRET}?track=true", KEY | {"If_None_Match": "*"}, 304, "31"),
        ("GET", f"{SECRET}?track=true&api_key=key-one", {"If_Match": "*"}, 200, "31"),
        ("GET", f"{SECRET_PLACE}&track=true", KEY, 200, "31"),
        # No views: another method, an error, another value of `track` or another resource.
        ("GET", PAGES, {}, 200, None),
        ("GET", PLACE, {}, 200, None),
        ("GET", f"{PAGES}?track=True", {}, 200, None),
        ("GET", f"{PAGES}?track=true&track=false", {}, 200, None),
        ("GET", f"{PAGES}?track=true&tr%61ck=false", {}, 200, None),
        ("GET", f"{PAGES}?a=b#&track=true", {}, 200, None),
        ("GET", f"{PAGES}?track=false#&track=true", {"If_None_Match": "*"}, 304, None),
        ("GET", "/api/v2/chapters/11?track=true", {}, 200, None),
        ("GET", "/api/v2/series/full-book/chapters?track=true", {}, 200, None),
        ("GET", "/api/v2/series?title=full&track=true", {}, 200, None),
        ("GET", "/api/v1/series/full-book/1/1?track=true", {}, 200, None),
        ("GET", "/api/v2/pages?series=nobody&volume=1&number=1&track=true", {}, 200, None),
        ("GET", "/api/v2/pages?series=in-shops&volume=1&number=1&track=true", {}, 200, None),
        ("GET", "/api/v2/chapters/11/read?track=true", {}, 308, None),
        ("GET", "/api/v2/chapters/99/pages?track=true", {}, 404, None),
        ("GET", "/api/v2/Chapters/11/pages?track=true", {}, 404, None),
        ("GET", "/api/v2/chapters/41/pages?track=true", {}, 451, None),
        ("GET", "/api/v2/pages?track=true", {}, 400, None),
        ("GET", f"{SECRET}?track=true", {}, 401, None),
        ("GET", f"{SECRET}?track=true", {"X_API_Key": "nonsense"}, 401, None),
        ("GET", f"{PAGES}?track=true", {"If_Match": '"other"'}, 412, None),
        ("HEAD", f"{PAGES}?track=true", {}, 200, None),
        ("HEAD", f"{PAGES}?track=true", {"If_None_Match": "*"}, 304, None),
        ("HEAD", f"{PAGES}?track=true", {"If_Match": "*"}, 200, None),
        ("HEAD", f"{PLACE}&track=true", {}, 200, None),
        ("OPTIONS", f"{PAGES}?track=true", {}, 204, None),
        ("POST", f"{PAGES}?track=true", {}, 405, None),
    ],
)
def test_a_get_of_the_pages_of_a_chapter_is_one_view(
    web: Web, log, method: str, path: str, headers: dict[str, str], status: int, chapter: str | None
) -> None:
    """If it has `track=true`, and the response is 200 or 304."""
    assert (web.ask(path, method, **headers).status, chapters(log())) == (status, [chapter] if chapter else [])


def test_no_log_contains_a_key_or_digest(running, web: Web, log) -> None:
    """Neither log contains the key of a request, even if the request fails."""
    site, _ = running
    key, wrong = "key-one", f"fpk_{'Zz9-_' * 8}xyz"
    for path in (f"/nothing?{wrong}", f"/api/{wrong}", "/api/v2/profile"):
        web.ask(path, X_API_Key=wrong)
    for path in ("/api/v2/profile", f"{SECRET}", SECRET_PLACE, "/api/v2/nothing", "/api/v2/series?title=x"):
        url = f"{path}{'&' if '?' in path else '?'}track=true&api_key={key}"
        for method in ("GET", "HEAD", "POST", "OPTIONS"):
            web.ask(url, method)
        web.ask(url, If_Match="*")
        web.ask(url, If_None_Match="*")
        web.ask(f"{url}&page=%ff%00", X_API_Key=key)
        head = f" {url} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nX-API-Key: {key}\r\n"
        for method in ("GET", "POST", "OPTIONS"):
            # A body that is too large, and malformed bodies.
            web.raw(f"{method}{head}Content-Length: 100000\r\n\r\n".encode() + b"x" * 100_000)
            web.raw(f"{method}{head}Content-Length: x\r\n\r\n".encode())
            web.raw(f"{method}{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode())
            web.raw(f"{method}{head}If-Match: *\r\nContent-Length: 100000\r\n\r\n".encode() + b"x" * 100_000)
        web.raw(f"GET {url}{'x' * 100_000} HTTP/1.1\r\nHost: test\r\n\r\n".encode())
        web.raw(f"GET{head}Long: {'x' * 100_000}\r\n\r\n".encode())
        web.raw(f"GET {url} HTTP/9.9\r\n\r\n".encode())

    written = [path.read_text() for path in (site.folder / "dist/run").rglob("*") if path.is_file()]

    assert len(written) >= 2
    secrets = [text for secret in (key, wrong) for text in (secret, encoding.sha256(secret.encode()))]
    assert [line for text in written for line in text.splitlines() if any(secret in line for secret in secrets)] == []
    assert len(log().splitlines()) > 2
