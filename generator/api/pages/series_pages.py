"""The pages of a series and of its chapters."""

from collections import Counter
from collections.abc import Iterable
from html import escape
from itertools import repeat
from typing import NamedTuple

from ...catalog.entities import Archive, Chapter, Series
from ...catalog.linking import media_root
from ...templating import Html
from ..payloads.resources import Body, newest_of
from . import cards, structured_data, values
from .context import FeedLink, Link, PageContext, PageHead
from .series_links import links


class ChapterRow(NamedTuple):
    """A chapter in the list of a series."""

    path: str
    title: str
    groups: str
    published: Html
    final: bool


class VolumeRows(NamedTuple):
    """The chapters of a volume, newest first."""

    title: str
    chapters: list[ChapterRow]


def series(page: PageContext, series: Series) -> Body:
    text, shown = page.text, page.visible
    chapters = series.chapters if shown.chapters and series.shows_chapters else ()
    rows = volumes(page, series, chapters)
    about = values.paragraphs(series.description) if shown.details else []
    body = page.html(
        "series.html",
        _head(page, series, about),
        series=series,
        cover=page.image(series.cover),
        copies=page.copies(series.cover, series.cover_variants),
        alt=text.fill(text.cover_of, series=series.title),
        about=about,
        people=_people(page, series) if shown.details else [],
        categories=[page.category_link(category) for category in series.categories] if shown.details else [],
        groups=_groups(page, chapters),
        # Of a series without chapters, the API does not tell the status.
        status=getattr(text, series.status) if shown.details and series.is_in_lists else "",
        aliases=series.aliases if shown.details else (),
        facts=_facts(page, series) if shown.details else [],
        links=links(page, series).all,
        note=_note(page, series, chapters),
        count=text.count("chapter", sum(len(volume.chapters) for volume in rows)),
        volumes=rows,
        first=page.page_of(min(series.numbered_chapters, key=lambda chapter: chapter.reading_order)) if rows else "",
        feeds=_feeds(page, series),
    )
    groups = (chapter.groups for chapter in chapters)
    newest = newest_of(series.modified, series.authors, series.artists, series.categories, chapters, *groups)
    return Body(body, newest)


def licensed_chapter(page: PageContext, series: Series) -> Body:
    """Why there is no chapter of a licensed series: the same page for all, without titles."""
    return Body(page.html("licensed.html", PageHead(page.text.licensed, ""), series=series), series.modified)


def volumes(page: PageContext, series: Series, chapters: tuple[Chapter, ...]) -> list[VolumeRows]:
    """The chapters by volume, newest first; those without a volume are the newest. Of a number, the highest id is."""
    volumes: dict[int | None, list[ChapterRow]] = {}
    for chapter in sorted(chapters, key=lambda chapter: (chapter.reading_order, chapter.id or 0), reverse=True):
        names = ", ".join(group.name for group in chapter.groups)
        date = cards.publication(page, chapter)
        row = ChapterRow(page.page_of(chapter), chapter.heading, names, date, chapter.final)
        volumes.setdefault(chapter.volume, []).append(row)
    return [VolumeRows(_volume_title(page, number, len(volumes)), rows) for number, rows in volumes.items()]


def _volume_title(page: PageContext, number: int | None, volumes: int) -> str:
    if number is not None:
        return page.text.fill(page.text.volume, number=number)
    return "" if volumes == 1 else page.text.no_volume


def _head(page: PageContext, series: Series, about: list[str]) -> PageHead:
    return PageHead(
        series.title,
        series.path if series.is_in_lists else "",
        values.shortened(about[0]) if about else page.fill(page.text.about_series, series=series.title),
        series.cover,
        "book",
        _feeds(page, series),
        structured_data.series(page, series),
        series.language,
        series.rating == "explicit",
    )


def _feeds(page: PageContext, series: Series) -> tuple[FeedLink, ...]:
    has_feed = page.visible.chapters and series.is_in_lists
    return (FeedLink(series.title, series.path.removesuffix("/")),) if has_feed else ()


def _note(page: PageContext, series: Series, chapters: tuple[Chapter, ...]) -> str:
    """Why the page has no chapters; empty if it has some."""
    text = page.text
    if series.licensed:
        return str(text.licensed_long)
    if not series.shows_chapters:
        return str(text.restricted_long)
    if not page.visible.chapters:
        return str(text.hidden)
    return "" if chapters else str(text.no_chapters)


def _people(page: PageContext, series: Series) -> list[tuple[str, list[Link]]]:
    of_role = {"author": series.authors, "artist": series.artists}
    return [
        (getattr(page.text, role), [page.link_to(role, person) for person in people])
        for role, people in of_role.items()
        if people
    ]


def _facts(page: PageContext, series: Series) -> list[tuple[str, str]]:
    """Kind and rating with their names; a rating is safe, suggestive or explicit."""
    text = page.text
    return [
        (name, getattr(text, value))
        for name, value in ((text.kind, series.kind), (text.rating, series.rating))
        if value
    ]


def _groups(page: PageContext, chapters: tuple[Chapter, ...]) -> list[Link]:
    groups = dict.fromkeys(group for chapter in chapters for group in chapter.groups)
    return [page.link_to("group", group) for group in groups]


# The page of a chapter

# The height of an image whose size is not known; only its ratio matters.
HEIGHT = 1000
# The number of images that a browser loads at once.
_EAGER = 2
_FIRST, _LAZY = ' fetchpriority="high"', ' loading="lazy"'
# The width of a page in a strip: that of the screen, at most that of `.strip` in style.css.
_PAGE_WIDTH = "min(100vw, 50rem)"
_ANY_WIDTH = 1_000_000


class ChapterPage(NamedTuple):
    """A chapter with its neighbours in reading order, and all chapters of its number if there are several."""

    series: Series
    chapter: Chapter
    previous: Chapter | None
    next: Chapter | None
    versions: tuple[Chapter, ...]


def chapter(page: PageContext, item: ChapterPage) -> Body:
    series, chapter = item.series, item.chapter
    shown, text, path = page.visible, page.text, page.page_of(chapter)
    title = chapter.heading
    head = PageHead(
        f"{title} – {series.title}",
        path,
        page.fill(text.about_chapter, chapter=title, series=series.title),
        series.cover,
        "article",
        _feeds(page, series),
        structured_data.chapter(page, series, chapter, page.site.base_url + path),
        series.language,
        series.rating == "explicit",
    )
    neighbours = (item.previous, item.next) if shown.chapters else (None, None)
    body = page.html(
        "chapter.html",
        head,
        series=series,
        chapter=chapter,
        published=cards.publication(page, chapter),
        groups=page.shared("groups_of_chapter.html", tuple(_groups(page, (chapter,)))),
        previous=neighbours[0],
        next=neighbours[1],
        is_last=shown.chapters and item.next is None,
        versions=_versions(page, item) if shown.chapters else [],
        path=path,
        images=chapter.pages if shown.images else (),
        archive=_archive(page, chapter.archive),
        strip=_strip(page, chapter),
        cover=page.image(series.cover),
        copies=page.copies(series.cover, series.cover_variants),
        hidden=not shown.images,
        # Part of older templates of themes.
        help="",
        sync=values.script_data(structured_data.tracked(page, series, chapter, neighbours[1])),
        discussion=links(page, series).discussion,
    )
    chapters = [other for other in (chapter, item.previous, item.next, *item.versions) if other]
    groups = (other.groups for other in (chapter, *item.versions))
    return Body(body, newest_of(series.modified, chapters, *groups))


def _archive(page: PageContext, archive: Archive | None) -> Link:
    """The link to the archive, with its size; without a path if there is none."""
    if not archive:
        return Link("", "")
    text = page.text.fill(page.text.download, size=values.file_size(archive.size))
    return Link(page.image(media_root(page.site) + archive.path), text)


def _strip(page: PageContext, chapter: Chapter) -> Html:
    """The images. Not in the template, where they would take half of the time of all pages."""
    root, name = escape(page.image(chapter.pages_root)), escape(page.text.page_name)
    usual = round(page.site.page_ratio * HEIGHT), HEIGHT
    sizes = (
        f'width="{width}" height="{height}"'
        for width, height in (size or usual for size in chapter.sizes or repeat(None))
    )
    images = (
        f'<img id="page-{number}" src="{root}{escape(file)}"{copies} {size} alt="{name} {number}" decoding="async"'
        f"{_FIRST * (number == 1)}{_LAZY * (number > _EAGER)}>"
        for number, (file, size, copies) in enumerate(
            zip(chapter.pages, sizes, _copies(page, chapter), strict=False), start=1
        )
    )
    return Html("\n".join(images))


def _copies(page: PageContext, chapter: Chapter) -> Iterable[str]:
    """The attributes that let a browser choose a copy of each page. The page itself is always one of the choices."""
    if not chapter.variants:
        return repeat("")
    pages = zip(chapter.pages, chapter.variants, strict=True)
    sets = (page.copies(chapter.pages_root + file, variants, _ANY_WIDTH) for file, variants in pages)
    return [f' srcset="{escape(copies)}" sizes="{_PAGE_WIDTH}"' if copies else "" for copies in sets]


def _versions(page: PageContext, item: ChapterPage) -> list[Link]:
    """The other chapters of the same number, by their groups, equal ones with their ids. One without has no page."""
    others = [version for version in item.versions if version is not item.chapter and version.page_path]
    names = [", ".join(group.name for group in version.groups) or page.text.no_group for version in others]
    counts = Counter(names)
    return [
        Link(page.page_of(version), f"{name} (id {version.id})" if counts[name] > 1 else name)
        for version, name in zip(others, names, strict=True)
    ]
