"""How a series makes the full titles of its chapters, found out from some that it has made."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from ...catalog import field_values

_MAX_PLACES = 6
_WORDS = ("title", "series", "date")
_NUMBERS = ("volume", "number")
_FIELDS = {f"{{{name}}}" for name in field_values.TITLE_FIELDS}
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?|\?)")


class TitleSample(NamedTuple):
    """A full title, and what it was made of."""

    full: str
    volume: int | None
    parts: Mapping[str, str]


def template(made: Sequence[TitleSample]) -> str | None:
    """The template of all these titles; the usual one if it is that, None if there is none."""
    if not made or _makes(field_values.DEFAULT_CHAPTER_TITLE, made):
        return field_values.DEFAULT_CHAPTER_TITLE
    # A chapter with a volume and a title says most.
    telling = max(made, key=lambda one: (one.volume is not None, bool(one.parts["title"]), len(one.parts["title"])))
    return next((one for one in _candidates(telling) if _makes(one, made)), None)


def _makes(template: str, made: Sequence[TitleSample]) -> bool:
    try:
        field_values.chapter_title(template)
    except ValueError:
        return False
    return all(field_values.full_title(template, one.volume, one.parts) == one.full for one in made)


def _candidates(one: TitleSample) -> Iterator[str]:
    """Every template that could have made this title: a number in it may be the volume's, the chapter's or neither."""
    pieces = [one.full]
    for name in sorted(_WORDS, key=lambda name: -len(one.parts[name])):
        pieces = [part for piece in pieces for part in _around(piece, one.parts[name], f"{{{name}}}")]
    pieces = [part for piece in pieces for part in _digits(piece)]
    meanings = [(*(f"{{{name}}}" for name in _NUMBERS if one.parts[name] == piece), piece) for piece in pieces]
    if sum(len(choice) > 1 for choice in meanings) <= _MAX_PLACES:
        yield from map("".join, product(*meanings))


def _around(piece: str, value: str, field: str) -> list[str]:
    """A piece of text, with the field wherever its value stands."""
    if not value or piece in _FIELDS:
        return [piece]
    between = ((part, field) for part in piece.split(value))
    return [one for pair in between for one in pair][:-1]


def _digits(piece: str) -> list[str]:
    """A piece of text, apart from the numbers in it."""
    return [piece] if piece in _FIELDS else _NUMBER.split(piece)
