"""Marks the tests that ask nginx, which a run on another nginx selects with `-m serves`."""

from types import ModuleType

import pytest

from tests.support import nginx_client, site_variants

STARTERS = (nginx_client, site_variants.served, site_variants.started)


def pytest_itemcollected(item: pytest.Item) -> None:
    if asks_nginx(item.getparent(pytest.Module).obj):
        item.add_marker("serves")


def asks_nginx(module: ModuleType) -> bool:
    """Whether a module imports the client of nginx, a part of it, or a function that starts nginx."""
    values = vars(module).values()
    return any(
        any(value is starter for starter in STARTERS) or getattr(value, "__module__", "") == nginx_client.__name__
        for value in values
    )
