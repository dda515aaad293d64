"""Merge the accounts of a database into a catalog: fields as everywhere else, API keys one by one.

A key that the source lost or that its owner replaced is removed here; a key that people added here stays, and a key
that they removed does not come back.
"""

from collections.abc import Iterator
from typing import Any

from ..catalog.reader import Entry
from ..catalog.records import Account
from ..reading_sites.lenient import Fields
from .merge_fields import (
    ACCOUNTS,
    KEYS,
    REMOVED_HERE,
    FieldChange,
    MergeState,
    Place,
    Removal,
    compare,
    gone,
    is_edited,
    slugs_after,
)

# Imported only on request. Otherwise the values of the last import stay in its memory.
PERSONAL_DATA = ("first_name", "last_name", "email", "bio", "avatar")


class AccountMerge:
    """Compares the accounts of an import with those of the catalog, after its series."""

    def __init__(self, state: MergeState) -> None:
        assert state.imported.accounts
        self.state, self.site = state, state.imported.accounts
        self.here = {entry.record.username: entry for entry in state.sources.lists[ACCOUNTS]}
        self.last: dict[str, Fields] = state.last_of("accounts")
        # The owner of each digest in the catalog; "" for a key without an account in accounts.yaml.
        self.owners = {entry.record.sha256: "" for entry in state.sources.lists[KEYS]}
        self.owners |= {key.sha256: name for name, entry in self.here.items() for key in entry.record.keys}
        self.key_names = {entry.record.name for entry in state.sources.lists[KEYS]}

    def merge(self) -> None:
        """Plan new accounts, changes and removals."""
        renamed = dict(self._renamed())
        self._move_memory(renamed)
        slugs, dropped = slugs_after(self.state), 0
        for username, record in self.site.records.items():
            bookmarks = record.get("bookmarks", [])
            record["bookmarks"] = [slug for slug in bookmarks if slug in slugs]
            dropped += len(bookmarks) - len(record["bookmarks"])
            if entry := self.here.get(username) or self.here.get(renamed.get(username, "")):
                self._compare(entry, record)
            elif username in self.last:
                self.state.notes.add(REMOVED_HERE, f"account {username}")
            else:
                fields = {name: value for name, value in record.items() if name != "keys" and value}
                keys = list(self._added_keys(username, record, set()))
                self.state.plan.lists.setdefault("accounts", []).append(fields | ({"keys": keys} if keys else {}))
        if dropped:
            self.state.notes.add(f"{dropped} bookmarks of series that are not in the catalog; left out")
        self._gone({*self.site.records, *renamed.values()})

    def _renamed(self) -> Iterator[tuple[str, str]]:
        """Yield the new and the old username of each account that has the same API key under another name."""
        for username, record in self.site.records.items():
            if username not in self.here and username not in self.last:
                owners = {self.owners.get(key["sha256"]) for key in record.get("keys", ())}
                for owner in owners & self.last.keys() & self.here.keys() - self.site.records.keys():
                    yield username, str(owner)

    def _move_memory(self, renamed: dict[str, str]) -> None:
        for new, old in renamed.items():
            self.last[new] = self.last.pop(old) | {"username": old}
        if renamed:
            self.state.last["accounts"] = self.last

    def _compare(self, entry: Entry[Account], record: Fields) -> None:
        username, last = record["username"], self.last.get(record["username"])
        hidden = () if self.site.has_personal_data else PERSONAL_DATA
        site, before = (
            {name: value for name, value in fields.items() if name != "keys" and name not in hidden}
            for fields in (record, last or {})
        )
        place = Place(("accounts", username), f"account {username}", PERSONAL_DATA)
        compare(self.state, entry, site, before or None, place)
        if username != entry.record.username:
            self._rename_in_keys(entry.record.username, username)
        self._compare_keys(entry, record)

    def _rename_in_keys(self, before: str, after: str) -> None:
        for key in self.state.sources.lists[KEYS]:
            if key.record.account == before:
                change = FieldChange(key.file, key.path, "account", after, is_spelled=True)
                self.state.plan.changes.append(change)

    def _compare_keys(self, entry: Entry[Account], record: Fields) -> None:
        last = _digests(self.last.get(record["username"], {}))
        lost = last - _digests(record)
        kept = [key.model_dump() for key in entry.record.keys if key.sha256 not in lost]
        keys = kept + list(self._added_keys(entry.record.username, record, last))
        if keys != [key.model_dump() for key in entry.record.keys]:
            value: Any = keys or None
            self.state.plan.changes.append(FieldChange(entry.file, entry.path, "keys", value, is_spelled=True))

    def _added_keys(self, owner: str, record: Fields, last: set[str]) -> Iterator[Fields]:
        """Yield the keys of an account that the catalog does not have; `last` are those that it had."""
        for key in record.get("keys", ()):
            if key["sha256"] not in last and key["sha256"] not in self.owners:
                yield {**key, "name": self._free_name(key["name"])}
            elif self.owners.get(key["sha256"], owner) != owner:
                sentence = "its API key belongs to another account of the catalog, or to none; not changed"
                self.state.notes.add(sentence, f"account {record['username']}")

    def _free_name(self, name: str) -> str:
        """Return the name for a key; no key in `keys.yaml` has it."""
        names = (f"{name} {count}" if count > 1 else name for count in range(1, len(self.key_names) + 2))
        return next(free for free in names if free not in self.key_names)

    def _gone(self, present: set[str]) -> None:
        """Remove the imported keys of accounts that the source no longer has, and the accounts if that is wanted."""
        for username in sorted(self.last.keys() & self.here.keys() - present):
            entry, last = self.here[username], self.last[username]
            edited = is_edited(self.state, entry.record, last)
            count = len(self.state.plan.removals)
            gone(self.state, [Removal(entry.file, entry.path)], f"account {username}", is_edited=edited)
            if len(self.state.plan.removals) == count and last.get("keys"):
                self.state.notes.add(
                    "inactive or removed on the site; loses its imported API keys", f"account {username}"
                )
                self._compare_keys(entry, {"username": username})


def _digests(record: Fields) -> set[str]:
    return {key["sha256"] for key in record.get("keys", ())}
