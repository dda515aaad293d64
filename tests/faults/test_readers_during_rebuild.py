"""Clients during rebuilds: every response is complete and belongs to one release."""

import hashlib
import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from generator.release.bodies import BUILD_STATE_FILE
from generator.review import verify_files
from tests.conftest import Site, copy_of, serving
from tests.faults.test_failing_calls import build
from tests.support import tree_snapshot
from tests.support.incremental_pair import stray
from tests.support.nginx_client import Answer, Web, receive, request

pytestmark = pytest.mark.serves
# Rebuilds and reloads while clients ask; ROUNDS=1000 takes some minutes.
ROUNDS = int(os.environ.get("ROUNDS", "25"))
FIRST = "/api/series/first"


@contextmanager
def served(site: Site, keep: int) -> Iterator[Web]:
    """A site that keeps this many releases."""
    site.write("site.yaml", f"base_url: https://minimal.example\nkeep_releases: {keep}\n")
    write(site, 0)
    with serving(site) as running:
        assert running.ask("/api/authors").status == 200
        yield running
    assert running.complaints() == []


def publish(site: Site, number: int) -> str:
    """Publish a release in which every series has another title, and one of them another slug."""
    write(site, number)
    return site.build().release


def write(site: Site, number: int) -> None:
    tree_snapshot.write_series(site, f"Number {number}", volumes=1 + number % 3, others=[f"only-{number}", "always"])


def reload(running: Web) -> None:
    running.process.send_signal(signal.SIGHUP)


def is_whole(answer: Answer) -> bool:
    return answer.status == 200 and answer["etag"] == f'"{hashlib.md5(answer.body).hexdigest()}"'


class Client(threading.Thread):
    """Requests a list and all URLs in it on one connection, which stays with one worker."""

    def __init__(self, running: Web, done: threading.Event) -> None:
        super().__init__()
        self.running, self.done = running, done
        self.answers, self.wrong = 0, []

    def run(self) -> None:
        while not self.done.is_set():
            # A worker that ends closes connections between two responses, never during one.
            with self.running.connect() as client, client.makefile("rb") as stream, suppress(ConnectionError):
                self.read(client, stream)

    def read(self, client: socket.socket, stream) -> None:
        listed = self.ask(client, stream, "/api/series")
        while listed and not self.done.is_set():
            for series in json.loads(listed.body):
                if not self.ask(client, stream, f"/api/series/{series['slug']}"):
                    return
            listed = self.ask(client, stream, "/api/series")

    def ask(self, client: socket.socket, stream, path: str) -> Answer | None:
        client.sendall(request(path))
        if not stream.peek(1):
            return None
        answer = receive(stream)
        self.answers += 1
        if not is_whole(answer):
            self.wrong.append((path, answer))
            return None
        return None if answer["connection"] == "close" else answer


@pytest.mark.load
def test_clients_do_not_notice_a_rebuild(site: Site) -> None:
    """Every response is complete and has its own ETag; every URL in a list exists for the client that got the list."""
    done = threading.Event()
    with served(site, keep=min(ROUNDS + 1, 100)) as running:
        readers = [Client(running, done) for _ in range(3)]
        for reader in readers:
            reader.start()
        try:
            for number in range(1, ROUNDS + 1):
                publish(site, number)
                reload(running)
        finally:
            done.set()
            for reader in readers:
                reader.join()

    assert [wrong for reader in readers for wrong in reader.wrong] == []
    assert all(reader.answers for reader in readers)
    assert list(verify_files.check_files(site.store)) == []


@pytest.mark.end_to_end
@pytest.mark.parametrize("headers", [{}, {"If_None_Match": "{etag}"}], ids=["whole", "fresh"])
def test_a_slow_connection_keeps_its_release(site: Site, headers: dict[str, str]) -> None:
    """A request that began before two releases were published is answered from the release at its start."""
    first, second = slow_responses(site, 3, headers)

    assert (second["etag"], second["last-modified"]) == (first["etag"], first["last-modified"])
    assert (second.status, second.body) == ((304, b"") if headers else (200, first.body))


def test_a_slow_connection_loses_a_release_that_is_no_longer_kept(site: Site) -> None:
    """By default the release before the previous one is removed; docs/serving.md says it."""
    assert [one.status for one in slow_responses(site, 2, {})] == [200, 404]


def slow_responses(site: Site, keep: int, headers: dict[str, str]) -> list[Answer]:
    """The responses for a client whose second request was complete only after two releases were published."""
    with served(site, keep) as running, running.connect() as client, client.makefile("rb") as stream:
        # After three requests nginx keeps the file open, also when it is removed.
        etag = f'"{site.manifest.resources[FIRST].etag}"'
        second = request(FIRST, **{name: value.format(etag=etag) for name, value in headers.items()})
        # The worker has read all but the end of the request, and stays until it arrives.
        client.sendall(request(FIRST) + second[:-2])
        first = receive(stream)
        for number in (1, 2):
            publish(site, number)
        reload(running)
        assert any(running.ask(FIRST)["etag"] != etag for _ in range(100_000)), "nothing was reloaded"
        client.sendall(b"\r\n")
        return [first, receive(stream)]


def test_several_releases_may_be_published_before_a_reload(site: Site) -> None:
    """As many as are kept."""
    with served(site, keep=4) as running:
        before = site.manifest.resources
        for number in (1, 2, 3):
            publish(site, number)
        plain = [url for url in before if not {"?", "#"} & set(url)]

        assert [url for url in plain if running.ask(url)["etag"] != f'"{before[url].etag}"'] == []
        fresh = running.ask(FIRST, If_None_Match=f'"{before[FIRST].etag}"')
        assert (fresh.status, fresh.body) == (304, b"")
        publish(site, 4)
        assert running.ask("/api/series/only-0").status == 404


@pytest.mark.end_to_end
@pytest.mark.parametrize(("keep", "remembering"), [(2, False), (4, True)])
def test_keep_releases_sets_the_number_of_releases(keep: int, remembering: bool, folder: Path) -> None:
    """With all their files and no others, with and without a cache."""
    site = copy_of("minimal", folder / "site")
    site.write("site.yaml", f"base_url: https://minimal.example\nkeep_releases: {keep}\n")
    releases: list[str] = []
    for number in (0, 1, 2, 3, 4, 3, 5):
        write(site, number)
        releases.append(build(site, remembering=remembering).release)
        latest = list(dict.fromkeys(reversed(releases)))[:keep]

        assert [site.store.current(), *site.store.older()] == latest
        folders = {one.name for one in (site.folder / "dist/releases").iterdir() if one.is_dir()}
        assert folders == set(latest)
        assert stray(site.store) == []
    site.roll_back()
    assert stray(site.store) == []
    write(site, 6)
    build(site, remembering=remembering)
    assert stray(site.store) == []


def test_retained_releases_are_complete_after_a_killed_build(site: Site) -> None:
    """Its leftovers are removed; the manifests of the retained releases say which files are theirs."""
    site.write("site.yaml", "base_url: https://minimal.example\nkeep_releases: 4\n")
    releases = [publish(site, number) for number in range(4)]
    (site.folder / "dist" / BUILD_STATE_FILE).write_text("unfinished\n")
    (site.folder / "dist/www/.0123456789abcdef0123456789abcdef").write_text("of a body")
    write(site, 0)
    site.build()

    assert site.store.older() == releases[:0:-1]
    assert stray(site.store) == []
