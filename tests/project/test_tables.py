"""The tables of cases of `tests/support/tables.py`."""

import pytest

from tests.conftest import Serve
from tests.support.documents import blocks
from tests.support.nginx_client import Web
from tests.support.tables import each


def test_failure_names_each_case_that_differs() -> None:
    """All rows are tried, also after an exception in one of them."""
    tried = []

    @each("limit", [2, 3])
    @each(("number", "text"), {"small": (1, "1"), "large": (9, "9"), "no number": (5, "x")})
    def numbers_are_small(number: int, text: str, limit: int) -> None:
        tried.append((number, limit))
        assert int(text) == number < limit

    with pytest.raises(pytest.fail.Exception) as failure:
        numbers_are_small()

    lines = str(failure.value).splitlines()
    assert [line.partition(" (")[0] for line in lines if not line.startswith(" ")] == [
        "4 cases differ:", "limit=2, large", "limit=2, no number", "limit=3, large", "limit=3, no number",
    ]  # fmt: skip
    assert any("assert 9 < 2" in line for line in lines)
    assert any(line.startswith("    ValueError: ") for line in lines)
    assert tried == [(number, limit) for limit in (2, 3) for number in (1, 9, 5)]


def test_tables_are_checked_when_a_test_is_defined() -> None:
    """A table without rows would prove nothing, and a parameter that the test does not take is a typing error."""
    with pytest.raises(AssertionError, match="no rows for path"):
        each("path", [])
    with pytest.raises(AssertionError, match=r"does not take \{'pat'\}"):
        each("pat", ["/"])(lambda path: None)


def test_example_in_contributing_passes(serve: Serve) -> None:
    """The five lines of a new test of a response."""
    (block,) = blocks("CONTRIBUTING.md", "py")
    module = {"each": each, "Web": Web}
    exec(block.text, module)

    module["test_only_paths_of_the_catalog_are_found"](web=serve(module["SITE"])[1])
    assert len([line for line in block.text.splitlines() if line]) == 5
