"""Checked records become a catalog: orders, addresses, titles and times, as of an instant."""

import pytest

from generator.catalog.entities import Catalog, Series
from tests.support.yaml_catalogs import AS_OF, BASE_URL, WRITTEN, catalog

MAY = 1_777_593_600  # 2026-05-01


def chapter(number: object, volume: object = "~", published: object = "2026-05-01", more: str = "pages: []") -> str:
    """A chapter as YAML; the volume `~` is none."""
    of_volume = "" if volume == "~" else f"volume: {volume}, "
    return f"{{number: {number}, {of_volume}published: {published}, {more}}}"


def one_series(chapters: str = "", fields: str = "", site: str = "", more: str = "", as_of: int = AS_OF) -> Series:
    """The series `a` of a catalog that has no other."""
    text = f"site: {{{site}}}\nseries: {{a: {{{fields + ',' if fields else ''} chapters: [{chapters}]}}}}\n{more}"
    return catalog(text, as_of).series[0]


def test_series_are_in_the_order_of_their_titles() -> None:
    """Titles are compared by code points, and those with the same title by slug."""
    titles = {"d": "B", "c": "b", "b": "B", "a": "猫", "x": "É", "e": "A b", "f": "A", "Z": "B"}
    found = catalog(f"series: {{{', '.join(f'{slug}: {{title: {title}}}' for slug, title in titles.items())}}}").series

    assert [(one.title, one.slug) for one in found] == [
        ("A", "f"), ("A b", "e"), ("B", "Z"), ("B", "b"), ("B", "d"), ("b", "c"), ("É", "x"), ("猫", "a")
    ]  # fmt: skip


def test_people_and_groups_are_in_the_order_of_their_ids() -> None:
    """Ids are numbers: 10 comes after 9, however they stand in the file."""
    lists = "\n".join(
        f"{name}: [{{id: 10, name: J}}, {{id: 9, name: I}}, {{id: 100, name: A}}]"
        for name in ("authors", "artists", "groups")
    )
    found = catalog(lists)

    assert [[one.id for one in ones] for ones in (found.authors, found.artists, found.groups)] == [[9, 10, 100]] * 3


def test_categories_are_in_the_order_of_their_ids() -> None:
    """Ids of categories are texts, compared by code points, in the catalog and in a series."""
    text = "categories: [{id: b, name: Z}, {id: C, name: Y}, {id: a, name: X}, {id: _, name: W}]"
    found = catalog(f"{text}\nseries: {{s: {{categories: [b, a, C]}}}}")

    assert [one.id for one in found.categories] == ["C", "_", "a", "b"]
    assert [one.id for one in found.series[0].categories] == ["C", "a", "b"]


def test_chapters_are_in_the_order_of_volume_and_number() -> None:
    """Volumes and numbers are compared as numbers; chapters without a volume come first."""
    spots = [(10, "1"), (2, "10"), (2, "9.5"), ("~", "3"), (2, '"1.25"'), (2, "1.3"), (1, "1"), ("~", "0")]
    found = one_series(", ".join(chapter(number, volume) for volume, number in spots))

    assert [(one.volume, one.number) for one in found.chapters] == [
        (None, "0"), (None, "3"), (1, "1"), (2, "1.25"), (2, "1.3"), (2, "9.5"), (2, "10"), (10, "1")
    ]  # fmt: skip
    assert {volume: [one.number for one in ones] for volume, ones in found.volumes.items()} == {
        0: ["0", "3"], 1: ["1"], 2: ["1.25", "1.3", "9.5", "10"], 10: ["1"]
    }  # fmt: skip
    assert list(found.volumes) == [0, 1, 2, 10]


def test_what_has_no_order_of_its_own_keeps_that_of_the_file() -> None:
    """Aliases, people of a series, groups of a chapter, members and roles stay as they were written."""
    found = catalog("""
        authors: [{id: 1, name: A, aliases: [z, y]}, {id: 2, name: B}]
        artists: [{id: 1, name: A}, {id: 2, name: B}]
        members: [{id: 1, name: Wren}, {id: 2, name: Robin}]
        groups:
          - {id: 1, name: G}
          - id: 2
            name: H
            members:
            - {member: 2, role: Z}
            - {member: Wren, role: B}
            - {member: Robin, role: A}
            - {member: 1, role: B}
        series:
          a:
            aliases: [two, one]
            authors: [B, 1]
            artists: [2, A]
            chapters: [{number: 1, published: 2026-05-01, pages: [], groups: [H, 1]}]
    """)
    (series,) = found.series

    assert found.authors[0].aliases == ("z", "y")
    assert series.aliases == ("two", "one")
    assert [one.name for one in series.authors] == ["B", "A"]
    assert [one.id for one in series.artists] == [2, 1]
    assert [one.name for one in series.chapters[0].groups] == ["H", "G"]
    assert [(one.name, roles) for one, roles in found.groups[1].members.items()] == [
        ("Robin", ["Z", "A"]),
        ("Wren", ["B", "B"]),
    ]


@pytest.mark.parametrize(
    ("chapters", "latest"),
    [
        ([(1, 2, "2026-05-01"), (1, 1, "2026-05-02")], (1, "1")),
        ([(1, 9, "2026-05-01"), (2, 1, "2026-05-01"), ("~", 99, "2026-05-01")], (2, "1")),
        ([(1, 9, "2026-05-01"), (1, 10, "2026-05-01"), (1, 9.5, "2026-05-01")], (1, "10")),
        ([("~", 2, "2026-05-01T12:00:00.9Z"), ("~", 1, "2026-05-01T12:00:00.1Z")], (None, "2")),
    ],
)
def test_the_latest_chapter_is_the_newest_and_of_several_the_highest(
    chapters: list[tuple[object, object, str]], latest: tuple[int | None, str]
) -> None:
    """By publication to the second, then by volume, then by number."""
    found = one_series(", ".join(chapter(number, volume, published) for volume, number, published in chapters)).latest

    assert found and (found.volume, found.number) == latest


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
def test_a_chapter_exists_from_its_second_on(as_of: int, published: dict[str, list[str]]) -> None:
    """Until it is published, a chapter is in no list, volume, latest chapter or work of a group."""
    found = catalog(SCHEDULED, as_of)

    assert {one.slug: [chapter.number for chapter in one.chapters] for one in found.series} == published
    assert {one.slug: [c.number for cs in one.volumes.values() for c in cs] for one in found.series} == published
    assert {one.slug: one.latest and one.latest.number for one in found.series} == {
        slug: numbers[-1] if numbers else None for slug, numbers in published.items()
    }
    assert [one.slug for one in found.publishing_groups[0].series] == (["a"] if "2" in published["a"] else [])


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
def test_the_old_families_know_neither_keys_nor_perhaps_licences(site: str, slugs: list[str]) -> None:
    """Restricted series are in nothing of theirs, licensed ones where the site allows; the catalog has them all."""
    found = catalog(f"{site}\n{RIGHTS}")

    works = [found.open_series, found.contributing_authors[0].series, found.contributing_artists[0].series]
    assert [[one.slug for one in ones] for ones in [*works, found.publishing_groups[0].series]] == [slugs] * 4
    assert len(found.series) == 4


def test_somebody_without_a_visible_series_is_still_somebody() -> None:
    """People and groups do not vanish with their works."""
    found = catalog("authors: [{id: 1, name: A}]\nartists: [{id: 1, name: A}]\ngroups: [{id: 1, name: G}]")

    assert [one.series for one in (*found.contributing_authors, *found.contributing_artists)] == [(), ()]
    assert [one.series for one in found.publishing_groups] == [()]


@pytest.mark.parametrize(
    ("template", "volume", "number", "title", "full"),
    [
        (None, "1", "2", "Rain", "Vol. 1, Ch. 2: Rain"),
        (None, "~", "10.5", "Rain", "Ch. 10.5: Rain"),
        ("{series} {volume}.{number} {title} {date}", "3", "4", "Rain", "a 3.4 Rain 2026-05-01"),
        ("{series} {volume}.{number} {title}", "~", "4", "Rain", "a ?.4 Rain"),
        ("Vol. {volume} {number}", "~", "4", "Rain", "Vol. ? 4"),
        ("{number}: {title} (Vol. {volume}, new)", "~", "4", "Rain", "4: Rain (new)"),
        ("第{number}話「{title}」", "~", "0", "{series}", "第0話「{series}」"),
        ("{title}", "1", "1", "", ""),
        ("no field", "1", "1", "Rain", "no field"),
    ],
)
def test_a_full_title_fills_the_template_of_its_series(
    template: str | None, volume: str, number: str, title: str, full: str
) -> None:
    """The words `Vol. ?, ` are dropped where there is no volume; what is filled in is not looked at again."""
    fields = f"chapter_title: '{template}'" if template else ""
    found = one_series(chapter(number, volume, more=f"pages: [], title: '{title}'"), fields)

    assert found.chapters[0].full_title == full


def test_without_a_title_the_default_ends_with_the_number() -> None:
    """Nothing announces a title that is not there."""
    assert one_series(chapter(2, 1)).chapters[0].full_title == "Vol. 1, Ch. 2"


@pytest.mark.parametrize(
    ("site", "series", "media"),
    [
        ("", f"{BASE_URL}/reader/a/", f"{BASE_URL}/media/"),
        ("reader: /, media: /", f"{BASE_URL}/a/", f"{BASE_URL}/"),
        ("reader: /read/here/, media: /i/", f"{BASE_URL}/read/here/a/", f"{BASE_URL}/i/"),
        ("media: https://images.example/m/", f"{BASE_URL}/reader/a/", "https://images.example/m/"),
        ("base_url: http://localhost:8000", "http://localhost:8000/reader/a/", "http://localhost:8000/media/"),
    ],
)
def test_addresses_begin_as_the_site_says(site: str, series: str, media: str) -> None:
    """The reader is a path of the site; media are one, or another host."""
    chapters = f"{chapter(1, 2, more='pages: [1 .png, é.png]')}, {chapter('3.50', more='pages: []')}"
    found = one_series(chapters, "cover: my cover.jpg", site)
    without, within = found.chapters

    assert (found.url, found.cover) == (series, f"{media}series/a/my%20cover.jpg")
    assert (within.url, without.url) == (f"{series}2/1/", f"{series}0/3.5/")
    assert (within.pages_root, within.pages) == (f"{media}series/a/2/1/", ("1%20.png", "%C3%A9.png"))
    assert (without.pages_root, without.pages) == (f"{media}series/a/0/3.5/", ())
    assert found.url.endswith(found.path)
    assert within.path == f"{found.path}2/1/"


def test_whole_addresses_are_used_as_they_are() -> None:
    """Covers, logos and pages may lie anywhere; nothing of them is encoded again."""
    pages = "pages: ['https://i.example/a%20b/1.png?x=/y', https://i.example/a%20b/2.png]"
    text = f"series: {{a: {{cover: https://i.example/%20.png, chapters: [{chapter(1, more=pages)}]}}}}"
    found = catalog(f"{text}\ngroups: [{{id: 1, name: G, logo: https://i.example/g.png}}, {{id: 2, name: H}}]")
    (series,) = found.series

    assert series.cover == "https://i.example/%20.png"
    assert series.chapters[0].pages_root == "https://i.example/a%20b/"
    assert series.chapters[0].pages == ("1.png?x=/y", "2.png")
    assert [group.logo for group in found.groups] == ["https://i.example/g.png", None]


def test_a_logo_lies_in_the_folder_of_its_group() -> None:
    """A file's name is percent-encoded behind the id."""
    found = catalog("groups: [{id: 7, name: G, logo: owl & lamp.png}]")

    assert found.groups[0].logo == f"{BASE_URL}/media/groups/7/owl%20%26%20lamp.png"


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
def test_what_does_not_say_when_it_changed_is_as_old_as_its_file(modified: str, seconds: int) -> None:
    """The field wins, also over a newer file, and also when it says the first second of all."""
    found = everything(modified)
    (series,), ((member, _),) = found.series, found.groups[0].members.items()

    entities = [*found.authors, *found.artists, *found.categories, *found.groups, member, series]
    assert [one.modified for one in entities] == [seconds] * 6
    # A chapter is never older than its publication.
    assert [one.modified for one in series.chapters] == [max(seconds, MAY)]
    assert found.site_modified == WRITTEN


@pytest.mark.parametrize(
    ("status", "completed"), [("ongoing", False), ("hiatus", False), ("completed", True), ("canceled", True)]
)
def test_a_series_is_completed_when_nothing_more_will_come(status: str, completed: bool) -> None:
    """Canceled counts as completed, a hiatus does not."""
    assert one_series(fields=f"status: {status}").completed is completed
