"""A pseudo-terminal for programs that behave differently on a terminal."""

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence


def on_a_terminal(
    command: Sequence[str], environment: Mapping[str, str], *, stdout: int | None = None
) -> tuple[int, str]:
    """The exit code of a command, and the content of its screen. Standard output may be redirected."""
    here, there = pty.openpty()
    printed = there if stdout is None else stdout
    process = subprocess.Popen(command, stdin=there, stdout=printed, stderr=there, env=dict(environment))
    os.close(there)
    shown = b""
    try:
        while part := os.read(here, 65536):
            shown += part
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(here)
    return process.wait(), shown.decode()
