"""`pack`: what the packs of a release hold, and what a second pack into the same folder writes."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from generator.api.payloads.resources import SERIES_INDEX_URL, Alias, key
from generator.errors import FlatpanelError
from generator.hosts.packs import pack_files, pack_format, worker_files
from generator.hosts.packs.pack_files import PackTotals, pack_release
from generator.javascript import modules
from generator.release.manifest import Entry, Published, last_modified
from generator.release.store import Store
from tests.commands.test_cli import Run
from tests.conftest import Site, copy_of
from tests.review.test_repair import a_pipe, cut, delete
from tests.support import core_server, tree_snapshot
from tests.support.killed_builds import killed_at, moments
from tests.support.pack_reader import TREES, PackedFolder, Record
from tests.support.paths import DATA


@pytest.fixture(autouse=True)
def small_packs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sites have many packs, too, and bodies of their own files."""
    monkeypatch.setattr(pack_format, "MAX_PACK", 6000)
    monkeypatch.setattr(pack_format, "MAX_INLINE", 2500)


@pytest.fixture(scope="module", params=["everything", "v2", "pages"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = copy_of(request.param, tmp_path_factory.mktemp(request.param))
    site.build()
    return site


@pytest.fixture
def site(site: Site) -> Site:
    site.build()
    return site


def entries(store: Store) -> Iterator[Entry]:
    with store.table() as table:
        for slug in table.segments:
            yield from table.entries(slug)


def pack(site: Site, folder: Path) -> PackTotals:
    return pack_release(site.store, folder)


def fresh(site: Site, folder: Path) -> dict[str, object]:
    """What a pack into an empty folder writes."""
    shutil.rmtree(folder, ignore_errors=True)
    pack(site, folder)
    return tree_snapshot.content(folder)


# What packs hold


@pytest.mark.end_to_end
def test_every_entry_is_in_a_pack(built: Site, tmp_path: Path) -> None:
    """Bodies with their headers, gates, and aliases; the folder has no other file."""
    totals = pack(built, tmp_path)
    packed, every = PackedFolder(tmp_path), list(entries(built.store))
    restricted = {entry.url for entry in every if not isinstance(entry, Alias) and entry.restricted}
    assert totals.urls == len(every)
    for entry in every:
        record = packed.find(key(entry.url))
        assert record, entry
        target = entry.target if isinstance(entry, Alias) else entry.url
        assert record.restricted == (target in restricted)
        is_private = target in restricted or ("#" in entry.url and entry.url != SERIES_INDEX_URL)
        assert record.tree == ("private" if is_private else "public")
        check(record, entry, built.store.root)
    for tree in TREES:
        assert packed.files(tree) == packed.used_files(tree)
        for _, _, name in packed.packs(tree):
            assert name == "0" * 32 or (tmp_path / "files" / tree / name).stat().st_size <= 6008
    assert totals.packs + totals.large == sum(len(packed.files(tree)) for tree in TREES)
    assert totals.packs > 20 and totals.large > 2
    assert packed.find("/api/series/none") is None


def check(record: Record, entry: Entry, dist: Path) -> None:
    if isinstance(entry, Published):
        assert record.kind == "body"
        assert record.body == (dist / entry.file).read_bytes()
        assert (record.etag, record.max_age, record.type) == (entry.etag, entry.max_age, entry.type)
        assert (record.gzip, record.size) == (entry.gzip, entry.size)
        assert record.modified == (-1 if last_modified(entry) is None else entry.modified)
        assert record.alone == (len(record.stored) > 2500)
    else:
        assert record.kind == ("alias" if isinstance(entry, Alias) else str(entry.status))
        assert record.target == (entry.target if record.kind in ("302", "308") else key(entry.target or entry.url))


def test_the_worker_knows_rules_and_keys(built: Site, tmp_path: Path) -> None:
    pack(built, tmp_path)
    rules = PackedFolder(tmp_path).rules
    with built.store.table() as table:
        assert rules["keys"] == dict(table.keys)
        assert rules["base_url"] == table.rules.base_url
    assert rules["errors"]["messages"]["404"] == "Not found"


@pytest.mark.end_to_end
def test_a_body_over_25_mib_is_stored_compressed(site: Site, tmp_path: Path) -> None:
    """The file that a host has to take is far below the limit."""
    # Their names are as long as most file systems permit.
    pages = f"{'p' * 240}00001.png .. {'p' * 240}10000.png"
    chapters = "".join(f"  - {{number: {number}, published: 2026-01-01, pages: {pages}}}\n" for number in range(6))
    for slug in "long", "longer":
        site.write(f"series/{slug}.yaml", f"title: {slug}\ncover: c.png\nchapters:\n{chapters}")
    site.build()
    totals = pack(site, tmp_path / "edge")
    packed = PackedFolder(tmp_path / "edge")
    record = packed.find("/api/series")
    assert record
    assert record.size > pack_files.LARGEST_FILE
    assert record.body == (site.store.root / site.manifest.resources["/api/series"].file).read_bytes()
    sizes = [path.stat().st_size for path in (tmp_path / "edge/files").rglob("*") if path.is_file()]
    assert max(sizes) < 1 << 20
    assert totals.too_large == []


@core_server.needs_node
def test_codings_that_cloudflare_names(site: Site, tmp_path: Path) -> None:
    """Cloudflare asks for gzip in the place of all clients; what they accept is in a field of its own."""
    pack(site, tmp_path / "edge")
    large = site.manifest.resources["/api/v2/docs/swagger-ui.css"]
    program = [core_server.NODE, DATA / "javascript/cloudflare.mjs", tmp_path / "edge", large.url, "identity", "gzip"]
    done = subprocess.run(list(map(str, program)), capture_output=True, text=True)

    assert done.stderr == ""
    assert done.stdout.split() == ["200", large.etag, "-", "200", large.etag, "gzip"]


# A second pack


def test_a_second_pack_writes_nothing(site: Site, tmp_path: Path) -> None:
    first = pack(site, tmp_path / "edge")
    before = tree_snapshot.state(tmp_path / "edge")
    again = pack(site, tmp_path / "edge")
    assert first.written == first.packs + first.large
    assert again == first._replace(written=0, bytes=0)
    after = tree_snapshot.state(tmp_path / "edge")
    assert {name for name in after if after[name] != before.get(name)} <= {".", pack_files.MARK}


def edit_chapter(site: Site) -> None:
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(path.read_text().replace("title: ", "title: New ", 2))
    site.build()


def test_a_second_pack_writes_what_has_changed(site: Site, tmp_path: Path) -> None:
    """Only packs with a changed key; the others stay as they are."""
    pack(site, tmp_path / "edge")
    before = tree_snapshot.state(tmp_path / "edge/files")
    edit_chapter(site)
    totals = pack(site, tmp_path / "edge")
    after = tree_snapshot.state(tmp_path / "edge/files")
    assert 0 < totals.written < totals.packs + totals.large
    kept = before.keys() & after.keys() - {".", *TREES}
    assert {name for name in kept if before[name] != after[name]} == set()
    assert len(after.keys() - before.keys()) == totals.written
    assert len(before.keys() - after.keys()) == totals.removed > 0
    assert tree_snapshot.content(tmp_path / "edge") == fresh(site, tmp_path / "fresh")


def removed_series(site: Site) -> None:
    (site.folder / "catalog_src/series/second.yaml").unlink()
    site.build()


def moved_series(site: Site) -> None:
    """The chapter keeps its URL, which another segment of the table has then."""
    folder = site.folder / "catalog_src/series"
    (folder / "first.yaml").rename(folder / "third.yaml")
    site.build()


def restricted_series(site: Site) -> None:
    """Bodies move from public packs to private ones."""
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(f"restricted: true\n{path.read_text()}")
    site.build()


@pytest.mark.parametrize("edit", [removed_series, moved_series, restricted_series])
def test_packs_in_steps_are_those_from_scratch(site: Site, tmp_path: Path, edit: Callable[[Site], None]) -> None:
    pack(site, tmp_path / "edge")
    edit(site)
    pack(site, tmp_path / "edge")
    assert tree_snapshot.content(tmp_path / "edge") == fresh(site, tmp_path / "fresh")


def garble(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1] + b"!")


def make_broken_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("missing")


def make_link(path: Path) -> None:
    """Its target has the right content, and may be changed by others."""
    path.symlink_to(path.rename(path.parents[3] / path.name))


# Nothing writes into a pipe, so a reader would wait for ever.
DAMAGES = [garble, cut, delete, a_pipe, make_broken_link, make_link]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("is_edited", [True, False])
@pytest.mark.parametrize("is_large", [True, False])
def test_damaged_files_are_written_again(
    is_large: bool, is_edited: bool, site: Site, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """All of them, or a large body whose pack is intact; also those of the same release."""
    pack(site, tmp_path / "edge")
    packed = PackedFolder(tmp_path / "edge")
    paths = [path for path in (tmp_path / "edge/files").rglob("*") if path.is_file()]
    if is_large:
        (name, *_) = packed.files("public") - {name for _, _, name in packed.packs("public")}
        paths = [tmp_path / "edge/files/public" / name]
    for path in paths:
        damage(path)
    if is_edited:
        edit_chapter(site)
    assert pack(site, tmp_path / "edge").written == len(paths) or is_edited
    assert tree_snapshot.content(tmp_path / "edge") == fresh(site, tmp_path / "fresh")


def test_a_damaged_file_that_is_no_longer_needed_is_removed(site: Site, tmp_path: Path) -> None:
    """Without another pack."""
    pack(site, tmp_path / "edge")
    edit_chapter(site)
    expected = fresh(site, tmp_path / "fresh")
    unneeded = tree_snapshot.files(tmp_path / "edge/files") - tree_snapshot.files(tmp_path / "fresh/files")
    for name in unneeded:
        garble(tmp_path / "edge/files" / name)
    assert pack(site, tmp_path / "edge").removed == len(unneeded) > 0
    assert tree_snapshot.content(tmp_path / "edge") == expected


@pytest.mark.parametrize("is_needed", [True, False])
def test_a_folder_in_the_place_of_a_file_is_named(site: Site, tmp_path: Path, is_needed: bool) -> None:
    """It has files of others."""
    pack(site, tmp_path / "edge")
    folder = tmp_path / "edge/files/public"
    path = next(path for path in folder.iterdir()) if is_needed else folder / ("0" * 32)
    path.unlink(missing_ok=True)
    path.mkdir()
    with pytest.raises(FlatpanelError, match=f"^{path}: is a folder in the place of a file; move it to another place$"):
        pack(site, tmp_path / "edge")
    path.rename(tmp_path / "moved")
    pack(site, tmp_path / "edge")
    assert tree_snapshot.content(tmp_path / "edge") == fresh(site, tmp_path / "fresh")


@pytest.mark.parametrize("damage", [garble, cut])
def test_a_damaged_mark_costs_a_full_pack(site: Site, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    pack(site, tmp_path / "edge")
    expected = tree_snapshot.content(tmp_path / "edge")
    damage(tmp_path / "edge" / pack_files.MARK)
    assert pack(site, tmp_path / "edge").written == 0
    assert tree_snapshot.content(tmp_path / "edge") == expected


def test_packs_of_another_format_are_replaced(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as older:
        older.setattr(pack_format, "SETTINGS", [0])
        older.setattr(pack_format, "MAGIC", b"FPK0")
        pack(site, tmp_path / "edge")
    pack(site, tmp_path / "edge")
    assert tree_snapshot.content(tmp_path / "edge") == fresh(site, tmp_path / "fresh")


def test_modules_of_another_version_are_removed(site: Site, tmp_path: Path) -> None:
    pack(site, tmp_path / "edge")
    old = tmp_path / "edge/worker/0123456789abcdef"
    old.mkdir()
    (old / "worker.js").write_text("// older")
    (tmp_path / "edge/worker/own").mkdir()
    pack(site, tmp_path / "edge")
    assert not old.exists()
    assert (tmp_path / "edge/worker/own").exists()
    assert "0123456789abcdef" not in (tmp_path / "edge/config.capnp").read_text()


def test_files_of_others_stay(site: Site, tmp_path: Path) -> None:
    """Only files whose names are digests are removed."""
    pack(site, tmp_path / "edge")
    for name in "README", "files/public/README", "files/public/.assetsignore":
        (tmp_path / "edge" / name).write_text("mine")
    (tmp_path / "edge/files/public" / ("0" * 31 + "a")).write_text("old")
    (tmp_path / "edge/files/public" / f".{'0' * 32}.new").write_text("half")
    totals = pack(site, tmp_path / "edge")
    assert totals.removed == 2
    files = tree_snapshot.files(tmp_path / "edge")
    assert {"README", "files/public/README", "files/public/.assetsignore"} <= files
    assert not any("0" * 31 in name for name in files)


def test_a_pack_follows_no_link(site: Site, tmp_path: Path) -> None:
    """It would remove files elsewhere: packs, and modules of another version."""
    pack(site, tmp_path / "edge")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "old.js").write_text("mine")
    (outside / ("0" * 32)).write_text("mine")
    (tmp_path / "edge/worker/0123456789abcdef").symlink_to(outside)
    with pytest.raises(FlatpanelError, match="worker/0123456789abcdef: is a link, which is not followed"):
        pack(site, tmp_path / "edge")
    (tmp_path / "edge/files").rename(tmp_path / "files")
    (tmp_path / "edge/files").mkdir()
    (tmp_path / "edge/files/public").symlink_to(outside)
    with pytest.raises(FlatpanelError, match="files/public: is a link, which is not followed"):
        pack(site, tmp_path / "edge")
    assert len(list(outside.iterdir())) == 2


def answers(folder: Path, urls: list[str], *, running: bool = False) -> dict[str, object]:
    """What the packs of a folder say of URLs."""
    packed = PackedFolder(folder, running=running)
    return {url: packed.find(key(url)) for url in urls}


@pytest.mark.kills
def test_a_killed_pack_leaves_one_release_whole(site: Site, tmp_path: Path) -> None:
    """Whenever it is killed: before the pointer all URLs answer as before, after it as in the new release.

    The same holds for a worker that runs already.
    """
    pack(site, tmp_path / "earlier")
    urls = [entry.url for entry in entries(site.store)]
    edit_chapter(site)
    removed_series(site)
    urls = sorted({*urls, *(entry.url for entry in entries(site.store))})
    expected = fresh(site, tmp_path / "later")
    whole = [answers(tmp_path / name, urls) for name in ("earlier", "later")]
    seen = set()
    shutil.copytree(tmp_path / "earlier", tmp_path / "edge")
    for moment in moments(lambda: pack(site, tmp_path / "edge"), tmp_path):
        shutil.rmtree(tmp_path / "edge")
        shutil.copytree(tmp_path / "earlier", tmp_path / "edge")
        assert killed_at(moment, lambda: pack(site, tmp_path / "edge"))
        now = answers(tmp_path / "edge", urls)
        assert now in whole, moment
        assert answers(tmp_path / "edge", urls, running=True) in whole, moment
        seen.add(whole.index(now))
        pack(site, tmp_path / "edge")
        assert tree_snapshot.content(tmp_path / "edge") == expected, moment
    assert seen == {0, 1}


@pytest.mark.kills
def test_a_killed_pack_of_another_version_leaves_code_that_starts(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever it is killed, the folder and the configuration of workerd have the modules that the pointer names."""
    code = modules.of_worker()
    pack(site, tmp_path / "earlier")
    monkeypatch.setattr(modules, "of_worker", lambda: {**code, "worker.js": code["worker.js"] + b"// later\n"})
    edge, seen = tmp_path / "edge", set()
    shutil.copytree(tmp_path / "earlier", edge)
    for moment in moments(lambda: pack(site, edge), tmp_path):
        shutil.rmtree(edge)
        shutil.copytree(tmp_path / "earlier", edge)
        assert killed_at(moment, lambda: pack(site, edge))
        (version,) = re.findall(r"'\./([0-9a-f]{16})/worker\.js'", (edge / "worker/release.js").read_text())
        config = (edge / "config.capnp").read_text()
        assert {f"worker/{version}/{name}" for name in ("worker.js", "packs.js")} <= tree_snapshot.files(edge)
        assert f"worker/{version}/worker.js" in config and f"worker/{version}/packs.js" in config
        seen.add(version)
    assert len(seen) == 2


def test_a_pack_that_is_killed_at_its_beginning_is_completed(site: Site, tmp_path: Path) -> None:
    """The folder is known to be one of packs before its mark is complete."""
    expected = fresh(site, tmp_path / "fresh")
    for moment in range(1, 5):
        assert killed_at(moment, partial(pack, site, tmp_path / f"{moment}"))
        pack(site, tmp_path / f"{moment}")
        assert tree_snapshot.content(tmp_path / f"{moment}") == expected


def test_packs_that_hold_one_entry(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packs of a few hundred bytes: parts have several, and some ranges of digests have none."""
    monkeypatch.setattr(pack_format, "MAX_PACK", 300)
    monkeypatch.setattr(pack_format, "MAX_INLINE", 200)
    pack(site, tmp_path / "edge")
    removed_series(site)
    totals = pack(site, tmp_path / "edge")
    assert totals.packs > 30
    assert tree_snapshot.content(tmp_path / "edge") == fresh(site, tmp_path / "fresh")
    packed = PackedFolder(tmp_path / "edge")
    assert all(packed.find(key(entry.url)) for entry in entries(site.store))
    assert ("0" * 32) in {name for _, _, name in packed.packs("public")}


# The command


def test_the_command(site: Site, tmp_path: Path, run: Run) -> None:
    result = run("pack", "--out", site.store.root, tmp_path / "edge", "--json")
    facts = json.loads(result.stdout)
    assert (result.exit_code, facts["ok"], facts["release"]) == (0, True, site.store.current())
    again = run("pack", "--out", site.store.root, tmp_path / "edge")
    assert again.stdout == (
        f"{tmp_path}/edge: release {facts['release']}; URLs: {facts['urls']}, packs: {facts['packs']}, "
        f"large bodies: {facts['large']}\nwrote 0 files with 0 bytes, removed 0\n"
    )


def test_a_dry_run_writes_nothing_and_counts_the_same(site: Site, tmp_path: Path, run: Run) -> None:
    command = "pack", "--out", site.store.root, tmp_path / "edge", "--json"
    dry = run(*command, "--dry-run")
    assert not (tmp_path / "edge").exists()
    assert run(*command).stdout == dry.stdout
    edit_chapter(site)
    before = tree_snapshot.state(tmp_path / "edge")
    dry = run(*command, "--dry-run")
    assert tree_snapshot.state(tmp_path / "edge") == before
    assert run(*command).stdout == dry.stdout
    assert "would write 0 files with 0 bytes, would remove 0\n" in run(*command[:-1], "--dry-run").stdout


def test_settings_of_an_earlier_pack_are_written_again(site: Site, tmp_path: Path) -> None:
    """The name of the worker follows the host of the site."""
    pack(site, tmp_path / "edge")
    site.write("site.yaml", "base_url: https://other.example\n")
    site.build()
    assert pack(site, tmp_path / "edge").left == []
    assert '"name": "other-example"' in (tmp_path / "edge/wrangler.jsonc").read_text()


def test_settings_that_a_user_has_changed_stay(site: Site, tmp_path: Path, run: Run) -> None:
    pack(site, tmp_path / "edge")
    path = tmp_path / "edge/wrangler.jsonc"
    path.write_text("// mine")
    (tmp_path / "edge/deno.json").unlink()
    result = run("pack", "--out", site.store.root, tmp_path / "edge")
    assert result.stderr == f"{path}: was changed, so it stays as it is\n"
    assert path.read_text() == "// mine"
    assert (tmp_path / "edge/deno.json").is_file()


def test_a_body_that_hosts_refuse_is_named(
    site: Site, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack_files, "LARGEST_FILE", 5000)
    result = run("pack", "--out", site.store.root, tmp_path / "edge")
    assert result.exit_code == 0
    assert "is larger than 25 MiB, which Cloudflare refuses\n" in result.stderr


def test_a_folder_of_others_is_refused(site: Site, tmp_path: Path, run: Run) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/file").write_text("mine")
    for target in tmp_path / "own", tmp_path / "own/file":
        result = run("pack", "--out", site.store.root, target)
        assert result.exit_code == 1
        assert result.stderr == f"{target}: is not an empty folder, nor one of an earlier `pack`; choose a new one\n"
    assert tree_snapshot.content(tmp_path / "own") == {".": "a folder", "file": b"mine"}


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_changed_body_is_not_packed(site: Site, tmp_path: Path, run: Run, suffix: str) -> None:
    body = next(body for body in site.manifest.resources.values() if body.gzip == bool(suffix))
    path = site.store.root / f"{body.file}{suffix}"
    path.write_bytes(path.read_bytes() + b"!")
    result = run("pack", "--out", site.store.root, tmp_path / "edge")
    assert result.exit_code == 1
    assert result.stderr == (
        f"{path}: was changed after the build; restore it with `python build.py verify --repair`\n"
    )


def test_the_name_of_the_worker() -> None:
    """Letters, digits and dashes, from the host of the site."""
    names = {
        "https://My_Comics.Example:8443/x": "my-comics-example",
        f"https://{'a' * 49}.example": "a" * 49,
        "https://\u6f2b\u753b": "flatpanel",
    }
    assert {url: worker_files.worker_name(url) for url in names} == names
