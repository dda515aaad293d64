"""What the everyday run sees of pages in a browser: a visitor finds a chapter and reads it."""

from tests.conftest import Serve
from tests.support import browser, images
from tests.support.browser import WIDE

# Of the test site `pages`: a chapter of four pages, and the hosts of images that the pages on the way to it name.
SERIES, CHAPTER = "/read/moons/", "/read/moons/1/1/"
IMAGES = ("https://media.pages.example/", "https://covers.example/")


@browser.needs_browser
def test_a_visitor_reads_a_chapter_without_a_message_of_the_console(serve: Serve, chromium: browser.Browser) -> None:
    """From the first page, by links and keys; the scripts run, and no other host is asked for anything."""
    _, web = serve("pages")
    home = f"http://127.0.0.1:{web.port}"
    with chromium.tab(WIDE) as tab:
        tab.intercept("https://*", "image/png", images.png(70, 100))
        tab.open(f"{home}/")
        tab.click(f"a[href='{SERIES}']")
        tab.wait_for_path(SERIES)
        tab.click(f"a[href='{CHAPTER}']")
        tab.wait_for_path(CHAPTER)
        tab.wait_for("#settings")
        tab.press("ArrowRight")
        tab.wait_until("document.querySelector('#position').textContent.startsWith('2 / ')")

        assert tab.complaints() == []
        asked = [event["request"]["url"] for event in tab.events_of("Network.requestWillBeSent")]
        assert [url for url in asked if not url.startswith((f"{home}/", *IMAGES))] == []
