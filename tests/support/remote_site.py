"""A site, and the folder on a real server that it is published to."""

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from click.testing import Result

from generator.release.store import Store
from tests.conftest import Site
from tests.support import tree_snapshot
from tests.support.ssh_server import SshServer

# A name that every shell would read as something else.
NAME = 'it\'s "a" $HOME; `b` \\ é'


@dataclass(frozen=True)
class Remote:
    """A site, and the folder on the server that it is published to."""

    site: Site
    server: SshServer
    folder: Path
    run: Callable[..., Result]

    def publish(self, *arguments: object, url: str = "", ok: bool | None = True) -> Result:
        """Publish, which succeeds if `ok`, fails if not, or may do either."""
        site = self.site.folder
        options = ["--out", site / "dist", "--catalog", site / "catalog_src", "--nginx", site / "nginx.conf"]
        result = self.run(
            "publish", url or self.target, *options, "--lock-seconds", 1, *arguments, **self.server.environment
        )
        assert ok in (None, result.exit_code == 0), result.output
        return result

    def facts(self, *arguments: object) -> dict[str, object]:
        facts: dict[str, object] = json.loads(self.publish("--json", *arguments).stdout)
        return facts

    @property
    def target(self) -> str:
        return self.server.url(self.folder).replace("%", "%25").replace("?", "%3F")

    @property
    def store(self) -> Store:
        return Store(self.folder / "dist")

    def files(self) -> dict[str, tuple[bytes, int]]:
        """Content and mode of the bodies and releases on the server."""
        return tree(self.folder / "dist")

    def edit(self, title: str) -> None:
        """Change a series, and build."""
        path = self.site.folder / "catalog_src/series/second.yaml"
        path.write_text(re.sub("^title:.*", f"title: {title}", path.read_text(), flags=re.MULTILINE))
        self.site.build()


def tree(dist: Path) -> dict[str, tuple[bytes, int]]:
    """The content and the mode of files, and the targets of links."""
    tops = ("www/", "private/", "releases/", "current")
    return {
        name: (os.readlink(path).encode() if path.is_symlink() else path.read_bytes(), path.lstat().st_mode)
        for name, path in tree_snapshot.walk(dist)
        if name.startswith(tops) and (path.is_symlink() or path.is_file())
    }


def bodies(files: dict[str, tuple[bytes, int]]) -> set[str]:
    return {path for path in files if path.startswith(("www/", "private/"))}
