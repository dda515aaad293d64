"""The page of a chapter."""

from html import escape
from itertools import repeat
from typing import NamedTuple

from ...catalog.entities import Chapter, Series
from ...templating import Html
from ..resources import Body
from . import cards, structured_data
from .context import FeedLink, Link, PageContext, PageHead

# The height of an image whose size is not known; only its ratio matters.
HEIGHT = 1000
# The number of images that a browser loads at once.
_EAGER = 2
_LAZY = ' loading="lazy"'


class ChapterPage(NamedTuple):
    """A chapter with its neighbours in reading order, and all chapters of its number if there are several."""

    series: Series
    chapter: Chapter
    previous: Chapter | None
    next: Chapter | None
    versions: tuple[Chapter, ...]


def chapter(page: PageContext, item: ChapterPage) -> Body:
    series, chapter = item.series, item.chapter
    shown, text, paths = page.visible, page.text, page.paths
    is_standing = not item.versions or item.versions[-1] is chapter
    path = chapter.path if is_standing else paths.version(chapter)
    title = chapter.heading
    head = PageHead(
        f"{title} – {series.title}",
        path,
        page.fill(text.about_chapter, chapter=title, series=series.title),
        series.cover,
        "article",
        (FeedLink(series.title, series.path.removesuffix("/")),) if shown.chapters else (),
        structured_data.chapter(page, series, chapter, page.site.base_url + path),
    )
    neighbours = (item.previous, item.next) if shown.chapters else (None, None)
    body = page.html(
        "chapter.html",
        head,
        series=series,
        chapter=chapter,
        published=cards.publication(page, chapter),
        groups=page.shared("groups_of_chapter.html", _group_links(page, chapter)),
        previous=neighbours[0],
        next=neighbours[1],
        is_last=shown.chapters and item.next is None,
        versions=_versions(page, item) if shown.chapters else [],
        path=path,
        images=chapter.pages if shown.images else (),
        strip=_strip(page, chapter),
        hidden=not shown.images,
        help=page.shared("help.html"),
    )
    return Body(body, _newest(item))


def _group_links(page: PageContext, chapter: Chapter) -> tuple[Link, ...]:
    return tuple(Link(f"/groups/{group.id}/" if page.visible.group else "", group.name) for group in chapter.groups)


def _strip(page: PageContext, chapter: Chapter) -> Html:
    """The images. Not in the template, where they would take half of the time of all pages."""
    root, name = escape(page.image(chapter.pages_root)), escape(page.text.page_name)
    usual = round(page.site.page_ratio * HEIGHT) or 1, HEIGHT
    sizes = (
        f'width="{width}" height="{height}"'
        for width, height in (size or usual for size in chapter.sizes or repeat(None))
    )
    images = (
        f'<img id="page-{number}" src="{root}{escape(file)}" {size} alt="{name} {number}"{_LAZY * (number > _EAGER)}>'
        for number, (file, size) in enumerate(zip(chapter.pages, sizes, strict=False), start=1)
    )
    return Html("\n".join(images))


def _versions(page: PageContext, item: ChapterPage) -> list[Link]:
    """The other chapters of the same number. One without an id has no page."""
    links = []
    for version in item.versions:
        names = ", ".join(group.name for group in version.groups) or page.text.no_group
        if version is item.chapter:
            continue
        if version is item.versions[-1]:
            links.append(Link(version.path, names))
        elif version.id is not None:
            links.append(Link(page.paths.version(version), names))
    return links


def _newest(item: ChapterPage) -> int:
    chapters = [chapter for chapter in (item.chapter, item.previous, item.next, *item.versions) if chapter]
    groups = (group.modified for chapter in (item.chapter, *item.versions) for group in chapter.groups)
    return max((item.series.modified, *(chapter.modified for chapter in chapters), *groups))
