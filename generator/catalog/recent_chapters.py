"""What a summary keeps of the chapters of a series for pages and feeds: the newest ones, and where images come from."""

from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from .chapter_fields import RecentChapter, with_url
from .entities import Chapter

# The number of chapters of a series, and of a series and a group, in lists of the latest chapters and in feeds.
RECENT = 30


def recent_chapters(chapters: Sequence[Chapter]) -> tuple[RecentChapter, ...]:
    """The newest chapters, and the newest ones of each group."""
    versions = Counter((chapter.volume, chapter.number) for chapter in chapters)
    counts: Counter[int] = Counter()
    recent: list[RecentChapter] = []
    for position, chapter in enumerate(sorted(with_url(chapters), key=lambda chapter: chapter.newest_first)):
        groups = tuple(group.id for group in chapter.groups)
        if position < RECENT or any(counts[group] < RECENT for group in groups):
            recent.append(_recent(chapter, groups, versions[chapter.volume, chapter.number] > 1))
        counts.update(groups)
    return tuple(recent)


def _recent(chapter: Chapter, groups: tuple[int, ...], shares_number: bool) -> RecentChapter:
    return RecentChapter(
        id=chapter.id,
        heading=chapter.heading,
        path=chapter.path,
        published=chapter.published,
        modified=chapter.modified,
        groups=groups,
        shares_number=shares_number,
        newest_first=chapter.newest_first.hex(),
        scheduled=chapter.scheduled,
    )


def image_origins(cover: str, chapters: Iterable[Chapter]) -> tuple[str, ...]:
    """Scheme and host of every image of a series, in the order of their names."""
    # All folders of a series usually begin alike.
    roots = {"/".join(chapter.pages_root.split("/", 3)[:3]) for chapter in chapters if chapter.pages}
    return tuple(sorted({origin(cover), *map(origin, roots)}))


def origin(url: str) -> str:
    """Scheme, host and port of a URL."""
    scheme, authority, *_ = urlsplit(url)
    return f"{scheme}://{authority.rpartition('@')[2]}"
