"""The maps and the configuration of nginx as functions of the table of a release."""

from collections.abc import Iterator

from ..filesystem import read_regular
from ..release.manifest import Published
from ..release.manifest_reader import KEYS_FILE, ManifestReader, dump_keys
from . import config, maps
from .config import ServerConf


def text(table: ManifestReader, file: str) -> bytes | None:
    """The content of a map by the name of its file, or of the keys by that of their map; None for any other file."""
    if file == maps.REDIRECTS:
        return maps.redirects_map(table.rules)
    if file == maps.KEYS:
        return maps.keys_map(table.keys)
    if file == KEYS_FILE:
        lines = read_regular(table.folder / maps.KEYS)
        return None if lines is None else dump_keys(maps.keys(lines))
    name = file.removesuffix(".map")
    if name not in maps.LONG:
        return None
    return b"".join(line for lines in _lines(table) for line in lines[name])


def configuration(table: ManifestReader, server: ServerConf) -> dict[str, bytes]:
    """All files of the release but its manifest, its keys and the long maps."""
    counts, longest = dict.fromkeys(maps.LONG, 0), 0
    for lines in _lines(table):
        longest = max(longest, maps.longest(lines))
        for name, map_lines in lines.items():
            counts[name] += len(map_lines)
    bodies = [entry for entry in table.entries("") if isinstance(entry, Published)]
    data = config.of_bodies(table.rules, table.keys, bodies, counts.values(), longest)
    return config.release_files(data, server)


def _lines(table: ManifestReader) -> Iterator[dict[str, list[bytes]]]:
    """The lines of each segment in each of the long maps."""
    letters = maps.age_letters(table.rules.max_ages)
    return (maps.lines(table.entries(slug), letters) for slug in table.segments)
