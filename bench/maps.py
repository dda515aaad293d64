"""What a URL costs nginx: memory of a worker, and time to load."""

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from . import bodies, servers
from .program import Site
from .report import Figure, Findings, Series


def measure(site: Site, rounds: int, say: Callable[[str], None]) -> Findings:
    """The release of `site` against one that has almost no URLs."""
    nearly_none = Site(site.folder / "nearly-none", 1, 1)
    nearly_none.write()
    nearly_none.build()
    # Every body, and a redirect for every chapter.
    large, none = (sum(1 for _ in bodies.every(one.dist)) + one.series * one.chapters for one in (site, nearly_none))
    urls = large - none
    loading: list[float] = []
    fair: list[float] = []
    whole: list[float] = []
    for turn in range(rounds):
        say(f"maps, round {turn + 1} of {rounds}")
        loading.append((loading_seconds(site) - loading_seconds(nearly_none)) / urls * 1e6)
        (pss, rss), (least_pss, least_rss) = memory(site), memory(nearly_none)
        fair.append((pss - least_pss) / urls)
        whole.append((rss - least_rss) / urls)
    return Findings(
        [
            Figure("memory of a worker a URL, its share of what it shares (PSS)", median(fair), "≤", 250, "B"),
            Figure("time to load the maps of a URL", median(loading), "≤", 4, "µs"),
        ],
        [
            Series("memory of a worker a URL (PSS)", fair, "B"),
            Series("memory of a worker a URL, shared with the master or not (RSS)", whole, "B"),
            Series("time to load the maps of a URL", loading, "µs"),
        ],
        [
            f"The release has {large:,} URLs; what one costs is the difference to a release of {none:,}.",
            "A worker shares the maps with the master: half of them counts in the PSS of a single one, all in its RSS.",
        ],
    )


def loading_seconds(site: Site) -> float:
    """How long nginx reads and tests a release."""
    command, _ = servers.configure(site.folder, servers.RELEASE)
    started = time.perf_counter()
    subprocess.run([*command, "-t", "-q"], check=True)
    return time.perf_counter() - started


def memory(site: Site) -> tuple[int, int]:
    """Of one worker, in bytes: its share, and all that it sees."""
    with servers.nginx("the release", site.folder, servers.RELEASE) as server:
        text = Path(f"/proc/{server.worker}/smaps_rollup").read_text()
    fields = dict(re.findall(r"^(\w+): +(\d+) kB$", text, re.MULTILINE))
    return int(fields["Pss"]) * 1024, int(fields["Rss"]) * 1024
