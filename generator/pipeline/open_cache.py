"""Open the cache for a function; rebuild a damaged cache, and use a temporary one if the folder is unusable."""

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from .. import filesystem
from ..catalog.garbage_collection import without_garbage_collection
from ..errors import FlatpanelError
from . import program_version
from .cache import FILE, Cache, Damaged
from .program_version import ProgramVersion
from .removals import TooManyRemoved

T = TypeVar("T")
# Called before waiting for another build.
Waiting = Callable[[], None]
Work = Callable[[Cache], T]


def with_cache(folder: Path | None, waiting: Waiting, work: Work[T]) -> T:
    """Open the cache in `folder` and run `work`. Rebuild a damaged cache once, then use a temporary one."""
    with (
        filesystem.scratch_folder() as scratch,
        without_garbage_collection(),
        _locked(folder, waiting) as (usable, refusal),
    ):
        for permanent in [usable] * 2 if usable else []:
            try:
                with closing(Cache(permanent, _own_version())) as cache:
                    return work(cache)
            except Damaged as error:
                refusal = str(error.__cause__ or "damaged")
                with suppress(OSError):  # the next attempt fails as well
                    filesystem.delete(permanent / FILE)
        try:
            with closing(Cache(scratch, None)) as cache:
                cache.refusal = refusal
                return work(cache)
        except Damaged as error:
            raise FlatpanelError(f"{scratch}: {error.__cause__}; TMPDIR names another place") from None


@functools.cache
def _own_version() -> ProgramVersion:
    """The version that this process runs. `serve --watch` goes on with it if the files of the program are replaced."""
    return program_version.current()


@contextmanager
def _locked(folder: Path | None, waiting: Waiting) -> Iterator[tuple[Path | None, str]]:
    """Create and lock the folder of the cache; None if that is impossible, and why."""
    refusal = ""
    is_new, parent_is_new = bool(folder and not folder.exists()), bool(folder and not folder.parent.exists())
    with ExitStack() as stack:
        if folder:
            try:
                filesystem.make_folder(folder, 0o700)
                stack.enter_context(filesystem.exclusive(folder, waiting))
            except OSError as error:
                folder, refusal = None, error.strerror or str(error)
        try:
            yield folder, refusal
        except TooManyRemoved:
            # A refused build leaves no new folder behind.
            if folder and is_new:
                filesystem.remove_tree(folder)
                if parent_is_new:
                    filesystem.remove_empty_folders(folder.parent)
            raise
