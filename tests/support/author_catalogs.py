"""Catalogs for the commands that edit them: chapters without ids, and view logs."""

import random
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

from generator.catalog.yaml import reader
from tests.conftest import Site

Run = Callable[..., Result]
FIRST = "series/first.yaml"
SECOND = "series/second.yaml"
HEAD = "# Views by chapter id, written by `views`.\n"


def chapter(number: object, fields: str = "") -> str:
    """A chapter, without an id unless `fields` has one."""
    return f"  - {{{fields}number: {number}, published: 2026-02-02, pages: []}}\n"


def series(*chapters: str) -> str:
    return "title: A\ncover: cover.jpg\nmodified: 2026-02-01\nchapters:\n" + "".join(chapters)


def everything(site: Site) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (site.folder / "catalog_src").rglob("*") if path.is_file()}


def ids_in(site: Site, file: str) -> list[int]:
    return [one["id"] for one in reader.load((site.folder / "catalog_src" / file).read_bytes())["chapters"]]


def line(request: int, chapter: int = 1, day: str = "2026-05-01", end: str = "\n") -> str:
    """A log line as nginx writes it, with a random request id."""
    return f"{day}T12:00:00+02:00 {random.Random(request).randbytes(16).hex()} {chapter}{end}"


def lines(*numbers: int, chapter: int = 1, day: str = "2026-05-01") -> str:
    return "".join(line(one, chapter, day) for one in numbers)


def with_chapters(site: Site) -> Site:
    """Two series: the first with the chapters 1 and 2, the second with the chapter 3."""
    dated = "modified: 2026-02-02, "
    site.write(FIRST, series(chapter(1, f"id: 1, {dated}"), chapter(2, f"id: 2, {dated}")))
    site.write(SECOND, series(chapter(3, f"id: 3, {dated}")))
    return site


def counts(site: Site) -> str:
    text = (site.folder / "catalog_src/views.yaml").read_text()
    assert text.startswith(HEAD)
    return text.removeprefix(HEAD)
