"""Checked records become a linked catalog: URLs, titles and times at an instant.

The orders of the other lists are in the golden files (tests/responses/test_golden.py).
"""

import pytest

from generator.catalog.entities import Catalog, Series
from tests.support.yaml_catalogs import AS_OF, BASE_URL, WRITTEN, catalog

MAY = 1_777_593_600  # 2026-05-01


def chapter(number: object, volume: object = "~", published: object = "2026-05-01", more: str = "pages: []") -> str:
    """A chapter as YAML; the volume `~` is none."""
    of_volume = "" if volume == "~" else f"volume: {volume}, "
    return f"{{number: {number}, {of_volume}published: {published}, {more}}}"


def one_series(chapters: str, fields: str, site: str = "", more: str = "") -> Series:
    """The series `a` of a catalog that has no other."""
    text = f"site: {{{site}}}\nseries: {{a: {{{fields + ',' if fields else ''} chapters: [{chapters}]}}}}\n{more}"
    return catalog(text).series[0]


def test_series_are_sorted_by_title_then_slug() -> None:
    """Titles are compared by code points."""
    titles = {"d": "B", "c": "b", "b": "B", "a": "猫", "x": "É", "e": "A b", "f": "A", "Z": "B"}
    in_order = catalog(
        f"series: {{{', '.join(f'{slug}: {{title: {title}}}' for slug, title in titles.items())}}}"
    ).series

    assert [(series.title, series.slug) for series in in_order] == [
        ("A", "f"), ("A b", "e"), ("B", "Z"), ("B", "b"), ("B", "d"), ("b", "c"), ("É", "x"), ("猫", "a")
    ]  # fmt: skip


def test_chapters_that_share_a_number_are_sorted_by_id() -> None:
    """The last one stands for the number: the highest id, or without ids the last in the file."""
    ids = [(1, 7), (1, 9), (1, 8), (2, "~"), (2, 3), (3, "~"), (3, "~")]
    chapters = ", ".join(
        f"{{number: {number}, title: {title}, published: 2026-05-0{9 - index}, pages: []"
        f"{'' if chapter_id == '~' else f', id: {chapter_id}'}}}"
        for index, (title, (number, chapter_id)) in enumerate(zip("abcdefg", ids, strict=True))
    )
    text = f"{{series: {{a: {{chapters: [{chapters}]}}}}}}"
    (series,) = catalog(text, numbered=False).series

    assert "".join(chapter.title for chapter in series.chapters) == "acbdefg"
    assert "".join(chapter.title for chapter in series.numbered_chapters) == "beg"
    assert [[chapter.title for chapter in chapters] for chapters in series.volumes.values()] == [["b", "e", "g"]]
    assert series.latest and series.latest.title == "b"
    assert (series.identified, series.unidentified) == (4, 3)


SCHEDULED = """
groups: [{id: 1, name: G}]
series:
  a: {chapters: [{number: 1, published: 2026-05-01, pages: []},
                 {number: 2, volume: 2, published: 2026-05-01T00:00:01Z, pages: [], groups: [G]}]}
  b: {chapters: [{number: 1, published: 2026-06-01, pages: []}]}
"""


@pytest.mark.parametrize(
    ("as_of", "published"),
    [
        (MAY - 1, {"a": [], "b": []}),
        (MAY, {"a": ["1"], "b": []}),
        (MAY + 1, {"a": ["1", "2"], "b": []}),
        (AS_OF, {"a": ["1", "2"], "b": ["1"]}),
    ],
)
def test_chapter_exists_from_its_publication_second(as_of: int, published: dict[str, list[str]]) -> None:
    """Before, no list, volume, latest chapter or group contains it."""
    linked = catalog(SCHEDULED, as_of)

    assert {series.slug: [chapter.number for chapter in series.chapters] for series in linked.series} == published
    assert {
        series.slug: [c.number for cs in series.volumes.values() for c in cs] for series in linked.series
    } == published
    assert {series.slug: series.latest and series.latest.number for series in linked.series} == {
        slug: numbers[-1] if numbers else None for slug, numbers in published.items()
    }
    assert [series.slug for series in linked.publishing_groups[0].series] == (["a"] if "2" in published["a"] else [])


RIGHTS = """
authors: [{id: 1, name: A}]
artists: [{id: 1, name: A}]
groups: [{id: 1, name: G}]
series:
  free: {authors: [1], artists: [1], chapters: &all [{number: 1, published: 2026-05-01, pages: [], groups: [1]}]}
  licensed: {authors: [1], artists: [1], licensed: true, chapters: *all}
  restricted: {authors: [1], artists: [1], restricted: true, chapters: *all}
  both: {authors: [1], artists: [1], restricted: true, licensed: true, chapters: *all}
"""


@pytest.mark.parametrize(("site", "slugs"), [("", ["free", "licensed"]), ("site: {hide_licensed: true}", ["free"])])
def test_older_api_versions_omit_restricted_series(site: str, slugs: list[str]) -> None:
    """They omit licensed series as well with `hide_licensed`. The catalog has all series."""
    linked = catalog(f"{site}\n{RIGHTS}")

    works = [linked.open_series, linked.contributing_authors[0].series, linked.contributing_artists[0].series]
    assert [[series.slug for series in listed] for listed in [*works, linked.publishing_groups[0].series]] == [
        slugs
    ] * 4
    assert len(linked.series) == 4


def test_series_is_listed_for_a_chapter_or_updated() -> None:
    """The newest publication is the later one of `updated` and those of the chapters with an id."""
    for fields, chapters, expected in [
        ("", "", (False, 0)),
        ("licensed: true", "", (False, 0)),
        ("licensed: true, updated: 1970-01-01", "", (True, 0)),
        ("licensed: true, updated: 2026-05-01", "", (True, MAY)),
        ("licensed: true, updated: 2026-05-01", chapter(1, published="2026-04-30"), (True, MAY)),
        ("licensed: true, updated: 2026-04-30", chapter(1), (True, MAY)),
        ("licensed: true", chapter(1), (True, MAY)),
        ("", chapter(1), (True, MAY)),
    ]:
        series = one_series(chapters, fields)

        assert (series.is_listed, series.updated) == expected


def test_full_title_fills_the_template_of_its_series() -> None:
    """`Vol. ?, ` is dropped for a chapter without a volume. Braces in a value are not replaced."""
    for template, volume, number, title, full in [
        (None, "1", "2", "Rain", "Vol. 1, Ch. 2: Rain"),
        (None, "~", "10.5", "Rain", "Ch. 10.5: Rain"),
        (None, "1", "2", "", "Vol. 1, Ch. 2"),
        ("{series} {volume}.{number} {title} {date}", "3", "4", "Rain", "a 3.4 Rain 2026-05-01"),
        ("Vol. {volume} {number}", "~", "4", "Rain", "Vol. ? 4"),
        ("{number}: {title} (Vol. {volume}, new)", "~", "4", "Rain", "4: Rain (new)"),
        ("第{number}話「{title}」", "~", "0", "{series}", "第0話「{series}」"),
    ]:
        fields = f"chapter_title: '{template}'" if template else ""
        series = one_series(chapter(number, volume, more=f"pages: [], title: '{title}'"), fields)

        assert series.chapters[0].full_title == full


def test_urls_start_with_the_settings_of_the_site() -> None:
    """`reader` is a path of the site; `media` is a path or the URL of another host."""
    for site, series, media in [
        ("", f"{BASE_URL}/reader/a/", f"{BASE_URL}/media/"),
        ("reader: /, media: /", f"{BASE_URL}/a/", f"{BASE_URL}/"),
        ("reader: /read/here/, media: /i/", f"{BASE_URL}/read/here/a/", f"{BASE_URL}/i/"),
        ("media: https://images.example/m/", f"{BASE_URL}/reader/a/", "https://images.example/m/"),
    ]:
        chapters = f"{chapter(1, 2, more='pages: [1 .png, é.png]')}, {chapter('3.50', more='pages: []')}"
        linked = one_series(chapters, "cover: my cover.jpg", site)
        without, within = linked.chapters

        assert (linked.url, linked.cover) == (series, f"{media}series/a/my%20cover.jpg")
        assert (within.url, without.url) == (f"{series}2/1/", f"{series}0/3.5/")
        assert (within.pages_root, within.pages) == (f"{media}series/a/2/1/", ("1%20.png", "%C3%A9.png"))
        assert (without.pages_root, without.pages) == (f"{media}series/a/0/3.5/", ())
        assert linked.url.endswith(linked.path)
        assert within.path == f"{linked.path}2/1/"


def everything(modified: str) -> Catalog:
    return catalog(f"""
        authors: [{{id: 1, name: A{modified}}}]
        artists: [{{id: 1, name: A{modified}}}]
        categories: [{{id: c, name: C{modified}}}]
        members: [{{id: 1, name: M{modified}}}]
        groups: [{{id: 1, name: G, members: [{{member: M, role: R}}]{modified}}}]
        series: {{a: {{chapters: [{{number: 1, published: 2026-05-01, pages: []{modified}}}]{modified}}}}}
    """)


@pytest.mark.parametrize(
    ("modified", "seconds"),
    [("", WRITTEN), (", modified: 1970-01-01", 0), (", modified: 2026-05-01", MAY)],
)
def test_modified_defaults_to_the_time_of_the_file(modified: str, seconds: int) -> None:
    """A `modified` in the record wins, even for a newer file and for second 0."""
    linked = everything(modified)
    (series,), ((member, _),) = linked.series, linked.groups[0].members.items()

    entities = [*linked.authors, *linked.artists, *linked.categories, *linked.groups, member, series]
    assert [entity.modified for entity in entities] == [seconds] * 6
    # A chapter is never older than its publication.
    assert [entity.modified for entity in series.chapters] == [max(seconds, MAY)]
    assert linked.site_modified == WRITTEN
