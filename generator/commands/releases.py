"""`rollback` and `export`: what to do with a release that is there already."""

from pathlib import Path

import click

from ..store import Store
from . import options
from .build import waiting
from .output import say
from .reporting import reporting


@click.command()
@options.out
@reporting
def rollback(out: Path) -> None:
    """Make the release before this one the current one again."""
    with Store(out).locked(waiting(out)) as session:
        release = session.roll_back()
    say(f"{out}: release {release} is current again; reload nginx to serve it")


@click.command()
@options.out
@click.argument("target", metavar="DIR", type=click.Path(path_type=Path))
@reporting
def export(out: Path, target: Path) -> None:
    """Write the current release as a plain tree, for hosts that are not nginx."""
    count = Store(out).export(target)
    say(f"{target}: {count} resources")
