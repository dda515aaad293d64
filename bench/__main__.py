"""`make bench`: build catalogs, send requests to servers, and compare the figures with their targets.

All files are in memory-backed storage. Compared values are measured alternately, in several rounds, so that a slow
moment of the machine affects all of them. Ratios transfer between machines; seconds do not.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from . import building, edge, edits, load, machine, maps, report, requests, search, starting, worst
from .program import Site, has_cache, remove
from .report import Findings

MEMORY = Path("/dev/shm")
PARTS = ("starting", "building", "edits", "maps", "requests", "edge", "search", "worst")
RESULTS = Path(__file__).with_name("RESULTS.md")
# Other processes with a larger share of the processors make the figures of a part doubtful.
BUSY = 0.1
# Files and bytes per chapter in `dist/`: bodies, sidecars and compressed forms.
FILES_A_CHAPTER, BYTES_A_CHAPTER = 20, 90_000


def main(arguments: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--quick", action="store_true", help="two minutes; ratios only, and no file of results")
    options.add_argument("--series", type=int, help="series in the catalog (2000; quick: 200)")
    options.add_argument("--chapters", type=int, default=50, help="chapters of each series (50)")
    options.add_argument("--rounds", type=int, help="number of measurements (2; quick: 3)")
    options.add_argument("--seconds", type=int, help="length of a measurement of a server (3; quick: 1)")
    options.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="run only these parts")
    options.add_argument("--results", type=Path, metavar="FILE", help=f"file of results ({RESULTS.name}; quick: none)")
    options.set_defaults(series=2000, rounds=2, seconds=3, results=RESULTS)
    if options.parse_args(arguments).quick:
        options.set_defaults(series=200, rounds=3, seconds=1, results=None)
    chosen = options.parse_args(arguments)
    if set(chosen.only) & {"requests", "edge", "search"} and not load.have_wrk():
        raise SystemExit("bench: wrk is not installed; `make bench` installs it, or choose other parts with --only")
    heading = machine.described()
    with scratch() as folder:
        refuse_to_overfill(folder, chosen.series * chosen.chapters)
        site = Site(folder, chosen.series, chosen.chapters)
        size = site.write()
        findings = measured(site, chosen.only, chosen.rounds, chosen.seconds)
    heading += [
        f"- {chosen.series:,} series, {chosen.series * chosen.chapters:,} chapters, {size / 1e6:.1f} MB of YAML, "
        f"rounds: {chosen.rounds}; targets are meant for 2,000 series and 100,000 chapters",
        *(() if has_cache() else ("- this version has no cache: every rebuild is a full build",)),
    ]
    text = report.markdown(heading, findings)
    print(text)
    if chosen.results:
        chosen.results.write_text(report.keep_section(chosen.results, text), encoding="utf-8")


def measured(site: Site, only: Sequence[str], rounds: int, seconds: int) -> Findings:
    parts: dict[str, Callable[[], Findings]] = {
        "starting": lambda: starting.measure(site.folder, rounds, say),
        "building": lambda: building.measure(site, rounds, say),
        "edits": lambda: edits.measure(site, rounds, say),
        "maps": lambda: maps.measure(site, rounds, say),
        "requests": lambda: requests.measure(site, rounds, seconds, say),
        "edge": lambda: edge.measure(site, rounds, seconds, say),
        "search": lambda: search.measure(_short(site, "searched", search.SERIES), rounds, seconds, say),
        "worst": lambda: worst.measure(_short(site, "worst", worst.SERIES), rounds, say),
    }
    findings = Findings()
    if "building" not in only and set(only) & {"requests", "maps", "edge"}:
        say("building")
        site.build(os.cpu_count() or 1)
    for part in filter(set(only).__contains__, PARTS):
        others = machine.Others()
        findings.add(parts[part]())
        if (share := others.share()) > BUSY:
            findings.remarks.append(f"**A busy machine**: other processes had {share:.0%} of it during: {part}.")
    return findings


def _short(site: Site, name: str, series: int) -> Site:
    """Build a catalog of short series, for lists of series."""
    short = Site(site.folder / name, series, 1)
    short.write()
    short.build()
    return short


@contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        yield folder
    finally:
        remove(folder)


def refuse_to_overfill(folder: Path, chapters: int) -> None:
    """Refuse before the first build; a full disk would otherwise show after minutes."""
    status = os.statvfs(folder)
    files, space = chapters * FILES_A_CHAPTER, chapters * BYTES_A_CHAPTER
    if status.f_favail < files or status.f_bavail * status.f_frsize < space:
        raise SystemExit(
            f"bench: {folder.parent} is too small: {chapters:,} chapters may take {files:,} files "
            f"and {space / 1e9:.1f} GB; take fewer --series"
        )


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"bench: {error}") from None
