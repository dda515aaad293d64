"""`ids`: what a chapter is called for ever, given by the machine."""

from pathlib import Path

import click

from ..authoring import tending
from ..catalog.confined_folder import Confined
from ..catalog.records import Chapter
from ..release.manifest_reader import ManifestReader
from ..release.store import Store
from . import options
from .output import say, say_json
from .reporting import reporting, warn

previously = click.option(
    "--previous", type=click.Path(path_type=Path), help="A manifest.json whose ids are not given again."
)


@click.command()
@options.catalog
@options.out
@previously
@options.as_json
@reporting
def ids(catalog: Confined, out: Path, previous: Path | None, as_json: bool) -> None:
    """Give an id to every chapter without one, in the catalog's files."""
    given = tending.give_ids(catalog, highest(out, previous), warn)
    if as_json:
        facts = [
            {"file": one.file, "volume": one.chapter.volume, "number": one.chapter.number, "id": one.id}
            for one in given
        ]
        say_json({"ok": True, "given": facts})
    elif given:
        say(*(f"{catalog / one.file}: {called(one.chapter)}: id {one.id}" for one in given))
    else:
        say(f"{catalog}: every chapter has an id")


def highest(out: Path, previous: Path | None) -> int:
    """The highest id that is known of releases: those that are there, and one that was published elsewhere."""
    store = Store(out)
    manifests = [store.manifest_path(release) for release in (store.current(), *store.older())]
    highest_ids = []
    for path in (*manifests, previous):
        with ManifestReader(path) as ledger:
            highest_ids.append(ledger.highest_id)
    return max(highest_ids)


def called(chapter: Chapter) -> str:
    volume = f"volume {chapter.volume}, " if chapter.volume else ""
    return f"{volume}chapter {chapter.number}"
