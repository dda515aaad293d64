"""What a release of either format says besides its bodies.

In format 3 the table says it. In format 2, of older versions of the program, only the maps of nginx do.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..api.resources import Gate, key
from ..release import manifest_reader
from ..release.manifest_reader import ManifestReader
from ..release.rules import Rules
from ..release.table import load_keys
from . import maps
from .maps import EXACT, LONG, MAPS, PAGES, READ, READ_PARTS

# Maps that only older releases have: the text before and after each key.
_FORMER = {"chapter": ("/api/v2/chapters", ""), "chapter_pages": ("/api/v2/chapters", "/pages")}
# The maps whose lines may be gates, and all maps.
_WITH_GATES = (*MAPS, READ, EXACT, *_FORMER)
MAP_FILES = {f"{name}.map" for name in (*LONG, *_FORMER, "days", "redirects")}
# A gate's line. The value of a body's line begins with an ETag, which has no slash.
_GATE = re.compile(r'(\S+) "?(key:)?(308|451)(/.*?)"?;')


def has_gates(reader: ManifestReader) -> bool:
    """Whether the gates are known: not if there is only a manifest of format 2."""
    return bool(reader.rules) or (_folder(reader) / "validators.map").is_file()


def gates(reader: ManifestReader) -> Iterator[Gate]:
    """All gates of a release; those of URLs with parameters equal that of their path, and are left out."""
    if reader.rules:
        return (gate for gate in manifest_reader.gates(reader) if "?" not in gate.url)
    return (gate for name in _WITH_GATES for gate in gates_in_map(name, _lines(reader, name)))


def gates_in_map(name: str, lines: Iterable[str]) -> Iterator[Gate]:
    """Parse the gates among the lines of a map, without those of URLs with parameters."""
    begin, end = _FORMER.get(name, (READ_PARTS[0], READ_PARTS[2]) if name == READ else ("", ""))
    for line in lines:
        match = _GATE.fullmatch(line)
        if match and not match[1].startswith("/query"):
            path, lock, status, target = match.groups()
            target = target.removesuffix(f" {path}")
            yield Gate(f"{begin}{path}{end}", int(status), target if status == "308" else "", bool(lock))


def aliases(reader: ManifestReader) -> dict[str, str]:
    """The target of each alias by the key of its URL."""
    if reader.rules:
        return {key(alias.url): alias.target for alias in manifest_reader.aliases(reader)}
    return dict(line.removesuffix(";").split(" ") for line in _lines(reader, PAGES))


def redirects(folder: Path, rules: Rules | None) -> dict[str, str]:
    """The present path of each path with an old slug."""
    if rules:
        return rules.redirected_paths()
    path = folder / maps.REDIRECTS
    return dict(both.split(" ") for both in maps.parse(path.read_bytes()).values()) if path.is_file() else {}


def keys(reader: ManifestReader) -> Mapping[str, str]:
    """The account key of each API key by its digest."""
    folder = _folder(reader)
    return load_keys(folder) if reader.rules else maps.keys((folder / maps.KEYS).read_bytes())


def _folder(reader: ManifestReader) -> Path:
    return reader.path.parent if reader.path else Path()


def _lines(reader: ManifestReader, name: str) -> Iterator[str]:
    path = _folder(reader) / f"{name}.map"
    if path.is_file():
        with path.open(encoding="utf-8") as opened:
            yield from (line.rstrip("\n") for line in opened)
