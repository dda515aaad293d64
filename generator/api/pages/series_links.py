"""The links of a series to other sites, as pages show them and as structured data names them."""

from typing import NamedTuple

from ...catalog.entities import Series
from ...catalog.records import Links
from .context import Link, PageContext

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class SeriesLinks(NamedTuple):
    """The links of a series, and which of them describe the same series; `discussion` is empty if there is none."""

    all: list[Link]
    same: list[str]
    discussion: str
    # The ids, for programs that note progress.
    ids: Links


def links(page: PageContext, series: Series) -> SeriesLinks:
    """The links that pages show: the official one first. Without the details of series, there are none."""
    record = series.record.links if page.visible.details else Links.model_construct()
    same = [
        Link(address, name)
        for name, address in (
            (page.text.official, record.official),
            ("AniList", record.anilist and f"https://anilist.co/manga/{record.anilist}"),
            ("MyAnimeList", record.mal and f"https://myanimelist.net/manga/{record.mal}"),
            (
                "MangaUpdates",
                record.mangaupdates and f"https://www.mangaupdates.com/series/{_in_base_36(record.mangaupdates)}",
            ),
        )
        if address
    ]
    discussion = [Link(record.discussion, page.text.discussion)] if record.discussion else []
    return SeriesLinks([*same, *discussion], [link.path for link in same], record.discussion or "", record)


def _in_base_36(number: int) -> str:
    """A number as MangaUpdates writes it in URLs."""
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits
