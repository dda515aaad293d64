"""`keys`: who may read what is restricted."""

import click

from ..authoring import key_entries
from ..catalog.confined_folder import Confined
from . import options
from .output import say, say_json
from .reporting import reporting

_AT_ONCE = "the next build and reload of nginx make it so"


@click.group()
def keys() -> None:
    """Make, list and revoke keys to what is restricted."""


@keys.command()
@options.catalog
@click.argument("name")
@click.option("--account", metavar="USER", help="Whose bookmarks and profile the key opens.")
@reporting
def add(catalog: Confined, name: str, account: str | None) -> None:
    """Make a key and print it, for the only time."""
    key = key_entries.add_key(catalog, name, account)
    # Alone on stdout, so that it can be piped to whoever it is for.
    say(key)
    say(f"this is the key {name}; keep it, it is shown only now; {_AT_ONCE}", err=True)


@keys.command("list")
@options.catalog
@options.as_json
@reporting
def list_(catalog: Confined, as_json: bool) -> None:
    """Print the names of all keys, whose they are and where they are kept."""
    found = key_entries.list_keys(catalog)
    if as_json:
        facts = [{"name": one.name, "account": one.account, "file": one.file} for one in found]
        say_json({"ok": True, "keys": facts})
        return
    for one in found:
        account = f" of {one.account}" if one.account else ""
        say(f"{one.name}{account} ({one.file})")
    if not found:
        say(f"{catalog}: there are no keys", err=True)


@keys.command()
@options.catalog
@click.argument("name")
@reporting
def revoke(catalog: Confined, name: str) -> None:
    """Forget a key; it opens nothing any more."""
    key_entries.revoke_key(catalog, name)
    say(f"the key {name} is revoked; {_AT_ONCE}")
