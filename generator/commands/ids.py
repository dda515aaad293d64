"""`ids`: what a chapter is called for ever, given by the machine."""

from pathlib import Path

import click

from .. import encode, manifest, tending
from ..store import Store
from . import options
from .reporting import reporting


@click.command()
@options.catalog
@options.out
@click.option("--previous", type=click.Path(path_type=Path), help="A manifest.json whose ids are not given again.")
@options.as_json
@reporting
def ids(catalog: Path, out: Path, previous: Path | None, as_json: bool) -> None:
    """Give an id to every chapter without one, in the catalog's files."""
    store = Store(out)
    known = [store.manifest(release) for release in (store.current(), store.previous())]
    if previous:
        known.append(manifest.load(previous.read_bytes(), str(previous)))
    given = tending.give_ids(catalog, max(one.highest_id for one in known))
    if as_json:
        facts = [
            {"file": one.file, "volume": one.chapter.volume, "number": one.chapter.number, "id": one.id}
            for one in given
        ]
        click.echo(encode.pretty({"ok": True, "given": facts}), nl=False)
    elif given:
        click.echo("\n".join(f"{catalog / one.file}: {_called(one)}: id {one.id}" for one in given))
    else:
        click.echo(f"{catalog}: every chapter has an id")


def _called(one: tending.Given) -> str:
    volume = f"volume {one.chapter.volume}, " if one.chapter.volume else ""
    return f"{volume}chapter {one.chapter.number}"
