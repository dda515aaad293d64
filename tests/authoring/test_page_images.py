"""Page names from folders and archives: which files are pages, their order, and what is refused."""

import os
import random
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from generator.errors import FlatpanelError
from generator.media import page_images
from tests.support import images

Make = Callable[..., Path]


@pytest.fixture(params=["folder", "archive"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Create a folder or an archive with files of these names."""
    if request.param == "folder":
        return lambda *names, **more: images.folder(tmp_path / "pages", *names, **more)
    return lambda *names, **more: images.cbz(tmp_path / "pages.cbz", *names, **more)


def refusal(path: Path) -> str:
    """Why a folder or archive is not read, without its path."""
    with pytest.raises(FlatpanelError) as caught:
        page_images.read(path)
    place, _, message = str(caught.value).partition(": ")
    assert place == str(path)
    return message


def test_pages_are_sorted_by_numbers_in_their_names(make: Make) -> None:
    """2 before 10, upper case beside lower case, a prefix before a longer name."""
    names = ["10.png", "2.png", "1 b.png", "1.png", "B3.png", "a20.png", "b1.png", "A3.png", "01.png", "a03.png"]
    wanted = ["01.png", "1.png", "1 b.png", "2.png", "10.png", "A3.png", "a03.png", "a20.png", "b1.png", "B3.png"]

    assert page_images.read(make(*names)).pages == wanted


@pytest.mark.parametrize("digits", ["٠١٢٣٤٥٦٧٨٩", "０１２３４５６７８９"])
def test_numbers_may_have_digits_of_any_script(make: Make, digits: str) -> None:
    """Arabic names, and Japanese ones of full width."""
    pages = [f"{digits[1]}.png", f"{digits[2]}.png", f"{digits[1]}{digits[0]}.png"]

    assert page_images.read(make(*pages[::-1])).pages == pages


def test_the_order_does_not_depend_on_the_archive(tmp_path: Path) -> None:
    """Also for names that differ only in case or zeros."""
    names = ["a1.png", "A1.png", "a01.png", "A01.png", "a001.png", "1" * 5000 + ".png", "2" * 4999 + ".png"]
    orders = []
    for seed in range(5):
        random.Random(seed).shuffle(names)
        orders.append(page_images.read(images.cbz(tmp_path / f"{seed}.cbz", *names)).pages)

    assert orders == [orders[0]] * 5
    assert orders[0][:2] == ["2" * 4999 + ".png", "1" * 5000 + ".png"]


def test_only_images_are_pages(make: Make) -> None:
    """Other files and hidden files are ignored."""
    pages = ["1.JPG", "2.jpeg", "3.webp", "4.avif", "5.gif"]
    hidden = [".hidden.png", "__MACOSX/._1.png", ".cache/2.png"]
    others = ["Thumbs.db", "ComicInfo.xml", "notes.txt", "png", "1.tif"]

    assert page_images.read(make(*pages, *hidden, *others)).pages == pages


def test_pages_may_be_in_a_subfolder(make: Make) -> None:
    """Its name is not part of the page names."""
    made = make("scans/chapter 1/2.png", "scans/chapter 1/1.png", "read me.txt")

    assert page_images.read(made).pages == ["1.png", "2.png"]


TYPES = ".avif, .gif, .jpeg, .jpg, .png, .webp"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        # They may be several chapters.
        (
            ("1.png", "extras/1.png"),
            "contains images in 2 folders, such as '.' and 'extras'; put the pages of a chapter into one folder",
        ),
        (("a.txt",), f"contains no images ({TYPES})"),
        # Without it, the chapter would lack a page.
        (("1.png", "2.JXL"), f"contains '2.JXL', which nginx does not serve; convert it to one of {TYPES}"),
    ],
)
def test_other_files_than_pages_are_refused(make: Make, names: tuple[str, ...], message: str) -> None:
    """Which files a folder or an archive has."""
    assert refusal(make(*names)) == message


@pytest.mark.parametrize("name", ["ComicInfo.xml", "comicinfo.XML", "in/ComicInfo.xml"])
def test_comicinfo_is_at_the_top_or_beside_the_pages(make: Make, name: str) -> None:
    """In upper or lower case."""
    assert page_images.read(make("in/1.png", name)).comicinfo == b""
    assert page_images.read(make("in/1.png", name, "other/ComicInfo.xml")).comicinfo == b""


def test_comicinfo_at_the_top_comes_first(make: Make) -> None:
    """It describes the whole archive."""
    assert b"Top" in (page_images.read(make("A/1.png", "A/ComicInfo.xml", comicinfo="Top")).comicinfo or b"")


def test_comicinfo_elsewhere_is_ignored(make: Make) -> None:
    """It describes other files."""
    assert page_images.read(make("in/1.png", "other/ComicInfo.xml")).comicinfo is None


def test_a_large_comicinfo_is_refused(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its first MiB is read."""
    monkeypatch.setattr(page_images, "MAX_COMICINFO", 1 << 12)

    assert refusal(make("1.png", comicinfo=" " * (1 << 16))).startswith("ComicInfo.xml is larger than")


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archive declares a small ComicInfo.xml that unpacks to a large one."""
    path = images.cbz(tmp_path / "a.cbz", "1.png", comicinfo=b" " * (8 << 20))
    asked: list[int] = []
    read = zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda self, n=-1: (asked.append(n), read(self, n))[1])

    assert refusal(path) == "ComicInfo.xml is larger than 1 MiB; remove it"
    assert asked == [page_images.MAX_COMICINFO + 1]


def test_too_many_files_are_refused(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """For example a home folder."""
    monkeypatch.setattr(page_images, "MAX_FILES", 3)

    assert len(page_images.read(make("1.png", "2.png", "3.png")).pages) == 3
    assert refusal(make("1.png", "2.png", "3.png", "4.txt")) == (
        "contains more than 3 files; pass the folder or archive of one chapter"
    )


def test_an_archive_with_a_large_directory_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of three million files of a small archive would take more than a gigabyte."""
    path = images.cbz(tmp_path / "pages.cbz", *(f"{number:060000}.png" for number in range(300)))
    monkeypatch.setattr(zipfile.ZipInfo, "__init__", lambda *_: pytest.fail("the directory was read"))

    assert refusal(path) == "its list of files has more than 16 MiB; pass the archive of one chapter"


def test_folders_of_too_many_levels_are_refused(tmp_path: Path) -> None:
    """Python lists a thousand levels at most."""
    levels = "/".join("d" * page_images.MAX_LEVELS)
    assert page_images.read(images.folder(tmp_path, f"{levels}/1.png")).pages == ["1.png"]

    images.folder(tmp_path, f"{levels}/d/notes.txt")
    assert refusal(tmp_path) == "contains folders of more than 100 levels; pass the folder of one chapter"


def test_listing_files_stops_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hidden folders are not listed at all."""
    monkeypatch.setattr(page_images, "MAX_FILES", 3)
    assert page_images.read(images.folder(tmp_path, "1.png", *(f".git/{one}" for one in "abcd"))).pages == ["1.png"]

    def endless(_: Path) -> Iterator[str]:
        yield from ("1.png",) * 10
        pytest.fail("too many files were listed")

    monkeypatch.setattr(page_images, "_files", endless)
    assert refusal(tmp_path).startswith("contains more than 3 files")


@pytest.mark.parametrize(
    "name", ["/1.png", "../1.png", "a/../1.png", "a/..", "C:1.png", "c:/1.png", "a\\1.png", "a\n1.png", "a\x7f.png"]
)
def test_unsafe_paths_are_refused(tmp_path: Path, name: str) -> None:
    """Unpacking such an archive could write anywhere."""
    archive = images.cbz(tmp_path / "a.cbz", "2.png", name)

    assert refusal(archive) == f"contains the unsafe path {name!r}; pack the archive again"


@pytest.mark.parametrize("name", ["a..b.png", "1..png", "ab:c.png"])
def test_dots_and_colons_in_names_are_safe(tmp_path: Path, name: str) -> None:
    """Only what a system reads as a path is refused."""
    assert page_images.read(images.cbz(tmp_path / "a.cbz", f"in.side/{name}")).pages == [name]


def archive_without_utf8_flag(path: Path, name: bytes) -> Path:
    """An archive that does not state the encoding of its one name."""
    images.cbz(path, "x" * len(name))
    path.write_bytes(path.read_bytes().replace(b"x" * len(name), name))
    return path


def test_names_without_an_encoding_are_utf8(tmp_path: Path) -> None:
    """As macOS writes them; other encodings are refused, not guessed. A catalog cannot contain others."""
    message = "contains file names that are not UTF-8; rename the files, or pack the archive again"
    folder = tmp_path / "folder"
    folder.mkdir()
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.png")).write_bytes(b"")

    assert page_images.read(archive_without_utf8_flag(tmp_path / "a.cbz", "紙.png".encode())).pages == ["紙.png"]
    assert refusal(archive_without_utf8_flag(tmp_path / "b.cbz", "紙.png".encode("shift_jis"))) == message
    assert refusal(folder) == message


@pytest.mark.parametrize("packed", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unsupported_compression_is_refused(tmp_path: Path, packed: int) -> None:
    """It cannot be unpacked with a size limit."""
    archive = images.cbz(tmp_path / "a.cbz", "1.png", comicinfo="<Title>A</Title>", packed=packed)

    assert refusal(archive) == "ComicInfo.xml is encrypted or has an unsupported compression; pack the archive again"


def test_an_encrypted_comicinfo_is_refused(tmp_path: Path) -> None:
    """Names can be read without a password."""
    path = images.cbz(tmp_path / "a.cbz", "1.png", comicinfo="<Title>A</Title>")
    text = bytearray(path.read_bytes())
    entry = text.rindex(b"PK\x01\x02")
    struct.pack_into("<H", text, entry + 8, 1)
    path.write_bytes(text)

    assert refusal(path).startswith("ComicInfo.xml is encrypted")


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    """As it was typed."""
    assert refusal(tmp_path / "a.cbz") == "cannot be read: No such file or directory"


def test_other_paths_are_refused(tmp_path: Path) -> None:
    """The message lists what is valid. Opening a pipe would wait for a writer."""
    (tmp_path / "a.cbr").write_bytes(b"Rar!\x1a\x07\x01\x00")
    os.mkfifo(tmp_path / "pipe")

    advice = "pass a folder of images or a zip archive (.cbz or .zip)"
    assert refusal(tmp_path / "a.cbr") == f"cannot be read: File is not a zip file; {advice}"
    assert refusal(tmp_path / "pipe") == f"cannot be read: it is neither a file nor a folder; {advice}"


def test_a_folder_without_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a subfolder."""

    def refuse(_: object) -> None:
        raise PermissionError(13, "Permission denied", f"{tmp_path}/inside")

    monkeypatch.setattr(page_images.os, "scandir", refuse)

    with pytest.raises(FlatpanelError, match=rf"^{tmp_path}/inside: cannot be read: Permission denied$"):
        page_images.read(tmp_path)


def test_a_member_without_a_name_is_ignored(tmp_path: Path) -> None:
    """The zip format allows it."""
    path = images.cbz(tmp_path / "a.cbz", "1.png", "x")
    path.write_bytes(path.read_bytes().replace(b"x", b"\0"))

    assert page_images.read(path).pages == ["1.png"]


def test_damaged_archives_do_not_cause_tracebacks(tmp_path: Path) -> None:
    """With any bytes changed or cut off, an archive is read or refused."""
    whole = images.cbz(tmp_path / "whole.cbz", "in/1.png", "in/2.png", comicinfo="<Title>A</Title>").read_bytes()
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
