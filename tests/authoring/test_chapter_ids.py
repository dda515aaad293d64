"""`ids`: each chapter gets an id, and the rest of its file does not change."""

import json

import pytest

from tests.authoring.conftest import refused
from tests.conftest import Site, without_help
from tests.support.author_catalogs import FIRST, SECOND, Run, chapter, everything, ids_in, series


def text_of(site: Site, file: str) -> bytes:
    return (site.folder / "catalog_src" / file).read_bytes()


def test_ids_are_the_only_change_of_a_file(site: Site, ids: Run) -> None:
    """Comments, white space and the last byte stay."""
    before = """# The first.
title: First
cover: cover.jpg
chapters:    # newest last
  # It begins.
  - number: 1      # one
    published: 2026-02-02
    pages: &blank [1.png]

  -   # soon
      {number: 2, published: 2026-02-03, pages: *blank}
  - id: 9
    number: 3
    published: 2026-02-04
    pages: [1.png]"""
    site.write(FIRST, before)

    result = ids()

    assert (result.exit_code, result.stderr) == (0, "")
    with_ids = before.replace("- number: 1 ", "- id: 10\n    number: 1 ").replace("{number", "{id: 11, number")
    assert text_of(site, FIRST).decode() == with_ids


def test_each_new_id_is_printed(site: Site, ids: Run) -> None:
    """One line for each chapter, in the order of the ids."""
    site.write(FIRST, series(chapter(10), chapter(2, "volume: 3, ")))
    site.write(SECOND, series(chapter("1.5")))
    folder = site.folder / "catalog_src"

    assert ids().output == (
        f"{folder}/series/first.yaml: volume 3, chapter 2: id 1\n"
        f"{folder}/series/first.yaml: chapter 10: id 2\n"
        f"{folder}/series/second.yaml: chapter 1.5: id 3\n"
    )


def test_json_lists_the_new_ids(site: Site, ids: Run) -> None:
    """`--json` has the same content."""
    site.write(FIRST, series(chapter(1, "volume: 3, ")))

    assert json.loads(ids("--json").output) == {
        "ok": True,
        "given": [{"file": "series/first.yaml", "volume": 3, "number": "1", "id": 1}],
    }


def test_a_second_run_changes_nothing(site: Site, ids: Run) -> None:
    """It prints that every chapter has an id."""
    site.write(FIRST, series(chapter(1)))
    ids()
    before = everything(site)

    assert ids().output == f"{site.folder / 'catalog_src'}: every chapter has an id\n"
    assert json.loads(ids("--json").output) == {"ok": True, "given": []}
    assert everything(site) == before


def test_separate_chapter_files_get_ids(site: Site, ids: Run) -> None:
    """Any line ending and a byte order mark are kept."""
    site.write("series/long/series.yaml", "title: Long\ncover: cover.jpg\n")
    chapters = site.folder / "catalog_src/series/long/chapters"
    chapters.mkdir()
    (chapters / "1.yaml").write_bytes(b"\xef\xbb\xbf# one\r\nnumber: 1\r\npublished: 2026-02-02\r\npages: []\r\n")
    (chapters / "2.yaml").write_bytes(b"{number: 2, published: 2026-02-02, pages: []}")

    ids()

    assert (chapters / "1.yaml").read_bytes() == (
        b"\xef\xbb\xbf# one\r\nid: 1\r\nnumber: 1\r\npublished: 2026-02-02\r\npages: []\r\n"
    )
    assert (chapters / "2.yaml").read_bytes() == b"{id: 2, number: 2, published: 2026-02-02, pages: []}"


def test_permissions_and_symbolic_links_are_kept(site: Site, ids: Run) -> None:
    """The edit goes to the target of a link."""
    real = site.folder / "catalog_src/series/.elsewhere.yaml"
    real.write_text(series(chapter(1)))
    real.chmod(0o664)
    link = site.folder / "catalog_src" / SECOND
    link.unlink()
    link.symlink_to(real)

    ids()

    assert link.is_symlink() and ids_in(site, SECOND) == [1]
    assert real.stat().st_mode & 0o777 == 0o664


@pytest.mark.parametrize("empty", ["id: ~, ", "id: null, ", "id: , "])
def test_an_empty_id_is_a_problem(site: Site, ids: Run, run: Run, empty: str) -> None:
    """The author may have meant to write one."""
    site.write(FIRST, series(chapter(1), chapter(2, empty)))
    place = f"{site.folder}/catalog_src/series/first.yaml:6:10: chapters[1].id"
    problem = f"{place}: has no value; remove the line, then `python build.py ids` adds an id\n"

    assert without_help(refused(site, ids)) == f"{problem}1 problem; nothing was written\n"
    assert problem in run("check", "--catalog", site.folder / "catalog_src").stderr


def test_no_file_is_edited_if_one_cannot_be(site: Site, ids: Run) -> None:
    """The message names every chapter of an unusual form, with its line."""
    explicit = "  - ? number\n    : {}\n    published: 2026-02-02\n    pages: []\n"
    site.write(FIRST, series(chapter(1), explicit.format(2)))
    site.write(SECOND, series(explicit.format(1), explicit.format(2)))

    advice = "cannot be edited in this form; write one field per line as `name: value`, or add an id yourself"
    places = ("first.yaml:6:5: chapters[1]", "second.yaml:5:5: chapters[0]", "second.yaml:9:5: chapters[1]")
    lines = "".join(f"{site.folder}/catalog_src/series/{place}: {advice}\n" for place in places)
    assert without_help(refused(site, ids)) == f"{lines}3 problems; nothing was written\n"
