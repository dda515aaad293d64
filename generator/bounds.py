"""Bounds of processor time, memory and output for a process that runs the templates and texts of a theme, and for git.

The system enforces them: a signal ends a process that runs too long, even inside one call of a C function, and an
allocation beyond the memory fails. A process that ends writes its Python frames to a report first.
"""

import faulthandler
import os
import re
import resource
import signal
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from .errors import CatalogError, Problem

# Processor time in seconds, so a busy machine does not matter: for the first page, and added by each page. A page
# takes about a millisecond; the templates of a theme are compiled in a tenth of a second.
SECONDS, SECONDS_A_PAGE = 20.0, 0.05
# Memory beyond that of the process when a page begins.
MEMORY = 256 << 20
# Processes at once, on a machine of any size: all together stay below 1 GB.
PROCESSES = 3
# Characters of all pages: for the first page, and added by each page.
LENGTH, LENGTH_A_PAGE = 64 << 20, 1 << 20

# Only Linux tells the size of a process here, and only there the limit of memory is reliable.
_SIZE = "/proc/self/statm"
# What a theme can raise in a bounded process, besides errors of libraries. Jinja makes a name of a number like 1e999.
FAILURES = (ArithmeticError, AttributeError, LookupError, MemoryError, NameError, RuntimeError, TypeError, ValueError)

# Only files of a theme have no folder in a report: modules, and templates of the program, have their full path.
_PLACE = re.compile(r'File "([-a-z0-9_]+\.(?:html|md))", line (\d+)')


class Bounds:
    """What this process may still use. Use it as a context manager around a page; pages may be nested."""

    def __init__(self, report: BinaryIO) -> None:
        self._report = report
        self._seconds, self._length, self._depth = SECONDS, LENGTH, 0
        self._memory = resource.getrlimit(resource.RLIMIT_AS)
        self._size = os.open(_SIZE, os.O_RDONLY) if os.path.exists(_SIZE) else None

    def __enter__(self) -> "Bounds":
        self._depth += 1
        if self._depth == 1:
            if self._size is not None:
                size = int(os.pread(self._size, 20, 0).split()[0]) * resource.getpagesize()
                limits = (limit for limit in self._memory if limit != resource.RLIM_INFINITY)
                resource.setrlimit(resource.RLIMIT_AS, (min([size + MEMORY, *limits]), self._memory[1]))
            signal.setitimer(signal.ITIMER_PROF, self._seconds)
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._seconds = signal.setitimer(signal.ITIMER_PROF, 0)[0] + SECONDS_A_PAGE
            resource.setrlimit(resource.RLIMIT_AS, self._memory)

    def begin_file(self, name: str) -> None:
        """Report that a file of the theme is read: no frame has its name."""
        self._report.write(f'File "{name}", line 1\n'.encode())
        self._report.flush()

    def take(self, length: int) -> None:
        """Count the characters of a page. Raises ValueError if they are too many."""
        self._length += LENGTH_A_PAGE - length
        if self._length < 0:
            raise ValueError("is too long; a page can have 1 million characters on average")


_current: Bounds | None = None


def begin(report: BinaryIO) -> None:
    """Bound this process from now on."""
    global _current
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    faulthandler.enable(report)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    # Writes the frames, then does what the signal did before: it ends the process.
    faulthandler.register(signal.SIGPROF, report, chain=True)
    _current = Bounds(report)


def limit(process: int, memory: int, seconds: int) -> None:
    """Bound the memory and the processor time of another process. Files that it maps, such as packs, do not count."""
    if set_limit := getattr(resource, "prlimit", None):  # only Linux has it
        for kind, most in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, seconds)):
            with suppress(OSError):  # it has ended, or this system does not permit it
                soft, hard = set_limit(process, kind)
                set_limit(process, kind, (most if soft == resource.RLIM_INFINITY else min(soft, most), hard))


def of_process() -> Bounds:
    """The bounds of this process, which must have some: nothing of a theme is run in any other process."""
    assert _current, "not a bounded process"
    return _current


def message(error: Exception) -> str:
    """The message about one of FAILURES."""
    match error:
        case MemoryError():
            return f"needs more than {MEMORY >> 20} MB of memory"
        case RecursionError():
            return "is nested too deeply, or refers to itself"
        case ValueError() if str(error).startswith("Exceeds the limit"):
            return "has a number with too many digits"
    return str(error) or type(error).__name__


def error(report: BinaryIO, theme: Path) -> CatalogError | None:
    """The message about a process that ended, by its report; None for an empty report."""
    report.seek(0)
    text = report.read().decode("ascii", "replace")
    if "most recent call first" not in text:
        return None
    before, _, frames = text.rpartition("most recent call first")
    # The innermost frame comes first.
    file, line = [*_PLACE.findall(frames)[:1], *_PLACE.findall(before)[-1:], ("", "1")][0]
    if "Fatal Python error" in before:
        fault = "ends the process that reads it; it may be nested too deeply"
    else:
        fault = f"takes too much processor time; a theme can take {SECONDS:.0f} seconds, and more with each page"
    return CatalogError([Problem(str(theme / file), int(line), 1, "", fault)])
