"""Segments: the long files of a release are the lines of all series, joined in blocks."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from generator.pipeline import program_version, segments
from generator.pipeline import run as pipeline
from generator.pipeline.cache import RELEASE, Cache
from generator.release.changes import differences
from generator.release.manifest_reader import ManifestReader
from generator.review import verify_files
from tests.conftest import Site, copy_of


def test_the_size_of_blocks_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is written in blocks, because it may be larger than memory; its content is the same."""
    release = copy_of("everything", tmp_path / "whole").build().release
    for block in (1, 500):
        blocks = copy_of("everything", tmp_path / str(block))
        monkeypatch.setattr(segments, "_BLOCK", block)
        assert blocks.build().release == release
        assert list(verify_files.check_files(blocks.store)) == []


def test_segments_of_the_cache_are_the_lines_of_the_release(site: Site) -> None:
    """The next build compares its own with them."""
    pipeline.build(replace(site.options, cache=site.folder / "cache"))
    with (
        closing(Cache(site.folder / "cache", program_version.current())) as cache,
        ManifestReader(site.store.manifest_path(site.store.release())) as reader,
    ):
        stored = segments.Segments(cache)
        stored.load((cache.recall(RELEASE) or {})["segments"])

        assert reader.segments
        assert list(differences(reader, stored)) == []
