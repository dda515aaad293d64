"""Lists that are too long to be made in one piece: the same bytes, put together from what is there already."""

import gzip
import re
from dataclasses import replace
from pathlib import Path

import pytest

from generator.filesystem import PartialFile
from generator.pipeline import long_lists, run
from generator.release.manifest import Manifest
from generator.release.store import TREES
from generator.review import verify_files
from tests.conftest import SITES, Site, copy_of
from tests.support import tree_snapshot

LISTS = ("/api/series", "/api/v1/series", "/api/v2/chapters", "/api/v2/chapters?date_format=timestamp")


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every list is a long one."""
    monkeypatch.setattr(long_lists, "LONG", 0)


def tags(manifest: Manifest) -> dict[str, str]:
    return {url: one.etag for url, one in manifest.resources.items()}


@pytest.mark.parametrize("name", sorted(one.name for one in SITES.iterdir()))
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_a_list_in_pieces_has_the_same_bytes(
    name: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a list is long is for the build to know, and for nobody else."""
    whole, pieces = copy_of(name, tmp_path / "whole"), copy_of(name, tmp_path / "pieces")
    whole.build()
    monkeypatch.setattr(long_lists, "LONG", 0)
    monkeypatch.setattr(long_lists, "_BLOCK", block)
    pieces.build()

    assert tags(pieces.manifest) == tags(whole.manifest)
    assert list(verify_files.check_files(pieces.store)) == []


def test_the_compressed_form_of_a_long_list_is_one_member(long: None, tmp_path: Path) -> None:
    """Clients in the field read no second one."""
    site = copy_of("everything", tmp_path)
    site.build()
    for url in LISTS:
        one = site.manifest.resources[url]
        packed = (tmp_path / "dist" / f"{one.file}.gz").read_bytes()

        assert gzip.decompress(packed) == (tmp_path / "dist" / one.file).read_bytes()
        assert packed.count(packed[:10]) == 1


def test_a_long_list_that_comes_back_is_taken_up_again(long: None, site: Site) -> None:
    """A change and its reversal leave what a build from nothing leaves, and no half of a list."""
    options = replace(site.options, cache=site.folder / "cache")
    tree_snapshot.first_version(site)
    run.build(options)
    first = tags(site.manifest)
    tree_snapshot.second_version(site)
    run.build(options)
    tree_snapshot.first_version(site)
    run.build(options)

    assert tags(site.manifest) == first
    assert list(verify_files.check_files(site.store)) == []


def test_a_long_list_that_is_there_is_not_written_again(long: None, site: Site) -> None:
    """A build that remembers nothing finds it by its tag."""
    tree_snapshot.first_version(site)
    site.build()
    before = tree_snapshot.state(site.folder / "dist/www")
    site.build()

    assert tree_snapshot.state(site.folder / "dist/www").keys() == before.keys()
    assert {name: one for name, one in tree_snapshot.state(site.folder / "dist/www").items() if name != "."} == {
        name: one for name, one in before.items() if name != "."
    }


def test_bodies_above_the_budget_are_named(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """By URL, size and the setting that says what is big; on every build, whether they changed or not."""
    options = replace(site.options, cache=site.folder / "cache")
    names = "".join(f"      - page-{number:06}-of-a-very-long-chapter-indeed.jpg\n" for number in range(9_999))
    chapters = "".join(
        f"  - number: {number}\n    published: 2026-01-01\n    modified: 2026-01-01\n    pages:\n{names}"
        for number in (1, 2, 3)
    )
    site.write("series/first.yaml", f"title: First\ncover: c.jpg\nmodified: 2026-01-01\nchapters:\n{chapters}")
    site.write("site.yaml", "base_url: https://minimal.example\nbody_budget: 1\n")
    first, again = run.build(options), run.build(options)

    assert first.warnings == again.warnings
    sentence = r"/api/series: 1\.\d MiB exceed body_budget \(1 MiB\) in (.*)"
    matches = [match for warning in first.warnings if (match := re.fullmatch(sentence, warning))]
    assert [match[1] for match in matches] == [f"{site.folder}/catalog_src/site.yaml"]


def test_a_long_list_that_is_restricted_is_made_where_nobody_may_read(
    long: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build that is killed would leave its beginning there."""
    site = copy_of("v2", tmp_path)
    with (tmp_path / "catalog_src/site.yaml").open("a") as settings:
        settings.write("\nrestricted: [/chapters]\n")
    grown = []
    whole = PartialFile.__init__
    monkeypatch.setattr(PartialFile, "__init__", lambda self, path: grown.append(path) or whole(self, path))
    site.build()

    tree = {path.parent for path in grown if path.parent.name in TREES}
    hidden = [one for one in site.manifest.resources.values() if one.url.partition("?")[0] == LISTS[2]]
    assert all(one.restricted for one in hidden)
    assert tree == {tmp_path / "dist" / name for name in TREES}
    assert len([path for path in grown if path.parent.name == "private"]) == 2 * len(hidden)
