"""Full builds and rebuilds, compared with parsing the YAML and unpacking the result."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from . import catalogs
from .program import ROOT, Run, Site, remove, run
from .report import Figure, Findings, Series, ratios

MB = 1e6
# The ratio of the two catalogs that show how memory grows.
FEWER = 5


def measure(site: Site, rounds: int, say: Callable[[str], None]) -> Findings:
    """Measure builds; the site is left as its first build made it, without the cache."""
    small = Site(site.folder / "small", max(1, site.series // FEWER), site.chapters)
    small.write()
    say(f"building, {small.series} series")
    less = max(small.build_from_nothing(jobs).peak for jobs in (1, 2))
    remove(small.folder)

    tar = site.folder / "dist.tar"
    parse, unpack, at_once = [], [], []
    runs: dict[str, list[Run]] = {"one": [], "two": [], "same": [], "chapter": []}
    for turn in range(rounds):
        say(f"building, round {turn + 1} of {rounds}")
        runs["two"].append(site.build_from_nothing(jobs=2))
        runs["one"].append(site.build_from_nothing(jobs=1))
        at_once.append(two_at_once(site))
        if not turn:
            subprocess.run(["tar", "-cf", tar, "-C", site.folder, "dist"], check=True)
        runs["same"].append(site.build())
        runs["chapter"].append(with_one_more_chapter(site))
        parse.append(parsing_seconds(site))
        # Removed before unpacking, so that the memory file system holds it only once.
        remove(site.dist, site.cache)
        unpack.append(run("tar", "-xf", str(tar), "-C", str(site.folder)).seconds)
    tar.unlink()

    times = {name: [run.seconds for run in rounds] for name, rounds in runs.items()}
    floor = [one + other for one, other in zip(parse, unpack, strict=True)]
    peak = max(one.peak for name in ("one", "two") for one in runs[name])
    return Findings(
        [
            Figure("full build ÷ (parse the YAML + unpack the result)", ratios(times["one"], floor), "≤", 2.3),
            Figure("full build, two processes ÷ one", ratios(times["two"], times["one"]), "≤", 0.57),
            Figure(
                "half of two full builds at once ÷ one alone: as fast as two processes can be",
                ratios(at_once, times["one"]),
            ),
            Figure("full build ÷ rebuild after one chapter was added", ratios(times["one"], times["chapter"]), "≥", 40),
            Figure("rebuild after one chapter was added", times["chapter"], "≤", 2, "s"),
            Figure("full build ÷ rebuild with nothing changed", ratios(times["one"], times["same"]), "≥", 100),
            Figure("rebuild with nothing changed", times["same"], "≤", 0.4, "s"),
            Figure("peak memory of the largest process of a full build", [peak / MB], "≤", 250, "MB"),
            Figure(
                f"peak memory, catalog {site.series / small.series:.3g} times as large", [peak / less], "≤", 1.5, "×"
            ),
        ],
        [
            Series("full build, one process", times["one"], "s"),
            Series("full build, two processes", times["two"], "s"),
            Series("rebuild after one chapter was added", times["chapter"], "s"),
            Series("rebuild with nothing changed", times["same"], "s"),
            Series("parse the YAML", parse, "s"),
            Series("unpack the result with tar", unpack, "s"),
            Series("peak memory, one process", [one.peak / MB for one in runs["one"]], "MB"),
            Series("peak memory, two processes: the larger", [one.peak / MB for one in runs["two"]], "MB"),
            Series(f"peak memory, {small.series} series", [less / MB], "MB"),
        ],
    )


def with_one_more_chapter(site: Site) -> Run:
    """Rebuild after adding a chapter, then undo the edit so that all rounds start alike."""
    edited = site.catalog / "series" / f"{catalogs.slug(site.series // 2)}.yaml"
    before = edited.read_text(encoding="utf-8")
    identity = site.series * site.chapters + 1
    edited.write_text(before + catalogs.chapter(identity, site.chapters + 1), encoding="utf-8")
    try:
        return site.build()
    finally:
        edited.write_text(before, encoding="utf-8")


def two_at_once(site: Site) -> float:
    """Half of the time for two full builds at once, which share no work: what the second processor adds at most."""
    other = Site(site.folder / "other", site.series, site.chapters)
    other.folder.mkdir()
    other.catalog.symlink_to(site.catalog)
    remove(site.dist, site.cache)
    with ThreadPoolExecutor() as threads:
        seconds = max(build.seconds for build in threads.map(Site.build, (site, other)))
    remove(other.folder)
    return seconds / 2


def parsing_seconds(site: Site) -> float:
    """The time to parse the YAML with the program's own parser."""
    command = [sys.executable, "-m", "bench.parsing", str(site.catalog)]
    return float(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
