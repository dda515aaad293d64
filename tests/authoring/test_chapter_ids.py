"""`ids`: every chapter gets one, and nothing else in its file changes."""

import json
from collections.abc import Callable

import pytest
from click.testing import Result

from tests.conftest import Site, without_help
from tests.support import author_catalogs
from tests.support.author_catalogs import FIRST, SECOND, Run, chapter, everything, ids_in, series


@pytest.fixture
def ids(site: Site, run: Run) -> Callable[..., Result]:
    """`build.py ids` on the test's site, whose first series is empty."""
    return author_catalogs.giving_ids(site, run)


def text_of(site: Site, file: str) -> bytes:
    return (site.folder / "catalog_src" / file).read_bytes()


def test_chapters_get_ids_where_they_stand(site: Site, ids: Callable[..., Result]) -> None:
    """What people wrote stays as it is, down to comments, white space and the last byte."""
    site.write(
        FIRST,
        """# The first.
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
    pages: [1.png]""",
    )

    result = ids()

    assert (result.exit_code, result.stderr) == (0, "")
    assert text_of(site, FIRST).decode() == (
        """# The first.
title: First
cover: cover.jpg
chapters:    # newest last
  # It begins.
  - id: 10
    number: 1      # one
    published: 2026-02-02
    pages: &blank [1.png]

  -   # soon
      {id: 11, number: 2, published: 2026-02-03, pages: *blank}
  - id: 9
    number: 3
    published: 2026-02-04
    pages: [1.png]"""
    )


def test_what_was_given_is_printed(site: Site, ids: Callable[..., Result]) -> None:
    """Each new id with its file and chapter, in the order in which the ids were given."""
    site.write(FIRST, series(chapter(10), chapter(2, "volume: 3, ")))
    site.write(SECOND, series(chapter("1.5")))
    folder = site.folder / "catalog_src"

    assert ids().output == (
        f"{folder}/series/first.yaml: volume 3, chapter 2: id 1\n"
        f"{folder}/series/first.yaml: chapter 10: id 2\n"
        f"{folder}/series/second.yaml: chapter 1.5: id 3\n"
    )


def test_what_was_given_is_printed_as_json(site: Site, ids: Callable[..., Result]) -> None:
    """Programs are told the same."""
    site.write(FIRST, series(chapter(1, "volume: 3, ")))

    assert json.loads(ids("--json").output) == {
        "ok": True,
        "given": [{"file": "series/first.yaml", "volume": 3, "number": "1", "id": 1}],
    }


def test_a_second_run_has_nothing_to_do(site: Site, ids: Callable[..., Result]) -> None:
    """Nothing is touched when every chapter has an id, and that is said."""
    site.write(FIRST, series(chapter(1)))
    ids()
    before = everything(site)

    assert ids().output == f"{site.folder / 'catalog_src'}: every chapter has an id\n"
    assert json.loads(ids("--json").output) == {"ok": True, "given": []}
    assert everything(site) == before


def test_what_has_ids_can_be_built(site: Site, ids: Callable[..., Result]) -> None:
    """The build asks for ids, `ids` gives them, and the build is content."""
    site.write(FIRST, series(chapter(1)))

    ids()
    site.build()

    assert "/api/v2/chapters/1" in site.manifest.resources


def test_a_chapter_in_a_file_of_its_own_gets_an_id(site: Site, ids: Callable[..., Result]) -> None:
    """Long series are edited file by file, whatever the line endings and byte order marks."""
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


def test_a_file_keeps_its_permissions_and_links_stay_links(site: Site, ids: Callable[..., Result]) -> None:
    """The catalog is people's own: a link goes on pointing at what is edited."""
    real = site.folder / "catalog_src/series/.elsewhere.yaml"
    real.write_text(series(chapter(1)))
    real.chmod(0o664)
    link = site.folder / "catalog_src" / SECOND
    link.unlink()
    link.symlink_to(real)

    ids()

    assert link.is_symlink() and ids_in(site, SECOND) == [1]
    assert real.stat().st_mode & 0o777 == 0o664


def test_a_catalog_with_other_problems_is_not_touched(site: Site, ids: Callable[..., Result]) -> None:
    """All of them are printed, that ids are missing is none, and no file is edited."""
    site.write(FIRST, series(chapter(1)))
    site.write(SECOND, "title: Second\ncover: cover.jpg\nauthors: [Ada Pen]\n")
    before = everything(site)

    result = ids()

    assert (result.exit_code, result.stdout) == (1, "")
    assert without_help(result.stderr) == (
        f"{site.folder}/catalog_src/series/second.yaml:3:11: authors[0]: no author is named Ada Pen; "
        "did you mean Ada Penn?\n1 problem; nothing was written\n"
    )
    assert everything(site) == before


@pytest.mark.parametrize("empty", ["id: ~, ", "id: null, ", "id: , "])
def test_an_empty_id_is_a_problem(site: Site, ids: Callable[..., Result], run: Run, empty: str) -> None:
    """Somebody began to write one; whether it should be there is for them to say."""
    site.write(FIRST, series(chapter(1), chapter(2, empty)))
    before = everything(site)
    problem = (
        f"{site.folder}/catalog_src/series/first.yaml:6:10: chapters[1].id: has no value; "
        "remove the line, then `python build.py ids` adds an id\n"
    )

    assert without_help(ids().stderr) == f"{problem}1 problem; nothing was written\n"
    assert problem in run("check", "--catalog", site.folder / "catalog_src").stderr
    assert everything(site) == before


def test_what_cannot_be_edited_is_named_and_nothing_is_edited(site: Site, ids: Callable[..., Result]) -> None:
    """Either all chapters get their ids or none does."""
    site.write(FIRST, series(chapter(1)))
    site.write(SECOND, series("  - ? number\n    : 1\n    published: 2026-02-02\n    pages: []\n"))
    before = everything(site)

    result = ids()

    assert result.exit_code == 1
    assert result.stderr == (
        f"{site.folder}/catalog_src/series/second.yaml: cannot be edited in this form; write one field per line\n"
    )
    assert everything(site) == before
