"""Feeds as values: what a feed reader takes from Atom, RSS and JSON Feed; and a small catalog that has them."""

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import Any

from generator.api import routes
from generator.api.pages import theme
from generator.api.payloads.resources import Resource
from generator.catalog.confined_folder import ConfinedFolder
from generator.catalog.entities import Catalog, Series
from tests.conftest import AS_OF
from tests.support.linked_catalog import read_catalog

# An escaped character above U+FFFF, which JSON writes as two.
_PAIR = re.compile(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}")
SITE = {"base_url": "https://comics.example", "title": "Paper Comics", "pages": True}


class FeedCatalog:
    """Files of a catalog. JSON is YAML, and its escapes have characters that YAML allows only as escapes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.series: dict[str, dict[str, Any]] = {}
        self.lists: dict[str, Any] = {"groups.yaml": [{"id": 5, "name": "Night Shift"}]}
        self.site: dict[str, Any] = dict(SITE)

    def add(self, slug: str, *chapters: dict[str, Any], **fields: Any) -> None:
        """Add a series; its chapters have ids, dates and a group unless they say otherwise."""
        self.series[slug] = {
            **{"title": slug.title(), "cover": "cover.jpg", "modified": "2026-01-02T03:04:05Z"},
            **fields,
            "chapters": [
                {"id": 10 * len(self.series) + position, "number": position, "published": f"2026-02-{position:02}"}
                | {"modified": f"2026-02-{position:02}T00:10:00Z", "groups": [5], "pages": ["1.png"]}
                | chapter
                for position, chapter in enumerate(chapters, 1)
            ],
        }

    def read(self, as_of: int = AS_OF) -> Catalog:
        """Write the files, and read them again."""
        values: dict[str, Any] = {"site.yaml": self.site, **self.lists}
        values |= {f"series/{slug}.yaml": series for slug, series in self.series.items()}
        for file in self.folder.rglob("*.yaml"):
            file.unlink()
        for name, value in values.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_PAIR.sub(lambda pair: str(json.loads(f'"{pair[0]}"')), json.dumps(value)))
        return read_catalog(ConfinedFolder(self.folder), as_of)


ATOM = "{http://www.w3.org/2005/Atom}"


@dataclass(frozen=True)
class Item:
    """An entry of a feed; times are whole seconds since 1970."""

    id: str
    url: str
    title: str
    published: int
    updated: int
    html: str
    enclosures: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class ParsedFeed:
    """A feed; `home` is the page with the same content, `own` the URL of the feed."""

    id: str
    title: str
    subtitle: str
    home: str
    own: str
    updated: int
    items: list[Item] = field(default_factory=list)


def seconds(text: str) -> int:
    """Whole seconds of a date of Atom or of JSON Feed."""
    return int(datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC).timestamp())


def read_xml(body: bytes, *, is_atom: bool) -> ParsedFeed:
    """An Atom feed, or an RSS feed, which has no date of an entry's last update, and no id of its own."""
    root = ElementTree.fromstring(body)
    assert is_atom == (root.tag == f"{ATOM}feed")
    assert is_atom or (root.tag, root.attrib["version"], len(root)) == ("rss", "2.0", 1)
    feed = root if is_atom else root[0]

    def text(element: ElementTree.Element, of_atom: str, of_rss: str) -> str:
        (child,) = element.findall(ATOM + of_atom if is_atom else of_rss)
        return child.text or ""

    def date(element: ElementTree.Element, of_atom: str, of_rss: str) -> int:
        value = text(element, of_atom, of_rss)
        return seconds(value) if is_atom else int(parsedate_to_datetime(value).timestamp())

    def links(element: ElementTree.Element, relation: str) -> list[str]:
        return [link.attrib["href"] for link in element.findall(f"{ATOM}link") if link.attrib["rel"] == relation]

    def url(element: ElementTree.Element) -> str:
        return links(element, "alternate")[0] if is_atom else text(element, "", "link")

    items = [
        Item(
            id=text(entry, "id", "guid"),
            url=url(entry),
            title=text(entry, "title", "title"),
            published=date(entry, "published", "pubDate"),
            updated=date(entry, "updated", "") if is_atom else 0,
            html=text(entry, "summary", "description"),
            enclosures=tuple(links(entry, "enclosure")),
            tags=tuple(one.attrib.get("term", one.text) for one in entry if one.tag in (f"{ATOM}category", "category")),
        )
        for entry in feed.findall(f"{ATOM}entry" if is_atom else "item")
    ]
    title, subtitle = text(feed, "title", "title"), text(feed, "subtitle", "description")
    id, updated = text(feed, "id", "") if is_atom else "", date(feed, "updated", "lastBuildDate")
    return ParsedFeed(id, title, subtitle, url(feed), links(feed, "self")[0], updated, items)


def read_json(body: bytes) -> ParsedFeed:
    """A JSON feed, which has no date, and no id of its own."""
    feed = json.loads(body)
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    items = [
        Item(
            id=item["id"],
            url=item["url"],
            title=item["title"],
            published=seconds(item["date_published"]),
            updated=seconds(item["date_modified"]),
            html=item["content_html"],
            tags=tuple(item["tags"]),
        )
        for item in feed["items"]
    ]
    return ParsedFeed("", feed["title"], feed["description"], feed["home_page_url"], feed["feed_url"], 0, items)


READERS = {"atom": partial(read_xml, is_atom=True), "rss": partial(read_xml, is_atom=False), "json": read_json}


def all_resources(catalog: Catalog) -> Iterator[Resource]:
    """Every resource of a catalog that has the chapters of its series in memory."""
    page = theme.context(catalog.site, catalog.theme)
    yield from routes.resources(catalog)
    yield from routes.apps(catalog, page)
    for row in range(len(routes.page_routes(catalog.site))):
        yield from routes.pages(catalog, page, row)
    for series in catalog.series:
        assert isinstance(series, Series)
        yield from routes.resources_of(series, page)


def bodies(catalog: Catalog) -> dict[str, bytes]:
    """The bodies with bytes of their own, by URL: pages, feeds and files."""
    made = {resource.url: resource.body.value for resource in all_resources(catalog)}
    return {url: body for url, body in made.items() if isinstance(body, bytes)}
