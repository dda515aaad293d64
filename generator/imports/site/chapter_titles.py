"""The template of a series' full chapter titles: no response has it, so it is inferred from the titles."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from ...catalog import field_values

# Numbers in a title that may come from a field; each doubles the candidates.
_MAX_CHOICES = 6
_WORDS = ("title", "series", "date")
_NUMBERS = ("volume", "number")
_FIELDS = {f"{{{name}}}" for name in field_values.TITLE_FIELDS}
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?|\?)")


class TitleSample(NamedTuple):
    """A full title and the values of the template's fields."""

    full: str
    volume: int | None
    parts: Mapping[str, str]


def title_template(samples: Sequence[TitleSample]) -> str | None:
    """Return the template of all samples, the default one if that fits; None if there is none."""
    if not samples or _fits(field_values.DEFAULT_CHAPTER_TITLE, samples):
        return field_values.DEFAULT_CHAPTER_TITLE
    best = max(samples, key=lambda one: (one.volume is not None, bool(one.parts["title"]), len(one.parts["title"])))
    return next((template for template in _candidates(best) if _fits(template, samples)), None)


def _fits(template: str, samples: Sequence[TitleSample]) -> bool:
    return all(field_values.full_title(template, sample.volume, sample.parts) == sample.full for sample in samples)


def _candidates(sample: TitleSample) -> Iterator[str]:
    """Yield the templates that make this title. A number in it may be the volume, the chapter, or literal."""
    pieces = [sample.full]
    for name in sorted(_WORDS, key=lambda name: -len(sample.parts[name])):
        pieces = [part for piece in pieces for part in _with_field(piece, sample.parts[name], name)]
    pieces = [part for piece in pieces for part in _split_numbers(piece)]
    choices = [
        (*(f"{{{name}}}" for name in _NUMBERS if sample.parts[name] == piece), _literal(piece)) for piece in pieces
    ]
    if sum(len(choice) > 1 for choice in choices) <= _MAX_CHOICES:
        yield from map("".join, product(*choices))


def _literal(piece: str) -> str:
    return piece if piece in _FIELDS else piece.replace("{", "{{").replace("}", "}}")


def _with_field(piece: str, value: str, name: str) -> list[str]:
    """Split a text at each occurrence of a value, and put the field with this name there."""
    if not value or piece in _FIELDS:
        return [piece]
    pairs = ((part, f"{{{name}}}") for part in piece.split(value))
    return [part for pair in pairs for part in pair][:-1]


def _split_numbers(piece: str) -> list[str]:
    """Split a text into numbers and the text between them."""
    return [piece] if piece in _FIELDS else _NUMBER.split(piece)
