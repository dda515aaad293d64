"""System calls that fail at a chosen moment, as on a disk that is full, closed, read-only or broken."""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.killed_builds import CALLS

FAULTS = (errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO, errno.EMFILE)


@dataclass
class Fault:
    """The failed call, if there is one; calls of other processes are not counted here."""

    moment: int
    number: int
    calls: int = 0
    name: str = ""
    place: str = ""

    @property
    def sentence(self) -> str:
        return os.strerror(self.number)

    @property
    def struck(self) -> bool:
        return self.calls >= self.moment


@contextmanager
def failing_at(moment: int, number: int) -> Iterator[Fault]:
    """Let call number `moment` fail, counted from 1, in this process and in each that it starts."""
    fault, whole = Fault(moment, number), {name: getattr(os, name) for name in CALLS}
    try:
        for name, call in whole.items():
            setattr(os, name, _failing(fault, name, call))
        yield fault
    finally:
        for name, call in whole.items():
            setattr(os, name, call)


def _failing(fault: Fault, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def instead(*arguments: Any, **named: Any) -> Any:
        if name == "write" and not stat.S_ISREG(os.fstat(arguments[0]).st_mode):
            return call(*arguments, **named)  # a pipe between processes
        if name == "open" and (arguments[1] & os.O_PATH or "dir_fd" in named) and not arguments[1] & os.O_WRONLY:
            return call(*arguments, **named)  # reads the catalog; tests/catalog/test_links.py covers it
        fault.calls += 1
        if fault.calls != fault.moment:
            return call(*arguments, **named)
        fault.name, fault.place = name, str(arguments[0])
        if name != "write":
            raise OSError(fault.number, fault.sentence, arguments[0])
        if fault.number != errno.ENOSPC:  # a full disk writes nothing, a broken one half
            call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
        raise OSError(fault.number, fault.sentence)

    return instead
