"""Apply a function to tasks in several processes. Results come in the order of the tasks."""

import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from .. import bounds, filesystem

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Task = TypeVar("Task")
Result = TypeVar("Result")

# The number of tasks that are sent together, and of batches that are submitted for each process.
_BATCH = 8
_SUBMITTED = 3

_function: Callable[[Any], Any]


def ordered_map(
    jobs: int, make: Callable[[], Callable[[Task], Result]], tasks: Iterable[Task], theme: Path | None = None
) -> Iterator[Result]:
    """Call a function with each task. Each process makes the function once, with `make`.

    A function that runs templates or texts of a theme needs its folder: then all tasks are done by bounded processes.
    """
    jobs = min(jobs, bounds.PROCESSES) if theme else jobs
    batches = _batches(iter(tasks))
    nothing: list[Task] = []
    first, second = next(batches, nothing), next(batches, nothing)
    if not theme and (jobs == 1 or not second):
        function = make()
        for batch in chain((first, second), batches):
            yield from map(function, batch)
        return
    with _pool(jobs if second else 1, make, theme) as pool:
        submitted: deque[Any] = deque()
        with _without_interrupts():
            submitted.extend(pool.submit(_apply, batch) for batch in (first, second))
        while submitted:
            while len(submitted) < _SUBMITTED * jobs and (batch := next(batches, nothing)):
                with _without_interrupts():  # some systems start a process for each of the first batches
                    submitted.append(pool.submit(_apply, batch))
            yield from submitted.popleft().result()


@contextmanager
def _pool(
    processes: int, make: Callable[[], Callable[[Any], Any]], theme: Path | None
) -> Iterator["ProcessPoolExecutor"]:
    """The processes. One that is killed is an error, with the place in the theme where it was."""
    # Imported here: the import takes longer than a small edit.
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    with filesystem.unnamed_file() if theme else nullcontext() as report:
        # Only a fork can pass an open file. On Linux, where it is safe, it also starts without imports; Python 3.14 has
        # another default.
        context = get_context("fork") if theme or sys.platform == "linux" else None
        with ProcessPoolExecutor(processes, context, initializer=_begin, initargs=(make, report)) as pool:
            try:
                yield pool
            except BrokenProcessPool:
                if report and theme and (error := bounds.error(report, theme)):
                    raise error from None
                message = "a worker process was killed, probably because memory ran out; --jobs 1 needs less"
                raise ChildProcessError(message) from None
            finally:  # nothing is left to cancel, except after an error or an interrupt
                pool.shutdown(cancel_futures=True)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block SIGINT while the processes start. They inherit this, so Ctrl-C interrupts the calling process only.

    An interrupt in the middle of a fork, or of a worker that holds a lock of the pool, could block all processes.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _batches(tasks: Iterator[Task]) -> Iterator[list[Task]]:
    while batch := list(islice(tasks, _BATCH)):
        yield batch


def _begin(make: Callable[[], Callable[[Any], Any]], report: BinaryIO | None) -> None:
    global _function
    if report:
        bounds.begin(report)
    _function = make()


def _apply(batch: list[Any]) -> list[Any]:
    return list(map(_function, batch))
