"""Warnings about pages of a chapter that are no images by the endings of their names.

These are warnings, not problems: a catalog that builds without problems builds with each later version. A page that
is there twice has no warning: sites that name images by their content have one file for equal pages.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice

from . import field_values
from .cut_texts import MAX_WARNINGS, CutText, further
from .messages import field_name
from .records import Chapter, Series
from .yaml.positions import YamlPath, read_positions

_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_TYPES = ", ".join(f".{ending}" for ending in field_values.IMAGE_TYPES)


def page_warnings(record: object, text: Callable[[], bytes]) -> list[CutText]:
    """Return the first warnings, and the number of further ones, of a file with one record; `text` reads the file."""
    faults = _faults(record)
    # All others need neither a message of their own nor a position.
    first = list(islice(faults, MAX_WARNINGS + 1))
    if not first:
        return []
    positions = read_positions(text())
    warnings = [CutText(*positions.position(path), field_name(path), message) for path, message in first]
    if len(first) > MAX_WARNINGS:
        count = 1 + sum(1 for _ in faults)
        warnings[MAX_WARNINGS:] = [further(count, warnings[MAX_WARNINGS], "page", "named")]
    return warnings


def _faults(record: object) -> Iterator[tuple[YamlPath, str]]:
    chapters: list[tuple[YamlPath, Chapter]] = [((), record)] if isinstance(record, Chapter) else []
    if isinstance(record, Series):
        chapters = [(("chapters", index), chapter) for index, chapter in enumerate(record.chapters)]
    for path, chapter in chapters:
        yield from (((*path, "pages"), message) for message in _messages(chapter.pages))


def _messages(pages: list[str]) -> Iterator[str]:
    for page in pages:
        is_image = page.rpartition(".")[2].lower() in field_values.IMAGE_TYPES
        if not is_image and _ENDING.search(page) and not field_values.is_url(page):
            yield f"{page} is no image by its ending; browsers and apps show {_TYPES}"
