"""Compare the two responses for a path: status, target of a redirect, and each field."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...api.routes import route_of
from ...reading_sites.lenient import fields
from ..diff.json_diff import CHANGED, json_changes
from .model import STATUS, UNUSABLE, Answer, Difference
from .reasons import author_list
from .reasons.alignment import align
from .reasons.facts import Facts
from .reasons.table import reason

ARTISTS = "the list of authors has the authors; version 1 of the original service shows artists"
PAGE_SIZE = "page size"


def differences(path: str, first: Answer, second: Answer, facts: Facts) -> Iterator[Difference]:
    """Yield each difference of two responses with its reason, if one is known."""
    facts = facts.of(first.value, second.value)
    for difference in _differences(path, first, second, facts):
        yield difference if difference.reason else replace(difference, reason=reason(difference, facts))


def _differences(path: str, first: Answer, second: Answer, facts: Facts) -> Iterator[Difference]:
    route = route_of(path)
    if not first.status or not second.status:
        yield Difference(path, route, UNUSABLE, (), first.status or "unusable", second.status or "unusable")
    elif first.status != second.status:
        yield Difference(path, route, STATUS, (), first.status, second.status)
    elif first.location != second.location:
        yield Difference(path, route, CHANGED, ("Location",), first.location, second.location)
    elif first.good:
        yield from _fields(path, route, first, second, facts)


def _fields(path: str, route: str, first: Answer, second: Answer, facts: Facts) -> Iterator[Difference]:
    if facts.from_original:
        if author_list.is_corrected(path, first.value, second.value, facts):
            yield Difference(path, route, CHANGED, (), reason=ARTISTS)
            return
        for explained in align(path, first.value, second.value, facts):
            yield Difference(path, route, CHANGED, *explained)
    if first.page_size != second.page_size and first.page_size and second.page_size:
        yield Difference(path, route, CHANGED, (PAGE_SIZE,), first.page_size, second.page_size)
    values = [first.value, second.value]
    if all(map(_has_right_total, values)):
        # Each missing or additional series is a difference.
        values = [{name: item for name, item in value.items() if name != "total"} for value in values]
    for change in json_changes(*values):
        yield Difference(path, route, change.kind, change.path, change.old, change.new)


def _has_right_total(value: Any) -> bool:
    results = fields(value).get("results")
    return isinstance(results, list) and fields(value).get("total") == len(results)
