"""Memory of a worker and loading time per URL."""

import subprocess
import time
from collections.abc import Callable

from . import bodies, servers
from .program import Site
from .report import Figure, Findings, Series


def measure(site: Site, rounds: int, say: Callable[[str], None]) -> Findings:
    """Compare the release of `site` with one that has almost no URLs."""
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
            Figure("memory of a worker per URL, with its share of shared memory (PSS)", fair, "≤", 250, "B"),
            Figure("time to load the maps, per URL", loading, "≤", 4, "µs"),
        ],
        [
            Series("memory of a worker per URL (PSS)", fair, "B"),
            Series("memory of a worker per URL, with all shared memory (RSS)", whole, "B"),
            Series("time to load the maps, per URL", loading, "µs"),
        ],
        [
            f"The release has {large:,} URLs; figures per URL are differences to a release of {none:,}.",
            "A worker shares the maps with the master: half of them count in its PSS, all in its RSS.",
        ],
    )


def loading_seconds(site: Site) -> float:
    """Seconds that nginx takes to read and test a release."""
    command, _ = servers.configure(site.folder, servers.RELEASE)
    started = time.perf_counter()
    subprocess.run([*command, "-t", "-q"], check=True)
    return time.perf_counter() - started


def memory(site: Site) -> tuple[int, int]:
    """PSS and RSS of one worker, in bytes."""
    with servers.nginx("the release", site.folder, servers.RELEASE) as server:
        fields = servers.memory(server.worker)
    return fields["Pss"], fields["Rss"]
