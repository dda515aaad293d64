"""The JSON diff reports every difference once, with its path."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from generator import encoding
from generator.review.diff.json_diff import ADDED, CHANGED, MOVED, REMOVED, json_changes, path_text
from tests.support.runs import everything

SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, -0.0, 1.0, 1.5]) | st.text("ab", max_size=2)
)
# Few names, so that two values often share fields.
NAMES = st.sampled_from(["id", "slug", "volume", "number", "title", "1", "a b"])


def inside(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=4) | st.dictionaries(NAMES, values, max_size=4)


VALUES = st.recursive(SCALARS, inside, max_leaves=12)
CHAPTER = st.fixed_dictionaries({"id": st.integers(1, 9), "title": st.text("ab", max_size=1)})
CHAPTERS = st.lists(CHAPTER, unique_by=lambda one: one["id"])
ANY = VALUES | CHAPTERS
OFTEN = settings(max_examples=300 if everything else 60, derandomize=True)
MIRROR = {ADDED: REMOVED, REMOVED: ADDED, CHANGED: CHANGED, MOVED: MOVED}


def change_tuples(old: Any, new: Any) -> list[tuple[str, str, Any, Any]]:
    return [(path_text(one.path), one.kind, one.old, one.new) for one in json_changes(old, new)]


@OFTEN
@given(ANY)
def test_equal_values_have_no_changes(value: Any) -> None:
    """Also after serialising and parsing."""
    assert change_tuples(value, encoding.parse(encoding.json(value))) == []


@OFTEN
@given(ANY, ANY)
@example(1, True)
@example(0, -0.0)
@example(1, 1.0)
@example([1, 1, 2], [1, 2, 2])
@example({"a": 1, "b": 2}, {"b": 2, "a": 1})
def test_values_with_different_bytes_have_changes(old: Any, new: Any) -> None:
    """And values with the same bytes have none."""
    assert bool(change_tuples(old, new)) == (encoding.json(old) != encoding.json(new))


@OFTEN
@given(ANY, ANY)
def test_the_reverse_diff_has_the_reverse_changes(old: Any, new: Any) -> None:
    """Added items are removed at the same path, and as many items move."""
    there = list(json_changes(old, new))
    back = list(json_changes(new, old))

    def still(changes: list[Any]) -> Counter[Any]:
        return Counter((path_text(one.path), one.kind) for one in changes if one.kind != MOVED)

    assert still(there) == Counter({(path, MIRROR[kind]): n for (path, kind), n in still(back).items()})
    assert sum(one.kind == MOVED for one in there) == sum(one.kind == MOVED for one in back)


@OFTEN
@given(CHAPTERS)
def test_an_edited_title_is_one_change(chapters: list[dict[str, Any]]) -> None:
    """Its path contains the id of the chapter, at any position in the list."""
    chapters.append({"id": 10, "title": "old"})
    edited = [{**one, "title": "new"} if one["id"] == 10 else dict(one) for one in chapters]

    assert change_tuples(chapters, edited) == [("[id=10].title", CHANGED, "old", "new")]


@OFTEN
@given(st.lists(st.integers(1, 99), min_size=2, unique=True), st.data())
def test_an_item_at_another_position_is_one_move(ids: list[int], data: st.DataObject) -> None:
    """The items after it do not change."""
    start, end = (data.draw(st.integers(0, len(ids) - 1)) for _ in range(2))
    after = [*ids]
    after.insert(end, after.pop(start))
    moves = change_tuples([{"id": one} for one in ids], [{"id": one} for one in after])

    assert [kind for _, kind, _, _ in moves] == [MOVED] * (start != end)
    if abs(start - end) > 1:
        assert moves == [(f"[id={ids[start]}]", MOVED, start + 1, end + 1)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"title": "A"}, {"title": "B"}, [("title", CHANGED, "A", "B")]),
        ({}, {"title": "A"}, [("title", ADDED, None, "A")]),
        ({"a b": {"é": 1}}, {"a b": {"é": 2}}, [('["a b"]["é"]', CHANGED, 1, 2)]),
        ([], {}, [("", CHANGED, [], {})]),
        (["a", "b"], ["a", "c"], [("[1]", CHANGED, "b", "c")]),
        (["a", "b"], ["b"], [("[0]", REMOVED, "a", None)]),
        (["a"], ["a", "a"], [("[1]", ADDED, None, "a")]),
        ([{"slug": "a", "n": 1}], [{"slug": "b", "n": 1}], [
            ("[slug=a]", REMOVED, {"slug": "a", "n": 1}, None),
            ("[slug=b]", ADDED, None, {"slug": "b", "n": 1}),
        ]),
        (
            [{"volume": 1, "number": 1.0, "x": 1}, {"volume": None, "number": 1.0, "x": 1}],
            [{"volume": 1, "number": 1.0, "x": 2}, {"volume": None, "number": 1.0, "x": 2}],
            [("[volume=1, number=1.0].x", CHANGED, 1, 2), ("[number=1.0].x", CHANGED, 1, 2)],
        ),
        # The number is the name of a chapter while it is unchanged.
        (
            [{"id": 7, "volume": 1, "number": "1"}, {"id": 8, "volume": 1, "number": "2", "x": 1}],
            [{"id": 7, "volume": 1, "number": "3"}, {"id": 8, "volume": 1, "number": "2", "x": 2}],
            [("[id=7].number", CHANGED, "1", "3"), ("[volume=1, number=2].x", CHANGED, 1, 2)],
        ),
        # Duplicate ids are no identity.
        ([{"id": 1, "x": 1}, {"id": 1, "x": 2}], [{"id": 1, "x": 1}, {"id": 1, "x": 3}], [("[1].x", CHANGED, 2, 3)]),
        ([{"id": [1]}], [{"id": [2]}], [("[0].id[0]", CHANGED, 1, 2)]),
    ],
)  # fmt: skip
def test_the_path_of_each_change(old: Any, new: Any, expected: list[tuple[str, str, Any, Any]]) -> None:
    """List items are named by their identity."""
    assert change_tuples(old, new) == expected
