"""Requests a second of a release, of a bare nginx on the same files, and of a server in Python."""

from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from . import bodies, load, servers
from .bodies import Body
from .load import Load, Mix, Request
from .program import Site, remove
from .report import Figure, Findings, Series, ratio

CONNECTIONS = 32
# A server in Python gets no further in the time it has, and holds no more in memory.
HELD = 20_000
GZIP = ("Accept-Encoding", "gzip")
RELEASE, BARE, PYTHON = "the release", "a bare nginx", "FastAPI"
# What is asked, and how fast it has to be answered against a bare nginx and against a server in Python.
TARGETS = {"200s, plain": (1.0, 5), "200s, gzip": (1.0, 5), "304s by tag": (0.75, 5)}
# What a few URLs are asked that are polled, without a target; the file cache of a release is for these.
POLLED, FEW = "200s, 1,000 URLs", 1000


def measure(site: Site, rounds: int, seconds: int, say: Callable[[str], None]) -> Findings:
    found = bodies.mixed(site.dist)
    bodies.link_plainly(found, site.folder)
    mixes = {RELEASE: _mixes(site.folder, "release", found), BARE: _mixes(site.folder, "bare", found, bare=True)}
    remarks = [
        f"{len(found):,} URLs were asked for, each once, in random order, {CONNECTIONS} connections, one worker."
    ]
    loads: defaultdict[tuple[str, str], list[Load]] = defaultdict(list)
    with ExitStack() as stack:
        running = [
            stack.enter_context(servers.nginx(RELEASE, site.folder, servers.RELEASE)),
            stack.enter_context(servers.nginx(BARE, site.folder, servers.BARE)),
        ]
        if servers.PYTHON.exists():
            held = found[:HELD]
            mixes[PYTHON] = _mixes(site.folder, "python", held)
            running.append(stack.enter_context(servers.python(PYTHON, _listed(site.folder, held))))
            remarks.append(f"FastAPI holds the first {len(held):,} of them in memory and is asked for those.")
        else:
            remarks.append("There was no .venv-bench, so nothing was compared with FastAPI; `make bench` makes it.")
        for server in running:
            for asked in mixes[server.name].values():
                load.check(server, asked)
        for turn in range(rounds):
            say(f"requests, round {turn + 1} of {rounds}")
            for kind in (*TARGETS, POLLED):
                # Whoever was first in one round is last in the next.
                for server in running[:: -1 if turn % 2 else 1]:
                    one = load.run(server, mixes[server.name][kind], connections=CONNECTIONS, seconds=seconds)
                    loads[server.name, kind].append(one)
    remove(site.folder / "plain")
    per_second = {which: [one.per_second for one in some] for which, some in loads.items()}
    for (name, kind), some in loads.items():
        remarks += load.failures(f"{kind}: {name}", some)
    return Findings(
        [
            Figure(f"{kind}: the release ÷ {other}", ratio(per_second[RELEASE, kind], values), "≥", limit)
            for number, other in enumerate((BARE, PYTHON))
            for kind, limits in TARGETS.items()
            if (values := per_second.get((other, kind))) and (limit := limits[number])
        ],
        [Series(f"{kind}: {name}", values, "/s") for (name, kind), values in per_second.items()],
        remarks,
    )


def _mixes(folder: Path, name: str, found: list[Body], bare: bool = False) -> dict[str, Mix]:
    """Requests for all bodies, in each of the ways of `TARGETS`, in files."""

    def tag(one: Body) -> str:
        return one.tag_of_nginx if bare else f'"{one.tag}"'

    return {
        "200s, plain": load.mix(folder / f"{name}.plain", (Request(one.path) for one in found)),
        "200s, gzip": load.mix(folder / f"{name}.gzip", (Request(one.path, (GZIP,)) for one in found)),
        POLLED: load.mix(folder / f"{name}.polled", (Request(one.path) for one in found[:FEW])),
        "304s by tag": load.mix(
            folder / f"{name}.fresh", (Request(one.path, (("If-None-Match", tag(one)),)) for one in found), 304
        ),
    }


def _listed(folder: Path, found: list[Body]) -> Path:
    """What bench/app.py reads."""
    file = folder / "bodies"
    file.write_text("".join(f"{one.path}\t{one.tag}\t{one.file}\n" for one in found))
    return file
