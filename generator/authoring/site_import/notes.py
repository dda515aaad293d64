"""Notes of an import for people: sentences, each with the places that it applies to."""

from collections.abc import Iterator

from ...catalog.api_keys import redacted
from ...escaping import escaped

# Places that are named for each sentence; the rest is counted.
_NAMED = 5
_LONGEST = 250
# Bounds the memory that the notes about a hostile site take.
_MOST = 200_000


class Notes:
    """Sentences in the order in which they were added first."""

    def __init__(self) -> None:
        self._places: dict[str, dict[str, None]] = {}
        self._count = 0

    def add(self, sentence: str, place: str = "") -> None:
        self._count += 1
        if self._count <= _MOST:
            self._places.setdefault(_printable(sentence), {})[_printable(place)] = None

    def __iter__(self) -> Iterator[str]:
        for sentence, places in self._places.items():
            named = [place for place in places if place]
            more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
            yield f"{', '.join(named[:_NAMED])}{more}: {sentence}" if named else sentence
        if self._count > _MOST:
            yield f"{self._count - _MOST} more notes omitted"


def _printable(text: str) -> str:
    """A text of the site without control characters and API keys, cut to a few lines."""
    printable = redacted(escaped(text[: 40 * _LONGEST]))
    return printable if len(printable) <= _LONGEST else f"{printable[:_LONGEST]}…"
