"""A build that is killed at a chosen call, as by a power cut or kill -9: in a process of its own, without clean-up."""

import os
from collections.abc import Callable
from typing import Any

# Every call by which the build changes something on the disk.
CALLS = ("open", "write", "utime", "replace", "rename", "symlink", "mkdir", "unlink", "rmdir", "chmod")
KILLED = 9


def killed_at(moment: int, work: Callable[[], object]) -> bool:
    """Kill `work` at its call number `moment`, counted from 1; False if it finished before."""
    child = os.fork()
    if not child:
        try:
            _die_at(moment)
            work()
            os._exit(0)
        finally:
            # An exception must not continue in a second copy of pytest.
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, KILLED), "the build failed by itself"
    return status == KILLED


def _die_at(moment: int) -> None:
    calls = 0

    def deadly(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def instead(*arguments: Any, **named: Any) -> Any:
            nonlocal calls
            # Opening a file counts if it empties the file; half a write covers the other cases.
            calls += name != "open" or bool(arguments[1] & os.O_TRUNC and os.path.exists(arguments[0]))
            if calls < moment:
                return call(*arguments, **named)
            if name == "write":  # half of it reaches the disk
                call(arguments[0], arguments[1][: len(arguments[1]) // 2])
            os._exit(KILLED)

        return instead

    for name in CALLS:
        setattr(os, name, deadly(name, getattr(os, name)))
