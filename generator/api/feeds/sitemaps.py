"""Sitemaps (sitemaps.org 0.9), robots.txt, and the description of the search (OpenSearch 1.1).

`/sitemap.xml` is an index. `/sitemaps/{number}.xml` have the lists and the series, `/sitemaps/series/{slug}.xml` the
chapters of a series. The protocol allows 50,000 URLs and 50 MB a file; an index names no other index.
With the description, browsers add the site to their search engines.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...catalog.entities import Catalog, Series, SeriesSummary
from ...catalog.field_values import iso
from ...catalog.linking import ARCHIVES, media_root, offers_archives
from ..pages.context import PageContext
from ..pages.visibility import visible
from ..payloads.resources import Body, newest_of
from .formats import DECLARATION, xml_text

MOST_URLS, MOST_BYTES = 50_000, 50_000_000
# The flags of `visibility` without which no sitemap has the chapters of a series.
NEEDS = ("library", "chapters", "chapter")
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
# Around the lines of a file.
_FRAME = len(DECLARATION) + 200


class SitemapFile(NamedTuple):
    """The entries of a sitemap or of an index, each with the same element around it."""

    entries: tuple[str, ...]
    modified: int


class Sitemaps(NamedTuple):
    """All sitemaps of the lists and the series, and all indexes; there is at least one of each."""

    files: tuple[SitemapFile, ...]
    indexes: tuple[SitemapFile, ...]


def sitemaps(catalog: Catalog, lists: Iterable[str]) -> Sitemaps:
    """`lists` are the paths of pages of the whole catalog."""
    base, shown = catalog.site.base_url, visible(catalog.site.restricted)
    series = catalog.shown_series if shown.library else ()
    urls = [_entry(f"{base}{path}") for path in lists]
    urls += [_entry(summary.url, _modified(summary, shown.chapters)) for summary in series]
    files = tuple(SitemapFile(part, _newest(catalog, series)) for part in split(urls))
    names = [_entry(f"{base}/sitemaps/{number}.xml") for number in range(1, len(files) + 1)]
    with_chapters = [summary for summary in series if summary.recent and shown.has(NEEDS)]
    names += [_entry(f"{base}/sitemaps/series/{summary.slug}.xml", _modified(summary)) for summary in with_chapters]
    return Sitemaps(files, tuple(SitemapFile(part, _newest(catalog, series)) for part in split(names)))


def split(entries: Iterable[str], most: int = MOST_URLS, most_bytes: int = MOST_BYTES) -> Iterator[tuple[str, ...]]:
    """Divide entries into files of the size that the protocol allows."""
    part: list[str] = []
    size = _FRAME
    for entry in entries:
        # An entry is ASCII: URLs are percent-encoded.
        length = len(entry) + len("<sitemap></sitemap>")
        if part and (len(part) == most or size + length > most_bytes):
            yield tuple(part)
            part, size = [], _FRAME
        part.append(entry)
        size += length
    if part:
        yield tuple(part)


def urls(page: PageContext, file: SitemapFile) -> Body:
    return Body(_document("urlset", "url", file.entries), file.modified)


def index(page: PageContext, file: SitemapFile) -> Body:
    return Body(_document("sitemapindex", "sitemap", file.entries), file.modified)


def chapters(page: PageContext, series: Series) -> Body:
    """The pages of the chapters of a series; of more than a file may have, the newest."""
    with_page = (chapter for chapter in series.chapters if chapter.page_path)
    newest = sorted(with_page, key=lambda chapter: chapter.newest_first)
    part = next(split(_entry(page.site.base_url + page.page_of(chapter), chapter.modified) for chapter in newest))
    return Body(_document("urlset", "url", part), max(chapter.modified for chapter in newest))


def robots(page: PageContext, made: tuple[Catalog, Sitemaps]) -> Body:
    """Every path but those of archives is open to robots, and the API, too; of a preview, none is."""
    catalog, sitemaps = made
    if page.preview:
        return Body(b"User-agent: *\nDisallow: /\n", catalog.site_modified)
    # Archives are large, and their images are in the pages.
    folder = page.image(media_root(page.site) + ARCHIVES)
    is_left_out = offers_archives(page.site) and folder.startswith("/")
    lines = ["User-agent: *", "Allow: /", *([f"Disallow: {folder}/"] if is_left_out else []), ""]
    lines += [f"Sitemap: {page.site.base_url}{index_path(number)}" for number, _ in enumerate(sitemaps.indexes, 1)]
    return Body("".join(f"{line}\n" for line in lines).encode(), catalog.site_modified)


def index_path(number: int) -> str:
    return "/sitemap.xml" if number == 1 else f"/sitemaps/index-{number}.xml"


def _entry(url: str, modified: int | None = None) -> str:
    date = "" if modified is None else f"<lastmod>{iso(modified)}</lastmod>"
    return f"<loc>{xml_text(url)}</loc>{date}"


def _document(root: str, element: str, entries: Iterable[str]) -> bytes:
    lines = (f"<{element}>{entry}</{element}>" for entry in entries)
    return "".join((DECLARATION, f'<{root} xmlns="{_NAMESPACE}">', *lines, f"</{root}>")).encode()


def _modified(series: SeriesSummary, with_chapters: bool = True) -> int:
    """The last change of the page of a series."""
    chapters = series.recent if with_chapters else ()
    return newest_of(series.modified, chapters)


def _newest(catalog: Catalog, series: Iterable[SeriesSummary]) -> int:
    return max((catalog.site_modified, *map(_modified, series)))


# The specification allows no longer names.
_MAX_NAME = 16


def opensearch_description(page: PageContext, catalog: Catalog) -> Body:
    name = xml_text(page.title[:_MAX_NAME].strip())
    about = xml_text(f"Search the series of {page.title}")
    template = xml_text(f"{page.site.base_url}{page.paths.search}?title={{searchTerms}}")
    body = (
        f'{DECLARATION}<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        f"<ShortName>{name}</ShortName><Description>{about}</Description>"
        f'<Url type="text/html" method="get" template="{template}"/>'
        f"<InputEncoding>UTF-8</InputEncoding><OutputEncoding>UTF-8</OutputEncoding></OpenSearchDescription>"
    )
    return Body(body.encode(), catalog.site_modified)
