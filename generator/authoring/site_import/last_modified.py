"""When each thing last changed, out of the dates of the answers that show it.

The date of an answer is that of the newest thing in it. So a thing is at most as new as the oldest answer that shows
it; and if each is taken to be exactly that new, every one of these answers gets its own date again: the newest thing
in it is never taken for newer than the answer, nor for older than it is.
"""

from collections.abc import Hashable, Iterable


class Dates:
    """The latest moment at which each thing can have changed."""

    def __init__(self) -> None:
        self._latest: dict[Hashable, int] = {}

    def saw(self, moment: int | None, things: Iterable[Hashable]) -> None:
        """An answer of that date shows these things."""
        if moment is not None:
            for thing in things:
                self._latest[thing] = min(self._latest.get(thing, moment), moment)

    def of(self, thing: Hashable) -> int | None:
        return self._latest.get(thing)
