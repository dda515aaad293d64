"""`verify --url` requests every URL and finds each response that differs from the release."""

import json
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import islice
from pathlib import Path

import pytest
from click.testing import Result

from generator.errors import FlatpanelError
from generator.release.manifest import Published
from generator.review import verify_server
from generator.review.promises.urls import UNAUTHORIZED_HEADERS, expected_headers
from tests.conftest import Site, copy_of, serving
from tests.support import servers, tree_snapshot
from tests.support.lying_proxy import Answer, Asked, Lie, lying
from tests.support.nginx_client import Web
from tests.support.paths import BUILD
from tests.support.servers import LIMIT
from tests.support.tables import each
from tests.support.terminal import on_a_terminal

FIRST = "/api/series/first"  # has a compressed form
AUTHORS = "/api/authors"  # has none

# A site and the nginx that serves it.
Running = tuple[Site, Web]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    yield from _running(tmp_path_factory.mktemp("public"), "")


def _running(folder: Path, settings: str) -> Iterator[Running]:
    site = copy_of("minimal", folder)
    tree_snapshot.first_version(site)
    site.write("site.yaml", f"base_url: https://minimal.example\n{settings}")
    with serving(site) as web:
        yield site, web


Change = Callable[[Answer], Answer]


def faults(running: Running, changes: dict[str, Change]) -> dict[str, list[str]]:
    """The differences in body and headers by URL, of a server that changes the responses to plain GETs of these."""

    def lie(asked: Asked, answer: Answer) -> Answer:
        is_plain = not {"x-api-key", "range"} & asked.headers.keys()
        is_plain &= not any(name.startswith("if-") for name in asked.headers)
        return changes[asked.path](answer) if asked.path in changes and asked.method == "GET" and is_plain else answer

    found = all_faults(running, lie)
    return {
        url: [one for one in found if one.startswith((f"{url}:", f"{url} (gzip)", f"{url} (wit"))] for url in changes
    }


def all_faults(running: Running, lie: Lie) -> list[str]:
    site, web = running
    with lying(web.port, lie) as address:
        result = verify_server.check_server(site.store, address, time.monotonic)
    return [fault.replace(address, "") for fault in result.faults]


def test_nginx_serves_the_release(running: Running, run: Callable[..., Result]) -> None:
    """With the configuration of the build."""
    site, web = running
    command = ["verify", "--out", f"{site.folder}/dist", "--url", f"http://localhost:{web.port}/"]
    result, result_json = run(*command), run(*command, "--json")
    shown = on_a_terminal([sys.executable, str(BUILD), *command], os.environ)[1]

    assert (result.exit_code, result.stderr) == (0, "")
    urls = sum("#" not in url for url in site.manifest.resources)
    assert re.search(rf"requesting .*\b{urls}/{urls}\b", shown)
    # Each of three chapters has a redirect and a deprecated URL of its pages.
    ok = f"OK: all {urls + 6} URLs match release {site.store.current()}\n"
    assert result.stdout == f"http://localhost:{web.port}/: {ok}"
    assert (result_json.exit_code, json.loads(result_json.stdout)) == (
        0,
        {"ok": True, "differences": [], "not_promised": []},
    )


def test_of_many_differences_of_a_kind_the_first_are_printed(running: Running, run: Callable[..., Result]) -> None:
    """A server of another release differs in each URL. The others are counted, and in the JSON.

    The last line is about the option for another host, unless the host was named already.
    """
    site, web = running
    with lying(web.port, lambda _, answer: answer._replace(status=500)) as address:
        command = ["verify", "--out", site.folder / "dist", "--url", address]
        text, named, listed = (run(*command, *more) for more in ((), ("--for", "nginx"), ("--json",)))
    *lines, hint = text.stderr.splitlines()
    differences = json.loads(listed.stdout)["differences"]
    counts = [int(line.split()[1].replace(",", "")) for line in lines if line.endswith(" more of this kind")]

    assert [result.exit_code for result in (text, named, listed)] == [1, 1, 1]
    assert "name it with --for" in hint and "--for" not in f"{lines} {named.stderr} {listed.stderr}"
    assert len(differences) == len(lines) - len(counts) + sum(counts)
    assert counts and lines[:10] == differences[:10] and lines[10] == f"and {counts[0]:,} more of this kind"


@pytest.mark.end_to_end
def test_redirects_of_old_slugs_are_requested(site: Site) -> None:
    """One that leads elsewhere is a difference. tests/hosts/test_promises.py has a server without them."""

    def lie(asked: Asked, answer: Answer) -> Answer:
        return answer.with_header("Location", "https://other.example/") if "/oldest" in asked.path else answer

    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(f"formerly: [oldest]\n{path.read_text()}")
    with serving(site) as web:
        correct = verify_server.check_server(site.store, f"http://localhost:{web.port}", time.monotonic)
        elsewhere = all_faults((site, web), lie)

    urls = sum("#" not in url for url in site.manifest.resources)
    # Four paths with the old slug, and what the chapters have: redirects, licence notices, deprecated URLs.
    assert (correct.urls, correct.faults) == (urls + 4 + 3, [])
    assert elsewhere[0] == (
        "/api/series/oldest/0?a=1: Location is https://other.example/ "
        "instead of a URL that ends with /api/series/first/0?a=1"
    )
    assert len([fault for fault in elsewhere if "Location" in fault]) == 4


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


def with_wrong_headers(answer: Answer) -> Answer:
    return reduce(lambda changed, header: changed.with_header(*header), HEADERS.items(), answer)


def without_headers(answer: Answer) -> Answer:
    return reduce(lambda changed, name: changed.with_header(name, None), HEADERS.keys() - {"Vary"}, answer)


def with_body(body: bytes) -> Change:
    return lambda answer: answer._replace(body=body)


def with_status(status: int) -> Change:
    return lambda answer: Answer(status, {}, b"{}")


def test_wrong_responses_are_found(running: Running) -> None:
    """Each header with both values, for both forms of a body; after a wrong status, neither headers nor body."""
    coded = "/api/v2/authors"
    bodies = {FIRST: b"", "/api/v1/series/first": b"[]", AUTHORS: b"{"}
    statuses = {"/api/v1/artists": 206, "/api/v1/groups": 404, "/api/v1/categories": 503}
    wrong, missing = ("/api/v1/series", "/api/v2/artists"), "/api/v1/authors"
    changes: dict[str, Change] = {
        **dict.fromkeys(wrong, with_wrong_headers),
        missing: without_headers,
        coded: lambda answer: answer.with_header("Content-Encoding", "br"),
        **{url: with_body(body) for url, body in bodies.items()},
        **{url: with_status(status) for url, status in statuses.items()},
    }
    found = faults(running, changes)

    def both(url: str, text: str) -> list[str]:
        return [f"{url}: {text}", f"{url} (gzip): {text}"]

    resources = running[0].manifest.resources
    assert {bool(resources[url].gzip) for url in wrong} == {False, True}
    for url in (*wrong, missing):
        assert sorted(found[url]) == sorted(
            f"{url}{form}: {name} is {text if url in wrong else 'absent'} instead of {published or 'absent'}"
            for form, packed in (("", False), (" (gzip)", resources[url].gzip))
            for name, text in HEADERS.items()
            for published in [expected_headers(resources[url], packed)[name]]
            if url in wrong or name != "Vary"
        )
    assert found[coded] == both(coded, "Content-Encoding is br instead of absent")
    assert {url: found[url] for url in bodies} == {url: both(url, "has another body") for url in bodies}
    assert {url: found[url] for url in statuses} == {
        url: both(url, f"status is {status} instead of 200") for url, status in statuses.items()
    }


@each(
    "url",
    [
        *("localhost:8000", "ftp://localhost", "http://", "http://localhost:port"),
        *("http://localhost:99999", "http://[::1", "http://localhost/api", ""),
    ],
)
def test_an_invalid_url_is_an_error(running: Running, run: Callable[..., Result], url: str) -> None:
    """The message shows a valid one."""
    result = run("verify", "--out", running[0].folder / "dist", f"--url={url}")
    sentence = f"{url}: is not the URL of a server; use one like http://localhost:8000\n"

    assert (result.exit_code, result.stdout, result.stderr) == (1, "", sentence)


def test_requests_do_not_wait_for_each_other(running: Running) -> None:
    """The server responds to each only when another one has arrived."""
    arrived = threading.Barrier(2)

    def lie(asked: Asked, answer: Answer) -> Answer:
        if asked.path in (FIRST, AUTHORS) and asked.headers["accept-encoding"] == "gzip":
            arrived.wait(LIMIT)
        return answer

    assert all_faults(running, lie) == []


def test_an_interrupt_waits_for_no_response(running: Running) -> None:
    """The server does not respond to one of the requests before the comparison has ended."""
    site, web = running
    arrived, ended = threading.Event(), threading.Event()
    late = []

    def lie(asked: Asked, answer: Answer) -> Answer:
        if asked.path == FIRST:
            arrived.set()
            if not ended.wait(LIMIT):
                late.append(asked)
        return answer

    def interrupt(bodies: Iterable[Published]) -> Iterator[Published]:
        yield from islice(bodies, 1)
        assert arrived.wait(LIMIT)
        raise KeyboardInterrupt

    with lying(web.port, lie) as url:
        with pytest.raises(KeyboardInterrupt):
            verify_server.check_server(site.store, url, time.monotonic, 2 * LIMIT, track=interrupt)
        ended.set()
    assert late == []


def test_a_refused_connection_is_an_error(running: Running) -> None:
    """With a message and no traceback."""
    url = f"http://127.0.0.1:{servers.free_port()}"
    with pytest.raises(FlatpanelError, match=f"^{url}: no response: .*refused"):
        verify_server.check_server(running[0].store, url, time.monotonic)


def test_a_response_that_is_not_http_is_an_error(running: Running) -> None:
    """Another service may listen on the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        thread = threading.Thread(target=lambda: _greet(listener))
        thread.start()
        with pytest.raises(FlatpanelError, match=rf"^http://127.0.0.1:{port}: no response: "):
            verify_server.check_server(running[0].store, f"http://127.0.0.1:{port}", time.monotonic)
        thread.join()


def _greet(listener: socket.socket) -> None:
    for _ in range(3):  # a broken response is requested again
        connection, _ = listener.accept()
        with connection:
            connection.recv(1024)
            connection.sendall(b"220 mail.example ESMTP\r\n")


def test_https_urls_use_tls(running: Running) -> None:
    """There is no fallback to plain HTTP."""
    site, web = running
    with pytest.raises(FlatpanelError, match=r"no response: .*SSL"):
        verify_server.check_server(site.store, f"https://127.0.0.1:{web.port}", time.monotonic)


# Restricted URLs

LOCKED = "/api/v2/authors"


@pytest.fixture(scope="module")
def restricted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A site with a restricted route."""
    for site, web in _running(tmp_path_factory.mktemp("restricted"), "restricted: [/authors]\n"):
        assert site.manifest.resources[LOCKED].restricted
        yield site, web


@pytest.mark.end_to_end
def test_a_public_restricted_body_is_found(restricted: Running) -> None:
    """A server without its gates serves restricted bodies."""
    site, _ = restricted
    published = site.manifest.resources[LOCKED]
    body = (site.folder / "dist" / published.file).read_bytes()

    assert faults(restricted, {LOCKED: lambda _: Answer(200, expected_headers(published, False), body)})[LOCKED] == [
        f"{LOCKED}: is sent without a key (status 200)",
        f"{LOCKED} (without a key): status is 200 instead of 401",
    ]


@pytest.mark.end_to_end
def test_wrong_parts_of_a_401_are_found(restricted: Running) -> None:
    """The status alone protects no content; an ETag would reveal changes, and caches could keep a max-age."""
    wrong = {name: text for name, text in [*HEADERS.items(), ("WWW-Authenticate", "Basic")] if name != "Vary"}

    def changed(answer: Answer) -> Answer:
        return reduce(lambda changed, header: changed.with_header(*header), wrong.items(), answer)._replace(body=b"[]")

    assert sorted(faults(restricted, {LOCKED: changed})[LOCKED]) == sorted(
        [
            f"{LOCKED} (without a key): has another body",
            *(
                f"{LOCKED} (without a key): {name} is {text} instead of {UNAUTHORIZED_HEADERS[name] or 'absent'}"
                for name, text in wrong.items()
            ),
        ]
    )
