"""`keys`: create, list and revoke API keys."""

import click

from ..authoring import key_entries
from ..catalog.confined_folder import ConfinedFolder
from ..errors import FlatpanelError
from . import options
from .help import CommandGroup
from .output import is_stdout_closed, print_json, print_lines
from .reporting import handle_errors

_EFFECT = "Takes effect after the next build and nginx reload."


@click.group(cls=CommandGroup)
def keys() -> None:
    """Create, list and revoke API keys."""


@keys.command(examples=["keys add reader-app", "keys add ada-phone --account ada"])
@options.catalog
@click.argument("name")
@click.option("--account", metavar="USER", help="Account whose bookmarks and profile the key can read.")
@handle_errors
def add(catalog: ConfinedFolder, name: str, account: str | None) -> None:
    """Create an API key and print it once."""
    if is_stdout_closed():
        raise FlatpanelError("standard output: is closed, so the key cannot be shown; no key was created")
    # Only the key goes to stdout, so that it can be piped.
    key_entries.add_key(catalog, name, account, print_lines)
    print_lines(f'key "{name}" created; store it now, it cannot be shown again. {_EFFECT}', err=True)


@keys.command("list", examples=["keys list"])
@options.catalog
@options.as_json
@handle_errors
def list_(catalog: ConfinedFolder, as_json: bool) -> None:
    """List the API keys.

    Prints name, account and file of each key.
    """
    keys = key_entries.list_keys(catalog)
    if as_json:
        entries = [{"name": key.name, "account": key.account, "file": key.file} for key in keys]
        print_json({"ok": True, "keys": entries})
        return
    for key in keys:
        account = f" of {key.account}" if key.account else ""
        print_lines(f"{key.name}{account} ({key.file})")
    if not keys:
        print_lines(f"{catalog}: no keys", err=True)


@keys.command(examples=["keys revoke reader-app"])
@options.catalog
@click.argument("name")
@handle_errors
def revoke(catalog: ConfinedFolder, name: str) -> None:
    """Revoke an API key."""
    key_entries.revoke_key(catalog, name)
    print_lines(f'key "{name}" revoked. {_EFFECT}')
