"""Two JSON values and what is different: whatever differs is found, once, and called by its name."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from generator import encoding
from generator.review.diff.json_diff import ADDED, CHANGED, MOVED, REMOVED, json_changes, path_text

SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, -0.0, 1.0, 1.5]) | st.text("ab", max_size=2)
)
# Few names, so that two values often have much in common.
NAMES = st.sampled_from(["id", "slug", "volume", "number", "title", "1", "a b"])


def inside(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=4) | st.dictionaries(NAMES, values, max_size=4)


VALUES = st.recursive(SCALARS, inside, max_leaves=12)
CHAPTER = st.fixed_dictionaries({"id": st.integers(1, 9), "title": st.text("ab", max_size=1)})
CHAPTERS = st.lists(CHAPTER, unique_by=lambda one: one["id"])
ANY = VALUES | CHAPTERS
# No deadline: a busy machine is no failure.
OFTEN = settings(deadline=None, max_examples=300, derandomize=True)
MIRROR = {ADDED: REMOVED, REMOVED: ADDED, CHANGED: CHANGED, MOVED: MOVED}


def told(old: Any, new: Any) -> list[tuple[str, str, Any, Any]]:
    return [(path_text(one.path), one.kind, one.old, one.new) for one in json_changes(old, new)]


@OFTEN
@given(ANY)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    """Read again, it is the same to the last byte."""
    assert told(value, encoding.parse(encoding.json(value))) == []


@OFTEN
@given(ANY, ANY)
@example(1, True)
@example(0, -0.0)
@example(1, 1.0)
@example([1, 1, 2], [1, 2, 2])
@example({"a": 1, "b": 2}, {"b": 2, "a": 1})
def test_whatever_differs_is_found(old: Any, new: Any) -> None:
    """There is a change wherever the bytes are not the same, and none where they are."""
    assert bool(told(old, new)) == (encoding.json(old) != encoding.json(new))


@OFTEN
@given(ANY, ANY)
def test_the_way_back_is_the_same_way(old: Any, new: Any) -> None:
    """What was added is removed again, in the same place; as many things move."""
    there = list(json_changes(old, new))
    back = list(json_changes(new, old))

    def still(found: list[Any]) -> Counter[Any]:
        return Counter((path_text(one.path), one.kind) for one in found if one.kind != MOVED)

    assert still(there) == Counter({(path, MIRROR[kind]): n for (path, kind), n in still(back).items()})
    assert sum(one.kind == MOVED for one in there) == sum(one.kind == MOVED for one in back)


@OFTEN
@given(CHAPTERS, st.data())
def test_one_edit_is_one_change(chapters: list[dict[str, Any]], data: st.DataObject) -> None:
    """A title that is edited is told by the id of its chapter, wherever the chapter stands."""
    chapters.append({"id": 10, "title": "old"})
    edited = [{**one, "title": "new"} if one["id"] == 10 else dict(one) for one in chapters]

    assert told(chapters, edited) == [("[id=10].title", CHANGED, "old", "new")]


@OFTEN
@given(st.lists(st.integers(1, 99), min_size=2, unique=True), st.data())
def test_what_is_carried_elsewhere_is_one_move(ids: list[int], data: st.DataObject) -> None:
    """One thing that stands elsewhere does not make all that stand behind it changes."""
    start, end = (data.draw(st.integers(0, len(ids) - 1)) for _ in range(2))
    after = [*ids]
    after.insert(end, after.pop(start))
    found = told([{"id": one} for one in ids], [{"id": one} for one in after])

    assert [kind for _, kind, _, _ in found] == [MOVED] * (start != end)
    if abs(start - end) > 1:
        assert found == [(f"[id={ids[start]}]", MOVED, start + 1, end + 1)]


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
        # Called by its number as long as it has the same.
        (
            [{"id": 7, "volume": 1, "number": "1"}, {"id": 8, "volume": 1, "number": "2", "x": 1}],
            [{"id": 7, "volume": 1, "number": "3"}, {"id": 8, "volume": 1, "number": "2", "x": 2}],
            [("[id=7].number", CHANGED, "1", "3"), ("[volume=1, number=2].x", CHANGED, 1, 2)],
        ),
        # Ids of which two are alike tell nothing apart.
        ([{"id": 1, "x": 1}, {"id": 1, "x": 2}], [{"id": 1, "x": 1}, {"id": 1, "x": 3}], [("[1].x", CHANGED, 2, 3)]),
        ([{"id": [1]}], [{"id": [2]}], [("[0].id[0]", CHANGED, 1, 2)]),
    ],
)  # fmt: skip
def test_changes_are_told_by_field(old: Any, new: Any, expected: list[tuple[str, str, Any, Any]]) -> None:
    """A path leads to each change, through lists by what their items are called."""
    assert told(old, new) == expected
