"""List, add and revoke the API keys of a catalog."""

from collections.abc import Callable
from dataclasses import dataclass

from .. import encoding
from ..catalog import api_keys, confined_folder, layout
from ..catalog.confined_folder import Folder
from ..catalog.messages import record_errors
from ..catalog.problems import locate
from ..catalog.problems.load import load_valid
from ..catalog.reader import Sources
from ..catalog.records import IssuedKey
from ..catalog.suggestions import did_you_mean
from ..catalog.yaml import editor
from ..errors import FlatpanelError, about
from ..filesystem import exclusive

ACCOUNTS = "accounts.yaml"
KEYS = "keys.yaml"


@dataclass(frozen=True, slots=True)
class NamedKey:
    """The name and account of a key, and its place in a file."""

    name: str
    account: str | None
    file: str
    index: int


def list_keys(folder: Folder) -> list[NamedKey]:
    """Return the keys in `accounts.yaml`, then those in `keys.yaml`."""
    return _keys(load_valid(folder))


def add_key(folder: Folder, name: str, account: str | None, show: Callable[[str], None]) -> None:
    """Create a key, `show` it, and write its digest to `keys.yaml`."""
    with exclusive(layout.existing(folder)):
        sources = load_valid(folder)
        usernames = {entry.record.username for entry in sources.lists[ACCOUNTS]}
        if account is not None and account not in usernames:
            raise FlatpanelError(f"no account has the username {account}{did_you_mean(account, usernames)}")
        if any(key.name == name for key in _keys(sources)):
            raise FlatpanelError(f"a key named {name} already exists; revoke it or choose another name")
        key = api_keys.new_key()
        fields = {"name": name} | ({"account": account} if account else {}) | {"sha256": encoding.sha256(key.encode())}
        # Such a key would be a problem in the next build.
        if api_keys.contains_key(name):
            raise FlatpanelError("the name is itself an API key; names are public, choose another one")
        for _, message in record_errors(IssuedKey, fields):
            raise FlatpanelError(f"the name {message}")
        text = locate.text(folder, KEYS) or b"# Digests of API keys, written by `keys add`.\n"
        # The file may be public: a digest of 256 random bits cannot be inverted.
        with about(folder / KEYS):
            after = editor.with_item(text, fields)
        # Before it is stored: a key that exists but was never seen would stay valid unnoticed.
        show(key)
        try:
            confined_folder.of(folder).write(KEYS, after)
        except OSError as error:
            error.strerror = f"{error.strerror}; discard the printed key, it was not stored"
            raise


def revoke_key(folder: Folder, name: str) -> None:
    """Remove a key from `keys.yaml`; a key in `accounts.yaml` is refused."""
    with exclusive(layout.existing(folder)):
        keys = {key.name: key for key in _keys(load_valid(folder))}
        if name not in keys:
            raise FlatpanelError(f"no key is named {api_keys.redacted(name)}{did_you_mean(name, keys)}")
        key = keys[name]
        if key.file != KEYS:
            raise FlatpanelError(
                f"{folder / key.file}: key {name} of account {key.account} is in this file; remove it there"
            )
        text = locate.text(folder, KEYS)
        with about(folder / KEYS):
            after = editor.without_item(text, key.index)
        confined_folder.of(folder).write(KEYS, after)


def _keys(sources: Sources) -> list[NamedKey]:
    of_accounts = [
        NamedKey(key.name, entry.record.username, ACCOUNTS, index)
        for entry in sources.lists[ACCOUNTS]
        for index, key in enumerate(entry.record.keys)
    ]
    issued = enumerate(entry.record for entry in sources.lists[KEYS])
    return of_accounts + [NamedKey(key.name, key.account, KEYS, index) for index, key in issued]
