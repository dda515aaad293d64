"""Incomplete, wrong and hostile sources: each value becomes a valid record or a note."""

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from generator.errors import FlatpanelError
from generator.imports.site import chapter_titles
from generator.reading_sites import crawl, image_paths, lenient
from tests.authoring.conftest import read_import as read
from tests.conftest import AS_OF
from tests.support import linked_catalog
from tests.support.fake_site import Reply, chapter, cubari_chapter, imported, old_chapter, serving, small
from tests.support.runs import sample

Answers = dict[str, Any]


def only_old(answers: Answers, version: str = "/api/v1") -> Answers:
    kept = {path: value for path, value in answers.items() if path.startswith("/api/v1")}
    return {path.replace("/api/v1", version): value for path, value in kept.items()}


def test_versions_1_and_2_complete_each_other(tmp_path: Path) -> None:
    """Ids and views come from version 2, aliases and ids of categories from version 1."""
    imported(small(), tmp_path)

    assert read(tmp_path, "site.yaml") == {"base_url": "https://comics.example"}
    assert read(tmp_path, "authors.yaml") == [{"id": 4, "name": "Ada", "aliases": ["A."]}]
    assert read(tmp_path, "categories.yaml") == [{"id": "drama", "name": "Drama", "description": "Sad."}]
    assert read(tmp_path, "members.yaml") == [{"id": 9, "name": "Wren", "irc": "w"}]
    assert read(tmp_path, "groups.yaml") == [
        {"id": 2, "name": "Night Shift", "discord": "n", "members": [{"member": "Wren", "role": "Editor"}]}
    ]
    assert (tmp_path / "catalog_src/series/one.yaml").read_text() == (
        "# yaml-language-server: $schema=../.schemas/series.json\n\n"
        "title: One\naliases: [Uno]\ndescription: About.\nauthors: [Ada]\nartists: [Bo]\ncategories: [drama]\n"
        "status: hiatus\ncover: cover.jpg\n\nchapters:\n"
        "  - id: 11\n    volume: 1\n    number: 1\n    title: Part 1\n    published: 2026-01-01T00:00:00Z\n"
        "    groups: [Night Shift]\n    pages: 1.png .. 3.png\n    views: 3\n    modified: 2026-01-01T00:00:00Z\n\n"
        "  - id: 12\n    volume: 1\n    number: 2\n    title: Part 2\n    published: 2026-01-01T00:00:00Z\n"
        "    groups: [Night Shift]\n    pages: 1.png .. 3.png\n    modified: 2026-01-01T00:00:00Z\n"
    )
    assert (tmp_path / "catalog_src/.schemas/series.json").is_file()


@pytest.mark.parametrize("version", ["/api/v1", "/api"])
def test_older_versions_alone_can_be_imported(version: str, tmp_path: Path) -> None:
    """Chapter ids and views are missing, and a note says so."""
    done = imported(only_old(small(), version), tmp_path)
    series = read(tmp_path, "series/one.yaml")

    assert "version 2 is not available: chapter ids, views, licenses and most members are unknown" in done.notes
    assert "one: status: only completed or not is known, not hiatus or canceled" in done.notes
    assert [one.get("id") for one in series["chapters"]] == [None, None]
    assert [one.get("final") for one in series["chapters"]] == [None, True]
    assert series["authors"] == ["Ada"]


def test_version_2_alone_can_be_imported(tmp_path: Path) -> None:
    """Ids of categories are made from their names."""
    done = imported({path: value for path, value in small().items() if "/v1/" not in path}, tmp_path)

    assert read(tmp_path, "categories.yaml") == [{"id": "drama", "name": "Drama", "description": "Sad."}]
    assert "Drama: id of the category unknown; made from its name" in done.notes
    assert read(tmp_path, "series/one.yaml")["chapters"][0]["pages"] == "1.png .. 3.png"
    assert any(note.startswith("no older version is available") for note in done.notes)
    address = read(tmp_path, "site.yaml")["base_url"]
    assert re.fullmatch("http://127.0.0.1:[0-9]+", address)
    note = f"base_url is {address}, the URL of the import, because no response has a URL of the site: check it"
    assert any(note in line for line in done.notes)


def test_unknown_chapter_fields_are_noted(tmp_path: Path) -> None:
    """Groups and final."""
    answers = only_old(small())
    for old in answers["/api/v1/series/one"]["volumes"]["1"].values():
        del old["groups"], old["final"]
    done = imported(answers, tmp_path)

    assert {f"one: {name}: unknown for some chapters" for name in ("final", "groups")} < set(done.notes)


def test_the_oldest_version_has_file_names(tmp_path: Path) -> None:
    """Its pages have no URLs; they are assumed to be in the chapter's media folder."""
    answers = only_old(small(), "/api")
    oldest = {"title": "A", "pages": ["a%20b.png"], "date": "Thu, 01 Jan 2026 00:00:00 GMT"}
    answers["/api/series/one"]["volumes"] = {"0": {"1": oldest}}
    imported(answers, tmp_path)

    assert read(tmp_path, "series/one.yaml")["chapters"][0]["pages"] == ["a b.png"]


def change(path: str, how: Callable[[Any], object]) -> Answers:
    answers = small()
    how(answers[path])
    return answers


@pytest.mark.parametrize("word", ["None", "null"])
def test_none_and_null_are_no_volume(word: str, tmp_path: Path) -> None:
    """The original service writes them as text."""
    answers = small()
    answers["/api/v2/series/one/chapters"]["results"] = [chapter(12, 2.0, volume=None)]
    answers["/api/v2/cubari/one"]["chapters"]["12"]["volume"] = word
    answers["/api/v1/series/one"]["volumes"] = {word: {"2": {**old_chapter("2"), "groups": []}}}
    done = imported(answers, tmp_path)
    (written,) = read(tmp_path, "series/one.yaml")["chapters"]

    assert (written["id"], "volume" in written, written["groups"]) == (12, False, ["Night Shift"])
    assert "one: volume None or null is imported as no volume" in done.notes
    assert "one: the Cubari JSON has None or null as a volume" in done.notes


def test_artists_listed_as_authors_are_detected(tmp_path: Path) -> None:
    """Version 2 has the authors; without it, the list of authors has their series."""
    answers = small()
    answers["/api/v1/series/one"]["authors"] = [["Bo"]]
    answers["/api/v1/authors"] += [{"id": 5, "name": "Cy", "aliases": [], "series": []}]

    done = imported(answers, tmp_path / "both")
    assert read(tmp_path / "both", "series/one.yaml")["authors"] == ["Ada"]
    assert "one: the older versions name other authors than version 2, which is used" in done.notes
    assert "authors: the older versions name other people than version 2, which is used" in done.notes

    done = imported(only_old(answers), tmp_path / "old")
    assert read(tmp_path / "old", "series/one.yaml")["authors"] == ["Ada"]
    assert "one: the listed authors are artists; the series lists of the authors are used" in done.notes


def test_future_chapters_are_imported_as_scheduled(tmp_path: Path) -> None:
    """The next build does not publish them."""
    answers = small()
    answers["/api/v2/series/one/chapters"]["results"].append(chapter(13, 3.0, published="2026-12-24T00:00:00Z"))
    done = imported(answers, tmp_path)
    catalog = linked_catalog.read_catalog(tmp_path / "catalog_src", AS_OF)

    assert ("one: contains scheduled chapters; they are imported, and appear at their time") in done.notes
    assert [one.id for one in catalog.series[0].identified_chapters] == [11, 12]  # type: ignore[attr-defined]
    assert read(tmp_path, "series/one.yaml")["chapters"][2]["id"] == 13


def test_rounded_numbers_are_matched_with_version_2(tmp_path: Path) -> None:
    """1234.5678 is 1234.57 in the older versions."""
    answers = small()
    answers["/api/v2/series/one/chapters"]["results"] = [chapter(12, 1234.5678)]
    answers["/api/v1/series/one"]["volumes"] = {"1": {"1234.57": {**old_chapter("2"), "pages_list": []}}}
    del answers["/api/v2/cubari/one"]
    done = imported(answers, tmp_path)
    (written,) = read(tmp_path, "series/one.yaml")["chapters"]

    assert (str(written["number"]), written["pages"], written["id"]) == ("1234.5678", [], 12)
    assert "one: the older versions round numbers to 6 digits; version 2 is used" in done.notes


def test_possibly_rounded_numbers_are_noted(tmp_path: Path) -> None:
    """The digits after the sixth are lost; 1e+06 is a million."""
    answers = only_old(small())
    answers["/api/v1/series/one"]["volumes"] = {"1": {"1234.57": old_chapter("1"), "1e+06": old_chapter("2")}}
    done = imported(answers, tmp_path)

    assert [str(one["number"]) for one in read(tmp_path, "series/one.yaml")["chapters"]] == ["1234.57", "1000000"]
    assert "one: chapter 1234.57 may be rounded by the site" in done.notes


def test_pages_are_sorted_by_number(tmp_path: Path) -> None:
    """A number may be written as 10 or 10.0."""
    answers = {path: value for path, value in small().items() if "/v1/" not in path and "cubari" not in path}
    root = "https://comics.example/media/series/one/1/1/"
    pages = [{"number": 10.0, "image": f"{root}j.png"}, {"number": 2.0, "image": f"{root}b.png"}, {"number": "x"}]
    answers["/api/v2/chapters/11/pages"] = {"results": pages[:2]}
    done = imported(answers, tmp_path)
    first, second = read(tmp_path, "series/one.yaml")["chapters"]

    assert (first["pages"], second["pages"]) == (["b.png", "j.png"], [])
    assert "one: pages: unknown for some chapters" in done.notes


@pytest.mark.parametrize("slug", ["../../etc/passwd", "..", "a/b", "", None, 7, "x" * 201, "süß", "a\n"])
def test_invalid_slugs_are_skipped(slug: object, tmp_path: Path) -> None:
    """No slug becomes a path outside the catalog."""
    answers = change("/api/v2/series", lambda found: found["results"].append({"slug": slug, "title": "X"}))
    done = imported(answers, tmp_path / "inside")

    assert any("invalid slug; series skipped" in note for note in done.notes)
    assert [one.name for one in (tmp_path / "inside/catalog_src/series").iterdir()] == ["one.yaml"]
    assert sorted(one.name for one in tmp_path.rglob("*.yaml")) == sorted(Path(one).name for one in done.files)


def test_slugs_that_differ_only_in_case_are_skipped(tmp_path: Path) -> None:
    """The first is kept."""
    answers = change("/api/v1/series", lambda found: found.append({"slug": "ONE", "title": "X"}))

    assert "ONE: differs from one only in case; series skipped" in imported(answers, tmp_path).notes


V2, CHAPTERS, OLD = "/api/v2/series/one", "/api/v2/series/one/chapters", "/api/v1/series/one"


def with_chapters(*listed: Any) -> Answers:
    """Replace the chapters of version 2."""
    return change(CHAPTERS, lambda one: one.update(results=listed))


def change_pages(**pages: object) -> Answers:
    """Change the pages of a chapter in version 1, without the Cubari JSON, whose pages would be used."""
    answers = change(OLD, lambda one: one["volumes"]["1"]["1"].update(pages))
    del answers["/api/v2/cubari/one"]
    return answers


def test_pages_come_from_version_2(tmp_path: Path) -> None:
    """The older versions may show other pages: the original service makes them from the path of the chapter."""
    imported(change(OLD, lambda one: one["volumes"]["1"]["1"].update(pages_list=["9.png"])), tmp_path)

    assert read(tmp_path, "series/one.yaml")["chapters"][0]["pages"] == "1.png .. 3.png"


@pytest.mark.parametrize(
    ("answers", "note"),
    [
        (change(V2, lambda one: one.update(title=7)), None),
        (change(V2, lambda one: one.update(aliases="no list")), None),
        (change(V2, lambda one: one.update(aliases=["a", 7, ""])), None),
        (change(V2, lambda one: one.update(status="dropped")), "one: status: only completed or not is known"),
        (change(V2, lambda one: one.update(authors=["Nobody"])), "one: unknown name in authors"),
        (change(V2, lambda one: one.update(authors=[f"fpk_{'x' * 40}"])), "one: name contains an API key"),
        (change(V2, lambda one: one.update(categories=["Odd"])), "one: unknown category"),
        (change(V2, lambda one: one.update(cover="")), None),
        (change(V2, lambda one: one.update(cover="ftp://x/y")), "one: cover should be a file name"),
        (with_chapters(chapter(1, 1.23456)), "one: invalid number 1.23456; chapter skipped"),
        (with_chapters(chapter(1, True)), "one: invalid number True"),
        (with_chapters({**chapter(1, 1.0), "number": "NaN"}), "invalid number NaN"),
        (with_chapters(chapter(1, 1.0, volume="x" * 99)), "invalid volume xxx"),
        (with_chapters(chapter(1, 1.0, volume=2e9)), "invalid volume 2000000000"),
        (with_chapters(*[chapter(1, 1.0)] * 2), "chapter 1 is a duplicate"),
        (with_chapters(chapter(1, 3.0, published="?")), "published"),
        (change(CHAPTERS, lambda one: one["results"][0].update(groups=["Who?"])), None),
        (with_chapters(chapter(1, 3.0, groups=["?"])), "unknown group"),
        (change(OLD, lambda one: one["volumes"]["1"].update({"1": 7})), None),
        (change_pages(pages_list=["../x"]), "one: some pages are not in"),
        (change_pages(pages_root="../"), "pages should be a file name"),
        (change(OLD, lambda one: one["volumes"]["1"]["1"].update(pages_root=7)), None),
        (change_pages(pages_root="https://cdn.example/x/"), "media folder"),
        (change(OLD, lambda one: one["volumes"]["1"].update(x=old_chapter("1"))), "invalid number x"),
        (change("/api/v2/authors", lambda one: one["results"].append({"id": 4, "name": "B"})), "authors 4: duplicate"),
        (change("/api/v2/authors", lambda one: one["results"].append({"id": 0, "name": "B"})), "authors 0: id should"),
        (change("/api/v2/authors", lambda one: one["results"].append({"id": 2**63, "name": "B"})), "authors 922337"),
        (change("/api/v2/authors", lambda one: one["results"].append("Ada")), None),
        (change("/api/v2/categories", lambda one: one["results"].append({"name": "DRAMA"})), "DRAMA: id of the"),
        (change("/api/v2/categories", lambda one: one["results"].append({"name": ".."})), "name should be one line"),
        (change("/api/v2/categories", lambda one: one["results"].append({"name": None})), "name should not be empty"),
        (change("/api/v2/groups", lambda one: one["results"][0].update(members=["Cook: Xu"])), "unknown member"),
        (change("/api/v2/groups", lambda one: one["results"][0].update(logo="x/y")), "groups 2: logo should be"),
        (change("/api/v2/groups", lambda one: one["results"][0].update(members=[])), None),
        (change(V2, lambda one: one.update(description=f"Key: fpk_{'x' * 40}")), "description contains an API key"),
        (small() | {"/api/v1/releases": [{"slug": "one", "latest_chapter": {"volume": "x"}}]}, None),
        (small() | {"/": {"api": {"series": "javascript:alert(1)"}, "v1": 7}}, None),
        (small() | {"/": {"api": {"series": 'https://x"y/'}}}, None),
        (small() | {"/api/v2/series": Reply(401)}, "/api/v2/series: needs an API key; skipped (use --key-file)"),
        (change("/api/v2/categories", lambda one: one["results"].append({"name": "\x1b[2J"})), r"category \x1b[2J"),
        (change("/api/v2/members", lambda one: one.update(results=[])), "only the groups of version 1"),
    ],
)
def test_invalid_values_are_skipped_with_a_note(answers: Answers, note: str | None, tmp_path: Path) -> None:
    """They cost their field or their record, not the import."""
    done = imported(answers, tmp_path)

    assert note is None or any(note in one for one in done.notes), done.notes


INVALID = [
    {"results": [None, 7, {}, {"slug": []}]},
    Reply(body=b"<html>"),
    Reply(body=b"[" * 100_000),
    Reply(500 - 96, b"no"),
    Reply(body=b"{}", headers={"Content-Encoding": "gzip"}),
    Reply(headers={"Last-Modified": "Tue, 99 Foo 0000", "ETag": "x"}),
    Reply(headers={"Last-Modified": "Fri, 31 Dec 9999 23:59:59 -2359"}),
]


@pytest.mark.end_to_end
@pytest.mark.parametrize(("path", "answer"), sample([*product(sorted(small()), INVALID)], 4), ids=repr)
def test_any_response_may_be_invalid(path: str, answer: object, tmp_path: Path) -> None:
    """The rest becomes a catalog, or the message says why not."""
    answers = {**small(), path: answer}
    try:
        imported(answers, tmp_path)
    except FlatpanelError as error:
        assert re.search("not a known API|site.yaml", str(error))


def test_a_list_that_is_too_large_is_skipped(tmp_path: Path) -> None:
    """Its series are requested one by one if another list names them."""
    answers = small() | {"/api/v1/series": ["x" * 2_000_000], "/api/v1/releases": [{"slug": "one"}]}
    done = imported(answers, tmp_path, max_response=1)

    assert any(note.startswith("/api/v1/series: response is larger than 1 MiB") for note in done.notes)
    assert read(tmp_path, "authors.yaml") == [{"id": 4, "name": "Ada", "aliases": ["A."]}]
    assert read(tmp_path, "categories.yaml")[0]["id"] == "drama"


def test_a_repeated_page_ends_the_list(tmp_path: Path) -> None:
    """A site that responds with the same page forever gets one more request."""
    answers = small()
    answers["/api/v2/series"]["last"] = False
    answers["/api/v2/series?page=2"] = answers["/api/v2/series"]
    with serving(answers) as site:
        site.imported(tmp_path)

    assert [path for path in site.paths if "page=" in path] == ["/api/v2/series?page=2"]


def test_an_endless_list_is_cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each page has another series, and none is the last."""
    monkeypatch.setattr(crawl, "MAX_SERIES", 3)
    pages = [{"last": False, "results": [{"slug": f"s{number}"}]} for number in range(9)]
    answers = small() | {f"/api/v2/series?page={number}": page for number, page in enumerate(pages, 2)}
    answers["/api/v2/series"] = pages[8]
    with serving(answers) as site:
        done = site.imported(tmp_path)

    assert "more than 3 series; the rest is skipped" in done.notes
    assert [path for path in site.paths if "?page=" in path] == [f"/api/v2/series?page={page}" for page in (2, 3, 4)]


def test_all_pages_of_a_list_are_requested(tmp_path: Path) -> None:
    """The length of a page is imported as page_size."""
    answers = small()
    answers["/api/v2/series"]["last"] = False
    answers["/api/v2/series?page=2"] = {"last": True, "results": [{"slug": "two", "title": "Two"}]}
    answers["/api/v2/series/two"] = {**answers[V2], "slug": "two"}
    imported(answers, tmp_path)

    assert read(tmp_path, "site.yaml")["page_size"] == 1
    assert read(tmp_path, "series/two.yaml")["title"] == "One"


def test_people_with_the_same_name_are_distinguished_by_series(tmp_path: Path) -> None:
    """The person who lists the series is referenced, where their aliases are equal as well."""
    answers = small()
    answers["/api/v2/authors"]["results"].insert(0, {"id": 3, "name": "Ada"})
    answers["/api/v1/authors"].append({"id": 3, "name": "Ada", "aliases": ["A."], "series": []})
    imported(answers, tmp_path)

    assert read(tmp_path, "series/one.yaml")["authors"] == [4]


def test_members_with_similar_names_are_distinguished(tmp_path: Path) -> None:
    """By the ids of version 1; otherwise the longest matching name."""
    answers = small()
    answers["/api/v2/members"]["results"] += [{"id": 10, "name": "Wren"}, {"id": 11, "name": "b: Wren"}]
    answers["/api/v2/groups"]["results"][0]["members"] = ["Editor: Wren", "a: b: Wren"]
    answers["/api/v1/groups"][0]["members"] = [{"id": 10, "roles": ["Editor"]}, {"id": 77, "roles": ["x"]}]
    imported(answers, tmp_path / "both")
    assert read(tmp_path / "both", "groups.yaml")[0]["members"] == [
        {"member": 10, "role": "Editor"},
        {"member": "b: Wren", "role": "a"},
    ]


def test_logos_show_where_images_are(tmp_path: Path) -> None:
    """Also where covers and pages are at another host."""
    answers = {path: value for path, value in small().items() if "/v1/" not in path and "cubari" not in path}
    answers[V2]["cover"] = "https://covers.example/1.jpg"
    answers["/api/v2/groups"]["results"][0]["logo"] = "https://cdn.example/files/groups/2/logo.png"
    imported(answers, tmp_path)

    assert read(tmp_path, "site.yaml")["media"] == "https://cdn.example/files/"
    assert read(tmp_path, "groups.yaml")[0]["logo"] == "logo.png"


def test_pages_on_another_host_keep_their_urls(tmp_path: Path) -> None:
    """All pages of the chapter are percent-encoded URLs then."""
    answers = {path: value for path, value in small().items() if "/v1/" not in path}
    cubari = cubari_chapter(chapter(11, 1.0))
    answers["/api/v2/cubari/one"]["chapters"]["11"] = cubari | {"groups": {"x": ["https://cdn.example/ü 1.png"]}}
    imported(answers, tmp_path)

    assert read(tmp_path, "series/one.yaml")["chapters"][0]["pages"] == ["https://cdn.example/%C3%BC%201.png"]


def test_images_without_a_common_root_keep_their_urls(tmp_path: Path) -> None:
    """No media root fits them."""
    answers = {path: value for path, value in small().items() if "/v1/" not in path}
    answers[V2]["cover"] = "https://cdn.example/1.jpg"
    done = imported(answers, tmp_path)

    assert "site.yaml: no image has the path of a catalog's media file; URLs are kept" in done.notes
    assert read(tmp_path, "series/one.yaml")["cover"] == "https://cdn.example/1.jpg"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://x.example/m/series/a/c%20d.jpg", "c d.jpg"),
        ("https://x.example/m/series/a/c d.jpg", "https://x.example/m/series/a/c%20d.jpg"),
        ("https://x.example/m/series/a/c%2Fd.jpg", "https://x.example/m/series/a/c%2Fd.jpg"),
        ("https://x.example/m/series/a/b/d.jpg", "https://x.example/m/series/a/b/d.jpg"),
        ("https://x.example/m/series/a/..", "https://x.example/m/series/a/.."),
        ("https://x.example/m/series/a/http%3A%2F%2Fy", "https://x.example/m/series/a/http%3A%2F%2Fy"),
    ],
)
def test_a_file_name_must_result_in_the_same_url(url: str, name: str) -> None:
    """Otherwise the URL is kept."""
    assert image_paths.image(url, "https://x.example/m/", "series/a/") == name


def test_a_path_below_an_unknown_media_folder_is_kept() -> None:
    """It is no file of the catalog, although it names the folder of the series."""
    assert image_paths.image("series/a/c.jpg", "", "series/a/") == "series/a/c.jpg"


def test_a_title_template_fits_all_titles() -> None:
    """Otherwise there is none."""
    parts = {"volume": "2", "number": "2", "title": "Two", "date": "2026-01-01", "series": "S"}
    made = chapter_titles.TitleSample("S 2-2 Two (2026-01-01)", 2, parts)
    other = chapter_titles.TitleSample("S 3-2 Two (2026-01-01)", 3, {**parts, "volume": "3"})

    assert chapter_titles.title_template([]) == "Vol. {volume}, Ch. {number}: {title}"
    assert chapter_titles.title_template([made, other]) == "{series} {volume}-{number} {title} ({date})"
    assert chapter_titles.title_template([made, chapter_titles.TitleSample("else", 2, parts)]) is None
    assert chapter_titles.title_template([chapter_titles.TitleSample("{x} Two", 2, parts)]) == "{{x}} {title}"
    assert chapter_titles.title_template([chapter_titles.TitleSample("2 2 2 2 2 2 2 Two", 2, parts)]) is None


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("1704067200000", 1704067200),
        ("2024-01-01T00:00:00.999+00:00", 1704067200),
        ("Mon, 01 Jan 2024 00:00:00 GMT", 1704067200),
        ("999999999999999", None),
        ("yesterday", None),
        (7, None),
        (None, None),
    ],
)
def test_all_forms_of_times_are_parsed(written: object, seconds: int | None) -> None:
    """Each API version has its own; invalid ones are None."""
    assert lenient.instant(written) == seconds
