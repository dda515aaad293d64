"""What a person should know after an import: sentences, each with the places that it is true of."""

from collections.abc import Iterator

from ...catalog.api_keys import hidden
from ...escaping import escaped

# So many places are named, the others are counted.
_NAMED = 5
_LONGEST = 250
# A site may give reasons for more of them than anybody reads, or a memory holds.
_MOST = 200_000


class Notes:
    """Sentences in the order in which they were said first."""

    def __init__(self) -> None:
        self._places: dict[str, dict[str, None]] = {}
        self._count = 0

    def add(self, sentence: str, place: str = "") -> None:
        self._count += 1
        if self._count <= _MOST:
            self._places.setdefault(_shown(sentence), {})[_shown(place)] = None

    def __iter__(self) -> Iterator[str]:
        for sentence, places in self._places.items():
            named = [one for one in places if one]
            others = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
            yield f"{', '.join(named[:_NAMED])}{others}: {sentence}" if named else sentence
        if self._count > _MOST:
            yield f"{self._count - _MOST} more notes are left out"


def _shown(text: str) -> str:
    """What a source told as it may stand on a terminal: no signs that command it, no key, and not much of anything."""
    found = hidden(escaped(text[: 40 * _LONGEST]))
    return found if len(found) <= _LONGEST else f"{found[:_LONGEST]}…"
