"""Each kind of page in a browser: phone and wide screen, light and dark."""

import re
from dataclasses import replace

import pytest

from tests.pages.test_page_files import KINDS
from tests.support import browser, images, node_tools, page_sites
from tests.support.browser import PHONE, WIDE, Tab, Viewport
from tests.support.page_sites import PageSite

pytestmark = browser.reads_pages

# No rule of the style sheets depends on both the width and the scheme.
SCREENS = {"phone-dark": replace(PHONE, scheme="dark"), "wide-light": WIDE}
# Of two kinds with the same elements, one is read on one screen only.
LIKE_ANOTHER = re.compile("/artists/.*|.*/{page}/|.*/version-{id}/")
kinds = pytest.mark.parametrize("kind", KINDS)

# Scroll step by step to the end, so that lazy images are loaded; the addresses of images that are broken.
TO_THE_END = """(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const isNear = (image) => {
        const box = image.getBoundingClientRect();
        return image.checkVisibility() && box.bottom > 0 && box.top < innerHeight;
    };
    const ready = (image) => image.complete
        || new Promise((done) => { image.addEventListener("load", done); image.addEventListener("error", done); });
    let last = -1;
    while (last !== scrollY) {
        last = scrollY;
        scrollBy({ top: innerHeight / 2, behavior: "instant" });
        await frame();
        await Promise.all([...document.images].filter(isNear).map(ready));
    }
    await frame();
    return [...document.images].filter((image) => image.complete && image.currentSrc && !image.naturalWidth)
        .map((image) => image.currentSrc);
})()"""
CUT_OFF = """[...document.body.querySelectorAll("*")]
    .filter((element) => element.checkVisibility()
        && element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map((element) => element.outerHTML.slice(0, 120))"""
MARKUP_OF_TEXTS = """[
    ...[...document.scripts].filter((script) => !["application/ld+json", "application/json"].includes(script.type)
        && (script.text || new URL(script.src, location).origin !== location.origin)),
    ...document.querySelectorAll("img[src='x'], svg[onload], style"),
    ...[...document.querySelectorAll("*")].filter((element) =>
        [...element.attributes].some((attribute) => /^on|^style$/i.test(attribute.name))),
].map((element) => element.outerHTML)"""
SCHEMES = """[...document.querySelectorAll("[href], [src], [action], [data], [formaction]")]
    .flatMap((element) => ["href", "src", "action", "data", "formaction"].map((name) => element.getAttribute(name)))
    .filter((address) => address !== null).map((address) => new URL(address, location).protocol)"""


def read_through(tab: Tab, site: PageSite, path: str) -> None:
    """Open a page and scroll to its end. A picture stands for every image of the other host of the catalog."""
    tab.intercept(f"{page_sites.IMAGES}/*", "image/png", images.png(700, 1000))
    tab.open(site.url(path))
    assert tab.run(TO_THE_END) == []


@node_tools.needs_node_tools
@pytest.mark.parametrize(
    ("kind", "screen"),
    [(kind, screen) for kind in KINDS for screen in [*SCREENS][: 1 if LIKE_ANOTHER.fullmatch(kind) else None]],
)
def test_a_page_is_quiet_and_accessible(example: PageSite, chromium: browser.Browser, kind: str, screen: str) -> None:
    """No message in the console, no request to another host, nothing moves while it loads, nothing is cut off.

    axe-core finds no fault, contrast included.
    """
    with chromium.tab(SCREENS[screen]) as tab:
        read_through(tab, example, example.kinds[kind])

        assert tab.complaints() == []
        assert tab.origins() <= {example.url(""), page_sites.IMAGES}
        assert {status for _, status in tab.requests()} == {200}
        assert tab.layout_shift() <= 0.02
        assert tab.loaded_twice() == set()
        assert tab.run("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0, tab.run(
            CUT_OFF
        )
        assert node_tools.accessibility_faults(tab) == []


@pytest.mark.parametrize("percent", [200, 300])
def test_large_text_fits_a_phone(example: PageSite, chromium: browser.Browser, percent: int) -> None:
    """Nothing is wider than the screen, however large a reader has set the text (WCAG 1.4.4 asks for 200 %)."""
    wide = {}
    with chromium.tab(PHONE) as tab:
        tab.intercept(f"{page_sites.IMAGES}/*", "image/png", images.png(700, 1000))
        tab.send("Page.setFontSizes", fontSizes={"standard": 16 * percent // 100})
        for kind, path in example.kinds.items():
            tab.open(example.url(path))
            if tab.run("document.documentElement.scrollWidth - document.documentElement.clientWidth"):
                wide[kind] = tab.run(CUT_OFF)

    assert wide == {}


def test_each_link_of_the_navigation_is_seen_on_a_phone(example: PageSite, chromium: browser.Browser) -> None:
    """Without a part that has to be scrolled."""
    with chromium.tab(PHONE) as tab:
        tab.open(example.url("/"))
        boxes = tab.run("""[...document.querySelectorAll("nav a")].map((link) => link.getBoundingClientRect())
            .map(({ left, right }) => left >= 0 && right <= innerWidth)""")

    assert len(boxes) > 5 and all(boxes)


# Texts that are attacks


@kinds
def test_no_text_becomes_markup(hostile: PageSite, chromium: browser.Browser, kind: str) -> None:
    """No script of a text runs and no element of it exists, even in a browser without the policy."""
    if kind not in hostile.kinds:
        pytest.skip("the small catalog has no second page of a list")
    with chromium.tab(Viewport(touch=True)) as tab:
        tab.send("Page.setBypassCSP", enabled=True)
        tab.open(hostile.url(hostile.kinds[kind]))

        assert tab.run("typeof hacked") == "undefined"
        assert tab.run(MARKUP_OF_TEXTS) == []
        assert set(tab.run(SCHEMES)) <= {"http:", "https:", "mailto:"}
        assert "1337" not in tab.run("document.documentElement.outerHTML")
