"""The cost of a query in the shim, counted in examined series and characters."""

import json
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from generator import encoding
from generator.api.payloads import series_index
from generator.catalog.entities import Catalog, Category, Person
from tests.nginx.test_shim import copy_modules
from tests.support import yaml_catalogs
from tests.support.paths import DATA
from tests.support.tables import each

NODE = shutil.which("node")
pytestmark = [pytest.mark.bounds, pytest.mark.skipif(not NODE, reason="node is not installed")]

SIZES = (2_000, 20_000)
# The longest request line that nginx accepts: 8 kB.
LENGTH = 8_100
# A built-in function reads this many characters while a loop of the script examines one series: njs 0.7.9
# takes 60 us to split 8,000 characters, and 250 us for a loop over 2,000 series.
AT_ONCE = 16
# The cost of a query, per series of the catalog.
MOST, TOGETHER = 10, 15
LISTS = ("list", "search")
CATEGORIES = [f"c{number:02}" for number in range(80)]
PARAMETERS = ("page", "limit", "sort", "slug", "status", "categories", "title", "author", "artist", "nonsense", "")
# Each function of the shim that reads a query, and the parameters that it looks for.
SIBLINGS = {
    "dates": ("date_format",),
    "chapters": ("series", "date_format"),
    "pages": ("series", "volume", "number"),
    "invalid": ("volume",),
    "digest": ("api_key",),
    "tracked": ("track",),
}
FRAGMENTS = (
    *("&", ",", "-", "=", "+", "%", "e", "1", "0", "1,", "%2C", "%2c-", "%63", "%ff"),
    *("%C3%A9", "\u00e9", "-c07", "c11,"),
    *("a&", "a=&", "%61=&", "x" * 50, "x" * 199, "genre+12", "series-7", "ongoing", ",".join(CATEGORIES[:64])),
    *("&title=e", "&author=e", "&artist=q", "&status=ongoing", "&limit=999", "&sort=-views", "&categories=-c00"),
)

Cost = Callable[..., float]


def spellings(name: str) -> list[str]:
    """Many texts for the same category."""
    letters = [sorted({letter, letter.upper()}) for letter in name]
    return ["".join(word) for word in product(*letters)]


ONE_SERIES = """
series:
  one:
    chapters: [{number: 1, published: 2026-01-01, pages: []}]
"""


def catalog(size: int) -> Catalog:
    """A catalog with only the data of lists: each series has up to six of 80 categories."""
    genres = [Category(id, f"Genre {id[1:]}", "", 0) for id in CATEGORIES]
    people = [Person(number, f"Person {number}", (f"Alias of {number}",), 0) for number in range(1, 101)]
    small = yaml_catalogs.catalog(ONE_SERIES)
    (one,) = small.series
    series = [
        replace(
            one,
            slug=f"series-{number}",
            title=f"The title of series {number}",
            aliases=(f"Another title of {number}",),
            authors=(people[number % 100],),
            artists=(people[number * 7 % 100],),
            categories=tuple(genres[place] for place in {0, *((number * step + step) % 80 for step in range(1, 6))}),
            status=("ongoing", "completed", "hiatus", "canceled")[number % 4],
            updated=number,
            views=number,
        )
        for number in range(size)
    ]
    return replace(small, authors=tuple(people), artists=tuple(people), categories=tuple(genres), series=tuple(series))


@pytest.fixture(scope="module")
def costs(tmp_path_factory) -> Iterator[dict[int, Cost]]:
    """For each size of a catalog: the cost of a query in some functions of the shim, one after the other."""
    folder = tmp_path_factory.mktemp("cost")
    modules = copy_modules(folder / "shim")
    running: list[subprocess.Popen[str]] = []

    def started(size: int) -> Cost:
        index = folder / f"{size}.json"
        index.write_bytes(encoding.json(series_index.index(catalog(size)).value))
        command = [str(NODE), str(DATA / "shim/cost.mjs"), str(modules), str(index)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        running.append(process)

        def cost(query: str, calls: tuple[str, ...] = LISTS) -> float:
            process.stdin.write(json.dumps({"calls": calls, "query": query}) + "\n")
            process.stdin.flush()
            counts: dict[str, Any] = json.loads(process.stdout.readline())
            return counts["visits"] + counts["characters"] / AT_ONCE

        return cost

    yield {size: started(size) for size in SIZES}
    for process in running:
        process.communicate()


def spelt(fragments: list[str], name: str) -> str:
    """The first fragment once, then the others repeated until the line is full."""
    first, rest = fragments[0], "".join(fragments[1:])
    text = f"{name}={first}" if name else first
    line = (text + rest * (LENGTH // len(rest) + 1 if rest else 0)).encode()
    return line[:LENGTH].decode(errors="ignore")


def candidates(choose: random.Random, names: tuple[str, ...]) -> Iterator[list[str]]:
    """Each fragment alone, repeated, and after each parameter; then mixtures of a few."""
    pool = [*FRAGMENTS, *(f"&{name}=" for name in names if name), *(f"&{name}=1" for name in names if name)]
    for fragment in pool:
        yield [fragment]
        yield ["", fragment]
    for _ in range(60):
        yield choose.choices(pool, k=choose.randint(2, 5))


def changed(choose: random.Random, fragments: list[str]) -> list[str]:
    """One fragment more, less, or different."""
    place, fragment = choose.randrange(len(fragments)), choose.choice(FRAGMENTS)
    end = place + choose.choice((0, 1))
    return [*fragments[:place], *choose.choice(([fragment], [])), *fragments[end:]] or [fragment]


def worst(cost: Cost, names: tuple[str, ...], name: str, calls: tuple[str, ...]) -> list[str]:
    """The most expensive queries for one parameter: the best of many, then improved step by step."""
    choose = random.Random(f"{name} {calls}")
    ranked = sorted(candidates(choose, names), key=lambda one: -cost(spelt(one, name), calls))[:4]
    for _ in range(60):
        ranked.append(changed(choose, choose.choice(ranked)))
        ranked.sort(key=lambda one: -cost(spelt(one, name), calls))
        ranked.pop()
    return [spelt(one, name) for one in ranked]


@each("name", PARAMETERS)
def test_worst_query_of_a_list_examines_each_series_ten_times_at_most(costs: dict[int, Cost], name: str) -> None:
    """No query that the search finds costs more, in either catalog."""
    queries = worst(costs[SIZES[0]], PARAMETERS, name, LISTS)

    for size, cost in costs.items():
        assert {query[:60]: round(cost(query) / size, 1) for query in queries if cost(query) > MOST * size} == {}


@each(
    "query",
    ["categories=c00", "status=ongoing&sort=-views", "slug=series-7", "title=e", "title=e&sort=-views", "author=on"],
)
def test_simple_filter_examines_few_series(costs: dict[int, Cost], query: str) -> None:
    """A filter reads a set, and its page; a tenth of the series at most."""
    for size, cost in costs.items():
        assert cost(query) <= size / 10 + 50


@each(
    "query",
    [
        "categories=" + ",".join(CATEGORIES[:64]),
        "categories=-" + ",-".join(CATEGORIES[:64]),
        "categories=" + ",".join(f"%63{number:02}" for number in range(64)),
        "categories=" + ",".join(f"%63{number:02}%ff" for number in range(64)),
        "categories=" + ",".join(word for number in range(25) for word in spellings(f"genre+{number:02}")),
        "title=e&author=e&artist=q&status=ongoing&categories=" + ",".join(CATEGORIES[:64]),
        "title=e&author=e&artist=q&categories=" + ",".join((CATEGORIES[:64] * 40)[:1980]),
        "limit=999&title=e&author=e&artist=a&categories=" + ",".join((CATEGORIES[:64] * 40)[:1950]),
        # Parts of all texts that are too long to be listed.
        "limit=999&title=he+title+of+s&author=erson+&artist=erson+&sort=views&categories="
        + ",".join((CATEGORIES[:64] * 40)[:1940]),
    ],
)
def test_all_filters_together_examine_each_series_fifteen_times_at_most(costs: dict[int, Cost], query: str) -> None:
    """The maximum of categories, repeated, with texts that most series contain."""
    assert len(query) <= LENGTH
    for size, cost in costs.items():
        assert cost(query) <= TOGETHER * size


@each(("call", "names"), SIBLINGS.items())
def test_no_other_query_costs_more(costs: dict[int, Cost], call: str, names: tuple[str, ...]) -> None:
    """Other routes have no limits on parameters; the query is read a few times."""
    cost = costs[SIZES[0]]

    for name in (*names, ""):
        queries = worst(cost, names, name, (call,))
        assert max(cost(query, (call,)) for query in queries) <= MOST * SIZES[0]
        # A query of double length costs less than four times as much.
        assert all(cost(query, (call,)) <= 2.5 * cost(query[: LENGTH // 2], (call,)) for query in queries)
