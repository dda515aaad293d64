"""Requests per second of a release, of a bare nginx on the same files, and of a Python server."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import bodies, load, servers
from .bodies import Body
from .load import Load, Mix, Request
from .program import Site, remove
from .report import Figure, Findings, Series, ratios

CONNECTIONS = 32
# The Python server handles no more in its time, and holds no more in memory.
HELD = 20_000
# The URLs that apps poll all day; the file cache is for these.
POLLED = 1000
RELEASE, BARE, CACHED, PYTHON = "the release", "a bare nginx", "a bare nginx with a file cache", "FastAPI"


@dataclass(frozen=True)
class Kind:
    """Requests of one kind, with the least ratio to a bare nginx."""

    name: str
    form: Literal["plain", "gzip", "fresh"]
    polled: bool
    limit: float


KINDS = (
    Kind("304s by ETag, polled", "fresh", True, 1.0),
    Kind("304s by ETag, each URL once", "fresh", False, 0.9),
    Kind("200s, plain, polled", "plain", True, 1.1),
    Kind("200s, plain, each URL once", "plain", False, 0.9),
    Kind("200s, gzip, polled", "gzip", True, 1.1),
    Kind("200s, gzip, each URL once", "gzip", False, 0.9),
)
# The least ratio to a Python server, for requests that are not polled.
TIMES_PYTHON = 5


@dataclass(frozen=True)
class Contender:
    """A server and its requests, by the names of their kinds."""

    name: str
    mixes: dict[str, Mix]


def measure(site: Site, rounds: int, seconds: int, say: Callable[[str], None]) -> Findings:
    listed = bodies.mixed(site.dist)
    bodies.link_plainly(listed, site.folder)
    contenders = _contenders(site.folder, listed)
    loads: defaultdict[tuple[str, str], list[Load]] = defaultdict(list)
    for turn in range(rounds):
        say(f"requests, round {turn + 1} of {rounds}")
        for kind in KINDS:
            # The first server of a round is the last of the next.
            for contender in contenders[:: -1 if turn % 2 else 1]:
                if asked := contender.mixes.get(kind.name):
                    loads[contender.name, kind.name].append(_load(site.folder, contender.name, asked, seconds))
    remove(site.folder / "plain")
    findings = Findings(_figures(loads), _series(loads), _remarks(listed, contenders))
    for (name, kind_name), some in loads.items():
        findings.remarks += load.failures(f"{kind_name}: {name}", some)
    return findings


def _load(folder: Path, name: str, asked: Mix, seconds: int) -> Load:
    """Measure a new server, whose file cache is empty."""
    if name == PYTHON:
        running = servers.python(name, folder / "bodies")
    else:
        running = servers.nginx(
            name, folder, {RELEASE: servers.RELEASE, CACHED: servers.CACHED}.get(name, servers.BARE)
        )
    with running as server:
        load.check(server, asked)
        return load.run(server, asked, connections=CONNECTIONS, seconds=seconds)


def _contenders(folder: Path, listed: list[Body]) -> list[Contender]:
    contenders = [
        Contender(RELEASE, _mixes(folder, "release", listed)),
        Contender(BARE, _mixes(folder, "bare", listed, bare=True)),
        Contender(CACHED, _mixes(folder, "cached", listed, bare=True)),
    ]
    if servers.PYTHON.exists():
        held = listed[:HELD]
        # The list that bench/app.py reads.
        (folder / "bodies").write_text("".join(f"{one.path}\t{one.etag}\t{one.file}\n" for one in held))
        mixes = _mixes(folder, "python", held)
        contenders.append(Contender(PYTHON, {kind.name: mixes[kind.name] for kind in KINDS if not kind.polled}))
    return contenders


def _mixes(folder: Path, name: str, listed: list[Body], bare: bool = False) -> dict[str, Mix]:
    """Write files of requests, one for each kind."""

    def fields(kind: Kind, body: Body) -> tuple[tuple[str, str], ...]:
        if kind.form == "fresh":
            return (("If-None-Match", body.nginx_etag if bare else f'"{body.etag}"'),)
        return (("Accept-Encoding", "gzip"),) if kind.form == "gzip" else ()

    mixes = {}
    for number, kind in enumerate(KINDS):
        some = listed[:POLLED] if kind.polled else listed
        status = 304 if kind.form == "fresh" else 200
        file = folder / f"{name}.{number}"
        mixes[kind.name] = load.mix(file, (Request(body.path, fields(kind, body)) for body in some), status)
    return mixes


def _figures(loads: dict[tuple[str, str], list[Load]]) -> list[Figure]:
    """The ratios of the worker's processor time for a response."""
    figures = []
    for other in (BARE, CACHED, PYTHON):
        for kind in KINDS:
            if some := loads.get((other, kind.name)):
                above, below = (
                    [one.per_processor_second for one in each] for each in (loads[RELEASE, kind.name], some)
                )
                limit = {BARE: kind.limit, CACHED: None, PYTHON: TIMES_PYTHON}[other]
                figures.append(Figure(f"{kind.name}: the release ÷ {other}", ratios(above, below), "≥", limit))
    return figures


def _series(loads: dict[tuple[str, str], list[Load]]) -> list[Series]:
    return [
        series
        for (name, kind_name), some in loads.items()
        for series in (
            Series(f"{kind_name}: {name}", [one.per_second for one in some], "/s"),
            Series(f"{kind_name}: {name}, of processor time", [one.per_processor_second for one in some], "/s"),
        )
    ]


def _remarks(listed: Sequence[Body], contenders: Sequence[Contender]) -> list[str]:
    remarks = [
        f"{len(listed):,} URLs were requested in random order, or {POLLED:,} of them again and again; "
        f"{CONNECTIONS} connections, one worker, a new server for each measurement.",
        "Ratios of requests compare the processor time of the worker; rates of requests are below as well.",
    ]
    if any(contender.name == PYTHON for contender in contenders):
        remarks.append(f"FastAPI holds the first {HELD:,} of them in memory, and gets requests for those only.")
    else:
        remarks.append("No comparison with FastAPI: .venv-bench is missing; `make bench` creates it.")
    return remarks
