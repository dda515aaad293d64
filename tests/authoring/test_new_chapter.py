"""`new chapter`: add the next chapter in the style of the series."""

import json
from pathlib import Path

import pytest

from generator.catalog.yaml import reader
from tests.authoring.conftest import refused
from tests.conftest import AS_OF, Site
from tests.support import author_catalogs, images
from tests.support.author_catalogs import FIRST, SECOND, Run, everything

NOW = "2026-09-21T14:13:20Z"
LONG = "series/long/series.yaml"
GROUPS = "- {id: 1, name: Night Shift}\n- {id: 2, name: Third Breakfast}\n- {id: 3, name: 'Salt, Pepper'}\n"


@pytest.fixture
def new(site: Site, run: Run) -> Run:
    """Run `build.py new chapter` on the test's site, at the time of its build."""
    site.write("groups.yaml", GROUPS)
    site.write(LONG, "title: Long\ncover: c.png\n")
    paths = ("--catalog", site.folder / "catalog_src", "--out", site.folder / "dist")
    return lambda *arguments: run("new", "chapter", *paths, *arguments, SOURCE_DATE_EPOCH=str(AS_OF))


def text(site: Site, file: str) -> str:
    return (site.folder / "catalog_src" / file).read_text(encoding="utf-8")


def last(site: Site, file: str) -> dict[str, object]:
    return reader.load(text(site, file).encode())["chapters"][-1]


def test_a_chapter_is_appended(site: Site, new: Run) -> None:
    """With the next id and number and the current time; the rest of the file does not change."""
    before = text(site, FIRST)
    result = new("first", "--group", "Night Shift", "--group", "2", "--title", "Two: more", "--final")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"{site.folder}/catalog_src/series/first.yaml: chapter 2: id 2, 0 pages\n"
    assert text(site, FIRST) == before + (
        "\n"
        "  - id: 2\n"
        "    number: 2\n"
        '    title: "Two: more"\n'
        f"    published: {NOW}\n"
        "    final: true\n"
        "    groups: [Night Shift, 2]\n"
        "    pages: []\n"
    )


def test_the_first_chapter_gets_number_1(site: Site, new: Run) -> None:
    """`chapters` is added, too."""
    before = text(site, SECOND)
    new("second", "--volume", "3")

    assert text(site, SECOND) == before + (
        f"chapters:\n  - id: 2\n    volume: 3\n    number: 1\n    published: {NOW}\n    pages: []\n"
    )


def test_a_series_folder_gets_a_chapter_file(site: Site, new: Run) -> None:
    """Named by number; the same number in another volume gets another file."""
    assert "chapters/001.yaml: chapter 1: id 2" in new("long").stdout
    assert "chapters/001-2.yaml: volume 2, chapter 1: id 3" in new("long", "--volume", "2", "--number", "1").stdout
    assert "chapters/001-3.yaml: volume 3, chapter 1: id 4" in new("long", "--volume", "3", "--number", "01.0").stdout
    assert "chapters/010.5.yaml: chapter 10.5: id 5" in new("long", "--number", "10.50").stdout
    assert "chapters/1000.yaml: chapter 1000: id 6" in new("long", "--number", "1000").stdout
    assert text(site, "series/long/chapters/010.5.yaml") == (
        "# yaml-language-server: $schema=../../../.schemas/chapter.json\n"
        f"\nid: 5\nnumber: 10.5\npublished: {NOW}\npages: []\n"
    )


def test_a_series_folder_keeps_its_layout(site: Site, new: Run) -> None:
    """Chapters in series.yaml are continued there; otherwise in files."""
    site.write(LONG, author_catalogs.series(author_catalogs.chapter(1, "id: 5, ")))
    assert f"{LONG}: chapter 2: id 6" in new("long").stdout

    site.write("series/long/chapters/3.yaml", "{id: 7, number: 3, published: 2026-02-02, pages: []}")
    assert "series/long/chapters/004.yaml: chapter 4: id 8" in new("long").stdout


def test_a_series_with_the_slug_series_works(site: Site, new: Run) -> None:
    """Its file is not taken for the one of a series folder."""
    site.write("series/series.yaml", "title: S\ncover: c.png\n")

    assert "series/series.yaml: chapter 1: id 2" in new("series").stdout


@pytest.mark.parametrize(
    ("numbers", "following"), [(["1", "2.5"], "3"), (["9", "10", "2"], "11"), (["0"], "1"), (["0.5"], "1")]
)
def test_the_next_number_is_whole(site: Site, new: Run, numbers: list[str], following: str) -> None:
    """One more than the highest, rounded down."""
    chapters = [author_catalogs.chapter(number, f"id: {index}, ") for index, number in enumerate(numbers, 10)]
    site.write(FIRST, author_catalogs.series(*chapters))
    new("first")

    assert str(last(site, FIRST)["number"]) == following


def test_pages_come_from_a_folder(site: Site, new: Run, tmp_path: Path) -> None:
    """As a run if the names form one, otherwise as a list."""
    run = images.folder(tmp_path / "run", *(f"{page:03}.jpg" for page in range(12)))
    odd = images.folder(tmp_path / "odd", "10.jpg", "9 b.jpg", "9-a.jpg", "notes.txt")

    assert new("first", "--pages", run).stdout.endswith("chapter 2: id 2, 12 pages\n")
    assert last(site, FIRST)["pages"] == "000.jpg .. 011.jpg"
    assert new("first", "--pages", odd).stdout.endswith("chapter 3: id 3, 3 pages\n")
    assert last(site, FIRST)["pages"] == ["9 b.jpg", "9-a.jpg", "10.jpg"]


INFO = """<Title>A &lt; B</Title><Number>007.50</Number><Volume>2</Volume><Year>2024</Year><Month>2</Month><Day>29</Day>
<ScanInformation>Salt, Pepper</ScanInformation><Translator>Nobody</Translator>"""


def test_comicinfo_sets_fields(site: Site, new: Run, tmp_path: Path) -> None:
    """Volume, number, title, day and groups."""
    path = images.cbz(tmp_path / "a.cbz", "in/", "in/1.jpg", comicinfo=INFO)

    assert new("first", "--pages", path).stdout.endswith("volume 2, chapter 7.5: id 2, 1 page\n")
    stated = {"volume": 2, "title": "A < B", "published": "2024-02-29T00:00:00Z", "groups": ["Salt, Pepper"]}
    chapter = last(site, FIRST)
    assert str(chapter.pop("number")) == "7.5"
    assert chapter == {"id": 2, "pages": ["1.jpg"], **stated}


def test_options_override_comicinfo(site: Site, new: Run, tmp_path: Path) -> None:
    """Each option by itself."""
    path = images.cbz(tmp_path / "a.cbz", "1.jpg", comicinfo=INFO)
    options = ["--volume", "3", "--number", "9", "--group", "1", "--published", "2026-01-01T02:00:00+02:00"]
    new("first", "--pages", path, *options, "--title", "")

    of_options = {"volume": 3, "number": 9, "title": "", "published": "2026-01-01T00:00:00Z", "groups": [1]}
    assert last(site, FIRST) == {"id": 2, "pages": ["1.jpg"], **of_options}


@pytest.mark.parametrize("day", ["20260501", "2026", "1790000000"])
def test_published_needs_dashes(site: Site, new: Run, day: str) -> None:
    """Digits would be seconds since 1970, and the chapter would be published at once."""
    message = refused(site, new, "first", "--published", day, code=2)

    assert f"'--published': should be a time like 2026-05-01T12:00:00Z, not {day}\n" in message


def test_volume_0_overrides_comicinfo(site: Site, new: Run, tmp_path: Path) -> None:
    """Many programs write the year in which the series began as its volume."""
    archive = images.cbz(tmp_path / "a.cbz", "1.jpg", comicinfo="<Volume>2011</Volume><Number>2</Number>")
    result = new("first", "--pages", archive, "--volume", "0")

    assert result.stdout.endswith(": chapter 2: id 2, 1 page\n")
    assert "volume" not in last(site, FIRST)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["frist"], "no series has the slug frist; did you mean first?"),
        (["nothing-like-it"], "no series has the slug nothing-like-it; `new series` adds one"),
        (["first", "--number", "1", "--volume", "1"], "--number: chapter 1 of volume 1 already exists in line 7; "),
        (["first", "--number", "ten"], "--number: should be digits with at most one decimal point between them, like "),
        (["first", "--number", "9" * 10], "--number: has too many digits; use at most 9 before the decimal point and "),
        (["first", "--group", "Nite Shift"], "--group: no group is named Nite Shift; did you mean Night Shift?\n"),
        (["first", "--group", "1", "--group", "Night Shift"], "--group: is listed twice; remove one of them\n"),
        (
            ["first", "--volume", "-1", "--group", "x", "--title", "a\x1bb"],
            "--volume: should be 1 or more, not -1\n"
            "--title: should be one line without control characters, not 'a\\x1bb'\n"
            "--group: no group is named x; see groups.yaml\n",
        ),
        (["first", "--group", ""], '--group: should be a name or an id, not ""\n'),
    ],
)
def test_invalid_options_are_refused(site: Site, new: Run, arguments: list[str], sentence: str) -> None:
    """The message names the option; nothing is written."""
    assert refused(site, new, *arguments).startswith(sentence)


def test_chapter_of_another_group_may_have_the_number(site: Site, new: Run) -> None:
    """Without a volume. The same groups, by name or id, are refused, since that is a slip."""
    options = ("first", "--number", "8")
    for groups in ([], ["--group", "1"]):
        assert new(*options, *groups).exit_code == 0
    for groups, line in (([], 15), (["--group", "Night Shift"], 20)):
        place = f"in line {line}; choose another number or --group\n"
        message = f"--number: chapter 8 without a volume and of the same groups already exists {place}"
        assert refused(site, new, *options, *groups) == message


@pytest.mark.parametrize(
    ("inside", "sentence"),
    [
        ("<Number>1.MU</Number>", "number: should be digits with at most one decimal point between them, like 10 or "),
        ("<Volume>-3</Volume>", 'volume: should be a whole number, not the text "-3"'),
        ("<Year>2023</Year><Month>2</Month><Day>29</Day>", "published: the day 2023-02-29 does not exist"),
        ("<Translator>Nite Shift</Translator>", "group: no group is named Nite Shift; did you mean Night Shift?"),
        ("<Number>1</Number><Volume>1</Volume>", "number: chapter 1 of volume 1 already exists in line 7; choose "),
        ("<Translator>a\u202eb</Translator>", "group: no group is named a\\u202eb; see groups.yaml"),
    ],
)
def test_invalid_comicinfo_values_are_refused(site: Site, new: Run, tmp_path: Path, inside: str, sentence: str) -> None:
    """The message names the archive and the option that overrides it."""
    path = images.cbz(tmp_path / "a.cbz", "1.jpg", comicinfo=inside)
    field, _, fault = sentence.partition(": ")
    plural = "groups" if field == "group" else field

    message = refused(site, new, "first", "--pages", path)
    assert message.startswith(f"{path}: ComicInfo.xml: {plural} (override it with --{field}): {fault}")


def test_thousands_of_unknown_groups_give_a_short_message(new: Run, tmp_path: Path) -> None:
    """A line for each would hide what is wrong."""
    names = ", ".join(f"unknown {number}" for number in range(5000))
    path = images.cbz(tmp_path / "a.cbz", "1.jpg", comicinfo=f"<Translator>{names}</Translator>")
    lines = new("first", "--pages", path).stderr.splitlines()

    assert len(lines) == 6 and "no group is named unknown 4" in lines[4]
    assert lines[5] == f"{path}: ComicInfo.xml: groups (override it with --group): and more problems like these"


def test_an_invalid_option_is_named_instead_of_comicinfo(new: Run, tmp_path: Path) -> None:
    """If both have a value."""
    path = images.cbz(tmp_path / "a.cbz", "1.jpg", comicinfo=INFO)

    assert new("first", "--pages", path, "--number", "x").stderr.startswith("--number: should be digits")


def test_an_unreadable_comicinfo_is_refused(site: Site, new: Run, tmp_path: Path) -> None:
    """For example with a document type."""
    path = images.cbz(tmp_path / "a.cbz", "1.jpg", comicinfo=b"<!DOCTYPE a><ComicInfo/>")
    message = refused(site, new, "first", "--pages", path)

    assert message == f"{path}: ComicInfo.xml: contains a document type (<!DOCTYPE …>); remove it\n"


def test_invalid_page_names_are_refused(site: Site, new: Run, tmp_path: Path) -> None:
    """File systems allow more names than a catalog."""
    folder = images.folder(tmp_path / "pages", "1.jpg", "a\\b.jpg")
    message = refused(site, new, "first", "--pages", folder)

    assert message.startswith(f"{folder}: should be a file name without a folder, or")


def test_a_list_that_cannot_be_extended_is_not_edited(site: Site, new: Run) -> None:
    """The message names the file."""
    site.write(FIRST, "title: A\ncover: c.png\nchapters: [{id: 1, number: 1, published: 2026-02-02, pages: []}]\n")

    assert refused(site, new, "first").startswith(f"{site.folder}/catalog_src/{FIRST}: cannot be edited in this form")


def test_a_dry_run_prints_a_diff(site: Site, new: Run) -> None:
    """With any line endings; nothing is written."""
    chapter = "- {id: 1, number: 1, published: 2026-02-02, pages: []}"
    site.write(FIRST, f"title: A\r\ncover: c\r\nchapters:\r\n{chapter}")
    before = everything(site)
    result = new("first", "--dry-run")
    file = f"{site.folder}/catalog_src/{FIRST}"

    assert result.stdout == (
        f"--- {file}\n+++ {file}\n@@ -2,3 +2,8 @@\n cover: c\n chapters:\n {chapter}\n"
        f"+\n+- id: 2\n+  number: 2\n+  published: {NOW}\n+  pages: []\n"
    )
    assert result.stderr == f"{file}: chapter 2: id 2, 0 pages; nothing was written\n"
    assert everything(site) == before


def test_json_has_the_same_content(new: Run, tmp_path: Path) -> None:
    """And the names of the pages."""
    pages = images.folder(tmp_path / "pages", "2.jpg", "1.jpg")

    chapter = {"id": 2, "volume": 4, "number": "2", "pages": ["1.jpg", "2.jpg"]}
    result = new("first", "--volume", 4, "--pages", pages, "--json")
    assert json.loads(result.stdout) == {"ok": True, "file": FIRST, **chapter, "written": True}
    failed = json.loads(new("frist", "--json").stdout)
    assert failed["message"] == "no series has the slug frist; did you mean first?"


def test_released_ids_are_not_used_again(site: Site, new: Run) -> None:
    """In a release, or in the manifest of --previous."""
    site.write(FIRST, author_catalogs.series(author_catalogs.chapter(1, "id: 30, ")))
    site.build()
    site.write(FIRST, author_catalogs.series(author_catalogs.chapter(1, "id: 1, ")))
    manifest = site.folder / "kept.json"
    manifest.write_bytes((site.folder / "dist/current/manifest.json").read_bytes())

    assert "id 31," in new("first", "--dry-run").stderr
    elsewhere = ["--out", site.folder / "elsewhere", "--dry-run"]
    assert "id 2," in new("first", *elsewhere).stderr
    assert "id 31," in new("first", *elsewhere, "--previous", manifest).stderr


def test_new_chapters_can_be_built(site: Site, new: Run, tmp_path: Path) -> None:
    """In both layouts, many times, without manual edits."""
    pages = images.cbz(tmp_path / "a.cbz", "1.jpg", "2.jpg", "x.jpg", comicinfo="<Title>- # : {}</Title>")
    for _ in range(3):
        for slug in ("first", "second", "long"):
            assert new(slug, "--pages", pages).exit_code == 0
    site.build()

    assert {f"/api/v2/chapters/{number}" for number in range(1, 11)} <= set(site.manifest.resources)
    assert len(list((site.folder / "catalog_src/series/long/chapters").iterdir())) == 3
