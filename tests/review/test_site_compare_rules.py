"""No rule of `compare` hides a loss: each change of a response of the new site is a difference without a reason."""

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pytest

from generator.reading_sites.response_cache import ResponseCache
from generator.review.site_compare import run, summary
from generator.review.site_compare.facts import Answer, ComparedSite, Difference, Facts
from tests.support.moved_sites import compare_options, moved_site
from tests.support.real_service import USUAL, V1_OFF

# Samples of each change of each field.
SAMPLES = 3
# Changes that no response of the first site contradicts: lists without an order, and computed ids.
EXCEPTIONS = {
    *((name, "reversed") for name in ("aliases[]", "alt_titles[]", "roles[]")),
    *(
        (route, f"{place}groups[]", "reversed")
        for route, place in [("/api/v2/members", ".results[]."), ("/api/v2/members/{id}", ".")]
    ),
    ("/api/v2/chapters/{id}/pages", ".results[].id", "changed"),
    # No version of the original service states these.
    *(
        ("/api/v2/series/{slug}", f".{name}", kind)
        for name in ("kind", "rating", "language", "links")
        for kind in ("changed", "removed")
    ),
}
# Version 0.4.5 has no full titles, no order of pages, and all roles of a member in each group.
OLD_EXCEPTIONS = {("full_title", "removed"), ("pages_list[]", "reversed"), ("roles[]", "removed")}


@dataclass(frozen=True)
class Compared:
    """The two responses for a path."""

    path: str
    first: Answer
    second: Answer


@pytest.fixture(scope="module", params=[(USUAL, "v0.9.6"), (V1_OFF, "v0.9.6"), (USUAL, "v0.4.5")])
def compared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[list[Compared], Facts]]:
    """All responses of a comparison, and its facts while both sites are running."""
    setting, version = request.param
    pairs: list[Compared] = []
    facts: list[Facts] = []

    def spy(path: str, first: Answer, second: Answer, given: Facts) -> list[Difference]:
        pairs.append(Compared(path, first, second))
        facts.append(given)
        return []

    folder = tmp_path_factory.mktemp("compared")
    with ExitStack() as stack:
        site = stack.enter_context(moved_site(folder, setting, version))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "differences", spy)
            # The tests read more responses after the comparison.
            patch.setattr(ResponseCache, "close", lambda cache: None)
            run.run(compare_options(site.old.url, site.url, folder / "cache"))
        yield pairs, facts[-1]
        for one in (facts[-1].first, facts[-1].second):
            one.crawler.client.close()
            one.crawler.bodies.cache.close()


def unexplained(pair: Compared, facts: Facts) -> list[Difference]:
    first, second = copy.deepcopy(pair.first), copy.deepcopy(pair.second)
    differences = run.differences(pair.path, first, second, facts)
    return [difference for difference in differences if not difference.reason]


def inside(key: str | int, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A change of one item of an object or a list."""

    def edit(whole: Any) -> Any:
        edited = copy.copy(whole)
        edited[key] = change(whole[key])
        return edited

    return edit


def changes(value: Any, place: str = "") -> Iterator[tuple[str, str, Callable[[Any], Any]]]:
    """Each change of JSON: the place without identities, the kind of the change, and the function that makes it."""
    if isinstance(value, dict):
        for name, item in value.items():
            inner = f"{place}.{name}" if name.isidentifier() else f"{place}[]"
            yield inner, "removed", lambda whole, name=name: {key: whole[key] for key in whole if key != name}
            yield from ((where, kind, inside(name, change)) for where, kind, change in changes(item, inner))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield f"{place}[]", "removed", lambda whole, index=index: whole[:index] + whole[index + 1 :]
            yield from ((where, kind, inside(index, change)) for where, kind, change in changes(item, f"{place}[]"))
        if len(value) > 1 and value[0] != value[-1]:
            yield f"{place}[]", "reversed", lambda whole: whole[::-1]
    elif isinstance(value, str):
        yield place, "changed", lambda text: f"{text}x"
        if value:
            yield place, "emptied", lambda text: ""
    elif isinstance(value, bool):
        yield place, "changed", lambda truth: not truth
    elif isinstance(value, int | float):
        yield place, "changed", lambda number: number + 1
    else:
        yield place, "changed", lambda nothing: "x"


@pytest.mark.searches
def test_each_change_of_a_response_has_no_reason(compared: tuple[list[Compared], Facts]) -> None:
    """Fields with a documented exception aside: their values cannot be compared with those of the first site."""
    pairs, facts = compared
    seen: Counter[tuple[str, str, str]] = Counter()
    hidden: set[tuple[str, str, str]] = set()
    for pair in pairs:
        if not (pair.first.good and pair.second.good):
            continue
        assert unexplained(pair, facts) == []
        route = run.route_of(pair.path)
        for place, kind, change in changes(pair.second.value):
            seen[route, place, kind] += 1
            if seen[route, place, kind] <= SAMPLES:
                wrong = replace(pair, second=replace(pair.second, value=change(copy.deepcopy(pair.second.value))))
                # Some changes make the response equal to that of the first site.
                if wrong.second.value != pair.first.value and not unexplained(wrong, facts):
                    hidden.add((route, place, kind))

    assert len(seen) > 100
    allowed = EXCEPTIONS if facts.first.get("/api/v2/series").good else EXCEPTIONS | OLD_EXCEPTIONS
    assert {change for change in hidden if not allowed & {change, (change[1].rpartition(".")[2], change[2])}} == set()


# Values for each response, and those of them with which the other responses are compared, too.
MOST, OTHERS = 200, (0, 3, 8)
ODD: tuple[Any, ...] = (None, "x", [], {"id": [], "name": {}, "slug": [], "series": 1}, [[3]])


def odd_values(value: Any) -> Iterator[Any]:
    """The value with another type, or with another type in one place."""
    yield from ODD
    if isinstance(value, dict):
        for key, item in value.items():
            yield from (value | {key: odd} for odd in odd_values(item))
    elif isinstance(value, list) and value:
        yield from ([odd, *value[1:]] for odd in odd_values(value[0]))


def difference_count(pair: Compared, facts: Facts) -> int:
    values = copy.deepcopy((pair.first, pair.second))
    return len([*run.differences(pair.path, *values, facts)])


@pytest.mark.searches
def test_any_json_of_the_first_site_can_be_compared(
    compared: tuple[list[Compared], Facts], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Foreign JSON may have any type in any place, also where a rule looks for facts."""
    pairs, facts = compared
    get = ComparedSite.get
    odd: dict[str, Answer] = {}

    def odd_get(site: ComparedSite, path: str) -> Answer:
        return copy.deepcopy(odd[path]) if site is facts.first and path in odd else get(site, path)

    monkeypatch.setattr(ComparedSite, "get", odd_get)
    by_route: dict[str, list[Compared]] = {}
    for pair in pairs:
        if pair.first.good and pair.second.good:
            by_route.setdefault(run.route_of(pair.path), []).append(pair)
    samples = [max(same[:20], key=lambda pair: difference_count(pair, facts)) for same in by_route.values()]
    for pair in samples:
        for number, value in enumerate(islice(odd_values(pair.first.value), MOST)):
            answer = replace(pair.first, value=value)
            odd[pair.path] = answer
            others = samples if number in OTHERS else ()
            for other in [replace(pair, first=answer), *others]:
                values = copy.deepcopy((other.first, other.second))
                summary.summary(run.differences(other.path, *values, facts))
        del odd[pair.path]
