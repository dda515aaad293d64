"""The records of a catalog folder, each with its file and path."""

import gc
import os
import shutil
from pathlib import Path

import pytest

from generator.catalog import reader
from generator.catalog.reader import Sources
from generator.catalog.yaml import reader as yaml12
from generator.catalog.yaml.positions import YamlPath
from generator.pipeline import run
from tests.catalog.test_wrong_catalogs import WRONG, write


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A small catalog without problems."""
    return Path(shutil.copytree(WRONG / "base", tmp_path / "catalog_src"))


def chapters(sources: Sources) -> dict[str, list[tuple[str, YamlPath]]]:
    return {one.slug: [(entry.file, entry.path) for entry in one.chapters] for one in sources.series}


def test_site_yaml_alone_is_a_catalog(tmp_path: Path) -> None:
    """Every other file is optional."""
    write(tmp_path, "site.yaml", "base_url: https://comics.example\n")
    sources = reader.read(tmp_path)

    assert (sources.problems, sources.series, set(map(len, sources.lists.values()))) == ([], [], {0})
    assert sources.site and sources.site.base_url == "https://comics.example"


@pytest.mark.parametrize("text", ["", "# empty\n", "[]\n", "---\n", "~\n"])
def test_empty_list_file_has_no_entries(catalog: Path, text: str) -> None:
    """An empty file, a comment, a null and an empty list mean the same."""
    write(catalog, "accounts.yaml", text)
    sources = reader.read(catalog)

    assert (sources.problems, sources.lists["accounts.yaml"]) == ([], [])


def test_series_is_a_file_or_a_folder(catalog: Path) -> None:
    """The slug is the name of either. A folder may have no chapters."""
    write(catalog, "series/bare/series.yaml", "title: Bare\ncover: a.jpg\n")
    sources = reader.read(catalog)

    assert sources.problems == []
    assert [(one.slug, one.entry.file, one.entry.record.title) for one in sources.series] == [
        ("bare", "series/bare/series.yaml", "Bare"),
        ("good", "series/good.yaml", "Good"),
        ("long", "series/long/series.yaml", "Long"),
    ]
    assert chapters(sources) == {
        "bare": [],
        "good": [("series/good.yaml", ("chapters", 0))],
        "long": [("series/long/chapters/001.yaml", ())],
    }


def test_chapters_of_series_yaml_precede_chapter_files(catalog: Path) -> None:
    """Chapter files follow in the order of their names."""
    for name in ("010", "002", "0020"):
        number = int(name)
        write(catalog, f"series/long/chapters/{name}.yaml", f"number: {number}\npublished: 2026-01-01\npages: []\n")
    own = "title: Long\ncover: a.jpg\nchapters: [{number: 0, published: 2026-01-01, pages: []}]\n"
    write(catalog, "series/long/series.yaml", own)
    sources = reader.read(catalog)

    assert sources.problems == []
    assert chapters(sources)["long"] == [
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
def test_other_and_hidden_files_are_ignored(catalog: Path, file: str) -> None:
    """Editors and systems leave such files behind."""
    before = reader.read(catalog)
    write(catalog, file, "- {unread: content}")

    assert reader.read(catalog) == before


@pytest.mark.parametrize(
    ("file", "hint"),
    [
        ("Authors.YML", "did you mean authors.yaml?"),
        ("series/a.YAML", "did you mean a.yaml?"),
        ("series/long/series.Yaml", "did you mean series.yaml?"),
        ("series/long/chapters/003.YAML.yMl", "did you mean 003.yaml?"),
        ("notes/a.YAML", "rename, move or remove it"),
        ("series/a.yaml.txt", "did you mean a.yaml?"),
        ("authors.yml.TXT", "did you mean authors.yaml?"),
    ],
)
@pytest.mark.parametrize("is_link", [False, True])
def test_an_almost_correct_ending_is_a_warning(catalog: Path, file: str, hint: str, is_link: bool) -> None:
    """Of `check` and of builds, for a file and for a link to one. Notepad adds .txt, and Windows shows none of it."""
    write(catalog, "series/.unread" if is_link else file, "title: Unread\n")
    if is_link:
        (catalog / file).parent.mkdir(exist_ok=True)
        (catalog / file).symlink_to(catalog / "series/.unread")

    assert list(map(str, run.check(catalog, 0, 1).located)) == [
        f"{catalog}/{file}:1:1: is ignored, because its name does not end in .yaml; {hint}"
    ]


def test_link_to_a_file_in_the_catalog_is_followed(catalog: Path) -> None:
    """A link to a folder elsewhere in the catalog is not walked, so a circle of links has an end."""
    write(catalog, "series/.hidden.yaml", "title: Elsewhere\ncover: a.jpg\n")
    (catalog / "series/linked.yaml").symlink_to(catalog / "series/.hidden.yaml")
    (catalog / "series/long/chapters/round").symlink_to(catalog)
    sources = reader.read(catalog)

    assert (sources.problems, [one.slug for one in sources.series]) == ([], ["good", "linked", "long"])


def test_mtimes_are_cut_to_seconds(catalog: Path) -> None:
    """Each file with records has one."""
    for file in catalog.rglob("*.yaml"):
        os.utime(file, ns=(0, 1_999_999_999))
    os.utime(catalog / "site.yaml", (5, 5))

    assert reader.read(catalog).mtimes == {
        "site.yaml": 5,
        **dict.fromkeys(("authors.yaml", "artists.yaml", "categories.yaml", "groups.yaml", "members.yaml"), 1),
        **dict.fromkeys(("series/good.yaml", "series/long/series.yaml", "series/long/chapters/001.yaml"), 1),
    }


def test_parsing_runs_without_garbage_collection(catalog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Collecting would take a third of the time and free nothing."""
    seen = []
    monkeypatch.setattr(yaml12, "load", lambda text: seen.append(gc.isenabled()))
    reader.read(catalog)

    assert set(seen) == {False}


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_is_restored_after_reading(catalog: Path, enabled: bool) -> None:
    """Also after a problem, and if it was disabled before."""
    write(catalog, "series/a.yaml", "title: [")
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        reader.read(catalog)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_records_are_immutable(catalog: Path) -> None:
    """Assigning a field raises."""
    site = reader.read(catalog).site

    assert site
    with pytest.raises(ValueError, match="frozen"):
        site.base_url = "https://other.example"
