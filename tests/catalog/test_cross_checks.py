"""Checks between records. The messages are in tests/data/wrong/references.md."""

import pytest

from generator.catalog import cross_checks
from generator.errors import UnlocatedProblem
from tests.support.yaml_catalogs import complaints

PEOPLE = """
authors: [{id: 1, name: Ada Penn, aliases: [A. P.]}, {id: 2, name: "7"}, {id: 7, name: Bo Ink}]
artists: [{id: 1, name: Cy Brush}]
categories: [{id: drama, name: Drama}]
groups: [{id: 1, name: Night Shift, members: [{member: Wren, role: Editor}, {member: 1, role: Letterer}]}]
members: [{id: 1, name: Wren}]
accounts: [{username: reader, bookmarks: [a]}, {username: drama}]
"""


def chapter(fields: str) -> str:
    return f"{{published: 2026-01-01, pages: [], {fields}}}"


def series(fields: str) -> str:
    return f"{PEOPLE}\nseries: {{a: {{{fields}}}}}"


def test_valid_references_have_no_problems() -> None:
    """So are references by name and by id, a member with two roles, one number in two volumes, or twice in none.

    A person named 7 and the one with the id 7 are two. An id or a name of one list may be one of another, too.
    """
    for fields in [
        "",
        "authors: [Ada Penn, 7], artists: [Cy Brush], categories: [drama]",
        'authors: [7, "7"]',
        f"authors: [1], artists: [1], chapters: [{chapter('number: 1, id: 1, groups: [1]')}]",
        f"chapters: [{chapter('number: 1, groups: [Night Shift]')}, {chapter('number: 2, groups: [1]')}]",
        f"chapters: [{chapter('number: 1')}, {chapter('number: 1, volume: 1')}, {chapter('number: 1, volume: 2')}]",
        f"chapters: [{chapter('number: 1, id: 1')}, {chapter('number: 1.1, id: 2')}, {chapter('number: 1.01')}]",
        f"chapters: [{chapter('number: 1, id: 1')}, {chapter('number: 1.0, id: 2')}, {chapter('number: 1')}]",
    ]:
        assert complaints(series(fields)) == []


def test_alias_is_not_a_reference() -> None:
    """A reference is the name in the list, so that a change of an alias breaks nothing."""
    assert complaints(series('authors: ["A. P."]')) == [
        UnlocatedProblem(
            "series/a.yaml", ("authors", 0), "no author is named A. P.; it is an alias of Ada Penn; use that name"
        )
    ]


@pytest.mark.parametrize(
    ("fields", "limit", "size", "path", "words"),
    [
        ("authors: [1], artists: [1], categories: [drama]", "MAX_SHARED_TEXTS", 8 + 5 + 8 + 5, (), "people"),
        (
            f"title: abc, chapter_title: '{{series}}{{title}}', "
            f"chapters: [{chapter('number: 1, title: de, groups: [1]')}, {chapter('number: 2')}]",
            "MAX_CHAPTER_TEXTS",
            *(2 * (len("{series}{title}") + 3) + 2 + 11, (), "full titles"),
        ),
        ("formerly: [b, c, d]", "MAX_OLD_SLUGS", 3, ("formerly",), "old slugs"),
    ],
)
def test_texts_that_a_series_repeats_have_a_limit(
    fields: str, limit: str, size: int, path: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bodies of series and chapters have them, so that few bytes of a catalog could become gigabytes."""
    monkeypatch.setattr(cross_checks, limit, size)
    assert complaints(series(fields)) == []
    monkeypatch.setattr(cross_checks, limit, size - 1)
    (problem,) = complaints(series(fields))
    assert (problem.file, problem.path, words in problem.message) == ("series/a.yaml", path, True)
    assert f"more than {size - 1} " in problem.message


def test_reference_to_an_unreadable_file_is_no_problem() -> None:
    """One broken file is one problem, not one for each reference to it."""
    for unreadable, text in [
        ("authors.yaml", "series: {a: {authors: [Zebedee, 12]}}"),
        ("artists.yaml", "series: {a: {artists: [Zebedee]}}"),
        ("categories.yaml", "series: {a: {categories: [nothing]}}"),
        ("groups.yaml", f"series: {{a: {{chapters: [{chapter('number: 1, groups: [Zebedee]')}]}}}}"),
        ("members.yaml", "groups: [{id: 1, name: Night Shift, members: [{member: Zebedee, role: None}]}]"),
        ("series/b.yaml", "accounts: [{username: reader, bookmarks: [b]}]"),
        ("series/b/chapters/1.yaml", "accounts: [{username: reader, bookmarks: [b]}]"),
    ]:
        assert complaints(text, {unreadable}) == []
        assert len(complaints(text)) >= 1


def test_repeated_reference_to_an_unreadable_file_is_a_problem() -> None:
    """The repetition is in the file that was read."""
    assert complaints("series: {a: {authors: [Zebedee, Zebedee]}}", {"authors.yaml"}) == [
        UnlocatedProblem("series/a.yaml", ("authors", 1), "is listed twice; remove one of them")
    ]
