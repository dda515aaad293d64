"""`init`: from nothing to a catalog that builds."""

import shlex
import shutil
import sys
from pathlib import Path

import click

from . import options
from .help import Command
from .output import print_lines
from .reporting import handle_errors


@click.command(cls=Command, examples=['init my-comics --name "My Comics"'])
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", help="What the project is called.  [default: as the folder]")
@click.option("--base-url", default="http://localhost:8000", show_default=True, help="Scheme and host of the site.")
@handle_errors
def init(folder: Path, name: str | None, base_url: str) -> None:
    """Begin a project in DIR.

    Writes a small catalog that builds at once, and the files around it.
    """
    # Takes its time to load, and nothing else needs it.
    from ..authoring import scaffold

    files = scaffold.start(folder, name or folder.resolve().name, base_url, options.now())
    program = _program()
    steps = [
        f"cd {shlex.quote(str(folder.resolve()))}",
        f"{program} serve --watch",
        f'{program} new series my-comic --title "My comic"',
        f"{program} new chapter my-comic --pages FOLDER",
    ]
    kept = "; README.md says what each is for" if "README.md" in files else "; your README was kept"
    print_lines(f"{folder}: {len(files)} files{kept}. What to type next:")
    print_lines(*(f"  {step}" for step in steps))


def _program() -> str:
    """How a new shell calls this program from any folder.

    The path of a virtual environment's commands is set in this shell alone, so those are named in full.
    """
    script = Path(sys.argv[0]).absolute()
    in_environment = sys.prefix != sys.base_prefix
    if script.suffix == ".py":
        return f"{_command(Path(sys.executable), in_environment)} {shlex.quote(str(script))}"
    return _command(script, in_environment)


def _command(path: Path, in_environment: bool) -> str:
    on_path = shutil.which(path.name)
    is_found = not in_environment and on_path is not None and Path(on_path).resolve() == path.resolve()
    return path.name if is_found else shlex.quote(str(path))
