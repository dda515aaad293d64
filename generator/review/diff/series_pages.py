"""Titles, covers and pages of series and chapters, as the public bodies of a release name them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .entity_views import SERIES, EntityName, chapter_at, entity_view, sources
from .json_diff import ADDED, CHANGED, REMOVED
from .model import BodyReader, EntityChange
from .release_view import ReleaseView

# The URLs that the build makes of settings, slugs and numbers. No link leads to any other URL.
_PAGE = re.compile(r"https?://[-A-Za-z0-9._~:/]+")


class SeriesHead(NamedTuple):
    """What a release publishes about a series as a whole; "" where it publishes nothing."""

    title: str = ""
    cover: str = ""
    page: str = ""


class PageLink(NamedTuple):
    """A title and the URL of its page."""

    title: str
    url: str


def series_head(reader: BodyReader, release: ReleaseView, slug: str) -> SeriesHead:
    """Read the first body that a reader may see. That of /api/v2 has no chapters, so it is the smaller one."""
    responses = release.responses(slug)
    for url in reversed(sources(EntityName(SERIES, slug))):
        if body := reader.value(release, responses.get(url)):
            return SeriesHead(str(body.get("title", "")), str(body.get("cover", "")), page_url(release, body))
    return SeriesHead()


def series_link(reader: BodyReader, entity: EntityChange) -> PageLink | None:
    """The page of a series in the new release; None if the entity is no series, or has no public page any more."""
    if entity.name.kind != SERIES or entity.kind == REMOVED:
        return None
    head = series_head(reader, reader.comparison.new, entity.name.name)
    return PageLink(head.title, head.page) if head.page else None


def chapter_links(reader: BodyReader, entity: EntityChange) -> Iterator[PageLink]:
    """The pages of the added and changed chapters of a series, in the order of the changes."""
    if entity.name.kind == SERIES and entity.kind != REMOVED:
        release = reader.comparison.new
        _, view = entity_views(reader, entity)
        for chapter in view.get("chapters", ()) if entity.kind == ADDED else _changed_chapters(entity, view):
            if url := page_url(release, chapter):
                yield PageLink(str(chapter.get("full_title") or f"Chapter {chapter['number']}"), url)


def entity_views(reader: BodyReader, entity: EntityChange) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of a series in both releases, from the bodies that changed; {} where it does not exist."""
    if entity.kind == CHANGED:
        before, after = (entity_view(entity.name, load) for load in reader.loaders())
        return before, after
    release = reader.comparison.new if entity.kind == ADDED else reader.comparison.old
    responses = release.responses(entity.name.name)
    view = entity_view(entity.name, lambda url: reader.value(release, responses.get(url)))
    return ({}, view) if entity.kind == ADDED else (view, {})


def _changed_chapters(entity: EntityChange, view: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    steps = (change.path[1] for change in entity.changes if change.path[:1] == ("chapters",) and not entity.body_url)
    return (chapter for step in dict.fromkeys(steps) if (chapter := chapter_at(view, step)))


def page_url(release: ReleaseView, body: Mapping[str, Any]) -> str:
    """The absolute URL of the page that a body names. /api/v2 has paths, the older versions have URLs."""
    url = str(body.get("url", ""))
    absolute = f"{release.base_url or ''}{url}" if url.startswith("/") else url
    return absolute if _PAGE.fullmatch(absolute) else ""
