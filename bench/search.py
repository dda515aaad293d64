"""Filtered lists of series, which a script in nginx computes."""

import random
from collections.abc import Callable, Iterator
from statistics import median
from urllib.parse import urlencode

from . import load, servers
from .catalogs import CATEGORIES, FAMILY, GIVEN, SECOND, STATUSES
from .load import Request
from .program import Site
from .report import Figure, Findings, Series

SERIES = 1000
CONNECTIONS = 16
SORTS = ("title", "-title", "latest_upload", "-latest_upload", "chapter_count", "-chapter_count", "views", "-views")


def measure(site: Site, rounds: int, seconds: int, say: Callable[[str], None]) -> Findings:
    asked = load.mix(site.folder / "search", (Request(f"/api/v2/series?{query}") for query in queries(1000)))
    loads = []
    with servers.nginx("the release", site.folder, servers.RELEASE) as server:
        load.check(server, asked)
        for turn in range(rounds):
            say(f"search, round {turn + 1} of {rounds}")
            loads.append(load.run(server, asked, connections=CONNECTIONS, seconds=seconds))
    rates, slowest = [one.per_second for one in loads], [one.p99 for one in loads]
    return Findings(
        [
            Figure(f"filtered lists of {site.series:,} series", median(rates), "≥", 1500, "/s"),
            Figure("99 of 100 filtered lists within", median(slowest), "≤", 40, "ms"),
        ],
        [
            Series("filtered lists", rates, "/s"),
            Series("99 of 100 filtered lists within", slowest, "ms"),
        ],
        load.failures("filtered lists", loads),
    )


def queries(count: int) -> Iterator[str]:
    """Queries as readers make them, in turn; always the same."""
    choose = random.Random(0).choice
    for turn in range(count):
        match turn % 6:
            case 0:
                asked = {"title": choose(SECOND)[1:4].lower()}
            case 1:
                asked = {"status": choose(STATUSES)}
            case 2:
                asked = {"categories": f"{choose(CATEGORIES)},-{choose(CATEGORIES)}"}
            case 3:
                asked = {"author": choose(GIVEN + FAMILY)}
            case 4:
                asked = {"sort": choose(SORTS), "limit": choose(("10", "50", "100"))}
            case _:
                asked = {"title": choose("aeiou"), "status": choose(STATUSES), "sort": choose(SORTS), "limit": "20"}
        yield urlencode(asked, safe=",")
