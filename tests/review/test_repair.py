"""What each command does with damaged files, and what `verify --repair` restores."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from generator import encoding, filesystem
from generator.nginx import maps
from generator.pipeline import long_lists
from generator.pipeline import run as pipeline
from generator.release import bodies, transaction
from generator.release.manifest import files_with_sidecar
from generator.review import repair, verify_files
from tests.commands.test_cli import Run
from tests.conftest import AS_OF, Site
from tests.support import tree_snapshot
from tests.support.runs import sample

# No body of two megabytes, and no fsync.
pytestmark = pytest.mark.usefixtures("without_sync_and_docs")

Damage = Callable[[Path], None]
# A body with a gzip form, and one without.
FIRST, AUTHORS = "/api/series/first", "/api/authors"


@pytest.fixture
def built(site: Site, run: Run) -> Site:
    """A site with one release and a cache."""
    tree_snapshot.first_version(site)
    assert run("build", *tree_snapshot.options(site)).exit_code == 0
    return site


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def delete(path: Path) -> None:
    path.unlink()


def edit(path: Path) -> None:
    """Change one letter and keep the size."""
    text = path.read_bytes()
    path.write_bytes(text[:-2] + bytes([text[-2] ^ 1]) + text[-1:])


def swap(path: Path) -> None:
    """Swap the file with another one of its kind."""
    top = path.parent if "releases" in path.parts else Path(str(path).partition("/www/")[0]) / "www"
    other = next(one for one in sorted(top.rglob("*")) if one.is_file() and differ(one, path))
    text = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(text)


def differ(first: Path, other: Path) -> bool:
    return first.suffix == other.suffix and first.name != "manifest.json" and first.read_bytes() != other.read_bytes()


def link(path: Path) -> None:
    """Replace the file by a link to a copy elsewhere."""
    elsewhere = Path(f"{str(path).partition('/dist/')[0]}/elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


DAMAGES = [append, cut, empty, delete, edit, swap, link]
# Kinds of files: a URL and a suffix, or a file of the release.
KINDS = {
    "body": (FIRST, ""),
    "short body": (AUTHORS, ""),
    "gzip form": (FIRST, ".gz"),
    "sidecar": (FIRST, ".headers"),
    "map": ("", "series.map"),
    "configuration": ("", "http.conf"),
    "manifest": ("", "manifest.json"),
}
# Every day, each kind with another damage.
CASES = pytest.mark.parametrize(
    ("kind", "damage"),
    sample([(kind, damage) for kind in KINDS for damage in DAMAGES if (kind, damage) != ("manifest", swap)], 8),
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)


def file_of(site: Site, kind: str) -> Path:
    url, name = KINDS[kind]
    dist = site.folder / "dist"
    return Path(f"{dist / site.manifest.resources[url].file}{name}") if url else (dist / "current" / name).resolve()


def damaged(site: Site, kind: str, damage: Damage) -> tuple[Path, dict[str, object]]:
    """The damaged file, and the files of the undamaged site."""
    before = tree_snapshot.content(site.folder / "dist")
    path = file_of(site, kind)
    damage(path)
    return path, before


@pytest.mark.end_to_end
@CASES
def test_a_damaged_file_is_named_and_restored(built: Site, run: Run, kind: str, damage: Damage) -> None:
    """By `verify` in text and in JSON. Repair restores every byte, except those of a manifest, and asks for a reload.

    `build --check` reads only files without a size in the manifest.
    """
    size = file_of(built, kind).stat().st_size
    path, before = damaged(built, kind, damage)
    after = tree_snapshot.state(built.folder / "dist")
    out = built.folder / "dist"
    text, listed = run("verify", "--out", out), run("verify", "--out", out, "--json")
    check = run("build", *tree_snapshot.options(built), "--check")

    assert (text.exit_code, text.stdout, listed.exit_code) == (1, "", 1)
    assert f"{path}: " in text.stderr
    facts = json.loads(listed.stdout)
    assert (facts["ok"], facts["leftover"], facts["repaired"]) == (False, [], [])
    assert text.stderr.splitlines() == facts["damaged"]
    same_size = os.path.lexists(path) and path.lstat().st_size == size
    unseen = same_size if kind in ("body", "short body", "sidecar") else (kind == "manifest" and damage is link)
    assert check.exit_code == (0 if unseen else 1)
    assert unseen or f"{path}: " in check.stderr
    assert tree_snapshot.state(out) == after

    result = run("verify", "--repair", *places(built))
    if kind == "manifest":
        assert result.exit_code == 1
        assert result.stderr == f"{path}: {verify_files.LINK}\n" if damage is link else f"{path}: " in result.stderr
        assert damage is link or tree_snapshot.state(out) == after
    else:
        assert (result.exit_code, result.stderr) == (0, "")
        assert f"{path}: restored from " in result.stdout
        assert "; reload nginx to serve them" in result.stdout
        assert tree_snapshot.content(out) == before
        assert run("verify", "--out", out).exit_code == 0


def places(site: Site) -> list[object]:
    catalog, out, nginx = site.paths
    return ["--catalog", catalog, "--out", out, "--nginx", nginx, "--jobs", 1]


@CASES
def test_a_build_without_cache_rewrites_damaged_files(built: Site, run: Run, kind: str, damage: Damage) -> None:
    """`verify` accepts the result. A damaged manifest is not used as the previous one."""
    path, before = damaged(built, kind, damage)
    result = run("build", *tree_snapshot.options(built), "--no-cache")

    if kind == "manifest" and damage is not link:
        assert result.exit_code == 1
        assert result.stderr.startswith(f"{path}: ")
    elif kind == "manifest":
        assert result.exit_code == 0
    else:
        assert result.exit_code == 0
        assert tree_snapshot.content(built.folder / "dist") == before
        assert run("verify", "--out", built.folder / "dist").exit_code == 0


# Damage that repair handles


@contextmanager
def restored(site: Site, run: Run) -> Iterator[list[str]]:
    """Repair the damage of the block, which restores every byte; what it prints is in the list."""
    printed: list[str] = []
    before = tree_snapshot.content(site.folder / "dist")
    yield printed
    result = run("verify", "--repair", *places(site))
    printed.append(result.stdout)

    assert (result.exit_code, result.stderr) == (0, "")
    assert tree_snapshot.content(site.folder / "dist") == before


def two_releases(site: Site, run: Run) -> Site:
    tree_snapshot.second_version(site)
    assert run("build", *tree_snapshot.options(site)).exit_code == 0
    return site


def only_in_previous(site: Site) -> Iterator[tuple[str, Path]]:
    """The files of bodies that only the previous release has, by URL."""
    now = {path for body in site.manifest.resources.values() for path in files_with_sidecar(body)}
    for url, body in site.store.manifest(site.store.previous()).resources.items():
        for path in files_with_sidecar(body):
            if path not in now:
                yield url, site.folder / "dist" / path


def test_repair_restores_files_of_the_previous_release(built: Site, run: Run) -> None:
    """Sidecars, gzip forms and configuration are restored from intact files."""
    two_releases(built, run)
    older = str(built.store.previous())
    both = built.manifest.files.items() & built.store.manifest(older).files.items()
    names = {name for name, _ in both if older in (built.folder / "dist/releases" / older / name).read_text()}
    assert names
    with restored(built, run):
        for _, path in only_in_previous(built):
            if path.suffix in (".gz", ".headers"):
                path.unlink()
        for name in names:
            cut(built.folder / "dist/releases" / older / name)


def test_a_file_damaged_in_both_releases_comes_from_the_catalog(built: Site, run: Run) -> None:
    """A damaged file is no source for another one."""
    two_releases(built, run)
    older = str(built.store.previous())
    same = dict(built.manifest.files.items() & built.store.manifest(older).files.items())
    name = next(name for name in sorted(same) if name.endswith(".conf"))
    with restored(built, run) as printed:
        for release in (older, str(built.store.current())):
            (built.folder / "dist/releases" / release / name).write_text("?")

    assert "restored from the catalog" in printed[0]


def test_repair_names_files_that_the_changed_catalog_cannot_restore(built: Site, run: Run) -> None:
    """Exit code 1 for a body and a file of the previous release that nothing but the catalog gives."""
    two_releases(built, run)
    path = next(path for url, path in only_in_previous(built) if url == "/api/v1/series/first")
    table = built.folder / "dist/releases" / str(built.store.previous()) / "http.conf"
    cut(table)
    for file in (path, Path(f"{path}.gz")):
        file.unlink(missing_ok=True)
    after = tree_snapshot.content(built.folder / "dist")
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, result.stdout) == (1, "")
    assert {f"{path}: is missing", f"{table}: was changed after the build"} <= set(result.stderr.splitlines())
    assert tree_snapshot.content(built.folder / "dist") == after


def test_maps_and_keys_are_restored_without_a_catalog(built: Site, run: Run) -> None:
    """They follow from the manifest, and the digests of keys from each other."""
    built.write("keys.yaml", f"- {{name: one, sha256: {'a' * 64}}}\n")
    path = built.folder / "catalog_src/series/first.yaml"
    path.write_text(f"formerly: [older]\n{path.read_text()}")
    built.build()
    built.write("series/first.yaml", "title: [")
    for name in (*(f"{name}.map" for name in maps.LONG), "redirects.map", "keys.map", "keys.json"):
        table = (built.folder / "dist/current" / name).resolve()
        with restored(built, run) as printed:
            table.unlink()

        assert f"{table}: restored from an intact file" in printed[0]


def test_lost_keys_are_restored_from_the_catalog_only(built: Site, run: Run) -> None:
    """Without both files, nothing else tells the digests."""
    with restored(built, run) as printed:
        for name in ("keys.map", "keys.json"):
            (built.folder / "dist/current" / name).resolve().unlink()

    assert "keys.json: restored from the catalog" in printed[0]


def test_a_file_that_cannot_be_restored_does_not_stop_the_repair(built: Site, run: Run) -> None:
    """The current release is repaired although the previous manifest is damaged."""
    two_releases(built, run)
    table = built.folder / "dist/releases" / str(built.store.previous()) / "manifest.json"
    edit(table)
    body = file_of(built, "body")
    whole = body.read_bytes()
    cut(body)
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, body.read_bytes()) == (1, whole)
    assert result.stderr.startswith(f"{table}: does not match the id of the release; restore the file, or remove ")


def test_a_previous_release_without_manifest_is_damaged(built: Site, run: Run) -> None:
    """Its bodies are not reported as leftovers."""
    two_releases(built, run)
    table = built.folder / "dist/releases" / str(built.store.previous()) / "manifest.json"
    table.unlink()
    result = run("verify", "--out", built.folder / "dist")

    remedy = f"restore the file, or remove {table.parent}, which only a rollback needs"
    assert (result.exit_code, result.stderr) == (1, f"{table}: is missing; {remedy}\n")


SOON = """
title: Soon
cover: c.png
modified: 2026-02-01T00:00:00Z
chapters:
  - {id: 90, number: 1, published: 2026-02-02T10:00:00Z, modified: 2026-02-02T10:00:00Z, pages: [1.png]}
  - {id: 91, number: 2, published: 2026-12-01T10:00:00Z, modified: 2026-02-02T10:00:00Z, pages: [1.png]}
"""


@pytest.mark.parametrize("recorded", [True, False])
def test_repair_builds_the_catalog_as_of_the_release(site: Site, run: Run, recorded: bool) -> None:
    """A chapter published since then does not prevent a repair, with and without a journal."""
    site.write("series/soon.yaml", SOON)
    site.build()
    if not recorded:
        site.store.journal_path.unlink()
    path = site.folder / "dist" / site.manifest.resources["/api/series/soon"].file
    with restored(site, run) as printed:
        path.unlink()
        for name in ("series.map", "validators.map", "http.conf"):
            cut((site.folder / "dist/current" / name).resolve())

    assert f"{path}: restored from the catalog" in printed[0]


def test_the_journal_has_precedence_for_the_time_of_a_release(site: Site, run: Run) -> None:
    """A release built as of an earlier time has bodies that are newer than itself."""
    site.write("series/soon.yaml", SOON)
    site.build(as_of=1_800_000_000)
    site.build()
    with restored(site, run):
        cut((site.folder / "dist/current/series.map").resolve())


def test_repair_reports_problems_of_the_catalog(built: Site, run: Run) -> None:
    """Files with an intact source are restored. The output explains why the catalog was not used."""
    body, table = file_of(built, "body"), (built.folder / "dist/current/server.conf").resolve()
    whole = body.read_bytes()
    cut(body)
    cut(table)
    built.write("series/first.yaml", "title: [")
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, body.read_bytes()) == (1, whole)
    assert f"{body}: restored from an intact file" in result.stdout
    first, second, *_ = result.stderr.splitlines()
    assert first == f"{table}: was changed after the build"
    assert second.startswith(f"{built.folder}/catalog_src: cannot restore files: ")


@pytest.mark.parametrize("local", [False, True])
def test_a_release_for_another_server_is_repaired(site: Site, run: Run, local: bool) -> None:
    """Its configuration names folders of that server, or of this machine if `serve` built it."""
    site.write("site.yaml", "base_url: https://minimal.example\nserver_folder: /srv/comics\n")
    pipeline.build(replace(site.options, local=local))
    with restored(site, run):
        cut((site.folder / "dist/current/http.conf").resolve())


def test_the_gzip_form_of_a_long_list_comes_from_the_catalog(
    built: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build compresses long lists in pieces. Without the catalog, the gzip form is made from the body."""
    for module in (long_lists, repair):
        monkeypatch.setattr(module, "LONG", 1)
    monkeypatch.setattr(encoding, "MIN_GZIP_SIZE", 1)
    run("build", *tree_snapshot.options(built), "--no-cache")
    path = built.folder / "dist" / f"{built.manifest.resources['/api/series'].file}.gz"
    whole = path.read_bytes()
    path.unlink()
    assert run("verify", "--repair", *places(built)).exit_code == 0
    assert path.read_bytes() == whole

    path.unlink()
    built.write("site.yaml", "[")
    assert run("verify", "--repair", *places(built)).exit_code == 0
    assert path.read_bytes() != whole


# Links, folders and pipes in place of files


@pytest.mark.parametrize("content", ["mine", None])
def test_no_command_writes_through_a_link(built: Site, run: Run, content: str | None) -> None:
    """A link in place of a body is replaced, and its target stays as it is, or missing."""
    before = tree_snapshot.content(built.folder / "dist")
    path, elsewhere = file_of(built, "body"), built.folder / "elsewhere"
    if content:
        elsewhere.write_text(content)
    for command in (["verify", "--repair", *places(built)], ["build", *tree_snapshot.options(built), "--no-cache"]):
        path.unlink()
        path.symlink_to(elsewhere)

        assert run(*command).exit_code == 0
        assert tree_snapshot.content(built.folder / "dist") == before
        assert (elsewhere.read_text() if elsewhere.exists() else None) == content


def test_repair_reads_through_no_link(built: Site, run: Run) -> None:
    """A gzip form that is a link is no source."""
    path = file_of(built, "gzip form")
    link(path)
    body = file_of(built, "body")
    body.unlink()
    result = run("verify", "--repair", *places(built))

    assert result.exit_code == 0
    assert f"{body}: restored from the catalog" in result.stdout


def test_a_link_at_a_temporary_name_is_not_followed(built: Site, run: Run) -> None:
    """An attacker may create a link at the temporary name of a file."""
    path, elsewhere = file_of(built, "body"), built.folder / "elsewhere"
    elsewhere.write_text("mine")
    path.with_name(f".{path.name}.new").symlink_to(elsewhere)
    path.unlink()
    run("verify", "--repair", *places(built))

    assert elsewhere.read_text() == "mine"
    assert run("verify", "--repair", *places(built)).exit_code == 0


def test_a_link_is_replaced_by_its_folder(built: Site, run: Run) -> None:
    """Only if all files of the folder can be restored. The target is unchanged."""
    folder, elsewhere = built.folder / "dist/www/api/v1", built.folder / "v1"
    with restored(built, run):
        folder.rename(elsewhere)
        folder.symlink_to(elsewhere)
        there = tree_snapshot.state(elsewhere)
        assert run("verify", "--out", built.folder / "dist").stderr == f"{folder}: {verify_files.LINK}\n"

    assert tree_snapshot.state(elsewhere) == there


def test_a_link_stays_if_a_file_below_it_cannot_be_restored(built: Site, run: Run) -> None:
    """The link still serves files that a repair would lose."""
    folder, elsewhere = built.folder / "dist/www/api/v1", built.folder / "v1"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    tree_snapshot.write_series(built, "Another", volumes=3, others=["second"])
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{folder}: {verify_files.LINK}\n"
    assert folder.is_symlink()


def test_an_unnecessary_link_is_named(built: Site, run: Run) -> None:
    """Repair removes no files that belong to no release."""
    path = built.folder / "dist/www/mine"
    path.symlink_to(built.folder)
    extra = built.folder / "dist/releases" / str(built.store.current()) / "more.conf"
    extra.write_text("?")
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{path}: {verify_files.LINK}\n{extra}: is in no release\n"
    assert path.is_symlink() and extra.exists()


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def an_empty_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def no_folder(path: Path) -> None:
    for file in path.parent.iterdir():
        file.unlink()
    path.parent.rmdir()


@pytest.mark.parametrize("damage", [a_pipe, an_empty_folder, no_folder])
def test_pipes_and_empty_folders_are_replaced(built: Site, run: Run, damage: Damage) -> None:
    """A pipe does not block, and a missing folder is created."""
    with restored(built, run):
        damage(built.folder / "dist" / built.manifest.resources["/api/series/first/1/1"].file)
        assert run("verify", "--out", built.folder / "dist").exit_code == 1
        assert run("build", *tree_snapshot.options(built), "--check").exit_code == 1


def test_a_folder_with_files_is_not_replaced(built: Site, run: Run) -> None:
    """Repair does not delete unknown files."""
    path = file_of(built, "body")
    an_empty_folder(path)
    (path / "thesis.txt").write_text("mine")
    result = run("verify", "--repair", *places(built))

    assert result.exit_code == 1
    assert f"{path}: is missing\n" in result.stderr
    assert (path / "thesis.txt").read_text() == "mine"


def test_a_disk_error_ends_the_repair(built: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message contains the path."""

    def full(path: Path, *_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    path = file_of(built, "body")
    path.unlink()
    monkeypatch.setattr(bodies, "replace", full)
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, result.stderr) == (1, f"{path}: No space left on device\n")


def test_an_unreadable_path_is_an_error(tmp_path: Path) -> None:
    """A path that is too long is not a missing file."""
    with pytest.raises(OSError, match="name too long"):
        filesystem.read_regular(tmp_path / ("x" * 300))


# Leftovers and output


def test_leftovers_fail_only_with_strict(built: Site, run: Run) -> None:
    """Files of no release are named; the exit code is 0, or 1 with --strict."""
    out = built.folder / "dist"
    (out / "www/old.json").write_text("?")
    (out / "notes.txt").write_text("?")
    lines = [f"{out}/www/old.json: is in no release", f"{out}/notes.txt: is not part of a built site"]
    text, listed = run("verify", "--out", out), run("verify", "--out", out, "--json")
    strict = run("verify", "--out", out, "--strict")

    assert (text.exit_code, text.stderr.splitlines()) == (0, lines)
    assert text.stdout == f"{out}: OK: all files match release {built.store.current()}\n"
    assert json.loads(listed.stdout) == {
        "ok": True,
        "damaged": [],
        "leftover": lines,
        "repaired": [],
        "problem": None,
    }
    assert (strict.exit_code, strict.stdout, strict.stderr.splitlines()) == (1, "", lines)
    assert run("verify", "--repair", *places(built)).exit_code == 0
    assert (out / "notes.txt").exists()


def test_repair_json_lists_restored_files(built: Site, run: Run) -> None:
    """With the source of each file."""
    path = file_of(built, "body")
    cut(path)
    result = run("verify", "--repair", "--json", *places(built))

    assert result.exit_code == 0
    assert json.loads(result.stdout)["repaired"] == [f"{path}: restored from an intact file"]


@pytest.mark.parametrize("option", ["--repair", "--strict"])
def test_file_options_are_refused_with_url(built: Site, run: Run, option: str) -> None:
    """Exit code 2."""
    result = run("verify", "--url", "http://localhost:1", option, *places(built))

    assert result.exit_code == 2
    assert "cannot be combined with --url" in result.stderr


def test_a_repair_waits_for_a_build(built: Site) -> None:
    """Both use the lock of the store."""
    notices = []
    with transaction.begin(built.store, pytest.fail):

        def waiting() -> None:
            notices.append(True)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            repair.repair(replace(built.options, as_of=AS_OF), waiting)

    assert notices == [True]
