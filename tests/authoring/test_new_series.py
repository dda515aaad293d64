"""`new series`: add a series, or say why not."""

import json
import shutil

import pytest

from tests.authoring.conftest import refused
from tests.conftest import Site
from tests.support.author_catalogs import Run, everything


@pytest.fixture
def new(site: Site, run: Run) -> Run:
    """Run `build.py new series` on the test's site."""
    site.write("artists.yaml", '- {id: 4, name: Ada Penn}\n- {id: 5, name: "7"}\n- {id: 7, name: Bo}\n')
    site.write("categories.yaml", "- {id: comedy, name: Comedy}\n")
    return lambda *arguments: run("new", "series", "--catalog", site.folder / "catalog_src", *arguments)


def text(site: Site, file: str) -> str:
    return (site.folder / "catalog_src" / file).read_text(encoding="utf-8")


def test_a_series_has_the_fields_of_the_options(site: Site, new: Run) -> None:
    """And a schema line, the common fields, and a comment about the next step."""
    result = new("third", "--title", "Third: 紙", "--author", "Ada Penn", "--category", "comedy", "--artist", "4")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{site.folder}/catalog_src/series/third.yaml: series third\n"
    assert text(site, "series/third.yaml") == (
        "# yaml-language-server: $schema=../.schemas/series.json\n"
        "# The name of this file is the slug of the series. `new chapter third` adds chapters.\n"
        "\n"
        'title: "Third: 紙"\n'
        "authors: [Ada Penn]\n"
        "artists: [4]\n"
        "categories: [comedy]\n"
        "status: ongoing\n"
        "cover: cover.jpg\n"
    )


def test_a_series_may_be_a_folder(site: Site, new: Run) -> None:
    """Its chapters get their own files."""
    assert new("third", "--title", "Third", "--folder", "--cover", "https://images.example/c.png").exit_code == 0
    assert text(site, "series/third/series.yaml") == (
        "# yaml-language-server: $schema=../../.schemas/series.json\n"
        "# The name of this folder is the slug of the series. `new chapter third` adds chapters.\n"
        "\n"
        "title: Third\n"
        "status: ongoing\n"
        "cover: https://images.example/c.png\n"
    )


def test_names_come_before_ids(site: Site, new: Run) -> None:
    """A person named 7 comes before the person with id 7."""
    new("third", "--title", "Third", "--artist", "7", "--artist", "4")

    assert 'artists: ["7", 4]\n' in text(site, "series/third.yaml")


def test_the_first_series_creates_its_folder(site: Site, new: Run) -> None:
    """A catalog may have only site.yaml. The next build has the series."""
    folder = site.folder / "catalog_src/series"
    shutil.rmtree(folder)

    assert new("third", "--title", "Third").exit_code == 0
    assert [path.name for path in folder.iterdir()] == ["third.yaml"]
    site.build()
    assert "/api/series/third" in site.manifest.resources


def test_a_dry_run_prints_a_diff(site: Site, new: Run) -> None:
    """Against /dev/null."""
    before = everything(site)
    result = new("third", "--title", "Third", "--dry-run")
    file = f"{site.folder}/catalog_src/series/third.yaml"

    assert result.stdout == (
        f"--- /dev/null\n+++ {file}\n@@ -0,0 +1,6 @@\n"
        "+# yaml-language-server: $schema=../.schemas/series.json\n"
        "+# The name of this file is the slug of the series. `new chapter third` adds chapters.\n"
        "+\n+title: Third\n+status: ongoing\n+cover: cover.jpg\n"
    )
    assert result.stderr == f"{file}: series third; nothing was written\n"
    assert everything(site) == before


def test_old_slug_is_refused(site: Site, new: Run) -> None:
    """Its URLs redirect to another series."""
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(f"{path.read_text()}\nformerly: [oldest]\n")

    message = f"the slug Oldest redirects to first: an old slug in {path}; choose another\n"
    assert refused(site, new, "Oldest", "--title", "Old") == message


def test_json_has_the_same_content(new: Run) -> None:
    """File, slug, and whether it was written."""
    facts = {"ok": True, "file": "series/third.yaml", "slug": "third"}

    assert json.loads(new("third", "--title", "Third", "--json", "--dry-run").stdout) == facts | {"written": False}
    assert json.loads(new("third", "--title", "Third", "--json").stdout) == facts | {"written": True}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["first"], "series first already exists in {catalog}/series/first.yaml; choose another slug"),
        (["First"], "the slug First differs from first only in case; choose another"),
        ([""], 'the slug should contain only the letters A-Z a-z, digits, - and _, not ""'),
        (["../x"], "the slug should contain only the letters A-Z a-z, digits, - and _, not ../x"),
        (["a\u202eb"], "the slug should contain only the letters A-Z a-z, digits, - and _, not a\\u202eb"),
        (["x" * 201], f"the slug should have at most 200 characters, not {'x' * 201}"),
        (["x", "--title", "a\nb"], "--title: should be one line without control characters, not 'a\\nb'"),
        (["x", "--title", "a\udcff"], "--title: should be text that can be written in UTF-8"),
        (["x", "--author", "Ada Pen"], "--author: no author is named Ada Pen; did you mean Ada Penn?"),
        (["x", "--artist", "8"], "--artist: no artist is named 8; see artists.yaml"),
        (
            ["x", "--author", "Cy", "--artist", "Bo", "--artist", "Bo", "--category", "comdy", "--title", ""],
            "--title: should not be empty\n"
            "--author: no author is named Cy; see authors.yaml\n--artist: is listed twice; remove one of them\n"
            "--category: no category has the id comdy; did you mean comedy?",
        ),
        (
            ["x", "--cover", "a/b.png"],
            "--cover: should be a file name without a folder, or a complete percent-encoded http(s):// URL, "
            "not a/b.png",
        ),
    ],
)
def test_invalid_options_are_refused(site: Site, new: Run, arguments: list[str], sentence: str) -> None:
    """All errors at once, each with its option; nothing is written."""
    sentence = sentence.replace("{catalog}", f"{site.folder}/catalog_src")
    assert refused(site, new, "--title", "Third", *arguments) == f"{sentence}\n"


def test_api_keys_are_neither_written_nor_printed(site: Site, new: Run) -> None:
    """A catalog with a plaintext key cannot be built."""
    message = refused(site, new, "third", "--title", f"The fpk_{'x' * 43}")

    file = f"{site.folder}/catalog_src/series/third.yaml"
    assert message == f"{file}: would contain an API key, and the file is public; nothing was written\n"


def test_a_title_is_required(new: Run) -> None:
    """Exit code 2 without it."""
    assert new("third").exit_code == 2
