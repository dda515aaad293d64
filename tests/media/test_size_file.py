"""Measured sizes are written into `sizes.yaml`."""

from pathlib import Path

import pytest

from generator.errors import CatalogError
from generator.media import size_file
from tests.conftest import Site
from tests.support import media_server
from tests.support.media_server import FILES

FIRST, SECOND, THIRD, SCHEDULED, _ = FILES[4:]
HEAD = "# Sizes of pages by chapter id, written by `media check --write-sizes`.\n"


@pytest.fixture
def written(site: Site) -> Path:
    """Where the sizes of a catalog with two chapters, of three pages and of two, are written."""
    media_server.write_catalog(site)
    return site.folder / "catalog_src/sizes.yaml"


def test_sizes_are_written_by_chapter(site: Site, written: Path) -> None:
    """In page order, of scheduled chapters too; a page that was not measured has no size."""
    sizes = {FIRST: (3, 2), SECOND: (3, 2), THIRD: (6, 2), SCHEDULED: (5, 5), "series/one/other.png": (9, 9)}

    assert size_file.write(site.folder / "catalog_src", sizes) == 2
    assert written.read_text() == f'{HEAD}1: "3x2*2 6x2"\n2: "5x5 -"\n'


def test_chapters_are_in_the_order_of_their_ids(site: Site, written: Path) -> None:
    chapters = "".join(f"  - {{id: {id}, number: {id}, published: 2026-01-01, pages: [1.png]}}\n" for id in (10, 9))
    site.write("series/one.yaml", f"title: One\ncover: c.png\nchapters:\n{chapters}")
    size_file.write(site.folder / "catalog_src", {f"series/one/0/{number}/1.png": (3, 2) for number in (9, 10)})

    assert written.read_text() == f'{HEAD}9: "3x2"\n10: "3x2"\n'


def test_chapters_without_images_in_the_folder_keep_their_sizes(site: Site, written: Path) -> None:
    """Not those that another number of pages made stale, and not those of removed chapters."""
    site.write("sizes.yaml", '1: "7x7*4"\n2: "8x8 -"\n3: "9x9"\n')

    assert size_file.write(site.folder / "catalog_src", {}) == 1
    assert written.read_text() == f'{HEAD}2: "8x8 -"\n'


def test_last_sizes_can_be_removed(site: Site, written: Path) -> None:
    """Without any size and any file, none is written."""
    assert size_file.write(site.folder / "catalog_src", {}) == 0
    assert not written.exists()

    written.write_text('9: "1x1"\n')
    assert size_file.write(site.folder / "catalog_src", {}) == 0
    assert written.read_text() == HEAD


def test_chapters_without_an_id_have_no_sizes(site: Site, written: Path) -> None:
    text = (site.folder / "catalog_src/series/one.yaml").read_text()
    site.write("series/one.yaml", text.replace("id: 1, ", ""))

    assert size_file.write(site.folder / "catalog_src", {FIRST: (3, 2)}) == 0
    assert not written.exists()


def test_invalid_catalog_gets_no_sizes(site: Site, written: Path) -> None:
    written.write_text("1: wide\n")

    with pytest.raises(CatalogError):
        size_file.write(site.folder / "catalog_src", {FIRST: (3, 2)})
    assert written.read_text() == "1: wide\n"
