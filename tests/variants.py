"""Test sites with settings of their own, built and served for as long as a test module needs them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests import web
from tests.conftest import Site, copy_of


@contextmanager
def served(folder: Path, *, settings: str = "", files: dict[str, str] | None = None) -> Iterator[tuple[Site, web.Web]]:
    """The site `v2` with more lines in its site.yaml and other files."""
    with web.listening() as listener:
        made = copy_of("v2", folder)
        with (made.folder / "catalog_src/site.yaml").open("a") as site:
            site.write(f"port: {listener.getsockname()[1]}\n{settings}\n")
        for path, text in (files or {}).items():
            made.write(path, text)
        made.build()
        with web.running(made.folder, listener) as running:
            yield made, running
