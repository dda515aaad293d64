"""`media check DIR`: the files of a folder against the files that the catalog names."""

import os
import re
from pathlib import Path

import pytest

from generator.catalog.confined_folder import ConfinedFolder
from generator.media import folder_check, image_content, image_sizes, named_files
from generator.media.folder_check import Finding, FolderCheck
from tests.conftest import AS_OF, Site
from tests.support import media_server
from tests.support.images import NAMES, image
from tests.support.media_server import FILES
from tests.support.paths import ROOT
from tests.support.tree_snapshot import state


@pytest.fixture
def media(site: Site) -> Path:
    """The folder of a catalog's media, complete."""
    media_server.write_catalog(site)
    media_server.fill(site.folder / "media", FILES)
    return site.folder / "media"


def check(media: Path, *, without: tuple[str, ...] = ()) -> FolderCheck:
    named = named_files.read(media.parent / "catalog_src", AS_OF)
    return folder_check.check(ConfinedFolder(media), named, named.without(without), image_sizes.measuring())


def findings(media: Path) -> list[Finding]:
    return list(check(media).findings)


def test_a_complete_folder_has_no_findings(media: Path) -> None:
    """The check writes nothing, and counts each file."""
    before = state(media)
    counted: list[int] = []
    named = named_files.read(media.parent / "catalog_src", AS_OF)
    result = folder_check.check(ConfinedFolder(media), named, named, None, counted.append)

    assert (result.findings, result.ok, result.named, result.present) == ((), True, 9, 9)
    assert result.size == sum(file.stat().st_size for file in media.rglob("*") if file.is_file())
    assert sum(counted) == len(FILES)
    assert (result.sizes, state(media)) == ({}, before)


def test_missing_files_are_a_fault(media: Path) -> None:
    (media / FILES[0]).unlink()
    result = check(media)

    assert (result.findings, result.ok, result.present) == ((Finding("missing", FILES[0]),), False, 8)


@pytest.mark.parametrize(
    ("content", "finding"),
    [
        (b"", Finding("empty", FILES[4])),
        (image("a.png")[:-1], Finding("unreadable", FILES[4], "is truncated")),
    ],
)
def test_unreadable_files_are_a_fault(media: Path, content: bytes, finding: Finding) -> None:
    (media / FILES[4]).write_bytes(content)

    assert findings(media) == [finding]
    assert not check(media).ok


def test_another_format_than_the_extension_is_reported(media: Path) -> None:
    """Readers see the image all the same."""
    (media / FILES[4]).write_bytes(image("a.webp"))

    assert findings(media) == [Finding("other format", FILES[4], "is WebP")]
    assert check(media).ok


def test_other_files_are_no_fault(media: Path) -> None:
    """Images that the catalog does not name, and files that are no images."""
    for name in ("old.PNG", ".hidden", "list.txt", "bad\nname.png", ".git/config"):
        (media / name).parent.mkdir(exist_ok=True)
        (media / name).write_bytes(b"x")
    os.mkfifo(media / "pipe.png")
    Path(os.fsdecode(os.fsencode(media) + b"/\xff.png")).write_bytes(b"")

    hidden = "is hidden, or no file"
    assert findings(media) == [
        Finding("extra", "old.PNG"),
        Finding("no image", "list.txt", "has no extension of an image"),
        *(Finding("no image", name, hidden) for name in (".git", ".hidden", "bad\nname.png", "pipe.png", "\udcff.png")),
    ]
    assert check(media).ok


def test_links_are_not_followed(media: Path, tmp_path: Path) -> None:
    """nginx serves none. A link in the place of a file, or of its folder, is a fault; others are only listed."""
    (media / FILES[0]).rename(tmp_path / "logo.png")
    (media / FILES[0]).symlink_to(tmp_path / "logo.png")
    (media / "users").rename(tmp_path / "people")
    (media / "users").symlink_to(tmp_path / "people")
    (media / "loop").symlink_to(media)

    link = "is a link; nginx serves none"
    assert findings(media) == [
        *(Finding("missing", path) for path in FILES[:3]),
        Finding("link", FILES[0], link),
        Finding("link", "users", link),
        Finding("no image", "loop", link),
    ]


@pytest.mark.parametrize("name", [*NAMES, "a.tiff", "plain", ".a.png"])
def test_names_that_nginx_does_not_serve_are_a_fault(site: Site, name: str) -> None:
    """The same extensions as in media.conf."""
    media_server.write_catalog(site)
    site.write("series/one.yaml", f"title: T\ncover: {name}\n")
    media = site.folder / "media"
    media_server.fill(media, [*FILES[:3], f"series/one/{name}"])
    kinds = [finding.kind for finding in findings(media)]

    assert ("not served" in kinds) == (name in ("a.bmp", "a.jxl", "a.tiff", "plain", ".a.png"))
    if name == "a.bmp":
        assert findings(media) == [
            Finding("not served", f"series/one/{name}", "nginx serves no files with the extension .bmp")
        ]


def test_served_extensions_are_those_of_nginx() -> None:
    """The types in media.conf; archives have a check of their own."""
    text = re.sub("{%.*?%}", "", (ROOT / "generator/nginx/templates/media.conf").read_text())
    types = text.partition("types {")[2].partition("}")[0]
    extensions = {name for line in types.split(";") for name in line.split()[1:]}

    assert {f".{name}" for name in extensions} == image_content.SERVED | {".cbz"}


def test_pages_that_are_left_out_may_be_missing(media: Path) -> None:
    """If they are there, they are not extra."""
    assert check(media, without=("scheduled",)).findings == ()
    for path in FILES[-2:]:
        (media / path).unlink()
    result = check(media, without=("scheduled",))

    assert (result.findings, result.named, result.present) == ((), 7, 7)
