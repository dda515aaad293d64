"""Filtered lists of series, which a script in nginx computes."""

import random
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

from . import catalogs, load, servers
from .catalogs import CATEGORIES, FAMILY, FIRST, GIVEN, SECOND, STATUSES
from .load import Load, Request
from .program import Site
from .report import Figure, Findings, Series

SERIES = 2000
CONNECTIONS = 4
QUERIES = 5000
SORTS = ("title", "-title", "latest_upload", "-latest_upload", "chapter_count", "-chapter_count", "views", "-views")
# Kinds of queries, with the least number of responses per second.
TARGETS = {"one status, category or slug": 15_000, "one text": 6000, "three filters with a text": 3000}
SLOWEST = 5

Choose = Callable[..., str]


def measure(site: Site, rounds: int, seconds: int, say: Callable[[str], None]) -> Findings:
    mixes = {
        kind: load.mix(
            site.folder / f"search{number}",
            (Request(f"/api/v2/series?{query}") for query in queries(kind, QUERIES, site.series)),
        )
        for number, kind in enumerate(TARGETS)
    }
    loads: dict[str, list[Load]] = {kind: [] for kind in TARGETS}
    with servers.nginx("the release", site.folder, servers.RELEASE) as server:
        for asked in mixes.values():
            load.check(server, asked)
        for turn in range(rounds):
            say(f"search, round {turn + 1} of {rounds}")
            for kind, asked in mixes.items():
                loads[kind].append(load.run(server, asked, connections=CONNECTIONS, seconds=seconds))
    findings = Findings([], [], [])
    for kind, least in TARGETS.items():
        rates, slowest = [one.per_second for one in loads[kind]], [one.p99 for one in loads[kind]]
        name, latency = f"lists by {kind}", f"99 of 100 lists by {kind} within"
        findings.add(
            Findings(
                [
                    Figure(f"{name}, {site.series:,} series", rates, "≥", least, "/s"),
                    Figure(latency, slowest, "≤", SLOWEST, "ms"),
                ],
                [Series(name, rates, "/s"), Series(latency, slowest, "ms")],
                load.failures(name, loads[kind]),
            )
        )
    return findings


def queries(kind: str, count: int, series: int) -> Iterator[str]:
    """Different queries of a kind; always the same."""
    choose = random.Random(kind).choice
    for number in range(count):
        yield urlencode({**_filters(kind, number, choose, series), "number": number}, safe=",")


def _filters(kind: str, number: int, choose: Choose, series: int) -> dict[str, str]:
    page = {"sort": choose(SORTS), "limit": choose(("10", "25", "50"))}
    by_name = [
        {"status": choose(STATUSES), **page},
        {"categories": choose(CATEGORIES), **page},
        {"slug": catalogs.slug(number % series)},
    ]
    by_text = [
        {"title": _part(choose(FIRST + SECOND), choose)},
        # Each series has this in an alias.
        {"title": f"別名 {number % series}"},
        {"author": _part(choose(GIVEN + FAMILY), choose)},
    ]
    if kind == "one text":
        return by_text[number % 3]
    if kind == "three filters with a text":
        return {
            **by_text[number % 3],
            "status": choose(STATUSES),
            "categories": choose(CATEGORIES),
            "sort": choose(SORTS),
        }
    return by_name[number % 3]


def _part(word: str, choose: Choose) -> str:
    """Some letters of a word, one at least."""
    start = choose(range(len(word)))
    return word[start : choose(range(start + 1, len(word) + 1))]
