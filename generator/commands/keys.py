"""`keys`: who may read what is restricted."""

import click

from ..authoring import key_entries
from ..catalog.confined_folder import ConfinedFolder
from . import options
from .help import CommandGroup
from .output import print_json, print_lines
from .reporting import handle_errors

_AT_ONCE = "the next build and reload of nginx make it so"


@click.group(cls=CommandGroup)
def keys() -> None:
    """Create, list and revoke API keys."""


@keys.command(examples=["keys add reader-app", "keys add ada-phone --account ada"])
@options.catalog
@click.argument("name")
@click.option("--account", metavar="USER", help="Whose bookmarks and profile the key opens.")
@handle_errors
def add(catalog: ConfinedFolder, name: str, account: str | None) -> None:
    """Create a key and print it once."""
    key = key_entries.add_key(catalog, name, account)
    # Alone on stdout, so that it can be piped to whoever it is for.
    print_lines(key)
    print_lines(f"this is the key {name}; keep it, it is shown only now; {_AT_ONCE}", err=True)


@keys.command("list", examples=["keys list"])
@options.catalog
@options.as_json
@handle_errors
def list_(catalog: ConfinedFolder, as_json: bool) -> None:
    """List the keys.

    Prints name, account and file of each key.
    """
    found = key_entries.list_keys(catalog)
    if as_json:
        facts = [{"name": one.name, "account": one.account, "file": one.file} for one in found]
        print_json({"ok": True, "keys": facts})
        return
    for one in found:
        account = f" of {one.account}" if one.account else ""
        print_lines(f"{one.name}{account} ({one.file})")
    if not found:
        print_lines(f"{catalog}: there are no keys", err=True)


@keys.command(examples=["keys revoke reader-app"])
@options.catalog
@click.argument("name")
@handle_errors
def revoke(catalog: ConfinedFolder, name: str) -> None:
    """Revoke a key."""
    key_entries.revoke_key(catalog, name)
    print_lines(f"the key {name} is revoked; {_AT_ONCE}")
