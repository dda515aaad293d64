"""A folder becomes records, each of which knows where it was written."""

import gc
import os
import shutil
from pathlib import Path

import pytest

from generator.catalog import reader
from generator.catalog.reader import Sources
from generator.catalog.yaml import reader as yaml12
from generator.catalog.yaml.positions import YamlPath
from tests.catalog.test_wrong_catalogs import WRONG, write


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A small catalog without problems."""
    return Path(shutil.copytree(WRONG / "base", tmp_path / "catalog_src"))


def chapters(found: Sources) -> dict[str, list[tuple[str, YamlPath]]]:
    return {one.slug: [(entry.file, entry.path) for entry in one.chapters] for one in found.series}


def test_a_site_alone_is_a_catalog(tmp_path: Path) -> None:
    """Every file but site.yaml may be missing."""
    write(tmp_path, "site.yaml", "base_url: https://comics.example\n")
    found = reader.read(tmp_path)

    assert (found.problems, found.series, set(map(len, found.lists.values()))) == ([], [], {0})
    assert found.site and found.site.base_url == "https://comics.example"


@pytest.mark.parametrize("text", ["", "# nobody yet\n", "[]\n", "---\n", "~\n"])
def test_a_list_may_be_empty(catalog: Path, text: str) -> None:
    """A file that lists nothing is one without entries."""
    write(catalog, "accounts.yaml", text)
    found = reader.read(catalog)

    assert (found.problems, found.lists["accounts.yaml"]) == ([], [])


def test_an_entry_knows_its_file_and_its_place_in_it(catalog: Path) -> None:
    """What is wrong with it later can be shown where it was written."""
    found = reader.read(catalog)

    assert [(one.record.name, one.file, one.path) for one in found.lists["authors.yaml"]] == [
        ("Ada Penn", "authors.yaml", (0,)),
        ("Bo Ink", "authors.yaml", (1,)),
        ("Bo Ink", "authors.yaml", (2,)),
    ]


def test_a_series_is_a_file_or_a_folder(catalog: Path) -> None:
    """The slug is the name of either; a folder may hold no chapters at all."""
    write(catalog, "series/bare/series.yaml", "title: Bare\ncover: a.jpg\n")
    found = reader.read(catalog)

    assert found.problems == []
    assert [(one.slug, one.entry.file, one.entry.record.title) for one in found.series] == [
        ("bare", "series/bare/series.yaml", "Bare"),
        ("good", "series/good.yaml", "Good"),
        ("long", "series/long/series.yaml", "Long"),
    ]
    assert chapters(found) == {
        "bare": [],
        "good": [("series/good.yaml", ("chapters", 0))],
        "long": [("series/long/chapters/001.yaml", ())],
    }


def test_chapters_of_both_kinds_are_taken_together(catalog: Path) -> None:
    """What series.yaml lists comes first, then the files in the order of their names."""
    for name in ("010", "002", "0020"):
        number = int(name)
        write(catalog, f"series/long/chapters/{name}.yaml", f"number: {number}\npublished: 2026-01-01\npages: []\n")
    own = "title: Long\ncover: a.jpg\nchapters: [{number: 0, published: 2026-01-01, pages: []}]\n"
    write(catalog, "series/long/series.yaml", own)
    found = reader.read(catalog)

    assert found.problems == []
    assert chapters(found)["long"] == [
        ("series/long/series.yaml", ("chapters", 0)),
        *((f"series/long/chapters/{name}.yaml", ()) for name in ("001", "002", "0020", "010")),
    ]


@pytest.mark.parametrize(
    "file",
    [
        *(".hidden.yaml", ".git/config.yaml", "README.md", "authors.yaml~", "authors.yaml.orig", "notes/plan.txt"),
        *("series/.a.yaml.swp", "series/README.md", "series/.trash/a.yaml", "series/long/README.md"),
        *("series/long/.old.yaml", "series/long/drafts/idea.txt", "series/long/chapters/.1.yaml"),
    ],
)
def test_what_is_no_yaml_or_hidden_is_passed_over(catalog: Path, file: str) -> None:
    """Editors, systems and people leave things behind that are no catalog."""
    before = reader.read(catalog)
    write(catalog, file, "- {nobody: reads, this}")

    assert reader.read(catalog) == before


def test_a_link_in_the_place_of_a_file_is_followed(catalog: Path) -> None:
    """It may lead inside the catalog; a folder of links that goes round in circles is not walked."""
    write(catalog, "series/.hidden.yaml", "title: Elsewhere\ncover: a.jpg\n")
    (catalog / "series/linked.yaml").symlink_to(catalog / "series/.hidden.yaml")
    (catalog / "series/long/chapters/round").symlink_to(catalog)
    found = reader.read(catalog)

    assert (found.problems, [one.slug for one in found.series]) == ([], ["good", "linked", "long"])


def test_every_file_has_the_time_at_which_it_was_written(catalog: Path) -> None:
    """In whole seconds, cut, for each file that gave records."""
    for file in catalog.rglob("*.yaml"):
        os.utime(file, ns=(0, 1_999_999_999))
    os.utime(catalog / "site.yaml", (5, 5))

    assert reader.read(catalog).mtimes == {
        "site.yaml": 5,
        **dict.fromkeys(("authors.yaml", "artists.yaml", "categories.yaml", "groups.yaml", "members.yaml"), 1),
        **dict.fromkeys(("series/good.yaml", "series/long/series.yaml", "series/long/chapters/001.yaml"), 1),
    }


def test_parsing_does_without_the_garbage_collector(catalog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would look for cycles a third of the time and find none."""
    seen = []
    monkeypatch.setattr(yaml12, "load", lambda text: seen.append(gc.isenabled()))
    reader.read(catalog)

    assert set(seen) == {False}


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(catalog: Path, enabled: bool) -> None:
    """Reading does without it, and whoever reads finds it as before, also after a problem."""
    write(catalog, "series/a.yaml", "title: [")
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        reader.read(catalog)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_records_cannot_be_changed(catalog: Path) -> None:
    """What was read is what is built."""
    site = reader.read(catalog).site

    assert site
    with pytest.raises(ValueError, match="frozen"):
        site.base_url = "https://other.example"
