"""`verify --url` requests every URL and finds each response that differs from the release."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import Result

from generator.errors import FlatpanelError
from generator.release.manifest import Published
from generator.review import verify_server
from tests.conftest import Site
from tests.support import nginx_client, tree_snapshot
from tests.support.runs import sample

FIRST = "/api/series/first"  # has a compressed form
AUTHORS = "/api/authors"  # has none

# Changes a response before it is sent: status, headers, body.
Answer = tuple[int, dict[str, str | None], bytes]
Lie = Callable[[Answer], Answer]


@pytest.fixture
def built(site: Site) -> Site:
    tree_snapshot.first_version(site)
    site.build()
    return site


@contextmanager
def server(site: Site, lie: Lie, url: str) -> Iterator[str]:
    """A server with correct responses except for one URL; yields its URL."""
    resources = site.manifest.resources

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65536  # head and body in one packet; otherwise each waits for the other's receipt

        def do_GET(self) -> None:
            answer = honest(site, resources[self.path], "gzip" in (self.headers["Accept-Encoding"] or ""))
            status, headers, body = lie(answer) if self.path == url else answer
            self.send_response(status)
            for name, value in headers.items():
                if value is not None:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_port}"
        finally:
            listening.shutdown()
            thread.join()


def honest(site: Site, published: Published, gzip: bool) -> Answer:
    if published.restricted:
        return (
            401,
            dict(verify_server.UNAUTHORIZED_HEADERS),
            b'{"detail":"Authentication credentials were not provided."}',
        )
    packed = gzip and published.gzip
    body = (site.folder / "dist" / (f"{published.file}.gz" if packed else published.file)).read_bytes()
    return 200, verify_server.expected_headers(published, packed), body


def faults(site: Site, lie: Lie, url: str) -> list[str]:
    with server(site, lie, url) as address:
        return [
            fault.replace(address, "")
            for fault in verify_server.check_server(site.store, address, time.monotonic).faults
        ]


def test_correct_responses_have_no_faults(built: Site) -> None:
    """For all URLs of the release."""
    assert faults(built, lambda answer: answer, FIRST) == []


def test_nginx_serves_the_release(site: Site, run: Callable[..., Result]) -> None:
    """With the configuration of the build."""
    tree_snapshot.first_version(site)
    with nginx_client.listening() as listener:
        port = listener.getsockname()[1]
        site.write("site.yaml", f"base_url: https://minimal.example\nport: {port}\n")
        release = site.build().release
        with nginx_client.running(site.folder, listener):
            result = run("verify", "--out", site.folder / "dist", "--url", f"http://localhost:{port}/")

            result_json = run("verify", "--out", site.folder / "dist", "--url", f"http://localhost:{port}", "--json")

    assert (result.exit_code, result.stderr) == (0, "")
    urls = sum("#" not in url for url in site.manifest.resources)
    assert result.stdout == f"http://localhost:{port}/: OK: all {urls} URLs match release {release}\n"
    assert (result_json.exit_code, json.loads(result_json.stdout)) == (0, {"ok": True, "differences": []})


HEADERS = {
    "Content-Type": "text/html",
    "ETag": '"0"',
    "Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT",
    "Cache-Control": "no-cache",
    "Vary": "*",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "sniff",
    "Access-Control-Allow-Origin": "https://minimal.example",
    "Access-Control-Expose-Headers": "Date",
}


@pytest.mark.parametrize("name", sample([*HEADERS], 4))
@pytest.mark.parametrize("url", [FIRST, AUTHORS])
def test_a_wrong_header_is_found(built: Site, name: str, url: str) -> None:
    """With both values, for both forms of the body."""
    published, wrong = built.manifest.resources[url], HEADERS[name]

    assert faults(built, lambda answer: (answer[0], answer[1] | {name: wrong}, answer[2]), url) == [
        f"{url}{form}: {name} is {wrong} instead of "
        f"{verify_server.expected_headers(published, packed)[name] or 'absent'}"
        for form, packed in (("", False), (" (gzip)", published.gzip))
    ]


@pytest.mark.parametrize("name", sample(sorted(HEADERS.keys() - {"Vary"}), 4))
def test_a_missing_header_is_found(built: Site, name: str) -> None:
    """For both forms of the body."""
    published = built.manifest.resources[AUTHORS]

    assert faults(built, lambda answer: (answer[0], answer[1] | {name: None}, answer[2]), AUTHORS) == [
        f"{AUTHORS}{form}: {name} is absent instead of {verify_server.expected_headers(published, False)[name]}"
        for form in ("", " (gzip)")
    ]


def test_a_wrong_content_encoding_is_found(built: Site) -> None:
    """A body labelled as gzip that is not."""
    wrong = {"Content-Encoding": "br"}

    assert faults(built, lambda answer: (answer[0], answer[1] | wrong, answer[2]), AUTHORS) == [
        f"{AUTHORS}: Content-Encoding is br instead of absent",
        f"{AUTHORS} (gzip): Content-Encoding is br instead of absent",
    ]


@pytest.mark.parametrize("body", [b"", b"[]", b"{"])
@pytest.mark.parametrize("url", [FIRST, AUTHORS])
def test_a_wrong_body_is_found(built: Site, url: str, body: bytes) -> None:
    """With the right headers."""
    assert faults(built, lambda answer: (answer[0], answer[1], body), url) == [
        f"{url}: has another body",
        f"{url} (gzip): has another body",
    ]


@pytest.mark.parametrize("status", [206, 404, 503])
def test_a_wrong_status_is_found(built: Site, status: int) -> None:
    """Headers and body are not compared then."""
    assert faults(built, lambda answer: (status, {}, b"{}"), AUTHORS) == [
        f"{AUTHORS}: status is {status} instead of 200",
        f"{AUTHORS} (gzip): status is {status} instead of 200",
    ]


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000",
        "ftp://localhost",
        "http://",
        "http://localhost:port",
        "http://localhost:99999",
        "http://[::1",
        "http://localhost/api",
        "",
    ],
)
def test_an_invalid_url_is_an_error(built: Site, run: Callable[..., Result], url: str) -> None:
    """The message shows a valid one."""
    result = run("verify", "--out", built.folder / "dist", f"--url={url}")
    sentence = f"{url}: is not the URL of a server; use one like http://localhost:8000\n"

    assert (result.exit_code, result.stdout, result.stderr) == (1, "", sentence)


def test_a_refused_connection_is_an_error(built: Site) -> None:
    """With a message and no traceback."""
    with nginx_client.listening() as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"

    with pytest.raises(FlatpanelError, match=f"^{url}: no response: .*refused"):
        verify_server.check_server(built.store, url, time.monotonic)


def test_a_response_that_is_not_http_is_an_error(built: Site) -> None:
    """Another service may listen on the port."""
    with pytest.raises(FlatpanelError, match=r"^http://127.0.0.1:\d+: no response: "):
        faults(built, lambda answer: (answer[0], {"Transfer-Encoding": "chunked"}, b"zz\r\n"), AUTHORS)


def test_https_urls_use_tls(built: Site) -> None:
    """There is no fallback to plain HTTP."""
    with server(built, lambda answer: answer, FIRST) as url, pytest.raises(FlatpanelError, match=r"no response: .*SSL"):
        verify_server.check_server(built.store, url.replace("http:", "https:"), time.monotonic)


# Restricted URLs

LOCKED = "/api/v2/authors"


@pytest.fixture
def restricted(site: Site) -> Site:
    """A site with a restricted route."""
    tree_snapshot.first_version(site)
    site.write("site.yaml", "base_url: https://minimal.example\nrestricted: [/authors]\n")
    site.build()
    assert site.manifest.resources[LOCKED].restricted
    return site


def test_restricted_urls_must_respond_with_401(restricted: Site) -> None:
    """They are requested without an API key."""
    assert faults(restricted, lambda answer: answer, LOCKED) == []


def test_a_public_restricted_body_is_found(restricted: Site) -> None:
    """A server without its gates serves restricted bodies."""
    published = restricted.manifest.resources[LOCKED]
    body = (restricted.folder / "dist" / published.file).read_bytes()

    assert faults(restricted, lambda _: (200, verify_server.expected_headers(published, False), body), LOCKED) == [
        f"{LOCKED} (without a key): status is 200 instead of 401"
    ]


def test_a_401_with_the_restricted_body_is_found(restricted: Site) -> None:
    """The status alone protects no content."""
    assert faults(restricted, lambda answer: (answer[0], answer[1], b"[]"), LOCKED) == [
        f"{LOCKED} (without a key): has another body"
    ]


@pytest.mark.parametrize(("name", "wrong"), sample([*HEADERS.items(), ("WWW-Authenticate", "Basic")], 4))
def test_a_wrong_header_of_a_401_is_found(restricted: Site, name: str, wrong: str) -> None:
    """An ETag would reveal changes, and max-age would let caches refuse clients with a key."""
    if name != "Vary":
        assert faults(restricted, lambda answer: (answer[0], answer[1] | {name: wrong}, answer[2]), LOCKED) == [
            f"{LOCKED} (without a key): {name} is {wrong} instead of "
            f"{verify_server.UNAUTHORIZED_HEADERS[name] or 'absent'}"
        ]


def test_nginx_responds_with_401(restricted: Site, run: Callable[..., Result]) -> None:
    """With the configuration of the build."""
    with nginx_client.listening() as listener:
        port = listener.getsockname()[1]
        settings = restricted.folder / "catalog_src/site.yaml"
        settings.write_text(f"{settings.read_text()}port: {port}\n")
        restricted.build()
        with nginx_client.running(restricted.folder, listener):
            result = run("verify", "--out", restricted.folder / "dist", "--url", f"http://localhost:{port}")

    assert (result.exit_code, result.stderr) == (0, "")
