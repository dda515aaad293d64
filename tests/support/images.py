"""Tiny complete images in the formats of pages; their content is their size. Folders and archives of empty pages."""

import struct
import zipfile
import zlib
from pathlib import Path

# Folders and archives of pages


def folder(where: Path, *names: str, comicinfo: str = "") -> Path:
    """Empty files: images are not read."""
    for name in names:
        file = where / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
    if comicinfo:
        (where / "ComicInfo.xml").write_text(info(comicinfo), encoding="utf-8")
    return where


def cbz(where: Path, *names: str, comicinfo: str | bytes = b"", packed: int = zipfile.ZIP_DEFLATED) -> Path:
    """An archive of empty files; a name that ends with / is a folder."""
    where.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(where, "w", packed) as archive:
        for name in names:
            archive.writestr(name, b"")
        if comicinfo:
            archive.writestr("ComicInfo.xml", info(comicinfo) if isinstance(comicinfo, str) else comicinfo)
    return where


def info(inside: str) -> str:
    """A ComicInfo.xml with these elements."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<ComicInfo xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'
        f"{inside}\n</ComicInfo>\n"
    )


NAMES = ("a.jpg", "a.jpeg", "a.png", "a.gif", "a.webp", "a.avif", "a.bmp", "a.jxl")


def png(width: int = 3, height: int = 2) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\xff" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def jpeg(width: int = 3, height: int = 2) -> bytes:
    """The markers of a JPEG, without pixels."""
    application = b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
    frame = struct.pack(">BHHB", 8, height, width, 1) + b"\x01\x11\0"
    segments = (0xE0, application), (0xC0, frame), (0xDA, b"\x01\x01\0\0\x3f\0")
    body = b"".join(struct.pack(">BBH", 0xFF, kind, len(data) + 2) + data for kind, data in segments)
    return b"\xff\xd8" + body + b"\x2a\xff\xd9"


def gif(width: int = 3, height: int = 2) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0) + b";"


def webp(width: int = 3, height: int = 2) -> bytes:
    extended = bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    chunks = b"WEBPVP8X" + struct.pack("<I", len(extended)) + extended
    return b"RIFF" + struct.pack("<I", len(chunks)) + chunks


def avif(width: int = 3, height: int = 2, brand: bytes = b"avif") -> bytes:
    size = _box(b"ispe", bytes(4) + struct.pack(">II", width, height))
    properties = _box(b"iprp", _box(b"ipco", size))
    return _box(b"ftyp", brand + bytes(4) + b"mif1avif") + _box(b"meta", bytes(4) + properties) + _box(b"mdat", b"x")


def bmp(width: int = 3, height: int = 2) -> bytes:
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 14 + len(header), 0, 0, 54) + header


def jxl() -> bytes:
    return _box(b"JXL ", b"\r\n\x87\n") + _box(b"ftyp", b"jxl " + bytes(4) + b"jxl ")


def image(name: str, width: int = 3, height: int = 2) -> bytes:
    """An image in the format that the name states."""
    extension = name.rpartition(".")[2].lower()
    if extension == "jxl":
        return jxl()
    makers = {"jpg": jpeg, "jpeg": jpeg, "png": png, "gif": gif, "webp": webp, "avif": avif, "bmp": bmp}
    return makers[extension](width, height)


def _box(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data) + 8) + kind + data
