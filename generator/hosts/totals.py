"""What a publish did, the same for every kind of target, and how it shows its progress."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple, TypeAlias

# A progress bar of so many steps: yields the function that advances it.
Counter: TypeAlias = Callable[[int], AbstractContextManager[Callable[[int], None]]]


class PublishTotals(NamedTuple):
    """The counts of a publish, or of what one would do."""

    # Objects or files that were sent, and their bytes.
    sent: int
    bytes: int
    # Those that the target had already, and those of older releases that were removed.
    kept: int
    removed: int
    release: str
