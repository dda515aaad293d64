"""What only shows when every file has been read: names that nobody has, ids and numbers that two things share."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from decimal import Decimal
from math import inf
from operator import attrgetter
from typing import Any

from .name_index import NameIndex
from .problems.locate import UnlocatedProblem
from .problems.messages import field_name
from .problems.suggestions import did_you_mean, nearest
from .reader import LISTS, Entry, SeriesEntry, Sources
from .records import Account, Chapter

# What one entry of each list is called, in sentences.
_CALLED = {
    "authors.yaml": "author",
    "artists.yaml": "artist",
    "categories.yaml": "category",
    "groups.yaml": "group",
    "members.yaml": "member",
    "accounts.yaml": "account",
    "keys.yaml": "key",
}

# Who writes and draws has to stand in both.
_OTHER_LIST = {"authors.yaml": "artists.yaml", "artists.yaml": "authors.yaml"}


def problems(sources: Sources) -> list[UnlocatedProblem]:
    """Everything that is wrong between the records of a catalog."""
    checks = RecordChecks(sources)
    places = [(one.slug, one.entry.file) for one in sources.series]
    found = [
        *checks.lists(),
        *slug_problems(places),
        *bookmark_problems(sources, {slug for slug, _ in places}),
        *chapter_id_problems(sources),
    ]
    return found + [one for series in sources.series for one in checks.series(series)]


def chapter_ids_in_use(sources: Sources) -> list[int]:
    """The ids that chapters have."""
    return [one.record.id for series in sources.series for one in series.chapters if one.record.id is not None]


def chapters_without_id(sources: Sources) -> list[Entry[Chapter]]:
    """The chapters that have none, each series in the order in which it is read."""
    ordered = (one for series in sources.series for one in sorted(series.chapters, key=reading_order))
    return [one for one in ordered if "id" not in one.record.model_fields_set]


def reading_order(entry: Entry[Chapter]) -> tuple[float, Decimal]:
    return entry.record.volume or inf, Decimal(entry.record.number)


class RecordChecks:
    """What stands in the lists, and what a single series says of them."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.directories: dict[str, NameIndex[Any]] = {
            name: NameIndex.of(entry.record for entry in sources.lists[name])
            for name in LISTS
            if name not in ("accounts.yaml", "keys.yaml")
        }
        self._aliases: dict[str, dict[str, str]] = {}

    def lists(self) -> Iterator[UnlocatedProblem]:
        yield from self.repeated_keys()
        yield from self.groups()
        yield from self.keys()
        yield from self.category_names()

    def repeated_keys(self) -> Iterator[UnlocatedProblem]:
        for name, entries in self.sources.lists.items():
            key = {"accounts.yaml": "username", "keys.yaml": "name"}.get(name, "id")
            # nginx finds what belongs to a username whatever its case.
            read = attrgetter(key) if key != "username" else _folded_username
            for entry, first in _repeated(entries, read):
                owner = first.record.name if key == "id" else f"another {_CALLED[name]}"
                message = f"the {key} {getattr(entry.record, key)} belongs to {owner}; choose another"
                yield UnlocatedProblem(entry.file, (*entry.path, key), message)

    def groups(self) -> Iterator[UnlocatedProblem]:
        for entry in self.sources.lists["groups.yaml"]:
            for index, role in enumerate(entry.record.members):
                path = (*entry.path, "members", index, "member")
                yield from self.reference("members.yaml", role.member, UnlocatedProblem(entry.file, path, ""))

    def keys(self) -> Iterator[UnlocatedProblem]:
        accounts = {entry.record.username for entry in self.sources.lists["accounts.yaml"]}
        digests: dict[str, UnlocatedProblem] = {}
        names: dict[str, str] = {}
        for entry in self.sources.lists["accounts.yaml"]:
            for index, key in enumerate(entry.record.keys):
                names[key.name] = entry.record.username
                yield from _known_digest(
                    digests, key.sha256, UnlocatedProblem(entry.file, (*entry.path, "keys", index), "")
                )
        for entry in self.sources.lists["keys.yaml"]:
            yield from _known_digest(digests, entry.record.sha256, UnlocatedProblem(entry.file, entry.path, ""))
            if entry.record.name in names:
                # `keys revoke` must be able to mean one key and no other.
                message = f"is what a key of the account {names[entry.record.name]} is called, too"
                yield UnlocatedProblem(entry.file, (*entry.path, "name"), message)
            owner = entry.record.account
            if owner is not None and owner not in accounts and "accounts.yaml" not in self.sources.unreadable:
                message = f"no account has the username {owner}{did_you_mean(owner, accounts)}"
                yield UnlocatedProblem(entry.file, (*entry.path, "account"), message)

    def category_names(self) -> Iterator[UnlocatedProblem]:
        """Filters ignore the case of a category, and take its name and its id alike."""
        entries = self.sources.lists["categories.yaml"]
        first = {entry.record.id.casefold(): entry for entry in reversed(entries)}
        for entry in entries:
            for field, word in (("id", entry.record.id), ("name", entry.record.name)):
                other = first.setdefault(word.casefold(), entry)
                # The same id twice is a fault of its own.
                same_id = field == "id" and word == other.record.id
                if other is not entry and not same_id:
                    message = f"is what the category {other.record.id} is called, too, when case is ignored"
                    yield UnlocatedProblem(entry.file, (*entry.path, field), message)

    def series(self, series: SeriesEntry) -> Iterator[UnlocatedProblem]:
        entry, record = series.entry, series.entry.record
        for field, name in (("authors", "authors.yaml"), ("artists", "artists.yaml")):
            yield from self.references(entry, (field,), name, getattr(record, field))
        yield from self.categories(entry, record.categories)
        for chapter, first in _repeated(series.chapters, attrgetter("volume", "number")):
            volume, number = chapter.record.volume, chapter.record.number
            shown = f"{number} of volume {volume}" if volume else f"{number} without a volume"
            message = f"chapter {shown} is {_where(first, chapter)} already; choose another number"
            yield UnlocatedProblem(chapter.file, (*chapter.path, "number"), message)
        for chapter in series.chapters:
            yield from self.references(chapter, (*chapter.path, "groups"), "groups.yaml", chapter.record.groups)

    def categories(self, entry: Entry[Any], categories: Sequence[str]) -> Iterator[UnlocatedProblem]:
        known = self.directories["categories.yaml"].by_id
        for index, category in enumerate(categories):
            if category not in known and "categories.yaml" not in self.sources.unreadable:
                message = f"no category has the id {category}; {self.category(category)}"
                yield UnlocatedProblem(entry.file, ("categories", index), message)
        yield from _twice(entry, ("categories",), categories)

    def references(
        self, entry: Entry[Any], path: tuple[str | int, ...], name: str, references: Sequence[str | int]
    ) -> Iterator[UnlocatedProblem]:
        for index, reference in enumerate(references):
            yield from self.reference(name, reference, UnlocatedProblem(entry.file, (*path, index), ""))
        meant = [self.directories[name].candidates(reference) for reference in references]
        ids = [found[0].id if found else reference for found, reference in zip(meant, references, strict=True)]
        yield from _twice(entry, path, ids)

    def reference(self, name: str, reference: str | int, place: UnlocatedProblem) -> Iterator[UnlocatedProblem]:
        """Complain at `place` unless exactly one entry of the list is meant."""
        if name in self.sources.unreadable:
            return
        directory, called = self.directories[name], _CALLED[name]
        found = directory.candidates(reference)
        if len(found) == 1:
            return
        if found:
            ids = ", ".join(str(one.id) for one in found)
            message = f"{len(found)} {called}s are named {reference}; write the id of the one you mean: {ids}"
        elif isinstance(reference, int):
            message = f"no {called} has the id {reference}; {name} lists them"
        else:
            message = f"no {called} is named {reference}; {self.named(name, reference)}"
        yield UnlocatedProblem(place.file, place.path, message)

    def category(self, category: str) -> str:
        """What was probably meant by the id of a category; many write the name."""
        directory = self.directories["categories.yaml"]
        close = nearest(category, [*directory.by_id, *directory.by_name])
        if close is None:
            return "categories.yaml lists them"
        return f"did you mean {close if close in directory.by_id else directory.by_name[close][0].id}?"

    def named(self, name: str, reference: str) -> str:
        """Who was probably meant by a name that nobody has in a list."""
        if reference in self.aliases(name):
            return f"it is another name of {self.aliases(name)[reference]}, write that one"
        if close := nearest(reference, self.directories[name].by_name):
            return f"did you mean {close}?"
        other = _OTHER_LIST.get(name, name)
        if reference in self.directories[other].by_name:
            return f"{other} has one, {name} needs an entry of its own"
        return f"{name} lists them"

    def aliases(self, name: str) -> dict[str, str]:
        """The names of those who have other names, by these."""
        if name not in self._aliases:
            people = self.sources.lists[name] if name in _OTHER_LIST else ()
            self._aliases[name] = {alias: one.record.name for one in people for alias in one.record.aliases}
        return self._aliases[name]


def bookmark_problems(sources: Sources, slugs: Set[str]) -> Iterator[UnlocatedProblem]:
    """Accounts remember series, which all have to be known before one can be called unknown."""
    everything_read = not any(file.startswith("series/") for file in sources.unreadable)
    for entry in sources.lists["accounts.yaml"]:
        for index, slug in enumerate(entry.record.bookmarks):
            if slug not in slugs and everything_read:
                hint = did_you_mean(slug, slugs, "the names of files in series/ are slugs")
                message = f"no series has the slug {slug}{hint}"
                yield UnlocatedProblem(entry.file, (*entry.path, "bookmarks", index), message)
        yield from _twice(entry, (*entry.path, "bookmarks"), entry.record.bookmarks)


def slug_problems(places: Iterable[tuple[str, str]]) -> Iterator[UnlocatedProblem]:
    """The slug of every series, and its file."""
    first: dict[str, tuple[str, str]] = {}
    for slug, file in places:
        other, other_file = first.setdefault(slug.lower(), (slug, file))
        if other_file == file:
            continue
        if other == slug:
            message = f"the series {slug} is described in {other_file} as well; keep one of the two"
        else:
            message = f"the slug {slug} differs from {other} only in case; choose another"
        yield UnlocatedProblem(file, (), message)


def chapter_id_problems(sources: Sources) -> Iterator[UnlocatedProblem]:
    """Series in which an id stands that another one has, too; others may be among them."""
    chapters = (one for series in sources.series for one in series.chapters if one.record.id is not None)
    for entry, first in _repeated(chapters, attrgetter("id")):
        message = f"the id {entry.record.id} belongs to {_where(first, entry)}; choose another"
        yield UnlocatedProblem(entry.file, (*entry.path, "id"), message)


def _folded_username(account: Account) -> str:
    return account.username.lower()


def _known_digest(
    digests: dict[str, UnlocatedProblem], digest: str, place: UnlocatedProblem
) -> Iterator[UnlocatedProblem]:
    other = digests.setdefault(digest, place)
    if other is not place:
        path = (*place.path, "sha256")
        yield UnlocatedProblem(place.file, path, f"is the digest of a key that {other.file} has already")


def _twice(entry: Entry[Any], path: tuple[str | int, ...], values: Sequence[Hashable]) -> Iterator[UnlocatedProblem]:
    seen = set[Hashable]()
    for index, value in enumerate(values):
        if value in seen:
            yield UnlocatedProblem(entry.file, (*path, index), "stands in this list twice; keep one of them")
        seen.add(value)


def _repeated(entries: Iterable[Entry[Any]], key: Callable[[Any], object]) -> Iterator[tuple[Entry[Any], Entry[Any]]]:
    """Each entry whose key an earlier one has, and the first that has it."""
    first: dict[object, Entry[Any]] = {}
    for entry in entries:
        other = first.setdefault(key(entry.record), entry)
        if other is not entry:
            yield entry, other


def _where(other: Entry[Any], entry: Entry[Any]) -> str:
    """How a chapter is called in a message about another."""
    if not other.path:
        return other.file
    return field_name(other.path) if other.file == entry.file else f"{field_name(other.path)} of {other.file}"
