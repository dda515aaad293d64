"""Warnings about pages of a chapter that are no images by the endings of their names.

These are warnings, not problems: a catalog that builds without problems builds with each later version. A page that
is there twice has no warning: sites that name images by their content have one file for equal pages.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice

from . import field_values
from .cut_texts import MAX_WARNINGS, CutText
from .messages import field_name
from .records import Chapter, Series
from .yaml.positions import YamlPath, read_positions

_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")
_TYPES = ", ".join(f".{ending}" for ending in field_values.IMAGE_TYPES)


def page_warnings(record: object, text: Callable[[], bytes]) -> list[CutText]:
    """Return the first warnings of a file with one record; `text` reads the file."""
    faults = list(islice(_faults(record), MAX_WARNINGS))
    positions = read_positions(text()) if faults else None
    return [CutText(*positions.position(path), field_name(path), message) for path, message in faults if positions]


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
