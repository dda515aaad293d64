"""The division of entries into packs: it follows from the entries alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.hosts.packs import leaves, pack_format
from generator.hosts.packs.leaves import PART_BITS, PARTS, Leaf
from generator.hosts.packs.pack_format import RECORD, PackItem

# Digests of keys: few first bytes, so that many entries share a part; and some that share all bits of a leaf.
keys = st.builds(
    lambda first, rest: bytes([first, rest]) + bytes(2) + rest.to_bytes(12),
    st.sampled_from([0, 1, 2, 3, 127, 128, 255]),
    st.integers(0, 255),
)
data = st.integers(0, 400).map(bytes)


@pytest.fixture(autouse=True)
def small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_format, "MAX_PACK", 1000)


def by_parts(items: list[PackItem]) -> list[Leaf]:
    """What `pack` does to a tree: it writes the parts that have several leaves, and then joins the others."""
    found: list[Leaf] = []
    for part in range(PARTS):
        here = [item for item in items if item.key[0] == part]
        found += leaves.divided(here, part << leaves.BITS - PART_BITS, PART_BITS)
    return leaves.joined(found)


@given(st.dictionaries(keys, data, max_size=80))
@settings(max_examples=150)
def test_parts_give_what_the_whole_gives(entries: dict[bytes, bytes]) -> None:
    """Every entry is where a worker looks for it, and no pack is longer than it may be."""
    pytest.MonkeyPatch().setattr(pack_format, "MAX_PACK", 1000)
    items = [PackItem(key, bytes(RECORD - len(key) - 4), text) for key, text in sorted(entries.items())]
    whole = list(leaves.divided(items))
    assert by_parts(items) == whole
    assert [item for leaf in whole for item in leaf.items] == items
    end = 0
    for leaf in whole:
        assert leaf.start == end
        end = leaf.start + (1 << leaves.BITS - leaf.depth)
        assert leaf.size == sum(RECORD + len(item.data) for item in leaf.items)
        assert leaf.size <= 1000 or leaf.depth == leaves.BITS
        assert all(leaf.start <= leaves.position(item.key) < end for item in leaf.items)
    assert end == 1 << leaves.BITS


def test_a_directory_names_its_packs() -> None:
    directory = leaves.dump([Leaf(0, 1, 9, (), b"a" * 16), Leaf(1 << 31, 1, 0, ())])
    assert directory == b"\x01" + b"a" * 16 + b"\x01" + bytes(16)
    assert list(leaves.names(directory)) == [b"a" * 16]


def test_an_empty_tree_has_no_file() -> None:
    assert leaves.dump(by_parts([])) == bytes(17)
