"""What a publish did, the same for every kind of target."""

from typing import NamedTuple


class PublishTotals(NamedTuple):
    """The counts of a publish, or of what one would do."""

    # Objects or files that were sent, and their bytes.
    sent: int
    bytes: int
    # Those that the target had already, and those of older releases that were removed.
    kept: int
    removed: int
    release: str
