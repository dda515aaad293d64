"""The site that the tests of a module ask, and the mark of tests that ask nginx: `-m serves` selects them."""

from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.conftest import Serve, Site, serving
from tests.support import nginx_client, site_variants

STARTERS = (nginx_client, serving, site_variants.served, site_variants.started)


def pytest_itemcollected(item: pytest.Item) -> None:
    if "serve" in item.fixturenames or asks_nginx(item.getparent(pytest.Module).obj):  # type: ignore[attr-defined]
        item.add_marker("serves")


def asks_nginx(module: ModuleType) -> bool:
    """Whether a module imports the client of nginx, a part of it, or a function that starts nginx."""
    values = vars(module).values()
    return any(
        any(value is starter for starter in STARTERS) or getattr(value, "__module__", "") == nginx_client.__name__
        for value in values
    )


@pytest.fixture(scope="module")
def running(
    request: pytest.FixtureRequest, serve: Serve, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Site, nginx_client.Web]]:
    """The site of a module and a client of its server.

    All modules share the server of the test site that SITE names, or of `v2`. A module with SETTINGS or FILES has a
    server of its own, whose log may have the errors of COMPLAINTS only.
    """
    own = vars(request.module)
    if not own.keys() & {"SETTINGS", "FILES"}:
        yield serve(own.get("SITE", "v2"))
        return
    name, settings, files = own.get("SITE", site_variants.SMALL), own.get("SETTINGS", ""), own.get("FILES")
    with site_variants.served(tmp_path_factory.mktemp("own"), name, settings=settings, files=files) as started:
        yield started
        assert started[1].complaints(*own.get("COMPLAINTS", ())) == []


@pytest.fixture(scope="module")
def asked_site(running: tuple[Site, nginx_client.Web]) -> Site:
    """The site that `web` asks."""
    return running[0]


@pytest.fixture(scope="module")
def web(running: tuple[Site, nginx_client.Web]) -> nginx_client.Web:
    return running[1]


def visible(answer: nginx_client.Answer) -> tuple[int, dict[str, str], bytes]:
    """What a client sees of an answer, but for its date."""
    return answer.status, answer.fields, answer.body


# Headers of every response below /api, and those of /api/v2 alone.
OF_API = {
    "server": "nginx",
    "connection": "close",
    "content-type": "application/json",
    "x-frame-options": "SAMEORIGIN",
    "x-content-type-options": "nosniff",
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag",
}
OF_V2 = {
    "access-control-allow-methods": "GET, HEAD, OPTIONS",
    "access-control-allow-headers": "X-API-Key, If-None-Match, If-Modified-Since",
}
