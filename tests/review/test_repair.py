"""What each command says and does when a file of a built site is damaged, and what `verify --repair` restores."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from generator import encoding, filesystem
from generator.pipeline import long_lists
from generator.pipeline import run as pipeline
from generator.release import bodies, transaction
from generator.release.manifest import files_with_sidecar
from generator.review import repair, verify_files
from tests.conftest import AS_OF, Site
from tests.support import tree_snapshot

Run = Callable[..., Result]
Damage = Callable[[Path], None]
# A body with a gzip form, and one without.
FIRST, AUTHORS = "/api/series/first", "/api/authors"


@pytest.fixture
def built(site: Site, hasty: None, run: Run) -> Site:
    """A site with one release, built with a cache."""
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
    """The last letter but one is another; the size stays."""
    text = path.read_bytes()
    path.write_bytes(text[:-2] + bytes([text[-2] ^ 1]) + text[-1:])


def swap(path: Path) -> None:
    """With another file of its kind."""
    top = path.parent if "releases" in path.parts else Path(str(path).partition("/www/")[0]) / "www"
    other = next(one for one in sorted(top.rglob("*")) if one.is_file() and differ(one, path))
    text = path.read_bytes()
    path.write_bytes(other.read_bytes())
    other.write_bytes(text)


def differ(one: Path, other: Path) -> bool:
    return one.suffix == other.suffix and one.name != "manifest.json" and one.read_bytes() != other.read_bytes()


def link(path: Path) -> None:
    """The file lies elsewhere, and a link leads to it."""
    elsewhere = Path(f"{str(path).partition('/dist/')[0]}/elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


DAMAGES = [append, cut, empty, delete, edit, swap, link]
# Kinds of files: the URL whose file it is and its suffix, or a file of the release.
KINDS = {
    "body": (FIRST, ""),
    "short body": (AUTHORS, ""),
    "gzip form": (FIRST, ".gz"),
    "sidecar": (FIRST, ".headers"),
    "map": ("", "series.map"),
    "configuration": ("", "http.conf"),
    "manifest": ("", "manifest.json"),
}
CASES = pytest.mark.parametrize(
    ("kind", "damage"),
    [(kind, damage) for kind in KINDS for damage in DAMAGES if (kind, damage) != ("manifest", swap)],
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)


def file_of(site: Site, kind: str) -> Path:
    url, name = KINDS[kind]
    dist = site.folder / "dist"
    return Path(f"{dist / site.manifest.resources[url].file}{name}") if url else (dist / "current" / name).resolve()


def damaged(site: Site, kind: str, damage: Damage) -> tuple[Path, dict[str, object]]:
    """The damaged file, and the content of the site before."""
    before = tree_snapshot.content(site.folder / "dist")
    path = file_of(site, kind)
    damage(path)
    return path, before


@CASES
def test_verify_names_every_damage(built: Site, run: Run, kind: str, damage: Damage) -> None:
    """`verify` ends with 1 and names the damaged file, for people and for programs."""
    path, _ = damaged(built, kind, damage)
    out = built.folder / "dist"
    said, listed = run("verify", "--out", out), run("verify", "--out", out, "--json")

    assert (said.exit_code, said.stdout, listed.exit_code) == (1, "", 1)
    assert f"{path}: " in said.stderr
    facts = json.loads(listed.stdout)
    assert (facts["ok"], facts["leftover"], facts["repaired"]) == (False, [], [])
    assert said.stderr.splitlines() == facts["damaged"]


@CASES
def test_repair_restores_every_damage_but_that_of_a_manifest(built: Site, run: Run, kind: str, damage: Damage) -> None:
    """`verify --repair` brings back every byte and says to reload nginx; a manifest is named and left as it is."""
    path, before = damaged(built, kind, damage)
    after = tree_snapshot.content(built.folder / "dist")
    result = run("verify", "--repair", *places(built))

    if kind == "manifest" and damage is not link:
        assert result.exit_code == 1
        assert f"{path}: is" in result.stderr
        assert tree_snapshot.content(built.folder / "dist") == after
    elif kind == "manifest":
        assert (result.exit_code, result.stderr) == (1, f"{path}: {verify_files.LINK}\n")
    else:
        assert (result.exit_code, result.stderr) == (0, "")
        assert f"{path}: restored from " in result.stdout
        assert "; reload nginx to serve them" in result.stdout
        assert tree_snapshot.content(built.folder / "dist") == before
        assert run("verify", "--out", built.folder / "dist").exit_code == 0


def places(site: Site) -> list[object]:
    catalog, out, nginx = site.paths
    return ["--catalog", catalog, "--out", out, "--nginx", nginx, "--jobs", 1]


@CASES
def test_a_build_without_cache_writes_again_what_is_damaged(built: Site, run: Run, kind: str, damage: Damage) -> None:
    """`build --no-cache` ends with a release that `verify` accepts; from a damaged manifest it continues nothing."""
    path, before = damaged(built, kind, damage)
    result = run("build", *tree_snapshot.options(built), "--no-cache")

    if kind == "manifest" and damage is not link:
        assert result.exit_code == 1
        assert result.stderr.startswith(f"{path}: is ")
    elif kind == "manifest":
        assert result.exit_code == 0
    else:
        assert result.exit_code == 0
        assert tree_snapshot.content(built.folder / "dist") == before
        assert run("verify", "--out", built.folder / "dist").exit_code == 0


@CASES
def test_a_check_sees_existence_and_size(built: Site, run: Run, kind: str, damage: Damage) -> None:
    """`build --check` ends with 1 where a file is missing or has another size; it reads what has no size on record."""
    size = file_of(built, kind).stat().st_size
    path, _ = damaged(built, kind, damage)
    before = tree_snapshot.state(built.folder / "dist")
    result = run("build", *tree_snapshot.options(built), "--check")

    same_size = os.path.lexists(path) and path.lstat().st_size == size
    unseen = same_size if kind in ("body", "short body", "sidecar") else (kind == "manifest" and damage is link)
    assert result.exit_code == (0 if unseen else 1)
    assert unseen or f"{path}: " in result.stderr
    assert tree_snapshot.state(built.folder / "dist") == before


@CASES
def test_an_unchanged_build_does_not_look(built: Site, run: Run, kind: str, damage: Damage) -> None:
    """A build that has nothing to do looks at a few files at most: it says what it said before, or repairs."""
    damaged(built, kind, damage)
    result = run("build", *tree_snapshot.options(built))

    assert result.exit_code == (1 if (kind, damage) == ("manifest", delete) else 0)


# What damage a release is spared


def two_releases(site: Site, run: Run) -> Site:
    tree_snapshot.second_version(site)
    assert run("build", *tree_snapshot.options(site)).exit_code == 0
    return site


def only_before(site: Site) -> Iterator[tuple[str, Path]]:
    """The files of bodies that only the release before has, by URL."""
    now = {path for one in site.manifest.resources.values() for path in files_with_sidecar(one)}
    for url, one in site.store.manifest(site.store.previous()).resources.items():
        for path in files_with_sidecar(one):
            if path not in now:
                yield url, site.folder / "dist" / path


def test_the_release_before_is_repaired_too(built: Site, run: Run) -> None:
    """Sidecars, gzip forms and configuration of a release that can be rolled back to come back from their pair."""
    two_releases(built, run)
    before = tree_snapshot.content(built.folder / "dist")
    for _, path in only_before(built):
        if path.suffix in (".gz", ".headers"):
            path.unlink()
    older = str(built.store.previous())
    both = built.manifest.files.items() & built.store.manifest(older).files.items()
    names = {name for name, _ in both if older in (built.folder / "dist/releases" / older / name).read_text()}
    assert names
    for name in names:
        cut(built.folder / "dist/releases" / older / name)
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, result.stderr) == (0, "")
    assert tree_snapshot.content(built.folder / "dist") == before


def test_a_twin_that_is_damaged_itself_is_none(built: Site, run: Run) -> None:
    """A file that is damaged in both releases comes from the catalog."""
    two_releases(built, run)
    before = tree_snapshot.content(built.folder / "dist")
    older = str(built.store.previous())
    name = next(iter(dict(built.manifest.files.items() & built.store.manifest(older).files.items())))
    for release in (older, str(built.store.current())):
        (built.folder / "dist/releases" / release / name).write_text("?")
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, result.stderr) == (0, "")
    assert "restored from the catalog" in result.stdout
    assert tree_snapshot.content(built.folder / "dist") == before


def test_what_the_catalog_no_longer_gives_is_named(built: Site, run: Run) -> None:
    """A body and a map of the release before cannot be made again after the catalog changed; exit 1 names them."""
    two_releases(built, run)
    path = next(path for url, path in only_before(built) if url == "/api/v1/series/first")
    table = built.folder / "dist/releases" / str(built.store.previous()) / "series.map"
    cut(table)
    for one in (path, Path(f"{path}.gz")):
        one.unlink(missing_ok=True)
    after = tree_snapshot.content(built.folder / "dist")
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, result.stdout) == (1, "")
    assert {f"{path}: is missing", f"{table}: was changed after the build"} <= set(result.stderr.splitlines())
    assert tree_snapshot.content(built.folder / "dist") == after


def test_what_cannot_be_restored_does_not_keep_the_rest_from_it(built: Site, run: Run) -> None:
    """A damaged manifest of the release before is named; files of the current release are restored all the same."""
    two_releases(built, run)
    table = built.folder / "dist/releases" / str(built.store.previous()) / "manifest.json"
    edit(table)
    body = file_of(built, "body")
    whole = body.read_bytes()
    cut(body)
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, body.read_bytes()) == (1, whole)
    assert result.stderr == f"{table}: does not match the id of the release\n"


def test_a_release_before_that_lost_its_manifest_is_damaged(built: Site, run: Run) -> None:
    """Its bodies are not taken for leftovers."""
    two_releases(built, run)
    table = built.folder / "dist/releases" / str(built.store.previous()) / "manifest.json"
    table.unlink()
    result = run("verify", "--out", built.folder / "dist")

    assert (result.exit_code, result.stderr) == (1, f"{table}: is missing\n")


SOON = """
title: Soon
cover: c.png
modified: 2026-02-01T00:00:00Z
chapters:
  - {id: 90, number: 1, published: 2026-02-02T10:00:00Z, modified: 2026-02-02T10:00:00Z, pages: [1.png]}
  - {id: 91, number: 2, published: 2026-12-01T10:00:00Z, modified: 2026-02-02T10:00:00Z, pages: [1.png]}
"""


@pytest.mark.parametrize("recorded", [True, False])
def test_the_catalog_is_read_as_of_the_time_of_the_release(site: Site, hasty: None, run: Run, recorded: bool) -> None:
    """A chapter that is due since keeps no file of the release from being restored, with a journal or without."""
    site.write("series/soon.yaml", SOON)
    site.build()
    if not recorded:
        site.store.journal_path.unlink()
    before = tree_snapshot.content(site.folder / "dist")
    path = site.folder / "dist" / site.manifest.resources["/api/series/soon"].file
    path.unlink()
    for name in ("series.map", "validators.map", "http.conf"):
        cut((site.folder / "dist/current" / name).resolve())
    result = run("verify", "--repair", *places(site))

    assert (result.exit_code, result.stderr) == (0, "")
    assert f"{path}: restored from the catalog" in result.stdout
    assert tree_snapshot.content(site.folder / "dist") == before


def test_the_journal_knows_the_time_better_than_the_bodies(site: Site, hasty: None, run: Run) -> None:
    """A release that was built as of an earlier time than the one before has bodies that are newer than itself."""
    site.write("series/soon.yaml", SOON)
    site.build(as_of=1_800_000_000)
    site.build()
    table = (site.folder / "dist/current/series.map").resolve()
    text = table.read_bytes()
    cut(table)
    result = run("verify", "--repair", *places(site))

    assert (result.exit_code, table.read_bytes()) == (0, text)


def test_a_catalog_with_problems_is_said(built: Site, run: Run) -> None:
    """What has a twin is restored without the catalog; of the rest it is said why the catalog gave nothing."""
    body, table = file_of(built, "body"), file_of(built, "map")
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
def test_a_release_for_another_server_is_repaired(site: Site, hasty: None, run: Run, local: bool) -> None:
    """Its configuration names folders of that server, or of this machine where `serve` built it."""
    site.write("site.yaml", "base_url: https://minimal.example\nserver_folder: /srv/comics\n")
    pipeline.build(replace(site.options, local=local))
    before = tree_snapshot.content(site.folder / "dist")
    cut((site.folder / "dist/current/http.conf").resolve())
    result = run("verify", "--repair", *places(site))

    assert (result.exit_code, result.stderr) == (0, "")
    assert tree_snapshot.content(site.folder / "dist") == before


def test_a_long_list_gets_the_gzip_form_that_a_build_makes(
    built: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that is compressed in pieces comes from the catalog; without one, from its body."""
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


# Links, folders and other things in the place of files


def test_nothing_is_written_through_a_link(built: Site, run: Run) -> None:
    """A link takes no repair to the file that it leads to, whether it has the right bytes or not."""
    path = file_of(built, "body")
    elsewhere = built.folder / "elsewhere"
    elsewhere.write_text("mine")
    path.unlink()
    path.symlink_to(elsewhere)
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, elsewhere.read_text(), path.is_symlink()) == (0, "mine", False)


def test_a_build_writes_through_no_link(built: Site, run: Run) -> None:
    """A link to nothing in the place of a body is replaced, and what it leads to is not made."""
    before = tree_snapshot.content(built.folder / "dist")
    path = file_of(built, "body")
    path.unlink()
    path.symlink_to(built.folder / "elsewhere")

    assert run("build", *tree_snapshot.options(built), "--no-cache").exit_code == 0
    assert not (built.folder / "elsewhere").exists()
    assert tree_snapshot.content(built.folder / "dist") == before


def test_nothing_is_read_through_a_link(built: Site, run: Run) -> None:
    """A gzip form that is a link is no twin."""
    path = file_of(built, "gzip form")
    link(path)
    file_of(built, "body").unlink()
    result = run("verify", "--repair", *places(built))

    assert result.exit_code == 0
    assert "its twin" not in result.stdout


def test_a_link_in_the_way_of_what_is_written_is_not_followed(built: Site, run: Run) -> None:
    """The name that a file has before it is whole may be a link that somebody made."""
    path, elsewhere = file_of(built, "body"), built.folder / "elsewhere"
    elsewhere.write_text("mine")
    path.with_name(f".{path.name}.new").symlink_to(elsewhere)
    path.unlink()
    run("verify", "--repair", *places(built))

    assert elsewhere.read_text() == "mine"
    assert run("verify", "--repair", *places(built)).exit_code == 0


def test_a_folder_takes_the_place_of_a_link(built: Site, run: Run) -> None:
    """A folder that is a link is damage. It goes once all of its files can be restored; what it leads to stays."""
    before = tree_snapshot.content(built.folder / "dist")
    folder, elsewhere = built.folder / "dist/www/api/v1", built.folder / "v1"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    there = tree_snapshot.state(elsewhere)
    assert run("verify", "--out", built.folder / "dist").stderr == f"{folder}: {verify_files.LINK}\n"
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, result.stderr) == (0, "")
    assert tree_snapshot.content(built.folder / "dist") == before
    assert tree_snapshot.state(elsewhere) == there


def test_a_link_stays_while_a_file_behind_it_cannot_be_restored(built: Site, run: Run) -> None:
    """A link that serves more than a repair could is better than none."""
    folder, elsewhere = built.folder / "dist/www/api/v1", built.folder / "v1"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    tree_snapshot.write_series(built, "Another", volumes=3, others=["second"])
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"{folder}: {verify_files.LINK}\n"
    assert folder.is_symlink()


def test_a_link_that_no_release_needs_is_named(built: Site, run: Run) -> None:
    """Repair removes nothing that no release names."""
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
    for one in path.parent.iterdir():
        one.unlink()
    path.parent.rmdir()


@pytest.mark.parametrize("damage", [a_pipe, an_empty_folder, no_folder])
def test_what_is_no_file_is_replaced(built: Site, run: Run, damage: Damage) -> None:
    """A pipe is not waited for, an empty folder goes, and a folder that is gone is made again."""
    before = tree_snapshot.content(built.folder / "dist")
    damage(built.folder / "dist" / built.manifest.resources["/api/series/first/1/1"].file)
    assert run("verify", "--out", built.folder / "dist").exit_code == 1
    assert run("build", *tree_snapshot.options(built), "--check").exit_code == 1
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, result.stderr) == (0, "")
    assert tree_snapshot.content(built.folder / "dist") == before


def test_a_full_folder_in_the_place_of_a_file_stays(built: Site, run: Run) -> None:
    """Repair does not delete what it does not know."""
    path = file_of(built, "body")
    an_empty_folder(path)
    (path / "thesis.txt").write_text("mine")
    result = run("verify", "--repair", *places(built))

    assert result.exit_code == 1
    assert f"{path}: is missing\n" in result.stderr
    assert (path / "thesis.txt").read_text() == "mine"


def test_a_disk_that_fails_is_a_sentence(built: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk ends a repair with the place; it is not taken for something in the way."""

    def full(path: Path, *_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    path = file_of(built, "body")
    path.unlink()
    monkeypatch.setattr(bodies, "replace", full)
    result = run("verify", "--repair", *places(built))

    assert (result.exit_code, result.stderr) == (1, f"{path}: No space left on device\n")


def test_a_bomb_is_not_unpacked() -> None:
    """A gzip form is unpacked no further than its body is long."""
    packed = encoding.gzip(b"x" * 50_000)
    assert packed

    assert encoding.gunzip(packed, 49_999) is None
    assert encoding.gunzip(packed, 50_000) == b"x" * 50_000


def test_what_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    """A name that is too long is no missing file."""
    with pytest.raises(OSError, match="name too long"):
        filesystem.read_regular(tmp_path / ("x" * 300))


# Leftovers, and what is said


def test_leftovers_are_named_and_no_failure(built: Site, run: Run) -> None:
    """Files that no release names are exit 0, and exit 1 with --strict."""
    out = built.folder / "dist"
    (out / "www/old.json").write_text("?")
    (out / "notes.txt").write_text("?")
    lines = [f"{out}/www/old.json: is in no release", f"{out}/notes.txt: is not part of a built site"]
    said, listed = run("verify", "--out", out), run("verify", "--out", out, "--json")
    strict = run("verify", "--out", out, "--strict")

    assert (said.exit_code, said.stderr.splitlines()) == (0, lines)
    assert said.stdout == f"{out}: OK: all files match release {built.store.current()}\n"
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


def test_repair_tells_programs(built: Site, run: Run) -> None:
    """`--repair --json` lists what was restored and from where."""
    path = file_of(built, "body")
    cut(path)
    result = run("verify", "--repair", "--json", *places(built))

    assert result.exit_code == 0
    assert json.loads(result.stdout)["repaired"] == [f"{path}: restored from an intact file"]


@pytest.mark.parametrize("option", ["--repair", "--strict"])
def test_a_server_cannot_be_repaired(built: Site, run: Run, option: str) -> None:
    """What is about files is bad usage beside --url."""
    result = run("verify", "--url", "http://localhost:1", option, *places(built))

    assert result.exit_code == 2
    assert "cannot be combined with --url" in result.stderr


def test_where_nothing_was_built_repair_makes_nothing(site: Site, run: Run) -> None:
    """Without a release there is nothing to repair, and no folder is made."""
    result = run("verify", "--repair", *places(site))

    assert (result.exit_code, result.stderr) == (1, f"{site.folder}/dist: nothing has been built yet\n")
    assert not (site.folder / "dist").exists()


def test_a_repair_waits_for_a_build(built: Site) -> None:
    """Repair takes the lock of builds."""
    told = []
    with transaction.begin(built.store, pytest.fail):

        def waiting() -> None:
            told.append(True)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            repair.repair(replace(built.options, as_of=AS_OF), waiting)

    assert told == [True]
