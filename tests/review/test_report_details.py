"""Title, cover and changed fields of the series in a report."""

import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from generator.release import changes
from generator.review.diff.compare import UrlDifference
from generator.review.diff.entities import EntityChange, EntityName
from generator.review.diff.json_diff import MOVED, JsonChange
from generator.review.report import data
from generator.review.report import page as report
from generator.review.report.data import SeriesDetails, sentences
from tests.conftest import Site
from tests.support.reports import build_with_report

# No body of two megabytes, and no fsync.
pytestmark = pytest.mark.usefixtures("without_sync_and_docs")

COVER = "https://minimal.example/media/series/first/cover.jpg"


def chapter(number: object, **fields: object) -> str:
    values = {"number": number, "published": "2026-02-02", "modified": "2026-02-02", "pages": "[]"} | fields
    return f"- {{{', '.join(f'{name}: {value}' for name, value in values.items())}}}\n"


def series(site: Site, slug: str, *chapters: str, **fields: object) -> None:
    values = {"title": "First", "cover": "cover.jpg", "modified": "2026-02-01"} | fields
    text = "".join(f"{name}: {value}\n" for name, value in values.items())
    site.write(f"series/{slug}.yaml", text + ("chapters:\n" + "".join(chapters) if chapters else ""))


def details(site: Site) -> dict[str, SeriesDetails]:
    """The series in the report of the next build."""
    return build_with_report(site.options, site.folder / "report.html")[1].details


def fields(site: Site, slug: str = "first") -> list[str]:
    return list(details(site)[slug].sentences)


def page_text(site: Site) -> str:
    return (site.folder / "report.html").read_text()


def policy(site: Site) -> str:
    """The hosts of images that the page allows."""
    (images,) = re.findall(r"; img-src ([^;]+);", page_text(site))
    return str(images)


# Sentences


FIELDS: list[tuple[dict[str, object], dict[str, object], list[str]]] = [
    ({}, {"title": "Other"}, ['title: "First" → "Other"']),
    ({}, {"licensed": "true"}, ["licensed: false → true"]),
    ({}, {"aliases": "[Uno]"}, ['aliases: "Uno" added']),
    ({"aliases": "[Uno]"}, {}, ['aliases: "Uno" removed']),
    ({"authors": "[Ada Penn]"}, {"authors": "[Bo]"}, ['authors[0]: "Ada Penn" → "Bo"']),
    ({"aliases": "[A, B]"}, {"aliases": "[B, A]"}, ["aliases[0]: moved from position 2 to 1"]),
    (
        {"description": f"{'a' * 99} b"},
        {"description": f"{'a' * 99} c"},
        [f'description: "…{"a" * 19} b" → "…{"a" * 19} c"'],
    ),
]


def test_a_changed_field_is_a_sentence(site: Site) -> None:
    """Values as in `diff`: cut around the first difference."""
    site.write("authors.yaml", "- {id: 1, name: Ada Penn}\n- {id: 2, name: Bo}\n")
    for number, (before, _, _) in enumerate(FIELDS):
        series(site, f"s{number}", chapter(1, id=10 + number), **before)
    site.build()
    for number, (_, after, _) in enumerate(FIELDS):
        series(site, f"s{number}", chapter(1, id=10 + number), **after)

    assert sentences_of(site) == {f"s{number}": expected for number, (_, _, expected) in enumerate(FIELDS)}


CHAPTERS: list[tuple[list[str], list[str], list[str]]] = [
    ([], [chapter(2, id=11)], ["chapter 2 added"]),
    ([], [chapter(2.5, id=12, volume=3, title="Two")], ['volume 3, chapter 2.5 added: "Two"']),
    ([chapter(2, title="Two")], [], ['chapter 2 removed: "Two"']),
    ([chapter(2, id=13, title="A")], [chapter(2, id=13, title="B")], ['chapter 2: title: "A" → "B"']),
    ([chapter(2, id=14)], [chapter(2, id=14, groups="[Night Shift]")], ['chapter 2: groups: "Night Shift" added']),
    ([chapter(2, pages="[1.png]")], [chapter(2, pages="[1.png, 2.png]")], ["chapter 2: pages: 1 → 2"]),
    (
        [chapter(2, id=15, volume=1, pages="1.png .. 24.png")],
        [chapter(2, id=15, volume=1, pages="1.png .. 25.png", final="true")],
        ["volume 1, chapter 2: final: false → true", "volume 1, chapter 2: pages: 24 → 25"],
    ),
    (
        [chapter(2, pages="[1.png, 2.png]")],
        [chapter(2, pages="[2.png, 1.png]")],
        ["chapter 2: pages: 2, other files or another order"],
    ),
    (
        [chapter(number, pages="[1.png]") for number in range(2, 8)],
        [chapter(number, pages="[1.png, 2.png]") for number in range(2, 8)],
        ["chapter 2: pages: 1 → 2, and 5 similar changes"],
    ),
    ([], [chapter(number) for number in range(2, 8)], ["chapter 2 added, and 5 similar changes"]),
]


def test_chapters_have_their_number_and_pages_are_counted(site: Site) -> None:
    """Similar changes of more than three chapters are one sentence."""
    site.write("groups.yaml", "- {id: 1, name: Night Shift}\n")
    for number, (before, _, _) in enumerate(CHAPTERS):
        series(site, f"s{number}", chapter(1), *before)
    site.build()
    for number, (_, after, _) in enumerate(CHAPTERS):
        series(site, f"s{number}", chapter(1), *after)

    assert sentences_of(site) == {f"s{number}": expected for number, (_, _, expected) in enumerate(CHAPTERS)}
    assert ".png" not in re.sub(r"(?s)<img .*?>", "", page_text(site))


def sentences_of(site: Site) -> dict[str, list[str]]:
    """The sentences of all series, without those about the time of the newest chapter."""
    return {
        slug: [sentence for sentence in described.sentences if not sentence.startswith("updated")]
        for slug, described in details(site).items()
    }


def test_a_chapter_with_another_number_is_the_same_by_its_id(site: Site) -> None:
    """Its full title and its URL follow from the number."""
    series(site, "first", chapter(1, id=1), chapter(2, id=2))
    site.build()
    series(site, "first", chapter(1, id=1), chapter(3, id=2, volume=1))

    assert fields(site) == ['chapter 2: number: "2" → "3"', 'chapter 2: volume: "0" → "1"']


def test_chapters_that_share_a_number_are_described_one_by_one(site: Site) -> None:
    """Older versions of the API have only one of them; a renamed group is changed in both."""
    site.write("groups.yaml", "- {id: 4, name: Night Shift}\n")
    shared = [chapter(1, id=number, groups="[4]", pages="[1.png]") for number in (1, 2)]
    series(site, "first", *shared)
    site.build()
    site.write("groups.yaml", "- {id: 4, name: Day Shift}\n")

    assert fields(site) == ['chapter 1: groups[id=4].name: "Night Shift" → "Day Shift"'] * 2


def test_a_chapter_that_moves_is_added_and_removed(site: Site) -> None:
    """Its URL of /api/v2 stays, but each series has other chapters."""
    for slug, own in (("first", [chapter(1, id=1), chapter(2, id=2)]), ("second", [chapter(1, id=3)])):
        series(site, slug, *own)
    site.build()
    for slug, own in (("first", [chapter(1, id=1)]), ("second", [chapter(1, id=3), chapter(2, id=2)])):
        series(site, slug, *own)
    shown = details(site)

    assert shown["first"].sentences == ["chapter 2 removed"]
    assert shown["second"].sentences == ["chapter 2 added"]


def test_new_and_removed_series(site: Site) -> None:
    """Title and cover of a removed series are those of the previous release."""
    site.build()
    (site.folder / "catalog_src/series/first.yaml").unlink()
    series(site, "third", chapter(1), chapter(2), title="Third", cover="https://covers.example/3.jpg")
    series(site, "second", title="Second", modified="2026-03-01T00:00:00Z")

    assert details(site) == {
        "first": SeriesDetails("First", COVER, ["series removed, with 1 chapter"]),
        "third": SeriesDetails("Third", "https://covers.example/3.jpg", ["series added, with 2 chapters"]),
    }
    assert policy(site) == "data: https://covers.example https://minimal.example"


def test_long_lists_of_fields_are_cut(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are counted."""
    monkeypatch.setattr(data, "MAX_SENTENCES", 2)
    site.build()
    series(site, "first", title="A", status="hiatus", description="B", authors="[]", aliases="[C]")
    first = details(site)["first"]

    assert len(first.sentences) == 2 and first.more > 2
    assert f"<li>and {first.more} more</li>" in page_text(site)


# Restricted and licensed series


def test_a_restricted_series_is_shown_as_far_as_it_is_public(site: Site) -> None:
    """/api/v2 describes it without a key; its chapters need one."""
    series(site, "first", chapter(1, id=1, pages="[a.png]"), restricted="true")
    site.build()
    series(site, "first", chapter(1, id=1, title="Secret", pages="[a.png, b.png]"), title="Other", restricted="true")

    assert details(site)["first"] == SeriesDetails("Other", COVER, ['title: "First" → "Other"'])
    assert "Secret" not in page_text(site)


def test_a_series_that_becomes_restricted(site: Site) -> None:
    """The change of access is a sentence."""
    series(site, "first", chapter(1, id=1))
    site.build()
    series(site, "first", chapter(1, id=1), restricted="true")

    assert details(site)["first"] == SeriesDetails("First", COVER, ["access: public → restricted (6 URLs)"])


def test_a_series_without_a_public_body_has_its_slug_only(site: Site) -> None:
    """The API lists it nowhere: a restricted route, and a series that is in no older version."""
    site.write("site.yaml", "base_url: https://minimal.example\nrestricted: ['/series/{slug}']\n")
    site.build()
    series(site, "third", chapter(1, id=9), title="Hidden", restricted="true")

    assert details(site)["third"] == SeriesDetails(sentences=["series added"])
    text = page_text(site)
    assert '<span class="cover"></span>\n<div>\n<p class="series">third</p>' in text
    assert "Hidden" not in text and "<img" not in text
    assert policy(site) == "data:"


def test_a_new_base_url_is_the_cause_of_changed_covers(site: Site) -> None:
    """The series has no change of its own."""
    site.build()
    site.write("site.yaml", "base_url: https://moved.example\n")

    assert fields(site) == ["caused by site"]
    assert policy(site) == "data: https://moved.example"


# Releases that are not complete, or not the previous build


@pytest.mark.parametrize("damage", ["remove", "change", "folder"])
def test_a_damaged_body_of_the_previous_release_is_skipped(site: Site, damage: str) -> None:
    """Fields that only it has are missing; the report is written."""
    series(site, "first", chapter(1, id=1))
    site.build()
    for path in (site.folder / "dist/www/api").rglob("*first*.json"):
        content = path.read_bytes()
        path.unlink()
        if damage == "change":
            path.write_bytes(content + b" ")
        elif damage == "folder":
            path.mkdir()
    series(site, "first", chapter(1, id=1), title="Other")

    assert details(site)["first"] == SeriesDetails("Other", COVER, [])


def test_a_lost_body_of_the_new_release_is_replaced_by_that_of_an_older_version(site: Site) -> None:
    """Title and cover come from /api/v1 if the body of /api/v2 is missing."""
    series(site, "first", chapter(1, id=1))
    options = replace(site.options, cache=site.folder / "cache")
    build_with_report(options, site.folder / "report.html")
    (body,) = (site.folder / "dist/www/api/v2/series").glob("first.*.json")
    body.unlink()
    series(site, "first", chapter(1, id=1, title="New"))
    site.build()
    with_loss = site.store.manifest_path(site.store.current())
    assert with_loss
    for path in (site.folder / "dist/www/api/v2/series").glob("first.*.json"):
        path.unlink()
    before = site.store.manifest_path(site.store.previous())

    assert data.series_details(before, with_loss, ["first"])["first"] == SeriesDetails(
        "First", COVER, ['chapter 1: title: "" → "New"']
    )


def test_a_build_after_a_rollback_compares_with_the_older_release(site: Site) -> None:
    """The release that was current before the build is the one that the rollback made current."""
    for title in ("First", "Second title"):
        series(site, "first", chapter(1, id=1), title=title)
        site.build()
    site.roll_back()
    series(site, "first", chapter(1, id=1), title="Third title")

    assert fields(site) == ['title: "First" → "Third title"']


def test_a_build_without_changes_reads_no_body(site: Site) -> None:
    """There is no listed series."""
    site.build()
    with opened_bodies(site) as names:
        assert details(site) == {}
    assert names == []


@contextmanager
def opened_bodies(site: Site) -> Iterator[list[str]]:
    """The bodies that are opened for reading."""
    names: list[str] = []
    active = [True]
    www = f"{site.folder}/dist/www/"

    def record(event: str, arguments: tuple[object, ...]) -> None:
        if active and event == "open" and str(arguments[0]).startswith(www) and str(arguments[1]).startswith("r"):
            names.append(re.sub(r"\.[0-9a-f]{32}", "", str(arguments[0]).removeprefix(www)))

    sys.addaudithook(record)
    yield names
    active.clear()


def test_an_edit_reads_only_the_bodies_of_the_changed_series(site: Site) -> None:
    """Of the others, only the index and the list of groups."""
    for number in range(9):
        series(site, f"other-{number}", chapter(1, id=10 + number))
    site.build()
    series(site, "first", chapter(1, id=1), title="Other")
    with opened_bodies(site) as names:
        assert set(details(site)) == {"first"}

    assert "api/v1/series/first.json" in names
    assert {name for name in names if "first" not in name} <= {"index.json.json", "api/v2/groups.json"}


def test_a_first_build_reads_only_the_listed_series(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of listed series bounds time and size."""
    monkeypatch.setattr(changes, "MAX_SERIES", 4)
    for number in range(9):
        series(site, f"a-{number}", chapter(1, id=10 + number))
    with opened_bodies(site) as names:
        described = details(site)

    assert list(described) == ["a-0", "a-1", "a-2"]
    assert {match[0] for name in names for match in re.finditer(r"a-\d|first|second", name)} == set(described)
    assert page_text(site).count("<img") == 3


# The page


def test_the_page_shows_each_series_with_its_cover(site: Site) -> None:
    """The image has a text, reserved space, and is loaded when it comes into view."""
    site.build()
    series(site, "first", chapter(1, id=1), title="Other & <b>")
    details(site)

    assert (
        f'<img class="cover" src="{COVER}" alt="Cover of Other &amp; &lt;b&gt;" width="48" height="64"'
        ' loading="lazy" decoding="async">\n<div>\n'
        '<p><bdi class="series">Other &amp; &lt;b&gt;</bdi> <code>first</code></p>'
    ) in page_text(site)
    assert "<li><bdi>title: &#34;First&#34; → &#34;Other &amp; &lt;b&gt;&#34;</bdi></li>" in page_text(site)


@pytest.mark.parametrize("nasty", ["\u202eright to left", "a\u2028b"])
def test_a_hostile_title_stays_text(site: Site, nasty: str) -> None:
    """Direction marks and line breaks in sentences are escaped; the title is isolated.

    tests/review/test_report.py has markup in titles.
    """
    site.build()
    series(site, "first", title=f"'{nasty}'", cover="cover.jpg")
    details(site)
    text = page_text(site)

    assert not re.search("<li><bdi>[^<]*[\u2028\u202e]", text)
    assert re.search('<bdi class="series">[^<]+</bdi> <code>first</code>', text)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://covers.example/a.jpg", "https://covers.example"),
        ("http://localhost:8000/it's,%20a;%27.jpg?b#c", "http://localhost:8000"),
        ("https://covers.example?a", "https://covers.example"),
        ("https://reader:name@covers.example/a.jpg", ""),
        ("https://[::1]/a.jpg", ""),
        ("javascript:alert(1)", ""),
        ("https://covers.example/a b", ""),
        ("https://covers.example;script-src/a", ""),
    ],
)
def test_the_page_loads_a_cover_only_from_a_host_that_a_policy_can_name(url: str, host: str) -> None:
    """Other covers are left out."""
    assert report.cover_host(url) == host


# Changes that no build makes


def test_a_change_that_only_one_body_shows_names_the_body() -> None:
    """Its fields may be names of pages."""
    changed = [JsonChange(("results", "[0]", "image"), "changed", "a.png", "b.png")]
    entity = EntityChange(EntityName("series", "a"), [], changes=changed, body_url="/api/v2/chapters/1/pages")

    assert list(sentences(entity, {}, {})) == ["in /api/v2/chapters/1/pages: 1 changed field"]


def test_a_chapter_that_cannot_be_identified_has_no_number() -> None:
    """For example one of several without number and id; a moved one keeps its place in the list."""
    entity = EntityChange(
        EntityName("series", "a"),
        [UrlDifference("/", "a", None, None)],
        changes=[
            JsonChange(("chapters", "[3]", "title"), "changed", "A", "B"),
            JsonChange(("chapters", "[number=1]"), MOVED, 1, 2),
        ],
    )

    assert list(sentences(entity, {}, {})) == [
        'a chapter: title: "A" → "B"',
        "chapters[number=1]: moved from position 1 to 2",
    ]


def test_a_manifest_without_bodies_gives_no_titles(site: Site, tmp_path: Path) -> None:
    """A manifest that was copied elsewhere has no bodies beside it."""
    site.build()
    path = site.store.manifest_path(site.store.current())
    assert path
    shutil.copy(path, tmp_path / "manifest.json")

    assert data.series_details(None, tmp_path / "manifest.json", ["first"]) == {
        "first": SeriesDetails(sentences=["series added"])
    }
