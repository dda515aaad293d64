"""One site of each kind for the tests of a worker, and the phone of a visitor."""

from collections.abc import Iterator

import pytest

from tests.support import browser, page_sites
from tests.support.browser import PHONE, Tab
from tests.support.page_sites import PageSite


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    with page_sites.example(tmp_path_factory.mktemp("example")) as served:
        yield served


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    with page_sites.hostile(tmp_path_factory.mktemp("hostile")) as served:
        yield served


@pytest.fixture
def phone(chromium: browser.Browser) -> Iterator[Tab]:
    with chromium.tab(PHONE) as opened:
        yield opened
        assert opened.complaints() == []
