"""The main configuration file replaces only files that a build wrote."""

import os
from pathlib import Path

import pytest

from generator.pipeline.main_conf import refuse_foreign
from tests.commands.test_cli import Run
from tests.conftest import Site
from tests.support import tree_snapshot


def build(run: Run, site: Site, nginx: Path) -> str:
    """Build with this configuration file, and return what is printed to stderr."""
    options = tree_snapshot.options(site)
    options[options.index("--nginx") + 1] = nginx
    return run("build", *options).stderr


def test_a_file_of_an_earlier_build_is_replaced(site: Site, run: Run) -> None:
    """Also an empty one, one that was edited below the first line, and a link to one."""
    conf, link = site.folder / "nginx.conf", site.folder / "link.conf"
    build(run, site, conf)
    written = conf.read_bytes()
    for text in (b"", written[:50], written + b"# edited\n"):
        conf.write_bytes(text)
        assert build(run, site, conf) == "" and conf.read_bytes() == written
    link.symlink_to(conf)
    assert build(run, site, link) == "" and link.read_bytes() == written


@pytest.mark.parametrize("name", ["catalog_src/site.yaml", "catalog_src/series/first.yaml", "own.conf"])
def test_another_file_is_refused(site: Site, run: Run, name: str) -> None:
    """Nothing is built."""
    path = site.folder / name
    if name == "own.conf":
        path.write_text("events {}\n")
    before = path.read_bytes()

    message = f"{path}: was not written by a build; move it, or choose another file with --nginx\n"
    assert build(run, site, path) == message
    assert path.read_bytes() == before and not (site.folder / "dist").exists()


@pytest.mark.parametrize("name", ["catalog_src", "pipe"])
def test_devices_and_folders_are_refused(site: Site, run: Run, name: str) -> None:
    """A device such as /dev/null would become a file."""
    path = site.folder / name
    if name == "pipe":
        os.mkfifo(path)

    assert build(run, site, path) == f"{path}: is not a file; choose another one with --nginx\n"
    assert not path.is_file()


@pytest.mark.parametrize(
    "name", ["current", "current/http.conf", "releases/journal.jsonl", "www/new.conf", ".flatpanel"]
)
def test_files_of_the_releases_and_of_the_catalog_are_refused(site: Site, run: Run, name: str) -> None:
    build(run, site, site.folder / "nginx.conf")
    before = tree_snapshot.state(site.folder / "dist")
    out, path = site.folder / "dist", site.folder / "dist" / name

    assert (
        build(run, site, path) == f"{path}: is in {out}, which holds the releases; choose another file with --nginx\n"
    )
    assert tree_snapshot.state(site.folder / "dist") == before
    path = site.folder / "catalog_src/series" / name
    sentence = f"{path}: is among the series of a catalog; choose another file with --nginx\n"
    assert build(run, site, path) == sentence
    path = site.folder / "theme" / name
    assert build(run, site, path) == f"{path}: is in the theme of a site; choose another file with --nginx\n"


def test_a_catalog_may_be_the_root_of_its_project(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is generated beside its files is none of them."""
    monkeypatch.chdir(site.folder / "catalog_src")
    for export in ("first", "second"):
        for words in (("build", "--catalog", ".", "--report", "r.html"), ("export", export), ("pack", "edge")):
            result = run(*words)
            assert (result.exit_code, result.stderr) == (0, "")
    # The default of `serve`, which builds until it is ended.
    refuse_foreign(Path(".flatpanel_serve/nginx.conf"), Path(".flatpanel_serve/dist"))
