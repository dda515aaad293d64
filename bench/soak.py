"""`python -m bench.soak --minutes 10`: check that nginx does not grow with requests and releases.

Each round sends the same requests, reads the memory of the worker, and reloads a new release. The first rounds fill
caches and pools and do not count; afterwards the memory must stay the same.
"""

import argparse
import http.client
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from statistics import median

from generator.release.store import Store

from . import catalogs, servers
from .__main__ import say, scratch
from .program import Site

# Allowed growth between the first counted rounds and the last.
ALLOWED = 1.1
WARMING = 3
HELD = 200
ODD = (
    b"HELLO\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /api/series HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 9000 + b"\r\n\r\n",
    b"GET /api/series HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /api/series HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 9000\r\n\r\n" + b"x" * 9000,
    b"GET /api/series HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n",
)
HEAD_THAT_NEVER_ENDS = b"GET /api/series HTTP/1.1\r\nHost: a\r\nX: "


def main(arguments: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(
        prog="python -m bench.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--minutes", type=float, default=10, help="least duration (10)")
    options.add_argument("--rounds", type=int, default=10, help="least number of rounds, each with a reload (10)")
    options.add_argument("--series", type=int, default=200, help="series in the catalog (200)")
    options.add_argument("--requests", type=int, default=20_000, help="requests in a round (20000)")
    asked = options.parse_args(arguments)
    if asked.rounds <= WARMING:
        raise SystemExit(f"bench: {WARMING} rounds do not count; use more --rounds")
    with scratch() as folder:
        site = Site(folder, asked.series, 2)
        site.write()
        site.build()
        sizes = list(soaked(site, asked.minutes * 60, asked.rounds, asked.requests))
    print("\n".join(report(sizes)))
    if not flat(sizes):
        raise SystemExit("bench: the workers grow")


def soaked(site: Site, seconds: float, rounds: int, requests: int) -> Iterator[tuple[int, int]]:
    """Memory of the worker in the middle and at the end of each round, in bytes."""
    until = time.monotonic() + seconds
    with servers.nginx("release", site.folder, servers.RELEASE) as server:
        number = 0
        while number < rounds or time.monotonic() < until:
            with crowd(server):
                sizes = []
                for _ in range(2):
                    ask(server, site, requests // 2)
                    abuse(server, requests // 200)
                    sizes.append(resident(server.worker))
                yield sizes[0], sizes[1]
            number += 1
            say(f"soak, round {number}")
            change(site, number)
            reload(server)


def ask(server: servers.Server, site: Site, requests: int) -> None:
    """Send requests in turn: bodies, 304s, gzip, searches, errors, conditions with a second request."""
    store = Store(site.dist)
    published = store.manifest(store.current()).resources.values()
    listed = sorted(body for body in published if body.url.startswith("/api/series/") and "#" not in body.url)
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        for number in range(requests):
            body = listed[number % len(listed)]
            path, fields, expected = (
                (body.url, {}, 200),
                (body.url, {"Accept-Encoding": "gzip"}, 200),
                (body.url, {"If-None-Match": f'"{body.etag}"'}, 304),
                (f"/api/v2/series?q=a&limit={number % 90 + 1}", {}, 200),
                (body.url, {"If-Match": f'"{body.etag}"'}, 200),
                (f"/api/nothing/{number}", {}, 404),
                ("/api/v2/profile", {"X-API-Key": f"{number}"}, 401),
            )[number % 7]
            connection.request("GET", path, headers=fields)
            answer = connection.getresponse()
            answer.read()
            if answer.status != expected:
                raise SystemExit(f"bench: {path} with {fields} has status {answer.status} instead of {expected}")


def abuse(server: servers.Server, times: int) -> None:
    for number in range(times):
        with suppress(OSError), socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
            client.sendall(ODD[number % len(ODD)])
            client.recv(4096)


@contextmanager
def crowd(server: servers.Server) -> Iterator[None]:
    """Hold connections open meanwhile, idle or with an unfinished head."""
    with ExitStack() as stack:
        for number in range(HELD):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
            client.sendall(HEAD_THAT_NEVER_ENDS if number % 2 else b"")
        yield


def change(site: Site, number: int) -> None:
    """Build a new release of the same size."""
    file = site.catalog / "series" / f"{catalogs.slug(number % site.series)}.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("of many.\n", f"of many, {number:06}.\n", 1), encoding="utf-8")
    site.build()


def reload(server: servers.Server) -> None:
    """Reload, and wait until the old worker has ended."""
    before = server.worker
    server.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + servers.PATIENCE
    while Path(f"/proc/{before}").exists():
        if time.monotonic() > deadline:
            raise SystemExit("bench: a worker does not end after a reload")
        time.sleep(0.02)


def resident(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def flat(sizes: Sequence[tuple[int, int]]) -> bool:
    """Whether memory grows neither from release to release nor while a worker runs; single rounds do not matter.

    Compares the last third of the counted rounds with the first third, and ends of rounds with their middles.
    """
    counted = sizes[WARMING:]
    part = max(1, len(counted) // 3)
    middles, ends = [one for one, _ in counted], [one for _, one in counted]
    return median(ends[-part:]) <= median(ends[:part]) * ALLOWED and median(ends) <= median(middles) * ALLOWED


def report(sizes: Sequence[tuple[int, int]]) -> Iterator[str]:
    yield f"rounds, each with a reload: {len(sizes)}"
    for name, (middle, end) in (("first", sizes[0]), ("first that counts", sizes[WARMING]), ("last", sizes[-1])):
        yield f"a worker in the middle of the {name}: {middle / 1e6:.2f} MB, at its end: {end / 1e6:.2f} MB"
    yield f"largest: {max(max(one) for one in sizes) / 1e6:.2f} MB"


if __name__ == "__main__":
    main(sys.argv[1:])
