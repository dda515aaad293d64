"""References from one record to another, and checks of all: ids, names, slugs and numbers that must be unique."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from math import inf
from operator import attrgetter
from typing import Any, Generic, TypeVar

from ..errors import FIRST, UnlocatedProblem
from .reader import Entry, SeriesEntry, Sources
from .records import Chapter, Series
from .suggestions import did_you_mean, nearest
from .yaml.positions import YamlPath

# Characters of shared texts that the responses of one series repeat: of people and categories, and of all chapters.
MAX_SHARED_TEXTS, MAX_CHAPTER_TEXTS = 50_000, 32 << 20
# Of all series: nginx reads a line for several paths of each.
MAX_OLD_SLUGS = 50_000

# References from one record to another by name or id

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NameIndex(Generic[T]):
    """Index of entities with an `id` and a `name`. Several may have the same name."""

    by_id: dict[Any, T]
    by_name: dict[str, list[T]]

    @classmethod
    def of(cls, entities: Iterable[Any]) -> "NameIndex[T]":
        by_id: dict[Any, T] = {}
        by_name: dict[str, list[T]] = {}
        for entity in entities:
            by_id.setdefault(entity.id, entity)
            by_name.setdefault(entity.name, []).append(entity)
        return cls(by_id, by_name)

    def candidates(self, reference: str | int) -> list[T]:
        """The entities with this name (a string) or this id (a number)."""
        if isinstance(reference, str):
            return self.by_name.get(reference, [])
        return [self.by_id[reference]] if reference in self.by_id else []

    def find(self, reference: str | int) -> T:
        """The entity of a reference that has been checked."""
        (entity,) = self.candidates(reference)
        return entity


# The word for an entry of each list that can be referred to.
_ENTRY_WORDS = {
    "authors.yaml": "author",
    "artists.yaml": "artist",
    "categories.yaml": "category",
    "groups.yaml": "group",
    "members.yaml": "member",
}
# A person who writes and draws needs an entry in both lists.
_OTHER_LIST = {"authors.yaml": "artists.yaml", "artists.yaml": "authors.yaml"}


class References:
    """The entries of all lists by name and id."""

    def __init__(self, sources: Sources) -> None:
        self._unreadable = sources.unreadable
        self._entries: dict[str, NameIndex[Any]] = {
            file: NameIndex.of(entry.record for entry in sources.lists[file]) for file in _ENTRY_WORDS
        }
        self._names_by_alias = {
            file: {alias: entry.record.name for entry in sources.lists[file] for alias in entry.record.aliases}
            for file in _OTHER_LIST
        }

    def list_problems(
        self, entry: Entry[Any], path: YamlPath, file: str, references: Sequence[str | int]
    ) -> Iterator[UnlocatedProblem]:
        """Yield the problems of a list of references to entries of a file; `path` is the path of the list."""
        for index, reference in enumerate(references):
            yield from self.problems(entry, (*path, index), file, reference)
        matches = [self._entries[file].candidates(reference) for reference in references]
        ids = [entries[0].id if entries else name for entries, name in zip(matches, references, strict=True)]
        yield from repeated_values(entry, path, ids)

    def problems(
        self, entry: Entry[Any], path: YamlPath, file: str, reference: str | int
    ) -> Iterator[UnlocatedProblem]:
        """Yield a problem unless a reference matches exactly one entry of a file."""
        matches = self._entries[file].candidates(reference)
        if file in self._unreadable or len(matches) == 1:
            return
        word = _ENTRY_WORDS[file]
        if matches:
            ids = ", ".join(str(match.id) for match in matches)
            message = f"{len(matches)} {word}s are named {reference}; use an id instead: {ids}"
        elif isinstance(reference, int):
            message = f"no {word} has the id {reference}; see {file}"
        else:
            message = f"no {word} is named {reference}; {self._name_hint(file, reference)}"
        yield UnlocatedProblem(entry.file, path, message)

    def shared_texts(self, series: Series) -> int:
        """Return the characters of the people and the categories of a series in responses."""
        index = self._entries["categories.yaml"].by_id
        categories = (index[category] for category in series.categories if category in index)
        people = self._names("authors.yaml", series.authors) + self._names("artists.yaml", series.artists)
        return people + sum(len(category.name) + len(category.description) for category in categories)

    def chapter_texts(self, series: Series, chapters: Iterable[Chapter]) -> int:
        """Return the characters of the full titles of chapters and of the names of their groups, or some more."""
        template = series.chapter_title
        fixed = len(template) + template.count("{series}") * len(series.title)
        titles = template.count("{title}")
        return sum(
            fixed + titles * len(chapter.title) + self._names("groups.yaml", chapter.groups) for chapter in chapters
        )

    def _names(self, file: str, references: Iterable[str | int]) -> int:
        entries = (entry for reference in references for entry in self._entries[file].candidates(reference))
        return sum(len(entry.name) + sum(map(len, getattr(entry, "aliases", ()))) for entry in entries)

    def category_problems(self, entry: Entry[Any], categories: Sequence[str]) -> Iterator[UnlocatedProblem]:
        """Yield the problems of a series' categories, which are ids."""
        for index, category in enumerate(categories):
            if category not in self._entries["categories.yaml"].by_id and "categories.yaml" not in self._unreadable:
                message = f"no category has the id {category}; {self._category_hint(category)}"
                yield UnlocatedProblem(entry.file, ("categories", index), message)
        yield from repeated_values(entry, ("categories",), categories)

    def _category_hint(self, category: str) -> str:
        """Suggest an id, also for the name of a category."""
        index = self._entries["categories.yaml"]
        match = nearest(category, [*index.by_id, *index.by_name])
        if match is None:
            return "see categories.yaml"
        return f"did you mean {match if match in index.by_id else index.by_name[match][0].id}?"

    def _name_hint(self, file: str, reference: str) -> str:
        aliases = self._names_by_alias.get(file, {})
        if reference in aliases:
            return f"it is an alias of {aliases[reference]}; use that name"
        if match := nearest(reference, self._entries[file].by_name):
            return f"did you mean {match}?"
        other = _OTHER_LIST.get(file, file)
        if reference in self._entries[other].by_name:
            return f"the name is in {other}; add an entry to {file}, too"
        return f"see {file}"


def repeated_values(entry: Entry[Any], path: YamlPath, values: Sequence[Hashable]) -> Iterator[UnlocatedProblem]:
    """Yield a problem for every value that is in a list a second time."""
    first = set[Hashable]()
    for index, value in enumerate(values):
        if value in first:
            yield UnlocatedProblem(entry.file, (*path, index), "is listed twice; remove one of them")
        first.add(value)


def problems(sources: Sources) -> Iterator[UnlocatedProblem]:
    """Yield all problems between the records of a catalog."""
    checks = RecordChecks(sources)
    slugs = [(series.slug, series.entry.file) for series in sources.series]
    yield from checks.lists()
    yield from slug_problems(slugs)
    yield from old_slug_problems(slugs, {series.entry.file: series.entry.record.formerly for series in sources.series})
    yield from bookmark_problems(sources, {slug for slug, _ in slugs})
    yield from chapter_id_problems(sources)
    for series in sources.series:
        yield from checks.series(series)


def chapter_ids_in_use(sources: Sources) -> list[int]:
    entries = (entry for series in sources.series for entry in series.chapters)
    return [entry.record.id for entry in entries if entry.record.id is not None]


def chapters_without_id(sources: Sources) -> list[Entry[Chapter]]:
    """Return the chapters without an id, those of a series in reading order."""
    ordered = (entry for series in sources.series for entry in sorted(series.chapters, key=reading_order))
    return [entry for entry in ordered if "id" not in entry.record.model_fields_set]


def reading_order(entry: Entry[Chapter]) -> tuple[float, Decimal]:
    return entry.record.volume or inf, Decimal(entry.record.number)


class RecordChecks:
    """Checks of the lists, and of one series against the lists."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.references = References(sources)

    def lists(self) -> Iterator[UnlocatedProblem]:
        yield from _repeated_ids(self.sources)
        for entry in self.sources.lists["groups.yaml"]:
            for index, role in enumerate(entry.record.members):
                path = (*entry.path, "members", index, "member")
                yield from self.references.problems(entry, path, "members.yaml", role.member)
        yield from _key_problems(self.sources)
        yield from _category_name_problems(self.sources)

    def series(self, series: SeriesEntry) -> Iterator[UnlocatedProblem]:
        entry, record = series.entry, series.entry.record
        yield from self.references.list_problems(entry, ("authors",), "authors.yaml", record.authors)
        yield from self.references.list_problems(entry, ("artists",), "artists.yaml", record.artists)
        yield from self.references.category_problems(entry, record.categories)
        if self.references.shared_texts(record) > MAX_SHARED_TEXTS:
            message = (
                f"the names and aliases of its people and the descriptions of its categories have more than "
                f"{MAX_SHARED_TEXTS:,} characters; shorten them"
            )
            yield UnlocatedProblem(entry.file, (), message)
        if self.references.chapter_texts(record, (item.record for item in series.chapters)) > MAX_CHAPTER_TEXTS:
            message = (
                f"the full titles of all chapters and the names of their groups have more than "
                f"{MAX_CHAPTER_TEXTS:,} characters; shorten them"
            )
            yield UnlocatedProblem(entry.file, (), message)
        if record.updated is not None and not record.licensed:
            message = "has an effect only with licensed: true; add that, or remove this field"
            yield UnlocatedProblem(entry.file, ("updated",), message)
        # Chapters without a volume may share a number: they are the versions of several groups.
        in_volumes = (chapter for chapter in series.chapters if chapter.record.volume is not None)
        for chapter, first in _repeated(in_volumes, attrgetter("volume", "number")):
            name = f"chapter {chapter.record.number} of volume {chapter.record.volume}"
            message = f"{name} already exists {FIRST}; choose another number"
            place = first.file, (*first.path, "number")
            yield UnlocatedProblem(chapter.file, (*chapter.path, "number"), message, first=place)
        for chapter in series.chapters:
            path = (*chapter.path, "groups")
            yield from self.references.list_problems(chapter, path, "groups.yaml", chapter.record.groups)


def slug_problems(series: Iterable[tuple[str, str]]) -> Iterator[UnlocatedProblem]:
    """Yield the problems between the slugs of all series, each with its file."""
    first: dict[str, tuple[str, str]] = {}
    for slug, file in series:
        other, other_file = first.setdefault(slug.lower(), (slug, file))
        if other_file == file:
            continue
        if other == slug:
            message = f"the series {slug} also has the file {other_file}; remove one of them"
        else:
            message = f"the slug {slug} differs from {other} only in case; choose another"
        yield UnlocatedProblem(file, (), message)


def old_slug_problems(
    series: Iterable[tuple[str, str]], formerly: Mapping[str, Sequence[str]]
) -> Iterator[UnlocatedProblem]:
    """Yield the old slugs that equal a slug or another old slug, ignoring case. `formerly` is by file."""
    used = {slug.lower(): (slug, f"the slug of {file}") for slug, file in series}
    total = 0
    for file, old_slugs in sorted(formerly.items()):
        before, total = total, total + len(old_slugs)
        if before <= MAX_OLD_SLUGS < total:
            message = f"the catalog has more than {MAX_OLD_SLUGS:,} old slugs up to this file; remove the oldest"
            yield UnlocatedProblem(file, ("formerly",), message)
        for index, old in enumerate(old_slugs):
            if old.lower() not in used:
                used[old.lower()] = old, f"an old slug of {file}"
                continue
            other, owner = used[old.lower()]
            fault = f"is {owner}" if other == old else f"differs only in case from {other}, {owner}"
            message = f"the old slug {old} {fault}; remove it from this list"
            yield UnlocatedProblem(file, ("formerly", index), message)


def bookmark_problems(sources: Sources, slugs: Set[str]) -> Iterator[UnlocatedProblem]:
    """Yield the problems of bookmarks; an unknown slug is a problem only if all series can be read."""
    is_complete = not any(file.startswith("series/") for file in sources.unreadable)
    for entry in sources.lists["accounts.yaml"]:
        for index, slug in enumerate(entry.record.bookmarks):
            if slug not in slugs and is_complete:
                hint = did_you_mean(slug, slugs, "slugs are the names of the files in series/")
                message = f"no series has the slug {slug}{hint}"
                yield UnlocatedProblem(entry.file, (*entry.path, "bookmarks", index), message)
        yield from repeated_values(entry, (*entry.path, "bookmarks"), entry.record.bookmarks)


def chapter_id_problems(sources: Sources) -> Iterator[UnlocatedProblem]:
    """Yield a problem for every chapter id that an earlier chapter of `sources` has."""
    entries = (entry for series in sources.series for entry in series.chapters if entry.record.id is not None)
    for entry, first in _repeated(entries, attrgetter("id")):
        # Any other number may be the id of a removed chapter.
        advice = "keep the id of the older chapter, remove that of the other one, and run `python build.py ids`"
        message = f"the id {entry.record.id} is already used {FIRST}; {advice}"
        yield UnlocatedProblem(entry.file, (*entry.path, "id"), message, first=(first.file, (*first.path, "id")))


def _repeated_ids(sources: Sources) -> Iterator[UnlocatedProblem]:
    field: str
    key: Callable[[Any], object]
    for file, entries in sources.lists.items():
        if file == "accounts.yaml":
            field, key, owner = "username", attrgetter("username"), "another account"
        elif file == "keys.yaml":
            field, key, owner = "name", attrgetter("name"), "another key"
        else:
            field, key, owner = "id", attrgetter("id"), ""
        for entry, first in _repeated(entries, key):
            value = getattr(entry.record, field)
            message = f"the {field} {value} is already used by {owner or first.record.name} {FIRST}; choose another"
            yield UnlocatedProblem(entry.file, (*entry.path, field), message, first=(first.file, (*first.path, field)))


def _key_problems(sources: Sources) -> Iterator[UnlocatedProblem]:
    accounts = {entry.record.username for entry in sources.lists["accounts.yaml"]}
    digests: dict[str, UnlocatedProblem] = {}
    owners: dict[str, str] = {}
    for entry in sources.lists["accounts.yaml"]:
        for index, key in enumerate(entry.record.keys):
            owners[key.name] = entry.record.username
            place = UnlocatedProblem(entry.file, (*entry.path, "keys", index, "sha256"), "")
            yield from _repeated_digest(digests, key.sha256, place)
    for entry in sources.lists["keys.yaml"]:
        place = UnlocatedProblem(entry.file, (*entry.path, "sha256"), "")
        yield from _repeated_digest(digests, entry.record.sha256, place)
        if entry.record.name in owners:
            # The name is the argument of `keys revoke`.
            message = f"is already used by a key of the account {owners[entry.record.name]}; choose another"
            yield UnlocatedProblem(entry.file, (*entry.path, "name"), message)
        account = entry.record.account
        if account is not None and account not in accounts and "accounts.yaml" not in sources.unreadable:
            message = f"no account has the username {account}{did_you_mean(account, accounts)}"
            yield UnlocatedProblem(entry.file, (*entry.path, "account"), message)


def _repeated_digest(
    places: dict[str, UnlocatedProblem], digest: str, place: UnlocatedProblem
) -> Iterator[UnlocatedProblem]:
    first = places.setdefault(digest, place)
    if first is not place:
        message = f"is already the digest of a key in {first.file}; remove one of them"
        yield UnlocatedProblem(place.file, place.path, message)


def _category_name_problems(sources: Sources) -> Iterator[UnlocatedProblem]:
    """Yield names that are ambiguous in filters, which match names and ids and ignore case."""
    entries = sources.lists["categories.yaml"]
    first = {entry.record.id.casefold(): entry for entry in reversed(entries)}
    for entry in entries:
        for field, name in (("id", entry.record.id), ("name", entry.record.name)):
            other = first.setdefault(name.casefold(), entry)
            # A repeated id is reported by _repeated_ids.
            is_same_id = field == "id" and name == other.record.id
            if other is not entry and not is_same_id:
                message = f"is already used by the category {other.record.id}, ignoring case; choose another"
                yield UnlocatedProblem(entry.file, (*entry.path, field), message)


def _repeated(entries: Iterable[Entry[Any]], key: Callable[[Any], object]) -> Iterator[tuple[Entry[Any], Entry[Any]]]:
    """Yield every entry whose key an earlier entry has, with the first such entry."""
    first: dict[object, Entry[Any]] = {}
    for entry in entries:
        other = first.setdefault(key(entry.record), entry)
        if other is not entry:
            yield entry, other
