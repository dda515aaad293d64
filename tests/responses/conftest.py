"""The site that the tests of a module ask, and the mark of tests that ask nginx: `-m serves` selects them."""

from types import ModuleType

import pytest

from tests.conftest import Serve, serving
from tests.support import nginx_client, site_variants

STARTERS = (nginx_client, serving, site_variants.served, site_variants.started)


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


@pytest.fixture(scope="module")
def web(request: pytest.FixtureRequest, serve: Serve) -> nginx_client.Web:
    """A client of the test site that the module names in SITE, or of `v2`. All modules share its server."""
    return serve(getattr(request.module, "SITE", "v2"))[1]
