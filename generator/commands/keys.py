"""`keys`: create, list and revoke API keys."""

import click

from ..authoring import key_entries
from ..catalog.confined_folder import ConfinedFolder
from ..errors import FlatpanelError
from . import options
from .command import CommandGroup, Result, show
from .output import is_stdout_closed, note

_EFFECT = "Takes effect after the next build and nginx reload."


@click.group(cls=CommandGroup)
def keys() -> None:
    """Create, list and revoke API keys."""


@keys.command(examples=["keys add reader-app", "keys add ada-phone --account ada"])
@options.catalog
@click.argument("name")
@click.option("--account", metavar="USER", help="Account whose bookmarks and profile the key can read.")
def add(catalog: ConfinedFolder, name: str, account: str | None) -> Result:
    """Create an API key and print it once."""
    if is_stdout_closed():
        raise FlatpanelError("standard output: is closed, so the key cannot be shown; no key was created")
    # Only the key goes to stdout, so that it can be piped.
    key_entries.add_key(catalog, name, account, lambda key: show([key]))
    created = f'key "{name}" created; store it now, it cannot be shown again. {_EFFECT}'
    return Result(lambda: [note(created)])


@keys.command("list", examples=["keys list"])
@options.catalog
@options.as_json
def list_(catalog: ConfinedFolder) -> Result:
    """List the API keys.

    Prints name, account and file of each key.
    """
    keys = key_entries.list_keys(catalog)
    entries = [{"name": key.name, "account": key.account, "file": key.file} for key in keys]
    lines = [f"{key.name}{f' of {key.account}' if key.account else ''} ({key.file})" for key in keys]
    return Result(lambda: lines or [note(f"{catalog}: no keys")], lambda: {"ok": True, "keys": entries})


@keys.command(examples=["keys revoke reader-app"])
@options.catalog
@click.argument("name")
def revoke(catalog: ConfinedFolder, name: str) -> Result:
    """Revoke an API key."""
    key_entries.revoke_key(catalog, name)
    return Result(lambda: [f'key "{name}" revoked. {_EFFECT}'])
