"""Two sites that are compared."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.fake_site import FakeSite, serving, small

Pair = tuple[FakeSite, FakeSite]


@pytest.fixture
def sites() -> Iterator[Pair]:
    """Two equal sites."""
    with ExitStack() as stack:
        first, second = (stack.enter_context(serving(small())) for _ in range(2))
        yield first, second
