"""Builds of a site with pages: what an edit renders, and what the setting `pages` changes."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from generator.review import verify_files
from tests.conftest import AS_OF, Site, date

FIRST = "series/first.yaml"
Run = Callable[..., Result]
Rebuild = Callable[[int, str, str], list[str]]


@pytest.fixture
def pages(site: Site) -> Site:
    site.write("site.yaml", "base_url: https://minimal.example\npages: true\n")
    date(site.folder)
    site.build()
    return site


@pytest.fixture
def rebuild(pages: Site, tmp_path: Path) -> Rebuild:
    """Write a file of the catalog, and build with a cache: the series that changed."""

    def build(moment: int, file: str, text: str) -> list[str]:
        pages.write(file, text)
        return pipeline.build(Options(*pages.paths, AS_OF + moment, cache=tmp_path / "cache")).changed_series

    return build


def edit(site: Site, file: str, before: str, after: str) -> None:
    path = site.folder / "catalog_src" / file
    text = path.read_text()
    assert text.count(before) == 1
    path.write_text(text.replace(before, after))


def is_of_api(url: str) -> bool:
    return url.startswith("/api/") or url == "/index.json"


def test_pages_change_no_response_of_the_api(site: Site) -> None:
    """Neither bodies nor dates, when pages are turned on and off again."""
    site.build()
    before = site.manifest.resources
    settings = (site.folder / "catalog_src/site.yaml").read_text()
    site.write("site.yaml", f"{settings}pages: true\n")
    date(site.folder)
    site.build(AS_OF + 60)
    within = site.manifest.resources
    site.write("site.yaml", settings)
    date(site.folder)
    site.build(AS_OF + 120)

    api = {url: body for url, body in before.items() if is_of_api(url)}
    assert {url: body for url, body in within.items() if is_of_api(url)} == api
    assert within["/"].type == "text/html; charset=utf-8"
    assert "/reader/first/1/1/" in within
    assert set(site.manifest.resources) == set(before)
    assert {url for url, body in site.manifest.resources.items() if body != before[url]} <= {"/"}
    assert list(verify_files.check_files(site.store)) == []


def test_everything_of_a_first_release_is_new(pages: Site) -> None:
    """Its counts and series come from the release alone: there is nothing to compare it with."""
    before = pages.manifest
    shutil.rmtree(pages.folder / "dist")
    result = pages.build()

    assert result.changes == {"added": len(before.resources), "changed": 0, "removed": 0, "unchanged": 0}
    series = {path.stem for path in (pages.folder / "catalog_src/series").glob("*.yaml")}
    assert result.changed_series == sorted(series)


def test_an_edit_changes_the_pages_of_its_series_and_lists(pages: Site) -> None:
    before = pages.manifest.resources
    edit(pages, FIRST, "title: One", "title: Uno")
    result = pages.build(AS_OF + 60)
    after = pages.manifest.resources
    changed = {url for url in after if not is_of_api(url) and after[url] != before.get(url)}

    assert set(after) == set(before)
    assert result.changed_series == ["first"]
    assert "/reader/first/1/1/" in changed
    assert {url for url in changed if url.startswith("/reader/") and "first" not in url} <= {"/reader/"}
    assert not [url for url in changed if url.startswith(("/assets/", "/search/", "/authors/"))]


@pytest.mark.parametrize(("setting", "url"), [("title: New Name", "/"), ("page_ratio: 0.5", "/reader/first/1/1/"),
                                              ("direction: rtl", "/reader/first/1/1/")])  # fmt: skip
def test_a_setting_of_pages_changes_pages(pages: Site, setting: str, url: str) -> None:
    before = pages.manifest.resources
    edit(pages, "site.yaml", "pages: true\n", f"pages: true\n{setting}\n")
    date(pages.folder)
    pages.build(AS_OF + 60)
    after = pages.manifest.resources

    assert after[url].etag != before[url].etag
    assert {name: body for name, body in after.items() if is_of_api(name)} == {
        name: body for name, body in before.items() if is_of_api(name)
    }


def test_sizes_change_the_pages_of_their_series_alone(pages: Site, rebuild: Rebuild) -> None:
    """Also with a cache. No response of the API changes."""
    changed = [rebuild(1, "sizes.yaml", "")]
    before = pages.manifest.resources
    changed += [rebuild(2, "sizes.yaml", '1: "784x1145 -"\n'), rebuild(3, "sizes.yaml", '1: "784x1145 1568x1145"\n')]
    after = pages.manifest.resources
    changed.append(rebuild(4, "sizes.yaml", '1: "784x1145 1568x1145"\n99: "1x1"\n'))
    changed.append(rebuild(5, "sizes.yaml", '1: "1x1"\n'))

    assert changed == [[], ["first"], ["first"], [], ["first"]]
    assert {url for url in after if after[url] != before[url]} == {"/reader/first/1/1/"}
    body = (pages.folder / "dist" / after["/reader/first/1/1/"].file).read_text()
    assert 'width="784" height="1145"' in body and 'width="1568" height="1145"' in body
    assert pages.manifest.resources["/reader/first/1/1/"].etag == before["/reader/first/1/1/"].etag


def test_archives_change_the_pages_of_their_chapters_alone(pages: Site, rebuild: Rebuild) -> None:
    """No response of the API changes. Without the setting, the file changes nothing."""
    settings = (pages.folder / "catalog_src/site.yaml").read_text()
    entry = "1: archives/first/1/1.cbz 1234567 0123456789abcdef\n"
    rebuild(1, "archives.yaml", "")
    without = pages.manifest.resources
    assert rebuild(2, "archives.yaml", entry) == []
    assert pages.manifest.resources == without
    pages.write("archives.yaml", "")
    rebuild(3, "site.yaml", f"{settings}apps: [archives]\n")
    before = pages.manifest.resources
    assert {url for url in before if before[url].etag != without[url].etag} == {"/robots.txt", "/sw.js"}
    texts = (entry, f"{entry}99: archives/x/0/1.cbz\n", entry.replace("123", "223"))
    changed = [rebuild(4 + place, "archives.yaml", text) for place, text in enumerate(texts)]
    after = pages.manifest.resources

    assert changed == [["first"], [], ["first"]]
    assert {url for url in after if after[url] != before[url]} == {"/reader/first/1/1/"}


def test_copies_of_images_change_the_pages_that_show_them(pages: Site, rebuild: Rebuild) -> None:
    """Those of a cover change lists as well. No response of the API changes."""
    cover = "series/first/cover.jpg: 160 of 800, 0123456789abcdef\n"
    page = "series/first/1/1/1.png: 800 of 1600, 0123456789abcdef\n"
    changed = [rebuild(1, "variants.yaml", "")]
    before = pages.manifest.resources
    changed.append(rebuild(2, "variants.yaml", page))
    with_page = pages.manifest.resources
    changed.append(rebuild(3, "variants.yaml", page + cover))
    after = pages.manifest.resources
    changed.append(rebuild(4, "variants.yaml", page + cover + "groups/1/a.png: of 9, 0123456789abcdef\n"))

    assert changed == [[], ["first"], ["first"], []]
    assert {url for url in after if with_page[url] != before[url]} == {"/reader/first/1/1/"}
    assert {"/", "/reader/", "/reader/first/", "/latest/"} <= {url for url in after if after[url] != with_page[url]}
    assert not [url for url in after if after[url] != before[url] and is_of_api(url)]


def test_lost_pages_are_found_and_restored(pages: Site, run: Run) -> None:
    """`verify` and `verify --repair` treat bodies of all types alike."""
    lost = [pages.folder / "dist" / pages.manifest.resources[url].file for url in ("/reader/first/", "/releases.atom")]
    for path in lost:
        path.unlink()
        path.with_name(f"{path.name}.gz").unlink(missing_ok=True)
    catalog, out, nginx = pages.paths
    found = run("verify", "--out", out)
    repaired = run("verify", "--repair", "--catalog", catalog, "--out", out, "--nginx", nginx)

    assert all(f"{path}: is missing" in found.output for path in lost)
    assert all(f"{path}: restored from the catalog" in repaired.output for path in lost)
    assert list(verify_files.check_files(pages.store)) == []
