"""Links and special files in a catalog: which are followed; no other file is read, listed or written."""

import errno
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from generator.authoring import chapter_ids, key_entries, new_entries, view_counts
from generator.catalog import confined_folder, reader, snapshot
from generator.catalog.confined_folder import ConfinedFolder, Folder
from generator.catalog.problems import locate
from generator.errors import FlatpanelError
from generator.media import size_file
from generator.pipeline import run as pipeline
from generator.pipeline import up_to_date
from generator.pipeline.build_options import Options
from tests.catalog import test_wrong_catalogs
from tests.conftest import AS_OF, Site
from tests.support import author_catalogs
from tests.support.author_catalogs import Run
from tests.support.servers import free_port

SECRET = "the-content-of-a-file-elsewhere"
REFUSED = "the link leads out of catalog_src; --follow DIR allows links into DIR"


@pytest.fixture
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that does not belong to the catalog."""
    return tmp_path_factory.mktemp("outside")


@pytest.fixture
def linked(site: Site, outside: Path) -> Site:
    """A catalog whose authors are in a file elsewhere."""
    (outside / "authors.yaml").write_text(authors(SECRET))
    return link(site, "authors.yaml", outside / "authors.yaml")


def authors(name: str) -> str:
    return "".join(f"- {{id: {one}, name: {who}, modified: 2026-01-01}}\n" for one, who in ((1, "Ada Penn"), (2, name)))


def link(site: Site, file: str, target: Path | str) -> Site:
    path = site.folder / "catalog_src" / file
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    return site


def problems(site: Site, follow: tuple[Path, ...] = ()) -> list[str]:
    return test_wrong_catalogs.problems(ConfinedFolder(site.folder / "catalog_src", follow))


# Every command that reads a catalog, with its arguments behind --catalog, and whether it is asked for --out.
COMMANDS = {
    "build": ("build", "--no-cache"),
    "build --check": ("build", "--check"),
    "check": ("check",),
    "next": ("next",),
    "diff": ("diff", ".", "."),
    "serve": ("serve", "--no-cache"),
    "ids": ("ids",),
    "keys list": ("keys", "list"),
    "keys add": ("keys", "add", "phone"),
    "keys revoke": ("keys", "revoke", "shop"),
    "views": ("views", os.devnull),
    "new series": ("new", "series", "third", "--title", "Third"),
    "new chapter": ("new", "chapter", "first"),
    "media list": ("media", "list"),
}
WITH_OUT = ("build", "serve", "next", "ids")


def command(name: str, site: Site, run: Run, *more: object) -> Result:
    words = COMMANDS[name]
    out = ["--out", site.folder / "dist"] if words[0] in WITH_OUT or name == "new chapter" else []
    conf = ["--nginx", site.folder / "nginx.conf"] if words[0] in ("build", "serve") else []
    size = 2 if words[0] in ("keys", "new", "media") else 1
    head, rest = words[:size], words[size:]
    free = ["--port", free_port()] if words[0] == "serve" else []
    return run(*head, "--catalog", site.folder / "catalog_src", *out, *conf, *free, *more, *rest)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_refuses_a_link_out_of_the_catalog(name: str, linked: Site, run: Run) -> None:
    """One line names the file and the option. The target appears nowhere, and no file is written."""
    before = author_catalogs.everything(linked)
    result = command(name, linked, run)

    assert result.exit_code == 1
    assert f"{linked.folder}/catalog_src/authors.yaml:1:1: cannot be read: {REFUSED}\n" in result.stderr
    assert result.output.count("--follow") == 1
    assert SECRET not in result.output
    assert author_catalogs.everything(linked) == before
    assert not (linked.folder / "dist").exists()


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "serve"])
def test_every_command_follows_links_into_named_folders(name: str, linked: Site, outside: Path, run: Run) -> None:
    """`--follow` may be repeated, and its folder may be a link."""
    linked.write("keys.yaml", f"- {{name: shop, sha256: {'1' * 63}a}}\n")
    (linked.folder / "shared").symlink_to(outside)
    if name == "build --check":
        assert command("build", linked, run, "--follow", outside, "--as-of", AS_OF).exit_code == 0
    instant = ["--as-of", AS_OF] if name.startswith("build") else []
    result = command(name, linked, run, "--follow", "/usr", "--follow", linked.folder / "shared", *instant)

    assert (result.exit_code, REFUSED in result.output) == (0, False), result.output


def test_followed_file_is_published(linked: Site, outside: Path) -> None:
    """The next build notices a change of it."""
    linked.write("series/first.yaml", "title: F\ncover: c.jpg\nauthors: [2]\nmodified: 2026-01-01\n")
    options = Options(
        ConfinedFolder(linked.folder / "catalog_src", (outside,)),
        *linked.paths[1:],
        AS_OF,
        cache=linked.folder / ".flatpanel_cache",
    )
    pipeline.build(options)
    assert SECRET.encode() in published(linked)
    assert pipeline.build(options).changes["changed"] == 0

    (outside / "authors.yaml").write_text(authors("Cy Brush"))
    assert pipeline.build(options).changes["changed"] > 0
    assert SECRET.encode() not in published(linked)


def published(site: Site) -> bytes:
    manifest = site.manifest
    files = {one.file for one in manifest.resources.values() if "series" in one.file}
    return b"".join((site.folder / "dist" / file).read_bytes() for file in sorted(files))


def test_import_refuses_links_out_of_the_catalog(linked: Site, run: Run) -> None:
    """Before its first request."""
    result = run("import", "http://127.0.0.1:9", "--catalog", linked.folder / "catalog_src")

    assert (result.exit_code, SECRET in result.output) == (1, False)
    assert REFUSED in result.stderr


def test_schemas_are_not_written_through_a_link(site: Site, outside: Path, run: Run) -> None:
    """Unless the folder is given with `--follow`."""
    link(site, ".schemas", outside)
    given = ("schema", "--catalog", site.folder / "catalog_src")
    refused = run(*given)

    assert (refused.exit_code, list(outside.iterdir())) == (1, [])
    assert refused.stderr.endswith(f": {REFUSED}\n")
    assert run(*given, "--follow", outside).exit_code == 0
    assert (outside / "series.json").is_file()


def test_missing_follow_folder_is_a_usage_error(site: Site, run: Run) -> None:
    """The command ends with exit code 2."""
    result = run("check", "--catalog", site.folder / "catalog_src", "--follow", site.folder / "nowhere")

    assert (result.exit_code, "--follow" in result.stderr) == (2, True)


@pytest.mark.parametrize("target", ["/proc/self/environ", "/dev/zero", "/dev/kmsg", "/etc/passwd", "/proc/self/mem"])
def test_system_files_are_not_read(target: str, site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the environment of this process nor a device, for a build or for an excerpt."""
    monkeypatch.setenv("FLATPANEL_TEST", SECRET)
    files = ["authors.yaml", "series/first.yaml", "sizes.yaml", "views.yaml"]
    for file in files:
        link(site, file, target)

    assert sorted(problems(site)) == [f"{file}:1:1: cannot be read: {REFUSED}" for file in files]
    assert [locate.text(site.folder / "catalog_src", file) for file in files] == [b""] * 4
    result = run("check", "--catalog", site.folder / "catalog_src")
    assert (result.exit_code, "root:" in result.output, SECRET in result.output) == (1, False, False)


@pytest.mark.parametrize("target", ["/dev/zero", "pipe"])
def test_devices_and_pipes_in_followed_folders_are_refused(
    target: str, site: Site, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not even opened."""
    os.mkfifo(outside / "pipe")
    link(site, "authors.yaml", outside / target)
    names, opened = [], os.open

    def spy(path: str, *given: int, **named: int) -> int:
        names.append(path)
        return opened(path, *given, **named)

    monkeypatch.setattr(os, "open", spy)

    assert problems(site, (outside, Path("/dev"))) == [
        "authors.yaml:1:1: cannot be read: it is neither a file nor a folder"
    ]
    assert "site.yaml" in names
    assert not {"zero", "pipe"}.intersection(names)


def test_size_limit_counts_the_bytes_read(site: Site) -> None:
    """Files of procfs have size 0 and content."""
    folder = ConfinedFolder(Path("/proc/self"))

    assert os.stat("/proc/self/environ").st_size == 0
    assert folder.content("limits")[0].startswith(b"Limit")
    with pytest.raises(OSError, match="more than 0 MiB") as caught:
        folder.content("limits", 100)
    assert caught.value.errno == errno.EFBIG


def test_growing_file_is_read_up_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused as soon as it exceeds the limit."""
    path = tmp_path / "growing"
    path.write_bytes(b"x")
    read, parts = os.read, []

    def growing(descriptor: int, size: int) -> bytes:
        with path.open("ab") as more:
            more.write(b"x" * size)
        parts.append(size)
        return read(descriptor, size)

    monkeypatch.setattr(os, "read", growing)
    with pytest.raises(OSError, match="more than 1 MiB"):
        ConfinedFolder(tmp_path).content("growing", 1 << 20)
    assert sum(parts) <= (1 << 20) + 2 * max(parts)


# Folders


@pytest.mark.parametrize("file", ["series/machine", "series/long/chapters", "series", "notes", "series/long/extra"])
def test_link_to_the_root_folder_is_not_walked(file: str, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither by the reader nor by a snapshot. The message is one line."""
    catalog = site.folder / "catalog_src"
    site.write("series/long/series.yaml", "title: Long\ncover: c.jpg\n")
    if file == "series":
        shutil.rmtree(catalog / file)
    link(site, file, "/")
    listed: list[str] = []
    listdir, scandir = os.listdir, os.scandir

    def spy(call: Callable[..., object]) -> Callable[..., object]:
        def instead(folder: int | str) -> object:
            listed.append(os.readlink(f"/proc/self/fd/{folder}") if isinstance(folder, int) else str(folder))
            return call(folder)

        return instead

    monkeypatch.setattr(os, "listdir", spy(listdir))
    monkeypatch.setattr(os, "scandir", spy(scandir))
    messages = problems(site)
    snapshot.take(catalog)
    up_to_date.fingerprint(Options(catalog, site.folder / "dist", site.folder / "nginx.conf", AS_OF), {})

    assert messages == [f"{file}:1:1: cannot be read: {REFUSED}"]
    assert str(catalog) in listed
    assert not {"/", "/etc", "/usr", "/usr/lib"}.intersection(listed)


def test_series_may_be_a_link_to_a_folder(site: Site, outside: Path) -> None:
    """A change in its target changes the snapshot."""
    catalog = ConfinedFolder(site.folder / "catalog_src", (outside,))
    shared = outside / "shared"
    (shared / "chapters").mkdir(parents=True)
    (shared / "series.yaml").write_text("title: Shared\ncover: c.jpg\n")
    link(site, "series/shared", shared)
    link(site, "series/again", "shared")

    assert [one.slug for one in reader.read(catalog).series] == ["again", "first", "second", "shared"]
    seen = [snapshot.take(catalog)]
    (shared / "chapters/1.yaml").write_text("{id: 77, number: 1, published: 2026-01-01, pages: []}")
    seen.append(snapshot.take(catalog))
    (shared / "chapters/1.yaml").write_text("{id: 78, number: 1, published: 2026-01-01, pages: []}")
    seen.append(snapshot.take(catalog))
    assert len(set(seen)) == 3 and snapshot.take(catalog) == seen[-1]


def test_only_links_in_place_of_series_are_walked(site: Site) -> None:
    """A few links to their parent folder would otherwise be a tree of billions of folders."""
    link(site, "notes", "series")
    link(site, "series/again", ".")
    files = {file for file, _ in snapshot.take(site.folder / "catalog_src")}

    assert {"notes", "series/again/first.yaml", "series/again/again"} <= files
    assert not [file for file in files if file.startswith(("notes/", "series/again/again/"))]


@pytest.mark.parametrize(
    "links",
    [
        {"series/round": "."},
        {"series/round": ".."},
        {"series/chapters": "../series"},
        {"series/a": "b", "series/b": "a"},
        {"series/long/chapters": "../.."},
        {f"series/.{number}": f".{number + 1}" for number in range(50)} | {"series/many": ".0"},
        {f".{number}": f".{number + 1}" for number in range(3000)} | {"authors.yaml": ".0"},
    ],
    ids=["itself", "up", "chapters", "two", "chapters up", "many", "thousands"],
)
def test_circles_of_links_have_an_end(links: dict[str, str], site: Site) -> None:
    """The reader reports a problem, and the snapshot ends."""
    site.write("series/long/series.yaml", "title: Long\ncover: c.jpg\n")
    for file, target in links.items():
        link(site, file, target)

    assert problems(site)
    assert len(snapshot.take(site.folder / "catalog_src")) < 1000


@pytest.mark.bounds
def test_deep_folders_are_no_traceback(site: Site) -> None:
    """As deep as a path can be."""
    folder = site.folder / "catalog_src/deep"
    folder.mkdir()
    levels = (os.pathconf("/", "PC_PATH_MAX") - len(str(folder)) - 20) // 2
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)

    try:
        assert pipeline.check(site.folder / "catalog_src", AS_OF, 1)
        assert len(snapshot.take(site.folder / "catalog_src")) > levels
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)  # Python's own function is too recursive for it


def test_catalog_itself_may_be_a_link(site: Site) -> None:
    """Links in it may lead into its real path."""
    (site.folder / "catalog_src").rename(site.folder / "real")
    (site.folder / "catalog_src").symlink_to("real")
    (site.folder / "real/people.txt").write_text("- {id: 1, name: Ada Penn}\n")
    link(site, "authors.yaml", site.folder / "real/people.txt")
    link(site, "artists.yaml", "../catalog_src/people.txt")
    link(site, "members.yaml", "../real/../real/people.txt")

    assert pipeline.check(site.folder / "catalog_src", AS_OF, 1)


def test_folder_with_the_same_prefix_is_outside(site: Site) -> None:
    """`catalog_src2` is not inside `catalog_src`."""
    (site.folder / "catalog_src2").mkdir()
    (site.folder / "catalog_src2/authors.yaml").write_text("[]")
    link(site, "authors.yaml", "../catalog_src2/authors.yaml")

    assert problems(site) == [f"authors.yaml:1:1: cannot be read: {REFUSED}"]


@pytest.mark.parametrize("file", ["../file", "series/../../file", "series/..", "./site.yaml", "series//file", "/file"])
def test_path_with_names_of_dots_is_refused(file: str, site: Site) -> None:
    """Such names lead out of the folder without a link. Callers pass paths that a catalog or a journal names."""
    (site.folder / "file").write_text(SECRET)
    catalog = ConfinedFolder(site.folder / "catalog_src")
    calls = (catalog.content, catalog.names, catalog.delete, lambda path: catalog.write(path, b"mine"))
    for call in calls:
        with pytest.raises(OSError, match="has a name that is empty, "):
            call(file)
    assert not catalog.is_folder(file)
    assert (site.folder / "file").read_text() == SECRET


# Between the look and the call


def test_link_swapped_in_during_a_call_is_not_followed(
    site: Site, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link, a folder or a file is replaced by a link out of the catalog after it was resolved."""
    catalog = site.folder / "catalog_src"
    (outside / "first.yaml").write_text(SECRET)
    link(site, "authors.yaml", "series/first.yaml")
    resolve = ConfinedFolder.resolve

    def swapping(folder: ConfinedFolder, file: str) -> tuple[str, str]:
        resolved = resolve(folder, file)
        (catalog / "series").rename(catalog / ".series")
        (catalog / "series").symlink_to(outside)
        return resolved

    monkeypatch.setattr(ConfinedFolder, "resolve", swapping)
    with pytest.raises(OSError):
        ConfinedFolder(catalog).content("authors.yaml")
    with pytest.raises(OSError):
        (catalog / "series").unlink()
        (catalog / ".series").rename(catalog / "series")
        ConfinedFolder(catalog).write("series/first.yaml", b"mine")
    assert (outside / "first.yaml").read_text() == SECRET


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_file_swapped_for_a_link_or_pipe_is_refused(
    kind: str, site: Site, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is replaced between its check and its opening."""
    path = site.folder / "catalog_src/site.yaml"
    (outside / "file").write_text(SECRET)
    look = os.stat

    def swapping(name: object, **named: object) -> os.stat_result:
        status = look(name, **named)  # type: ignore[call-overload]
        if name == "site.yaml":
            path.unlink()
            path.symlink_to(outside / "file") if kind == "link" else os.mkfifo(path)
        return status  # type: ignore[no-any-return]

    monkeypatch.setattr(os, "stat", swapping)
    descriptors = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError):
        ConfinedFolder(path.parent).content("site.yaml")
    assert len(os.listdir("/proc/self/fd")) == descriptors


# Writing


@pytest.fixture
def counted(site: Site) -> Site:
    return author_catalogs.with_chapters(site)


def written_sizes(catalog: Folder) -> None:
    series = Path(catalog) / author_catalogs.SECOND
    series.write_text(series.read_text().replace("pages: []", "pages: [1.png]"))
    size_file.write(catalog, {"series/second/0/3/1.png": (3, 2)})


WRITTEN = {
    "keys.yaml": lambda catalog: key_entries.add_key(catalog, "phone", None, str),
    "views.yaml": lambda catalog: view_counts.add_views(catalog, []),
    view_counts.COUNTED: lambda catalog: view_counts.add_views(catalog, []),
    "sizes.yaml": written_sizes,
    "series/third.yaml": lambda catalog: new_entries.add_series(
        catalog, "third", {"title": "T"}, in_folder=False, dry=False
    ),
    "series/first.yaml": lambda catalog: chapter_ids.assign_ids(catalog, 0, print),
}


@pytest.mark.parametrize("file", WRITTEN)
@pytest.mark.parametrize("exists", [True, False])
def test_no_command_writes_through_a_link_out_of_the_catalog(
    file: str, exists: bool, counted: Site, outside: Path
) -> None:
    """Neither over an existing file nor in place of a missing one."""
    target = outside / "target"
    if exists:
        target.write_text("[]" if file == "keys.yaml" else "{}")
    link(counted, file, target)
    before = target.read_bytes() if exists else None
    with pytest.raises((FlatpanelError, OSError), match="--follow"):
        WRITTEN[file](counted.folder / "catalog_src")

    assert (target.read_bytes() if target.exists() else None) == before
    assert list(outside.iterdir()) == [target] * exists


@pytest.mark.parametrize("file", ["keys.yaml", "views.yaml", "sizes.yaml"])
def test_link_into_a_followed_folder_is_written_through(file: str, counted: Site, outside: Path) -> None:
    """The link stays. Its target has the new content and its old mode."""
    (outside / "target").write_text("")
    (outside / "target").chmod(0o640)
    link(counted, file, outside / "target")
    WRITTEN[file](ConfinedFolder(counted.folder / "catalog_src", (outside,)))

    assert (counted.folder / "catalog_src" / file).is_symlink()
    assert (outside / "target").read_text()
    assert (outside / "target").stat().st_mode & 0o777 == 0o640
    assert [one.name for one in outside.iterdir()] == ["target"]


@pytest.mark.parametrize("kind", ["link", "file"])
def test_link_with_the_temporary_name_is_not_followed(kind: str, counted: Site, outside: Path) -> None:
    """A new file is first `.keys.yaml.new`. A link or a leftover of that name is removed."""
    unfinished = counted.folder / "catalog_src/.keys.yaml.new"
    (outside / "target").write_text(SECRET)
    unfinished.symlink_to(outside / "target") if kind == "link" else unfinished.write_text("half")
    key_entries.add_key(counted.folder / "catalog_src", "phone", None, str)

    assert (outside / "target").read_text() == SECRET
    assert not os.path.lexists(unfinished)
    assert "phone" in (counted.folder / "catalog_src/keys.yaml").read_text()


def test_pipe_is_neither_read_nor_replaced(counted: Site) -> None:
    """It may be in place of any file that a command writes."""
    os.mkfifo(counted.folder / "catalog_src" / view_counts.COUNTED)
    with pytest.raises(OSError, match="neither a file nor a folder"):
        view_counts.add_views(counted.folder / "catalog_src", [])
    with pytest.raises(OSError, match="neither a file nor a folder"):
        ConfinedFolder(counted.folder / "catalog_src").write(view_counts.COUNTED, b"x")


def test_file_with_the_same_content_is_not_written(site: Site) -> None:
    """Its mtime stays."""
    path = site.folder / "catalog_src/site.yaml"
    catalog, text = ConfinedFolder(path.parent), path.read_bytes()
    os.utime(path, (5, 5))

    assert (catalog.write("site.yaml", text), path.stat().st_mtime) == (False, 5)
    assert (catalog.write("site.yaml", text[::-1]), path.read_bytes()) == (True, text[::-1])
    assert (catalog.write("a/b/c.yaml", text), (path.parent / "a/b/c.yaml").read_bytes()) == (True, text)


def test_large_memory_of_views_is_read(counted: Site) -> None:
    """A file over the limit of catalog files counts as a memory, not as an empty one."""
    memory = counted.folder / "catalog_src" / view_counts.COUNTED
    view_counts.add_views(counted.folder / "catalog_src", [])
    memory.write_bytes(memory.read_bytes() + b" " * (confined_folder.MAX_SIZE + 1))
    log = counted.folder / "log"
    log.write_text(author_catalogs.line(1))
    assert view_counts.add_views(counted.folder / "catalog_src", [log]).tally.counted == 1
    memory.write_bytes(memory.read_bytes() + b" " * (confined_folder.MAX_SIZE + 1))

    assert view_counts.add_views(counted.folder / "catalog_src", [log]).tally.counted == 0


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.EMFILE], ids=errno.errorcode.get)
def test_every_failed_open_is_a_problem(number: int, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """No failed call makes a catalog seem smaller."""
    folder, opened = site.folder / "catalog_src", os.open
    calls, moment = 0, 0

    def failing(path: str, flags: int, *mode: int, dir_fd: int | None = None) -> int:
        nonlocal calls
        calls += 1
        if calls == moment:
            raise OSError(number, os.strerror(number), path)
        return opened(path, flags, *mode, dir_fd=dir_fd)

    whole = reader.read(folder)
    monkeypatch.setattr(confined_folder.os, "open", failing)
    for moment in range(1, 1000):
        calls = 0
        sources = reader.read(folder)
        if calls < moment:
            break
        assert [os.strerror(number) in problem.message for problem in sources.problems] in ([True], [True, True])
    assert 10 < moment < 999
    assert sources == whole


def test_comicinfo_is_not_read_through_a_link(site: Site, outside: Path, run: Run) -> None:
    """A folder of images may be untrusted, too; `--follow` applies to it as well."""
    pages = outside / "pages"
    pages.mkdir()
    (pages / "1.png").touch()
    (outside / "elsewhere.xml").write_text(f"<ComicInfo><Title>{SECRET}</Title></ComicInfo>")
    (pages / "ComicInfo.xml").symlink_to("../elsewhere.xml")
    given = ("new", "chapter", "--catalog", site.folder / "catalog_src", "--out", site.folder / "dist")
    refused = run(*given, "first", "--pages", pages)

    assert (refused.exit_code, refused.stderr.count("--follow"), SECRET in refused.output) == (1, 1, False)
    assert run(*given, "--follow", outside, "first", "--pages", pages).exit_code == 0
    assert SECRET in (site.folder / "catalog_src/series/first.yaml").read_text()
