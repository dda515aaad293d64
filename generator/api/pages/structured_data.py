"""Data of schema.org in the head of pages."""

from typing import Any

from ...catalog.entities import Chapter, Series
from ...catalog.field_values import iso
from .context import PageContext

_CONTEXT = "https://schema.org"


def site(page: PageContext) -> object:
    base = page.site.base_url
    value = {"@context": _CONTEXT, "@type": "WebSite", "name": page.title, "url": f"{base}/"}
    if page.visible.library:
        target = {"@type": "EntryPoint", "urlTemplate": f"{base}{page.paths.search}?title={{title}}"}
        action = {"@type": "SearchAction", "target": target, "query-input": "required name=title"}
        return {**value, "potentialAction": action}
    return value


def series(page: PageContext, series: Series) -> object:
    value: dict[str, Any] = {"@type": "ComicSeries", "name": series.title, "url": series.url, "image": series.cover}
    if page.visible.details:
        value |= {
            "description": series.description,
            "alternateName": series.aliases,
            "genre": [category.name for category in series.categories],
            "author": [_person(person.name) for person in series.authors],
            "artist": [_person(person.name) for person in series.artists],
        }
    crumbs = _crumbs(page, (series.title, series.url))
    return {"@context": _CONTEXT, "@graph": [{name: part for name, part in value.items() if part}, crumbs]}


def chapter(page: PageContext, series: Series, chapter: Chapter, url: str) -> object:
    value = {
        "@type": "ComicIssue",
        "name": chapter.heading,
        "issueNumber": chapter.number,
        "url": url,
        "datePublished": iso(chapter.published),
        "isPartOf": {"@type": "ComicSeries", "name": series.title, "url": series.url},
    }
    crumbs = _crumbs(page, (series.title, series.url), (chapter.heading, url))
    return {"@context": _CONTEXT, "@graph": [value, crumbs]}


def _person(name: str) -> object:
    return {"@type": "Person", "name": name}


def _crumbs(page: PageContext, *links: tuple[str, str]) -> object:
    """The path to a page: from the library, or from the first page if there is no library."""
    base, paths, text = page.site.base_url, page.paths, page.text
    first = (text.library, base + paths.library()) if page.visible.library else (page.title, base + paths.home)
    items = [
        {"@type": "ListItem", "position": position, "name": name, "item": url}
        for position, (name, url) in enumerate((first, *links), start=1)
    ]
    return {"@type": "BreadcrumbList", "itemListElement": items}
