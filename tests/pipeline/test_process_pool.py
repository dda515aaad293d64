"""Work that processes share: everything is done once, answers come in order, and so does what goes wrong."""

import os
from collections.abc import Callable
from functools import partial

import pytest

from generator.pipeline import process_pool
from generator.pipeline.process_pool import ordered_map

# Only pytest's own workers have threads when they fork; the command line has none.
pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def plus(more: int) -> Callable[[int], tuple[int, int]]:
    return lambda number: (number + more, os.getpid())


def refuse() -> Callable[[int], int]:
    def work(number: int) -> int:
        if number == 30:
            raise OSError(28, "No space left on device", "a file")
        return number

    return work


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 8, 9, 100])
def test_answers_come_in_the_order_of_tasks(jobs: int, count: int) -> None:
    """However many there are, and whoever did them."""
    found = list(ordered_map(jobs, partial(plus, 1), range(count)))

    assert [answer for answer, _ in found] == list(range(1, count + 1))


def test_little_work_starts_no_process() -> None:
    """A small edit is done by whoever was asked."""
    found = list(ordered_map(8, partial(plus, 0), range(8)))

    assert {process for _, process in found} == {os.getpid()}


def test_much_work_is_shared() -> None:
    """Not by the process that hands it out."""
    found = list(ordered_map(2, partial(plus, 0), range(100)))

    assert os.getpid() not in {process for _, process in found}


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_goes_wrong_arrives(jobs: int) -> None:
    """With everything that a person has to be told."""
    with pytest.raises(OSError, match="No space left on device") as caught:
        list(ordered_map(jobs, refuse, range(100)))

    assert caught.value.filename == "a file"


def test_tasks_are_made_when_they_are_needed() -> None:
    """There may be more of them than fit into memory."""
    made = []
    tasks = (made.append(number) or number for number in range(1000))
    found = ordered_map(2, partial(plus, 0), tasks)
    next(found)

    assert len(made) < 100


def test_a_process_does_what_it_was_begun_with() -> None:
    """What happens inside each of them."""
    process_pool._begin(partial(plus, 5))

    assert [answer for answer, _ in process_pool._apply([1, 2])] == [6, 7]
