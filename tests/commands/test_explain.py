"""`explain`: descriptions of fields without the documents."""

import json
from pathlib import Path

import pytest

from generator.catalog import field_help
from generator.catalog.problems import doc_links, locate
from generator.errors import UnlocatedProblem
from tests.catalog.test_doc_links import RECORDS
from tests.conftest import Site
from tests.project.test_catalog_docs import HEADINGS, rows
from tests.support.author_catalogs import Run
from tests.support.runs import sample

FIELDS = field_help.fields()


def test_the_full_name_of_a_field_is_unambiguous() -> None:
    """It finds that field and no other."""
    assert [field.topic for field in sample(FIELDS, 9) if field_help.matching(field.topic) != [field]] == []


def test_every_documented_field_has_an_explanation() -> None:
    """Each row of the tables in docs/catalog.md."""
    topics = {
        field_help.topic(file, *(step for step in (*path, name) if isinstance(step, str)))
        for heading in HEADINGS
        for file, path in [RECORDS[heading]]
        for name in rows(heading)
    }

    assert topics - {field.topic for field in FIELDS} == set()


@pytest.mark.parametrize(
    ("name", "topics"),
    [
        ("cover", ["series.cover"]),
        ("chapters.number", ["series.chapters.number"]),
        ("chapter.number", ["chapter.number"]),
        ("cache.v2.people", ["site.cache.v2.people"]),
        ("members.yaml", [field.topic for field in FIELDS if field.topic.startswith("members.")]),
        ("artists.yaml", [field.topic for field in FIELDS if field.topic.startswith("people.")]),
        ("series/paper-moons.yaml", [field.topic for field in FIELDS if field.topic.startswith("series.")]),
        ("./catalog_src/series/site.yaml", [field.topic for field in FIELDS if field.topic.startswith("series.")]),
        ("/series/a/catalog_src/site.yaml", [field.topic for field in FIELDS if field.topic.startswith("site.")]),
        ("a/series/b/chapters/1.yaml", [field.topic for field in FIELDS if field.topic.startswith("chapter.")]),
        ("a/series/b/series.yaml", [field.topic for field in FIELDS if field.topic.startswith("series.")]),
        ("views.yaml", ["views.*"]),
        ("views", ["chapter.views", "series.chapters.views", "views.*"]),
        (
            "categories",
            [field.topic for field in FIELDS if field.topic.startswith("categories.")] + ["series.categories"],
        ),
        ("authors", [field.topic for field in FIELDS if field.topic.startswith("people.")] + ["series.authors"]),
        *((name, [f"{name}.*"]) for name in ("archives", "sizes", "variants")),
        ("nothing", []),
    ],
)
def test_a_field_is_found_by_name_path_or_file(name: str, topics: list[str]) -> None:
    """A unique end of its path is enough; a file has all of its fields, and a word may name a file and fields."""
    assert sorted(field.topic for field in field_help.matching(name)) == sorted(topics)


def test_the_explanation_of_a_field(run: Run) -> None:
    """Description, allowed values, default and example."""
    assert run("explain", "series.status").stdout == (
        "series/<slug>.yaml\n"
        "  status\n"
        "    `ongoing`, `completed`, `hiatus` or `canceled`\n"
        "    one of: ongoing, completed, hiatus, canceled\n"
        "    default: ongoing\n"
        "    example: status: hiatus\n"
    )
    assert "    default: 25\n    example: page_size: 50\n" in run("explain", "page_size").stdout
    assert """    example: chapter_title: "#{number} {title}"\n""" in run("explain", "chapter_title").stdout
    assert "  cover (required)\n" in run("explain", "cover").stdout
    assert run("explain", "chapters").stdout.endswith("the chapters, besides those in files of their own\n")


def test_all_fields_are_listed_by_file(run: Run) -> None:
    """Without an argument."""
    lines = run("explain").stdout.splitlines()

    assert [line for line in lines if not line.startswith(" ")] == list(dict.fromkeys(field.file for field in FIELDS))
    assert "  chapters.pages (required)" in lines
    assert len(lines) == len(FIELDS) + len({field.file for field in FIELDS})


def test_explain_json(run: Run) -> None:
    """One object for each field."""
    (field,) = json.loads(run("explain", "cover", "--json").stdout)["fields"]

    assert (field["topic"], field["required"], field["example"]) == ("series.cover", True, "cover.jpg")


@pytest.mark.parametrize(
    ("name", "end"),
    [("covr", "; did you mean cover?"), ("#", "; `python build.py explain` lists all fields")],
)
def test_an_unknown_field_has_a_suggestion(run: Run, name: str, end: str) -> None:
    """The most similar name, if there is one."""
    result = run("explain", name)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"{name}: no field or file of a catalog has this name{end.partition('`')[0]}")


@pytest.mark.parametrize(
    ("complaint", "topic"),
    [
        (UnlocatedProblem("series/a.yaml", ("chapters", 0, "pages", 3), "m"), ("series/a.yaml", "chapters", "pages")),
        (UnlocatedProblem("series/a.yaml", ("chapters", 0, "titel"), "m", of_key=True), ("series/a.yaml", "chapters")),
        (UnlocatedProblem("site.yaml", (), "m"), ("site.yaml",)),
        (UnlocatedProblem("artists.yaml", (0,), "m"), ("artists.yaml",)),
        (UnlocatedProblem("sizes.yaml", (), "m"), ("sizes.yaml",)),
        (UnlocatedProblem("views.yaml", ("704",), "m"), ("views.yaml", "704")),
    ],
)
def test_a_problem_refers_to_its_field(tmp_path: Path, complaint: UnlocatedProblem, topic: tuple[str, ...]) -> None:
    """An unknown field refers to its record, and a file to all of its fields."""
    file = tmp_path / complaint.file
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "704: [1]\nchapters:\n  - {titel: a, pages: [1.png, 2.png, 3.png, 4]}\n"
    file.write_text(text if topic[1:] else "- a\n")
    (problem,) = locate.locate(tmp_path, [complaint])

    assert problem.topic == topic
    assert field_help.matching(str(field_help.topic(*problem.topic)))


@pytest.mark.checkout
@pytest.mark.parametrize("is_checkout", [True, False])
def test_a_hint_refers_to_the_page_or_the_command(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch, is_checkout: bool
) -> None:
    """To the page in a checkout, and to `explain` in the folder of a project, which has no such page."""
    if not is_checkout:
        monkeypatch.chdir(site.folder)
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(path.read_text().replace("cover: ", "cover: /"))
    hint = f"{doc_links.PAGE}#images" if is_checkout else "python build.py explain series.cover"

    assert f"      = {hint}\n" in run("check", "--catalog", site.folder / "catalog_src").stderr


def test_a_problem_without_a_field_has_no_hint(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Invalid YAML is about no field."""
    monkeypatch.chdir(site.folder)
    site.write("site.yaml", "base_url: [\n")
    site.write("groups.txt.yaml", "a: 1\n")
    result = run("check", "--catalog", site.folder / "catalog_src")

    assert result.exit_code == 1
    assert " = " not in result.stderr
