"""Warnings about values that are probably mistakes: pages that are no images, and names without a visible character.

These are warnings, not problems: a catalog that builds without problems builds with each later version. A page that
is there twice has no warning: sites that name images by their content have one file for equal pages.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeAlias

from ..errors import escaped
from . import field_values
from .cut_texts import MAX_WARNINGS, CutText, further
from .messages import field_name
from .records import Chapter, Record, Series
from .yaml.positions import YamlPath, read_positions

_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_TYPES = ", ".join(f".{ending}" for ending in field_values.IMAGE_TYPES)
# Controls, marks of format, and spaces. Letters that are newer than the tables of Python are in none of these.
_BLANK = {"Cc", "Cf", "Zl", "Zp", "Zs"}
# Letters and symbols without a form.
_FORMLESS = "\u115f\u1160\u2800\u3164\uffa0"
_Fault: TypeAlias = tuple[YamlPath, str]


def value_warnings(value: object, text: Callable[[], bytes]) -> list[CutText]:
    """Return the first warnings of each kind, and the numbers of further ones, of the checked value of a file.

    `text` reads the file.
    """
    return [
        *_warnings((fault for place in _records(value) for fault in _pages(*place)), text, "page", "named"),
        *_warnings((fault for place in _records(value) for fault in _names(*place)), text, "name", "written"),
    ]


def _warnings(faults: Iterator[_Fault], text: Callable[[], bytes], noun: str, verb: str) -> list[CutText]:
    # All others need neither a message of their own nor a position.
    first = list(islice(faults, MAX_WARNINGS + 1))
    if not first:
        return []
    positions = read_positions(text())
    warnings = [CutText(*positions.position(path), field_name(path), message) for path, message in first]
    if len(first) > MAX_WARNINGS:
        count = 1 + sum(1 for _ in faults)
        warnings[MAX_WARNINGS:] = [further(count, warnings[MAX_WARNINGS], noun, verb)]
    return warnings


def _records(value: object) -> Iterator[tuple[YamlPath, Record]]:
    if isinstance(value, Record):
        yield (), value
    for path, records in (((), value), (("chapters",), value.chapters if isinstance(value, Series) else ())):
        if isinstance(records, list):
            yield from (((*path, index), record) for index, record in enumerate(records))


def _pages(path: YamlPath, record: Record) -> Iterator[_Fault]:
    for page in record.pages if isinstance(record, Chapter) else ():
        is_image = page.rpartition(".")[2].lower() in field_values.IMAGE_TYPES
        if not is_image and _ENDING.search(page) and not field_values.is_url(page):
            yield (*path, "pages"), f"{page} is no image by its ending; browsers and apps show {_TYPES}"


def _names(path: YamlPath, record: Record) -> Iterator[_Fault]:
    for field in ("title", "name"):
        name = getattr(record, field, None)
        if name and all(map(_is_blank, name)):
            yield (*path, field), "has only spaces or invisible characters; write what readers should see"
    username = getattr(record, "username", "")
    if any(unicodedata.category(character) in _BLANK and character != " " for character in username):
        yield (*path, "username"), f"has an invisible character: {escaped(username)}; remove it"


def _is_blank(character: str) -> bool:
    return unicodedata.category(character) in _BLANK or character in _FORMLESS
