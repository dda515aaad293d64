"""The parts of the tests. Each test is in one of them; the workflow runs them side by side."""

import ast
from functools import cache
from inspect import getsource
from pathlib import Path
from types import ModuleType

import pytest

# All tests without a kind, and the slow ones whose lines no other test reaches.
COVERAGE = "coverage"
# The functions of that part that take samples, once more with all cases, without coverage: it takes half as long again.
SAMPLES = "samples"
# What a test with samples names, or what it uses does.
TAKES_SAMPLES = {"sample", "examples", "given"}
# What clients see, once more on a second nginx.
NEWER_NGINX = "newer-nginx"
# The kinds of slow tests, markers in pyproject.toml, by the part that runs them. A test of two kinds is in the first.
KINDS = {
    "faults": {"kills", "failing_calls", "histories", "damages"},
    "limits": {"bounds", "load", "searches", "bench"},
    "packages": {"packages", "documents"},
    "servers": {"browser", "edge"},
    "end-to-end": {"end_to_end"},
    COVERAGE: {"comparisons", "hosts"},
}
PARTS = (*KINDS, SAMPLES, NEWER_NGINX)
# Lists of marks in tests/support.
SHARED_MARKS = ("on_edge_runtimes", "reads_pages")


def is_slow(item: pytest.Item) -> bool:
    return any(kinds & _markers(item) for kinds in KINDS.values())


def is_in(item: pytest.Item, part: str) -> bool:
    if part == NEWER_NGINX:
        return "serves" in _markers(item)
    if part == SAMPLES:
        module = item.getparent(pytest.Module).obj  # type: ignore[union-attr]
        return is_in(item, COVERAGE) and item.originalname in taking_samples(module)  # type: ignore[attr-defined]
    return part == _part_of(item)


def may_be_in(file: Path, part: str) -> bool:
    """Whether a file of tests can have one of a part. The words in it tell, so that few files are imported."""
    words = TAKES_SAMPLES if part == SAMPLES else {*(f"mark.{kind}" for kind in KINDS.get(part, ())), *SHARED_MARKS}
    return part in (COVERAGE, NEWER_NGINX) or any(word in file.read_text(encoding="utf-8") for word in words)


def hidden(items: list[pytest.Item]) -> list[str]:
    """The tests in files that `may_be_in` keeps out of their part."""
    return [item.nodeid for item in items if not may_be_in(item.path, _part_of(item))]


def _part_of(item: pytest.Item) -> str:
    return next((part for part, kinds in KINDS.items() if kinds & _markers(item)), COVERAGE)


@cache
def _markers(item: pytest.Item) -> set[str]:
    return {marker.name for marker in item.iter_markers()}


@cache
def taking_samples(module: ModuleType) -> set[str]:
    """The names in a module that take samples, also by what they use: a function, a fixture, a table of cases."""
    uses: dict[str, set[str]] = {}
    for statement in ast.parse(getsource(module)).body:
        inside = list(ast.walk(statement))
        names = {getattr(node, field) for node in inside for field in ("id", "attr", "arg") if hasattr(node, field)}
        own = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        for name in {statement.name} if isinstance(statement, ast.FunctionDef | ast.ClassDef) else own:
            uses[name] = names | uses.get(name, set())
    found = TAKES_SAMPLES
    while more := {name for name, used in uses.items() if used & found} - found:
        found = found | more
    return found
