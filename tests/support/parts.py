"""The parts of the tests. Each test is in one of them; the workflow runs them side by side."""

import pytest

# All tests without a kind, and the slow ones whose lines no other test reaches.
COVERAGE = "coverage"
# What clients see, once more on a second nginx.
NEWER_NGINX = "newer-nginx"
# The kinds of slow tests, markers in pyproject.toml, by the part that runs them. A test of two kinds is in the first.
KINDS = {
    "faults": {"kills", "failing_calls", "histories", "damages"},
    "limits": {"bounds", "load", "searches", "bench"},
    "packages": {"packages", "documents"},
    "servers": {"browser", "edge"},
    COVERAGE: {"hosts"},
}
PARTS = (*KINDS, NEWER_NGINX)


def is_slow(item: pytest.Item) -> bool:
    return any(kinds & _markers(item) for kinds in KINDS.values())


def is_in(item: pytest.Item, part: str) -> bool:
    if part == NEWER_NGINX:
        return "serves" in _markers(item)
    return part == next((part for part, kinds in KINDS.items() if kinds & _markers(item)), COVERAGE)


def _markers(item: pytest.Item) -> set[str]:
    return {marker.name for marker in item.iter_markers()}
