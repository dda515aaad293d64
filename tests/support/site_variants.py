"""Test sites with other settings, built and served for a test module."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import Site, copy_of
from tests.support import nginx_client


@contextmanager
def served(
    folder: Path, name: str = "v2", *, settings: str = "", files: dict[str, str] | None = None
) -> Iterator[tuple[Site, nginx_client.Web]]:
    """A test site with additional lines in its site.yaml and other files."""
    with nginx_client.listening() as listener:
        made = copy_of(name, folder)
        with (made.folder / "catalog_src/site.yaml").open("a") as site:
            site.write(f"port: {listener.getsockname()[1]}\n{settings}\n")
        for path, text in (files or {}).items():
            made.write(path, text)
        made.build()
        with nginx_client.running(made.folder, listener) as running:
            yield made, running


@contextmanager
def started(folder: Path, name: str = "minimal", **directives: str) -> Iterator[tuple[Site, nginx_client.Web]]:
    """A site on the main file that the build writes, with some directives replaced."""
    with nginx_client.listening() as listener:
        site = copy_of(name, folder)
        site.write("site.yaml", f"base_url: https://minimal.example\nport: {listener.getsockname()[1]}\n")
        site.build()
        conf = folder / "nginx.conf"
        text = conf.read_text()
        for directive, value in directives.items():
            text, count = re.subn(rf"^( *{directive}) [^;]+;", rf"\1 {value};", text, flags=re.MULTILINE)
            assert count == 1, f"nginx.conf does not say {directive} once"
        conf.write_text(text)
        with nginx_client.running(folder, listener) as running:
            yield site, running
