"""The most expensive queries of the list of series, compared with the longest page without a filter."""

import http.client
from collections.abc import Callable
from contextlib import closing
from itertools import product
from statistics import median

from . import servers
from .catalogs import CATEGORIES
from .program import Site
from .report import Figure, Findings, Series, ratios
from .servers import Server

SERIES = 2000
TIMES = 100
# As long as a request line may be.
LENGTH = 8100
ONE = "categories=action"
EVERYTHING = "categories=" + ",".join(CATEGORIES)


def filled(begin: str, again: str) -> str:
    return (begin + again * (LENGTH // len(again) + 1))[:LENGTH]


def spellings(name: str) -> list[str]:
    """All spellings of the same category."""
    return ["".join(word) for word in product(*((letter, letter.upper()) for letter in name))]


LONGEST_PAGE = "999 series"
# Name -> query and status of its response; tests/nginx/test_shim_cost.py counts the work of such queries.
QUERIES = {
    LONGEST_PAGE: ("limit=999", 200),
    "one category": (ONE, 200),
    "one category, 4,000 times": (filled("categories=", "a,"), 200),
    "one category excluded, 2,700 times": (filled("categories=", "-a,"), 200),
    "8,000 commas": (filled("categories=", ","), 200),
    "2,700 escaped commas": (filled("categories=", "%2C"), 200),
    "64 categories in other spellings": ("categories=" + ",".join(spellings("mystery")[:64]), 200),
    "64 categories of invalid UTF-8": ("categories=" + ",".join(f"%ff{number}" for number in range(64)), 200),
    "a text of invalid UTF-8": ("title=%ff", 200),
    "letters to fold": (filled("categories=%C3%A9", "X"), 200),
    "three texts": ("title=e&author=a&artist=q", 200),
    "all filters": (f"title=e&author=a&artist=a&limit=999&{EVERYTHING}", 200),
    # Every series has an alias with this text.
    "all filters, a text in every series": (f"title=alias&author=a&artist=a&limit=999&sort=-views&{EVERYTHING}", 200),
    "a slug of 8,000 blanks": (filled("slug=", "+"), 200),
    "4,000 parameters": (filled("", "a&"), 400),
    "800 times the same parameter": (filled("", "title=ab&"), 400),
    "1,600 different categories": (filled("categories=", ",".join(map(str, range(1600)))), 400),
}


def measure(site: Site, rounds: int, say: Callable[[str], None]) -> Findings:
    taken: dict[str, list[float]] = {name: [] for name in QUERIES}
    with servers.nginx("the release", site.folder, servers.RELEASE) as server:
        for turn in range(rounds):
            say(f"worst queries, round {turn + 1} of {rounds}")
            for name, (query, status) in QUERIES.items():
                taken[name].append(milliseconds(server, f"/api/v2/series?{query}", status))
    slowest = max(taken, key=lambda name: median(taken[name]))
    named = f"the most expensive query of a list of {site.series:,} series ({slowest}) ÷ a page of 999 series"
    return Findings(
        [Figure(named, ratios(taken[slowest], taken[LONGEST_PAGE]), "≤", 3)],
        [Series(f"a list: {name}", values, "ms") for name, values in taken.items()],
    )


def milliseconds(server: Server, path: str, status: int) -> float:
    """Processor time of the worker per response, independent of other load."""
    before = server.processor_time()
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        for _ in range(TIMES):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            if answer.status != status:
                raise SystemExit(f"bench: {path[:60]} has status {answer.status} instead of {status}")
    return (server.processor_time() - before) / TIMES / 1e6
