"""Width and height of images, by the optional library imagesize, which reads headers only."""

from collections.abc import Callable
from typing import BinaryIO, TypeAlias

Size: TypeAlias = tuple[int, int]


def measuring() -> Callable[[BinaryIO], Size | None] | None:
    """Return a function that measures an open file; None if the library is not installed."""
    try:
        import imagesize  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        return None

    def measure(file: BinaryIO) -> Size | None:
        file.seek(0)
        # The size as stored: looking for a rotation takes minutes for a hostile AVIF.
        width, height = imagesize.get(file, exif_rotation=False)
        return (int(width), int(height)) if width > 0 and height > 0 else None

    return measure
