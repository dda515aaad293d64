"""`serve --preview` in a real browser: reloads, problems and missing images."""

from collections.abc import Iterator

import pytest

from tests.commands.test_serve import edit, serving
from tests.commands.test_serve_preview import first
from tests.conftest import Site
from tests.support import browser

BANNER = "document.getElementById('preview-banner').textContent"
PROBLEMS = "document.getElementById('preview-problems').innerText"
CHAPTERS = "".join(
    f"  - {{number: {number}, published: 2026-01-01, title: Of {number}, pages: [1.png]}}\n" for number in range(2, 80)
)


pytestmark = [pytest.mark.browser, browser.needs_browser]


@pytest.fixture
def tab(chromium: browser.Browser) -> Iterator[browser.Tab]:
    with chromium.tab() as tab:
        yield tab


def test_the_page_reloads_after_a_rebuild_and_stays_where_it_was(site: Site, tab: browser.Tab) -> None:
    """A page that loaded a release just before the next one went live reloads, too: it names its release."""
    site.write("series/first.yaml", first(site).replace("cover.jpg", "https://images.invalid/c.png") + CHAPTERS)
    with serving(site, "--preview") as served:
        tab.open(f"http://127.0.0.1:{served.port}/reader/first/")
        tab.wait_until(f"{BANNER}.startsWith('Preview: this')")
        tab.run("scrollTo(0, 700)")
        edit(site, "series/first.yaml", first(site).replace("title: Of 7,", "title: Renamed,"))
        tab.wait_until("document.readyState === 'complete' && document.body.textContent.includes('Renamed')")
        tab.wait_until("scrollY === 700")


def test_problems_appear_on_the_page_as_text_and_vanish(site: Site, tab: browser.Tab) -> None:
    """Without a reload, and without a message of the console."""
    with serving(site, "--preview") as served:
        tab.open(f"http://127.0.0.1:{served.port}/search/")
        tab.run("window.isSamePage = true")
        assert not tab.run(f"{PROBLEMS}.includes('first.yaml')")
        text = first(site)
        edit(site, "series/first.yaml", text + "'<img src=x>': 1\n")
        shown = tab.wait_until(f"{PROBLEMS}.includes('first.yaml:') && {PROBLEMS}")
        assert "series/first.yaml:13:1: <img src=x>: unknown field" in shown
        assert tab.run("document.querySelector('#preview-problems img') === null")
        edit(site, "series/first.yaml", text)
        tab.wait_until("document.getElementById('preview-problems').hidden")
        assert tab.run("window.isSamePage")

    assert tab.complaints() == []


def test_a_page_of_problems_becomes_the_page(site: Site, tab: browser.Tab) -> None:
    """The address is that of the page."""
    text = first(site)
    site.write("series/first.yaml", text + "nonsense: 1\n")
    with serving(site, "--preview") as served:
        tab.open(f"http://127.0.0.1:{served.port}/reader/first/")
        assert "first.yaml:13:1: nonsense: unknown field" in tab.run(PROBLEMS)
        edit(site, "series/first.yaml", text)
        tab.wait_until("document.querySelector('h1')?.textContent === 'First'")


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_missing_images_are_marked(site: Site, chromium: browser.Browser, scripts: bool) -> None:
    """Those of a local folder without scripts, too."""
    (site.folder / "media").mkdir()
    site.write("site.yaml", "base_url: https://minimal.example\nmedia_folder: media\n")
    site.write("series/first.yaml", first(site) + "  - {number: 90, published: 2035-06-01, pages: [1.png]}\n")
    site.write(
        "series/second.yaml",
        "title: Second\ncover: https://images.invalid/c.png\n"
        "chapters: [{number: 1, published: 2020-01-01, pages: [1.png]}]\n",
    )
    with (
        serving(site, "--preview") as served,
        chromium.tab(browser.Viewport(scripts=scripts)) as tab,
    ):
        tab.open(f"http://127.0.0.1:{served.port}/reader/first/0/90/")
        local = tab.picture()
        if scripts:
            tab.wait_until("document.getElementById('page-1').naturalWidth === 700")
            tab.open(f"http://127.0.0.1:{served.port}/reader/second/")
            tab.wait_until("document.querySelector('img.cover.preview-missing')?.alt === 'missing image: c.png'")

    assert len(local) > 5000
