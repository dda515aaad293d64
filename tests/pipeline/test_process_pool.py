"""The process pool: every task is done once, results are in order, and errors arrive."""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from generator.pipeline.process_pool import ordered_map

# Only workers of pytest have threads when they fork; the command line has none.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def plus(more: int) -> Callable[[int], tuple[int, int]]:
    return lambda number: (number + more, os.getpid())


def refuse() -> Callable[[int], int]:
    def work(number: int) -> int:
        if number == 30:
            raise OSError(28, "No space left on device", "a file")
        return number

    return work


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("count", [0, 9, 100])
def test_results_are_in_the_order_of_the_tasks(jobs: int, count: int) -> None:
    """For any number of tasks and processes."""
    results = list(ordered_map(jobs, partial(plus, 1), range(count)))

    assert [answer for answer, _ in results] == list(range(1, count + 1))


def test_few_tasks_start_no_process() -> None:
    """A small edit is done in the calling process."""
    results = list(ordered_map(8, partial(plus, 0), range(8)))

    assert {process for _, process in results} == {os.getpid()}


def test_many_tasks_are_done_by_other_processes() -> None:
    """The calling process only submits them."""
    results = list(ordered_map(2, partial(plus, 0), range(100)))

    assert os.getpid() not in {process for _, process in results}


def test_a_theme_gets_few_processes(tmp_path: Path) -> None:
    """Each of them may take much memory. Eight jobs are eight processes otherwise."""
    results = list(ordered_map(8, partial(plus, 0), range(1000), tmp_path))

    assert len({process for _, process in results}) <= 3


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_are_raised_in_the_calling_process(jobs: int) -> None:
    """With every sentence of their message."""
    with pytest.raises(OSError, match="No space left on device") as caught:
        list(ordered_map(jobs, refuse, range(100)))

    assert caught.value.filename == "a file"


def test_tasks_are_generated_on_demand() -> None:
    """All tasks together may be larger than memory."""
    generated = []
    tasks = (generated.append(number) or number for number in range(1000))
    results = ordered_map(2, partial(plus, 0), tasks)
    next(results)

    assert len(generated) < 100


def blocked_signals() -> Callable[[int], set[int]]:
    return lambda _: set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


def test_an_interrupt_reaches_the_calling_process_only() -> None:
    """Ctrl-C is sent to all processes; one that ends while it holds a lock would block the others."""
    results: Any = ordered_map(2, blocked_signals, range(100))
    in_workers = next(results)
    assert signal.SIGINT in in_workers
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())

    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt())
