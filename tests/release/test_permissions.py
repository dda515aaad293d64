"""Who may read and write what a build leaves behind, whatever the umask of whoever builds."""

import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from generator import filesystem
from generator.pipeline import run
from generator.pipeline.cache import Cache
from tests.conftest import Site
from tests.support import tree_snapshot
from tests.support.paths import BUILD


def modes(folder: Path) -> dict[str, int]:
    found = {name: path.lstat().st_mode for name, path in tree_snapshot.walk(folder)}
    return {name: stat.S_IMODE(mode) for name, mode in found.items() if not stat.S_ISLNK(mode)}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_everybody_may_read_what_is_served_and_nobody_else_may_write(site: Site, umask: int) -> None:
    """nginx's workers are somebody else; with a umask of 077 they could read nothing."""
    site.write("site.yaml", "base_url: https://minimal.example\nrestricted: [/authors]\n")
    options = map(str, tree_snapshot.options(site))
    subprocess.run([sys.executable, "-B", BUILD, "build", "--quiet", *options], umask=umask, check=True)
    found = modes(site.folder / "dist")

    assert {mode for name, mode in found.items() if (site.folder / "dist" / name).is_dir()} == {0o755}
    assert {mode for name, mode in found.items() if not (site.folder / "dist" / name).is_dir()} == {0o644}
    assert any(name.startswith("private/") for name in found)
    assert stat.S_IMODE((site.folder / "nginx.conf").stat().st_mode) == 0o644


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_what_is_remembered_is_nobodys_business(site: Site, umask: int) -> None:
    """The cache knows of chapters that are not published yet, and nginx never reads it."""
    options = map(str, tree_snapshot.options(site))
    subprocess.run([sys.executable, "-B", BUILD, "build", "--quiet", *options], umask=umask, check=True)
    cache = site.folder / ".flatpanel_cache"

    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert modes(cache)["cache.sqlite"] & 0o022 == 0


def test_neither_are_temporary_files(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build without a cache has the same in a folder of its own."""
    seen = []
    made = Cache.__init__

    def look(self: Cache, folder: Path, version: str, *, lasting: bool = True) -> None:
        seen.append((folder.parent, stat.S_IMODE(folder.stat().st_mode)))
        made(self, folder, version, lasting=lasting)

    monkeypatch.setattr(Cache, "__init__", look)
    run.build(site.options)

    assert seen == [(Path(tempfile.gettempdir()), 0o700)]


def test_a_scratch_folder_for_nginx_may_be_entered() -> None:
    """Its workers look for their configuration in it."""
    with filesystem.scratch_folder(shared=True) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert not folder.exists()
