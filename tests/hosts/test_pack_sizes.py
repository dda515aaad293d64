"""How many files a release has in packs, and how many of them a new chapter changes."""

import math
from pathlib import Path

import pytest

from bench import catalogs
from generator.hosts.packs import pack_format
from generator.hosts.packs.pack_files import pack_release
from tests.conftest import Site

# The limit of Cloudflare's free plan.
MAX_FILES = 20_000
# Files that a new chapter may change, without pages for readers and with them.
MAX_CHANGED = {False: 60, True: 100}


@pytest.mark.bounds
@pytest.mark.parametrize("has_pages", [False, True])
def test_files_of_a_large_catalog_and_of_a_new_chapter(tmp_path: Path, has_pages: bool) -> None:
    """A million URLs like those of 50 series are below the limit. Digests fill all packs alike, so all are halved."""
    site = Site(tmp_path)
    catalogs.write(tmp_path / "catalog_src", series=50, chapters=20)
    if has_pages:
        with (tmp_path / "catalog_src/site.yaml").open("a") as settings:
            settings.write("title: Bench\npages: true\n")
    site.build()
    first = pack_release(site.store, tmp_path / "edge")
    large = {path for path in (tmp_path / "edge/files").rglob("*") if path.stat().st_size > pack_format.MAX_PACK + 8}
    in_packs = first.bytes - sum(path.stat().st_size for path in large)
    halvings = math.ceil(math.log2(in_packs / first.urls * 1_000_000 / pack_format.MAX_PACK))
    assert (1 << halvings) + first.large < MAX_FILES

    path = tmp_path / "catalog_src/series" / f"{catalogs.slug(37)}.yaml"
    path.write_text(path.read_text() + catalogs.chapter(999_999, 21).replace("2025-10-22", "2026-09-20"))
    site.build()
    second = pack_release(site.store, tmp_path / "edge")
    assert 0 < second.written <= MAX_CHANGED[has_pages]
    assert second.urls > first.urls
