"""Test sites with other settings, built and served for a test module."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import Site, copy_of, serving
from tests.support import nginx_client

# The site `v2` without the series that only fill pages of its lists: most variants build it, and need few series.
SMALL = "small"
_FILLING = re.compile("(amber|brass|cedar|dusty|ember|foggy|green|hollow)-.*")


def variant_of(name: str, folder: Path) -> Site:
    """A test site or the small one, not built yet."""
    site = copy_of("v2" if name == SMALL else name, folder)
    for path in (folder / "catalog_src/series").iterdir() if name == SMALL else ():
        if _FILLING.fullmatch(path.name):
            path.unlink()
    return site


@contextmanager
def served(
    folder: Path, name: str = SMALL, *, settings: str = "", files: dict[str, str] | None = None
) -> Iterator[tuple[Site, nginx_client.Web]]:
    """A test site with additional lines in its site.yaml and other files."""
    made = variant_of(name, folder)
    with (made.folder / "catalog_src/site.yaml").open("a") as site:
        site.write(f"{settings}\n")
    for path, text in (files or {}).items():
        made.write(path, text)
    with serving(made) as running:
        yield made, running


@contextmanager
def started(folder: Path, name: str = "minimal", **directives: str) -> Iterator[tuple[Site, nginx_client.Web]]:
    """A site on the main file that the build writes, with some directives replaced."""
    with nginx_client.listening() as listener:
        site = variant_of(name, folder)
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
