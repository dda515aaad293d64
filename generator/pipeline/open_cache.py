"""Open the cache for a piece of work, a temporary one where the folder cannot be used."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from .. import filesystem
from ..catalog import source_file
from ..errors import FlatpanelError
from . import up_to_date
from .cache import FILE, Cache, Damaged
from .removals import TooManyRemoved

T = TypeVar("T")
Waiting = Callable[[], None]


def with_cache(folder: Path | None, waiting: Waiting, work: Callable[[Cache, Path], T]) -> T:
    """Work with what is remembered, anew if it cannot be believed, and with nothing where nothing can be kept."""
    with (
        filesystem.scratch_folder() as scratch,
        source_file.without_garbage_collection(),
        _kept(folder, waiting) as kept,
    ):
        for place in (kept, kept) if kept else ():
            try:
                with closing(Cache(place, up_to_date.version())) as cache:
                    return work(cache, place)
            except Damaged:
                with suppress(OSError):  # nor can it be mended
                    filesystem.delete(place / FILE)
        try:
            with closing(Cache(scratch, up_to_date.version(), lasting=False)) as cache:
                return work(cache, scratch)
        except Damaged as error:
            raise FlatpanelError(f"{scratch}: {error.__cause__}; TMPDIR names another place") from None


@contextmanager
def _kept(folder: Path | None, waiting: Waiting) -> Iterator[Path | None]:
    """The folder, for ourselves; None if there cannot be one."""
    is_new, is_alone = bool(folder and not folder.exists()), bool(folder and not folder.parent.exists())
    with ExitStack() as stack:
        if folder:
            try:
                filesystem.make_folder(folder, 0o700)
                stack.enter_context(filesystem.exclusive(folder, waiting))
            except OSError:
                folder = None
        try:
            yield folder
        except TooManyRemoved:
            # A build that is refused leaves nothing behind.
            if folder and is_new:
                filesystem.remove_tree(folder)
                if is_alone:
                    filesystem.remove_empty_folders(folder.parent)
            raise
