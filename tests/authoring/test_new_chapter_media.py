"""`new chapter --media`: pages go into the folder of the media under the names in the catalog, all or none."""

import os
import stat
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from generator.catalog.confined_folder import ConfinedFolder
from generator.media import page_files
from tests.conftest import AS_OF, Site
from tests.support.author_catalogs import FIRST, Run
from tests.support.images import image
from tests.support.tree_snapshot import content

NAMES = ("1.png", "2.jpg", "10.webp")


@pytest.fixture
def new(site: Site, run: Run) -> Run:
    """Run `new chapter first` with the media in `media`."""
    paths = ("--catalog", site.folder / "catalog_src", "--out", site.folder / "dist", "--media", site.folder / "media")
    return lambda *arguments: run("new", "chapter", "first", *paths, *arguments, SOURCE_DATE_EPOCH=str(AS_OF))


def cbz(site: Site, members: dict[Any, bytes], packed: int = zipfile.ZIP_DEFLATED) -> Path:
    path = site.folder / "pages.cbz"
    with zipfile.ZipFile(path, "w", packed) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def folder(site: Site, *names: str) -> Path:
    path = site.folder / "scans"
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(image(name))
    return path


def placed(site: Site) -> dict[str, bytes]:
    media = site.folder / "media"
    return {path.relative_to(media).as_posix(): path.read_bytes() for path in media.rglob("*") if path.is_file()}


def refusal(site: Site, result: Result) -> str:
    """The message of a run that changed nothing: no file of the catalog or of the media, and no folder."""
    assert result.exit_code == 1
    assert "number: 2\n" not in (site.folder / "catalog_src" / FIRST).read_text()
    return result.stderr.replace(f"{site.folder}/", "")


def test_an_archive_is_unpacked(site: Site, new: Run) -> None:
    """Below the series, volume and number of the chapter; folders in the archive do not matter."""
    archive = cbz(site, {f"in/{name}": image(name) for name in NAMES} | {"in/notes.txt": b"x"})

    assert new("--pages", archive, "--volume", "3", "--number", "10.50").exit_code == 0
    assert placed(site) == {f"series/first/3/10.5/{name}": image(name) for name in NAMES}


def test_another_folder_than_that_of_the_site_is_warned_of(site: Site, new: Run) -> None:
    """The site would not serve the pages. A link to its folder is the same folder."""
    pages = folder(site, *NAMES)
    (site.folder / "link").symlink_to("images")
    site.write("site.yaml", "base_url: https://minimal.example\nmedia_folder: images\n")
    warning = f"warning: {site.folder}/media: the site serves no images in it, but those in its media_folder, images\n"

    for name, expected in (("media", warning), ("images", ""), ("link", "")):
        result = new("--pages", pages, "--media", site.folder / name)
        assert (result.exit_code, result.stderr) == (0, expected)


def test_a_folder_is_copied(site: Site, new: Run) -> None:
    """A chapter without a volume is in 0. The workers of nginx can read the files. A killed run may have left some."""
    target = site.folder / "media/series/first/0/2"
    target.mkdir(parents=True)
    (target / "1.png").write_bytes(image("1.png"))

    assert new("--pages", folder(site, *(f"deep/{name}" for name in NAMES))).exit_code == 0
    assert placed(site) == {f"series/first/0/2/{name}": image(name) for name in NAMES}
    assert stat.S_IMODE((target / "2.jpg").stat().st_mode) == 0o644


def test_the_names_are_those_of_the_catalog(site: Site, new: Run, run: Run) -> None:
    """`media list` has the files that were placed."""
    new("--pages", folder(site, "a b#1.png", "ü.png"))
    listed = run("media", "list", "--catalog", site.folder / "catalog_src").stdout.splitlines()

    assert set(placed(site)) == {"series/first/0/2/a b#1.png", "series/first/0/2/ü.png"} <= set(listed)


def test_a_dry_run_writes_nothing(site: Site, new: Run) -> None:
    """It reads and checks the pages."""
    archive = cbz(site, {name: image(name) for name in NAMES})
    before = content(site.folder)
    assert "3 pages; nothing was written" in new("--pages", archive, "--dry-run").stderr
    assert content(site.folder) == before

    assert "2.png: is not an image" in new("--pages", cbz(site, {"2.png": b"text"}), "--dry-run").stderr


def test_media_needs_pages(new: Run) -> None:
    result = new()

    assert result.exit_code == 2
    assert "--media needs --pages" in result.stderr


def test_all_faulty_pages_are_named(site: Site, new: Run) -> None:
    """Nothing is written."""
    archive = cbz(site, {"1.png": image("1.png"), "2.png": b"", "3.png": b"<html>", "4.png": image("4.png")[:-4]})

    assert refusal(site, new("--pages", archive)) == (
        "pages.cbz: 2.png: is empty; replace it\n"
        "pages.cbz: 3.png: is not an image; replace it\n"
        "pages.cbz: 4.png: is truncated; replace it\n"
    )
    assert not (site.folder / "media").exists()


def test_other_files_are_not_mixed_with_pages(site: Site, new: Run) -> None:
    """The folder of the chapter may be that of another chapter, or of an older upload."""
    target = site.folder / "media/series/first/0/2"
    target.mkdir(parents=True)
    (target / "1.png").write_bytes(b"other")
    (target / "old.png").write_bytes(b"old")
    before = content(site.folder / "media")

    assert refusal(site, new("--pages", folder(site, "1.png"))) == (
        "media/series/first/0/2: already contains 1 other file, such as old.png; "
        "move them away, or use another --number\n"
        "media/series/first/0/2/1.png: already exists with other content; move it away, or use another --number\n"
    )
    assert content(site.folder / "media") == before


def test_versions_of_a_chapter_share_a_folder(site: Site, new: Run) -> None:
    """Their pages need other names, unless a page is the same."""
    (site.folder / "catalog_src/groups.yaml").write_text("- {id: 1, name: Ours}\n- {id: 2, name: Theirs}\n")
    assert new("--pages", folder(site, "1.png", "last.png"), "--group", "Ours").exit_code == 0
    (site.folder / "scans/1.png").write_bytes(image("other.png", 2))
    repeated = new("--pages", site.folder / "scans", "--number", "2", "--group", "Theirs")

    assert repeated.stderr.replace(f"{site.folder}/", "") == (
        "media/series/first/0/2/1.png: already exists with other content; it is a page of another version of the "
        "chapter, so rename the image in the new pages\n"
    )

    (site.folder / "scans/1.png").rename(site.folder / "scans/theirs-1.png")
    renamed = new("--pages", site.folder / "scans", "--number", "2", "--group", "Theirs")

    assert (renamed.exit_code, renamed.stderr) == (0, "")
    assert {path.rpartition("/")[2] for path in placed(site)} == {"1.png", "theirs-1.png", "last.png"}


def test_a_failed_edit_leaves_no_pages(site: Site, new: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that were there before stay."""
    pages = folder(site, *NAMES)
    target = site.folder / "media/series/first/0/2"
    target.mkdir(parents=True)
    (target / "1.png").write_bytes(image("1.png"))
    write = ConfinedFolder.write

    def fail(self: ConfinedFolder, file: str, text: bytes, modified: int | None = None) -> bool:
        if file == FIRST:
            assert len(placed(site)) == 3
            raise OSError(28, "No space left on device", file)
        return write(self, file, text, modified)

    monkeypatch.setattr(ConfinedFolder, "write", fail)
    assert refusal(site, new("--pages", pages)) == f"{FIRST}: No space left on device\n"
    assert placed(site) == {"series/first/0/2/1.png": image("1.png")}


def test_an_invalid_chapter_places_no_pages(site: Site, new: Run) -> None:
    """The record is checked first."""
    assert "--group" in refusal(site, new("--pages", folder(site, "1.png"), "--group", "Missing"))
    assert not (site.folder / "media").exists()


def test_a_repeated_name_is_refused(site: Site, new: Run) -> None:
    """Programs differ in which of the two they unpack."""
    members = {zipfile.ZipInfo("1.png"): image("1.png", width) for width in (3, 5)}
    with pytest.warns(UserWarning, match="Duplicate name"):
        archive = cbz(site, members)

    message = refusal(site, new("--pages", archive))
    assert message == "pages.cbz: 1.png: is 2 times in the archive; pack the archive again\n"


def test_a_link_in_an_archive_is_refused(site: Site, new: Run) -> None:
    """It could lead to any file of the server."""
    link = zipfile.ZipInfo("1.png")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    message = refusal(site, new("--pages", cbz(site, {link: b"/etc/passwd"})))

    assert message == "pages.cbz: 1.png: is a link; pack the archive again\n"


def test_a_link_out_of_a_folder_is_refused(site: Site, new: Run) -> None:
    """As everywhere in a catalog."""
    (site.folder / "secret.png").write_bytes(image("secret.png"))
    pages = folder(site, "1.png")
    (pages / "2.png").symlink_to(site.folder / "secret.png")

    assert "the link leads out of scans" in refusal(site, new("--pages", pages))


def test_a_link_in_the_media_does_not_lead_out(site: Site, new: Run) -> None:
    """Pages are written below the folder that was named, and nowhere else."""
    outside = site.folder / "outside"
    outside.mkdir()
    (site.folder / "media").mkdir()
    (site.folder / "media/series").symlink_to(outside)

    assert "leads out of media" in refusal(site, new("--pages", folder(site, "1.png")))
    assert os.listdir(outside) == []


def test_an_encrypted_page_is_refused(site: Site, new: Run) -> None:
    archive = cbz(site, {"1.png": image("1.png")})
    text = bytearray(archive.read_bytes())
    struct.pack_into("<H", text, text.rindex(b"PK\x01\x02") + 8, 1)
    archive.write_bytes(text)

    assert "1.png: is encrypted or has an unsupported compression" in refusal(site, new("--pages", archive))


def test_a_damaged_page_is_refused(site: Site, new: Run) -> None:
    """The checksum of the archive differs from the content."""
    archive = cbz(site, {"1.png": image("1.png")}, zipfile.ZIP_STORED)
    archive.write_bytes(archive.read_bytes().replace(b"IHDR", b"IHDX"))

    assert "pages.cbz: cannot be read: Bad CRC-32 for file '1.png'" in refusal(site, new("--pages", archive))


def test_a_zip_bomb_is_refused(site: Site, new: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page unpacks to more than the limit of a page, or all pages to more than that of a chapter."""
    monkeypatch.setattr(page_files, "MAX_PAGE", 1 << 20)
    bomb = cbz(site, {"1.png": bytes((1 << 20) + 1)})
    assert refusal(site, new("--pages", bomb)) == "pages.cbz: 1.png: has more than 1 MiB; make the image smaller\n"

    monkeypatch.setattr(page_files, "MAX_CHAPTER", 3 * len(image("1.png")) - 1)
    chapter = cbz(site, {name: image("1.png") for name in ("1.png", "2.png", "3.png")})
    assert "pages have more than 0 GiB; split the chapter" in refusal(site, new("--pages", chapter))
    assert not (site.folder / "media").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dist/www", "dist/www: is in dist, which holds the releases; choose another folder with --media\n"),
        ("catalog_src", "catalog_src: is in the catalog, which has no images; choose another folder with --media\n"),
        ("link", "link: is in the catalog, which has no images; choose another folder with --media\n"),
    ],
)
def test_media_in_the_catalog_or_in_a_release_is_refused(site: Site, new: Run, name: str, message: str) -> None:
    """The images would be files of the catalog or of a release."""
    (site.folder / "link").symlink_to("catalog_src/series")

    assert refusal(site, new("--pages", folder(site, *NAMES), "--media", site.folder / name)) == message
