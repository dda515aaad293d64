"""How `diff` treats pages and feeds."""

import json
from pathlib import Path

import pytest

from tests.commands.test_cli import Run
from tests.conftest import Site, copy_of, date

BASE = "https://minimal.example"


@pytest.fixture
def both(tmp_path: Path) -> tuple[Site, Site]:
    """Two equal sites with pages, not built yet."""
    old, new = (copy_of("minimal", tmp_path / name) for name in ("old", "new"))
    for made in (old, new):
        made.write("site.yaml", f"base_url: {BASE}\npages: true\n")
        date(made.folder)
    return old, new


def edit(site: Site, file: str, before: str, after: str) -> None:
    path = site.folder / "catalog_src" / file
    path.write_text(path.read_text().replace(before, after))
    date(site.folder)


def diff(both: tuple[Site, Site], run: Run, *options: str) -> str:
    for made in both:
        made.build()
    result = run("diff", *(made.folder / "dist" for made in both), *options)
    return str(result.stdout)


def test_changed_pages_have_their_series_as_cause(both: tuple[Site, Site], run: Run) -> None:
    """They are counted, and no difference of HTML is shown."""
    edit(both[1], "series/first.yaml", "title: One", "title: Uno")
    text = diff(both, run)

    assert "series first changed" in text
    shown = [line for line in text.splitlines() if line.startswith(("  pages", "  feeds"))]
    assert len(shown) == 2
    assert all(line.endswith("caused by series first)") for line in shown)
    assert "<" not in text


def test_pages_of_a_removed_series_follow_from_it(both: tuple[Site, Site], run: Run) -> None:
    (both[1].folder / "catalog_src/series/first.yaml").unlink()
    text = diff(both, run)

    assert "series first removed" in text
    assert "pages first removed" not in text
    assert "feeds first removed" not in text


def test_pages_without_another_change_are_reported(both: tuple[Site, Site], run: Run) -> None:
    edit(both[1], "site.yaml", "pages: true", "pages: true\ntitle: Minimal Comics")
    text = diff(both, run)

    assert "pages changed" in text
    assert "feeds changed" in text
    assert "series first" not in text


def test_new_pages_are_added(both: tuple[Site, Site], run: Run) -> None:
    """With the first page in place of the index."""
    edit(both[0], "site.yaml", "pages: true", "pages: false")
    facts = json.loads(diff(both, run, "--format", "json"))

    assert facts["counts"]["removed"] == 0
    assert {thing["kind"] for thing in facts["things"]} >= {"pages", "feeds"}
    assert not [thing for thing in facts["things"] if thing["kind"] in ("site", "series", "lists")]


def test_purge_lists_both_spellings_of_a_page(both: tuple[Site, Site], run: Run) -> None:
    """And the start of the URLs of all pages of a chapter, and of all searches."""
    edit(both[1], "series/first.yaml", "title: One", "title: Uno")
    edit(both[1], "site.yaml", "pages: true", "pages: true\ntitle: Minimal Comics")
    purge = json.loads(diff(both, run, "--purge", "--format", "json"))
    page = f"{BASE}/reader/first/1/1"

    assert {page, f"{page}/", f"{BASE}/", f"{BASE}/releases.atom"} <= set(purge["urls"])
    assert not [url for url in purge["urls"] if url.removeprefix("https://").count("//")]
    assert {f"{page}/", f"{BASE}/search?", f"{BASE}/search/?"} <= set(purge["prefixes"])
