"""`verify`: is it still what was promised?"""

from pathlib import Path

import click

from .. import verify_files, verify_server
from ..store import Store
from . import options
from .output import say, say_json
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
        say_json({"ok": not found, "differences": found})
    elif found:
        say(*found, err=True)
    else:
        say(f"{url or out}: everything is as release {built.current()} says")
    if found:
        raise SystemExit(1)
