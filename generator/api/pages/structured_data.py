"""Data of schema.org in the head of pages."""

from typing import Any

from ... import encoding
from ...catalog.entities import Chapter, Series
from ...catalog.field_values import iso
from .context import PageContext
from .series_links import links

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
    value["inLanguage"] = series.language
    if page.visible.details:
        elsewhere = links(page, series)
        value |= {
            "sameAs": elsewhere.same,
            "discussionUrl": elsewhere.discussion,
            "contentRating": series.rating,
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
        # An integer or a text. A count of the chapters before it would change the page with each of them.
        "position": int(chapter.number) if chapter.number.isdecimal() else chapter.number,
        "url": url,
        **({"inLanguage": series.language} if series.language else {}),
        "datePublished": iso(chapter.published),
        "isPartOf": {"@type": "ComicSeries", "name": series.title, "url": series.url},
    }
    crumbs = _crumbs(page, (series.title, series.url), (chapter.heading, url))
    return {"@context": _CONTEXT, "@graph": [value, crumbs]}


def tracked(page: PageContext, series: Series, chapter: Chapter, following: Chapter | None) -> object:
    """What MAL-Sync reads on the page of a chapter, to note progress on AniList and MyAnimeList."""
    ids = links(page, series).ids
    return {
        "page": "chapter",
        "name": series.title,
        "number": encoding.decimal(chapter.number),
        "manga_url": series.url,
        "next_chapter_url": page.site.base_url + following.path if following else None,
        "mal_id": ids.mal,
        "anilist_id": ids.anilist,
    }


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
