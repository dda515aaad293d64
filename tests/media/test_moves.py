"""Files under another path than the catalog names, and the script that moves them."""

import subprocess
from pathlib import Path

import pytest

from generator.catalog.confined_folder import ConfinedFolder
from generator.media import folder_check, moves, named_files
from generator.media.moves import Move
from tests.conftest import AS_OF, Site
from tests.support import media_server

A, B, C = (f"{digit * 32}.png" for digit in "abc")
CHAPTER = "  - {{id: {0}, number: {0}{1}, published: 2026-01-01, pages: [{2}]}}\n"


def write(site: Site, *chapters: tuple[str, str], formerly: str = "") -> None:
    """A series whose chapters 1, 2, … have more fields and pages."""
    for file in (site.folder / "catalog_src/series").iterdir():
        file.unlink()
    text = "".join(CHAPTER.format(number, *chapter) for number, chapter in enumerate(chapters, 1))
    head = f"title: One\ncover: cover.jpg\nformerly: [{formerly}]\n"
    site.write("series/one.yaml", head + (f"chapters:\n{text}" if text else ""))


def found(site: Site, *files: str) -> list[Move]:
    """The moves for a folder of these files and, unless it is one of them, the cover."""
    media_server.fill(site.folder / "media", files)
    return list(check(site).moves)


def check(site: Site) -> folder_check.FolderCheck:
    named = named_files.read(site.folder / "catalog_src", AS_OF)
    return folder_check.check(ConfinedFolder(site.folder / "media"), named, named, None)


COVER = "series/one/cover.jpg"


def test_a_page_is_recognised_by_its_digest(site: Site) -> None:
    """In the folder of another volume or number."""
    write(site, (", volume: 3", A), ("", B))

    assert found(site, COVER, f"series/one/7/1/{A}", f"series/one/0/9.5/{B}") == [
        Move(f"series/one/0/9.5/{B}", f"series/one/0/2/{B}", is_copy=False, is_certain=True),
        Move(f"series/one/7/1/{A}", f"series/one/3/1/{A}", is_copy=False, is_certain=True),
    ]


def test_an_image_of_another_chapter_is_copied(site: Site) -> None:
    """The same picture in two chapters has the same name; the catalog needs both."""
    write(site, ("", A), ("", A))

    assert found(site, COVER, f"series/one/0/1/{A}") == [
        Move(f"series/one/0/1/{A}", f"series/one/0/2/{A}", is_copy=True, is_certain=True)
    ]


def test_the_last_use_moves_an_image(site: Site) -> None:
    """One file that the catalog does not name, for two that are missing."""
    write(site, ("", A), ("", A))

    assert [(move.target, move.is_copy) for move in found(site, COVER, f"series/one/5/5/{A}")] == [
        (f"series/one/0/1/{A}", True),
        (f"series/one/0/2/{A}", False),
    ]


def test_images_of_other_series_are_not_used(site: Site) -> None:
    """Their owner may not want that."""
    write(site, ("", A))

    assert found(site, COVER, f"series/two/0/1/{A}", A, f"old/one/0/1/{A}") == []


@pytest.mark.parametrize("other", ["series/one/0/1/\u00dc b.PNG", "Series/One/0/1/u\u0308 b.png"])
def test_another_spelling_is_recognised(site: Site, other: str) -> None:
    """Some systems do not keep the case of letters, and macOS writes decomposed ones."""
    write(site, ("", "\u00fc b.png"))

    assert found(site, COVER, other) == [Move(other, "series/one/0/1/\u00fc b.png", is_copy=False, is_certain=True)]


def test_an_edited_volume_is_a_guess(site: Site) -> None:
    """The author changed it in the catalog. Names such as 1.png are those of every chapter."""
    write(site, (", volume: 3", "1.png, 2.png"))

    assert found(site, COVER, "series/one/0/1/1.png", "series/one/0/1/2.png", "series/one/0/4/1.png") == [
        Move(f"series/one/0/1/{name}", f"series/one/3/1/{name}", is_copy=False, is_certain=False)
        for name in ("1.png", "2.png")
    ]


def test_an_edited_slug_is_a_guess(site: Site) -> None:
    """`formerly` has the old one."""
    write(site, ("", "1.png"), formerly="uno")

    assert [(move.source, move.is_certain) for move in found(site, "series/uno/cover.jpg", "series/uno/0/1/1.png")] == [
        ("series/uno/cover.jpg", False),
        ("series/uno/0/1/1.png", False),
    ]


@pytest.mark.parametrize(
    "files",
    [
        # Another number: every chapter has such a page.
        ["series/one/0/2/1.png"],
        # Two volumes could be the right one.
        ["series/one/7/1/1.png", "series/one/8/1/1.png"],
        # Not the folder of a chapter.
        ["series/one/1.png"],
        ["series/one/0/1.png", "series/one/0/1/2/1.png"],
    ],
)
def test_names_alone_decide_nothing_else(site: Site, files: list[str]) -> None:
    write(site, (", volume: 3", "1.png"))

    assert found(site, COVER, *files) == []


def test_a_page_of_another_chapter_is_no_guess(site: Site) -> None:
    """The catalog names it."""
    write(site, (", volume: 3", "1.png"))
    with (site.folder / "catalog_src/series/one.yaml").open("a") as series:
        series.write("  - {id: 7, number: 1, published: 2026-01-01, pages: [1.png]}\n")

    assert found(site, COVER, "series/one/0/1/1.png") == []


ODD = ("it's 1.png", "$(touch x).png", "-rf.png", '".png', "a b;x.png", "`id`.png", "*.png")


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_script_mends_the_folder(site: Site, shell: str) -> None:
    """With every odd name, from any folder; running it again fails without damage."""
    pages = ", ".join(f"'{name.replace(chr(39), chr(39) * 2)}'" for name in ODD)
    write(site, ("", pages), ("", f"{A}, {B}"), ("", A))
    upper = [f"series/one/0/1/{name.upper()}" for name in ODD]
    found(site, COVER, *upper, f"series/one/9/2/{A}", f"series/one/9/2/{B}", f"series/one/9/2/{C}")
    result = check(site)
    media = site.folder / "media"
    content = {move.target: (media / move.source).read_bytes() for move in result.moves}
    lines = list(moves.script(media, result.moves))

    subprocess.run([shell], input="\n".join(lines), text=True, check=True, cwd="/")
    assert {path: (media / path).read_bytes() for path in content} == content
    assert [finding.path for finding in check(site).findings] == [f"series/one/9/2/{C}"]
    assert not (site.folder / "x").exists()
    assert subprocess.run([shell], input="\n".join(lines), text=True, cwd="/", capture_output=True).returncode != 0


def test_guesses_are_comments(site: Site) -> None:
    """An owner looks at the images and removes the mark."""
    write(site, (", volume: 3", "1.png"), (", volume: 3", A))

    assert list(moves.script(Path("/my media"), found(site, COVER, "series/one/0/1/1.png", f"series/one/0/2/{A}"))) == [
        "#!/bin/sh",
        "# Moves or copies 1 file to the paths that the catalog names.",
        "# Lines after #? rely on names only: look at the images, then remove the #?.",
        "set -eu",
        "cd -- '/my media'",
        "#? mkdir -p -- series/one/3/1",
        "#? mv -- series/one/0/1/1.png series/one/3/1/1.png",
        "mkdir -p -- series/one/3/2",
        f"mv -- series/one/0/2/{A} series/one/3/2/{A}",
    ]


def test_a_file_at_the_top_needs_no_folder(site: Site) -> None:
    """Old sites have pages right below the media root, and in folders of any name."""
    media = "https://comics.example/media"
    write(site, ("", f'"{media}/a.png"'), ("", f'"{media}/a%20b/c.png", "{media}/a%20b/d.png"'))
    site.write("site.yaml", "base_url: https://comics.example\n")

    assert [*moves.script(Path("/m"), found(site, COVER, "A.png", "a b/C.png", "a b/D.png"))][-5:] == [
        *("cd -- /m", "mv -- A.png a.png"),
        *("mkdir -p -- 'a b'", "mv -- 'a b/C.png' 'a b/c.png'", "mv -- 'a b/D.png' 'a b/d.png'"),
    ]
