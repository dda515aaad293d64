"""Rows -> the active accounts of readers, with bookmarks and digests of API keys; personal data only on request."""

import re
from typing import Literal

from ... import encoding
from ...catalog.records import Account
from ...errors import FlatpanelError, counted
from ...reading_sites.image_paths import image
from ...reading_sites.lenient import Fields, valid_fields
from ...reading_sites.notes import Notes
from ..records import ImportedAccounts
from . import rows
from .dumpdata import COMMANDS
from .tables import Row, Tables

# What is read of accounts; empty: nothing.
AccountData = Literal["", "accounts", "personal data"]
# The original service makes keys of 256 random bits. A shorter one could be found by its digest.
_KEY = re.compile("[0-9A-Fa-f]{64}")
_DELETED = "ANON-"
# The name of imported keys in accounts.yaml.
KEY_NAME = "MangAdventure"


def read(tables: Tables, media: str, notes: Notes, *, personal: bool) -> ImportedAccounts | None:
    """Return the records of the active accounts by username. The text of an API key is in none of them."""
    if tables.version == "0.4.5":
        notes.add("version 0.4.5 has no accounts of readers")
        return None
    _refuse_missing(tables)
    profiles = {row["user_id"]: row for row in tables.rows("users_userprofile")}
    api_keys: dict[int, str] = {row["user_id"]: row["key"] for row in tables.rows("users_apikey")}
    slugs = {row["id"]: row["slug"] for row in rows.series(tables)}
    # In the order in which they were made; "" for an unknown series.
    bookmarks: rows.Grouped = {}
    for row in tables.in_order("users_bookmark"):
        bookmarks.setdefault(row["user_id"], []).append(slugs.get(row["series_id"], ""))
    records: dict[str, Fields] = {}
    counts = dict.fromkeys(("inactive", "deleted", "keys", "bookmarks", "bad keys", "bad bookmarks"), 0)
    for user in tables.in_order("auth_user"):
        if not user["is_active"]:
            counts["deleted" if user["username"].startswith(_DELETED) else "inactive"] += 1
            continue
        key, marked = api_keys.get(user["id"]), bookmarks.get(user["id"], [])
        has_key = key is not None and _KEY.fullmatch(key) is not None
        counts["bad keys"] += key is not None and not has_key
        stated = {
            "username": user["username"],
            **(_personal(user, profiles.get(user["id"]), media) if personal else {}),
            "bookmarks": list(dict.fromkeys(slug for slug in marked if slug)),
            "keys": [{"name": KEY_NAME, "sha256": encoding.sha256(str(key).encode())}] if has_key else [],
        }
        # A username may be an email address.
        if record := valid_fields(Account, stated, f"account with the id {user['id']}", notes):
            records[record["username"]] = record
            counts["keys"] += has_key
            counts["bookmarks"] += len(stated["bookmarks"])
            counts["bad bookmarks"] += marked.count("")
    _note(records, counts, notes, personal=personal)
    return ImportedAccounts(records, has_personal_data=personal)


def _refuse_missing(tables: Tables) -> None:
    """Refuse a dump without accounts: in the next import, all keys would seem deleted."""
    has_accounts, has_more = (
        any(True for table in names for _ in tables.rows(table))
        for names in (("auth_user",), ("users_userprofile", "users_apikey", "users_bookmark"))
    )
    if not (has_accounts and has_more):
        fault = "profiles, API keys and bookmarks (users)" if has_accounts else "accounts (auth.user)"
        raise FlatpanelError(
            f"the database has no {fault}; import without --accounts, or write a dump with `{COMMANDS['0.9.6']}`"
        )


def _personal(user: Row, profile: Row | None, media: str) -> Fields:
    """Return names, email address, bio and avatar. A folder of avatars has the number of a profile as its name."""
    names = {name: user[name] for name in ("first_name", "last_name", "email")}
    if not profile:
        return names
    # An avatar below another folder than that of the account stays a URL.
    folder, url = f"users/{user['username']}/", rows.image_url(media, profile["avatar"])
    avatar = image(url, media, folder) if url else None
    return {**names, "bio": profile["bio"], "avatar": avatar}


def _note(records: dict[str, Fields], counts: dict[str, int], notes: Notes, *, personal: bool) -> None:
    """Note what is imported and what is left out, in numbers."""
    data = "" if personal else "; names, email addresses, bios and avatars only with --personal-data"
    keys, bookmarks = counted(counts["keys"], "API key"), counted(counts["bookmarks"], "bookmark")
    notes.add(f"{counted(len(records), 'account')} with {keys} and {bookmarks}{data}")
    if counts["inactive"] or counts["deleted"]:
        notes.add(f"{counts['inactive']} inactive and {counted(counts['deleted'], 'deleted account')}; left out")
    if counts["bad keys"]:
        notes.add(f"{counted(counts['bad keys'], 'API key')} without 64 digits 0-9 a-f; left out")
    if counts["bad bookmarks"]:
        notes.add(f"{counted(counts['bad bookmarks'], 'bookmark')} of unknown series; left out")
    emails = sum("@" in username for username in records)
    if emails and not personal:
        usernames = counted(emails, "username")
        notes.add(f"{usernames} with an @; keep accounts.yaml private if that is an email address")
