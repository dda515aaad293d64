"""A second import: renames, removals, other slugs, and how conflicts are decided."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.authoring.conftest import refused_import, split_series, write_own_series
from tests.support.fake_site import (
    FakeSite,
    Reply,
    again,
    chapter,
    cubari_chapter,
    edit,
    publish_third_chapter,
    read,
    rename,
    serving,
    small,
    texts,
    withdraw_series,
)
from tests.support.import_project import entities

KEPT = "no longer on the site; kept in the catalog"


@pytest.fixture
def site() -> Iterator[FakeSite]:
    with serving(small()) as site:
        yield site


@pytest.fixture
def catalog(site: FakeSite, tmp_path: Path) -> Path:
    """The catalog that the first import wrote."""
    site.imported(tmp_path)
    return tmp_path / "catalog_src"


def change_slug(site: FakeSite) -> None:
    """Give the series the slug two."""
    for path in ("series/", '"slug":"', "cubari/"):
        rename(site, f"{path}one", f"{path}two")


def remove_chapter(site: FakeSite, index: int) -> None:
    """Remove a chapter from the site; index 0 is chapter 2."""
    del site.answers["/api/v2/series/one/chapters"]["results"][index]
    del site.answers["/api/v1/series/one"]["volumes"]["1"][str(2 - index)]


# Renames


def test_a_rename_changes_all_references_by_name(site: FakeSite, catalog: Path) -> None:
    """Only these words change: comments, order and line breaks stay."""
    edit(catalog, "series/one.yaml", "authors: [Ada]", "authors: [Ada]  # herself")
    edit(catalog, "groups.yaml", "discord: n", "discord: n  # always open")
    before = texts(catalog)
    for old, new in (("Ada", "Ida"), ("Bo", "Bea"), ("Night Shift", "Day Shift"), ("Wren", "Robin")):
        rename(site, f'"{old}"', f'"{new}"')
    rename(site, "Editor: Wren", "Editor: Robin")
    again(site, catalog)

    expected = {}
    for file, text in before.items():
        for old, new in (("Ada", "Ida"), ("Bo", "Bea"), ("Night Shift", "Day Shift"), ("Wren", "Robin")):
            text = text.replace(old, new)
        expected[file] = text
    assert texts(catalog) == expected


def test_references_by_id_are_no_edits_and_stay_after_a_rename(site: FakeSite, catalog: Path) -> None:
    """They mean the same entry as its name, and so does a list in another style."""
    edit(catalog, "series/one.yaml", "authors: [Ada]", "authors: [4]")
    edit(catalog, "series/one.yaml", "categories: [drama]", "categories:\n  - drama")
    edit(catalog, "groups.yaml", "member: Wren", "member: 9")
    done = again(site, catalog)
    assert (done.files, any("conflict" in note for note in done.notes)) == ([], False)
    rename(site, '"Ada"', '"Ida"')

    assert again(site, catalog).files == ["authors.yaml"]


def test_references_to_a_name_that_two_people_have_become_ids(site: FakeSite, catalog: Path) -> None:
    """A new author is called as another one."""
    site.answers["/api/v2/authors"]["results"].append({"id": 8, "name": "Ada"})
    again(site, catalog)

    assert read(catalog, "series/one.yaml")["authors"] == [4]
    assert [person["id"] for person in read(catalog, "authors.yaml")] == [4, 8]


def test_a_list_of_members_that_the_site_changed_has_new_names(site: FakeSite, catalog: Path) -> None:
    """A rename and another role come together."""
    rename(site, '"Wren"', '"Robin"')
    for version in ("v1", "v2"):
        groups = site.answers[f"/api/{version}/groups"]
        (groups if version == "v1" else groups["results"])[0]["members"] = (
            [{"id": 9, "name": "Robin", "roles": ["Letterer"]}] if version == "v1" else ["Letterer: Robin"]
        )
    again(site, catalog)

    assert read(catalog, "groups.yaml")[0]["members"] == [{"member": "Robin", "role": "Letterer"}]


# Other people


def test_an_id_that_both_sides_gave_to_new_people_is_refused(site: FakeSite, catalog: Path) -> None:
    """The last import is known, and has neither. With --theirs, a series of the catalog loses the author."""
    with (catalog / "authors.yaml").open("a") as file:
        file.write("\n- id: 8\n  name: Mona\n")
    (catalog / "series/mine.yaml").write_text("title: Mine\ncover: c.jpg\nauthors: [Ada, Mona]\n")
    site.answers["/api/v2/authors"]["results"].append({"id": 8, "name": "Ed"})

    assert refused_import(site, catalog).splitlines()[:2] == [
        f"{catalog}: ids name other people here than on the site; nothing was written",
        "  authors 8: 'Mona' here, 'Ed' there",
    ]
    again(site, catalog, choice="theirs")
    assert read(catalog, "authors.yaml")[1] == {"id": 8, "name": "Ed"}
    assert read(catalog, "series/mine.yaml")["authors"] == ["Ada"]


def test_theirs_gives_a_chapter_of_the_catalog_another_id(site: FakeSite, catalog: Path) -> None:
    """The chapter of the site keeps its id."""
    write_own_series(catalog, 13)
    publish_third_chapter(site)
    done = again(site, catalog, choice="theirs")

    assert read(catalog, "series/mine.yaml")["chapters"][0]["id"] == 14
    assert [one["id"] for one in read(catalog, "series/one.yaml")["chapters"]] == [11, 12, 13]
    assert "id 13: the site has another chapter with this id; this one gets a new id" in done.notes


# Conflicts


def test_theirs_decides_a_conflict_that_was_shown_before(site: FakeSite, catalog: Path) -> None:
    """In an optional field, too."""
    edit(catalog, "series/one.yaml", "aliases: [Uno]\n", "")
    edit(catalog, "site.yaml", "base_url: https://comics.example", "base_url: https://mine.example")
    for version in ("v1", "v2"):
        site.answers[f"/api/{version}/series/one"]["aliases"] = ["Eins"]
    again(site, catalog)
    assert "aliases" not in read(catalog, "series/one.yaml")
    again(site, catalog, choice="theirs")

    assert read(catalog, "series/one.yaml")["aliases"] == ["Eins"]
    # Only people changed this field: it is no conflict.
    assert read(catalog, "site.yaml")["base_url"] == "https://mine.example"


def test_long_values_of_a_conflict_are_cut(site: FakeSite, catalog: Path) -> None:
    """The end is left out, and a line break is shown as an escape."""
    edit(catalog, "series/one.yaml", "description: About.", "description: Mine.")
    site.answers["/api/v2/series/one"]["description"] = "Line\n" + "x" * 400
    (conflict,) = [note for note in again(site, catalog).notes if "description: conflict" in note]

    assert conflict.startswith("one: description: conflict: 'Mine.' here, 'Line\\nxxx")
    assert conflict.endswith("x… there; kept yours")
    assert len(conflict) < 200


def test_a_volume_that_the_site_removed_is_removed(site: FakeSite, catalog: Path) -> None:
    """The line is removed, and nothing else."""
    before = (catalog / "series/one.yaml").read_text()
    second = site.answers["/api/v2/series/one/chapters"]["results"][0]
    second |= {"volume": None, "full_title": "Ch. 2: Part 2"}
    site.answers["/api/v2/cubari/one"]["chapters"]["12"]["volume"] = "0"
    volumes = site.answers["/api/v1/series/one"]["volumes"]
    volumes["0"] = {"2": volumes["1"].pop("2")}
    again(site, catalog)

    until_volume = before.rpartition("    volume: 1\n")[0]
    assert (catalog / "series/one.yaml").read_text().startswith(f"{until_volume}    number: 2\n    title: Part 2\n")


# Chapters that were made again


def upload_again(site: FakeSite) -> None:
    """Delete chapter 2 on the site, and upload it with another id and title."""
    new = chapter(20, 2.0, title="Again")
    site.answers["/api/v2/series/one/chapters"]["results"][0] = new
    del site.answers["/api/v2/cubari/one"]["chapters"]["12"]
    site.answers["/api/v2/cubari/one"]["chapters"]["20"] = cubari_chapter(new)


def test_a_chapter_that_was_uploaded_again_keeps_edits_of_people(site: FakeSite, catalog: Path) -> None:
    """One conflict for the whole chapter, until an option decides it."""
    edit(catalog, "series/one.yaml", "title: Part 2", "title: Second part")
    upload_again(site)
    conflict = "one chapter 2: edited here, and made again on the site: conflict: id: 12 here, 20 there; kept yours"
    for _ in range(2):
        assert conflict in again(site, catalog).notes
        assert read(catalog, "series/one.yaml")["chapters"][1]["id"] == 12
    again(site, catalog, choice="theirs")

    second = read(catalog, "series/one.yaml")["chapters"][1]
    assert (second["id"], second["title"]) == (20, "Again")


def test_mine_decides_about_a_chapter_that_was_uploaded_again(site: FakeSite, catalog: Path) -> None:
    """It keeps its id, and gets what the site changes afterwards."""
    edit(catalog, "series/one.yaml", "title: Part 2", "title: Second part")
    upload_again(site)
    again(site, catalog)
    for choice in ("mine", "", "theirs"):
        done = again(site, catalog, choice=choice)
        assert (done.files, [note for note in done.notes if "conflict" in note]) == ([], [])
    site.answers["/api/v2/series/one/chapters"]["results"][0]["views"] = 8
    again(site, catalog)

    second = read(catalog, "series/one.yaml")["chapters"][1]
    assert (second["id"], second["title"], second["views"]) == (12, "Second part", 8)


def test_a_field_of_a_chapter_that_was_uploaded_again_is_noted_until_it_is_edited(
    site: FakeSite, catalog: Path
) -> None:
    """The chapter has another id at the next import."""
    edit(catalog, "series/one.yaml", "title: Part 2", "title: &title Part 2")
    with (catalog / "series/one.yaml").open("a") as file:
        file.write("\n  - {number: 9, title: *title, published: 2026-01-01, pages: []}\n")
    upload_again(site)
    note = "series/one.yaml: chapters[1].title: cannot be edited automatically; change it to title: Again"
    for _ in range(2):
        assert note in again(site, catalog).notes
        second = read(catalog, "series/one.yaml")["chapters"][1]
        assert (second["id"], second["title"]) == (20, "Part 2")
    edit(catalog, "series/one.yaml", "title: &title Part 2", "title: &title Again")
    assert note not in again(site, catalog).notes


def test_a_conflict_stays_undecided_when_the_site_shows_ids(site: FakeSite, catalog: Path) -> None:
    """The last import has the chapters by their numbers."""
    shown, right = small(), site.answers
    shutil.rmtree(catalog.parent)
    site.answers = {path: value for path, value in shown.items() if path.startswith("/api/v1")}
    site.imported(catalog.parent)
    edit(catalog, "series/one.yaml", "title: Part 2", "title: Second part")
    right["/api/v2/series/one/chapters"]["results"][0]["title"] = "The second"
    site.answers = right
    for _ in range(2):
        conflict = "one chapter 2: title: conflict: 'Second part' here, 'The second' there; kept yours"
        assert conflict in again(site, catalog).notes


def test_an_id_that_was_edited_here_is_kept(site: FakeSite, catalog: Path) -> None:
    """The site did not change it, so it is no conflict. Its chapter gets what the site changes."""
    edit(catalog, "series/one.yaml", "  - id: 12\n", "  - id: 50\n")
    for choice in ("", "theirs"):
        done = again(site, catalog, choice=choice)
        assert (done.files, [note for note in done.notes if "conflict" in note]) == ([], [])
    site.answers["/api/v2/series/one/chapters"]["results"][0]["views"] = 8
    again(site, catalog)

    second = read(catalog, "series/one.yaml")["chapters"][1]
    assert (second["id"], second["views"]) == (50, 8)
    assert again(site, catalog).files == []


def test_facts_about_a_series_stay_unless_the_site_changes_them(site: FakeSite, catalog: Path) -> None:
    """The original service states none of them, and another site of this program states them all."""
    ours = {"kind": "manga", "rating": "safe", "language": "ja", "links": {"anilist": 5, "mal": 6}}
    text = (catalog / "series/one.yaml").read_text()
    written = "kind: manga\nrating: safe\nlanguage: ja\nlinks: {anilist: 5, mal: 6}\n"
    edit(catalog, "series/one.yaml", text, text + written)
    stated = site.answers["/api/v2/series/one"]
    silent = again(site, catalog)
    after_silence = read(catalog, "series/one.yaml")
    stated |= {"kind": None, "rating": None, "language": None, "links": {}}
    empty = again(site, catalog)
    stated |= {**ours, "rating": "explicit", "links": {"anilist": 7, "mangadex": "x"}}
    conflict = again(site, catalog)
    again(site, catalog, choice="theirs")
    theirs = read(catalog, "series/one.yaml")
    stated |= {"links": {"anilist": "7", "official": "javascript:alert(1)"}, "rating": "adult"}
    wrong = again(site, catalog)

    assert (silent.files, empty.files, conflict.files, wrong.files) == ([], [], [], [])
    assert after_silence == {**after_silence, **ours}
    assert [note for note in conflict.notes if "conflict: " in note and " here, " in note] == [
        "one: rating: conflict: 'safe' here, 'explicit' there; kept yours",
        "one: links: conflict: {'anilist': 5, 'mal': 6} here, {'anilist': 7} there; kept yours",
    ]
    assert theirs == {**after_silence, "rating": "explicit", "links": {"anilist": 7}}
    assert "one: rating should be safe, suggestive or explicit, not adult; field skipped" in wrong.notes


def test_a_chapter_that_is_not_of_an_import_differs(site: FakeSite, catalog: Path) -> None:
    """Without the last import, another id of the same number is a difference."""
    shutil.rmtree(catalog.parent / "cache")
    upload_again(site)
    assert "one chapter 2: id: 12 here, 20 there" in refused_import(site, catalog)


# Removals


def test_remove_removes_what_the_site_removed(site: FakeSite, catalog: Path) -> None:
    """Entries of lists and chapters; without the option, the report names it."""
    edit(catalog, "authors.yaml", "- id: 4", "# The first.\n- id: 4")
    site.answers["/api/v2/authors"]["results"].append({"id": 8, "name": "Ed"})
    again(site, catalog)
    site.answers["/api/v2/authors"]["results"].pop()
    remove_chapter(site, 1)
    result = again(site, catalog)
    assert f"authors 8, one chapter 11: {KEPT}" in result.notes
    assert any("--remove" in line for line in result.summary)
    done = again(site, catalog, removes=True)

    assert done.counts["removed"] == 2
    assert (catalog / "authors.yaml").read_text().endswith("# The first.\n- id: 4\n  name: Ada\n  aliases: [A.]\n")
    assert [one["id"] for one in read(catalog, "series/one.yaml")["chapters"]] == [12]
    assert not any("no longer" in note for note in done.notes)


def test_remove_removes_all_chapters_of_a_series(site: FakeSite, catalog: Path) -> None:
    """The field goes with its last item."""
    site.answers["/api/v2/series/one/chapters"]["results"] = []
    site.answers["/api/v1/series/one"]["volumes"] = {}
    again(site, catalog, removes=True)

    assert "chapters" not in read(catalog, "series/one.yaml")


@pytest.mark.parametrize("is_folder", [False, True])
def test_remove_removes_a_series_and_its_bookmarks(is_folder: bool, site: FakeSite, catalog: Path) -> None:
    """All of its files."""
    (catalog / "accounts.yaml").write_text("- username: reader\n  bookmarks: [one, mine]  # both\n")
    (catalog / "series/mine.yaml").write_text("title: Mine\ncover: c.jpg\n")
    if is_folder:
        split_series(catalog)
    withdraw_series(site)
    again(site, catalog, removes=True)

    assert [path.name for path in (catalog / "series").iterdir()] == ["mine.yaml"]
    assert (catalog / "accounts.yaml").read_text() == "- username: reader\n  bookmarks: [mine]  # both\n"


def test_remove_removes_the_file_of_a_chapter(site: FakeSite, catalog: Path) -> None:
    """The series stays, and its bookmarks."""
    (catalog / "accounts.yaml").write_text("- username: reader\n  bookmarks: [one]\n")
    split_series(catalog)
    remove_chapter(site, 0)
    again(site, catalog, removes=True)

    assert [path.name for path in (catalog / "series/one/chapters").iterdir()] == ["a.yaml"]
    assert read(catalog, "accounts.yaml")[0]["bookmarks"] == ["one"]


def test_edited_entries_are_removed_with_theirs_only(site: FakeSite, catalog: Path) -> None:
    """An edit of people is not lost."""
    edit(catalog, "series/one.yaml", "title: Part 2", "title: Second part")
    withdraw_series(site)
    assert f"series one: {KEPT}" in again(site, catalog, removes=True).notes
    again(site, catalog, removes=True, choice="theirs")

    assert not (catalog / "series/one.yaml").exists()


def test_an_entry_that_cannot_be_removed_automatically_is_noted(site: FakeSite, catalog: Path) -> None:
    """A list in brackets has no line for each item."""
    site.answers["/api/v2/authors"]["results"].append({"id": 8, "name": "Ed"})
    again(site, catalog)
    (catalog / "authors.yaml").write_text("[{id: 4, name: Ada, aliases: [A.]}, {id: 8, name: Ed}]\n")
    site.answers["/api/v2/authors"]["results"].pop()

    done = again(site, catalog, removes=True)
    assert "authors.yaml: [1]: cannot be removed automatically; remove it" in done.notes
    assert done.counts["removed"] == 0


def test_values_that_only_version_1_showed_are_no_edits_of_people(site: FakeSite, catalog: Path) -> None:
    """The chapter has id and views at some imports and neither at others; it is the same one, and keeps both."""
    chapters, old = site.answers["/api/v2/series/one/chapters"], site.answers["/api/v1/series/one"]["volumes"]["1"]["2"]
    chapters["results"][0]["views"] = 5
    again(site, catalog)
    for title in ("Second", "The second", "Part 2", "Third", "Part 2"):
        hidden = title != "Part 2"
        site.answers["/api/v2/series/one"]["licensed"] = hidden
        site.answers["/api/v2/series/one/chapters"] = Reply(451, b"{}") if hidden else chapters
        old["title"] = title
        done = again(site, catalog, removes=True)
        assert not any("conflict" in note or "no longer" in note for note in done.notes)
        first, second = read(catalog, "series/one.yaml")["chapters"]
        assert (first["id"], first["views"]) == (11, 3)
        assert (second["id"], second["views"], second["title"]) == (12, 5, title)


# Slugs


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_changed_slug_renames_the_files(is_folder: bool, site: FakeSite, catalog: Path) -> None:
    """Edits stay, bookmarks follow, and the old slug is kept in `formerly`."""
    (catalog / "accounts.yaml").write_text("- username: reader\n  bookmarks: [one]\n")
    edit(catalog, "series/one.yaml", "title: One\n", "title: Uno  # ours\nformerly: [zero]\n")
    if is_folder:
        split_series(catalog)
    before = texts(catalog)
    change_slug(site)
    third = chapter(13, 3.0) | {"series": "two"}
    site.answers["/api/v2/series/two/chapters"]["results"].insert(0, third)
    done = again(site, catalog)

    assert done.counts["renamed"] == 1
    assert "one: has the slug two now; its file is renamed" in done.notes
    main = "series/two/series.yaml" if is_folder else "series/two.yaml"
    assert not (catalog / "series/one").exists() and not (catalog / "series/one.yaml").exists()
    assert "\ntitle: Uno  # ours\nformerly: [zero, one]\n" in (catalog / main).read_text()
    assert read(catalog, "accounts.yaml")[0]["bookmarks"] == ["two"]
    if is_folder:
        names = sorted(path.name for path in (catalog / "series/two/chapters").iterdir())
        assert names == ["003-part-3.yaml", "a.yaml", "b.yaml"]
        assert (catalog / "series/two/chapters/a.yaml").read_text() == before["series/one/chapters/a.yaml"]
    assert again(site, catalog).files == []


def test_old_slugs_that_cannot_be_edited_are_noted(site: FakeSite, catalog: Path) -> None:
    """The series is renamed all the same."""
    edit(catalog, "series/one.yaml", "aliases: [Uno]\n", "formerly: &x [Uno]\naliases: *x\n")
    change_slug(site)
    note = "series/one.yaml: formerly: cannot be edited automatically; change it to formerly: [Uno, one]"

    assert note in again(site, catalog).notes
    assert (catalog / "series/two.yaml").exists()


def test_a_series_that_was_renamed_here_keeps_its_slug(site: FakeSite, catalog: Path) -> None:
    """It gets what is new on the site, again and again, also without the last import."""
    (catalog / "accounts.yaml").write_text("- username: reader\n  bookmarks: [own]\n")
    (catalog / "series/one.yaml").rename(catalog / "series/own.yaml")
    edit(catalog, "series/own.yaml", "title: One\n", "title: One\nformerly: [one]\n")
    for number in (13, 14):
        third = chapter(number, float(number)) | {"series": "one"}
        site.answers["/api/v2/series/one/chapters"]["results"].insert(0, third)
        site.answers["/api/v2/series/one"]["title"] = f"Title {number}"
        done = again(site, catalog)
        assert not any("not added again" in note or "conflict" in note for note in done.notes), done.notes
        series = read(catalog, "series/own.yaml")
        assert (series["title"], series["formerly"]) == (f"Title {number}", ["one"])
        assert [one["id"] for one in series["chapters"]] == [11, 12, *range(13, number + 1)]
    assert again(site, catalog).files == []
    shutil.rmtree(catalog.parent / "cache")
    again(site, catalog, choice="mine")
    assert [path.name for path in (catalog / "series").iterdir()] == ["own.yaml"]
    # It is the same series as long as a chapter or the title is.
    site.answers["/api/v2/series/one/chapters"]["results"] = [chapter(99, 1.0) | {"series": "one"}]
    again(site, catalog)
    assert (series_ids(catalog, "own")[0], read(catalog, "series/own.yaml")["formerly"]) == (99, ["one"])


def test_another_series_of_the_site_takes_over_the_slug_of_one_that_was_renamed_here(
    site: FakeSite, tmp_path: Path
) -> None:
    """The old slug can be of one series only. The other one gets nothing of it."""
    catalog = published(site, tmp_path, one=11)
    (catalog / "accounts.yaml").write_text("- username: reader\n  bookmarks: [own]\n")
    (catalog / "series/one.yaml").rename(catalog / "series/own.yaml")
    edit(catalog, "series/own.yaml", "title: Series 11\n", "title: Series 11\nformerly: [zero, one]\n")
    publish(site, one=91)
    done = again(site, catalog)

    assert "own: the site has another series with its old slug one; removed from formerly" in done.notes
    assert f"series own: {KEPT}" in done.notes
    assert (series_ids(catalog, "own"), series_ids(catalog, "one")) == ([11, 12], [91, 92])
    assert read(catalog, "series/own.yaml")["formerly"] == ["zero"]
    assert read(catalog, "accounts.yaml")[0]["bookmarks"] == ["own"]
    assert again(site, catalog).files == []


def series_ids(catalog: Path, slug: str) -> list[int]:
    return [chapter["id"] for chapter in read(catalog, f"series/{slug}.yaml")["chapters"]]


def test_a_series_that_was_renamed_on_both_sides_is_one(site: FakeSite, catalog: Path) -> None:
    """With the slug of the site."""
    (catalog / "series/one.yaml").rename(catalog / "series/own.yaml")
    edit(catalog, "series/own.yaml", "title: One\n", "title: One\nformerly: [one]\n")
    change_slug(site)
    again(site, catalog)
    series = read(catalog, "series/two.yaml")

    assert [path.name for path in (catalog / "series").iterdir()] == ["two.yaml"]
    assert (series["formerly"], [one["id"] for one in series["chapters"]]) == (["one", "own"], [11, 12])


def test_an_own_series_with_the_id_of_another_chapter_keeps_its_slug(site: FakeSite, tmp_path: Path) -> None:
    """Without the last import, an id alone shows nothing."""
    catalog = tmp_path / "catalog_src"
    (catalog / "series").mkdir(parents=True)
    (catalog / "site.yaml").write_text("base_url: https://comics.example\n")
    write_own_series(catalog, 11)
    assert "one 11: another chapter of the catalog has its id" in refused_import(site, catalog)
    again(site, catalog, choice="mine")

    assert "id" not in read(catalog, "series/one.yaml")["chapters"][0]


def publish(site: FakeSite, **series: int | list[int]) -> None:
    """Let version 2 alone show these series, with the ids of their chapters, or of two from a number on."""
    new = {path: value for path, value in small().items() if path.startswith("/api/v2")}
    detail = new["/api/v2/series/one"]
    site.answers = {path: value for path, value in new.items() if "one" not in path}
    site.answers["/api/v2/series"] = {"results": [{"slug": slug} for slug in series]}
    for slug, given in series.items():
        ids = [given, given + 1] if isinstance(given, int) else given
        chapters = [chapter(id, float(number), series=slug) for number, id in enumerate(ids, 1)][::-1]
        shown = {"title": f"Series {ids[0]}", "cover": f"https://comics.example/media/series/{slug}/cover.jpg"}
        site.answers[f"/api/v2/series/{slug}"] = {**detail, **shown}
        site.answers[f"/api/v2/series/{slug}/chapters"] = {"results": chapters}


def published(site: FakeSite, folder: Path, **series: int | list[int]) -> Path:
    """The catalog after a first import of these series."""
    publish(site, **series)
    site.imported(folder)
    return folder / "catalog_src"


@pytest.mark.parametrize(
    ("slugs", "formerly"),
    [
        ({"two": 11, "one": 21}, {}),
        ({"two": 11, "three": 21}, {"two": ["one"]}),
        ({"two": 11, "three": 21, "one": 31}, {}),
        ({"ONE": 11, "two": 21}, {}),
    ],
)
@pytest.mark.parametrize("is_folder", [False, True])
def test_series_that_take_over_slugs_keep_their_chapters(
    is_folder: bool, slugs: dict[str, int], formerly: dict[str, list[str]], site: FakeSite, tmp_path: Path
) -> None:
    """They are recognised by the ids of chapters. A slug in use is no old slug."""
    catalog = published(site, tmp_path, one=11, two=21)
    edit(catalog, "series/one.yaml", "description: About.", "description: Ours.")
    if is_folder:
        split_series(catalog)
    publish(site, **slugs)
    done = again(site, catalog)

    records = entities(catalog)
    chapters = {slug: [id for other, id in records["chapters"] if other == slug] for slug in slugs}
    assert len(records["chapters"]) == 2 * len(slugs) and chapters == {slug: [id, id + 1] for slug, id in slugs.items()}
    shown = {slug: (series["title"], series["description"]) for slug, series in records["series"].items()}
    assert shown == {slug: (f"Series {id}", "Ours." if id == 11 else "About.") for slug, id in slugs.items()}
    assert {slug: series["formerly"] for slug, series in records["series"].items() if series["formerly"]} == formerly
    assert not [note for note in done.notes if "conflict" in note or "kept in" in note]
    assert again(site, catalog).files == []


@pytest.mark.parametrize(
    ("new", "without_id"),
    [
        # One of them was uploaded again, and got a chapter of the other one.
        ({"one": [20, 24], "two": [22, 23]}, ["one"]),
        # A chapter became a series, and the rest of its series was uploaded again.
        ({"one": [20, 19], "two": [22, 23, 24], "side": [11]}, ["side"]),
    ],
)
def test_a_chapter_that_moves_takes_no_series_along(
    new: dict[str, list[int]], without_id: list[str], site: FakeSite, tmp_path: Path
) -> None:
    catalog = published(site, tmp_path, one=[11], two=[22, 23, 24])
    edit(catalog, "series/one.yaml", "description: About.", "description: Ours.")
    publish(site, **new)
    site.answers["/api/v2/series/one"]["title"] = "Series 11"
    again(site, catalog)

    series = {slug: read(catalog, f"series/{slug}.yaml") for slug in new}
    assert series["one"]["description"] == "Ours."
    assert [slug for slug in new if not all("id" in chapter for chapter in series[slug]["chapters"])] == without_id


def test_a_slug_that_was_removed_here_may_be_passed_on(site: FakeSite, tmp_path: Path) -> None:
    catalog = published(site, tmp_path, one=11, two=21)
    (catalog / "series/two.yaml").unlink()
    publish(site, two=11)
    again(site, catalog, removes=True)

    assert read(catalog, "series/two.yaml")["formerly"] == ["one"]
    assert again(site, catalog, removes=True).files == []


def test_a_slug_that_another_series_of_the_catalog_has_is_refused(site: FakeSite, tmp_path: Path) -> None:
    """The series with that slug is no longer on the site, but in the catalog."""
    catalog = published(site, tmp_path, one=11, two=21)
    publish(site, two=11)
    assert "two: the site has chapters of one under this slug, and none of this" in refused_import(site, catalog)

    (catalog / "series/two.yaml").rename(catalog / "series/three.yaml")
    (catalog / "series/one.yaml").rename(catalog / "series/two.yaml")
    assert again(site, catalog).files == []


# The last import


def test_without_the_last_import_a_changed_slug_is_refused(site: FakeSite, catalog: Path) -> None:
    """With --theirs, the series is recognised by the ids and times of its chapters."""
    shutil.rmtree(catalog.parent / "cache")
    change_slug(site)
    assert "one: has the slug two on the site" in refused_import(site, catalog)
    again(site, catalog, choice="theirs")

    assert read(catalog, "series/two.yaml")["formerly"] == ["one"]


def test_without_the_last_import_a_missing_series_is_refused(site: FakeSite, catalog: Path) -> None:
    """It may be new on the site, or removed here."""
    site.answers["/api/v2/series"]["results"].append({"slug": "two"})
    site.answers["/api/v2/series/two"] = site.answers["/api/v2/series/one"]
    shutil.rmtree(catalog.parent / "cache")
    assert "two: on the site, not here" in refused_import(site, catalog)
    again(site, catalog, choice="mine")

    assert (catalog / "series/two.yaml").exists()


def test_the_last_import_of_another_catalog_is_not_used(site: FakeSite, catalog: Path) -> None:
    """A new catalog at the same place has other series."""
    shutil.rmtree(catalog)
    (catalog / "series").mkdir(parents=True)
    (catalog / "site.yaml").write_text("base_url: https://comics.example\n")
    (catalog / "authors.yaml").write_text("- {id: 4, name: Mona}\n")
    (catalog / "series/mine.yaml").write_text("title: Mine\ncover: c.jpg\nauthors: [Mona]\n")

    assert "authors 4: 'Mona' here, 'Ada' there" in refused_import(site, catalog)
