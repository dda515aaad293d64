"""Requests per second of a release, of a bare nginx on the same files, and of a Python server."""

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
# The Python server handles no more in its time, and holds no more in memory.
HELD = 20_000
GZIP = ("Accept-Encoding", "gzip")
RELEASE, BARE, PYTHON = "the release", "a bare nginx", "FastAPI"
# Kinds of requests, with the least ratio to a bare nginx and to a Python server.
TARGETS = {"200s, plain": (1.0, 5), "200s, gzip": (1.0, 5), "304s by ETag": (0.75, 5)}
# A few polled URLs, without a target; the file cache is for these.
POLLED, FEW = "200s, 1,000 URLs", 1000


def measure(site: Site, rounds: int, seconds: int, say: Callable[[str], None]) -> Findings:
    listed = bodies.mixed(site.dist)
    bodies.link_plainly(listed, site.folder)
    mixes = {RELEASE: _mixes(site.folder, "release", listed), BARE: _mixes(site.folder, "bare", listed, bare=True)}
    remarks = [
        f"{len(listed):,} URLs were requested, each once, in random order, {CONNECTIONS} connections, one worker."
    ]
    loads: defaultdict[tuple[str, str], list[Load]] = defaultdict(list)
    with ExitStack() as stack:
        running = [
            stack.enter_context(servers.nginx(RELEASE, site.folder, servers.RELEASE)),
            stack.enter_context(servers.nginx(BARE, site.folder, servers.BARE)),
        ]
        if servers.PYTHON.exists():
            held = listed[:HELD]
            mixes[PYTHON] = _mixes(site.folder, "python", held)
            running.append(stack.enter_context(servers.python(PYTHON, _listed(site.folder, held))))
            remarks.append(
                f"FastAPI holds the first {len(held):,} of them in memory, and gets requests for those only."
            )
        else:
            remarks.append("No comparison with FastAPI: .venv-bench is missing; `make bench` creates it.")
        for server in running:
            for asked in mixes[server.name].values():
                load.check(server, asked)
        for turn in range(rounds):
            say(f"requests, round {turn + 1} of {rounds}")
            for kind in (*TARGETS, POLLED):
                # The first server of a round is the last of the next.
                for server in running[:: -1 if turn % 2 else 1]:
                    measured = load.run(server, mixes[server.name][kind], connections=CONNECTIONS, seconds=seconds)
                    loads[server.name, kind].append(measured)
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


def _mixes(folder: Path, name: str, listed: list[Body], bare: bool = False) -> dict[str, Mix]:
    """Write files of requests for all bodies, one for each kind in `TARGETS`."""

    def etag(body: Body) -> str:
        return body.nginx_etag if bare else f'"{body.etag}"'

    return {
        "200s, plain": load.mix(folder / f"{name}.plain", (Request(one.path) for one in listed)),
        "200s, gzip": load.mix(folder / f"{name}.gzip", (Request(one.path, (GZIP,)) for one in listed)),
        POLLED: load.mix(folder / f"{name}.polled", (Request(one.path) for one in listed[:FEW])),
        "304s by ETag": load.mix(
            folder / f"{name}.fresh", (Request(one.path, (("If-None-Match", etag(one)),)) for one in listed), 304
        ),
    }


def _listed(folder: Path, listed: list[Body]) -> Path:
    """Write the list that bench/app.py reads."""
    file = folder / "bodies"
    file.write_text("".join(f"{one.path}\t{one.etag}\t{one.file}\n" for one in listed))
    return file
