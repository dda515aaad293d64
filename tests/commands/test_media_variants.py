"""`media variants`: smaller copies in the folder of the media, and what other commands do with them."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from generator.catalog.confined_folder import ConfinedFolder
from generator.catalog.reader import read
from generator.installation import how_to_add
from generator.media import image_copies, named_files
from generator.media.variants import VariantsWriter
from tests.commands.test_media import ENVIRONMENT, Media, kinds
from tests.conftest import AS_OF, Site
from tests.support import media_server, pictures
from tests.support.media_server import FILES
from tests.support.tree_snapshot import state

COVER, PAGES, SCHEDULED = FILES[3], FILES[4:7], FILES[7:]
COPIES = [f"w/{width}/{COVER}.webp" for width in (160, 320)]
PAGE_COPIES = [f"w/800/{page}.webp" for page in PAGES]
LINE = re.compile(r'"?series/one/cover\.jpg"?: "?160 320 of 400, [0-9a-f]{16}"?')


@pytest.fixture
def media(site: Site, run: Callable[..., Result]) -> Media:
    """Run `media …` on a catalog whose media are in `media`. The cover is a large image, and so is each page."""
    media_server.write_catalog(site)
    folder = site.folder / "media"
    media_server.fill(folder, FILES)
    pictures.write(folder / COVER)
    for page in (*PAGES, *SCHEDULED):
        pictures.write(folder / page, (801, 100))
    return lambda name, *words: run("media", name, "--catalog", site.folder / "catalog_src", *words, **ENVIRONMENT)


def copies(site: Site) -> list[str]:
    folder = site.folder / "media"
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob("w/**/*") if path.is_file())


def record(site: Site) -> list[str]:
    return (site.folder / "catalog_src/variants.yaml").read_text().splitlines()[2:]


def test_covers_get_smaller_copies_and_the_catalog_records_them(site: Site, media: Media) -> None:
    result = media("variants", site.folder / "media")

    assert result.exit_code == 0
    assert re.fullmatch(
        r"\S+media: wrote 2 files, 0\.\d MiB; removed 0 files; 0 of 1 images had theirs already\n", result.stdout
    )
    assert copies(site) == COPIES
    (line,) = record(site)
    assert LINE.fullmatch(line)
    assert read(site.folder / "catalog_src").problems == []


def test_pages_get_copies_on_request(site: Site, media: Media) -> None:
    """But not those that readers do not get: of scheduled, licensed and restricted chapters."""
    folder = site.folder / "media"
    media("variants", folder, "--pages")
    assert copies(site) == [*COPIES, *PAGE_COPIES]

    for reason in ("licensed", "restricted"):
        media_server.write_catalog(site, **{reason: True})
        result = json.loads(media("variants", folder, "--pages", "--json").stdout)
        assert (result["removed"], copies(site)) == (3, COPIES)
        media_server.write_catalog(site)
        media("variants", folder, "--pages")
        assert copies(site) == [*COPIES, *PAGE_COPIES]


def test_only_what_is_new_or_changed_is_written(site: Site, media: Media) -> None:
    """A copy that is lost or damaged is made again, with the same bytes. Copies of pages stay up to date."""
    folder = site.folder / "media"
    media("variants", folder, "--pages")
    before = state(folder)
    assert json.loads(media("variants", folder, "--json").stdout)["kept"] == 4
    assert state(folder) == before

    content = (folder / COPIES[0]).read_bytes()
    (folder / COPIES[0]).unlink()
    (folder / COPIES[1]).write_bytes(b"RIFF")
    pictures.write(folder / PAGES[0], (802, 100))
    result = json.loads(media("variants", folder, "--json").stdout)
    assert (result["written"], result["kept"], result["removed"]) == (3, 2, 0)
    assert (folder / COPIES[0]).read_bytes() == content
    assert any("of 802" in line for line in record(site))


def test_copies_of_images_that_the_catalog_no_longer_names_are_removed(site: Site, media: Media) -> None:
    """Other files in the same folder stay, and an image that the catalog names by such a path."""
    folder = site.folder / "media"
    media("variants", folder)
    (folder / "w/160/other.webp").write_bytes(b"")
    named = f"https://comics.example/media/{COPIES[0]}"
    site.write("series/one.yaml", f"title: One\ncover: {named}\n")
    result = json.loads(media("variants", folder, "--json").stdout)

    assert result["removed"] == 1
    assert copies(site) == ["w/160/other.webp", COPIES[0]]
    assert record(site) == []


def test_a_missing_image_keeps_its_copies(site: Site, media: Media) -> None:
    """A part of the media may be elsewhere."""
    folder = site.folder / "media"
    media("variants", folder)
    before = record(site)
    (folder / COVER).unlink()
    result = media("variants", folder)

    assert (result.exit_code, record(site), copies(site)) == (1, before, COPIES)
    assert f"missing: 1 file\n  {COVER}\n" in result.stdout


def test_each_image_that_is_not_usual_has_one_line(site: Site, media: Media) -> None:
    """A damaged one loses its copies: they would show another image."""
    folder = site.folder / "media"
    media("variants", folder)
    (folder / COVER).write_bytes(b"GIF89a")
    page = pictures.picture(size=(801, 100))
    (folder / PAGES[0]).write_bytes(pictures.stored(page, "PNG", save_all=True, append_images=[page.rotate(180)]))
    (folder / PAGES[1]).write_bytes(pictures.stored(page.convert("CMYK"), "JPEG"))
    (folder / PAGES[2]).unlink()
    (folder / PAGES[2]).mkdir()
    result = media("variants", folder, "--pages")

    assert result.exit_code == 1
    assert result.stdout.splitlines()[1:] == [
        "unusable: 2 files",
        f"  {COVER}: is not an image, or of a format that cannot be read",
        f"  {PAGES[2]}: cannot be read: Is a directory",
        "animated: without smaller copies, which would not move: 1 file",
        f"  {PAGES[0]}",
        "converted: the copies are upright, in 8-bit RGB: 1 file",
        f"  {PAGES[1]}: CMYK",
    ]
    assert copies(site) == [PAGE_COPIES[1]]


def test_links_lead_to_nothing_outside(site: Site, media: Media, tmp_path: Path) -> None:
    """An editor of the folder must not read other files, nor let others be replaced or removed."""
    folder, outside = site.folder / "media", tmp_path / "outside"
    secret = pictures.write(outside / "secret.jpg")
    (folder / COVER).unlink()
    (folder / COVER).symlink_to(outside / "secret.jpg")
    result = media("variants", folder)
    assert f"{COVER}: cannot be read: the link leads out of media\n" in result.stdout
    assert not copies(site)

    (folder / COVER).unlink()
    (folder / COVER).write_bytes(secret)
    (folder / "w").symlink_to(outside)
    result = media("variants", folder)
    assert (result.exit_code, "the link leads out of media" in result.stderr) == (1, True)
    assert [path.name for path in outside.iterdir()] == ["secret.jpg"]
    (folder / "w").unlink()
    media("variants", folder)
    (folder / "w").rename(outside / "w")
    (folder / "w").symlink_to(outside / "w")
    media_server.write_catalog(site)
    site.write("series/one.yaml", "title: One\ncover: other.jpg\n")
    result = media("variants", folder)
    assert (result.exit_code, "the link leads out of media" in result.stderr) == (1, True)
    assert len(list(outside.rglob("*.webp"))) == 2


@pytest.mark.parametrize("path", ["series/one/../../../../../outside/secret.jpg", "series/../../../series/one/0/1/001"])
def test_a_recorded_path_leads_to_nothing_outside(path: str, site: Site, media: Media, tmp_path: Path) -> None:
    """A path with `..` needs no link to leave the folder of the copies."""
    folder = site.folder / "media"
    files = [
        tmp_path / "outside/secret.jpg.webp",
        folder / "series/one/0/1/001.webp",
        folder / "w/160/series/one/a.webp",
    ]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"a file")
    site.write("variants.yaml", f'"{path}": "160 of 800, 0123456789abcdef"\n')
    result = media("variants", folder)

    assert result.exit_code == 1
    assert "should be the path of an image below the media, without . and .. as names" in result.stderr
    assert all(file.exists() for file in files)


def test_an_interrupted_run_records_what_it_did(site: Site, media: Media) -> None:
    """The next one goes on."""
    folder, catalog = site.folder / "media", ConfinedFolder(site.folder / "catalog_src")
    named = named_files.read(catalog, AS_OF)
    copier = image_copies.copier()
    assert copier
    writer = VariantsWriter(catalog, ConfinedFolder(folder), named, copier)

    def interrupt(done: int) -> None:
        if counts.append(done) or len(counts) > 2:
            raise KeyboardInterrupt

    counts: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        writer.write(writer.wanted(pages=True), 1, interrupt)
    assert len(record(site)) == 2
    # A run that is interrupted after an image has gone knows its copies: the next one removes them.
    text = (site.folder / "catalog_src/variants.yaml").read_text()
    (site.folder / "catalog_src/variants.yaml").write_text(f'{text}"series/gone.png": 160 of 200, 0123456789abcdef\n')
    (folder / "w/160/series").mkdir(parents=True, exist_ok=True)
    (folder / "w/160/series/gone.png.webp").write_bytes(b"RIFF")
    named = named_files.read(catalog, AS_OF)
    writer = VariantsWriter(catalog, ConfinedFolder(folder), named, copier)
    with pytest.raises(KeyboardInterrupt):
        writer.write(writer.wanted(pages=True), 1, interrupt)
    assert any(line.startswith('"series/gone.png"') for line in record(site))
    result = json.loads(media("variants", folder, "--pages", "--json").stdout)
    assert (result["kept"], result["ok"], result["removed"]) == (2, True, 1)
    assert copies(site) == [*COPIES, *PAGE_COPIES]


def test_without_the_library_the_message_says_how_to_add_it(
    site: Site, media: Media, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    result = media("variants", site.folder / "media")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"copies of images need the library Pillow; install it: {how_to_add('pillow')}\n"


# Other commands


def test_the_list_has_the_copies(site: Site, media: Media) -> None:
    media("variants", site.folder / "media", "--pages")

    assert media("list").stdout.splitlines() == [*FILES, *COPIES, *PAGE_COPIES]
    kind_of = {file["path"]: file["kind"] for file in json.loads(media("list", "--json").stdout)["files"]}
    assert {kind_of[path] for path in COPIES} == {"variant"}


def test_a_check_knows_the_copies(site: Site, media: Media) -> None:
    folder = site.folder / "media"
    media("variants", folder, "--pages")
    assert media("check", folder, "--json").exit_code == 0

    (folder / COPIES[0]).unlink()
    (folder / COPIES[1]).write_bytes(b"text")
    pictures.write(folder / PAGES[1], (803, 100))
    (folder / "w/320/extra.webp").write_bytes(b"")
    media_server.write_catalog(site)
    result = media("check", folder, "--json")
    assert result.exit_code == 1
    assert kinds(result) == [
        ("missing", COPIES[0]),
        ("unreadable", COPIES[1]),
        ("outdated", PAGES[1]),
        ("extra", "w/320/extra.webp"),
    ]
    # Copies of a restricted series should not be there.
    media_server.write_catalog(site, restricted=True)
    result = media("check", folder, "--leave-out", "restricted", "--json")
    extra = {path for kind, path in kinds(result) if kind == "extra"}
    assert extra == {*PAGE_COPIES, "w/320/extra.webp"}
