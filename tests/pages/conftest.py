"""One site of each kind for the tests of a worker, and the screens of a visitor."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support import browser, images, page_sites
from tests.support.browser import PHONE, WIDE, Tab, Viewport
from tests.support.page_sites import PageSite


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    with page_sites.example(tmp_path_factory.mktemp("example")) as served:
        yield served


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    with page_sites.hostile(tmp_path_factory.mktemp("hostile")) as served:
        yield served


def quiet(chromium: browser.Browser, screen: Viewport, hosts: str = f"{page_sites.IMAGES}/*") -> Iterator[Tab]:
    """A tab without a message of the console, in which a picture stands for each image of another host."""
    with chromium.tab(screen) as opened:
        opened.intercept(hosts, "image/png", images.png(700, 1000))
        yield opened
        assert opened.complaints() == []


@pytest.fixture
def phone(chromium: browser.Browser) -> Iterator[Tab]:
    yield from quiet(chromium, PHONE)


@pytest.fixture
def tab(chromium: browser.Browser) -> Iterator[Tab]:
    yield from quiet(chromium, WIDE)


@pytest.fixture
def plain(chromium: browser.Browser) -> Iterator[Tab]:
    """A tab without JavaScript."""
    yield from quiet(chromium, replace(PHONE, scripts=False))
