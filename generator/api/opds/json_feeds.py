"""OPDS 2.0, and the Divina manifest of each chapter: a Readium manifest whose reading order has images.

Links below `/opds` are paths, but the link of a publication to itself is a URL, as the specification of manifests says:
Readium resolves all other links of the publication against it.
"""

from typing import Any

from ... import encoding
from ...catalog.entities import Chapter, OpdsChapter, Series, SeriesSummary, Variants
from ...catalog.field_values import image_type, iso
from ...catalog.linking import ARCHIVE_TYPE, media_root, variant_path
from ..feeds.payloads import chapter_id, entry_root
from ..pages.context import PageContext
from ..payloads.resources import DIVINA, OPDS, Body, newest_of
from . import lists
from .lists import IMAGE_FORMATS, OPEN_ACCESS, ListPage, PublicChapter

ROOT = "/opds/v2"
_CONTEXT = "https://readium.org/webpub-manifest/context.jsonld"
_PROFILE = "https://readium.org/webpub-manifest/profiles/divina"
_COMIC = "http://schema.org/ComicIssue"


def catalog(page: PageContext, listed: ListPage) -> Body:
    """A page of all series."""
    navigation = [_series_link(series) for series in listed.items]
    modified = listed.date(max(series.modified, series.updated) for series in listed.items)
    return _feed(page, listed, page.title, {"navigation": navigation}, modified)


def _series_link(series: SeriesSummary) -> object:
    return {
        "href": ROOT + lists.series_path(series),
        "title": series.title,
        "type": OPDS,
        "rel": "subsection",
        "properties": {"numberOfItems": series.opds_counts[1]},
    }


def chapters(page: PageContext, listed: ListPage) -> Body:
    """A page of the chapters of a series."""
    series: Series = listed.subject
    publications = [_publication(page, series, item) for item in listed.items]
    modified = listed.date(_modified(series, item.chapter) for item in listed.items)
    return _feed(page, listed, series.title, {"publications": publications}, modified)


def _feed(page: PageContext, listed: ListPage, title: str, content: dict[str, Any], modified: int) -> Body:
    links = [_link("self", listed.path_of(listed.number))]
    # A site whose list of series needs a key has the series, but no start.
    links += [_link("start", "/catalog")] * page.visible.library
    links += [_link("previous", listed.path_of(listed.number - 1))] * (listed.number > 1)
    links += [_link("next", listed.path_of(listed.number + 1))] * (listed.number < listed.last)
    metadata = {
        "title": title,
        "modified": iso(modified),
        "numberOfItems": listed.total,
        "itemsPerPage": lists.PAGE_SIZE,
        "currentPage": listed.number,
    }
    return Body(encoding.json({"metadata": metadata, "links": links, **content}), modified)


def _link(relation: str, path: str) -> object:
    return {"rel": relation, "href": ROOT + path, "type": OPDS}


def _publication(page: PageContext, series: Series, item: PublicChapter) -> object:
    path = ROOT + _manifest_path(item.summary)
    return {
        "metadata": _metadata(page, series, item),
        "links": [
            _self(page, item.summary),
            {"rel": OPEN_ACCESS, "href": path, "type": DIVINA},
            *_archive(page, item.summary),
        ],
        "images": _images(series, item.chapter),
    }


def _images(series: Series, chapter: Chapter) -> list[object]:
    """The cover. If not every client can show its format, a page of the chapter comes first that each can show.

    One image is there in each case: if the name of the cover tells no format, the first page.
    """
    cover = image_type(series.cover)
    images: list[object] = [{"href": series.cover, "type": cover}] if cover else []
    if cover not in IMAGE_FORMATS:
        common = (page for page in chapter.pages if image_type(page) in IMAGE_FORMATS)
        shown = next(common, "" if cover else chapter.pages[0])
        images[:0] = [{"href": chapter.pages_root + shown, "type": image_type(shown)}] if shown else []
    return images


def _archive(page: PageContext, chapter: OpdsChapter) -> list[Any]:
    archive = chapter.archive
    if not archive:
        return []
    return [{"rel": OPEN_ACCESS, "href": lists.archive_url(page, chapter), "type": ARCHIVE_TYPE, "size": archive.size}]


def _manifest_path(chapter: OpdsChapter) -> str:
    return f"/chapters/{chapter.id}/manifest"


def _self(page: PageContext, chapter: OpdsChapter) -> object:
    return {"rel": "self", "href": page.site.base_url + ROOT + _manifest_path(chapter), "type": DIVINA}


# The manifest


def manifest(page: PageContext, item: tuple[Series, PublicChapter]) -> Body:
    """A chapter with all its pages."""
    series, chapter = item
    links: list[object] = [_self(page, chapter.summary)]
    if page.site.pages:
        url = page.site.base_url + page.page_of(chapter.summary)
        links.append({"rel": "alternate", "href": url, "type": "text/html"})
    value = {
        "@context": _CONTEXT,
        "metadata": {"conformsTo": _PROFILE, **_metadata(page, series, chapter)},
        "links": links + _archive(page, chapter.summary),
        "readingOrder": _reading_order(page, chapter.chapter),
    }
    return Body(encoding.json(value), _modified(series, chapter.chapter))


def _reading_order(page: PageContext, chapter: Chapter) -> list[dict[str, object]]:
    """The pages. One that a chapter shows again has its number as title, since no two entries may be the same."""
    root, count = media_root(page.site), len(chapter.pages)
    sizes, variants = chapter.sizes or (None,) * count, chapter.variants or (None,) * count
    order = []
    shown: set[str] = set()
    for number, (name, size, copies) in enumerate(zip(chapter.pages, sizes, variants, strict=True), 1):
        url = chapter.pages_root + name
        entry: dict[str, object] = {"href": url, "type": image_type(name)}
        if size:
            entry |= {"width": size[0], "height": size[1]}
        if copies:
            path = url.removeprefix(root)
            entry["alternate"] = [_copy(root, path, width, size, copies) for width in copies.widths]
        if name in shown:
            entry["title"] = str(number)
        shown.add(name)
        order.append(entry)
    return order


def _copy(root: str, path: str, width: int, size: tuple[int, int] | None, copies: Variants) -> object:
    """A smaller copy of a page. Its height has the ratio of the page."""
    height = {"height": max(1, round(size[1] * width / size[0]))} if size and size[0] == copies.image else {}
    return {"href": root + variant_path(width, path), "type": "image/webp", "width": width, **height}


# Metadata


def _metadata(page: PageContext, series: Series, item: PublicChapter) -> dict[str, object]:
    chapter = item.chapter
    values: dict[str, object] = {
        "@type": _COMIC,
        "title": lists.title(page, series, item.summary),
        "identifier": chapter_id(page, series, item.summary),
        "modified": iso(chapter.modified),
        "published": iso(chapter.published),
        "language": series.language,
        "author": _names(page, series.authors),
        "artist": _names(page, series.artists),
        "translator": [group.name for group in chapter.groups] if page.visible.group else [],
        # The images of a webtoon are below each other.
        "readingProgression": "ttb" if series.kind == "webtoon" else series.direction,
        "numberOfPages": item.summary.pages,
        "belongsTo": {"series": _series(page, series, chapter)},
    }
    return {name: value for name, value in values.items() if value}


def _series(page: PageContext, series: Series, chapter: Chapter) -> object:
    return {
        "name": series.title,
        "identifier": entry_root(page, series),
        "position": encoding.decimal(chapter.number),
        "links": [{"href": ROOT + lists.series_path(series), "type": OPDS}],
    }


def _names(page: PageContext, people: tuple[Any, ...]) -> list[str]:
    return [person.name for person in people] if page.visible.details else []


def _modified(series: Series, chapter: Chapter) -> int:
    """The date of the newest part of a publication."""
    return newest_of(series.modified, [chapter], series.authors, series.artists, chapter.groups)
