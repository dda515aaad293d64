"""The parts of the tests. Each test is in one of them; the workflow runs them side by side."""

import pytest

# The kinds of slow tests, markers in pyproject.toml, by the part that runs them.
KINDS = {
    "faults": {"kills", "failing_calls", "histories", "damages"},
    "limits": {"bounds", "load", "searches", "bench"},
    "packages": {"packages", "documents"},
    "servers": {"browser", "edge"},
}
# `coverage` has all other tests, and the slow ones that reach lines which no other test reaches.
COVERAGE = "coverage"
# What clients see, once more on a second nginx.
NEWER_NGINX = "newer-nginx"
PARTS = (COVERAGE, *KINDS, NEWER_NGINX)


def is_slow(item: pytest.Item) -> bool:
    return part_of(item, covering=False) != COVERAGE


def part_of(item: pytest.Item, *, covering: bool = True) -> str:
    """The part that runs a test."""
    markers = {marker.name for marker in item.iter_markers()}
    if covering and "covers" in markers:
        return COVERAGE
    return next((part for part, kinds in KINDS.items() if kinds & markers), COVERAGE)


def is_in(item: pytest.Item, part: str) -> bool:
    if part == NEWER_NGINX:
        return item.get_closest_marker("serves") is not None
    return part_of(item) == part
