"""`media archives`: chapters as .cbz files in the folder of the media, and what other commands do with them."""

import errno
import json
import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest
from click.testing import Result

from generator import filesystem
from generator.catalog import field_values
from generator.catalog.confined_folder import ConfinedFolder
from generator.catalog.problems.load import load_valid
from generator.catalog.reader import read
from generator.media import archives, stored_zip
from tests.commands.test_media import ENVIRONMENT, Media, kinds
from tests.conftest import Site
from tests.support import comicinfo_schema
from tests.support.images import gif, jpeg, png
from tests.support.paths import ROOT
from tests.support.tree_snapshot import state

SITE = "base_url: https://comics.example\nlanguage: pt-BR\ndirection: rtl\nmedia_folder: media\napps: [archives]\n"
LISTS = {
    "authors.yaml": "- {id: 1, name: Ada & Bo}\n",
    "artists.yaml": "- {id: 1, name: Cy}\n- {id: 2, name: Di}\n",
    "categories.yaml": "- {id: a, name: Slice of <life>}\n",
    "groups.yaml": "- {id: 1, name: Night Shift}\n- {id: 2, name: Day}\n",
}
ONE = """title: "One <&> \\u0085\\uFFFE"
cover: cover.jpg
authors: [Ada & Bo]
artists: [Cy, Di]
categories: [a]
{series}
chapters:
- {{id: 1, volume: 2, number: 10.5, title: "]]>\\uFFFF霧", published: 2026-01-02T23:59:59Z, \
groups: [1, 2], pages: [b.png, "a #1%20.JPG", c.gif]}}
- {{id: 2, number: 1, published: 2025-01-01, pages: 1.png .. 2.png}}
- {{id: 3, number: 1, published: 2025-01-01, pages: [3.png], groups: [Day]}}
- {{id: 4, number: 7, published: 2030-01-01, pages: [1.png]}}
- {{id: 5, number: 8, published: 2025-01-01, pages: ["https://elsewhere.example/1.png"]}}
- {{number: 9, published: 2025-01-01, pages: [1.png]}}
- {{id: 6, number: 10, published: 2025-01-01, pages: []}}
"""
PAGES = {
    "series/one/2/10.5/b.png": png(5, 4),
    # Of another format than its name states.
    "series/one/2/10.5/a #1%20.JPG": png(4, 5),
    "series/one/2/10.5/c.gif": gif(6, 6),
    "series/one/0/1/1.png": png(1, 1),
    "series/one/0/1/2.png": jpeg(2, 1),
    "series/one/0/1/3.png": png(3, 1),
    "series/one/0/7/1.png": png(),
    "series/one/0/9/1.png": png(),
}
FIRST, VERSION, SHARED = (f"archives/one/{name}.cbz" for name in ("2/10.5", "0/1-version-2", "0/1"))
ALL = [VERSION, SHARED, FIRST]


def write_one(site: Site, series: str = "", without: str = "\0") -> None:
    lines = [line for line in ONE.format(series=series).splitlines() if without not in line]
    site.write("series/one.yaml", "\n".join(lines) + "\n")


@pytest.fixture
def media(site: Site, run: Callable[..., Result]) -> Media:
    """Run `media …` on a catalog with chapters of every kind."""
    for file in (site.folder / "catalog_src/series").iterdir():
        file.unlink()
    for name, text in {"site.yaml": SITE, **LISTS}.items():
        site.write(name, text)
    site.write("sizes.yaml", '1: "5x4 - 6x6"\n')
    write_one(site)
    for path, content in PAGES.items():
        file = site.folder / "media" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return lambda name, *words: run(
        "media", name, site.folder / "media", "--catalog", site.folder / "catalog_src", *words, **ENVIRONMENT
    )


def archived(site: Site) -> list[str]:
    folder = site.folder / "media"
    return sorted(path.relative_to(folder).as_posix() for path in folder.glob("archives/**/*") if path.is_file())


def record(site: Site) -> dict[str, str]:
    """The lines of archives.yaml below its heading."""
    lines = (site.folder / "catalog_src/archives.yaml").read_text().splitlines()[1:]
    return dict(line.split(": ") for line in lines)


def entry(site: Site, path: str) -> str:
    content = (site.folder / "media" / path).read_bytes()
    return f"{path} {len(content)} {sha256(content).hexdigest()[:16]}"


def complete(site: Site) -> dict[str, str]:
    return {"1": entry(site, FIRST), "2": entry(site, VERSION), "3": entry(site, SHARED)}


def replace(site: Site, file: str, old: str, new: str) -> None:
    path = site.folder / "catalog_src" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_each_chapter_that_all_readers_get_is_archived_and_recorded(site: Site, media: Media) -> None:
    """The images are unchanged and in order, below names that sort like them; ComicInfo.xml is the first member."""
    result = media("archives")

    assert result.exit_code == 0, result.output
    assert result.stdout == (
        f"{site.folder}/media: wrote 3 files, 0.0 MiB; deleted 0 files; 0 of 3 chapters had theirs already; "
        "3 chapters without id or pages, or with pages on other hosts\n"
    )
    assert (archived(site), record(site)) == (ALL, complete(site))
    assert read(site.folder / "catalog_src").problems == []
    with zipfile.ZipFile(site.folder / "media" / FIRST) as archive:
        members = archive.infolist()
        contents = {member.filename: archive.read(member) for member in members}
        assert archive.testzip() is None
    assert list(contents) == ["ComicInfo.xml", "001.png", "002.png", "003.gif"]
    assert list(contents.values())[1:] == list(PAGES.values())[:3]
    facts = {(member.compress_type, member.date_time, member.external_attr, member.create_system) for member in members}
    assert facts == {(zipfile.ZIP_STORED, (1980, 1, 1, 0, 0, 0), 0o100644 << 16, 3)}
    # Two implementations agree on its size.
    assert stored_zip.size((member.filename, member.file_size) for member in members) == os.path.getsize(
        site.folder / "media" / FIRST
    )


def test_comicinfo_has_the_facts_of_the_chapter_in_the_order_of_the_schema(site: Site, media: Media) -> None:
    """Characters that XML has not are replaced, and the number of chapters is told when the last one is there."""
    media("archives")
    info = comicinfo_schema.read_archive(site.folder / "media" / FIRST)

    assert info.faults == []
    assert info.values == {
        "Title": "]]>\ufffd霧",
        "Series": "One <&> \u0085\ufffd",
        "Number": "10.5",
        "Volume": "2",
        "Year": "2026",
        "Month": "1",
        "Day": "2",
        "Writer": "Ada & Bo",
        "Penciller": "Cy, Di",
        "Translator": "Night Shift, Day",
        "Genre": "Slice of <life>",
        "Web": "https://comics.example/reader/one/2/10.5/",
        "PageCount": "3",
        "LanguageISO": "pt-BR",
        "Manga": "YesAndRightToLeft",
    }
    sizes = [str(len(content)) for content in list(PAGES.values())[:3]]
    assert info.pages == [
        {"Image": "0", "ImageSize": sizes[0], "ImageWidth": "5", "ImageHeight": "4"},
        {"Image": "1", "ImageSize": sizes[1]},
        {"Image": "2", "ImageSize": sizes[2], "ImageWidth": "6", "ImageHeight": "6"},
    ]
    version = comicinfo_schema.read_archive(site.folder / "media" / VERSION)
    assert version.values["Web"] == "https://comics.example/reader/one/0/1/version-2/"
    assert not {"Volume", "Title", "Translator"} & version.values.keys()

    # The last chapter is that of the highest number without a volume.
    replace(site, "series/one.yaml", "number: 10, published", "number: 10, final: true, published")
    replace(site, "site.yaml", "language: pt-BR\ndirection: rtl\n", "")
    media("archives")
    finished = comicinfo_schema.read_archive(site.folder / "media" / FIRST)
    assert (finished.faults, finished.values["Count"]) == ([], "5")
    assert not {"LanguageISO", "Manga", "AgeRating"} & finished.values.keys()
    ratings = []
    for rating in ("safe", "suggestive", "explicit"):
        write_one(site, series=f"rating: {rating}")
        media("archives")
        rated = comicinfo_schema.read_archive(site.folder / "media" / FIRST)
        ratings += [*rated.faults, rated.values["AgeRating"]]
    assert ratings == ["Everyone", "Teen", "Adults Only 18+"]


def test_the_same_catalog_gives_the_same_bytes(site: Site, media: Media) -> None:
    """On every machine: neither the time, the zone, the umask nor the name of the user is in an archive."""
    media("archives")

    assert {path: entry(site, path).split(" ", 1)[1] for path in ALL} == {
        VERSION: "956 a469533d1e6bba77",
        SHARED: "806 71f1e9dcb1f2a05d",
        FIRST: "1279 91c0f99f6a82ff3e",
    }


def test_only_new_and_changed_chapters_are_written(site: Site, media: Media) -> None:
    """A lost or damaged archive is made again, with the same bytes. A dry run lists all and changes nothing."""
    folder = site.folder / "media"
    planned = media("archives", "--dry-run", "--all")
    assert planned.stdout.splitlines()[0].split(": ", 1)[1].startswith("would write 3 files; would delete 0 files;")
    assert planned.stdout.splitlines()[1:] == ["to write: 3 files", *(f"  {path}" for path in ALL)]
    assert not (site.folder / "catalog_src/archives.yaml").exists()
    media("archives")
    before, first = state(site.folder), record(site)
    assert json.loads(media("archives", "--json").stdout)["kept"] == 3
    assert state(site.folder) == before

    content = (folder / FIRST).read_bytes()
    (folder / FIRST).write_bytes(content[:-1] + b"\1")
    (folder / VERSION).unlink()
    (folder / "series/one/0/1/3.png").write_bytes(png(3, 3))
    result = json.loads(media("archives", "--dry-run", "--json").stdout)
    assert (result["written"], result["dry_run"], archived(site)) == (3, True, [SHARED, FIRST])
    result = json.loads(media("archives", "--json").stdout)
    assert (result["written"], result["kept"], result["removed"]) == (3, 0, 0)
    after = record(site)
    assert ({**first, "3": ""}, after) == ({**after, "3": ""}, complete(site))
    assert after["3"] != first["3"]
    (folder / FIRST).write_bytes(content + b"\0")
    assert json.loads(media("archives", "--json").stdout)["written"] == 1


def test_archives_that_readers_should_not_get_are_deleted(site: Site, media: Media) -> None:
    """Of chapters that are gone, licensed or restricted, and all of them without the setting.

    Also if the site restricts a route of the API that an archive would tell.
    """
    folder = site.folder / "media"
    own = folder / "archives/one/0/other.cbz"
    for change in (
        lambda: write_one(site, series="licensed: true"),
        lambda: write_one(site, series="restricted: true"),
        lambda: (site.folder / "catalog_src/series/one.yaml").unlink(),
        lambda: replace(site, "site.yaml", "apps: [archives]", "apps: [archives]\nrestricted: ['/chapters/{id}']"),
        # Only the pages need a key then.
        lambda: replace(site, "site.yaml", "apps: [archives]", "apps: [archives]\nrestricted: [/pages]"),
        lambda: replace(site, "site.yaml", "apps: [archives]", "apps: [opds]"),
    ):
        site.write("site.yaml", SITE)
        write_one(site)
        media("archives")
        assert set(ALL) <= set(archived(site))
        own.write_bytes(b"of the owner")
        assert "not all readers" not in str(site.build().warnings)
        change()
        # A build says so, unless only the setting is gone: all readers get the pages then.
        is_told = f"not all readers get, such as {min(ALL)}; servers" in str(site.build().warnings)
        assert is_told == ("[opds]" not in (site.folder / "catalog_src/site.yaml").read_text())
        assert kinds(media("archives", "--dry-run", "--json")) == [("delete", path) for path in ALL]
        result = json.loads(media("archives", "--json").stdout)
        assert (result["removed"], result["written"], record(site)) == (3, 0, {})
        assert archived(site) == ["archives/one/0/other.cbz"]
    refused = media("archives")
    assert refused.exit_code == 1
    assert "site.yaml: the site has no archives; add apps: [archives], and restrict none of" in refused.stderr


def test_another_copy_of_the_project_loses_what_was_withdrawn(site: Site, media: Media) -> None:
    """All copies share the record, and each has images of its own. A file that this command did not write stays."""
    folder, foreign = site.folder / "media", "archives/one/0/99.cbz"
    media("archives")
    files = {path: (folder / path).read_bytes() for path in ALL}
    write_one(site, series="licensed: true")
    assert json.loads(media("archives", "--json").stdout)["removed"] == 3
    for path, content in {**files, foreign: b"PK of the owner"}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    assert {("withdrawn", path) for path in ALL} <= set(kinds(media("check", "--json")))
    assert json.loads(media("archives", "--json").stdout)["removed"] == 3
    assert archived(site) == [foreign]
    write_one(site)
    media("archives")
    assert ("extra", foreign) in kinds(media("check", "--json"))


@pytest.mark.usefixtures("media")
def test_a_run_without_the_images_writes_nothing(site: Site, run: Callable[..., Result]) -> None:
    """A plan says the same."""
    empty, catalog = site.folder / "empty", site.folder / "catalog_src"
    empty.mkdir()
    for verb, options in ("would write", ["--dry-run"]), ("wrote", []):
        result = run("media", "archives", empty, "--catalog", catalog, *options, **ENVIRONMENT)
        assert (result.exit_code, f"{empty}: {verb} 0 files" in result.stdout) == (1, True)
        assert "missing: 3 files" in result.stdout
        assert list(empty.iterdir()) == []


@pytest.mark.usefixtures("media")
@pytest.mark.parametrize("command", ["archives", "variants", "fetch"])
def test_the_catalog_and_a_built_site_get_no_images(site: Site, run: Callable[..., Result], command: str) -> None:
    """They are named by mistake: a lock of both would wait for itself."""
    site.build()
    messages = {
        "catalog_src": "is in the catalog or contains it",
        ".": "is in the catalog or contains it",
        "dist": "is a built site",
    }
    for name, message in messages.items():
        result = run("media", command, site.folder / name, "--catalog", site.folder / "catalog_src")
        assert (result.exit_code, f"{message}; name the folder of the images" in result.stderr) == (1, True)


def test_a_site_without_chapters_to_archive_gets_no_record(site: Site, media: Media) -> None:
    write_one(site, series="restricted: true")
    result = media("archives")

    assert (result.exit_code, "wrote 0 files" in result.stdout) == (0, True)
    assert not (site.folder / "catalog_src/archives.yaml").exists()


def test_a_path_that_goes_to_another_chapter_is_deleted_first(site: Site, media: Media) -> None:
    """Else the archive of a chapter that was removed would stay below the number of one whose pages are missing."""
    media("archives")
    write_one(site, without="id: 3,")
    (site.folder / "media/series/one/0/1/1.png").unlink()
    printed = media("archives", "--json")
    result = json.loads(printed.stdout)

    assert kinds(printed) == [("missing", "series/one/0/1/1.png")]
    assert (result["removed"], result["ok"], archived(site)) == (2, False, [FIRST])
    # Without size and digest, a build has no archive of it.
    assert record(site)["2"] == SHARED
    assert read(site.folder / "catalog_src").problems == []


def test_a_chapter_whose_pages_cannot_be_read_keeps_its_archive(site: Site, media: Media, tmp_path: Path) -> None:
    """Each has a line. A link that leads out of the folder is not followed."""
    media("archives")
    folder, before = site.folder / "media", record(site)
    files = {path: (folder / path).read_bytes() for path in ALL}
    (tmp_path / "secret.png").write_bytes(png(9, 9))
    (folder / "series/one/2/10.5/c.gif").unlink()
    (folder / "series/one/2/10.5/c.gif").symlink_to(tmp_path / "secret.png")
    (folder / "series/one/0/1/2.png").write_bytes(png()[:-1])
    (folder / "series/one/0/1/3.png").unlink()
    (folder / "series/one/0/1/3.png").mkdir()
    result = media("archives")

    assert result.exit_code == 1
    assert result.stdout.splitlines()[1:] == [
        "unusable: 3 files",
        "  series/one/0/1/2.png: is truncated",
        "  series/one/0/1/3.png: cannot be read: Is a directory",
        "  and 1 more (--all)",
    ]
    last = "  series/one/2/10.5/c.gif: cannot be read: the link leads out of media\n"
    assert media("archives", "--dry-run", "--all").stdout.endswith(last)
    assert (record(site), {path: (folder / path).read_bytes() for path in ALL}) == (before, files)


def test_no_archive_is_written_through_a_link(site: Site, media: Media, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (site.folder / "media/archives").symlink_to(tmp_path / "outside")
    result = media("archives")

    assert (result.exit_code, "the link leads out of media" in result.stderr) == (1, True)
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_page_that_changes_meanwhile_gives_no_archive(
    site: Site, media: Media, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size is in ComicInfo.xml, which is written before it."""
    page = site.folder / "media/series/one/2/10.5/c.gif"
    examine = archives.image_content.examine

    def grow(file: BytesIO) -> object:
        page.write_bytes(page.read_bytes() + b";")
        return examine(file)

    monkeypatch.setattr(archives.image_content, "examine", grow)
    result = json.loads(media("archives", "--json").stdout)
    message = "changed while it was archived; run the command again"
    changed = {"kind": "unusable", "path": "series/one/2/10.5/c.gif", "detail": message}
    assert (result["findings"], archived(site)) == ([changed], [VERSION, SHARED])
    monkeypatch.undo()
    assert json.loads(media("archives", "--json").stdout)["written"] == 1


def test_larger_archives_than_the_format_allows_are_refused(
    site: Site, media: Media, monkeypatch: pytest.MonkeyPatch
) -> None:
    media("archives")
    sizes = {path: (site.folder / "media" / path).stat().st_size for path in ALL}
    monkeypatch.setattr(stored_zip, "MAX_SIZE", max(sizes.values()) - 1)
    result = media("archives", "--dry-run")

    assert f"unusable: 1 file\n  {max(sizes, key=sizes.__getitem__)}: would have more than 4 GiB" in result.stdout


KILLED = """
import os, signal, sys
from generator import filesystem
from generator.commands import cli
from generator.media import stored_zip
end = stored_zip.StoredZip.end
ends = []
def ended(archive):
    # The third archive lacks its last bytes.
    if len(ends) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    ends.append(1)
    return end(archive)
stored_zip.StoredZip.end = ended
cli.main()
"""


def test_a_killed_run_is_continued(site: Site, media: Media) -> None:
    """What it left is neither served nor unknown: the next run completes it, or removes it with its chapter."""
    folder, catalog = site.folder / "media", site.folder / "catalog_src"
    command = [sys.executable, "-c", KILLED, "media", "archives", str(folder), "--catalog", str(catalog)]
    killed = subprocess.run(command, cwd=ROOT, env={**os.environ, **ENVIRONMENT}, check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert record(site) == {"1": FIRST, "2": VERSION, "3": SHARED}
    assert archived(site) == [VERSION, SHARED, "archives/one/2/.10.5.cbz.new"]

    write_one(site, without="id: 1,")
    result = json.loads(media("archives", "--json").stdout)
    assert (result["written"], result["kept"], result["removed"]) == (0, 2, 0)
    assert archived(site) == [VERSION, SHARED]
    assert not (folder / "archives/one/2").exists()
    assert record(site) == {"2": entry(site, VERSION), "3": entry(site, SHARED)}


def test_a_full_disk_is_a_message_and_leaves_no_file(site: Site, media: Media, monkeypatch: pytest.MonkeyPatch) -> None:
    """The catalog names each archive before it is written, so that a later run can delete it."""
    write = filesystem._write

    def full(descriptor: int, data: bytes) -> None:
        if data.startswith(b"GIF8"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(descriptor, data)

    monkeypatch.setattr(filesystem, "_write", full)
    result = media("archives")
    assert (result.exit_code, result.stderr.splitlines()[-1:]) == (
        1,
        [f"{site.folder}/media/{FIRST}: No space left on device"],
    )
    assert archived(site) == [VERSION, SHARED]
    assert record(site) == {"1": FIRST, "2": entry(site, VERSION), "3": entry(site, SHARED)}


# Other commands


def test_a_new_chapter_is_made_of_an_archive(site: Site, run: Callable[..., Result], media: Media) -> None:
    """`new chapter` gives back number, title, volume, day, groups, and the bytes of the images in their order."""
    media("archives")
    catalog, pages = site.folder / "catalog_src", site.folder / "pages"
    site.write("series/again.yaml", "title: Again\ncover: c.jpg\n")
    arguments = ("new", "chapter", "again", "--catalog", catalog, "--out", site.folder / "dist", "--media", pages)
    for path in ALL:
        made = run(*arguments, "--pages", site.folder / "media" / path, *(("--volume", 7) if path == VERSION else ()))
        assert made.exit_code == 0, made.output
    again = next(entry for entry in load_valid(ConfinedFolder(catalog)).series if entry.slug == "again")
    chapters = {(entry.record.volume, entry.record.number): entry.record for entry in again.chapters}

    assert set(chapters) == {(2, "10.5"), (7, "1"), (None, "1")}
    chapter = chapters[2, "10.5"]
    # What XML has not was replaced.
    assert (chapter.title, chapter.groups) == ("]]>\ufffd霧", ["Night Shift", "Day"])
    assert field_values.iso(chapter.published) == "2026-01-02T00:00:00Z"
    contents = [(pages / "series/again/2/10.5" / page).read_bytes() for page in chapter.pages]
    assert contents == list(PAGES.values())[:3]
    assert [len(chapters[7, "1"].pages), chapters[None, "1"].groups] == [2, ["Day"]]


def test_the_list_has_the_archives(site: Site, run: Callable[..., Result], media: Media) -> None:
    media("archives")
    arguments = ("media", "list", "--catalog", site.folder / "catalog_src")

    assert sorted(line for line in run(*arguments).stdout.splitlines() if line.startswith("archives/")) == ALL
    files = json.loads(run(*arguments, "--json").stdout)["files"]
    assert {file["path"] for file in files if file["kind"] == "archive"} == set(ALL)
    write_one(site, series="restricted: true")
    assert "archives/" not in run(*arguments).stdout


def test_a_check_knows_the_archives(site: Site, media: Media) -> None:
    """It compares the whole of each with the record, and reports those that a server must not offer any more."""
    folder = site.folder / "media"
    (folder / "series/one/cover.jpg").write_bytes(jpeg())
    media("archives")
    fine = media("check", "--leave-out", "scheduled", "--json")
    assert (fine.exit_code, {kind for kind, _ in kinds(fine)}) == (0, {"other format"})

    content = (folder / FIRST).read_bytes()
    (folder / FIRST).write_bytes(content[:-1] + b"\1")
    (folder / VERSION).unlink()
    (folder / SHARED).write_bytes(b"")
    (folder / "archives/one/0/2.cbz").write_bytes(b"of the owner")
    assert [finding for finding in kinds(media("check", "--json")) if finding[0] != "other format"] == [
        ("missing", VERSION),
        ("differs", FIRST),
        ("differs", SHARED),
        ("extra", "archives/one/0/2.cbz"),
    ]
    write_one(site, series="licensed: true")
    found = media("check", "--json")
    withdrawn = [path for kind, path in kinds(found) if kind == "withdrawn"]
    assert (found.exit_code, withdrawn) == (1, [SHARED, FIRST])
