"""Values that a function must refuse."""

import re
from collections.abc import Callable, Iterable
from typing import Any


def accepted(function: Callable[[Any], object], values: Iterable[Any], message: str) -> list[Any]:
    """Those of the values for which the function raises no ValueError with a message that matches."""
    taken = []
    for value in values:
        try:
            function(value)
            taken.append(value)
        except ValueError as error:
            if not re.search(message, str(error)):
                taken.append((value, str(error)))
    return taken
