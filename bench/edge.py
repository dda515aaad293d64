"""Requests per second of a packed release in workerd, the runtime of Cloudflare Workers, and of its hello world."""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import bodies, load, program, servers
from .load import Load, Mix, Request
from .program import ROOT, Site, remove
from .report import Figure, Findings, Series, ratios

CONNECTIONS = 32
# Packs of these stay in the worker's memory.
POLLED = 800
# The least ratio to a worker that answers every request with the same five letters.
LIMIT = 0.5
RELEASE, HELLO = "the release", "hello world"
KINDS = POLL, ONCE, PLAIN = (
    "200s of workerd, gzip, polled",
    "200s of workerd, gzip, each URL once",
    "200s of workerd, plain, polled",
)
_HELLO = {
    "config.capnp": """using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
    services = [(name = "site", worker = (
        modules = [(name = "worker.js", esModule = embed "worker.js")], compatibilityDate = "2025-09-01"))],
    sockets = [(name = "http", address = "127.0.0.1:8788", http = (), service = "site")],
);
""",
    "worker.js": "export default { fetch() { return new Response('hello'); } };\n",
}


@dataclass(frozen=True)
class Runtime(servers.Server):
    def processor_time(self) -> int:
        """Processor time of all threads, since some of them read files."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads)


def find_workerd() -> Path | None:
    return next((ROOT / ".node-edge/node_modules").glob("@cloudflare/workerd-*/bin/workerd"), None)


def measure(site: Site, rounds: int, seconds: int, say: Callable[[str], None]) -> Findings:
    if not find_workerd():
        return Findings(remarks=["No measurement of workerd: .node-edge is missing; `make bench` creates it."])
    packed = site.folder / "packed"
    say("packing")
    pack(site, packed)
    hello = site.folder / "hello"
    hello.mkdir()
    for name, text in _HELLO.items():
        (hello / name).write_text(text)
    listed = bodies.mixed(site.dist)
    mixes = _mixes(site.folder, listed)
    loads: defaultdict[tuple[str, str], list[Load]] = defaultdict(list)
    for turn in range(rounds):
        say(f"workerd, round {turn + 1} of {rounds}")
        for kind in KINDS:
            for name, folder in ((RELEASE, packed), (HELLO, hello))[:: -1 if turn % 2 else 1]:
                loads[name, kind].append(_load(name, folder, mixes[kind], seconds))
    files = [path for path in (packed / "files").rglob("*") if path.is_file()]
    remove(packed, hello)
    remark = f"workerd answered from {len(files):,} files; {POLLED:,} URLs again and again, or {len(listed):,} of them."
    findings = Findings(_figures(loads), _series(loads), [remark])
    for (name, kind), some in loads.items():
        findings.remarks += load.failures(f"{kind}: {name}", some)
    return findings


def pack(site: Site, target: Path) -> None:
    program.run(sys.executable, "build.py", "pack", str(target), "--out", str(site.dist))


@contextmanager
def workerd(name: str, folder: Path) -> Iterator[Runtime]:
    """workerd on a folder with its configuration."""
    port = servers.free_port()
    command = [str(find_workerd()), "serve", "config.capnp", "--socket-addr", f"http=127.0.0.1:{port}"]
    with servers.running(Runtime(name, port, subprocess.Popen(command, cwd=folder))) as server:
        yield server


def _load(name: str, folder: Path, asked: Mix, seconds: int) -> Load:
    """Measure a new process, whose memory has no packs."""
    with workerd(name, folder) as server:
        load.check(server, asked)
        return load.run(server, asked, connections=CONNECTIONS, seconds=seconds)


def _mixes(folder: Path, listed: list[bodies.Body]) -> dict[str, Mix]:
    gzip = (("Accept-Encoding", "gzip"),)
    chosen = {POLL: (listed[:POLLED], gzip), ONCE: (listed, gzip), PLAIN: (listed[:POLLED], ())}
    return {
        kind: load.mix(folder / f"edge.{at}", (Request(body.path, fields) for body in some))
        for at, (kind, (some, fields)) in enumerate(chosen.items())
    }


def _figures(loads: dict[tuple[str, str], list[Load]]) -> list[Figure]:
    """The ratios of processor time for a response."""
    figures = []
    for kind in KINDS:
        above, below = ([one.per_processor_second for one in loads[name, kind]] for name in (RELEASE, HELLO))
        limit = None if kind == PLAIN else LIMIT
        figures.append(Figure(f"{kind}: {RELEASE} ÷ {HELLO}", ratios(above, below), "≥", limit))
    return figures


def _series(loads: dict[tuple[str, str], list[Load]]) -> list[Series]:
    return [Series(f"{kind}: {name}", [one.per_second for one in some], "/s") for (name, kind), some in loads.items()]
