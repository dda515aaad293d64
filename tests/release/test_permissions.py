"""Permissions of the files that a build writes, with any umask."""

import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from generator import filesystem
from generator.pipeline import run
from generator.pipeline.cache import Cache
from generator.pipeline.program_version import ProgramVersion
from tests.conftest import Site
from tests.support import tree_snapshot
from tests.support.paths import BUILD


def modes(folder: Path) -> dict[str, int]:
    modes_by_name = {name: path.lstat().st_mode for name, path in tree_snapshot.walk(folder)}
    return {name: stat.S_IMODE(mode) for name, mode in modes_by_name.items() if not stat.S_ISLNK(mode)}


@pytest.mark.end_to_end
@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_served_files_are_readable_for_all_and_the_cache_for_the_owner_only(site: Site, umask: int) -> None:
    """nginx's workers run under another account; with a umask of 077 they could read nothing.

    The cache contains unpublished chapters, and nginx never reads it.
    """
    site.write("site.yaml", "base_url: https://minimal.example\nrestricted: [/authors]\n")
    options = map(str, tree_snapshot.options(site))
    subprocess.run([sys.executable, "-B", BUILD, "build", "--quiet", *options], umask=umask, check=True)
    dist_modes = modes(site.folder / "dist")

    assert {mode for name, mode in dist_modes.items() if (site.folder / "dist" / name).is_dir()} == {0o755}
    assert {mode for name, mode in dist_modes.items() if not (site.folder / "dist" / name).is_dir()} == {0o644}
    assert any(name.startswith("private/") for name in dist_modes)
    assert stat.S_IMODE((site.folder / "nginx.conf").stat().st_mode) == 0o644
    cache = site.folder / ".flatpanel_cache"
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert modes(cache)["cache.sqlite"] & 0o022 == 0


def test_temporary_cache_is_readable_for_the_owner_only(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build without a cache has the same data in a temporary folder."""
    seen = []
    made = Cache.__init__

    def look(self: Cache, folder: Path, version: ProgramVersion | None) -> None:
        seen.append((folder.parent, stat.S_IMODE(folder.stat().st_mode)))
        made(self, folder, version)

    monkeypatch.setattr(Cache, "__init__", look)
    run.build(site.options)

    assert seen == [(Path(tempfile.gettempdir()), 0o700)]


def test_scratch_folder_of_nginx_can_be_entered() -> None:
    """nginx's workers read their configuration in it."""
    with filesystem.scratch_folder(shared=True) as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert not folder.exists()
