"""Smaller copies of an image as WebP, by the optional library Pillow.

Images may be hostile: only a few formats are read, the number of pixels is checked before any is decoded, and large
images are decoded one after the other. The same image gives the same bytes with the same version of Pillow.
"""

import re
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from PIL.Image import Image

# A page of 1,600 pixels in width may be 25,000 high. Decoded, it has 4 bytes a pixel, and copies of it are made.
MAX_PIXELS = 40_000_000
# Images with more pixels are decoded one at a time.
_LARGE = 8_000_000
_one_large_image = threading.Lock()
# A usual progressive JPEG has about 10. Each takes as long as decoding the image, and a small file can have thousands.
_MAX_SCANS, _MAX_SCANS_IF_LARGE = 100, 25
# Inside a scan, only bytes that are no marker of a segment follow 0xff.
_SEGMENT = re.compile(rb"\xff[^\x00\x01\xd0-\xd7\xff]")
_START_OF_SCAN, _END_OF_IMAGE = b"\xff\xda", b"\xff\xd9"
# The largest width and height of WebP.
_MAX_SIDE = 16_383
_QUALITY = 75
_FORMATS = ("AVIF", "GIF", "JPEG", "PNG", "WEBP")
# A JPEG may contain other images than its first, which browsers do not show.
_ANIMATED = ("AVIF", "GIF", "PNG", "WEBP")
# The field of the metadata, an image as it is stored, and the first orientation that swaps width and height.
_ORIENTATION, _UPRIGHT, _LYING = 0x0112, 1, 5
# What decoders raise for damaged files.
_FAILURES = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, NotImplementedError, OSError),
    *(RuntimeError, SyntaxError, TypeError, ValueError, struct.error),
)


@dataclass(frozen=True, slots=True)
class Copies:
    """The width of an image, its smaller copies by width, and what a reader of a report should know of it."""

    width: int
    by_width: dict[int, bytes]
    # Such as "CMYK"; the copies have 8 bits of red, green and blue, and are upright.
    converted: str = ""
    is_animated: bool = False


class Unusable(Exception):
    """An image of which no copy can be made."""


Copier: TypeAlias = Callable[[bytes, Sequence[int]], Copies]


def copier() -> Copier | None:
    """Return the function that makes copies of a file in the given widths; None if the library is not installed."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        return None
    return _copies


def _copies(content: bytes, widths: Sequence[int]) -> Copies:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(fp=BytesIO(content), formats=_FORMATS) as image:
            pixels = image.width * image.height
            if pixels > MAX_PIXELS:
                raise Unusable(_too_large())
            scans = _scans(content) if content.startswith(b"\xff\xd8") else 0
            if scans > (limit := _MAX_SCANS_IF_LARGE if pixels > _LARGE else _MAX_SCANS):
                raise Unusable(f"has more than {limit} scans; save the image again")
            if image.format in _ANIMATED and getattr(image, "is_animated", False):
                return Copies(image.width, {}, is_animated=True)
            with _one_large_image if pixels > _LARGE else nullcontext():
                return _copies_of(image, len(content), widths)
    except Image.DecompressionBombError:
        raise Unusable(_too_large()) from None
    except UnidentifiedImageError:
        raise Unusable("is not an image, or of a format that cannot be read") from None
    except _FAILURES as error:
        raise Unusable(f"cannot be read: {' '.join(str(error).split()) or type(error).__name__}") from None


def _scans(content: bytes) -> int:
    """The number of scans of a JPEG. The segments between them begin with their length, and contain any bytes."""
    scans, end = 0, 2
    while (segment := _SEGMENT.search(content, end)) and segment[0] != _END_OF_IMAGE:
        scans += segment[0] == _START_OF_SCAN
        end = segment.end() + int.from_bytes(content[segment.end() : segment.end() + 2])
    return scans


def _too_large() -> str:
    return f"has more than {MAX_PIXELS // 1_000_000} megapixels; make the image smaller"


def _copies_of(image: "Image", size: int, widths: Sequence[int]) -> Copies:
    from PIL import ImageOps
    from PIL.Image import Resampling

    orientation = _orientation(image)
    width = image.height if orientation >= _LYING else image.width
    if width < min(widths):
        return Copies(width, {})
    conversions = []
    if image.mode == "CMYK":
        conversions.append("CMYK")
    if image.mode.startswith(("I", "F")):
        conversions.append("16 bits")
    upright = image
    if orientation != _UPRIGHT:
        conversions.append("rotated")
        upright = ImageOps.exif_transpose(image)
    coloured = _in_standard_colours(upright)
    copies = {}
    for width in widths:
        height = max(1, round(coloured.height * width / coloured.width))
        if width > coloured.width or height > _MAX_SIDE:
            continue
        smaller = coloured.resize((width, height), Resampling.LANCZOS, reducing_gap=3)
        target = BytesIO()
        smaller.save(target, "WEBP", quality=_QUALITY, method=4)
        if len(target.getvalue()) < size:
            copies[width] = target.getvalue()
    return Copies(coloured.width, copies, ", ".join(conversions))


def _orientation(image: "Image") -> int:
    """The orientation that browsers apply. Damaged metadata has none."""
    try:
        orientation = int(image.getexif().get(_ORIENTATION, _UPRIGHT))
    except _FAILURES:
        return _UPRIGHT
    return orientation if 1 <= orientation <= 8 else _UPRIGHT


def _in_standard_colours(image: "Image") -> "Image":
    """The image with 8 bits for each colour of sRGB, and its transparency. The copies have no colour profile."""
    from PIL import ImageCms

    profile = image.info.get("icc_profile")
    if image.mode.startswith(("I", "F")):
        # A conversion to 8 bits alone makes all but the darkest colours white.
        image = image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    mode = "RGBA" if image.has_transparency_data else "RGB"
    if image.mode not in ("CMYK", "L", mode):
        image = image.convert(mode)
    if profile:
        try:
            source, target = ImageCms.ImageCmsProfile(BytesIO(profile)), ImageCms.createProfile("sRGB")
            return ImageCms.profileToProfile(image, source, target, outputMode=mode) or image
        except (ImageCms.PyCMSError, *_FAILURES):
            pass  # a damaged profile, or one for other colours: browsers ignore it, too
    # A conversion to the same mode is a copy of all pixels.
    return image if image.mode == mode else image.convert(mode)
