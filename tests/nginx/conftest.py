"""Marks the tests that ask nginx, as in `tests/responses`."""

from tests.responses.conftest import pytest_itemcollected

__all__ = ["pytest_itemcollected"]
