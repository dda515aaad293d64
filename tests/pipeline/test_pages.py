"""Builds of a site with pages: what an edit renders, and what the setting `pages` changes."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from generator.review import verify_files
from tests.conftest import AS_OF, Site, copy_of, date
from tests.support import tree_snapshot

FIRST = "series/first.yaml"
Run = Callable[..., Result]


@pytest.fixture
def pages(site: Site) -> Site:
    site.write("site.yaml", "base_url: https://minimal.example\npages: true\n")
    date(site.folder)
    site.build()
    return site


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


def test_sizes_change_the_pages_of_their_series_alone(pages: Site, tmp_path: Path) -> None:
    """Also with a cache. No response of the API changes."""

    def build(moment: int, text: str) -> list[str]:
        pages.write("sizes.yaml", text)
        return pipeline.build(Options(*pages.paths, AS_OF + moment, cache=tmp_path / "cache")).changed_series

    changed = [build(1, "")]
    before = pages.manifest.resources
    changed += [build(2, '1: "784x1145 -"\n'), build(3, '1: "784x1145 1568x1145"\n')]
    after = pages.manifest.resources
    changed += [build(4, '1: "784x1145 1568x1145"\n99: "1x1"\n'), build(5, '1: "1x1"\n')]

    assert changed == [[], ["first"], ["first"], [], ["first"]]
    assert {url for url in after if after[url] != before[url]} == {"/reader/first/1/1/"}
    body = (pages.folder / "dist" / after["/reader/first/1/1/"].file).read_text()
    assert 'width="784" height="1145"' in body and 'width="1568" height="1145"' in body
    assert pages.manifest.resources["/reader/first/1/1/"].etag == before["/reader/first/1/1/"].etag


def test_archives_change_the_pages_of_their_chapters_alone(pages: Site, tmp_path: Path) -> None:
    """No response of the API changes. Without the setting, the file changes nothing."""

    def build(moment: int, text: str, apps: str = "archives") -> list[str]:
        pages.write("site.yaml", f"base_url: https://minimal.example\npages: true\napps: [{apps}]\n")
        pages.write("archives.yaml", text)
        return pipeline.build(Options(*pages.paths, AS_OF + moment, cache=tmp_path / "cache")).changed_series

    build(1, "", "")
    without = pages.manifest.resources
    entry = "1: archives/first/1/1.cbz 1234567 0123456789abcdef\n"
    assert build(2, entry, "") == []
    assert pages.manifest.resources == without
    build(3, "")
    before = pages.manifest.resources
    assert {url for url in before if before[url].etag != without[url].etag} == {"/robots.txt", "/sw.js"}
    changed = [build(4, entry), build(5, f"{entry}99: archives/x/0/1.cbz\n"), build(6, entry.replace("123", "223"))]
    after = pages.manifest.resources

    assert changed == [["first"], [], ["first"]]
    assert {url for url in after if after[url] != before[url]} == {"/reader/first/1/1/"}


def test_copies_of_images_change_the_pages_that_show_them(pages: Site, tmp_path: Path) -> None:
    """Those of a cover change lists as well. No response of the API changes."""

    def build(moment: int, text: str) -> list[str]:
        pages.write("variants.yaml", text)
        return pipeline.build(Options(*pages.paths, AS_OF + moment, cache=tmp_path / "cache")).changed_series

    cover = "series/first/cover.jpg: 160 of 800, 0123456789abcdef\n"
    page = "series/first/1/1/1.png: 800 of 1600, 0123456789abcdef\n"
    changed = [build(1, "")]
    before = pages.manifest.resources
    changed.append(build(2, page))
    with_page = pages.manifest.resources
    changed.append(build(3, page + cover))
    after = pages.manifest.resources
    changed.append(build(4, page + cover + "groups/1/a.png: of 9, 0123456789abcdef\n"))

    assert changed == [[], ["first"], ["first"], []]
    assert {url for url in after if with_page[url] != before[url]} == {"/reader/first/1/1/"}
    assert {"/", "/reader/", "/reader/first/", "/latest/"} <= {url for url in after if after[url] != with_page[url]}
    assert not [url for url in after if after[url] != before[url] and is_of_api(url)]


def test_an_incremental_build_equals_a_clean_build(pages: Site, tmp_path: Path) -> None:
    """Also after several edits."""
    edit(pages, FIRST, "title: One", "title: Uno")
    pages.build(AS_OF + 60)
    edit(pages, FIRST, "title: Uno", "title: One")
    edit(pages, "series/second.yaml", "title: Second", "title: Last\nlicensed: true\nupdated: 2026-03-01")
    date(pages.folder)
    pages.build(AS_OF + 120)
    clean = copy_of("minimal", tmp_path / "clean")
    for file in ("site.yaml", "series/second.yaml"):
        clean.write(file, (pages.folder / "catalog_src" / file).read_text())
    date(clean.folder)
    clean.build(AS_OF + 120)

    assert {url: body.etag for url, body in pages.manifest.resources.items()} == {
        url: body.etag for url, body in clean.manifest.resources.items()
    }


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


def test_an_export_has_pages_as_hosts_expect_them(pages: Site, run: Run) -> None:
    target = pages.folder / "plain"
    result = run("export", "--out", pages.folder / "dist", target)
    files = tree_snapshot.files(target)

    assert result.exit_code == 0
    assert {"index.html", "index.json", "404.html", "robots.txt", "releases.json"} <= files
    assert {"reader/index.html", "reader/first/index.html", "reader/first.atom", "search/titles.json"} <= files
    assert len(files) == 2 * len([url for url in pages.manifest.resources if not {"?", "#"} & set(url)])
