"""Disable garbage collection where many objects are made.

A build without changes does this too, and must not import `reader`, which parses YAML.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection: parsing makes millions of objects, no cycles, and would take 50 % longer."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
