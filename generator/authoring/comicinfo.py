"""ComicInfo.xml, as archives of comics have it -> the fields of a chapter that it tells.

What it says is handed on as it stands there; the model says what is wrong with it.
"""

import re
from collections.abc import Callable, Collection
from typing import Any
from xml.parsers import expat

from ..errors import FlatpanelError

ROOT = "ComicInfo"
# What programs write for a number that nobody told them.
_UNKNOWN = "-1"
_DIGITS = re.compile(r"[0-9]{1,10}")
_BETWEEN_NAMES = re.compile(r"[,;]")


def fields(text: bytes, groups: Collection[str]) -> dict[str, Any]:
    """What stands in the file, by the fields of a chapter; `groups` are the names that a group may have."""
    said = _elements(text)
    volume = said.get("Volume", "")
    people = said.get("ScanInformation") or said.get("Translator") or ""
    found = {
        # Whoever has no volumes writes 0 there.
        "volume": int(volume) or None if _DIGITS.fullmatch(volume) else volume,
        "number": said.get("Number"),
        "title": said.get("Title"),
        "published": _day(said),
        "groups": [people] if people in groups else _names(people),
    }
    return {name: value for name, value in found.items() if value not in (None, "", [])}


def _names(text: str) -> list[str]:
    return [name for name in map(str.strip, _BETWEEN_NAMES.split(text)) if name]


def _day(said: dict[str, str]) -> str | None:
    """A day that is not told to the day is none; 0 is none, either."""
    parts = [said.get(name, "") for name in ("Year", "Month", "Day")]
    year, month, day = (one.rjust(2, "0") for one in parts)
    return f"{year}-{month}-{day}T00:00:00Z" if all(one.strip("0") for one in parts) else None


def _elements(text: bytes) -> dict[str, str]:
    """The texts of the elements directly below the root, without those that say nothing."""
    path: list[str] = []
    found: dict[str, list[str]] = {}

    def start(name: str, _: object) -> None:
        path.append(name)

    def end(_: str) -> None:
        path.pop()

    def data(piece: str) -> None:
        if len(path) == 2 and path[0] == ROOT:
            found.setdefault(path[1], []).append(piece)

    _parse(text, start, end, data)
    texts = ((name, " ".join("".join(pieces).split())) for name, pieces in found.items())
    return {name: said for name, said in texts if said not in ("", _UNKNOWN)}


def _parse(
    text: bytes, start: Callable[[str, object], None], end: Callable[[str], None], data: Callable[[str], None]
) -> None:
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(text, True)
    # The latter two are about the encoding that the file claims to have.
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise FlatpanelError(f"is not XML: {error}") from None


def _refuse(*_: object) -> None:
    """Nobody needs a document type here but who wants ten lines to mean a billion letters."""
    raise FlatpanelError("has a document type (<!DOCTYPE …>); remove it")
