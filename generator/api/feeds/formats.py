"""The formats of feeds: Atom (RFC 4287), RSS 2.0 and JSON Feed 1.1.

XML is written as text: a parser is not needed, and every value passes through `xml_text`.
"""

from collections.abc import Callable
from mimetypes import guess_type
from typing import Any
from urllib.parse import urlsplit

from ... import encoding
from ...catalog.field_values import iso
from ..pages.context import PageContext
from ..payloads.resources import ATOM, JSON_FEED, RSS, Body
from .payloads import Feed, FeedEntry

# Of a feed whose content has no known language, and of subtitles.
_LANGUAGE = "en"
# Media RSS, for the ratings of entries: its scheme has two values.
_MEDIA = ' xmlns:media="http://search.yahoo.com/mrss/"'
_RATINGS = {"safe": "nonadult", "suggestive": "nonadult", "explicit": "adult"}
DECLARATION = '<?xml version="1.0" encoding="utf-8"?>\n'
xml_text = encoding.xml_text


def atom(page: PageContext, feed: Feed) -> bytes:
    author = xml_text(page.title)
    of_subtitle = f' xml:lang="{_LANGUAGE}"' if feed.language else ""
    head = (
        f'{DECLARATION}<feed xml:lang="{feed.language or _LANGUAGE}" xmlns="http://www.w3.org/2005/Atom"{_media(feed)}>'
        f'<title>{xml_text(feed.title)}</title><link href="{xml_text(feed.url)}" rel="alternate"/>'
        f'<link href="{_own_url(page, feed, "atom")}" rel="self" type="{_plain(ATOM)}"/><id>{xml_text(feed.id)}</id>'
        f"<updated>{iso(feed.updated)}</updated><author><name>{author}</name></author>"
        f"<subtitle{of_subtitle}>{xml_text(feed.subtitle)}</subtitle>"
    )
    return "".join((head, *map(_atom_entry, feed.entries), "</feed>")).encode()


def _atom_entry(entry: FeedEntry) -> str:
    type = guess_type(urlsplit(entry.image).path)[0] if entry.is_series else None
    enclosure = f'<link href="{xml_text(entry.image)}" rel="enclosure" type="{type}"/>' if type else ""
    tags = "".join(f'<category term="{xml_text(tag)}"/>' for tag in entry.tags)
    language = f' xml:lang="{entry.language}"' if entry.language else ""
    return (
        f'<entry{language}><title>{xml_text(entry.title)}</title><link href="{xml_text(entry.url)}" rel="alternate"/>'
        f"<published>{iso(entry.published)}</published><updated>{iso(entry.updated)}</updated>"
        f'<id>{xml_text(entry.id)}</id><summary type="html">{xml_text(entry.html)}</summary>'
        f"{enclosure}{tags}{_rating(entry)}</entry>"
    )


def _media(feed: Feed) -> str:
    """The namespace of ratings, if an entry has one."""
    return _MEDIA if any(entry.rating for entry in feed.entries) else ""


def _rating(entry: FeedEntry) -> str:
    return f'<media:rating scheme="urn:simple">{_RATINGS[entry.rating]}</media:rating>' if entry.rating else ""


def rss(page: PageContext, feed: Feed) -> bytes:
    minutes = max(1, page.site.cache.pages // 60)
    head = (
        f'{DECLARATION}<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"{_media(feed)}><channel>'
        f"<title>{xml_text(feed.title)}</title><link>{xml_text(feed.url)}</link>"
        f"<description>{xml_text(feed.subtitle)}</description>"
        f'<atom:link href="{_own_url(page, feed, "rss")}" rel="self" type="{_plain(RSS)}"/>'
        f"<language>{feed.language or _LANGUAGE}</language><lastBuildDate>{_rss_date(feed.updated)}</lastBuildDate>"
        f"<ttl>{minutes}</ttl>"
    )
    return "".join((head, *map(_rss_item, feed.entries), "</channel></rss>")).encode()


def _rss_item(entry: FeedEntry) -> str:
    is_link = "true" if entry.id == entry.url else "false"
    tags = "".join(f"<category>{xml_text(tag)}</category>" for tag in entry.tags)
    return (
        f"<item><title>{xml_text(entry.title)}</title><link>{xml_text(entry.url)}</link>"
        f"<description>{xml_text(entry.html)}</description><pubDate>{_rss_date(entry.published)}</pubDate>"
        f'<guid isPermaLink="{is_link}">{xml_text(entry.id)}</guid>{tags}{_rating(entry)}</item>'
    )


def json_feed(page: PageContext, feed: Feed) -> bytes:
    return encoding.json(
        {
            "version": "https://jsonfeed.org/version/1.1",
            "title": feed.title,
            "home_page_url": feed.url,
            "feed_url": f"{page.site.base_url}{feed.path}.json",
            "description": feed.subtitle,
            "language": feed.language or _LANGUAGE,
            "authors": [{"name": page.title, "url": f"{page.site.base_url}/"}],
            "items": list(map(_json_item, feed.entries)),
        }
    )


def _json_item(entry: FeedEntry) -> dict[str, object]:
    return {
        "id": entry.id,
        "url": entry.url,
        "title": entry.title,
        "content_html": entry.html,
        **({"image": entry.image} if entry.image else {}),
        "date_published": iso(entry.published),
        "date_modified": iso(entry.updated),
        "tags": entry.tags,
        **({"language": entry.language} if entry.language else {}),
        **({"_flatpanel": {"rating": entry.rating}} if entry.rating else {}),
    }


# By the ending of the path: the content type, and the function that writes the format.
FORMATS = {"atom": (ATOM, atom), "rss": (RSS, rss), "json": (JSON_FEED, json_feed)}


def written_as(format: str, feed: Callable[[PageContext, Any], Feed]) -> Callable[[PageContext, Any], Body]:
    """The payload of a route: a feed in the format `atom`, `rss` or `json`."""
    _, write = FORMATS[format]

    def payload(page: PageContext, value: Any) -> Body:
        made = feed(page, value)
        return Body(write(page, made), made.modified)

    return payload


def _own_url(page: PageContext, feed: Feed, format: str) -> str:
    return xml_text(f"{page.site.base_url}{feed.path}.{format}")


def _plain(type: str) -> str:
    """A content type without its charset."""
    return type.partition(";")[0]


def _rss_date(seconds: int) -> str:
    """A date of RFC 822, with the zone in digits: some readers do not know `GMT`."""
    return encoding.http_date(seconds).replace("GMT", "+0000")
