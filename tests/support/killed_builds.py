"""A build that is killed at a chosen call, as by a power cut or kill -9: in a process of its own, without clean-up."""

import json
import os
import posix
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

# Every call by which the build changes something on the disk.
CALLS = ("open", "write", "utime", "replace", "rename", "symlink", "mkdir", "unlink", "rmdir", "chmod")
KILLED = 9
_PROGRAM = str(ROOT / "generator")


@contextmanager
def intercepted(instead: Callable[..., Any]) -> Iterator[None]:
    """Call a function instead of each of CALLS, with its name and itself before its arguments."""
    whole = {name: getattr(os, name) for name in CALLS}
    try:
        for name, call in whole.items():
            setattr(os, name, partial(instead, name, call))
        yield
    finally:
        for name, call in whole.items():
            setattr(os, name, call)


def refusing(name: str, number: int, file: str = "") -> AbstractContextManager[None]:
    """Let each call of this name fail: every write, or every other call for a file whose path ends so."""

    def refuse(called: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        if called == name and (name == "write" or str(arguments[0]).endswith(file)):
            raise OSError(number, os.strerror(number), *(() if name == "write" else arguments[:1]))
        return call(*arguments, **named)

    return intercepted(refuse)


def killed_at(moment: int, work: Callable[[], object]) -> bool:
    """Kill `work` at its call number `moment`, counted from 1; False if it finished before."""

    def die(calls: int, name: str, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        if calls >= moment:
            if name == "write":  # half of it reaches the disk
                call(arguments[0], arguments[1][: len(arguments[1]) // 2])
            os._exit(KILLED)

    status = _in_a_child(die, work)
    assert status in (0, KILLED), "the build failed by itself"
    return status == KILLED


def moments(work: Callable[[], object], folder: Path) -> list[int]:
    """The calls at which to kill `work`: the first and the last one of each place in the program that makes a call."""
    last: dict[str, list[int]] = {}

    def note(calls: int, name: str, call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        places = (f"{frame.f_code.co_filename}:{line}" for frame, line in traceback.walk_stack(sys._getframe()))
        key = " ".join((name, *(place for place in places if place.startswith(_PROGRAM))))
        last[key] = [*last.get(key, [])[:1], calls]

    def counted() -> None:
        work()
        with (folder / "moments.json").open("w") as file:
            json.dump(sorted({calls for both in last.values() for calls in both}), file)

    assert _in_a_child(note, counted) == 0
    found: list[int] = json.loads((folder / "moments.json").read_text())
    (folder / "moments.json").unlink()
    return found


def _in_a_child(
    see: Callable[[int, str, Callable[..., Any], tuple[Any, ...]], None], work: Callable[[], object]
) -> int:
    """Call `see` with the number of each call, before it is made. The exit code."""
    calls = 0

    def watched(name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        nonlocal calls
        # Opening a file counts if it empties the file; half a write covers the other cases.
        if name != "open" or (arguments[1] & os.O_TRUNC and os.path.exists(arguments[0])):
            calls += 1
            see(calls, name, call, arguments)
        return call(*arguments, **named)

    child = os.fork()
    if not child:
        # An exception must not continue in a second copy of pytest.
        with suppress(BaseException):
            # Coverage takes most of the time of a small build, and at its end it writes all that pytest has measured.
            sys.settrace(None)
            os._exit = posix._exit
            with intercepted(watched):
                work()
            os._exit(0)
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
