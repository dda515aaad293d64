"""The parts of the tests. Each test is in one of them; the workflow runs them side by side."""

from functools import cache
from inspect import getsource
from types import ModuleType

import pytest

# All tests without a kind, and the slow ones whose lines no other test reaches.
COVERAGE = "coverage"
# The modules of that part that take samples, once more with all cases, without coverage: it takes half as long again.
SAMPLES = "samples"
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
PARTS = (*KINDS, SAMPLES, NEWER_NGINX)


def is_slow(item: pytest.Item) -> bool:
    return any(kinds & _markers(item) for kinds in KINDS.values())


def is_in(item: pytest.Item, part: str) -> bool:
    if part == NEWER_NGINX:
        return "serves" in _markers(item)
    if part == SAMPLES:
        return is_in(item, COVERAGE) and _takes_samples(item.getparent(pytest.Module).obj)  # type: ignore[union-attr]
    return part == next((part for part, kinds in KINDS.items() if kinds & _markers(item)), COVERAGE)


def _markers(item: pytest.Item) -> set[str]:
    return {marker.name for marker in item.iter_markers()}


@cache
def _takes_samples(module: ModuleType) -> bool:
    text = getsource(module)
    return "tests.support.runs import" in text or "import runs" in text or ", runs" in text
