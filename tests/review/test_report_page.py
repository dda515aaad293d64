"""The page of `build --report` in a real browser, on a phone and in dark mode."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Site, copy_of
from tests.support import browser, node_tools
from tests.support.images import png
from tests.support.media_server import MediaServer, media_server
from tests.support.reports import build_with_report

pytestmark = [pytest.mark.browser, browser.needs_browser]

PHONE, DESK = 360, 1280
# A word without a break opportunity, wider than a phone.
ENDLESS = "W" * 150
# The listed series with a cover that the page can load, and their titles.
COVERS = (ENDLESS, "new", "old")
TITLES = ("Endless", ENDLESS, "Old")
CHAPTER = "chapters:\n- {id: 9001, number: 1, pages: [], published: 2026-01-01}\n"

LOAD_IMAGES = """Promise.all([...document.images].map((image) => {
    image.scrollIntoView();
    return image.decode();
}))"""
SIZES = """[...document.querySelectorAll('.cover')].map((cover) => cover.getBoundingClientRect())
    .map((box) => [box.width, box.height])"""
# The sum of all shifts that no input caused.
LAYOUT_SHIFT = """new Promise((done) => {
    new PerformanceObserver((list) => done(list.getEntries().reduce((sum, shift) => sum + shift.value, 0)))
        .observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => done(0)));
})"""


@pytest.fixture(scope="module")
def covers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MediaServer]:
    """The host of the covers."""
    with media_server(tmp_path_factory.mktemp("covers")) as server:
        for slug in COVERS:
            (server.media / f"series/{slug}").mkdir(parents=True)
            (server.media / f"series/{slug}/c.png").write_bytes(png(600, 900))
        yield server


@pytest.fixture(scope="module")
def page(covers: MediaServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with warnings, all kinds of changes, scheduled chapters and difficult texts."""
    site = copy_of("v2", tmp_path_factory.mktemp("report"))
    settings = (site.folder / "catalog_src/site.yaml").read_text()
    site.write("site.yaml", f"{settings}\nmedia: {covers.url}/\n")
    site.write("series/old.yaml", f"title: Old\ncover: c.png\n{CHAPTER}")
    site.write("series/new.yaml", "title: New\ncover: c.png\n")
    site.build()
    (site.folder / "catalog_src/series/old.yaml").unlink()
    chapters = f"- {{number: 1, published: 2030-01-01, title: {ENDLESS}, pages: []}}\n- {{number: 2, pages: [], "
    site.write("series/new.yaml", f"title: {ENDLESS}\ncover: c.png\nchapters:\n{chapters}published: 2026-01-01}}\n")
    site.write(f"series/{ENDLESS}.yaml", "title: Endless\ncover: c.png\n")
    site.write("series/elsewhere.yaml", "title: Elsewhere\ncover: https://a~b.example/c.png\n")
    site.write("site.yaml", f"{settings}\nmedia: {covers.url}/\nbody_budget: 1\n")
    return built(site)


def built(site: Site) -> Path:
    made = site.folder / "report.html"
    report, data = build_with_report(site.options, made)
    assert data.scheduled and report.warnings
    assert all(report.changes[kind] for kind in ("added", "changed", "removed"))
    return made


@pytest.fixture(scope="module")
def tab(page: Path, chromium: browser.Browser) -> Iterator[browser.Tab]:
    """The page opened from a file."""
    with chromium.tab() as shown:
        shown.open(page.as_uri())
        shown.wait_for("footer")
        yield shown


def emulate(tab: browser.Tab, scheme: str = "light", width: int = DESK) -> None:
    """Emulate a colour scheme and a screen width."""
    tab.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    tab.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    tab.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")


def test_the_browser_reports_no_errors(tab: browser.Tab) -> None:
    """No error and no policy violation; the style is applied."""
    issues = [one["issue"]["code"] for one in tab.events_of("Audits.issueAdded")]

    assert tab.events_of("Log.entryAdded") == []
    assert tab.events_of("Runtime.exceptionThrown") == []
    assert issues == []
    assert tab.run("document.styleSheets.length") == 1
    assert tab.run("getComputedStyle(document.querySelector('section')).borderTopStyle") == "solid"


def test_the_page_requests_only_covers(tab: browser.Tab, page: Path, covers: MediaServer) -> None:
    """Its icon is a data URL. A cover whose URL has a user name is not requested; browsers would refuse it."""
    tab.run(LOAD_IMAGES)
    asked = [url for url, _ in tab.requests() if not url.startswith("data:")]

    assert sorted(asked) == [page.as_uri(), *(f"{covers.url}/series/{slug}/c.png" for slug in COVERS)]
    assert all(status == 200 for url, status in tab.requests() if url.startswith("http"))


def test_covers_move_nothing_when_they_load(tab: browser.Tab) -> None:
    """Their space is reserved, for images of any size."""
    boxes = tab.run(f"{LOAD_IMAGES}.then(() => {SIZES})")

    assert boxes == [[48, 64]] * (len(COVERS) + 1)
    # Without reserved space, these covers shift the page by 0.7. A busy machine once measured 0.000006: as much as if a
    # box of the size of a cover moved by 3 pixels. Chromium does not count less.
    assert tab.run(LAYOUT_SHIFT) < 0.001
    assert tab.run("[...document.images].map((image) => image.alt)") == [f"Cover of {one}" for one in TITLES]


@pytest.mark.parametrize("width", [320, PHONE, 768, DESK])
def test_the_page_fits_the_screen_width(tab: browser.Tab, width: int) -> None:
    """Also with long words and all sections open."""
    emulate(tab, width=width)

    assert tab.run("[document.documentElement.scrollWidth, innerWidth]") == [width, width]
    assert tab.run(overflowing(width)) == []


def overflowing(width: int) -> str:
    return f"""[...document.querySelectorAll('main *, header > *')]
        .filter((one) => one.getBoundingClientRect().right > {width} || one.getBoundingClientRect().left < 0)
        .map((one) => one.outerHTML.slice(0, 99))"""


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_numbers_and_dates_are_not_broken(tab: browser.Tab, width: int) -> None:
    """Long texts break instead."""
    emulate(tab, width=width)
    broken = tab.run(
        """[...document.querySelectorAll('.numbers td, time span, dd')]
            .filter((one) => {
                const range = document.createRange();
                range.selectNodeContents(one);
                return range.getClientRects().length > 1;
            })
            .map((one) => one.textContent)"""
    )

    assert broken == []


@node_tools.needs_node_tools
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_the_page_is_accessible(tab: browser.Tab, scheme: str, width: int) -> None:
    """axe-core finds no fault: texts have enough contrast, and the page has a language, headings and landmarks."""
    emulate(tab, scheme, width)

    assert node_tools.accessibility_faults(tab) == []


def test_dark_mode_is_dark(tab: browser.Tab) -> None:
    """Light text on a dark page, and the reverse in light mode."""
    seen = []
    for scheme in ("light", "dark"):
        emulate(tab, scheme)
        style = "getComputedStyle(document.body)"
        colors = tab.run(f"[{style}.backgroundColor, {style}.color].map((one) => one.match(/\\d+/g).map(Number))")
        seen.append(([sum(one) for one in colors], tab.picture()))
    (light, day), (dark, night) = seen

    assert light[0] > 600 and light[1] < 200
    assert dark[0] < 200 and dark[1] > 600
    assert day != night


def test_the_accessibility_tree(tab: browser.Tab) -> None:
    """Regions have names, tables have captions, cells have row and column headers."""
    tree = tab.send("Accessibility.getFullAXTree")["nodes"]
    named = {(one["role"]["value"], one.get("name", {}).get("value")) for one in tree if "role" in one}

    assert {
        ("heading", "What changed in this build"),
        ("region", "Scheduled chapters"),
        ("table", "Chapters by publication time, the next one first"),
        ("columnheader", "Bytes"),
        ("rowheader", "/api/v2"),
    } <= named
    images = {name for role, name in named if role in ("image", "img", "graphics-document")}
    assert images == {f"Cover of {title}" for title in TITLES}


def test_the_policy_blocks_scripts_and_styles(page: Path, chromium: browser.Browser) -> None:
    """An injected script or style has no effect."""
    with chromium.tab() as tab:
        tab.open(page.as_uri())
        tab.wait_for("footer")
        before = tab.run("getComputedStyle(document.body).color")
        tab.run(
            """(() => {
                const script = document.createElement('script'), style = document.createElement('style');
                script.textContent = 'document.title = "taken over"';
                style.textContent = 'body { color: #123456 }';
                document.head.append(script, style);
            })()"""
        )
        title, after = tab.run("[document.title, getComputedStyle(document.body).color]")

    assert "taken over" not in title
    assert after == before
