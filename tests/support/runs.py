"""The everyday run of the tests takes samples; a full run (`--everything`, `--part`) takes every case."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

# Set by conftest.py from the command line.
everything = False


def sample(cases: Sequence[T], step: int) -> list[T]:
    """Every `step`th case, always the same ones, and the last; in the full run all of them."""
    return list(cases) if everything else [*cases[:-1:step], *cases[-1:]]


def examples(number: int) -> int:
    """How many generated inputs a test takes: every day a quarter."""
    return number if everything else number // 4
