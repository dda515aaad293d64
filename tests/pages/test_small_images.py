"""What a phone loads: smaller copies of images, where the catalog has them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from click.testing import Result
from PIL import Image, ImageChops, ImageDraw

from tests.conftest import Site, serving
from tests.pages.test_each_page import TO_THE_END
from tests.support import browser, pictures
from tests.support.browser import PHONE

pytestmark = browser.reads_pages

# The screen of a new phone has nine pixels for one of CSS.
SHARP_PHONE = replace(PHONE, scale=3)
MOST_BYTES = 1_000_000
SETTINGS = "base_url: https://comics.example\npages: true\nmedia_folder: media\n"
SHOWN = "[...document.images].map((image) => [new URL(image.currentSrc).pathname, image.naturalWidth])"


def cover() -> bytes:
    """A drawing with soft colours, grain and 400 lines; more bytes than most covers of this size."""
    red, green, blue = (Image.effect_noise((12, 18), 120).resize((800, 1200)) for _ in range(3))
    drawing = Image.merge("RGB", (red, green, blue))
    pen = ImageDraw.Draw(drawing)
    for number in range(400):
        x, y = number * 397 % 800, number * 211 % 1200
        end = x + number * 53 % 400 - 200, y + number * 97 % 400 - 200
        pen.line(((x, y), end), fill=(20, 20, 30), width=2 + number % 4)
    grain = Image.effect_noise((800, 1200), 40).convert("RGB")
    return pictures.stored(ImageChops.soft_light(drawing, grain), "JPEG", quality=88)


def site_of(tmp_path: Path, count: int) -> Site:
    """A site with a large cover for each series."""
    made, content = Site(tmp_path), cover()
    assert 200_000 < len(content) < 700_000
    made.write("site.yaml", SETTINGS)
    for number in range(count):
        chapter = f"{{id: {number + 1}, number: 1, published: 2026-01-01, pages: [1.jpg]}}"
        made.write(f"series/s{number}.yaml", f"title: Series {number}\ncover: cover.jpg\nchapters: [{chapter}]\n")
        (tmp_path / f"media/series/s{number}").mkdir(parents=True)
        (tmp_path / f"media/series/s{number}/cover.jpg").write_bytes(content)
    return made


def loaded(chromium: browser.Browser, site: Site) -> tuple[int, list[tuple[str, int]]]:
    """The bytes of the first page on a phone, read to its end, and the path and the width of each image."""
    site.write("site.yaml", SETTINGS)
    with serving(site) as web, chromium.tab(SHARP_PHONE) as tab:
        tab.send("Network.setCacheDisabled", cacheDisabled=True)
        tab.open(f"http://127.0.0.1:{web.port}/")
        assert tab.run(TO_THE_END) == []
        tab.requests()
        shown = [(path, width) for path, width in tab.run(SHOWN)]
        assert tab.complaints() == []
        return int(sum(event["encodedDataLength"] for event in tab.events_of("Network.loadingFinished"))), shown


def test_the_first_page_of_sixty_series_is_light(
    tmp_path: Path, chromium: browser.Browser, run: Callable[..., Result]
) -> None:
    """Less than a megabyte with copies of the covers, many without. Every image is there."""
    site = site_of(tmp_path, 60)
    before, originals = loaded(chromium, site)
    result = run("media", "variants", site.folder / "media", "--catalog", site.folder / "catalog_src")
    after, copies = loaded(chromium, site)

    assert (result.exit_code, len(copies)) == (0, len(originals))
    assert before > 3 * MOST_BYTES
    assert after < MOST_BYTES
    assert all(width for _, width in copies)
    assert {path.split("/")[3] for path, _ in copies} == {"160", "320"}


def test_a_page_is_loaded_as_the_screen_needs_it(
    tmp_path: Path, chromium: browser.Browser, run: Callable[..., Result]
) -> None:
    """In its original size, the page itself is loaded."""
    site = site_of(tmp_path, 1)
    (site.folder / "media/series/s0/0/1").mkdir(parents=True)
    page = Image.open(site.folder / "media/series/s0/cover.jpg").resize((1600, 400))
    page.save(site.folder / "media/series/s0/0/1/1.jpg", quality=90)
    run("media", "variants", site.folder / "media", "--catalog", site.folder / "catalog_src", "--pages")
    source = "new URL(document.querySelector('#strip img').currentSrc).pathname"
    with serving(site) as web:
        for screen, width in ((SHARP_PHONE, 1200), (PHONE, 800)):
            with chromium.tab(screen) as tab:
                tab.open(f"http://127.0.0.1:{web.port}/reader/s0/0/1/")
                tab.wait_until(f"{source} === '/media/w/{width}/series/s0/0/1/1.jpg.webp'")
                while tab.run("document.querySelector('#strip').dataset.fit") != "original":
                    tab.press("f")
                tab.wait_until(f"{source} === '/media/series/s0/0/1/1.jpg'")
                tab.wait_until("document.querySelector('#strip img').complete")
                assert tab.run("document.querySelector('#strip img').getBoundingClientRect().width") == 1600
                assert tab.complaints() == []
