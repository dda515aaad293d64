"""Warnings about texts that a comment cuts: `title: Night #2` is read as Night."""

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from generator.catalog import reader, records
from generator.catalog.cut_texts import cut_texts
from tests.commands.test_error_formats import annotations
from tests.conftest import Site
from tests.support import tree_snapshot

Run = Callable[..., Result]
ADVICE = "by a comment; put the text in quotes, or a space after #"
CUT = "title: Night #2\ncover: c.png\n"


def test_text_cut_by_a_comment_is_a_warning() -> None:
    """The warning is at the #, with the field and the remaining text."""
    for text, warnings in [
        ("title: Night #2", [(1, 14, "title", "Night")]),
        ("title: Night   #2  \r\ncover: a b #1.jpg\r\n", [(1, 16, "title", "Night"), (2, 12, "cover", "a b")]),
        ("aliases:\n  - One #1\n  - Two\n", [(2, 9, "aliases[0]", "One")]),
        ("description: Several\n  lines #here", [(2, 9, "description", "lines")]),
        ("chapters:\n- title: A #1\n  pages:\n  - 1 #a.jpg", [(2, 12, "chapters[0].title", "A")]),
        ("chapters:\n- {title: A #1\n  }", [(2, 13, "chapters[0].title", "A")]),
        (f"title: {'x' * 50} #2", [(1, 59, "title", f"…{'x' * 40}")]),
        ("title: 月\u3000夜 #2", [(1, 12, "title", "月\u3000夜")]),
    ]:
        expected = [(*place, f'is cut to "{read}" {ADVICE}') for *place, read in warnings]

        assert [tuple(warning) for warning in cut_texts(text.encode(), records.Series)] == expected


def test_unused_anchor_is_a_warning() -> None:
    """YAML drops `&Co` from the text."""
    text = b"title: &Co Detectives\naliases:\n- &all One\n- *all\n- &x [a]\nstatus: &s ongoing\nauthors: &y [*s]\n"

    assert cut_texts(text, records.Series) == [
        (1, 8, "title", "&Co is read as an anchor, but no alias uses it; put the text in quotes")
    ]


def test_ordinary_comment_is_no_warning() -> None:
    """A space after the #, quotes, a block, or a value that could not be longer: nothing is lost."""
    for text in [
        "title: Night # 2",
        "title: Night#2",
        'title: "Night" #2',
        "title: 'Night #2'",
        "# title: Night #2",
        "status: ongoing #or not",
        "status: &x ongoing",
        "description: | #here\n  Night #2\n",
        "chapters: #all\n- number: 1 #one\n  published: 2026-01-01 #then\n  volume: 1 #2\n  pages: 1.jpg .. 3.jpg #3",
        "chapters:\n- pages: [a.jpg] #1",
        "authors:\n- 7 #Ada",
        "title: #2",
    ]:
        assert cut_texts(text.encode(), records.Series) == []


@pytest.mark.parametrize(
    ("count", "more"), [(3, []), (4, ["1 more text of this file is"]), (9, ["6 more texts of this file are"])]
)
def test_further_warnings_of_a_file_are_counted(count: int, more: list[str]) -> None:
    """A file has at most four warnings."""
    warnings = cut_texts(("aliases:\n" + "- A #1\n" * count).encode(), records.Series)

    assert [one.line for one in warnings] == list(range(2, 2 + min(count, 4)))
    assert [one.message for one in warnings[3:]] == [f"{one} cut in the same way" for one in more]


def test_check_warns_about_an_unused_anchor(site: Site, run: Run) -> None:
    """A file with an anchor is checked like a file with a comment."""
    site.write("series/first.yaml", "title: &Co Detectives\ncover: c.png\n")

    assert "&Co is read as an anchor" in run("check", "--catalog", site.folder / "catalog_src").stderr


@pytest.mark.parametrize("command", [["check"], ["build"], ["build", "--no-cache"]], ids=" ".join)
def test_warning_is_printed_in_every_format(site: Site, run: Run, command: list[str]) -> None:
    """On stderr, with exit code 0; as JSON in `warnings`; on GitHub at its line."""
    site.write("series/first.yaml", CUT)
    site.write("authors.yaml", "- {id: 1, name: Ada Penn}\n- id: 2\n  name: Eve #2\n")
    where = tree_snapshot.options(site) if "build" in command else ["--catalog", site.folder / "catalog_src"]
    folder = site.folder / "catalog_src"
    lines = [
        f'{folder}/authors.yaml:3:13: [1].name: is cut to "Eve" {ADVICE}',
        f'{folder}/series/first.yaml:1:14: title: is cut to "Night" {ADVICE}',
    ]
    text, form, github = (run(*command, *where, *more) for more in ([], ["--json"], ["--format", "github"]))

    assert (text.exit_code, text.stderr) == (0, "".join(f"warning: {one}\n" for one in lines))
    assert json.loads(form.stdout)["warnings"] == lines
    shown = annotations("\n".join(one for one in github.stdout.splitlines() if one.startswith("::")))
    assert [(level, place["line"], place["col"], message) for level, place, message in shown] == [
        ("warning", "3", "13", lines[0]),
        ("warning", "1", "14", lines[1]),
    ]


def test_pages_that_are_no_images_are_warnings(site: Site, run: Run) -> None:
    """In each build. A URL may have any ending, and a name none; a page may be there twice."""
    urls = "{number: 2, published: 2026-01-01, pages: [https://a.example/1.txt]}"
    first = "{number: 1, published: 2026-01-01, pages: ['1#.PNG', 2.txt, 3.png, 3.png, a]}"
    site.write("series/first.yaml", f"title: A\ncover: c.png\nchapters:\n- {urls}\n- {first}\n")
    site.write("series/third/series.yaml", "title: B\ncover: c.png\n")
    site.write("series/third/chapters/1.yaml", first)
    for _ in range(2):
        errors = run("build", *tree_snapshot.options(site), "--cache", site.folder / "cache").stderr
        for place in ("first.yaml:5:45: chapters[1].pages:", "third/chapters/1.yaml:1:43: pages:"):
            assert f"/{place} 2.txt is no image by its ending; browsers and apps show .avif, .gif" in errors
        assert errors.count("pages:") == 2


def test_names_without_a_visible_character_are_warnings(site: Site, run: Run) -> None:
    """Of entries, series and chapters. Spaces around a name, joined emojis and new letters are none."""
    names = (" \u3000", " A ", "👩\u200d🎨", "\u3164", "\U0002ebf0")
    site.write("authors.yaml", "".join(f'- {{id: {id}, name: "{name}"}}\n' for id, name in enumerate(names, 1)))
    site.write("accounts.yaml", '- {username: "a\\U000e0041b"}\n')
    chapter = "number: 1, id: 7, published: 2026-01-01, pages: []"
    site.write("series/first.yaml", f'title: "\\u200b"\ncover: c.png\nchapters:\n- {{title: " ", {chapter}}}\n')
    blank = "has only spaces or invisible characters; write what readers should see"

    lines = run("check", "--catalog", site.folder / "catalog_src").stderr.splitlines()
    assert [line.partition("catalog_src/")[2] for line in lines] == [
        r"accounts.yaml:1:14: [0].username: has an invisible character: a\U000e0041b; remove it",
        f"authors.yaml:1:17: [0].name: {blank}",
        f"authors.yaml:4:17: [3].name: {blank}",
        f"series/first.yaml:1:8: title: {blank}",
        f"series/first.yaml:4:11: chapters[0].title: {blank}",
    ]


def test_further_pages_of_a_file_are_counted(site: Site, run: Run) -> None:
    """The pages of all its chapters."""
    chapters = [
        f"- {{id: {number}, number: {number}, published: 2026-01-01, pages: [a.png, {number}.txt, b.gif]}}\n"
        for number in range(1, 10)
    ]
    site.write("series/first.yaml", f"title: A\ncover: c.png\nchapters:\n{''.join(chapters)}")
    lines = run("check", "--catalog", site.folder / "catalog_src").stderr.splitlines()

    assert [line.partition("pages: ")[2].partition(" is no")[0] for line in lines[:3]] == ["1.txt", "2.txt", "3.txt"]
    place = f"warning: {site.folder}/catalog_src/series/first.yaml:7:52"
    assert lines[3:] == [f"{place}: 6 more pages of this file are named in the same way"]


def test_every_build_repeats_the_warning(site: Site, run: Run) -> None:
    """A build that reads the file, one that changes another file, one without changes, and one after a rename."""
    site.write("series/first.yaml", CUT)

    def warned() -> list[str]:
        result = run("build", *tree_snapshot.options(site), "--cache", site.folder / "cache")
        assert result.exit_code == 0
        return [line.split(":")[1].rpartition("/")[2] for line in result.stderr.splitlines() if ADVICE in line]

    assert warned() == ["first.yaml"]
    assert warned() == ["first.yaml"]
    site.write("series/second.yaml", "title: Second\ncover: d.png\n")
    assert warned() == ["first.yaml"]
    (site.folder / "catalog_src/series/first.yaml").rename(site.folder / "catalog_src/series/later.yaml")
    assert warned() == ["later.yaml"]
    site.write("series/wrong.yaml", "title: Wrong\n")
    assert run("build", *tree_snapshot.options(site), "--cache", site.folder / "cache").exit_code == 1
    (site.folder / "catalog_src/series/wrong.yaml").unlink()
    assert warned() == ["later.yaml"]
    site.write("series/later.yaml", CUT.replace("Night #2", '"Night #2"'))
    assert warned() == []


def test_warning_is_cached_for_a_folder_that_is_not_utf_8(site: Site, run: Run) -> None:
    """A build without changes prints the warning from the cache."""
    folder = site.folder / "\udcff"
    (site.folder / "catalog_src").rename(folder)
    (folder / "series/first.yaml").write_text(CUT)
    command = ["build", "--catalog", folder, *tree_snapshot.options(site)[2:]]

    assert [ADVICE in run(*command).stderr for _ in range(2)] == [True, True]


def test_report_shows_the_warning(site: Site, run: Run) -> None:
    """It is listed with the other warnings."""
    site.write("series/first.yaml", CUT)
    run("build", *tree_snapshot.options(site), "--report", site.folder / "report.html")

    assert "series/first.yaml:1:14: title: is cut to" in (site.folder / "report.html").read_text()


def test_file_without_a_doubtful_comment_is_read_once(site: Site, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """Comments on lines of their own, and comments with a space, cost no time."""
    site.write("series/first.yaml", "#!x\n# see #5\n  #y\ntitle: A#1 & R&B # b\ncover: c.png\n")
    monkeypatch.setattr(reader, "cut_texts", pytest.fail)

    assert run("check", "--catalog", site.folder / "catalog_src").exit_code == 0
