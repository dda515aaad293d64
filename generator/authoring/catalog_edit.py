"""Edit one file of a catalog."""

from collections.abc import Callable

from ..catalog.confined_folder import Folder
from ..errors import FlatpanelError


def edit(folder: Folder, file: str, change: Callable[[], bytes]) -> bytes:
    """Return the result of `change`; an error names the file."""
    try:
        return change()
    except FlatpanelError as error:
        raise FlatpanelError(f"{folder / file}: {error}") from None
