"""The division of entries into packs: it follows from the entries alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.hosts.packs import pack_format
from generator.hosts.packs.pack_format import BITS, DIGEST, RECORD

# Digests of keys: few first bytes, so that many entries share packs; and some that share all bits of a leaf.
keys = st.builds(
    lambda first, rest: bytes([first, rest]) + bytes(2) + rest.to_bytes(12),
    st.sampled_from([0, 1, 2, 3, 127, 128, 255]),
    st.integers(0, 255),
)
lengths = st.integers(0, 400)


def line(key: bytes, length: int) -> bytes:
    """The line of a body in its pack whose stored form has this length."""
    return key + bytes(RECORD - DIGEST - 10) + length.to_bytes(6) + b"file"


@given(st.dictionaries(keys, lengths, max_size=80))
@settings(max_examples=150)
def test_each_entry_is_in_the_pack_of_its_digest(entries: dict[bytes, int]) -> None:
    """Every entry is where a worker looks for it, and no pack is longer than it may be, or could be joined."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack_format, "MAX_PACK", 1000)
        lines = [line(key, length) for key, length in sorted(entries.items())]
        packs = list(pack_format.divided(lines))
    assert [line for _, below in packs for line in below] == lines
    end, before = 0, (-1, 0, 0)
    for depth, below in packs:
        start, end = end, end + (1 << BITS - depth)
        size = sum(RECORD + entries[line[:DIGEST]] for line in below)
        assert size <= 1000 or depth == BITS
        assert all(start <= int.from_bytes(line[:4]) < end for line in below)
        are_halves = before[0] == depth and not before[1] & 1 << BITS - depth
        assert not are_halves or before[2] + size > 1000
        before = depth, start, size
    assert end == 1 << BITS


def test_a_directory_names_its_packs() -> None:
    directory = b"\x01" + b"a" * 16 + b"\x01" + bytes(16)
    assert list(pack_format.names(directory)) == [b"a" * 16]


def test_an_empty_tree_has_no_file() -> None:
    assert list(pack_format.divided([])) == [(0, [])]
    assert not any(pack_format.EMPTY_DIRECTORY)
    assert len(pack_format.EMPTY_DIRECTORY) == 1 + DIGEST
