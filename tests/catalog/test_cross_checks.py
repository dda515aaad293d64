"""What only shows when every file has been read. The sentences are in tests/data/wrong/references.md."""

import pytest

from generator.catalog.problems.locate import UnlocatedProblem
from tests.support.yaml_catalogs import complaints

PEOPLE = """
authors: [{id: 1, name: Ada Penn, aliases: [A. P.]}, {id: 2, name: "7"}, {id: 7, name: Bo Ink}]
artists: [{id: 1, name: Cy Brush}]
categories: [{id: drama, name: Drama}]
groups: [{id: 1, name: Night Shift, members: [{member: Wren, role: Editor}, {member: 1, role: Letterer}]}]
members: [{id: 1, name: Wren}]
accounts: [{username: reader, bookmarks: [a]}]
"""


def chapter(fields: str) -> str:
    return f"{{published: 2026-01-01, pages: [], {fields}}}"


def series(fields: str) -> str:
    return f"{PEOPLE}\nseries: {{a: {{{fields}}}}}"


@pytest.mark.parametrize(
    "fields",
    [
        "",
        "authors: [Ada Penn, 7], artists: [Cy Brush], categories: [drama]",
        'authors: [1, "7"]',
        f"chapters: [{chapter('number: 1, groups: [Night Shift]')}, {chapter('number: 2, groups: [1]')}]",
        f"chapters: [{chapter('number: 1')}, {chapter('number: 1, volume: 1')}, {chapter('number: 1, volume: 2')}]",
        f"chapters: [{chapter('number: 1, id: 1')}, {chapter('number: 1.1, id: 2')}, {chapter('number: 1.01')}]",
    ],
)
def test_what_fits_together_has_no_problems(fields: str) -> None:
    """Names and ids refer, a member may have two roles, and the same number in two volumes is two chapters."""
    assert complaints(series(fields)) == []


def test_a_name_is_not_an_alias() -> None:
    """Who is meant is written as the list writes it, so that renaming somebody's alias breaks nothing."""
    assert complaints(series('authors: ["A. P."]')) == [
        UnlocatedProblem(
            "series/a.yaml", ("authors", 0), "no author is named A. P.; it is an alias of Ada Penn; use that name"
        )
    ]


def test_digits_in_quotes_are_a_name_and_bare_ones_an_id() -> None:
    """A person named 7 and the person with the id 7 are two people."""
    assert complaints(series('authors: [7, "7"]')) == []


def test_ids_of_different_lists_are_independent() -> None:
    """The author 1, the artist 1, the group 1, the member 1 and the chapter 1 share nothing but a digit."""
    assert (
        complaints(series(f"authors: [1], artists: [1], chapters: [{chapter('number: 1, id: 1, groups: [1]')}]")) == []
    )


def test_usernames_may_be_like_names_of_others() -> None:
    """An account is told from an account only."""
    assert complaints("accounts: [{username: drama}]\ncategories: [{id: drama, name: Drama}]") == []


@pytest.mark.parametrize(
    ("unreadable", "text"),
    [
        ("authors.yaml", "series: {a: {authors: [Nobody, 12]}}"),
        ("artists.yaml", "series: {a: {artists: [Nobody]}}"),
        ("categories.yaml", "series: {a: {categories: [nothing]}}"),
        ("groups.yaml", f"series: {{a: {{chapters: [{chapter('number: 1, groups: [Nobody]')}]}}}}"),
        ("members.yaml", "groups: [{id: 1, name: Night Shift, members: [{member: Nobody, role: None}]}]"),
        ("series/b.yaml", "accounts: [{username: reader, bookmarks: [b]}]"),
        ("series/b/chapters/1.yaml", "accounts: [{username: reader, bookmarks: [b]}]"),
    ],
)
def test_what_may_stand_in_a_file_that_was_not_read_is_not_called_unknown(unreadable: str, text: str) -> None:
    """One broken file is one problem, not one for each thing that refers to it."""
    assert complaints(text, {unreadable}) == []
    assert len(complaints(text)) >= 1


def test_what_stands_twice_is_told_although_its_list_was_not_read() -> None:
    """A repetition shows in the one file that repeats."""
    assert complaints("series: {a: {authors: [Nobody, Nobody]}}", {"authors.yaml"}) == [
        UnlocatedProblem("series/a.yaml", ("authors", 1), "is listed twice; remove one of them")
    ]


def test_of_three_with_one_id_the_second_and_the_third_are_told() -> None:
    """The first in the order of files keeps the id."""
    text = (
        f"series: {{b: {{chapters: [{chapter('number: 1, id: 5')}]}}, c: {{chapters: [{chapter('number: 1, id: 5')}, "
    )
    found = complaints(f"{text}{chapter('number: 2, id: 5')}]}}}}")

    assert found == [
        UnlocatedProblem(
            "series/c.yaml",
            ("chapters", index, "id"),
            "the id 5 is already used by chapters[0] in series/b.yaml; choose another",
        )
        for index in (0, 1)
    ]
