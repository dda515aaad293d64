"""`init`: create a project."""

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
@click.option("--name", help="Name of the project.  [default: name of DIR]")
@click.option("--base-url", default="http://localhost:8000", show_default=True, help="Scheme and host of the site.")
@handle_errors
def init(folder: Path, name: str | None, base_url: str) -> None:
    """Create a project in the folder DIR.

    Writes a small catalog that builds, a README, workflows and an nginx configuration.
    """
    # Slow to import, and not used by other commands.
    from ..authoring import scaffold

    files = scaffold.create_project(folder, name or folder.resolve().name, base_url, options.now())
    program = _program()
    steps = [
        f"cd {shlex.quote(str(folder.resolve()))}",
        f"{program} serve --watch",
        f'{program} new series my-comic --title "My comic"',
        f"{program} new chapter my-comic --pages FOLDER",
    ]
    readme = "README.md describes them" if "README.md" in files else "kept your README"
    print_lines(f"{folder}: created {len(files)} files; {readme}. Next steps:")
    print_lines(*(f"  {step}" for step in steps))


def _program() -> str:
    """Return the command that runs this program in a new shell, in any folder.

    A virtual environment is active in the current shell only, so its commands are printed with their full path.
    """
    script = Path(sys.argv[0]).absolute()
    in_environment = sys.prefix != sys.base_prefix
    if script.suffix == ".py":
        return f"{_command(Path(sys.executable), in_environment)} {shlex.quote(str(script))}"
    return _command(script, in_environment)


def _command(path: Path, in_environment: bool) -> str:
    on_path = shutil.which(path.name)
    is_on_path = not in_environment and on_path is not None and Path(on_path).resolve() == path.resolve()
    return path.name if is_on_path else shlex.quote(str(path))
