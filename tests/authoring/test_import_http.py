"""How a site is asked: slowly, on one connection, again when it is busy, and never somebody else."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest

from generator.authoring.site_import import site_client
from generator.authoring.site_import.bounded_json import UnusableResponse
from generator.authoring.site_import.site_client import SiteClient, TimedResponse
from generator.errors import FlatpanelError
from generator.server_url import ServerUrl
from tests.support.fake_site import Elsewhere, Said, Turns, elsewhere, small

NOW = 1_790_000_000


def asking(site: Elsewhere, pause: float = 0.25) -> SiteClient:
    return SiteClient(ServerUrl.of(site.url), lambda: site.time, site.sleep, pause)


def get(answers: dict[str, object], path: str = "/x", **headers: str) -> tuple[TimedResponse, Elsewhere]:
    with elsewhere(answers) as site:
        asker = asking(site)
        try:
            return asker.get(path, headers), site
        finally:
            asker.close()


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://Comics.Example", "https://comics.example"),
        ("http://comics.example:8000/", "http://comics.example:8000"),
        ("http://comics.example:80", "http://comics.example"),
        ("https://comics.example/shelf/api/v2/", "https://comics.example/shelf"),
        ("https://comics.example/api/v1", "https://comics.example"),
        ("https://comics.example/shelf/api/v2/docs/", "https://comics.example/shelf"),
        ("https://comics.example/api", "https://comics.example"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://127.0.0.1:/", "http://127.0.0.1"),
    ],
)
def test_an_address_is_that_of_the_site(url: str, address: str) -> None:
    """Whichever of its families somebody copies."""
    assert str(site_client.site_url(url)) == address


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("comics.example", "should be a URL like https://comics.example"),
        ("ftp://comics.example", "should be a URL like https://comics.example"),
        ("https://", "should be a URL like https://comics.example"),
        ("https://me:secret@comics.example", "should contain no user name or password"),
        ("https://comics.example/?api_key=x", "should have no query (?) and no fragment (#)"),
        ("https://comics.example/#x", "should have no query (?) and no fragment (#)"),
        ("https://comics example", "should be a URL of ASCII characters without blanks"),
        ("https://cömics.example", "should be a URL of ASCII characters without blanks"),
        ("https://comics,example", "should name a host of ASCII characters"),
        ("https://comics..example", "should name a host of ASCII characters"),
        ("https://.", "should name a host of ASCII characters"),
        (f"https://{'a' * 64}.example", "should name a host of ASCII characters, at most 63 between two dots"),
        ("https://comics.example:99999", "should be a URL like https://comics.example, with a port up to 65535"),
        ("https://[::1", "should be a URL like https://comics.example, with a port up to 65535"),
    ],
)
def test_what_is_no_address_is_refused(url: str, wrong: str) -> None:
    """Each has a sentence that says what would be right."""
    with pytest.raises(ValueError, match=re.escape(wrong)):
        ServerUrl.of(url)


def test_a_site_knows_who_asks() -> None:
    """Every request carries a name that people can look up, and asks for JSON as it is."""
    _, site = get({"/x": {}})
    ((_, headers),) = site.asked

    assert headers["User-Agent"].startswith("flatpanel/")
    assert (headers["Accept"], headers["Accept-Encoding"]) == ("application/json", "identity")


def test_requests_are_apart_and_share_a_connection(tmp_path: Path) -> None:
    """Four a second at most, unless somebody says otherwise."""
    with elsewhere(small()) as site:
        done = site.imported(tmp_path, rate=2.0)

    assert done.requests == len(site.asked)
    assert site.slept == [0.5] * (done.requests - 1)
    assert len(site.clients) == 1


def test_a_connection_that_the_site_closes_is_opened_again() -> None:
    """It may do so after every answer."""
    with elsewhere({"/x": Said(headers={"Connection": "close"})}) as site:
        asker = asking(site)
        assert [asker.get("/x", {}).status for _ in range(3)] == [200] * 3
        asker.close()

    assert (len(site.clients), site.slept) == (3, [0.25, 0.25])


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_site_is_asked_again_later(status: int) -> None:
    """Each time after twice as long."""
    answer, site = get({"/x": Turns([Said(status), Said(status), Said(status), {"at": "last"}])})

    assert (answer.body, site.slept) == (b'{"at":"last"}', [1.0, 2.0, 4.0])


def test_a_site_that_counts_requests_is_given_its_time(tmp_path: Path) -> None:
    """The service before this one answers 429 after two hundred requests; the import waits and goes on."""
    answers = small()
    answers["/api/v2/series"] = Turns([Said(429, headers={"Retry-After": "60"}), answers["/api/v2/series"]])
    with elsewhere(answers) as site:
        done = site.imported(tmp_path)

    assert site.slept[0] == 60.0
    assert "series/one.yaml" in done.files


@pytest.mark.parametrize(
    ("after", "waited"),
    [
        ("7", 7.0),
        ("0", 1.0),
        (format_datetime(datetime.fromtimestamp(NOW + 30, UTC), usegmt=True), 30.0),
        (format_datetime(datetime.fromtimestamp(NOW - 30, UTC), usegmt=True), 1.0),
        ("soon", 1.0),
        ("-5", 1.0),
    ],
)
def test_a_site_may_say_when(after: str, waited: float) -> None:
    """In seconds or as a date; nonsense is as if it had not."""
    date = format_datetime(datetime.fromtimestamp(NOW, UTC), usegmt=True)
    _, site = get({"/x": Turns([Said(503, headers={"Retry-After": after, "Date": date}), {}])})

    assert site.slept == [waited]


def test_nobody_waits_for_hours() -> None:
    """The import can go on later from where it was."""
    with pytest.raises(FlatpanelError, match=r"asks to wait 86400 seconds \(Retry-After\); run again later to resume"):
        get({"/x": Said(429, headers={"Retry-After": "86400"})})


def test_patience_ends() -> None:
    """After seven tries the address and the reason are told."""
    with elsewhere({"/x": Said(503)}) as site, closing(asking(site)) as asker, pytest.raises(FlatpanelError) as caught:
        asker.get("/x", {})

    assert str(caught.value) == f"{site.url}/x: status 503; gave up after 7 tries; run again to resume"
    assert (len(site.asked), sum(site.slept)) == (7, 63.0)


def test_an_answer_that_is_always_wrong_is_passed_over(tmp_path: Path) -> None:
    """One series that the site cannot answer for does not cost all others; some answer 500 to large ids."""
    answers = small() | {"/api/v2/authors/4": Said(500), "/api/v2/artists/7": Turns([Said(500), Said(500), {}])}
    with elsewhere(answers) as site:
        done = site.imported(tmp_path)

    assert "/api/v2/authors/4: server error after 3 attempts; skipped" in done.notes
    assert (site.paths.count("/api/v2/authors/4"), site.paths.count("/api/v2/artists/7")) == (3, 3)


def test_a_port_that_refuses_is_a_sentence_soon() -> None:
    """A server that is just starting has some seconds to do so; then the import ends, and not after seven tries."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        site = Elsewhere({}, port)
        with pytest.raises(FlatpanelError) as caught:
            asking(site).get("/x", {})

    assert str(caught.value) == f"http://127.0.0.1:{port}: cannot be reached: Connection refused"
    assert (site.slept, site.time) == ([1.0, 2.0, 4.0], 7.0)


def test_a_site_that_comes_back_is_asked_again() -> None:
    """Within its ten seconds."""
    with elsewhere({"/x": Said(headers={"Connection": "close"})}) as site, closing(asking(site)) as asker:
        asker.get("/x", {})
        port, asker.site = site.port, ServerUrl.of("http://127.0.0.1:1")
        asker.client.server = asker.site

        def sleep(seconds: float) -> None:
            site.sleep(seconds)
            if seconds == 2.0:
                asker.client.server = ServerUrl.of(f"http://127.0.0.1:{port}")

        asker.sleep = sleep
        assert asker.get("/x", {}).status == 200


@contextmanager
def speaking(*answers: bytes) -> Iterator[int]:
    """A server that sends these bytes to one client after the other, whatever they ask."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)  # of a client that does not come

        def serve() -> None:
            for answer in answers:
                client, _ = listener.accept()
                with client:
                    client.recv(65536)
                    client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            thread.join()


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
def test_a_broken_answer_is_asked_for_again(broken: bytes) -> None:
    """Connections break off, and some servers speak nonsense for a moment."""
    with speaking(broken, RIGHT) as port:
        slept: list[float] = []
        asker = SiteClient(ServerUrl.of(f"http://127.0.0.1:{port}"), lambda: 0.0, slept.append)
        assert asker.get("/x", {}).body == b"{}"

    assert 1.0 in slept


def test_what_is_compressed_is_not_unpacked() -> None:
    """A small answer might become a giant one."""
    with pytest.raises(UnusableResponse, match="response is compressed, although the request excludes that"):
        get({"/x": Said(headers={"Content-Encoding": "br"})})


def test_redirects_are_followed_on_the_same_site() -> None:
    """To a path with a slash at its end, for example."""
    moved = Said(301, headers={"Location": "/x/?a=b#c"})
    answer, site = get({"/x": moved, "/x/?a=b": {"found": True}}, X_API_Key="secret")

    assert (answer.body, site.paths) == (b'{"found":true}', ["/x", "/x/?a=b"])


@pytest.mark.parametrize("location", ["https://other.example/x", "http://127.0.0.1:1/x", "//other.example/x"])
def test_redirects_to_others_are_not_followed(location: str) -> None:
    """A key is meant for nobody else, and neither is the catalog."""
    with pytest.raises(UnusableResponse, match=r"redirect to https?://\S+; if the site has moved, import that URL"):
        get({"/x": Said(302, headers={"Location": location})})


@pytest.mark.parametrize("location", ["ftp://127.0.0.1/", "http://[", "http://127.0.0.1/a b", "/a?b c", "/a?\xe9"])
def test_redirects_to_nowhere_are_not_followed(location: str) -> None:
    """What is no address is none."""
    with pytest.raises(UnusableResponse, match="invalid redirect"):
        get({"/x": Said(307, headers={"Location": location})})


@pytest.mark.parametrize("location", ["/x", ""])
def test_redirects_in_a_circle_end(location: str) -> None:
    """After a few steps."""
    with pytest.raises(UnusableResponse, match="redirect loop"):
        get({"/x": Said(308, headers={"Location": location})})


def test_a_redirect_costs_only_its_answer(tmp_path: Path) -> None:
    """The rest of the site is imported, and the report names what was passed over."""
    answers = small() | {"/api/v1/releases": Said(302, headers={"Location": "https://other.example/"})}
    with elsewhere(answers) as site:
        done = site.imported(tmp_path)

    note = "redirect to https://other.example; if the site has moved, import that URL; skipped"
    assert f"/api/v1/releases: {note}" in done.notes


def test_a_site_may_lie_in_a_folder(tmp_path: Path) -> None:
    """All its paths begin with that."""
    answers = {f"/shelf{path}": value for path, value in small().items()}
    with elsewhere(answers) as site:
        asker = SiteClient(site_client.site_url(f"{site.url}/shelf/api"), lambda: 0.0, site.sleep)
        assert asker.get("/api/v2/series", {}).status == 200
        asker.close()
