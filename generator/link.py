"""Checked records -> the linked catalog as of an instant."""

from collections.abc import Mapping
from typing import Any

from . import model, values
from .catalog import Account, Catalog, Category, Chapter, Group, Member, Person, Series
from .checks import ids
from .directory import Directory
from .pageids import page_ids
from .source import SITE, Entry, SeriesEntry, Sources


def link(sources: Sources, times: Mapping[str, int], as_of: int) -> Catalog:
    """The catalog as it is at `as_of`. `times` says when each file last changed."""
    assert sources.site, "only a catalog without problems can be linked"
    return _Linker(sources, sources.site, times, as_of).catalog()


class _Linker:
    def __init__(self, sources: Sources, site: model.Site, times: Mapping[str, int], as_of: int) -> None:
        self.sources, self.site, self.times, self.as_of = sources, site, times, as_of
        self.media = site.media if values.is_url(site.media) else site.base_url + site.media
        self.authors = Directory[Person].of(self.people("authors.yaml"))
        self.artists = Directory[Person].of(self.people("artists.yaml"))
        self.categories = {one.id: one for one in map(self.category, sources.lists["categories.yaml"])}
        self.members = Directory[Member].of(map(self.member, sources.lists["members.yaml"]))
        self.page_ids = page_ids(
            (chapter.record.id, len(chapter.record.pages))
            for series in sources.series
            for chapter in series.chapters
            if chapter.record.id is not None
        )
        self.groups = Directory[Group].of(map(self.group, sources.lists["groups.yaml"]))

    def catalog(self) -> Catalog:
        due = [
            chapter.record.published
            for series in self.sources.series
            for chapter in series.chapters
            if chapter.record.published > self.as_of
        ]
        return Catalog(
            site=self.site,
            site_modified=self.times[SITE],
            authors=_by_id(self.authors.by_id),
            artists=_by_id(self.artists.by_id),
            categories=_by_id(self.categories),
            groups=_by_id(self.groups.by_id),
            members=_by_id(self.members.by_id),
            accounts=tuple(map(self.account, self.sources.lists["accounts.yaml"])),
            keys=self.keys(),
            series=tuple(sorted(map(self.series, self.sources.series), key=lambda one: (one.title, one.slug))),
            highest_id=max(ids(self.sources), default=0),
            next_publication=min(due, default=None),
        )

    def modified(self, entry: Entry[Any]) -> int:
        found: int | None = entry.record.modified
        return self.times[entry.file] if found is None else found

    def people(self, name: str) -> list[Person]:
        return [
            Person(entry.record.id, entry.record.name, tuple(entry.record.aliases), self.modified(entry))
            for entry in self.sources.lists[name]
        ]

    def category(self, entry: Entry[model.Category]) -> Category:
        record = entry.record
        return Category(record.id, record.name, record.description, self.modified(entry))

    def member(self, entry: Entry[model.Member]) -> Member:
        return Member(entry.record, self.modified(entry))

    def group(self, entry: Entry[model.Group]) -> Group:
        record = entry.record
        roles = tuple((self.members.find(one.member), one.role) for one in record.members)
        logo = self.address("groups", record.id, record.logo) if record.logo else None
        return Group(record, logo, roles, self.modified(entry))

    def account(self, entry: Entry[model.Account]) -> Account:
        record = entry.record
        avatar = self.address("users", record.username, record.avatar) if record.avatar else None
        url = record.url or f"{self.site.base_url}/user/{record.username}/"
        return Account(record, avatar, url, self.modified(entry))

    def keys(self) -> dict[str, str | None]:
        """The keys that people wrote into their accounts, and those that the command line added."""
        records = [entry.record for entry in self.sources.lists["accounts.yaml"]]
        found: dict[str, str | None] = {key.sha256: one.username for one in records for key in one.keys}
        for entry in self.sources.lists["keys.yaml"]:
            found[entry.record.sha256] = entry.record.account
        return dict(sorted(found.items()))

    def series(self, source: SeriesEntry) -> Series:
        record, slug = source.entry.record, source.slug
        published = [entry for entry in source.chapters if entry.record.published <= self.as_of]
        path = f"{self.site.reader}{slug}/"
        return Series(
            slug=slug,
            title=record.title,
            aliases=tuple(record.aliases),
            description=record.description,
            authors=tuple(map(self.authors.find, record.authors)),
            artists=tuple(map(self.artists.find, record.artists)),
            categories=tuple(sorted((self.categories[one] for one in record.categories), key=lambda one: one.id)),
            status=record.status,
            licensed=record.licensed,
            restricted=record.restricted,
            cover=self.address("series", slug, record.cover),
            path=path,
            url=self.site.base_url + path,
            chapters=tuple(
                sorted((self.chapter(record, slug, entry) for entry in published), key=lambda one: one.order)
            ),
            modified=self.modified(source.entry),
        )

    def chapter(self, series: model.Series, slug: str, entry: Entry[model.Chapter]) -> Chapter:
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
            page_ids=self.page_ids[record.id] if record.id is not None else (),
            published=record.published,
            final=record.final,
            groups=tuple(map(self.groups.find, record.groups)),
            views=record.views + self.sources.views.get(str(record.id), 0),
            modified=max(self.modified(entry), record.published),
        )

    def pages(self, path: str, pages: list[str]) -> tuple[str, tuple[str, ...]]:
        """The root and the names that, joined, are the addresses of the images."""
        if pages and values.is_url(pages[0]):
            parts = [values.split_url(page) for page in pages]
            return parts[0][0], tuple(name for _, name in parts)
        return f"{self.media}series/{path}", tuple(map(values.percent_encoded, pages))

    def address(self, kind: str, owner: object, file: str) -> str:
        return file if values.is_url(file) else f"{self.media}{kind}/{owner}/{values.percent_encoded(file)}"


def _by_id(found: Mapping[Any, Any]) -> tuple[Any, ...]:
    return tuple(found[key] for key in sorted(found))


def _full_title(series: model.Series, chapter: model.Chapter) -> str:
    template = series.chapter_title
    if chapter.volume is None:
        template = template.replace("Vol. {volume}, ", "")
    if not chapter.title:
        template = template.removesuffix(": {title}")
    found = {
        "volume": str(chapter.volume or "?"),
        "number": chapter.number,
        "title": chapter.title,
        "date": values.day(chapter.published),
        "series": series.title,
    }
    return values.fill_title(template, found)
