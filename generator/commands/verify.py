"""`verify`: is it still what was promised?"""

from pathlib import Path

import click

from .. import encode, verify_files, verify_server
from ..store import Store
from . import options
from .reporting import reporting


@click.command()
@options.out
@options.as_json
@click.option("--url", help="Ask a running server for everything instead, like http://localhost:8000.")
@reporting
def verify(out: Path, url: str | None, as_json: bool) -> None:
    """Compare what was built, or what a server answers, with what the release promises."""
    built = Store(out)
    found = list(verify_files.files(built) if url is None else verify_server.server(built, url))
    if as_json:
        click.echo(encode.pretty({"ok": not found, "differences": found}), nl=False)
    elif found:
        click.echo("\n".join(found), err=True)
    else:
        click.echo(f"{url or out}: everything is as release {built.current()} says")
    if found:
        raise SystemExit(1)
