"""A scheduled chapter appears nowhere before its time: in no body, no file name and no configuration."""

import gzip
import re
from pathlib import Path

import pytest

from tests.support.site_variants import SMALL, variant_of
from tests.support.tables import each

# 2027-01-01, when the chapters of the test site are published.
DUE = 1_798_761_600


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a built site by name, with .gz files decompressed."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            files[path.relative_to(folder).as_posix()] = gzip.decompress(data) if path.suffix == ".gz" else data
    return files


def containing(files: dict[str, bytes], word: str) -> list[str]:
    return [name for name, data in files.items() if word in name or word.encode() in data]


MARKS = ["NotYetEver", "NotYetTitle", "notyet-page.png", "notyet-a.png", "notyet-b.png", "987654321"]


@pytest.fixture(scope="module")
def before_and_after(tmp_path_factory) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files of two builds: one second before the chapters are published, and at that second."""
    built = []
    for as_of in (DUE - 1, DUE):
        site = variant_of(SMALL, tmp_path_factory.mktemp("due"))
        site.build(as_of)
        files = contents(site.folder / "dist")
        built.append(files | {"nginx.conf": (site.folder / "nginx.conf").read_bytes()})
    return built[0], built[1]


@each("mark", MARKS)
def test_scheduled_chapter_is_in_no_file(before_and_after, mark: str) -> None:
    """No body, map, index, manifest or file name contains its title, its pages or its id."""
    before, after = before_and_after

    assert containing(before, mark) == []
    # The same search finds it one second later, which proves that the search works.
    assert containing(after, mark)


def test_series_of_scheduled_chapters_is_not_in_v2(before_and_after) -> None:
    """/api and /api/v1 contain it without chapters."""
    before, after = before_and_after
    files = [name for name in containing(before, "/reader/tomorrow/") if not name.startswith("releases/")]

    assert {name.split("/")[2].partition(".")[0] for name in files} == {"series", "v1"}
    assert any(name.startswith("www/api/v2/series/tomorrow.") for name in after)


def test_dates_and_counts_ignore_scheduled_chapters(before_and_after) -> None:
    """Its list item is the same as without the scheduled chapter."""
    (listed,) = {
        data for name, data in before_and_after[0].items() if re.match(r"www/api/v2/series/half-out\.\w+\.json$", name)
    }

    assert b'"updated":"2026-02-15T00:00:00Z"' in listed


def test_page_ids_do_not_change_on_publication(before_and_after) -> None:
    """A new chapter changes no page of another."""
    before, after = before_and_after
    pages = re.compile(r"(www|private)/api/v2/chapters/\d+/pages\..*\.json$")
    old_pages = {name: data for name, data in before.items() if pages.match(name)}

    assert old_pages
    assert old_pages == {name: after[name] for name in old_pages}
