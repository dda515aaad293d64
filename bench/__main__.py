"""`make bench`: build catalogs, send requests to servers, and compare the figures with their targets.

All files are in memory-backed storage. Compared values are measured alternately, in several rounds, so that a slow
moment of the machine affects all of them. Ratios transfer between machines; seconds do not.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from . import building, load, machine, maps, report, requests, search, worst
from .program import Site, has_cache, remove
from .report import Findings

MEMORY = Path("/dev/shm")
PARTS = ("building", "requests", "maps", "search", "worst")
# Files and bytes per chapter in `dist/`: bodies, sidecars and compressed forms.
FILES_A_CHAPTER, BYTES_A_CHAPTER = 20, 90_000


def main(arguments: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--series", type=int, default=2000, help="series in the catalog (2000)")
    options.add_argument("--chapters", type=int, default=50, help="chapters of each series (50)")
    options.add_argument("--rounds", type=int, default=3, help="number of measurements (3)")
    options.add_argument("--seconds", type=int, default=5, help="length of a measurement of a server (5)")
    options.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="run only these parts")
    options.add_argument("--results", type=Path, default=Path(__file__).with_name("RESULTS.md"), metavar="FILE")
    chosen = options.parse_args(arguments)
    if set(chosen.only) & {"requests", "search"} and not load.have_wrk():
        raise SystemExit("bench: wrk is not installed; `make bench` installs it, or leave out requests and search")
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
    chosen.results.write_text(text, encoding="utf-8")


def measured(site: Site, only: Sequence[str], rounds: int, seconds: int) -> Findings:
    findings = Findings()
    if "building" in only:
        findings.add(building.measure(site, rounds, say))
    elif set(only) & {"requests", "maps"}:
        say("building")
        site.build(os.cpu_count() or 1)
    if "maps" in only:
        findings.add(maps.measure(site, rounds, say))
    if "requests" in only:
        findings.add(requests.measure(site, rounds, seconds, say))
    if "search" in only:
        small = Site(site.folder / "searched", search.SERIES, 1)
        small.write()
        small.build()
        findings.add(search.measure(small, rounds, seconds, say))
    if "worst" in only:
        small = Site(site.folder / "worst", worst.SERIES, 1)
        small.write()
        small.build()
        findings.add(worst.measure(small, rounds, say))
    return findings


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
