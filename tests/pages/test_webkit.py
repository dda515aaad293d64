"""Journeys of a reader in WebKit, the engine of Safari. Its driver cannot do all that those of Chromium need."""

from collections.abc import Callable, Iterator
from threading import Event

import pytest

from tests.pages import test_reading
from tests.pages.test_offline import keep, open_with_worker
from tests.pages.test_reading import WEBTOON, count_of_pages, wait_for_page
from tests.support import webkit
from tests.support.lying_proxy import Answer, Asked, lying
from tests.support.page_sites import PageSite
from tests.support.webkit import WebKitTab

pytestmark = [webkit.needs_webkit, pytest.mark.browser]

JOURNEYS = [
    test_reading.test_a_visitor_finds_and_reads_a_chapter_by_keyboard,
    test_reading.test_arrows_move_through_the_strip,
    test_reading.test_right_to_left,
    test_reading.test_back_and_forward,
]


@pytest.fixture(scope="module")
def sessions() -> Iterator[str]:
    with webkit.running() as url:
        yield url


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.__name__)
def test_a_journey(journey: Callable[[PageSite, WebKitTab], None], example: PageSite, sessions: str) -> None:
    with webkit.tab(sessions) as tab:
        journey(example, tab)


def test_a_chapter_is_kept(example: PageSite, sessions: str) -> None:
    """It is read without a network."""
    is_away = Event()

    def fail(asked: Asked, answer: Answer) -> Answer:
        if is_away.is_set():
            raise ConnectionError
        return answer

    with lying(example.web.port, fail) as url, webkit.tab(sessions) as tab:
        open_with_worker(tab, f"{url}/")
        keep(tab, url + WEBTOON)
        is_away.set()
        tab.open(url + WEBTOON)
        for number in range(1, count_of_pages(tab) + 1):
            tab.run(f"location.replace('#page-{number}')")
            wait_for_page(tab, number)
