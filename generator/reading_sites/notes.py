"""Notes of an import for people: sentences, each with the places that it applies to, in groups.

The summary has one line for each group; the details have one line for each note.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..catalog.api_keys import redacted
from ..errors import counted, escaped

# Places that are named for each sentence; the rest is counted.
_NAMED = 5
# Sentences of a group that the summary has whole.
_FEW = 3
_LONGEST = 250
# The summary shortens places to this many characters, with those between place and sentence, but not further.
_PLACE = 60
# Bounds the memory that the notes about a hostile site take.
_MOST = 200_000
# A screen has 40 lines. The counts of the import and the names of files are printed, too.
LINES = 26
WIDTH = 196


class Note(NamedTuple):
    """A sentence about a place, in a group."""

    sentence: str
    place: str
    group: str


class Notes:
    """Sentences in the order in which they were added first."""

    def __init__(self) -> None:
        # By group, then by sentence: the places.
        self._groups: dict[str, dict[str, dict[str, None]]] = {}
        self._count = 0

    def add(self, sentence: str, place: str = "", group: str = "") -> None:
        """Add a note. Many sentences of one group share a line of the summary; without a group, equal ones do."""
        self._count += 1
        if self._count <= _MOST:
            sentences = self._groups.setdefault(_printable(group or sentence), {})
            sentences.setdefault(_printable(sentence), {})[_printable(place)] = None

    def __iter__(self) -> Iterator[str]:
        for sentences in self._groups.values():
            for sentence, places in sentences.items():
                yield _line(sentence, places)
        yield from self._omitted()

    def each(self) -> Iterator[Note]:
        """Yield the notes one by one, as `add` takes them."""
        for group, sentences in self._groups.items():
            for sentence, places in sentences.items():
                for place in places:
                    yield Note(sentence, place, group)

    def summary(self) -> list[str]:
        """Return a screen of lines."""
        lines = [line for group, sentences in self._groups.items() for line in _lines(group, sentences)]
        if len(lines) > LINES:
            lines[LINES - 1 :] = [f"{len(lines) - LINES + 1} more notes are in the details"]
        return [*lines, *self._omitted()]

    def details(self) -> str:
        """Return one line for each note below the heading of its group."""
        lines = []
        for group, sentences in self._groups.items():
            lines += ["", f"{group} ({sum(map(len, sentences.values()))})"]
            lines += [f"  {place}: {sentence}" for sentence, places in sentences.items() for place in places if place]
        return "".join(f"{line}\n" for line in (*lines, *self._omitted()))

    def _omitted(self) -> Iterator[str]:
        if self._count > _MOST:
            yield f"{counted(self._count - _MOST, 'more note')} omitted"


def _line(sentence: str, places: Iterable[str], most: int = _NAMED) -> str:
    named = [place for place in places if place]
    more = f" and {len(named) - most} more" if len(named) > most else ""
    return f"{', '.join(named[:most])}{more}: {sentence}" if named else sentence


def _lines(group: str, sentences: dict[str, dict[str, None]]) -> Iterator[str]:
    """Yield the lines of a group: few sentences, or their heading."""
    if len(sentences) <= _FEW:
        yield from (_fitted(sentence, places) for sentence, places in sentences.items())
    else:
        yield _fitted(group, dict.fromkeys(place for places in sentences.values() for place in places))


def _fitted(sentence: str, places: Iterable[str]) -> str:
    """Return a line with as many places as fit.

    If there is no such line, the place loses its middle, because the sentence may have a command for people to run.
    Only then, the sentence loses its end.
    """
    lines = [_line(sentence, places, most) for most in range(_NAMED, 0, -1)]
    line = next((line for line in lines if len(line) <= WIDTH), "")
    if not line:
        place = lines[-1].removesuffix(sentence)
        line = _without_middle(place, max(_PLACE, WIDTH - len(sentence))) + sentence
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


def _without_middle(text: str, length: int) -> str:
    """Shorten a text. Two thirds of the rest are its end, where a path names the file."""
    if len(text) <= length:
        return text
    start = length // 3
    return f"{text[:start]}…{text[start + 1 - length :]}"


def _printable(text: str) -> str:
    """A text of the site without control characters and API keys, cut to a few lines."""
    return _without_middle(redacted(escaped(text[: 40 * _LONGEST])), _LONGEST)
