"""Checked records -> the linked catalog as of an instant: what all series share, then one series after another."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import field_values
from . import records as model
from .entities import Account, Catalog, Category, Chapter, Group, Latest, Member, Person, Series, SeriesSummary
from .layout import SITE
from .name_index import NameIndex
from .page_ids import page_ids
from .reader import Entry, SeriesEntry, Sources


class Linker:
    """The part of the catalog that all series share, and how to join one to it."""

    def __init__(self, lists: Sources, times: Mapping[str, int], as_of: int) -> None:
        assert lists.site, "only a catalog without problems can be linked"
        self.lists, self.site, self.times, self.as_of = lists, lists.site, times, as_of
        self.media = self.site.media if field_values.is_url(self.site.media) else self.site.base_url + self.site.media
        self.authors = NameIndex[Person].of(self.people("authors.yaml"))
        self.artists = NameIndex[Person].of(self.people("artists.yaml"))
        self.categories = {one.id: one for one in map(self.category, lists.lists["categories.yaml"])}
        self.members = NameIndex[Member].of(map(self.member, lists.lists["members.yaml"]))
        self.groups = NameIndex[Group].of(map(self.group, lists.lists["groups.yaml"]))

    def catalog(self, series: Iterable[SeriesSummary]) -> Catalog:
        return Catalog(
            site=self.site,
            site_modified=self.times[SITE],
            authors=_by_id(self.authors.by_id),
            artists=_by_id(self.artists.by_id),
            categories=_by_id(self.categories),
            groups=_by_id(self.groups.by_id),
            members=_by_id(self.members.by_id),
            accounts=tuple(map(self.account, self.lists.lists["accounts.yaml"])),
            keys=self.keys(),
            series=tuple(sorted(series, key=lambda one: (one.title, one.slug))),
        )

    def people(self, name: str) -> list[Person]:
        return [
            Person(entry.record.id, entry.record.name, tuple(entry.record.aliases), _modified(entry, self.times))
            for entry in self.lists.lists[name]
        ]

    def category(self, entry: Entry[model.Category]) -> Category:
        record = entry.record
        return Category(record.id, record.name, record.description, _modified(entry, self.times))

    def member(self, entry: Entry[model.Member]) -> Member:
        return Member(entry.record, _modified(entry, self.times))

    def group(self, entry: Entry[model.Group]) -> Group:
        record = entry.record
        roles = tuple((self.members.find(one.member), one.role) for one in record.members)
        logo = self.address("groups", record.id, record.logo) if record.logo else None
        return Group(record, logo, roles, _modified(entry, self.times))

    def account(self, entry: Entry[model.Account]) -> Account:
        record = entry.record
        avatar = self.address("users", record.username, record.avatar) if record.avatar else None
        url = record.url or f"{self.site.base_url}/user/{record.username}/"
        return Account(record, avatar, url, _modified(entry, self.times))

    def keys(self) -> dict[str, str | None]:
        """The keys that people wrote into their accounts, and those that the command line added."""
        records = [entry.record for entry in self.lists.lists["accounts.yaml"]]
        found: dict[str, str | None] = {key.sha256: one.username for one in records for key in one.keys}
        for entry in self.lists.lists["keys.yaml"]:
            found[entry.record.sha256] = entry.record.account
        return dict(sorted(found.items()))

    def series(self, source: SeriesEntry, times: Mapping[str, int], odd: Mapping[str, int]) -> Series:
        """A series with what is published of it; `times` are those of its files, `odd` the ids of unusual pages."""
        record, slug = source.entry.record, source.slug
        published = [entry for entry in source.chapters if entry.record.published <= self.as_of]
        found = [self.chapter(record, slug, entry, times, odd) for entry in published]
        chapters = tuple(sorted(found, key=lambda one: one.order))
        named = [one for one in chapters if one.id is not None]
        path = f"{self.site.reader}{slug}/"
        return Series(
            slug=slug,
            title=record.title,
            aliases=tuple(record.aliases),
            description=record.description,
            authors=tuple(map(self.authors.find, record.authors)),
            artists=tuple(map(self.artists.find, record.artists)),
            categories=tuple(sorted((self.categories[one] for one in record.categories), key=lambda one: one.id)),
            groups=tuple(dict.fromkeys(group for chapter in chapters for group in chapter.groups)),
            status=record.status,
            licensed=record.licensed,
            restricted=record.restricted,
            is_open=not record.restricted and not (record.licensed and self.site.hide_licensed),
            cover=self.address("series", slug, record.cover),
            path=path,
            url=self.site.base_url + path,
            modified=_modified(source.entry, times),
            latest=_latest(chapters),
            identified=len(named),
            unidentified=len(chapters) - len(named),
            updated=max((one.published for one in named), default=0),
            views=sum(one.views for one in named),
            chapters=chapters,
        )

    def chapter(
        self,
        series: model.Series,
        slug: str,
        entry: Entry[model.Chapter],
        times: Mapping[str, int],
        odd: Mapping[str, int],
    ) -> Chapter:
        record = entry.record
        path = f"{slug}/{record.volume or 0}/{record.number}/"
        root, pages = self.pages(path, record.pages)
        return Chapter(
            id=record.id,
            slug=slug,
            volume=record.volume,
            number=record.number,
            title=record.title,
            full_title=_full_title(series, record),
            path=self.site.reader + path,
            url=self.site.base_url + self.site.reader + path,
            pages_root=root,
            pages=pages,
            page_ids=() if record.id is None else page_ids(record.id, len(pages), odd),
            published=record.published,
            final=record.final,
            groups=tuple(map(self.groups.find, record.groups)),
            views=record.views + self.lists.views.get(str(record.id), 0),
            modified=max(_modified(entry, times), record.published),
        )

    def pages(self, path: str, pages: list[str]) -> tuple[str, tuple[str, ...]]:
        """The root and the names that, joined, are the addresses of the images."""
        if pages and field_values.is_url(pages[0]):
            parts = [field_values.split_url(page) for page in pages]
            return parts[0][0], tuple(name for _, name in parts)
        return f"{self.media}series/{path}", tuple(map(field_values.percent_encoded, pages))

    def address(self, kind: str, owner: object, file: str) -> str:
        return file if field_values.is_url(file) else f"{self.media}{kind}/{owner}/{field_values.percent_encoded(file)}"


def _modified(entry: Entry[Any], times: Mapping[str, int]) -> int:
    found: int | None = entry.record.modified
    return times[entry.file] if found is None else found


def _latest(chapters: Sequence[Chapter]) -> Latest | None:
    if not chapters:
        return None
    found = max(chapters, key=lambda one: (one.published, one.order))
    return Latest(found.title, found.volume, found.number, found.published, found.modified)


def _by_id(found: Mapping[Any, Any]) -> tuple[Any, ...]:
    return tuple(found[key] for key in sorted(found))


def _full_title(series: model.Series, chapter: model.Chapter) -> str:
    found = {
        "volume": str(chapter.volume or "?"),
        "number": chapter.number,
        "title": chapter.title,
        "date": field_values.day(chapter.published),
        "series": series.title,
    }
    return field_values.full_title(series.chapter_title, chapter.volume, found)
