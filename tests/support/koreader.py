"""What KOReader's OPDS plugin reads of a catalog of OPDS 1.2 (koreader/koreader, plugins/opds.koplugin @ fc88887).

Its parser is no XML parser: it fails at a hexadecimal character reference, and at more than tags and texts. Of elements
with one name it keeps the first, but all entries and links. It follows no 308.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

# All that the parser reads: tags, whose attributes are in double quotes, and texts.
_READ = re.compile(r'</?[\w:]+(?:\s+[\w:]+="[^"<]*")*\s*/?>|[^<>]+')
_CATALOG = "application/atom+xml"
_TO_LISTS = {None, "subsection", "http://opds-spec.org/subsection", "http://opds-spec.org/sort/new"}
_STREAM = "http://vaemendis.net/opds-pse/stream"
Element = dict[str, Any]


@dataclass
class Acquisition:
    """Something to download, or pages to load one by one if it has a number of them."""

    type: str
    url: str
    pages: int = 0

    def page(self, index: int) -> str:
        return self.url.replace("{pageNumber}", str(index))


@dataclass
class Item:
    """An entry of a menu: of a list, or of a publication."""

    text: str
    url: str = ""
    image: str = ""
    acquisitions: list[Acquisition] = field(default_factory=list)


def parse(body: bytes) -> Element:
    """The tree that the plugin makes of a document."""
    text = body.decode().removeprefix('<?xml version="1.0" encoding="utf-8"?>\n')
    assert (_READ.sub("", text), "&#x" in text) == ("", False)
    root = ElementTree.fromstring(text)
    return {_name(root): _value(root)}


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _value(element: ElementTree.Element) -> Any:
    if element.text:
        assert not len(element), f"text before an element in {_name(element)}"
        return element.text
    value: Element = dict(element.attrib)
    for child in element:
        if _name(child) in ("entry", "link"):
            value.setdefault(_name(child), []).append(_value(child))
        else:
            value.setdefault(_name(child), _value(child))
    return value


def menu(body: bytes, url: str) -> tuple[list[Item], str]:
    """The items of a list, and the URL of its next page."""
    feed = parse(body)["feed"]
    following = {link["rel"]: urljoin(url, link["href"]) for link in feed["link"] if _CATALOG in link.get("type", "")}
    return [_item(entry, url) for entry in feed.get("entry", ())], following.get("next", "")


def _item(entry: Element, url: str) -> Item:
    author = entry["author"]["name"] if "author" in entry else "Unknown Author"
    item = Item(f"{entry['title']} - {author}")
    for link in entry["link"]:
        relation, type, target = link.get("rel"), link.get("type", ""), urljoin(url, link["href"])
        if _CATALOG in type and relation in _TO_LISTS:
            item.url = target
        elif relation and relation.startswith("http://opds-spec.org/acquisition"):
            item.acquisitions.append(Acquisition(type, target))
        elif relation == _STREAM:
            counts = [int(value) for name, value in link.items() if name.endswith("}count")]
            item.acquisitions += [Acquisition(type, target, count) for count in counts]
        elif relation == "http://opds-spec.org/image":
            item.image = target
        else:
            assert relation in ("alternate", "http://opds-spec.org/image/thumbnail"), link
    return item


def publications(get: Callable[[str], bytes], start: str) -> Iterator[tuple[str, Item]]:
    """Every publication that the menus lead to from the start, with the URL of its list."""
    waiting, seen = [start], {start}
    while waiting:
        url = waiting.pop()
        items, following = menu(get(url), url)
        assert items, f"{url} is an empty menu, which the plugin does not open"
        for item in items:
            assert bool(item.url) != bool(item.acquisitions), item
            if item.acquisitions:
                yield url, item
        for target in [item.url for item in items if item.url] + [following] * bool(following):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
