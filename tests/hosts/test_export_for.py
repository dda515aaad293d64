"""`export --for HOST`: what is written, and what a second export changes."""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import Result

from generator.errors import FlatpanelError
from generator.hosts.plain import export_folder
from generator.hosts.plain.export import HOSTS, export_for, export_release
from tests.conftest import Site, copy_of
from tests.support import killed_builds, tree_snapshot

Export = Callable[..., Result]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = copy_of("everything", tmp_path_factory.mktemp("original"))
    site.build()
    return site


@pytest.fixture
def built(original: Site, tmp_path: Path) -> Site:
    """A built site that a test may change."""
    shutil.copytree(original.folder, tmp_path, symlinks=True, dirs_exist_ok=True)
    return Site(tmp_path)


@pytest.fixture
def export(built: Site, run: Callable[..., Result]) -> Export:
    def into(folder: str = "public", host: str = "caddy") -> Result:
        return run("export", "--out", built.folder / "dist", "--for", host, built.folder / folder)

    return into


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """Which file has each name, and when it was written."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != export_folder.LIST)
    return {str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


def contents(folder: Path) -> dict[str, object]:
    """All files. A killed export may leave an empty folder."""
    return {name: content for name, content in tree_snapshot.content(folder).items() if content != "a folder"}


def remove_catalog(site: Site) -> None:
    """Build a release without series and people."""
    shutil.rmtree(site.folder / "catalog_src")
    site.write("site.yaml", "base_url: https://comics.example\n")
    site.build()


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_each_body_is_dated(built: Site, host: str) -> None:
    """The time of a file is its Last-Modified."""
    target = built.folder / "public"
    export_for(built.store, host, target)
    body = built.manifest.resources["/api/authors"]
    (path,) = (
        path for path in target.rglob("authors.*") if path.parent.name == "api" and path.suffix in (".json", ".html")
    )
    assert path.read_bytes() == (built.store.root / body.file).read_bytes()
    assert path.stat().st_mtime == body.modified


@pytest.mark.end_to_end
@pytest.mark.parametrize("host", sorted(HOSTS))
def test_a_second_export_writes_what_changed(built: Site, export: Export, host: str) -> None:
    target = built.folder / "public"
    export(host=host)
    before = files(target)
    assert export(host=host).stdout.endswith(f"{len(before)} files, 0 written, 0 removed\n")
    assert files(target) == before

    series = built.folder / "catalog_src/series/finished.yaml"
    series.write_text(series.read_text().replace("title: ", "title: New ", 1))
    built.build()
    assert ", 0 removed" in export(host=host).stdout
    changed = {name for name, file in files(target).items() if file != before.get(name)}
    assert changed and len(changed) < len(before) / 2
    assert before.keys() == files(target).keys()


def test_files_of_removed_urls_are_removed(built: Site, export: Export) -> None:
    """With the folders that only they were in."""
    target = built.folder / "public"
    export()
    before = files(target)
    slug = next(path for path in sorted((target / "site/api/series").iterdir()) if path.is_dir()).name
    series = built.folder / "catalog_src/series"
    for path in (series / f"{slug}.yaml", series / slug / "series.yaml"):
        if path.exists():
            text = path.read_text().split("chapters:")[0]
            path.write_text(text + "chapters: []\n")
    built.build()
    body = built.store.root / built.manifest.resources["/api/series"].file
    text = body.read_bytes()
    body.write_bytes(b"[]")
    assert export().exit_code == 1
    assert not (target / "site/api/series" / slug).exists(), "a damaged body keeps what was withdrawn"
    body.write_bytes(text)
    assert export().exit_code == 0
    assert len(files(target)) < len(before)
    assert not (target / "site/api/series" / slug).exists()


def test_damaged_files_are_written_again(built: Site, export: Export) -> None:
    target = built.folder / "public"
    export()
    (target / "site/api/authors.json").unlink()
    (target / "site/api/series.json").write_text("[]")
    os.utime(target / "site/api/releases.json", (1, 1))
    assert ", 3 written, 0 removed" in export().stdout
    assert (target / "site/api/authors.json").exists()


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_damaged_body_of_the_release_is_refused(built: Site, export: Export, ending: str) -> None:
    """It would be served with its ETag. `verify --repair` restores it."""
    body = built.store.root / next(body.file for body in built.manifest.resources.values() if body.gzip)
    damaged = body.with_name(f"{body.name}{ending}")
    damaged.write_bytes(damaged.read_bytes()[:-9] + bytes(9))
    result = export()
    assert result.exit_code == 1
    assert result.stderr == f"{damaged}: is damaged; `python build.py verify --repair` restores it\n"


def test_settings_of_the_user_are_kept(built: Site, export: Export) -> None:
    """An example that the user changed is not written again, and the command says so once more each time."""
    target = built.folder / "public"
    export()
    (target / "Caddyfile").write_text("mine")
    for _ in range(2):
        result = export()
        assert result.stderr == f"{target}/Caddyfile: has your changes and was kept\n"
        assert ", 0 written" in result.stdout
    assert (target / "Caddyfile").read_text() == "mine"
    (target / "Caddyfile").unlink()
    assert ", 1 written" in export().stdout


@pytest.mark.kills
@pytest.mark.parametrize("write", [export_release, partial(export_for, host="caddy")], ids=["plain", "caddy"])
def test_a_killed_export_is_completed(built: Site, write: Callable[..., object]) -> None:
    """By the same command, also if the release is another one by then: no file of the first stays."""
    targets, whole = [], built.folder / "whole"
    for moment in killed_builds.moments(partial(write, built.store, target=whole), built.folder):
        targets.append(built.folder / f"killed at {moment}")
        assert killed_builds.killed_at(moment, partial(write, built.store, target=targets[-1]))
    assert len(targets) > 8
    if write is export_release:
        # The last call comes after the removal of the list, so the export is complete.
        assert contents(targets.pop()) == contents(whole)
    remove_catalog(built)
    write(built.store, target=built.folder / "clean")
    for target in targets:
        write(built.store, target=target)
        assert contents(target) == contents(built.folder / "clean")


def test_an_export_follows_no_link(built: Site, export: Export, tmp_path: Path) -> None:
    """It would change and remove files elsewhere. A folder in place of one of its files stays, too."""
    export()
    outside = tmp_path / "outside"
    (built.folder / "public/site/api").rename(outside)
    (built.folder / "public/site/api").symlink_to(outside)
    before = tree_snapshot.state(outside)
    remove_catalog(built)
    result = export()
    assert (result.exit_code, result.stderr) == (
        1,
        f"{built.folder}/public/site/api: is a link, which is not followed; replace it by a real folder\n",
    )
    assert tree_snapshot.state(outside) == before
    (built.folder / "public/site/api").unlink()
    outside.rename(built.folder / "public/site/api")
    removed = built.folder / "public/site/api/series/finished.json"
    removed.unlink()
    removed.mkdir()
    assert "finished.json" in export().stderr and removed.is_dir()


def test_a_file_of_the_user_is_not_overwritten(built: Site, export: Export) -> None:
    """Not in the folder of an earlier export either, where other names are free."""
    target = built.folder / "public"
    target.mkdir()
    export()
    (target / "README.md").write_text("mine")
    assert export().exit_code == 0
    export_list = target / export_folder.LIST
    export_list.write_text(export_list.read_text().replace('    "site/api/authors.json": ', '    "site/old.json": '))
    result = export()
    assert result.exit_code == 1
    assert "authors.json: is not of an earlier export; move it, or choose a new folder" in result.stderr


def test_an_export_for_another_host_is_refused(built: Site, export: Export) -> None:
    export()
    result = export(host="netlify")
    assert (result.exit_code, result.stderr) == (
        1,
        f"{built.folder}/public: is an export for caddy; choose another folder for netlify\n",
    )


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"for":"caddy"}', '{"for":"caddy","files":{"../a":""}}', '{"for":"caddy","files":{"/a":""}}']
)
def test_a_changed_list_is_refused(built: Site, export: Export, text: str) -> None:
    """It names files to remove, so names of other folders are refused."""
    export()
    (built.folder / "public" / export_folder.LIST).write_text(text)
    result = export()
    assert result.exit_code == 1
    assert "has been changed; remove the folder, and export again" in result.stderr


def test_no_file_is_written_outside_of_the_folder(tmp_path: Path) -> None:
    """Also if a release names one."""
    for name in ("../a", "site/../../a", "/a"):
        with pytest.raises(FlatpanelError, match="would be outside of the folder"):
            export_folder.write_files(tmp_path / "public", "caddy", [export_folder.text_file(name, b"")])
    assert list(tmp_path.iterdir()) == []


def test_a_host_needs_a_folder(run: Callable[..., Result]) -> None:
    result = run("export", "--for", "caddy", "--cubari", "gists")
    assert (result.exit_code, "--for needs a folder" in result.stderr) == (2, True)
