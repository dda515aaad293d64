"""Requests of an import: rate, connection, retries and redirects."""

import re
import socket
from contextlib import closing
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest

from generator.errors import FlatpanelError
from generator.reading_sites import site_client
from generator.reading_sites.crawl import SpelledClient
from generator.reading_sites.lenient import UnusableResponse
from generator.reading_sites.site_client import SiteClient, TimedResponse
from generator.server_url import ServerUrl
from tests.support import servers
from tests.support.fake_site import FakeSite, Replies, Reply, serving, small

NOW = 1_790_000_000


def asking(site: FakeSite, pause: float = 0.25) -> SiteClient:
    return SiteClient(ServerUrl.of(site.url), lambda: site.time, site.sleep, pause)


def get(answers: dict[str, object], path: str = "/x", **headers: str) -> tuple[TimedResponse, FakeSite]:
    with serving(answers) as site:
        asker = asking(site)
        try:
            return asker.get(path, headers), site
        finally:
            asker.close()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://Comics.Example", "https://comics.example"),
        ("http://comics.example:8000/", "http://comics.example:8000"),
        ("http://comics.example:80", "http://comics.example"),
        ("https://comics.example/comics/api/v2/", "https://comics.example/comics"),
        ("https://comics.example/api/v1", "https://comics.example"),
        ("https://comics.example/comics/api/v2/docs/", "https://comics.example/comics"),
        ("https://comics.example/api", "https://comics.example"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://127.0.0.1:/", "http://127.0.0.1"),
    ],
)
def test_the_url_of_an_api_page_is_accepted(url: str, expected: str) -> None:
    """The import uses the site's URL."""
    assert str(site_client.site_url(url)) == expected


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("comics.example", "should be a URL like https://comics.example"),
        ("https://", "should be a URL like https://comics.example"),
        ("https://me:secret@comics.example", "should contain no user name or password"),
        ("https://comics.example/?api_key=x", "should have no query (?) and no fragment (#)"),
        ("https://comics.example/#x", "should have no query (?) and no fragment (#)"),
        ("https://comics example", "should be a URL of ASCII characters without blanks"),
        ("https://comics,example", "should name a host of ASCII characters"),
        ("https://comics..example", "should name a host of ASCII characters"),
        ("https://.", "should name a host of ASCII characters"),
        (f"https://{'a' * 64}.example", "should name a host of ASCII characters, at most 63 between two dots"),
        ("https://comics.example:99999", "should be a URL like https://comics.example, with a port up to 65535"),
        ("https://[::1", "should be a URL like https://comics.example, with a port up to 65535"),
    ],
)
def test_invalid_urls_are_refused(url: str, wrong: str) -> None:
    """The message says what is valid."""
    with pytest.raises(ValueError, match=re.escape(wrong)):
        ServerUrl.of(url)


def test_requests_have_a_user_agent() -> None:
    """They accept JSON without compression."""
    _, site = get({"/x": {}})
    ((_, headers),) = site.asked

    assert headers["User-Agent"].startswith("flatpanel/")
    assert (headers["Accept"], headers["Accept-Encoding"]) == ("application/json", "identity")


def test_requests_are_rate_limited_on_one_connection(tmp_path: Path) -> None:
    """Four per second by default."""
    with serving(small()) as site:
        done = site.imported(tmp_path, rate=2.0)

    assert done.requests == len(site.asked)
    assert site.slept == [0.5] * (done.requests - 1)
    assert len(site.clients) == 1


def test_a_closed_connection_is_opened_again() -> None:
    """A site may close it after each response. The limit of bytes applies to all connections together."""
    with serving({"/x": Reply(headers={"Connection": "close"})}) as site:
        asker = asking(site)
        received = [asker.client.received for _ in range(3) if asker.get("/x", {}).status == 200]
        asker.close()

    assert (len(site.clients), site.slept) == (3, [0.25, 0.25])
    assert received == [received[0] * count for count in (1, 2, 3)] != [0] * 3


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_busy_responses_are_retried(status: int) -> None:
    """Each time after twice as long."""
    answer, site = get({"/x": Replies([Reply(status), Reply(status), Reply(status), {"at": "last"}])})

    assert (answer.body, site.slept) == (b'{"at":"last"}', [1.0, 2.0, 4.0])


@pytest.mark.parametrize(
    ("after", "waited"),
    [
        ("7", 7.0),
        ("0", 1.0),
        (format_datetime(datetime.fromtimestamp(NOW + 30, UTC), usegmt=True), 30.0),
        (format_datetime(datetime.fromtimestamp(NOW - 30, UTC), usegmt=True), 1.0),
        ("soon", 1.0),
    ],
)
def test_retry_after_is_respected(after: str, waited: float) -> None:
    """Seconds or a date; invalid values are ignored."""
    date = format_datetime(datetime.fromtimestamp(NOW, UTC), usegmt=True)
    _, site = get({"/x": Replies([Reply(503, headers={"Retry-After": after, "Date": date}), {}])})

    assert site.slept == [waited]


def test_a_long_retry_after_ends_the_import() -> None:
    """The next run resumes."""
    with pytest.raises(FlatpanelError, match=r"asks to wait 86400 seconds \(Retry-After\); run again later to resume"):
        get({"/x": Reply(429, headers={"Retry-After": "86400"})})


def test_an_import_ends_after_7_tries() -> None:
    """The message has the URL and the reason."""
    with (
        serving({"/x": Reply(503)}) as site,
        closing(asking(site)) as asker,
        pytest.raises(FlatpanelError) as caught,
    ):
        asker.get("/x", {})

    assert str(caught.value) == f"{site.url}/x: status 503; gave up after 7 tries; run again to resume"
    assert (len(site.asked), sum(site.slept)) == (7, 63.0)


def test_a_permanent_500_is_skipped(tmp_path: Path) -> None:
    """The rest is imported; one entry can break a whole list."""
    answers = small() | {
        "/api/v2/authors": Reply(500),
        "/api/v2/artists": Replies([Reply(500), Reply(500), small()["/api/v2/artists"]]),
    }
    with serving(answers) as site:
        done = site.imported(tmp_path)

    assert "/api/v2/authors: server error after 3 attempts; skipped" in done.notes
    assert (site.paths.count("/api/v2/authors"), site.paths.count("/api/v2/artists")) == (3, 3)


def test_a_refused_connection_ends_after_10_seconds() -> None:
    """Enough time for a server that is starting."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        site = FakeSite({}, port)
        with pytest.raises(FlatpanelError) as caught:
            asking(site).get("/x", {})

    assert str(caught.value) == f"http://127.0.0.1:{port}: cannot be reached: Connection refused"
    assert (site.slept, site.time) == ([1.0, 2.0, 4.0], 7.0)


def test_an_unreachable_site_may_come_back() -> None:
    """Within 10 seconds."""
    with serving({"/x": Reply(headers={"Connection": "close"})}) as site, closing(asking(site)) as asker:
        asker.get("/x", {})
        port, asker.site = site.port, ServerUrl.of("http://127.0.0.1:1")
        asker.client.server = asker.site

        def sleep(seconds: float) -> None:
            site.sleep(seconds)
            if seconds == 2.0:
                asker.client.server = ServerUrl.of(f"http://127.0.0.1:{port}")

        asker.sleep = sleep
        assert asker.get("/x", {}).status == 200


RIGHT = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"gibberish\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n",
    ],
)
def test_broken_responses_are_retried(broken: bytes) -> None:
    """Lost connections and invalid HTTP may be temporary."""
    answers = iter((broken, RIGHT))

    class Handler(servers.Handler):
        def do_GET(self) -> None:
            self.wfile.write(next(answers))
            self.close_connection = True

    with servers.answering(Handler) as port:
        slept: list[float] = []
        asker = SiteClient(ServerUrl.of(f"http://127.0.0.1:{port}"), lambda: 0.0, slept.append)
        assert asker.get("/x", {}).body == b"{}"

    assert 1.0 in slept


def test_redirects_on_the_same_host_are_followed() -> None:
    """For example to a path with a slash at the end."""
    moved = Reply(301, headers={"Location": "/x/?a=b#c"})
    answer, site = get({"/x": moved, "/x/?a=b": {"found": True}}, X_API_Key="secret")

    assert (answer.body, site.paths) == (b'{"found":true}', ["/x", "/x/?a=b"])


UNUSABLE = {
    **dict.fromkeys(
        ["https://other.example/x", "http://127.0.0.1:1/x", "//other.example/x"],
        r"redirect to https?://\S+; if the site has moved, use that URL",
    ),
    **dict.fromkeys(["ftp://127.0.0.1/", "http://[", "http://127.0.0.1/a b", "/a?b c", "/a?\xe9"], "invalid redirect"),
    **dict.fromkeys(["/x", ""], "redirect loop"),
}


@pytest.mark.parametrize("location", UNUSABLE)
@pytest.mark.parametrize("status", [302, 307, 308])
def test_unusable_redirects_are_not_followed(location: str, status: int) -> None:
    """The API key would reach another host, or the requests never end."""
    with pytest.raises(UnusableResponse, match=UNUSABLE[location]):
        get({"/x": Reply(status, headers={"Location": location})})


def test_a_compressed_response_is_refused() -> None:
    """A small response may unpack to a very large one."""
    with pytest.raises(UnusableResponse, match="response is compressed, although the request excludes that"):
        get({"/x": Reply(headers={"Content-Encoding": "br"})})


def spelled(answers: dict[str, object], *paths: str) -> list[str]:
    """Request paths one after the other; return the paths of all requests."""
    with serving(answers) as site, closing(asking(site)) as asker:
        spelling = SpelledClient(asker)
        for path in paths:
            spelling.get(path, {})
        return site.paths


def test_final_slash_of_version_1_is_kept() -> None:
    """The first 501 shows that a path needs it; 404 and other versions do not."""
    missing = Reply(501)
    answers: dict[str, object] = {"/api/v1/series": missing, "/api/v1/series/": [], "/api/releases": missing}
    answers |= {"/api/releases/": missing, "/api/v2/x": missing}
    version_1 = ("/api/v1/series", "/api/v1/series/one", "/api/releases")

    assert spelled(answers, *version_1, "/api/v2/x", "/api/series", "/x") == [
        *("/api/v1/series", "/api/v1/series/", "/api/v1/series/one/", "/api/releases", "/api/releases/"),
        *("/api/v2/x", "/api/series", "/x"),
    ]


def test_a_redirect_of_version_1_to_another_path_is_followed() -> None:
    answers = {"/api/v1/series": Reply(302, headers={"Location": "/x"}), "/x": []}

    assert spelled(answers, "/api/v1/series") == ["/api/v1/series", "/api/v1/series", "/x"]


def test_version_1_without_a_final_slash_is_kept() -> None:
    """A later 501 is no question of spelling."""
    answers: dict[str, object] = {"/api/v1/series": [], "/api/v1/groups": Reply(501), "/api/v1/groups/": []}

    assert spelled(answers, "/api/v1/series", "/api/v1/groups") == ["/api/v1/series", "/api/v1/groups"]


def test_a_site_may_have_a_path() -> None:
    """Its API paths are below that path."""
    answers = {f"/comics{path}": value for path, value in small().items()}
    with serving(answers) as site:
        asker = SiteClient(site_client.site_url(f"{site.url}/comics/api"), lambda: 0.0, site.sleep)
        assert asker.get("/api/v2/series", {}).status == 200
        asker.close()
