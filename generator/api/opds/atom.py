"""OPDS 1.2, an Atom format, with the links of OPDS-PSE 1.1 to single pages.

Clients of e-readers have parsers of their own. This writer keeps to what they read:

* Character references are decimal: one client fails at a hexadecimal one.
* Links to lists have the relation `subsection`, and links to pages of the site `alternate`.
* Links below `/opds` are paths: `{pageNumber}` stays as it is when a client makes them absolute.
"""

from functools import lru_cache
from heapq import nsmallest
from typing import NamedTuple

from ...catalog.entities import Catalog, Category, Group, OpdsChapter, Series, SeriesSummary
from ...catalog.field_values import image_type, iso
from ...catalog.linking import ARCHIVE_TYPE
from ..feeds import formats
from ..feeds.payloads import chapter_id, entry_root, first_published
from ..pages.context import PageContext
from ..payloads.resources import ACQUISITION, NAVIGATION, Body
from . import lists
from .lists import IMAGE_FORMATS, OPEN_ACCESS, ListPage, PublicChapter

ROOT = "/opds/v1.2"
_STREAM = "http://vaemendis.net/opds-pse/stream"
_NAMESPACES = 'xmlns="http://www.w3.org/2005/Atom"'
_OF_PUBLICATIONS = f'{_NAMESPACES} xmlns:dc="http://purl.org/dc/terms/" xmlns:pse="http://vaemendis.net/opds-pse/ns"'


class _Entry(NamedTuple):
    """An entry as XML, the date that it shows, and that of its newest part."""

    xml: str
    updated: int
    modified: int


def _text(text: str) -> str:
    """Escape a text for an element, or for an attribute in double quotes."""
    return formats.xml_text(text).replace("&#x27;", "'")


# Lists of lists


def catalog(page: PageContext, catalog: Catalog) -> Body:
    """The start: the newest chapters, all series, categories and groups, as far as there are some."""
    text, readable = page.text, lists.series_in_1_2(catalog)
    categories, groups = lists.listed_categories(catalog), lists.listed_groups(catalog)
    # Each with its newest date: that of the file of settings would change with every copy of a dated catalog.
    rows = (
        (lists.LATEST, text.latest_chapters, "/new", ACQUISITION, [_newest(series) for series in readable]),
        (lists.LISTS, text.all_series, "/series", NAVIGATION, [series.modified for series in readable]),
        (lists.CATEGORIES, text.categories, "/categories", NAVIGATION, [category.modified for category in categories]),
        (lists.GROUPS, text.groups, "/groups", NAVIGATION, [group.modified for group in groups]),
    )
    entries = [
        _list_entry(page, title, path, type, max(dates))
        for needs, title, path, type, dates in rows
        if dates and page.visible.has(needs)
    ]
    has_new = readable and page.visible.has(lists.LATEST)
    newest = _link("http://opds-spec.org/sort/new", f"{ROOT}/new", ACQUISITION) if has_new else ""
    return _feed(page, "/catalog", page.title, NAVIGATION, entries, catalog.site_modified, links=newest)


def _newest(series: SeriesSummary) -> int:
    return max(chapter.modified for chapter in series.newest_in_opds)


def series_list(page: PageContext, listed: ListPage) -> Body:
    """A page of all series, or of those of a category or a group."""
    title = listed.subject.name if listed.subject else page.text.all_series
    entries = [_series_entry(page, series) for series in listed.items]
    return _page_of(page, listed, str(title), NAVIGATION, entries)


def categories(page: PageContext, listed: ListPage) -> Body:
    entries = [_subject_entry(page, category, lists.category_path(category)) for category in listed.items]
    return _page_of(page, listed, page.text.categories, NAVIGATION, entries)


def groups(page: PageContext, listed: ListPage) -> Body:
    entries = [_subject_entry(page, group, lists.group_path(group)) for group in listed.items]
    return _page_of(page, listed, page.text.groups, NAVIGATION, entries)


def _subject_entry(page: PageContext, subject: Category | Group, path: str) -> _Entry:
    return _list_entry(page, subject.name, path, NAVIGATION, subject.modified)


def _list_entry(page: PageContext, title: str, path: str, type: str, modified: int) -> _Entry:
    id = _text(page.site.base_url + ROOT + path)
    xml = (
        f"<entry><title>{_text(title)}</title><id>{id}</id><updated>{iso(modified)}</updated>"
        f'<content type="text">{_text(title)}</content>{_link("subsection", ROOT + path, type)}</entry>'
    )
    return _Entry(xml, modified, modified)


# A series is part of several lists.
@lru_cache(maxsize=1 << 14)
def _series_entry(page: PageContext, series: SeriesSummary) -> _Entry:
    id, path = entry_root(page, series), lists.series_path(series)
    xml = (
        f"<entry><title>{_text(series.title)}</title><id>{_text(id)}</id><updated>{iso(series.modified)}</updated>"
        f"<published>{iso(first_published(series))}</published>{_details(page, series)}"
        f"{_description(page, series)}{_link('subsection', ROOT + path, ACQUISITION)}{_images(series)}"
        f"{_alternate(page, series.url)}</entry>"
    )
    return _Entry(xml, series.modified, lists.modified_of_series(series))


# Lists of chapters


def new(page: PageContext, catalog: Catalog) -> Body:
    """The newest chapters of all series."""
    recent = ((series, chapter) for series in catalog.series for chapter in series.newest_in_opds)
    newest = nsmallest(lists.PAGE_SIZE, recent, key=lambda pair: pair[1].newest_first)
    entries = [_chapter_entry(page, series, chapter) for series, chapter in newest]
    return _feed(page, "/new", page.text.latest_chapters, ACQUISITION, entries, catalog.site_modified)


def chapters(page: PageContext, listed: ListPage) -> Body:
    """A page of the chapters of a series."""
    series: Series = listed.subject
    items: tuple[PublicChapter, ...] = listed.items
    entries = [_chapter_entry(page, series, item.summary) for item in items]
    # The first slug, as in ids of entries.
    slug = series.formerly[0] if series.formerly else series.slug
    return _page_of(page, listed, series.title, ACQUISITION, entries, id=f"/series/{slug}")


def _chapter_entry(page: PageContext, series: SeriesSummary, chapter: OpdsChapter) -> _Entry:
    id = chapter_id(page, series, chapter)
    language = f"<dc:language>{_text(series.language)}</dc:language>" if series.language else ""
    xml = (
        f"<entry><title>{_text(lists.title(page, series, chapter))}</title><id>{_text(id)}</id>"
        f"<updated>{iso(chapter.modified)}</updated><published>{iso(chapter.published)}</published>"
        f"{_details(page, series)}{language}{_acquisition(page, chapter)}{_stream(chapter)}{_images(series)}"
        f"{_alternate(page, page.site.base_url + page.page_of(chapter))}</entry>"
    )
    return _Entry(xml, chapter.modified, max(chapter.modified, lists.modified_of_series(series)))


def _acquisition(page: PageContext, chapter: OpdsChapter) -> str:
    archive = chapter.archive
    if not archive:
        return ""
    return _link(OPEN_ACCESS, lists.archive_url(page, chapter), ARCHIVE_TYPE, f' length="{archive.size}"')


def _stream(chapter: OpdsChapter) -> str:
    if not chapter.streamed:
        return ""
    path = f"{ROOT}/pages/{chapter.id}/{{pageNumber}}"
    return _link(_STREAM, path, chapter.image_type, f' pse:count="{chapter.pages}"')


# Parts of entries


def _details(page: PageContext, series: SeriesSummary) -> str:
    """The people and the categories of a series."""
    if not page.visible.details:
        return ""
    authors = "".join(_person("author", person.name) for person in series.authors)
    artists = (person.name for person in series.artists)
    others = "".join(_person("contributor", name) for name in artists)
    terms = ((_text(category.id), _text(category.name)) for category in series.categories)
    return authors + others + "".join(f'<category term="{term}" label="{label}"/>' for term, label in terms)


def _person(element: str, name: str) -> str:
    return f"<{element}><name>{_text(name)}</name></{element}>"


def _description(page: PageContext, series: SeriesSummary) -> str:
    shown = series.description if page.visible.details else ""
    return f"<summary>{_text(shown)}</summary>" if shown else ""


def _images(series: SeriesSummary) -> str:
    """The cover, in one of the formats that the specification allows. There is no smaller copy in one of them."""
    type = image_type(series.cover)
    if type not in IMAGE_FORMATS:
        return ""
    relations = ("http://opds-spec.org/image", "http://opds-spec.org/image/thumbnail")
    return "".join(_link(relation, series.cover, type) for relation in relations)


def _alternate(page: PageContext, url: str) -> str:
    return _link("alternate", url, "text/html") if page.site.pages else ""


def _link(relation: str, url: str, type: str, more: str = "") -> str:
    return f'<link rel="{relation}" href="{_text(url)}" type="{type}"{more}/>'


# Documents


def _page_of(page: PageContext, listed: ListPage, title: str, type: str, entries: list[_Entry], id: str = "") -> Body:
    """One page of a list, with links to its neighbours."""
    neighbours = (("previous", listed.number - 1), ("next", listed.number + 1))
    links = "".join(
        _link(relation, ROOT + listed.path_of(number), type)
        for relation, number in neighbours
        if 0 < number <= listed.last
    )
    path = listed.path_of(listed.number)
    modified = listed.date(entry.modified for entry in entries)
    return _feed(page, path, title, type, entries, listed.modified, modified, links=links, id=id or listed.path)


def _feed(
    page: PageContext,
    path: str,
    title: str,
    type: str,
    entries: list[_Entry],
    empty: int,
    modified: int = 0,
    *,
    links: str = "",
    id: str = "",
) -> Body:
    """A document. `empty` is the date of one without entries, `modified` that of the newest part with its subject."""
    updated = max((entry.updated for entry in entries), default=empty)
    newest = modified or max((entry.modified for entry in entries), default=empty)
    namespaces = _NAMESPACES if type == NAVIGATION else _OF_PUBLICATIONS
    head = (
        f'{formats.DECLARATION}<feed xml:lang="{_text(page.site.language or page.text.lang)}" {namespaces}>'
        f"<id>{_text(page.site.base_url + ROOT + (id or path))}</id><title>{_text(title)}</title>"
        f"<updated>{iso(updated)}</updated>"
        f"<author><name>{_text(page.title)}</name><uri>{_text(page.site.base_url)}/</uri></author>"
        f"{_link('self', ROOT + path, type)}{_link('start', f'{ROOT}/catalog', NAVIGATION)}{links}"
    )
    body = "".join((head, *(entry.xml for entry in entries), "</feed>"))
    return Body(body.encode(), newest)
