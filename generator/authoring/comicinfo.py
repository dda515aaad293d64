"""ComicInfo.xml of a comic archive -> fields of a chapter. The values are checked by the model of a chapter."""

import re
from collections.abc import Collection, Iterator
from typing import Any
from xml.parsers import expat

from ..errors import FlatpanelError

ROOT = "ComicInfo"
# Placeholder that programs write for an unknown number, in these elements.
_UNKNOWN = "-1"
_NUMBERS = frozenset({"Number", "Volume", "Year", "Month", "Day"})
_DIGITS = re.compile(r"[0-9]{1,10}")
_BETWEEN_NAMES = re.compile("([,;])")


def chapter_fields(text: bytes, groups: Collection[str]) -> dict[str, Any]:
    """Return the fields of a chapter that the file states; `groups` are the names of groups in the catalog."""
    elements = _elements(text)
    volume = elements.get("Volume", "")
    # ScanInformation is mostly a group, Translator often a person, who is not in groups.yaml.
    people = elements.get("ScanInformation") or elements.get("Translator") or ""
    fields = {
        # 0 means no volume.
        "volume": int(volume) or None if _DIGITS.fullmatch(volume) else volume,
        "number": elements.get("Number"),
        "title": elements.get("Title"),
        "published": _day(elements),
        "groups": list(_names(people, groups)),
    }
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def _names(people: str, groups: Collection[str]) -> Iterator[str]:
    """Divide a text into names: those of groups, the longest first, since they may contain commas; then at commas."""
    # Several blanks are one in the text. A name that is written like that comes last, and counts.
    names = {" ".join(name.split()): name for name in sorted(groups)}
    parts = _BETWEEN_NAMES.split(people)
    # Every other part is a comma.
    longest = 2 * max((len(_BETWEEN_NAMES.findall(name)) for name in names), default=0) + 1
    start = 0
    while start < len(parts):
        ends = range(min(start + longest, len(parts)), start, -2)
        texts = {end: "".join(parts[start:end]).strip() for end in ends}
        end = next((end for end in ends if texts[end] in names), start + 1)
        if texts[end]:
            yield names.get(texts[end], texts[end])
        start = end + 1


def _day(elements: dict[str, str]) -> str | None:
    """Return midnight of the day; None if a part of the date is missing or 0."""
    parts = [elements.get(name, "") for name in ("Year", "Month", "Day")]
    year, month, day = (part.rjust(2, "0") for part in parts)
    return f"{year}-{month}-{day}T00:00:00Z" if all(part.strip("0") for part in parts) else None


def _elements(text: bytes) -> dict[str, str]:
    """Return the non-empty texts of the elements directly below the root."""
    path: list[str] = []
    texts: dict[str, list[str]] = {}

    def start(name: str, _: object) -> None:
        path.append(name)

    def end(_: str) -> None:
        path.pop()

    def data(piece: str) -> None:
        if len(path) == 2 and path[0] == ROOT:
            texts.setdefault(path[1], []).append(piece)

    def refuse_doctype(*_: object) -> None:
        """Refuse entity expansion: ten lines of entities can expand to a billion letters."""
        raise FlatpanelError("contains a document type (<!DOCTYPE …>); remove it")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    # Reported before its content: no entity is declared, so none can grow or be fetched.
    parser.StartDoctypeDeclHandler = refuse_doctype
    try:
        parser.Parse(text, True)
    # LookupError and ValueError: the encoding that the file declares.
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise FlatpanelError(f"not valid XML: {error}") from None
    joined = ((name, " ".join("".join(pieces).split())) for name, pieces in texts.items())
    return {name: value for name, value in joined if value and not (value == _UNKNOWN and name in _NUMBERS)}
