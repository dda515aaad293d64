"""List, add and revoke the API keys of a catalog."""

from dataclasses import dataclass
from functools import partial

from .. import encoding
from ..catalog import api_keys, confined_folder, layout
from ..catalog.confined_folder import Folder
from ..catalog.load import load_valid
from ..catalog.problems import locate
from ..catalog.problems.messages import record_messages
from ..catalog.problems.suggestions import did_you_mean
from ..catalog.reader import Sources
from ..catalog.records import IssuedKey
from ..catalog.yaml import editor
from ..errors import FlatpanelError
from ..filesystem import exclusive
from . import catalog_edit

ACCOUNTS = "accounts.yaml"
KEYS = "keys.yaml"


@dataclass(frozen=True, slots=True)
class NamedKey:
    """A key as it may be shown, and where it is kept."""

    name: str
    account: str | None
    file: str
    index: int


def list_keys(folder: Folder) -> list[NamedKey]:
    """Those that people wrote into accounts, then those that were made here."""
    return _keys(load_valid(folder))


def add_key(folder: Folder, name: str, account: str | None) -> str:
    """Make a key, keep its digest, and answer with it for the only time."""
    with exclusive(layout.existing(folder)):
        sources = load_valid(folder)
        usernames = {entry.record.username for entry in sources.lists[ACCOUNTS]}
        if account is not None and account not in usernames:
            raise FlatpanelError(f"no account has the username {account}{did_you_mean(account, usernames)}")
        if any(one.name == name for one in _keys(sources)):
            raise FlatpanelError(f"there is a key named {name} already; revoke it or choose another name")
        key = api_keys.new_key()
        fields = {"name": name} | ({"account": account} if account else {}) | {"sha256": encoding.sha256(key.encode())}
        _check_key(fields)
        text = locate.text(folder, KEYS) or b"# Keys by their digests, made by the command `keys`.\n"
        # A digest of 256 random bits leads nobody back to them, so everybody may read this file.
        confined_folder.of(folder).write(
            KEYS, catalog_edit.edited(folder, KEYS, partial(editor.with_item, text, fields))
        )
        return key


def revoke_key(folder: Folder, name: str) -> None:
    """Forget a key that was made here; one that people wrote is theirs to remove."""
    with exclusive(layout.existing(folder)):
        known = {one.name: one for one in _keys(load_valid(folder))}
        if name not in known:
            raise FlatpanelError(f"no key is named {api_keys.redacted(name)}{did_you_mean(name, known)}")
        key = known[name]
        if key.file != KEYS:
            raise FlatpanelError(
                f"{folder / key.file}: the key {name} of {key.account} is written there; remove it there"
            )
        text = locate.text(folder, KEYS)
        confined_folder.of(folder).write(
            KEYS, catalog_edit.edited(folder, KEYS, partial(editor.without_item, text, key.index))
        )


def _keys(sources: Sources) -> list[NamedKey]:
    written = [
        NamedKey(key.name, entry.record.username, ACCOUNTS, index)
        for entry in sources.lists[ACCOUNTS]
        for index, key in enumerate(entry.record.keys)
    ]
    made = enumerate(entry.record for entry in sources.lists[KEYS])
    return written + [NamedKey(key.name, key.account, KEYS, index) for index, key in made]


def _check_key(fields: dict[str, str]) -> None:
    """Nothing is written that would be a problem in the next moment."""
    if api_keys.redacted(fields["name"]) != fields["name"]:
        raise FlatpanelError("the name of a key cannot be a key; names are shown to everybody")
    for wrong in record_messages(IssuedKey, fields):
        raise FlatpanelError(f"the name {wrong}")
