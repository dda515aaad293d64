"""`make bench`: builds catalogs and asks servers, and says whether the results are what they should be.

Everything lies in memory-backed storage, and what is compared is measured in turns, several rounds, so that a slow
moment of the machine hits all alike. Numbers of one machine say little; what counts are the quotients.
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
# What a chapter takes in the end: bodies, their sidecars, packed and unpacked.
FILES_A_CHAPTER, BYTES_A_CHAPTER = 20, 90_000


def main(arguments: Sequence[str] | None = None) -> None:
    options = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--series", type=int, default=2000, help="of the catalog (2000)")
    options.add_argument("--chapters", type=int, default=50, help="of each series (50)")
    options.add_argument("--rounds", type=int, default=3, help="how often everything is measured (3)")
    options.add_argument("--seconds", type=int, default=5, help="that each server is asked in a round (5)")
    options.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="some parts and not all")
    options.add_argument("--results", type=Path, default=Path(__file__).with_name("RESULTS.md"), metavar="FILE")
    asked = options.parse_args(arguments)
    if set(asked.only) & {"requests", "search"} and not load.have_wrk():
        raise SystemExit("bench: wrk is not installed; `make bench` installs it, or leave out requests and search")
    heading = machine.described()
    with scratch() as folder:
        refuse_to_overfill(folder, asked.series * asked.chapters)
        site = Site(folder, asked.series, asked.chapters)
        size = site.write()
        found = measured(site, asked.only, asked.rounds, asked.seconds)
    heading += [
        f"- {asked.series:,} series, {asked.series * asked.chapters:,} chapters, {size / 1e6:.1f} MB of YAML, "
        f"rounds: {asked.rounds}; targets are meant for 2,000 series and 100,000 chapters",
        *(() if has_cache() else ("- this build keeps nothing between two runs: every rebuild is a full one",)),
    ]
    text = report.markdown(heading, found)
    print(text)
    asked.results.write_text(text, encoding="utf-8")


def measured(site: Site, only: Sequence[str], rounds: int, seconds: int) -> Findings:
    found = Findings()
    if "building" in only:
        found.add(building.measure(site, rounds, say))
    elif set(only) & {"requests", "maps"}:
        say("building")
        site.build(os.cpu_count() or 1)
    if "maps" in only:
        found.add(maps.measure(site, rounds, say))
    if "requests" in only:
        found.add(requests.measure(site, rounds, seconds, say))
    if "search" in only:
        searched = Site(site.folder / "searched", search.SERIES, 1)
        searched.write()
        searched.build()
        found.add(search.measure(searched, rounds, seconds, say))
    if "worst" in only:
        asked = Site(site.folder / "asked", worst.SERIES, 1)
        asked.write()
        asked.build()
        found.add(worst.measure(asked, rounds, say))
    return found


@contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=MEMORY if MEMORY.is_dir() else None))
    try:
        yield folder
    finally:
        remove(folder)


def refuse_to_overfill(folder: Path, chapters: int) -> None:
    """A full disk would be found out after minutes."""
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
