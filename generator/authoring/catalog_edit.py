"""Edit one file of a catalog."""

from collections.abc import Callable

from ..catalog.confined_folder import Folder
from ..errors import FlatpanelError


def edited(folder: Folder, file: str, change: Callable[[], bytes]) -> bytes:
    """An edit that cannot be made knows why, but not in which file."""
    try:
        return change()
    except FlatpanelError as error:
        raise FlatpanelError(f"{folder / file}: {error}") from None
