"""What the command line does to a catalog for people: ids for new chapters, keys, and counted views."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from . import checks, edit, encode, history, keys, source
from .errors import CatalogError, FlatpanelError
from .manifest import Manifest
from .model import MAX_ID
from .source import VIEWS, Sources
from .store import write_if_changed
from .views import Tally

KEYS = "keys.yaml"
# Beside the counts, but of no interest to people: which requests are in them.
SEEN = ".views-seen.json"


def give_ids(folder: Path, known: Manifest) -> list[tuple[str, int]]:
    """Give an id to every chapter that lacks one; answers with the files and the ids, in the order given.

    No id comes back that a chapter has, had in the catalog's history, or had in a release that is known.
    """
    sources = source.read(folder)
    _refuse(folder, sources, ids_required=False)
    lacking = checks.without_id(sources)
    first = 1 + max((0, known.highest_id, *checks.ids(sources), *history.ids_ever(folder)))
    if first + len(lacking) - 1 > MAX_ID:
        raise FlatpanelError(f"{folder}: there are no ids left below {MAX_ID}")
    given = list(zip(lacking, range(first, first + len(lacking)), strict=True))
    for file, group in groupby(sorted(given, key=lambda pair: pair[0].file), key=lambda pair: pair[0].file):
        text = (folder / file).read_bytes()
        numbers = {entry.path: number for entry, number in group}
        with _named(folder / file):
            write_if_changed(folder / file, edit.with_first_field(text, "id", numbers))
    return [(entry.file, number) for entry, number in given]


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """An edit that cannot be made knows why, but not in which file."""
    try:
        yield
    except FlatpanelError as error:
        raise FlatpanelError(f"{path}: {error}") from None


def add_key(folder: Path, name: str, account: str | None) -> str:
    """Make a key, keep its digest, and answer with it for the only time."""
    sources = source.read(folder)
    _refuse(folder, sources)
    if account is not None and account not in {entry.record.username for entry in sources.lists["accounts.yaml"]}:
        raise FlatpanelError(f"{folder / 'accounts.yaml'}: has no account with the username {account}")
    if any(entry.record.name == name for entry in sources.lists[KEYS]):
        raise FlatpanelError(f"{folder / KEYS}: has a key named {name} already; revoke it or choose another name")
    key = keys.new_key()
    fields = {"name": encode.json(name).decode(), "account": account or "", "sha256": keys.digest(key)}
    path = folder / KEYS
    text = path.read_bytes() if path.exists() else b"# Keys by their digests; `build.py keys` writes this file.\n"
    with _named(path):
        added = edit.with_item(text, {field: value for field, value in fields.items() if value})
    write_if_changed(path, added)
    return key


def revoke_key(folder: Path, name: str) -> None:
    sources = source.read(folder)
    _refuse(folder, sources)
    indexes = [entry.path[0] for entry in sources.lists[KEYS] if entry.record.name == name]
    if not indexes:
        written = [key.name for entry in sources.lists["accounts.yaml"] for key in entry.record.keys]
        hint = f"; it stands in {folder / 'accounts.yaml'}, remove it there" if name in written else ""
        raise FlatpanelError(f"{folder / KEYS}: has no key named {name}{hint}")
    path = folder / KEYS
    text = path.read_bytes()
    with _named(path):
        write_if_changed(path, edit.without_items(text, [int(index) for index in indexes]))


def list_keys(folder: Path) -> list[tuple[str, str | None]]:
    """Names and accounts; a digest helps nobody who may read this list."""
    sources = source.read(folder)
    _refuse(folder, sources)
    written = [
        (key.name, entry.record.username) for entry in sources.lists["accounts.yaml"] for key in entry.record.keys
    ]
    return written + [(entry.record.name, entry.record.account) for entry in sources.lists[KEYS]]


def fold_views(folder: Path, logs: Iterable[Path]) -> Tally:
    """Count what the logs hold and has not been counted, into the file that the next build reads."""
    sources = source.read(folder)
    _refuse(folder, sources)
    tally = _seen(folder / SEEN)
    tally.counts = {int(chapter): count for chapter, count in sources.views.items()}
    for log in logs:
        try:
            with gzip.open(log) if _is_gzip(log) else log.open("rb") as opened:
                tally.add(opened)
        except (OSError, EOFError) as error:
            raise FlatpanelError(f"{log}: cannot be read: {error}") from None
    tally.forget()
    lines = ["# Views by chapter id; `build.py views` writes this file.\n"]
    lines += [f"{chapter}: {count}\n" for chapter, count in sorted(tally.counts.items())]
    seen = {"closed": tally.closed, "seen": {day: sorted(ids) for day, ids in sorted(tally.seen.items())}}
    # The ids first: after a crash between the two, views are lost and not doubled.
    write_if_changed(folder / SEEN, encode.json(seen) + b"\n")
    write_if_changed(folder / VIEWS, "".join(lines).encode())
    return tally


def _seen(path: Path) -> Tally:
    try:
        if not path.exists():
            return Tally()
        value = encode.parse(path.read_bytes())
        return Tally(seen={day: set(ids) for day, ids in value["seen"].items()}, closed=value["closed"])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FlatpanelError(f"{path}: is damaged; restore it from git, or remove it and count no log again") from None


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as opened:
        return opened.read(2) == b"\x1f\x8b"


def _refuse(folder: Path, sources: Sources, *, ids_required: bool = True) -> None:
    """A catalog that cannot be built is not touched either."""
    found = sources.complaints + checks.complaints(sources, ids_required=ids_required)
    if found:
        raise CatalogError(source.located(folder, found))
