"""`init`: from nothing to a catalog that builds."""

import os
import shlex
import sys
from pathlib import Path

import click

from . import options
from .reporting import reporting


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", help="What the project is called.  [default: as the folder]")
@click.option("--base-url", default="http://localhost:8000", show_default=True, help="Scheme and host of the site.")
@reporting
def init(folder: Path, name: str | None, base_url: str) -> None:
    """Begin a project in DIR: a small catalog that builds at once, and what surrounds it."""
    # Takes its time to load, and nothing else needs it.
    from .. import scaffold

    files = scaffold.start(folder, name or folder.resolve().name, base_url, options.now())
    program = _program(folder)
    steps = [
        *([f"cd {shlex.quote(str(folder))}"] if folder.resolve() != Path.cwd() else []),
        f"{program} serve --watch",
        f'{program} new series my-comic --title "My comic"',
        f"{program} new chapter my-comic --pages FOLDER",
    ]
    click.echo(f"{folder}: {len(files)} files; README.md says what each is for. What to type next:")
    click.echo("\n".join(f"  {step}" for step in steps))


def _program(folder: Path) -> str:
    """How this program is called from inside the folder, if it is called as it was just now."""
    script = Path(sys.argv[0]).absolute()
    if script.suffix != ".py":
        return script.name
    return f"python {shlex.quote(min(str(script), os.path.relpath(script, folder.resolve()), key=len))}"
