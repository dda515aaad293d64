"""What previews mark: a chapter that is not published yet has a note in place of its date."""

from datetime import UTC, datetime

from ...catalog.chapter_fields import RecentChapter
from ...catalog.entities import Chapter
from ...templating import Html
from . import values
from .context import PageContext


def published(page: PageContext, chapter: Chapter | RecentChapter) -> Html:
    """The date of a chapter, or when it will be published."""
    if not chapter.scheduled:
        return values.time(chapter.published)
    date = datetime.fromtimestamp(chapter.published, UTC).strftime("%Y-%m-%d %H:%M UTC")
    mark = page.text.fill(page.text.preview_scheduled, date=date)
    return Html(page.render("mark.html", mark=mark).decode())
