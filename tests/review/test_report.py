"""`build --report`: the HTML page and the same data as JSON."""

import json
import re
import shutil
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from generator.errors import CatalogError
from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from generator.pipeline.build_result import BuildResult
from generator.release import changes
from generator.release.manifest import Manifest
from generator.review.report import data
from generator.review.report import page as report
from generator.review.report.data import ReportData
from tests.commands.test_cli import Run
from tests.conftest import Site, copy_of
from tests.review.test_report_details import chapter, series
from tests.support import tree_snapshot
from tests.support.catalog_edits import EDITS
from tests.support.documents import DOCUMENTS, first_cells
from tests.support.html_page import HtmlPage
from tests.support.incremental_pair import IncrementalPair, in_memory
from tests.support.reports import build_with_report
from tests.support.tables import each

KINDS = ("added", "changed", "removed")
HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>&lt;\"'{{ 7*7 }}"


@pytest.fixture
def page(site: Site) -> Path:
    return site.folder / "report.html"


def options(site: Site, *, remembering: bool = True) -> Options:
    cache = site.folder / ".flatpanel_cache" if remembering else None
    return replace(site.options, cache=cache)


def build(site: Site, page: Path, *, remembering: bool = True) -> tuple[BuildResult, ReportData]:
    return build_with_report(options(site, remembering=remembering), page)


def surveyed(site: Site, page: Path, *, remembering: bool = True) -> ReportData:
    return build(site, page, remembering=remembering)[1]


def page_text(page: Path) -> str:
    """The text of the page without tags."""
    return " ".join(HtmlPage(page.read_text()).text.split())


def differences(before: Manifest, after: Manifest) -> dict[str, str]:
    """The kind of change of each URL that differs between two releases."""
    old, new = before.resources, after.resources
    kinds = {url: "added" if url in new else "removed" for url in old.keys() ^ new.keys()}
    return kinds | {url: "changed" for url in old.keys() & new.keys() if old[url].etag != new[url].etag}


# Counts and sizes


def test_counts_of_the_catalog(site: Site, page: Path) -> None:
    """Published series, chapters and pages, scheduled chapters, and the entries of the lists."""
    scheduled = chapter(3, id=3, published="2030-01-01", pages="1.png .. 100.png")
    series(site, "first", chapter(1, pages="[a.png, b.png]"), chapter(2, pages="1.png .. 7.png"), scheduled)
    site.write("members.yaml", "- {id: 1, name: A}\n- {id: 2, name: B}\n")
    site.write("accounts.yaml", "- username: reader\n")
    counts = surveyed(site, page).counts

    assert counts == {
        "series": 2,
        "chapters": 2,
        "pages": 9,
        "scheduled": 1,
        "authors": 1,
        "artists": 0,
        "groups": 0,
        "members": 2,
        "categories": 0,
        "accounts": 1,
    }


def test_sizes_equal_those_of_the_files(site: Site, page: Path) -> None:
    """Each body is counted once, uncompressed and as clients with gzip receive it."""
    tree_snapshot.first_version(site)
    report_sizes = surveyed(site, page).sizes
    bodies = [one for one in (site.folder / "dist/www").rglob("*") if one.suffix not in ("", ".headers", ".gz")]
    packed = [Path(f"{one}.gz") if Path(f"{one}.gz").exists() else one for one in bodies]

    assert report_sizes.total.urls == len(bodies) == len(site.manifest.resources)
    assert report_sizes.total.size == sum(one.stat().st_size for one in bodies)
    assert report_sizes.total.compressed == sum(one.stat().st_size for one in packed) < report_sizes.total.size
    largest = sorted(((one.size, url) for url, one in site.manifest.resources.items()), reverse=True)
    assert [(one.size, one.url) for one in report_sizes.largest] == largest[: data.MAX_LARGEST]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/", ("/", "")),
        ("/index.json", ("/", "")),
        ("/library/2/", ("pages", "library")),
        ("/releases.atom", ("feeds", "releases")),
        ("/sitemaps/series/a.xml", ("feeds", "sitemaps")),
        ("/api/series", ("/api", "series")),
        ("/api/series/a/1/2", ("/api", "series")),
        ("/api/v2/series?sort=title&page=2", ("/api/v2", "series")),
        ("/api/v2/series#index", ("/api/v2", "series")),
        ("/api/v2/chapters/12/pages", ("/api/v2", "chapters")),
    ],
)
def test_every_url_has_a_version_and_a_kind(url: str, expected: tuple[str, str]) -> None:
    """Query arguments have no effect; the index has a version of its own."""
    assert data.version_and_kind(url) == expected


def test_a_lost_gzip_form_counts_as_the_uncompressed_body(site: Site, page: Path) -> None:
    """nginx sends the uncompressed body then."""
    pipeline.build(options(site))
    (packed,) = (site.folder / "dist/www/api/v2/docs").glob("swagger-ui-bundle.js.*.gz")
    packed.unlink()
    biggest = surveyed(site, page).sizes.largest[0]

    assert (biggest.url, biggest.compressed) == ("/api/v2/docs/swagger-ui-bundle.js", biggest.size)


# Changes


def test_an_unchanged_build_has_a_full_report(site: Site, page: Path) -> None:
    """Counts, sizes, schedule and warnings are those of the build before, without changes."""
    series(site, "first", chapter(1, id=1), chapter(2, id=2, published="2030-01-01"))
    site.write("site.yaml", "base_url: https://minimal.example\nbody_budget: 1\n")
    site.write("series/third.yaml", "title: T\ncover: c\nchapters:\n- {number: 1, published: 2026-01-01, pages: []}\n")
    first, first_data = build(site, page)
    before = tree_snapshot.state(site.folder / "dist")
    second, second_data = build(site, page)

    assert second_data.changes.listed == []
    assert second_data.details == {}
    assert replace(second_data, changes=first_data.changes, details=first_data.details) == first_data
    assert second.warnings == first.warnings and len(first.warnings) == 2
    assert tree_snapshot.state(site.folder / "dist") == before
    text = page_text(page)
    assert f"No changes: all {second.resources} URLs have the same responses as before." in text
    assert "2030-01-01 00:00 UTC" in text
    assert all(one in text for one in second.warnings)


def test_the_report_does_not_depend_on_the_cache(site: Site, page: Path) -> None:
    """With and without a cache it is the same."""
    pipeline.build(options(site, remembering=False))
    without = surveyed(site, page, remembering=False)
    pipeline.build(options(site))

    assert surveyed(site, page) == without
    assert without.changes.listed == []


@pytest.fixture
def pair() -> Iterator[IncrementalPair]:
    with in_memory() as folder:
        yield IncrementalPair(folder)


@pytest.mark.histories
def test_changes_equal_the_differences_of_the_releases(pair: IncrementalPair, monkeypatch: pytest.MonkeyPatch) -> None:
    """After every kind of edit, each URL is listed once, and the totals equal those of the build."""
    monkeypatch.setattr(changes, "MAX_URLS", 10_000)
    seen = Counter[str]()
    for number, what in enumerate(["", *sorted(EDITS)] * 2):
        if what:
            EDITS[what](pair.catalog, number, number * 7)
        pair.catalog.write()
        before = pair.manifest
        try:
            result, data = build_with_report(pair.options, pair.folder / "report.html")
        except CatalogError:
            pair.catalog.restore()
            continue
        pair.catalog.good = pair.catalog.data()
        urls = [(url, kind) for one in data.changes.listed for kind, url in one.urls]
        counts = sum((one.counts for one in data.changes.listed), Counter[str]())
        assert sorted(urls) == sorted(differences(before, pair.manifest).items()), what
        assert {kind: counts[kind] for kind in KINDS} == {kind: result.changes[kind] for kind in KINDS}, what
        seen += counts

    assert all(seen[kind] > 100 for kind in KINDS)


def test_long_lists_of_changes_are_cut(site: Site, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The totals include all changes."""
    monkeypatch.setattr(changes, "MAX_SERIES", 3)
    monkeypatch.setattr(changes, "MAX_URLS", 1)
    for number in range(6):
        series(site, f"series-{number}", chapter(1, id=10 + number))
    result, data = build(site, page)
    report_changes = data.changes

    assert [one.slug for one in report_changes.listed] == ["", "first", "second"]
    assert {len(one.urls) for one in report_changes.listed} == {1}
    assert report_changes.other_series == 6
    assert (
        sum(one.counts["added"] for one in report_changes.listed) + report_changes.other_counts["added"]
        == result.changes["added"]
    )
    assert f"In 6 more series: {report_changes.other_counts['added']} added." in page_text(page)
    assert f"and {report_changes.listed[1].counts['added'] - 1} more" in page_text(page)


def test_long_lists_of_chapters_and_warnings_are_cut(site: Site, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page shows how many more there are."""
    monkeypatch.setattr(report, "MAX_LISTED", 1)
    site.write("site.yaml", "base_url: https://minimal.example\nbody_budget: 1\n")
    scheduled = (chapter(one, id=one, published=f"203{one}-01-01T08:00:30+01:00") for one in range(1, 4))
    series(site, "first", *scheduled, chapter(9))
    build(site, page)
    text = page_text(page)

    assert "2031-01-01 07:00:30 UTC First Chapter 1" in text
    assert page.read_text().count("<tr>\n<td><time") == 1
    assert "And 2 more, the last one at 2033-01-01 07:00:30 UTC." in text
    assert "Warnings" in text and "And 1 more." in text


# JSON


def test_json_contains_the_data_of_the_page(site: Site, page: Path, run: Run) -> None:
    """With and without --report."""
    series(site, "first", chapter(1, id=1), chapter("2.5", id=2, published="2030-01-01"))
    site.build()
    series(site, "second", chapter(1, id=3))
    facts = json.loads(run("build", *tree_snapshot.options(site), "--json", "--report", page).stdout)
    again = json.loads(run("build", *tree_snapshot.options(site), "--json").stdout)

    assert {one for one in facts if facts[one] != again[one]} == {
        *("added", "changed", "unchanged", "bytes_written", "seconds", "changes")
    }
    assert again["changes"] == []
    assert facts["counts"]["chapters"] == 2
    assert facts["sizes"]["urls"] == facts["resources"] == sum(one["urls"] for one in facts["sizes"]["families"])
    assert facts["sizes"]["families"][0] == {
        "family": "/",
        "about": None,
        "urls": 2,  # with /index.json
        "bytes": (size := 2 * site.manifest.resources["/"].size),
        "compressed": size,
    }
    assert facts["biggest"][0]["url"] == "/api/v2/docs/swagger-ui-bundle.js"
    assert [one["series"] for one in facts["changes"]] == [None, "second"]
    assert {"url": "/api/v2/chapters/3", "change": "added"} in facts["changes"][1]["urls"]
    assert sum(one["added"] for one in facts["changes"]) == facts["added"]
    assert facts["other_changes"] == {"series": 0, "added": 0, "changed": 0, "removed": 0}
    assert [(one["due"], one["series"]["slug"], one["number"]) for one in facts["scheduled"]] == [
        ("2030-01-01T00:00:00Z", "first", "2.5")
    ]


def test_every_json_field_is_documented(site: Site, run: Run) -> None:
    """In the tables of the documents."""
    facts = json.loads(run("build", *tree_snapshot.options(site), "--json").stdout)
    serving = DOCUMENTS["docs/serving-reference.md"]

    tables = first_cells(serving, "field of `build --json`") + first_cells(serving, "field of the page")
    assert sorted(tables) == sorted(facts)


# The file


def test_the_summary_names_the_report(site: Site, page: Path, run: Run) -> None:
    """Unless --quiet is given. An empty file is overwritten, and a report."""
    page.touch()
    summary = run("build", *tree_snapshot.options(site), "--report", page).stdout.splitlines()

    assert f"wrote {page}" in summary
    assert run("build", *tree_snapshot.options(site), "--report", page, "--quiet").output == ""


def test_a_new_report_is_readable_by_its_owner_only(site: Site, page: Path) -> None:
    """It lists unpublished chapters. An existing file keeps its permissions."""
    build(site, page)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    page.chmod(0o640)
    site.write("series/third.yaml", "title: T\ncover: c\n")
    build(site, page)

    assert stat.S_IMODE(page.stat().st_mode) == 0o640
    assert "third" in page_text(page)


def test_equal_builds_have_equal_reports(site: Site, page: Path) -> None:
    """The page contains no durations."""
    texts = []
    for _ in range(2):
        shutil.rmtree(site.folder / "dist", ignore_errors=True)
        build(site, page)
        texts.append(page.read_bytes())

    assert texts[0] == texts[1]


def test_a_build_without_report_collects_no_data(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs no time."""
    monkeypatch.setattr(data, "report_data", None)

    assert [run("build", *tree_snapshot.options(site)).exit_code for _ in range(2)] == [0, 0]


IN_DIST = "is in {folder}/dist, which is copied to servers, but a report lists unpublished chapters; use another path"
NO_FILE = "is not a file; use another path for the report"
OWNED = {
    "nginx.conf": "nginx.conf",
    "cache/report.html": "cache",
    "catalog_src/series/report.html": "catalog_src/series",
    "theme/report.html": "theme",
}


@each(
    ("place", "fault"),
    [
        *((f"{name}/report.html", IN_DIST) for name in ("dist", "dist/www", "link")),
        *((name, f"belongs to {{folder}}/{owner}; use another path for the report") for name, owner in OWNED.items()),
        ("own.html", "exists and is not a report; use another path"),
        *((name, NO_FILE) for name in (".", "/dev/null")),
    ],
)
def test_a_path_with_another_use_is_refused(site: Site, run: Run, place: str, fault: str) -> None:
    """Before the build: `dist` is copied to servers, a build would overwrite its files, others are no reports."""
    if not (site.folder / "link").is_symlink():
        pipeline.build(options(site))
        (site.folder / "link").symlink_to("dist")
        (site.folder / "own.html").write_text("<p>Ours.</p>")
    before = tree_snapshot.content(site.folder)
    result = run(
        "build", *tree_snapshot.options(site), "--cache", site.folder / "cache", "--report", site.folder / place
    )

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{site.folder / place}: {fault.format(folder=site.folder)}\n"
    assert tree_snapshot.content(site.folder) == before


def test_a_file_in_the_place_of_a_folder_is_named(site: Site, run: Run) -> None:
    """The error of the system would be that the file exists."""
    (site.folder / "notes").write_text("mine")
    result = run("build", *tree_snapshot.options(site), "--report", site.folder / "notes/report.html")

    assert (result.exit_code, result.stderr) == (1, f"{site.folder}/notes: is not a folder\n")


def test_check_and_report_exclude_each_other(site: Site, page: Path, run: Run) -> None:
    """--check writes nothing."""
    result = run("build", *tree_snapshot.options(site), "--check", "--report", page)

    assert (result.exit_code, result.stdout) == (2, "")
    assert "--check writes nothing, so it cannot be combined with --report" in result.stderr
    assert not page.exists()


def test_a_circular_link_is_an_error(site: Site, run: Run) -> None:
    """The message names it."""
    (site.folder / "link").symlink_to("link")
    result = run("build", *tree_snapshot.options(site), "--report", site.folder / "link/report.html")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{site.folder}/link") and result.stderr.count("\n") == 1


def test_a_report_may_be_written_through_a_link(site: Site, page: Path) -> None:
    """The link stays a link."""
    (site.folder / "elsewhere").mkdir()
    page.symlink_to("elsewhere/today.html")
    build(site, page)

    assert page.is_symlink()
    assert (site.folder / "elsewhere/today.html").read_bytes().startswith(report.BEGINNING)


# Content of the page


def test_catalog_texts_are_escaped(site: Site, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A title cannot add a tag, an attribute, a script or a template line."""
    monkeypatch.setattr(changes, "MAX_URLS", 1000)
    quoted = HOSTILE.replace("\\", "\\\\").replace('"', '\\"')
    chapter = f'  - {{number: 1, published: 2030-01-01, pages: [], title: "{quoted}"}}\n'
    site.write("series/third.yaml", f'title: "{quoted}"\ncover: c\nchapters:\n{chapter}')
    site.write("categories.yaml", '- {id: odd, name: "<img src=x onerror=alert(3)>"}\n')
    build(site, page)
    text = page.read_text()

    shown = HtmlPage(text)
    tags = Counter(element.tag for element in shown.elements)
    assert tags.keys().isdisjoint({"script", "iframe", "a", "form", "object"})
    assert tags["title"] == tags["style"] == tags["h1"] == 1
    # The covers of three series.
    names = ("class", "src", "alt", "width", "height", "loading", "decoding")
    assert [tuple(image.attributes) for image in shown.all("img")] == [names] * 3
    assert page_text(page).count(HOSTILE) == 3
    assert "/api/v2/categories/" in text


def test_the_page_contains_no_secrets(tmp_path: Path) -> None:
    """No keys, digests, files of restricted chapters, ETags or file paths."""
    site = copy_of("v2", tmp_path)
    page = tmp_path / "report.html"
    facts = surveyed(site, page)
    output = page.read_text() + json.dumps(facts.plain())
    catalog = {one: one.read_text() for one in (tmp_path / "catalog_src").rglob("*.yaml")}
    digests = {one for text in catalog.values() for one in re.findall(r"\b[0-9a-f]{64}\b", text)}
    locked = [text for text in catalog.values() if re.search(r"(?m)^restricted: true", text) and "cover:" in text]
    files = {one for text in locked for one in re.findall(r"[\w-]+\.(?:png|jpg)\b", text)} - {"cover.jpg"}

    assert digests and files
    assert [one for one in digests | files if one in output] == []
    assert [one for one in site.manifest.resources.values() if one.etag in output or one.file in output] == []
    assert re.findall(r"\b[0-9a-f]{32,}\b", output) == []


def test_the_page_loads_covers_only_and_has_no_scripts(site: Site, page: Path) -> None:
    """Its Content-Security-Policy forbids everything else."""
    build(site, page)
    text = page.read_text()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)

    covers = {f"https://minimal.example/media/series/{slug}/cover.jpg" for slug in ("first", "second")}
    assert set(re.findall(r'<img class="cover" src="([^"]+)"', text)) == covers
    text = re.sub(r'<img class="cover" src="[^"]+"', "", text)
    assert not re.search(r"""\b(?:src|href)=["'](?!data:)|url\(|@import|<script|\son\w+=|\sstyle=""", text)
    assert policy.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy
    assert '<meta name="robots" content="noindex">' in text


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (999, "999 B"),
        (1000, "1.0 KiB"),
        (102_348, "99.9 KiB"),
        (102_400, "100 KiB"),
        (1_023_000, "999 KiB"),
        (1_036_000, "1.0 MiB"),
        (5000 << 30, "5,000 GiB"),
    ],
)
def test_format_of_sizes(count: int, expected: str) -> None:
    """The largest unit with a readable number."""
    assert report.format_size(count) == expected


def test_every_part_of_a_bar_is_visible() -> None:
    """Parts do not overlap, and one in a million has a minimum length."""
    assert report.bar_parts([("added", 1), ("changed", 0), ("unchanged", 999_999)]) == [
        ("added", 0.0, 0.6),
        ("changed", 0.6, 0.0),
        ("unchanged", 0.6, 100.0),
    ]
