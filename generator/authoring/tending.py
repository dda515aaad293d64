"""What the command line does to a catalog for people: ids for new chapters, keys, and counted views.

A catalog that cannot be built is not touched either, and what is written is known before the first file is.
"""

import gzip
import io
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from .. import encoding
from ..catalog import api_keys, confined_folder, cross_checks, git, reader
from ..catalog.confined_folder import Folder
from ..catalog.problems import locate
from ..catalog.problems.messages import did_you_mean, sentences
from ..catalog.reader import VIEWS, Sources
from ..catalog.records import MAX_ID, Chapter, IssuedKey
from ..catalog.yaml import editor
from ..errors import CatalogError, FlatpanelError
from ..filesystem import alone
from . import view_log
from .view_log import Memory, Tally

ACCOUNTS = "accounts.yaml"
KEYS = "keys.yaml"
Warn = Callable[[str], None]
# Beside the counts, but of no interest to people: which requests are in them.
SEEN = ".views-seen.json"
# A request takes some 20 bytes of it.
_MAX_SEEN = 1 << 30


@dataclass(frozen=True, slots=True)
class Given:
    """A chapter and the id that it has now."""

    file: str
    chapter: Chapter
    id: int


def give_ids(folder: Folder, highest: int, warn: Warn) -> list[Given]:
    """Give an id to every chapter that lacks one; answers with them in the order of their ids.

    No id comes back that a chapter has, had in the catalog's history, or had up to `highest` in a release.
    """
    with alone(reader.existing(folder)):
        sources = checked(folder)
        lacking = cross_checks.without_id(sources)
        if not lacking:
            return []
        given = list(zip(lacking, free_ids(folder, sources, highest, warn, len(lacking)), strict=True))
        texts = {}
        for file, group in groupby(sorted(given, key=lambda pair: pair[0].file), key=lambda pair: pair[0].file):
            ids = {entry.path: number for entry, number in group}
            text = locate.text(folder, file)
            texts[file] = edited(folder, file, partial(editor.with_first_field, text, "id", ids))
        for file, text in texts.items():
            confined_folder.of(folder).write(file, text)
        return [Given(entry.file, entry.record, number) for entry, number in given]


def free_ids(folder: Folder, sources: Sources, highest: int, warn: Warn, count: int = 1) -> range:
    """The next ids that no chapter has, had in the catalog's history, or had up to `highest` in a release."""
    try:
        repository = git.Repository.around(Path(folder))
        committed = repository.ids_ever() if repository else set()
    except git.GitError as error:
        warn(f"{folder}: {error}; an id that only git remembers may be given again")
        committed = set()
    known = (one for one in committed if one <= MAX_ID)
    first = 1 + max((highest, *cross_checks.ids(sources), *known))
    if first + count - 1 > MAX_ID:
        raise FlatpanelError(
            f"{folder}: no id up to {MAX_ID} is left above those that chapters had; write one yourself"
        )
    return range(first, first + count)


@dataclass(frozen=True, slots=True)
class NamedKey:
    """A key as it may be shown, and where it is kept."""

    name: str
    account: str | None
    file: str
    index: int


def list_keys(folder: Folder) -> list[NamedKey]:
    """Those that people wrote into accounts, then those that were made here."""
    return _keys(checked(folder))


def add_key(folder: Folder, name: str, account: str | None) -> str:
    """Make a key, keep its digest, and answer with it for the only time."""
    with alone(reader.existing(folder)):
        sources = checked(folder)
        usernames = {entry.record.username for entry in sources.lists[ACCOUNTS]}
        if account is not None and account not in usernames:
            raise FlatpanelError(f"no account has the username {account}{did_you_mean(account, usernames)}")
        if any(one.name == name for one in _keys(sources)):
            raise FlatpanelError(f"there is a key named {name} already; revoke it or choose another name")
        key = api_keys.new_key()
        fields = {"name": name} | ({"account": account} if account else {}) | {"sha256": api_keys.digest(key)}
        _check_key(fields)
        text = locate.text(folder, KEYS) or b"# Keys by their digests, made by the command `keys`.\n"
        # A digest of 256 random bits leads nobody back to them, so everybody may read this file.
        confined_folder.of(folder).write(KEYS, edited(folder, KEYS, partial(editor.with_item, text, fields)))
        return key


def revoke_key(folder: Folder, name: str) -> None:
    """Forget a key that was made here; one that people wrote is theirs to remove."""
    with alone(reader.existing(folder)):
        known = {one.name: one for one in _keys(checked(folder))}
        if name not in known:
            raise FlatpanelError(f"no key is named {api_keys.hidden(name)}{did_you_mean(name, known)}")
        key = known[name]
        if key.file != KEYS:
            raise FlatpanelError(
                f"{folder / key.file}: the key {name} of {key.account} is written there; remove it there"
            )
        text = locate.text(folder, KEYS)
        confined_folder.of(folder).write(KEYS, edited(folder, KEYS, partial(editor.without_item, text, key.index)))


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
    if api_keys.hidden(fields["name"]) != fields["name"]:
        raise FlatpanelError("the name of a key cannot be a key; names are shown to everybody")
    for wrong in sentences(IssuedKey, fields):
        raise FlatpanelError(f"the name {wrong}")


@dataclass(frozen=True, slots=True)
class Folded:
    """What came of the lines of some logs; `unreadable` counts those that say nothing, by log."""

    tally: Tally
    unreadable: dict[str, int]


def fold_views(folder: Folder, logs: Iterable[Path]) -> Folded:
    """Count what the logs hold and has not been counted, into the file that the next build reads."""
    with alone(reader.existing(folder)):
        sources = checked(folder)
        before = locate.text(folder, VIEWS)
        memory = _memory(folder)
        interrupted = memory.counts if memory.over == encoding.sha256(before) else {}
        tally = Tally(sources.views | interrupted, memory.seen, memory.closed)
        unreadable = {str(log): _add(tally, log) for log in logs}
        tally.forget()
        changed = dict(tally.counts.items() - sources.views.items())
        text = "# Views by the ids of chapters, counted by the command `views`.\n" + "".join(
            f"{chapter}: {count}\n" for chapter, count in sorted(tally.counts.items(), key=lambda one: int(one[0]))
        )
        confined_folder.of(folder).write(
            SEEN, view_log.dump(Memory(tally.seen, tally.closed, encoding.sha256(before), changed))
        )
        confined_folder.of(folder).write(VIEWS, text.encode())
        return Folded(tally, {log: count for log, count in unreadable.items() if count})


def _memory(folder: Folder) -> Memory:
    try:
        text, _ = confined_folder.of(folder).content(SEEN, _MAX_SEEN)
        return view_log.load(text) if text else Memory()
    except FileNotFoundError:
        return Memory()
    except ValueError:
        raise FlatpanelError(
            f"{folder / SEEN}: is damaged; take it from a backup, or remove it and give no log again"
        ) from None


def _add(tally: Tally, log: Path) -> int:
    try:
        with log.open("rb") as opened:
            packed = opened.peek(2).startswith(b"\x1f\x8b")
            plain = io.BufferedReader(gzip.GzipFile(fileobj=opened)) if packed else opened
            return tally.add(view_log.lines(plain))
    except (OSError, EOFError, zlib.error) as error:
        raise FlatpanelError(f"{log}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def checked(folder: Folder) -> Sources:
    """Everything that a catalog says, if it could be built."""
    sources = reader.read(folder)
    found = sources.complaints + cross_checks.complaints(sources)
    if found:
        raise CatalogError(locate.located(folder, found))
    return sources


def edited(folder: Folder, file: str, change: Callable[[], bytes]) -> bytes:
    """An edit that cannot be made knows why, but not in which file."""
    try:
        return change()
    except FlatpanelError as error:
        raise FlatpanelError(f"{folder / file}: {error}") from None
