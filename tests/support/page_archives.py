"""Folders and archives of pages."""

import zipfile
from pathlib import Path


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
