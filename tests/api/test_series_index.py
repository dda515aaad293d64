"""The index of filtered lists: parts of names, and sets of series as texts."""

import base64
import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.api.payloads import series_index
from generator.api.payloads.series_index import COMMON_PART, LONGEST_PART, MAX_CANDIDATES, positions_by_part

names = st.text("aab \u00e9\u5225", max_size=12)
texts = st.lists(st.lists(names, min_size=1, max_size=2).map("\n".join), max_size=40)


def containing(texts: list[str], part: str) -> list[int]:
    return [position for position, text in enumerate(texts) if part in text]


@given(texts)
def test_part_has_the_positions_of_all_texts_that_contain_it(texts: list[str]) -> None:
    """No part crosses a line, and each position is listed once."""
    parts = positions_by_part(texts)

    assert {part: sorted(positions) for part, positions in parts.items()} == {
        part: containing(texts, part) for part in parts
    }
    assert not any("\n" in part for part in parts)


@given(texts)
def test_short_and_common_parts_are_listed(texts: list[str]) -> None:
    """All parts of one or two characters, and longer ones of more than one in COMMON_PART texts."""
    lines = [line for text in texts for line in text.split("\n")]
    all_parts = {
        line[start : start + length]
        for line in lines
        for length in range(1, LONGEST_PART + 1)
        for start in range(len(line) - length + 1)
    }
    expected = {part for part in all_parts if len(part) <= 2 or len(containing(texts, part)) > len(texts) / COMMON_PART}

    assert positions_by_part(texts).keys() == expected


def stored(text: str) -> list[int]:
    bytes = base64.b64decode(text)
    return list(struct.unpack(f"<{len(bytes) // 4}i", bytes))


def test_thousands_of_names_of_one_series_have_few_parts() -> None:
    """Each part of the only text is common. All of them would be looked for in all of it, and make a huge index."""
    text = "\n".join(f"{number * 7919 % 1000003:06}" for number in range(3000))
    parts = positions_by_part([text])

    assert len(parts) < MAX_CANDIDATES
    assert {part for part in parts if len(part) == 2} == {a + b for line in text.split("\n") for a, b in pairwise(line)}


def test_rare_parts_do_not_displace_common_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only common parts are made longer, so the limit of candidates is one of common parts."""
    monkeypatch.setattr(series_index, "MAX_CANDIDATES", 1)
    rare = [f"{chr(0x4E00 + 3 * number)}{chr(0x4E01 + 3 * number)}{chr(0x4E02 + 3 * number)}" for number in range(9)]

    assert "abc" in positions_by_part(["abc"] * 9 + rare)


@pytest.mark.parametrize("total", [0, 1, 32, 33])
def test_set_of_all_series_has_the_length_of_every_set(total: int) -> None:
    """A site without series has a set without integers."""
    assert len(stored(series_index.bits(range(total), total))) == series_index.words(total) == -(-total // 32)


def test_shorter_form_of_a_set_is_stored() -> None:
    """Of 100 series, three need fewer integers than four words of bits."""
    lists = series_index.PositionLists(100)
    numbers = [lists.add([9, 1, 5]), lists.add([1, 2, 3, 4]), lists.add([9, 1, 5])]

    assert numbers == [0, 1, 0]
    assert [stored(text) for text in lists.texts] == [[1, 5, 9], stored(series_index.bits([1, 2, 3, 4], 100))]


def test_named_sets_have_the_positions_of_each_order() -> None:
    """Equal sets are stored once. The set of all series is the first."""
    sets = series_index.NamedSets(3)
    numbers = sets.by_name([{"a", "b"}, {"b"}, {"b", "c"}])
    order = sets.in_order([2, 0, 1], ranked=True)

    assert numbers == {"a": 1, "b": sets.everything, "c": 2}
    assert sets.counts == [3, 1, 1]
    assert order == {
        "sets": [series_index.bits(positions, 3) for positions in ([0, 1, 2], [1], [0])],
        "series": [2, 0, 1],
        "ranks": series_index.integers([1, 2, 0]),
    }
    assert sets.in_order([0, 1, 2], ranked=False) == {
        "sets": [series_index.bits(positions, 3) for positions in ([0, 1, 2], [0], [2])]
    }
