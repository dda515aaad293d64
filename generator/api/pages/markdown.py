"""Texts of the owner: Markdown to HTML, by the optional library markdown-it-py.

HTML in a text is shown as text, and links lead to http, https and mailto addresses or into the site.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from ...catalog.theme_files import Text

_SCHEMES = {"http", "https", "mailto"}
# Scheme, host and port of an image. Other hosts are not permitted by the Content-Security-Policy of the pages.
_ORIGIN = re.compile(r"\Ahttps?://[-a-z0-9._]+(?::[0-9]{1,5})?(?=[/?#]|\Z)", re.IGNORECASE)
# The alignment of a column, which the Content-Security-Policy forbids as a style of the element.
_CLASSES = {"text-align:left": "left", "text-align:center": "center", "text-align:right": "right"}


def converter() -> Callable[[str], Text] | None:
    """The function that converts a text; None if the library is not installed."""
    try:
        from markdown_it import MarkdownIt
    except ImportError:
        return None
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    # The library's own rule refuses schemes that it knows as dangerous; this one permits the schemes that are known.
    markdown.validateLink = _is_permitted  # type: ignore[method-assign]

    def convert(text: str) -> Text:
        tokens = markdown.parse(text)
        origins: set[str] = set()
        for token in _all(tokens):
            if style := token.attrs.pop("style", None):
                token.attrSet("class", _CLASSES.get(str(style), ""))
            if token.type == "image":
                origins |= {match[0].lower() for match in _ORIGIN.finditer(str(token.attrs["src"]))}
        return Text(markdown.renderer.render(tokens, markdown.options, {}), _title(tokens), tuple(sorted(origins)))

    return convert


def _is_permitted(url: str) -> bool:
    scheme = re.match(r"([^/?#]*?):", url.strip())
    return not scheme or scheme[1].lower() in _SCHEMES


def _all(tokens: list[Any]) -> list[Any]:
    return [item for token in tokens for item in (token, *_all(token.children or []))]


def _title(tokens: list[Any]) -> str:
    for token, following in pairwise(tokens):
        if token.type == "heading_open" and token.tag == "h1":
            return "".join(item.content for item in following.children or [] if item.type in ("text", "code_inline"))
    return ""
