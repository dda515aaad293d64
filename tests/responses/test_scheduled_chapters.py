"""Nothing of a chapter is anywhere before its time: not in a body, not in a name, not in the configuration."""

import gzip
import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import AS_OF, Site, copy_of
from tests.support.paths import EXAMPLE

# 2027-01-01, when the chapters of the test site are due.
DUE = 1_798_761_600


def everything(folder: Path) -> dict[str, bytes]:
    """All names and all texts below a built site, compressed ones as they read."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            found[path.relative_to(folder).as_posix()] = gzip.decompress(data) if path.suffix == ".gz" else data
    return found


def saying(files: dict[str, bytes], word: str) -> list[str]:
    return [name for name, data in files.items() if word in name or word.encode() in data]


MARKS = ["NotYetEver", "NotYetTitle", "notyet-page.png", "notyet-a.png", "notyet-b.png", "987654321"]


@pytest.fixture(scope="module")
def before_and_after(tmp_path_factory) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Everything that two builds wrote, one second before the chapters were due and at that second."""
    built = []
    for as_of in (DUE - 1, DUE):
        made = copy_of("v2", tmp_path_factory.mktemp("due"))
        made.build(as_of)
        files = everything(made.folder / "dist")
        built.append(files | {"nginx.conf": (made.folder / "nginx.conf").read_bytes()})
    return built[0], built[1]


@pytest.mark.parametrize("mark", MARKS)
def test_a_scheduled_chapter_is_nowhere(before_and_after, mark: str) -> None:
    """Its title, its pages and its id: in no body, map, index, manifest or file name, public or private."""
    before, after = before_and_after

    assert saying(before, mark) == []
    # The same search finds it a second later, so it would have found it.
    assert saying(after, mark)


def test_a_series_of_scheduled_chapters_is_not_in_v2(before_and_after) -> None:
    """Not even its name; the old families show it without chapters."""
    before, after = before_and_after
    shown = [name for name in saying(before, "/reader/tomorrow/") if not name.startswith("releases/")]

    assert {name.split("/")[2].partition(".")[0] for name in shown} == {"series", "v1"}
    assert any(name.startswith("www/api/v2/series/tomorrow.") for name in after)


def test_dates_and_counts_do_not_know_of_it(before_and_after) -> None:
    """What a list says of a series with a scheduled chapter is what it said without one."""
    (listed,) = {
        data for name, data in before_and_after[0].items() if re.match(r"www/api/v2/series/half-out\.\w+\.json$", name)
    }

    assert b'"updated":"2026-02-15T00:00:00Z"' in listed


def test_a_page_id_is_the_same_before_and_after(before_and_after) -> None:
    """A chapter that appears moves no other one's pages."""
    before, after = before_and_after
    pages = re.compile(r"(www|private)/api/v2/chapters/\d+/pages\..*\.json$")
    known = {name: data for name, data in before.items() if pages.match(name)}

    assert known
    assert known == {name: after[name] for name in known}


def test_the_example_keeps_its_scheduled_chapter_to_itself(tmp_path: Path) -> None:
    """The catalog of this repository has one, and whatever only it says is in no file that is built."""
    shutil.copytree(EXAMPLE, tmp_path / "catalog_src")
    site = Site(tmp_path)
    text = (tmp_path / "catalog_src/series/window-sill-cactus-club.yaml").read_text()
    (chapter,) = (part for part in re.split(r"(?m)^  - ", text) if "published: 2035-" in part)
    number = re.search(r"(?m)^ *id: (\d+)$", chapter) or re.match(r"id: (\d+)", chapter)
    title = re.search(r"title: (.+)", chapter)
    marks = [
        title[1].strip("\"'"),
        f'"id":{number[1]},',
        f"/chapters/{number[1]}",
        f'"{number[1]}":{{',
        "the%20flower.png",
    ]
    found = []
    for as_of in (AS_OF, 2_100_000_000):
        site.build(as_of)
        current = (site.folder / "dist" / "current").resolve().name
        files = everything(site.folder / "dist")
        # The release before this one lies there as well.
        found.append({mark: bool(saying(of(files, current, site), mark)) for mark in marks})

    assert found == [dict.fromkeys(marks, False), dict.fromkeys(marks, True)]


def of(files: dict[str, bytes], release: str, site: Site) -> dict[str, bytes]:
    """What one release is made of, and the main configuration file."""
    bodies = {one.file for one in site.manifest.resources.values()}
    named = (*bodies, *(f"{one}{end}" for one in bodies for end in (".gz", ".headers")))
    own = {name: files[name] for name in named if name in files}
    own |= {name: data for name, data in files.items() if name.startswith(f"releases/{release}/")}
    return own | {"nginx.conf": (site.folder / "nginx.conf").read_bytes()}
