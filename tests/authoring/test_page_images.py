"""Pages from folders and archives: which names are taken, in which order, and what is refused."""

import os
import random
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from generator.authoring import page_images
from generator.errors import FlatpanelError
from tests.support import page_archives

Make = Callable[..., Path]


@pytest.fixture(params=["folder", "archive"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """A folder, or an archive, with files of these names."""
    if request.param == "folder":
        return lambda *names, **more: page_archives.folder(tmp_path / "pages", *names, **more)
    return lambda *names, **more: page_archives.cbz(tmp_path / "pages.cbz", *names, **more)


def test_pages_are_in_the_order_in_which_people_count(make: Make) -> None:
    """2 comes before 10, capitals beside small letters, and a longer name after the one it begins with."""
    names = ["10.png", "2.png", "1 b.png", "1.png", "B3.png", "a20.png", "b1.png", "A3.png", "01.png", "a03.png"]
    wanted = ["01.png", "1.png", "1 b.png", "2.png", "10.png", "A3.png", "a03.png", "a20.png", "b1.png", "B3.png"]

    assert page_images.read(make(*names)).pages == wanted


def test_the_order_does_not_depend_on_the_archive(tmp_path: Path) -> None:
    """Names that differ in case or in zeros only have an order as well."""
    names = ["a1.png", "A1.png", "a01.png", "A01.png", "a001.png", "1" * 5000 + ".png", "2" * 4999 + ".png"]
    found = []
    for seed in range(5):
        random.Random(seed).shuffle(names)
        found.append(page_images.read(page_archives.cbz(tmp_path / f"{seed}.cbz", *names)).pages)

    assert found == [found[0]] * 5
    assert found[0][:2] == ["2" * 4999 + ".png", "1" * 5000 + ".png"]


def test_only_images_are_pages(make: Make) -> None:
    """What systems and people leave lying there is passed over."""
    left = [
        ".hidden.png",
        "Thumbs.db",
        "ComicInfo.xml",
        "notes.txt",
        "__MACOSX/._1.png",
        ".cache/2.png",
        "png",
        "1.tif",
    ]

    assert page_images.read(make("1.JPG", "2.jpeg", "3.webp", "4.avif", "5.gif", *left)).pages == [
        "1.JPG",
        "2.jpeg",
        "3.webp",
        "4.avif",
        "5.gif",
    ]


def test_pages_may_lie_in_a_folder_inside(make: Make) -> None:
    """Many archives hold the folder that was packed; its name is no part of the pages'."""
    assert page_images.read(make("scans/chapter 1/2.png", "scans/chapter 1/1.png", "read me.txt")).pages == [
        "1.png",
        "2.png",
    ]


def test_pages_in_several_folders_are_refused(make: Make) -> None:
    """Nobody can tell which of them are the chapter."""
    path = make("1.png", "extras/1.png")

    with pytest.raises(FlatpanelError) as caught:
        page_images.read(path)

    assert str(caught.value) == (
        f"{path}: contains images in 2 folders, such as '.' and 'extras'; put the pages of a chapter into one folder"
    )


def test_nothing_to_show_is_refused(make: Make) -> None:
    """What is taken for an image is told."""
    path = make("a.txt")

    with pytest.raises(FlatpanelError, match=r"contains no images \(\.avif, \.bmp, .*\.webp\)$"):
        page_images.read(path)


@pytest.mark.parametrize("name", ["ComicInfo.xml", "comicinfo.XML", "in/ComicInfo.xml"])
def test_the_description_lies_on_top_or_beside_the_pages(make: Make, name: str) -> None:
    """In any case of its letters."""
    assert page_images.read(make("in/1.png", name)).comicinfo == b""
    assert page_images.read(make("in/1.png", name, "other/ComicInfo.xml")).comicinfo == b""


def test_the_description_on_top_counts_first(make: Make) -> None:
    """It is that of the whole archive."""
    assert b"Top" in (page_images.read(make("A/1.png", "A/ComicInfo.xml", comicinfo="Top")).comicinfo or b"")


def test_a_description_elsewhere_is_none(make: Make) -> None:
    """What lies beside other things describes them."""
    assert page_images.read(make("in/1.png", "other/ComicInfo.xml")).comicinfo is None


def test_a_description_that_is_too_long_is_refused(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read up to its bound and no further, however well it is packed."""
    monkeypatch.setattr(page_images, "MAX_COMICINFO", 1 << 12)
    path = make("1.png", comicinfo=" " * (1 << 16))

    with pytest.raises(FlatpanelError, match=r"ComicInfo\.xml is larger than"):
        page_images.read(path)


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive of a few bytes whose description claims to be short, and is not."""
    path = page_archives.cbz(tmp_path / "a.cbz", "1.png", comicinfo=b" " * (8 << 20))
    asked: list[int] = []
    read = zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda self, n=-1: (asked.append(n), read(self, n))[1])

    with pytest.raises(FlatpanelError, match=r"ComicInfo\.xml is larger than 1 MiB; remove it"):
        page_images.read(path)

    assert asked == [page_images.MAX_COMICINFO + 1]


def test_too_many_files_are_refused(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever names their home folder by mistake is told so, and soon."""
    monkeypatch.setattr(page_images, "MAX_FILES", 3)

    assert len(page_images.read(make("1.png", "2.png", "3.png")).pages) == 3
    with pytest.raises(FlatpanelError, match="contains more than 3 files; pass the folder or archive of one chapter"):
        page_images.read(make("1.png", "2.png", "3.png", "4.txt"))


def test_no_more_files_are_looked_for_than_may_be_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk without an end is left soon, and what is hidden is not even entered."""
    monkeypatch.setattr(page_images, "MAX_FILES", 3)
    assert page_images.read(page_archives.folder(tmp_path, "1.png", *(f".git/{one}" for one in "abcd"))).pages == [
        "1.png"
    ]

    def endless(_: Path) -> Iterator[str]:
        yield from ("1.png",) * 10
        pytest.fail("nobody needs to know that much")

    monkeypatch.setattr(page_images, "_files", endless)
    with pytest.raises(FlatpanelError, match="contains more than 3 files"):
        page_images.read(tmp_path)


@pytest.mark.parametrize(
    "name", ["/1.png", "../1.png", "a/../1.png", "a/..", "C:1.png", "c:/1.png", "a\\1.png", "a\n1.png", "a\x7f.png"]
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    """Whoever unpacks such an archive writes where they do not want to, so that nobody is led to it."""
    path = page_archives.cbz(tmp_path / "a.cbz", "2.png", name)

    with pytest.raises(FlatpanelError) as caught:
        page_images.read(path)

    assert str(caught.value) == f"{path}: contains the unsafe path {name!r}; pack the archive again"


@pytest.mark.parametrize("name", ["a..b.png", "1..png", "ab:c.png"])
def test_dots_and_colons_may_be_in_names(tmp_path: Path, name: str) -> None:
    """Only what a system reads as a place is refused."""
    assert page_images.read(page_archives.cbz(tmp_path / "a.cbz", f"in.side/{name}")).pages == [name]


def unflagged(path: Path, name: bytes) -> Path:
    """An archive that does not say in which encoding its one name is."""
    page_archives.cbz(path, "x" * len(name))
    path.write_bytes(path.read_bytes().replace(b"x" * len(name), name))
    return path


def test_names_without_an_encoding_are_utf8(tmp_path: Path) -> None:
    """As macOS writes them; what else they could mean nobody knows, and no page is guessed."""
    assert page_images.read(unflagged(tmp_path / "a.cbz", "紙.png".encode())).pages == ["紙.png"]
    with pytest.raises(
        FlatpanelError, match="contains file names that are not UTF-8; rename the files, or pack the archive again"
    ):
        page_images.read(unflagged(tmp_path / "b.cbz", "紙.png".encode("shift_jis")))


def test_a_name_on_the_disk_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """A catalog could not hold it."""
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.png")).write_bytes(b"")

    with pytest.raises(FlatpanelError, match="contains file names that are not UTF-8"):
        page_images.read(tmp_path)


@pytest.mark.parametrize("packed", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_rare_packings_are_refused(tmp_path: Path, packed: int) -> None:
    """They cannot be unpacked in small pieces."""
    path = page_archives.cbz(tmp_path / "a.cbz", "1.png", comicinfo="<Title>A</Title>", packed=packed)

    with pytest.raises(
        FlatpanelError, match=r"ComicInfo\.xml is encrypted or has an unsupported compression; pack the archive again"
    ):
        page_images.read(path)


def test_an_encrypted_description_is_refused(tmp_path: Path) -> None:
    """Nobody is asked for a password; the names alone can be read."""
    path = page_archives.cbz(tmp_path / "a.cbz", "1.png", comicinfo="<Title>A</Title>")
    text = bytearray(path.read_bytes())
    entry = text.rindex(b"PK\x01\x02")
    struct.pack_into("<H", text, entry + 8, 1)
    path.write_bytes(text)

    with pytest.raises(FlatpanelError, match="is encrypted"):
        page_images.read(path)


def test_an_archive_within_an_archive_is_no_page(tmp_path: Path) -> None:
    """Only names count, and this one is none of an image."""
    with pytest.raises(FlatpanelError, match="contains no images"):
        page_images.read(page_archives.cbz(tmp_path / "a.cbz", "1.cbz"))


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    """With the name that was typed."""
    with pytest.raises(FlatpanelError) as caught:
        page_images.read(tmp_path / "a.cbz")

    assert str(caught.value) == f"{tmp_path / 'a.cbz'}: cannot be read: No such file or directory"


def test_what_is_no_archive_is_told(tmp_path: Path) -> None:
    """And what would be one."""
    path = tmp_path / "a.cbr"
    path.write_bytes(b"Rar!\x1a\x07\x01\x00")

    with pytest.raises(FlatpanelError) as caught:
        page_images.read(path)

    assert str(caught.value) == (
        f"{path}: cannot be read: File is not a zip file; pass a folder of images or a zip archive (.cbz or .zip)"
    )


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Nobody may ever write into it."""
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(FlatpanelError, match="it is neither a file nor a folder; pass a folder of images"):
        page_images.read(tmp_path / "pipe")


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own name, which may be that of a folder inside."""

    def refuse(_: object) -> None:
        raise PermissionError(13, "Permission denied", f"{tmp_path}/inside")

    monkeypatch.setattr(page_images.os, "scandir", refuse)

    with pytest.raises(FlatpanelError, match=rf"^{tmp_path}/inside: cannot be read: Permission denied$"):
        page_images.read(tmp_path)


def test_a_file_without_a_name_is_passed_over(tmp_path: Path) -> None:
    """The format allows it, and Python's own question whether it is a folder would fail."""
    path = page_archives.cbz(tmp_path / "a.cbz", "1.png", "x")
    path.write_bytes(path.read_bytes().replace(b"x", b"\0"))

    assert page_images.read(path).pages == ["1.png"]


def test_whatever_is_wrong_with_an_archive_is_a_sentence(tmp_path: Path) -> None:
    """Archives with any bytes changed or cut off either tell their pages or are refused; there is no traceback."""
    whole = page_archives.cbz(tmp_path / "whole.cbz", "in/1.png", "in/2.png", comicinfo="<Title>A</Title>").read_bytes()
    outcomes = set()
    for seed in range(1500):
        chance = random.Random(seed)
        text = bytearray(whole[: chance.choice([len(whole), chance.randrange(len(whole))])])
        for _ in range(chance.randrange(4) if text else 0):
            text[chance.randrange(len(text))] = chance.randrange(256)
        path = tmp_path / "changed.cbz"
        path.write_bytes(text)
        try:
            outcomes.add(bool(page_images.read(path).pages))
        except FlatpanelError as error:
            assert str(error).startswith(f"{path}: ")
            outcomes.add(False)

    assert outcomes == {True, False}
