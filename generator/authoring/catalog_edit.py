"""Read a catalog that is about to be edited, and edit one of its files."""

from collections.abc import Callable

from ..catalog import cross_checks, reader
from ..catalog.confined_folder import Folder
from ..catalog.problems import locate
from ..catalog.reader import Sources
from ..errors import CatalogError, FlatpanelError


def checked(folder: Folder) -> Sources:
    """Everything that a catalog says, if it could be built."""
    sources = reader.read(folder)
    found = sources.complaints + cross_checks.complaints(sources)
    if found:
        raise CatalogError(locate.located(folder, found))
    return sources


def edited(folder: Folder, file: str, change: Callable[[], bytes]) -> bytes:
    """An edit that cannot be made knows why, but not in which file."""
    try:
        return change()
    except FlatpanelError as error:
        raise FlatpanelError(f"{folder / file}: {error}") from None
