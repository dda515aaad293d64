"""`python -m bench.scale`: builds of growing catalogs on disk, and nginx with their releases.

Each catalog is built with one process and with two, edited, and served. The table becomes the last section of
RESULTS.md. Its last column is computed from the smallest and the largest catalog, not measured.
"""

import argparse
import http.client
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

from . import bodies, building, machine, maps, report, servers
from .__main__ import RESULTS, refuse_to_overfill, say
from .program import Run, Site, remove, run

CHAPTERS = 50
# Numbers of chapters.
MEASURED = (10_000, 100_000, 300_000)
COMPUTED = 1_000_000
# The largest catalog whose result is also unpacked, and built twice: each takes its space on the disk again.
COMPARED = 10_000
EDITS = 3
# The unit of each row, and the number of bytes or seconds of that unit.
ROWS = {
    "URLs": ("", 1),
    "YAML": ("MB", 1e6),
    "files in `dist/`": ("", 1),
    "space of `dist/`, in blocks of the file system": ("GB", 1e9),
    "build cache": ("MB", 1e6),
    "full build, one process": ("s", 1),
    "full build, one process: processor time": ("s", 1),
    "full build, one process: memory": ("MB", 1e6),
    "parse the YAML + unpack the result with tar": ("s", 1),
    "full build, one process ÷ these": ("", 1),
    "full build, two processes": ("s", 1),
    "full build, two processes ÷ one": ("", 1),
    "full build, two processes: memory of the larger": ("MB", 1e6),
    "build after one chapter was added": ("s", 1),
    "the same: processor time": ("s", 1),
    "the same: memory": ("MB", 1e6),
    "build with nothing changed": ("s", 1),
    "nginx loads the release": ("s", 1),
    "reload, until only the new worker runs": ("s", 1),
    "memory of a worker (RSS)": ("MB", 1e6),
    "memory of nginx during a reload (PSS of all its processes)": ("MB", 1e6),
}


def main(arguments: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(
        prog="python -m bench.scale", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--chapters", type=int, nargs="+", default=MEASURED, help="sizes of the catalogs, ascending")
    options.add_argument("--computed", type=int, default=COMPUTED, help="the size that is computed (1000000)")
    options.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="a folder on a disk (/var/tmp)")
    options.add_argument("--results", type=Path, metavar="FILE", default=RESULTS, help=f"({RESULTS.name})")
    chosen = options.parse_args(arguments)
    columns = {}
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=chosen.folder))
    try:
        for chapters in chosen.chapters:
            refuse_to_overfill(folder, chapters)
            columns[chapters] = measured(Site(folder / str(chapters), -(-chapters // CHAPTERS), CHAPTERS))
    finally:
        remove(folder)
    if len(columns) > 1:
        columns[chosen.computed] = computed(columns, chosen.computed)
    text = "\n".join(section(columns))
    print(text)
    report.replace_section(chosen.results, text)


def measured(site: Site) -> dict[str, float]:
    """Build, edit and serve one catalog. Nothing is removed: some file systems then create files more slowly."""
    chapters = site.series * site.chapters
    say(f"{chapters:,} chapters: one process")
    values: dict[str, float] = {"YAML": site.write()}
    os.sync()
    one = site.build()
    values |= {
        "full build, one process": one.seconds,
        "full build, one process: processor time": one.processor,
        "full build, one process: memory": one.peak,
    }
    files, space = _occupied(site.dist)
    values |= {
        # Every body, and a redirect for every chapter.
        "URLs": sum(1 for _ in bodies.every(site.dist)) + chapters,
        "files in `dist/`": files,
        "space of `dist/`, in blocks of the file system": space,
        "build cache": _occupied(site.cache)[1],
    }
    if chapters <= COMPARED:
        values |= _compared(site, one)
    say(f"{chapters:,} chapters: edits")
    edits = [building.with_one_more_chapter(site) for _ in range(EDITS)]
    site.build()
    unchanged = [site.build() for _ in range(EDITS)]
    values |= {
        "build after one chapter was added": median(edit.seconds for edit in edits),
        "the same: processor time": median(edit.processor for edit in edits),
        "the same: memory": max(edit.peak for edit in edits),
        "build with nothing changed": median(build.seconds for build in unchanged),
    }
    say(f"{chapters:,} chapters: nginx")
    values |= {"nginx loads the release": median(maps.loading_seconds(site) for _ in range(EDITS))}
    return values | _reloaded(site)


def _compared(site: Site, one: Run) -> dict[str, float]:
    """A build with two processes, and the floor: parsing the YAML and unpacking the result."""
    say("the same: floor, two processes")
    tar, unpacked = site.folder / "dist.tar", site.folder / "unpacked"
    subprocess.run(["tar", "-cf", tar, "-C", site.folder, "dist"], check=True)
    unpacked.mkdir()
    os.sync()
    parse = building.parsing_seconds(site)
    unpack = run("tar", "-xf", str(tar), "-C", str(unpacked)).seconds
    second = Site(site.folder / "two", site.series, site.chapters)
    second.folder.mkdir()
    second.catalog.symlink_to(site.catalog)
    os.sync()
    two = second.build(jobs=2)
    return {
        "parse the YAML + unpack the result with tar": parse + unpack,
        "full build, one process ÷ these": one.seconds / (parse + unpack),
        "full build, two processes": two.seconds,
        "full build, two processes ÷ one": two.seconds / one.seconds,
        "full build, two processes: memory of the larger": two.peak,
    }


def _occupied(folder: Path) -> tuple[int, int]:
    """Number and space of all files and folders. A list of them all would count as memory of builds: see `Run.peak`."""
    entries = blocks = 0
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            entries += 1
            blocks += os.lstat(os.path.join(place, name)).st_blocks
    return entries, blocks * 512


def _reloaded(site: Site) -> dict[str, float]:
    """Duration and memory of a reload."""
    with servers.nginx("the release", site.folder, servers.RELEASE) as server:
        old, memory = server.worker, servers.memory(server.worker)["Rss"]
        started, most = time.perf_counter(), 0
        server.process.send_signal(signal.SIGHUP)
        while old in (processes := list(_processes(server))):
            most = max(most, sum(servers.memory(process).get("Pss", 0) for process in processes))
            time.sleep(0.005)
        seconds = time.perf_counter() - started
        with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=servers.PATIENCE)) as connection:
            connection.request("GET", "/api/series/")
            if connection.getresponse().status != 200:
                raise SystemExit("bench: nginx does not answer after a reload")
    return {
        "memory of a worker (RSS)": memory,
        "reload, until only the new worker runs": seconds,
        "memory of nginx during a reload (PSS of all its processes)": most,
    }


def _processes(server: servers.Server) -> Iterator[int]:
    """The process ids of nginx: its main process and all workers."""
    master = server.process.pid
    yield master
    yield from map(int, Path(f"/proc/{master}/task/{master}/children").read_text().split())


def computed(columns: Mapping[int, Mapping[str, float]], chapters: int) -> dict[str, float]:
    """Extend the line from the smallest catalog to the largest one, for each row that both have."""
    less, *_, more = sorted(columns)
    share = (chapters - more) / (more - less)
    rows = columns[less].keys() & columns[more].keys()
    return {row: columns[more][row] + (columns[more][row] - columns[less][row]) * share for row in rows}


def section(columns: Mapping[int, Mapping[str, float]]) -> list[str]:
    *measured_sizes, last = sorted(columns)
    headings = [f"{chapters:,} chapters" for chapters in measured_sizes]
    headings.append(f"{last:,} chapters" + ("" if not measured_sizes else ", computed"))
    return [
        "## Scale",
        "",
        *machine.described(),
        f"- Catalogs of series with {CHAPTERS} chapters of 20 pages, without `pages`; all files on a disk, one nginx "
        "worker.",
        f"- Edits and builds without changes: median of {EDITS}. The last column extends the line from the first one "
        "to the one before it.",
        "",
        f"| | {' | '.join(headings)} |",
        f"|---|{'---|' * len(headings)}",
        *(
            f"| {row} | "
            + " | ".join(
                report.shown(columns[chapters][row] / divisor, unit) if row in columns[chapters] else "–"
                for chapters in sorted(columns)
            )
            + " |"
            for row, (unit, divisor) in ROWS.items()
        ),
        "",
    ]


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"bench: {error}") from None
