"""Segments: the long files of a release are the lines of all series, joined in blocks."""

from pathlib import Path

import pytest

from generator.pipeline import segments
from generator.review import verify_files
from tests.conftest import copy_of


@pytest.mark.parametrize("block", [1, 500])
def test_the_size_of_blocks_does_not_matter(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is written in blocks, because it may be larger than memory; its content is the same."""
    whole, blocks = copy_of("everything", tmp_path / "whole"), copy_of("everything", tmp_path / "blocks")
    release = whole.build().release
    monkeypatch.setattr(segments, "_BLOCK", block)

    assert blocks.build().release == release
    assert list(verify_files.check_files(blocks.store)) == []
