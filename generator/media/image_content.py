"""The format of an image by its content, and whether the file is complete. Images are not decoded."""

import os
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

# The format of each file name extension.
FORMATS = {
    ".avif": "AVIF",
    ".bmp": "BMP",
    ".gif": "GIF",
    ".jpeg": "JPEG",
    ".jpg": "JPEG",
    ".jxl": "JPEG XL",
    ".png": "PNG",
    ".webp": "WebP",
}
# Those that nginx serves and pages show; see templates/media.conf.
SERVED = frozenset({".avif", ".gif", ".jpeg", ".jpg", ".png", ".webp"})
_SIGNATURES = {
    "JPEG": rb"\xff\xd8\xff",
    "PNG": rb"\x89PNG\r\n\x1a\n",
    "WebP": rb"RIFF.{4}WEBP",
    "GIF": rb"GIF8[79]a",
    # The major brand, or one of the compatible brands.
    "AVIF": rb".{4}ftyp(?:.{4})*?avi[fs]",
    "JPEG XL": rb"\xff\x0a|\0\0\0\x0cJXL ",
    "BMP": rb"BM.{12}",
}
_PATTERNS = {name: re.compile(pattern, re.DOTALL) for name, pattern in _SIGNATURES.items()}
_HEAD = 64
# Programs append data to images, such as metadata of a camera.
_TAIL = 1 << 16
_MAX_BOXES = 1000


@dataclass(frozen=True, slots=True)
class ImageContent:
    """A format, "" if it is unknown, and the fault of the file, "" if there is none."""

    format: str
    fault: str = ""


def format_of_name(file: str) -> str:
    """Return the format that a file name states; "" for the name of no image."""
    return FORMATS.get(PurePosixPath(file).suffix.lower(), "")


def examine(file: BinaryIO) -> ImageContent:
    """Examine the beginning and the end of an open file."""
    head = file.read(_HEAD)
    size = file.seek(0, os.SEEK_END)
    if not size:
        return ImageContent("", "is empty")
    image_format = next((name for name, pattern in _PATTERNS.items() if pattern.match(head)), "")
    if not image_format:
        return ImageContent("", "is not an image")
    return ImageContent(image_format, "" if _is_complete(file, image_format, head, size) else "is truncated")


def _is_complete(file: BinaryIO, image_format: str, head: bytes, size: int) -> bool:
    match image_format:
        case "WebP":
            return size >= 8 + int.from_bytes(head[4:8], "little")
        case "BMP":
            return size >= int.from_bytes(head[2:6], "little")
        case "AVIF":
            return _has_whole_boxes(file, size)
        case "JPEG XL":
            # Without boxes, only a decoder knows the end.
            return head.startswith(b"\xff") or _has_whole_boxes(file, size)
    file.seek(max(0, size - _TAIL))
    tail = file.read(_TAIL)
    if image_format == "GIF":
        return tail.rstrip(b"\0").endswith(b";")
    # Compressed data of a JPEG never contains its end marker.
    return (b"\xff\xd9" if image_format == "JPEG" else b"IEND\xaeB`\x82") in tail


def _has_whole_boxes(file: BinaryIO, size: int) -> bool:
    """Whether the boxes of an ISO media file end where the file ends. A box begins with its length and its type."""
    offset = 0
    for _ in range(_MAX_BOXES):
        file.seek(offset)
        header = file.read(16)
        length = int.from_bytes(header[:4], "big")
        if length == 0 and len(header) >= 8:
            return True  # the box ends where the file ends
        if length == 1:
            length = int.from_bytes(header[8:], "big")
        if length < 8:
            return False
        offset += length
        if offset >= size:
            break
    return offset == size
