"""What KOReader's OPDS plugin reads of a catalog of OPDS 1.2 (koreader/koreader, plugins/opds.koplugin @ fc88887).

Its parser is no XML parser. Of elements with one name it keeps the first, but all entries and links. It knows five
named character references and decimal ones, and fails at a hexadecimal one. It follows no 308.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

_TOKEN = re.compile(
    r'<(?P<end>/?)(?P<name>[\w:]+)(?P<attributes>(?:\s+[\w:]+="[^"<]*")*)\s*(?P<empty>/?)>|(?P<text>[^<>]+)'
)
_ATTRIBUTE = re.compile(r'([\w:]+)="([^"]*)"')
_REFERENCE = re.compile(r"&(#?)([0-9A-Za-z]+);")
_NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
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


def _unescaped(text: str) -> str:
    return _REFERENCE.sub(lambda match: chr(int(match[2])) if match[1] else _NAMED.get(match[2], match[0]), text)


def parse(body: bytes) -> Element:
    """The tree that the plugin makes of a document."""
    text = body.decode().removeprefix('<?xml version="1.0" encoding="utf-8"?>\n')
    root: Element = {}
    stack: list[tuple[str, Any]] = [("", root)]
    position = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        assert token, f"not read: {text[position : position + 60]}"
        position = token.end()
        if token["text"]:
            stack[-1] = (stack[-1][0], _unescaped(token["text"]))
        elif token["end"]:
            name, value = stack.pop()
            assert name == token["name"]
            _put(stack[-1][1], name, value)
        else:
            value = {name: _unescaped(value) for name, value in _ATTRIBUTE.findall(token["attributes"])}
            if token["empty"]:
                _put(stack[-1][1], token["name"], value)
            else:
                stack.append((token["name"], value))
    assert len(stack) == 1
    return root


def _put(parent: Element, name: str, value: Any) -> None:
    if name in ("entry", "link"):
        parent.setdefault(name, []).append(value)
    else:
        parent.setdefault(name, value)


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
            counts = [int(value) for name, value in link.items() if name.endswith(":count")]
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
