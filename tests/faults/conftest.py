"""A folder for hundreds of copies of a site."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.incremental_pair import in_memory


@pytest.fixture
def folder() -> Iterator[Path]:
    with in_memory() as path:
        yield path
