"""The division of entries into packs: it follows from the entries alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.hosts.packs import leaves, pack_format
from generator.hosts.packs.leaves import Leaf
from generator.hosts.packs.pack_format import NO_PACK, RECORD, PackItem

# Digests of keys: few first bytes, so that many entries share a part; and some that share all bits of a leaf.
keys = st.builds(
    lambda first, rest: bytes([first, rest]) + bytes(2) + rest.to_bytes(12),
    st.sampled_from([0, 1, 2, 3, 127, 128, 255]),
    st.integers(0, 255),
)
data = st.integers(0, 400).map(bytes)
rounds = st.lists(st.dictionaries(keys, st.none() | data, max_size=40), min_size=1, max_size=5)


class Files:
    """Packs in memory, and how many were read."""

    def __init__(self) -> None:
        self.packs: dict[bytes, bytes] = {}
        self.reads = 0

    def load(self, leaf: Leaf) -> list[PackItem]:
        if leaf.items is not None:
            return leaf.items
        self.reads += 1
        return list(pack_format.load(self.packs[leaf.name])) if leaf.name and leaf.name != NO_PACK else []

    def save(self, leaf: Leaf) -> None:
        if leaf.items is not None:
            pack = pack_format.dump(leaf.items)
            leaf.name = pack_format.file_name(pack) if leaf.items else NO_PACK
            self.packs[leaf.name] = pack
            leaf.items = None

    def changed(self, old: list[Leaf], changes: dict[bytes, bytes | None]) -> list[Leaf]:
        """What `pack` does to one tree."""
        narrow: list[Leaf] = []
        for part, here in enumerate(leaves.parts(old, self.load)):
            items = {key: text and item(key, text) for key, text in changes.items() if key[0] == part}
            narrow += leaves.arranged(
                leaves.changed(here, items, self.load) if items else here, self.load, part << 24, leaves.PART_BITS
            )
        result = list(leaves.arranged(narrow, self.load))
        for leaf in result:
            self.save(leaf)
        return result


def item(key: bytes, text: bytes) -> PackItem:
    return PackItem(key, bytes(RECORD - len(key) - 4), text)


@pytest.fixture(autouse=True)
def small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_format, "MAX_PACK", 1000)


@given(rounds)
@settings(max_examples=150)
def test_steps_give_what_one_pack_gives(history: list[dict[bytes, bytes | None]]) -> None:
    """After any history the directory is that of the entries packed at once; every entry is where it is looked for."""
    pytest.MonkeyPatch().setattr(pack_format, "MAX_PACK", 1000)
    files, known = Files(), {}
    stepped = [leaves.of_items(())]
    for changes in history:
        # A key without data is removed; one that does not exist may be as well.
        stepped = files.changed(stepped, {key: text or None for key, text in changes.items()})
        known |= changes
        known = {key: text for key, text in known.items() if text}
        whole = Files().changed([leaves.of_items(())], known)
        assert leaves.dump(stepped) == leaves.dump(whole)

        loaded = leaves.load(leaves.dump(stepped), lambda name: len(files.packs[name]))
        assert loaded == stepped
        found = {entry.key: entry.data for leaf in stepped for entry in files.load(leaf)}
        assert found == known
        for leaf in stepped:
            assert leaf.size <= 1000 or leaf.depth == leaves.BITS
            assert all(leaf.start <= leaves.position(entry.key) < end(leaf) for entry in files.load(leaf))


def end(leaf: Leaf) -> int:
    return leaf.start + (1 << leaves.BITS - leaf.depth)


def spread() -> dict[bytes, bytes | None]:
    """4096 entries of 120 bytes, as far from each other as they can be."""
    return {(index << 20).to_bytes(4) + bytes(12): bytes(60) for index in range(4096)}


def test_leaves_without_changes_are_not_read() -> None:
    """One changed entry costs one pack."""
    files = Files()
    many = files.changed([leaves.of_items(())], spread())
    assert len(many) == 512
    files.reads = 0
    again = files.changed(many, {(4000 << 20).to_bytes(4) + bytes(12): b"new"})
    assert files.reads == 1
    assert sum(new.name != old.name for new, old in zip(again, many, strict=True)) == 1


def test_an_empty_tree_has_no_file() -> None:
    assert leaves.dump(Files().changed([leaves.of_items(())], {})) == bytes(17)
