"""Checked records -> the linked catalog at an instant: the shared lists first, then one series at a time.

A page id is unique in the catalog, and stable while a page keeps its chapter and its number: the id of the chapter
times 1000 plus the number of the page. Multiples of 1000 never occur that way. They are allocated to the few pages
without such an id: pages after the 999th, and pages of chapters with very large ids.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby
from typing import Any
from urllib.parse import unquote, urlsplit

from ..encoding import LAST_INSTANT
from . import entities, field_values, patterns, site_settings
from . import records as model
from .cross_checks import NameIndex
from .entities import (
    Account,
    Archive,
    Catalog,
    Category,
    Chapter,
    Group,
    Latest,
    Member,
    Numbered,
    OpdsChapter,
    Person,
    RecentChapter,
    Series,
    SeriesSummary,
    Variants,
    one_per_number,
)
from .layout import SITE
from .reader import Entry, SeriesEntry, Sources
from .records import MAX_ID

# The folder of covers and pages below the media root.
SERIES_MEDIA = "series"
# The setting in `apps` for archives, and their folder below the media root; the media type of an archive.
ARCHIVES = "archives"
ARCHIVE_TYPE = "application/vnd.comicbook+zip"
# The setting in `apps` for OPDS.
OPDS = "opds"


class Linker:
    """The lists that all series share, linked, and the means to link a series to them."""

    def __init__(self, lists: Sources, times: Mapping[str, int], as_of: int, *, preview: bool = False) -> None:
        assert lists.site, "only a catalog without problems can be linked"
        self.lists, self.site, self.times, self.as_of, self.preview = lists, lists.site, times, as_of, preview
        # Chapters that are published later are left out.
        self.shown_until = LAST_INSTANT if preview else as_of
        self.media = _MediaUrls(self.site)
        # The copies of images below the folder of each series, by path below the media root.
        self.variants = _by_series(lists.variants)
        # The archives of chapters, by chapter id.
        self.archives = lists.archives if offers_archives(self.site) else {}
        self.authors = NameIndex[Person].of(_person(entry, times) for entry in lists.lists["authors.yaml"])
        self.artists = NameIndex[Person].of(_person(entry, times) for entry in lists.lists["artists.yaml"])
        categories = ((entry.record, _modified(entry, times)) for entry in lists.lists["categories.yaml"])
        self.categories = {
            genre.id: Category(genre.id, genre.name, genre.description, modified) for genre, modified in categories
        }
        self.members = NameIndex[Member].of(
            Member(entry.record, _modified(entry, times)) for entry in lists.lists["members.yaml"]
        )
        self.groups = NameIndex[Group].of(map(self._group, lists.lists["groups.yaml"]))

    def catalog(self, series: Iterable[SeriesSummary]) -> Catalog:
        return Catalog(
            site=self.site,
            site_modified=self.times[SITE],
            authors=_by_id(self.authors.by_id),
            artists=_by_id(self.artists.by_id),
            categories=_by_id(self.categories),
            groups=_by_id(self.groups.by_id),
            members=_by_id(self.members.by_id),
            accounts=tuple(map(self._account, self.lists.lists["accounts.yaml"])),
            keys=_keys(self.lists),
            series=tuple(sorted(series, key=lambda summary: (summary.title, summary.slug))),
            theme=self.lists.theme,
        )

    def _group(self, entry: Entry[model.Group]) -> Group:
        record = entry.record
        roles = tuple((self.members.find(role.member), role.role) for role in record.members)
        logo = self.media.url("groups", record.id, record.logo) if record.logo else None
        return Group(record, logo, roles, _modified(entry, self.times))

    def _account(self, entry: Entry[model.Account]) -> Account:
        record = entry.record
        username = field_values.percent_encoded(record.username)
        avatar = self.media.url("users", username, record.avatar) if record.avatar else None
        url = record.url or f"{self.site.base_url}/user/{username}/"
        return Account(record, avatar, url, _modified(entry, self.times))

    def series(self, source: SeriesEntry, times: Mapping[str, int], allocated_ids: Mapping[str, int]) -> Series:
        """A series with its chapters. `times` are those of its files; `allocated_ids`: see `page_ids`."""
        record, slug = source.entry.record, source.slug
        shown = (entry for entry in source.chapters if entry.record.published <= self.shown_until)
        archives = self.archives_of(source)
        linked = (self._chapter(record, slug, entry, times, allocated_ids, archives) for entry in shown)
        chapters = tuple(_with_own_pages(sorted(linked, key=lambda chapter: chapter.order)))
        identified = [chapter for chapter in chapters if chapter.id is not None]
        standing = one_per_number(chapters)
        latest = max(standing, key=lambda chapter: (chapter.published, chapter.order), default=None)
        path, cover = f"{self.site.reader}{slug}/", self.media.url(SERIES_MEDIA, slug, record.cover)
        is_public = not record.licensed and not record.restricted
        in_opds = opds_chapters(chapters) if is_public and OPDS in self.site.apps else ()
        shows_chapters = not record.licensed and (self.preview or not record.restricted)
        return Series(
            slug=slug,
            formerly=tuple(record.formerly),
            title=record.title,
            aliases=tuple(record.aliases),
            description=record.description,
            authors=tuple(map(self.authors.find, record.authors)),
            artists=tuple(map(self.artists.find, record.artists)),
            categories=_by_id({category: self.categories[category] for category in record.categories}),
            groups=tuple(dict.fromkeys(group for chapter in chapters for group in chapter.groups)),
            status=record.status,
            licensed=record.licensed,
            restricted=record.restricted,
            shows_chapters=shows_chapters,
            is_open=not record.restricted and not (record.licensed and self.site.hide_licensed),
            cover=cover,
            cover_variants=next(iter(self._variants(slug, [cover])), None),
            path=path,
            url=self.site.base_url + path,
            modified=_modified(source.entry, times),
            latest=Latest(latest.title, latest.volume, latest.number, latest.published, latest.modified)
            if latest
            else None,
            identified=len(identified),
            unidentified=len(chapters) - len(identified),
            is_listed=bool(identified) or record.updated is not None,
            updated=max((record.updated or 0, *(chapter.published for chapter in identified))),
            views=sum(chapter.views for chapter in identified),
            direction=record.direction or self.site.direction,
            kind=record.kind,
            rating=record.rating,
            layout=record.layout or ("strip" if record.kind == "webtoon" else self.site.layout),
            language=record.language or self.site.language,
            since=min((chapter.published for chapter in chapters), default=0),
            recent=recent_chapters(chapters) if shows_chapters and self.site.pages else (),
            image_origins=image_origins(cover, chapters),
            newest_in_opds=tuple(chapter for chapter in in_opds if chapter.is_in_1_2)[:NEWEST_IN_OPDS],
            opds_counts=(sum(item.is_in_1_2 for item in in_opds), sum(item.is_in_2_0 for item in in_opds)),
            # A theme reads it, and some of its chapters may be published later.
            record=record.model_copy(update={"chapters": []}),
            chapters=chapters,
        )

    def _chapter(
        self,
        series: model.Series,
        slug: str,
        entry: Entry[model.Chapter],
        times: Mapping[str, int],
        allocated_ids: Mapping[str, int],
        archives: Mapping[int, Archive],
    ) -> Chapter:
        record = entry.record
        path = chapter_path(slug, record)
        root, pages = self.media.pages(path, record.pages)
        title_values = {
            "volume": str(record.volume or "?"),
            "number": record.number,
            "title": record.title,
            "date": field_values.day(record.published),
            "series": series.title,
        }
        return Chapter(
            id=record.id,
            slug=slug,
            volume=record.volume,
            number=record.number,
            title=record.title,
            full_title=field_values.full_title(series.chapter_title, record.volume, title_values),
            path=self.site.reader + path,
            page_path=self.site.reader + path,
            url=self.site.base_url + self.site.reader + path,
            pages_root=root,
            pages=pages,
            page_ids=() if record.id is None else page_ids(record.id, len(pages), allocated_ids),
            published=record.published,
            final=record.final,
            groups=tuple(map(self.groups.find, record.groups)),
            views=record.views + self.lists.views.get(str(record.id), 0),
            modified=max(_modified(entry, times), record.published),
            scheduled=record.published > self.as_of,
            sizes=entities.page_sizes(self.lists.sizes.get(str(record.id), ""), len(pages)),
            variants=self._variants(slug, (root + page for page in pages)),
            archive=archives.get(record.id or 0),
        )

    def _variants(self, slug: str, urls: Iterable[str]) -> tuple[Variants | None, ...]:
        """The copies of each image; empty if no image of the series has some."""
        recorded = self.variants.get(slug)
        if not recorded:
            return ()
        return tuple(entities.variants(recorded.get(path_below(self.media.root, url))) for url in urls)

    def archives_of(self, source: SeriesEntry) -> dict[int, Archive]:
        """The archives of the published chapters of a series, by chapter id.

        A licensed or restricted series has none. An archive with the path of another chapter is none.
        """
        series = source.entry.record
        if not self.archives or series.licensed or series.restricted:
            return {}
        published = [entry.record for entry in source.chapters if entry.record.published <= self.as_of]
        paths = archive_paths(source.slug, published)
        archives = {id: entities.archive(self.archives.get(str(id), "")) for id in paths}
        return {id: archive for id, archive in archives.items() if archive and archive.path == paths[id]}


def media_root(site: site_settings.Site) -> str:
    """The URL of the media root; ends with a slash."""
    return site.media if field_values.is_url(site.media) else site.base_url + site.media


def path_below(root: str, url: str) -> str:
    """Return the path of a URL below the media root; "" if it is elsewhere, or is no path of a file."""
    rest = url.removeprefix(root)
    if rest == url or {"?", "#"} & set(rest):
        return ""
    try:
        names = [unquote(name, errors="strict") for name in rest.split("/")]
    except UnicodeDecodeError:
        return ""
    is_path = all("/" not in name and re.fullmatch(patterns.FILE_OR_URL, name) for name in names)
    return "/".join(names) if is_path else ""


def variant_path(width: int, path: str) -> str:
    """Return the path of a smaller copy of an image below the media root."""
    return f"w/{width}/{path}.webp"


def is_variant(path: str) -> bool:
    """Whether a path below the media root is that of a smaller copy."""
    return re.fullmatch(rf"w/[1-9][0-9]*/{SERIES_MEDIA}/.+\.webp", path) is not None


def _by_series(variants: Mapping[str, str]) -> dict[str, dict[str, str]]:
    by_series: dict[str, dict[str, str]] = defaultdict(dict)
    for path, text in variants.items():
        folder, slug, *names = path.split("/")
        if folder == SERIES_MEDIA and names:
            by_series[slug][path] = text
    return by_series


class _MediaUrls:
    """URLs of images, below the `media` of site.yaml unless a record gives a URL of its own."""

    def __init__(self, site: site_settings.Site) -> None:
        self.root = media_root(site)

    def url(self, folder: str, owner: object, file: str) -> str:
        return (
            file if field_values.is_url(file) else f"{self.root}{folder}/{owner}/{field_values.percent_encoded(file)}"
        )

    def pages(self, path: str, pages: list[str]) -> tuple[str, tuple[str, ...]]:
        """The common start of the page URLs of a chapter, and the rest of each."""
        if pages and field_values.is_url(pages[0]):
            parts = [field_values.split_url(page) for page in pages]
            return parts[0][0], tuple(name for _, name in parts)
        return f"{self.root}{SERIES_MEDIA}/{path}", field_values.all_percent_encoded(pages)


def chapter_path(slug: str, chapter: model.Chapter) -> str:
    """Return the path of a chapter below the reader's root; its pages have the same path below SERIES_MEDIA."""
    return f"{slug}/{chapter.volume or 0}/{chapter.number}/"


def _with_own_pages(chapters: Iterable[Chapter]) -> Iterator[Chapter]:
    """Note which of these chapters, in their order, share a number. The last one has the page of the number."""
    for _, group in groupby(chapters, key=lambda chapter: (chapter.volume, chapter.number)):
        versions = list(group)
        if len(versions) == 1:
            yield versions[0]
            continue
        first = min(versions, key=lambda chapter: chapter.published)
        for chapter in versions:
            own = "" if chapter.id is None else f"{chapter.path}version-{chapter.id}/"
            page_path = chapter.page_path if chapter is versions[-1] else own
            yield replace(chapter, page_path=page_path, shares_number=True, is_later_version=chapter is not first)


def archive_paths(slug: str, published: Sequence[Numbered]) -> dict[int, str]:
    """Return the path of the archive of each chapter below the media root, by chapter id.

    The highest id of a number has the path of the number, and each other one a path of its own.
    """
    paths: dict[int, str] = {}
    highest: dict[tuple[int | None, str], int] = {}
    for chapter in published:
        number = chapter.volume, chapter.number
        highest[number] = max(highest.get(number, 0), chapter.id or 0)
    for chapter in published:
        if chapter.id is not None:
            is_highest = highest[chapter.volume, chapter.number] == chapter.id
            name = chapter.number if is_highest else f"{chapter.number}-version-{chapter.id}"
            paths[chapter.id] = f"{ARCHIVES}/{slug}/{chapter.volume or 0}/{name}.cbz"
    return paths


# The routes of which an archive, which needs no API key, tells something: a series and its chapters.
TOLD_BY_ARCHIVES = frozenset(
    (
        *("/series/{slug}", "/series/{slug}/chapters", "/chapters/{id}", "/chapters/{id}/pages", "/pages"),
        "/cubari/{slug}",
    )
)


def offers_archives(site: site_settings.Site) -> bool:
    """Whether a site has archives: its settings say so, and restrict no route that an archive tells."""
    return ARCHIVES in site.apps and TOLD_BY_ARCHIVES.isdisjoint(site.restricted)


def is_archive(path: str) -> bool:
    """Whether a path below the media root is that of an archive."""
    return re.fullmatch(patterns.ARCHIVE_PATH, path) is not None


def _keys(lists: Sources) -> dict[str, str | None]:
    """The digest of each key in accounts.yaml and keys.yaml, with the username of its account."""
    accounts = [entry.record for entry in lists.lists["accounts.yaml"]]
    keys: dict[str, str | None] = {key.sha256: account.username for account in accounts for key in account.keys}
    for entry in lists.lists["keys.yaml"]:
        keys[entry.record.sha256] = entry.record.account
    return dict(sorted(keys.items()))


def _person(entry: Entry[model.Person], times: Mapping[str, int]) -> Person:
    return Person(entry.record.id, entry.record.name, tuple(entry.record.aliases), _modified(entry, times))


def _modified(entry: Entry[Any], times: Mapping[str, int]) -> int:
    modified: int | None = entry.record.modified
    return times[entry.file] if modified is None else modified


def _by_id(entities: Mapping[Any, Any]) -> tuple[Any, ...]:
    return tuple(entities[key] for key in sorted(entities))


# Page ids

_SPAN = 1000
_LAST_CHAPTER = MAX_ID // _SPAN - 1
_SLOTS = MAX_ID // _SPAN


def page_ids(chapter: int, count: int, allocated: Mapping[str, int]) -> Sequence[int]:
    """The ids of a chapter's pages in order. `allocated` is the result of `allocate_page_ids` for all chapters."""
    computed = _computed_count(chapter, count)
    ids = range(chapter * _SPAN + 1, chapter * _SPAN + 1 + computed)
    if computed == count:
        return ids
    return (*ids, *(allocated[name] for name in allocated_page_names(chapter, count)))


def needs_allocated_ids(chapter: int, count: int) -> bool:
    """Whether a chapter of `count` pages has a page whose id depends on other chapters."""
    return _computed_count(chapter, count) < count


def allocate_page_ids(chapters: Iterable[tuple[int, int]], before: Mapping[str, int]) -> dict[str, int]:
    """Allocate an id to each page that needs one; ids allocated `before` stay. Keys are "chapter/page".

    `chapters` are the ids and the page counts of all chapters that need allocated ids.
    """
    ids = dict(before)
    taken = set(ids.values())
    for name in (name for chapter in sorted(chapters) for name in allocated_page_names(*chapter)):
        if name not in ids:
            ids[name] = _free_id(name, taken)
            taken.add(ids[name])
    return ids


def allocated_page_names(chapter: int, count: int) -> Iterator[str]:
    """The keys of a chapter's pages that need an allocated id."""
    return (f"{chapter}/{number}" for number in range(_computed_count(chapter, count) + 1, count + 1))


def _computed_count(chapter: int, count: int) -> int:
    """The number of pages whose id depends on their own chapter only."""
    return min(count, _SPAN - 1) if chapter <= _LAST_CHAPTER else 0


def _free_id(name: str, taken: Set[int]) -> int:
    """A free multiple of 1000. The search starts at a hash of the page, so that other pages rarely matter."""
    slot = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") % _SLOTS
    while (slot + 1) * _SPAN in taken:
        slot = (slot + 1) % _SLOTS
    return (slot + 1) * _SPAN


# For pages and feeds: the newest chapters of a series, and where its images come from

# The number of chapters of a series, and of a series and a group, in lists of the latest chapters and in feeds.
RECENT = 30


def recent_chapters(chapters: Sequence[Chapter]) -> tuple[RecentChapter, ...]:
    """The newest chapters, and the newest ones of each group."""
    counts: Counter[int] = Counter()
    recent: list[RecentChapter] = []
    with_page = (chapter for chapter in chapters if chapter.page_path)
    for position, chapter in enumerate(sorted(with_page, key=lambda chapter: chapter.newest_first)):
        groups = tuple(group.id for group in chapter.groups)
        if position < RECENT or any(counts[group] < RECENT for group in groups):
            recent.append(
                RecentChapter(
                    id=chapter.id,
                    heading=chapter.heading,
                    path=chapter.path,
                    page_path=chapter.page_path,
                    published=chapter.published,
                    modified=chapter.modified,
                    groups=groups,
                    is_later_version=chapter.is_later_version,
                    newest_first=chapter.newest_first.hex(),
                    scheduled=chapter.scheduled,
                )
            )
        counts.update(groups)
    return tuple(recent)


# For OPDS

# The number of entries on a page of a list.
NEWEST_IN_OPDS = 50
# The formats that a link to single pages may name.
_STREAMED = {"image/gif", "image/jpeg", "image/png"}


def opds_chapters(chapters: Sequence[Chapter]) -> tuple[OpdsChapter, ...]:
    """The chapters that apps can name and read, newest first: those with an id and with pages."""
    named = sorted((chapter for chapter in chapters if chapter.pages), key=lambda chapter: chapter.newest_first)
    made = [_opds_chapter(chapter, chapter.id) for chapter in named if chapter.id is not None]
    headings = Counter(chapter.heading for chapter in made)
    titles = Counter((chapter.heading, chapter.groups) for chapter in made)
    return tuple(
        chapter._replace(
            shares_heading=headings[chapter.heading] > 1, shares_title=titles[chapter.heading, chapter.groups] > 1
        )
        for chapter in made
    )


def _opds_chapter(chapter: Chapter, number: int) -> OpdsChapter:
    types = [field_values.image_type(page) for page in chapter.pages]
    return OpdsChapter(
        id=number,
        heading=chapter.heading,
        path=chapter.path,
        page_path=chapter.page_path,
        published=chapter.published,
        modified=chapter.modified,
        is_later_version=chapter.is_later_version,
        groups=tuple(group.name for group in chapter.groups) if chapter.shares_number else (),
        newest_first=chapter.newest_first.hex(),
        pages=len(types),
        image_type=types[0] if all(types) else "",
        streamed=_STREAMED.issuperset(types),
        archive=chapter.archive,
        shares_heading=False,
        shares_title=False,
    )


def image_origins(cover: str, chapters: Iterable[Chapter]) -> tuple[str, ...]:
    """Scheme and host of every image of a series, in the order of their names."""
    # All folders of a series usually begin alike.
    roots = {"/".join(chapter.pages_root.split("/", 3)[:3]) for chapter in chapters if chapter.pages}
    return tuple(sorted({origin(cover), *map(origin, roots)}))


def origin(url: str) -> str:
    """Scheme, host and port of a URL."""
    scheme, authority, *_ = urlsplit(url)
    return f"{scheme}://{authority}"
