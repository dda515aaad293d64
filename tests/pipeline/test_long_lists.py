"""Long lists: joined from pieces, with the same bytes as a list that is encoded as a whole."""

import gzip
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from generator import encoding
from generator.filesystem import PartialFile
from generator.pipeline import long_lists, run
from generator.release import bodies, transaction
from generator.release.manifest import Manifest
from generator.release.store import TREES
from generator.review import verify_files
from tests.conftest import SITES, Site, copy_of
from tests.support import tree_snapshot

LISTS = ("/api/series", "/api/v1/series", "/api/v2/chapters", "/api/v2/chapters?date_format=timestamp")


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat every list as a long one."""
    monkeypatch.setattr(long_lists, "LONG", 0)


def etags(manifest: Manifest) -> dict[str, str]:
    return {url: body.etag for url, body in manifest.resources.items()}


@pytest.mark.end_to_end
@pytest.mark.parametrize(("name", "block"), [*((one.name, 1) for one in sorted(SITES.iterdir())), ("v2", 1 << 20)])
def test_a_list_in_pieces_has_the_same_bytes(
    name: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The length of a list changes how it is written, not its content."""
    whole, pieces = copy_of(name, tmp_path / "whole"), copy_of(name, tmp_path / "pieces")
    whole.build()
    monkeypatch.setattr(long_lists, "LONG", 0)
    monkeypatch.setattr(long_lists, "_BLOCK", block)
    pieces.build()

    assert etags(pieces.manifest) == etags(whole.manifest)
    assert list(verify_files.check_files(pieces.store)) == []


def test_a_long_list_is_compressed_as_one_gzip_member(long: None, tmp_path: Path) -> None:
    """Many clients read only the first member."""
    site = copy_of("everything", tmp_path)
    site.build()
    for url in LISTS:
        body = site.manifest.resources[url]
        compressed = (tmp_path / "dist" / f"{body.file}.gz").read_bytes()

        assert gzip.decompress(compressed) == (tmp_path / "dist" / body.file).read_bytes()
        assert compressed.count(compressed[:10]) == 1


def test_a_long_list_that_changes_back_is_used_again(long: None, site: Site) -> None:
    """After a change and its reversal the release is the same, without leftovers."""
    options = replace(site.options, cache=site.folder / "cache")
    tree_snapshot.first_version(site)
    run.build(options)
    first = etags(site.manifest)
    tree_snapshot.second_version(site)
    run.build(options)
    tree_snapshot.first_version(site)
    run.build(options)

    assert etags(site.manifest) == first
    assert list(verify_files.check_files(site.store)) == []


def test_an_unchanged_long_list_is_not_written_again(long: None, site: Site) -> None:
    """A build without a cache recognises it by its ETag."""
    states = []
    tree_snapshot.first_version(site)
    for _ in range(2):
        site.build()
        states.append(tree_snapshot.state(site.folder / "dist/www"))
        del states[-1]["."]

    assert states[0] == states[1]


def test_a_comment_in_the_catalog_writes_no_long_list(long: None, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of its pieces is unchanged. A kill during such a build leaves nothing to sweep."""
    options = replace(site.options, cache=site.folder / "cache")
    tree_snapshot.first_version(site)
    run.build(options)
    with (site.folder / "catalog_src/site.yaml").open("a") as settings:
        settings.write("# a comment\n")
    for module in (bodies, transaction):
        monkeypatch.setattr(module, "mark_unfinished", lambda folder: pytest.fail("a body is written"))

    assert run.build(options).changes["unchanged"] > 0


@pytest.mark.parametrize("url", ["/api/v2/chapters/11", "/api/series/kept", "/api/v1/series/kept"])
@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_text("{}")])
def test_a_damaged_body_does_not_get_into_a_list(site: Site, damage: Callable[[Path], object], url: str) -> None:
    """Lists consist of the bodies of chapters and series. A damaged one of an unchanged series is made again."""
    options = replace(site.options, cache=site.folder / "cache")
    chapters = "chapters:\n  - {{id: {}, number: 1, published: 2026-02-02T10:00:00Z, pages: [1.png]}}\n"
    for slug, number in (("kept", 11), ("edited", 12)):
        site.write(f"series/{slug}.yaml", f"title: {slug}\ncover: c.png\n{chapters.format(number)}")
    run.build(options)
    damage(site.folder / "dist" / site.manifest.resources[url].file)
    site.write("series/edited.yaml", f"title: Another title\ncover: c.png\n{chapters.format(13)}")
    run.build(options)
    after = site.manifest.resources

    assert list(verify_files.check_files(site.store)) == []
    listed = encoding.parse((site.folder / "dist" / after["/api/v2/chapters"].file).read_bytes())
    assert {chapter["id"] for chapter in listed["results"]} >= {11, 13}


def test_bodies_above_the_budget_are_warnings(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """With URL, size and setting; in every build, also if the bodies are unchanged."""
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


def test_a_restricted_long_list_is_written_below_private(
    long: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed build would otherwise leave a part of it in `www`."""
    site = copy_of("v2", tmp_path)
    with (tmp_path / "catalog_src/site.yaml").open("a") as settings:
        settings.write("\nrestricted: [/chapters]\n")
    paths = []
    original = PartialFile.__init__
    monkeypatch.setattr(PartialFile, "__init__", lambda self, path: paths.append(path) or original(self, path))
    site.build()

    tree = {path.parent for path in paths if path.parent.name in TREES}
    restricted = [body for body in site.manifest.resources.values() if body.url.partition("?")[0] == LISTS[2]]
    assert all(body.restricted for body in restricted)
    assert tree == {tmp_path / "dist" / name for name in TREES}
    assert len([path for path in paths if path.parent.name == "private"]) == 2 * len(restricted)
