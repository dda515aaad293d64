"""Lines of the maps by which nginx finds the body or the gate of a URL. Each line is made from one URL alone."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..api.payloads.resources import LOCKED_RESULTS_URL, Alias, Gate, key
from ..release.manifest import Entry, Published, last_modified
from ..release.rules import Rules
from .quoting import quote, quote_key

# Keys that are spelled like their URL: no capitals, no escapes, no segments that nginx removes.
_PLAIN = r"(?:/(?!\.)[-a-z0-9_.~]++)++"
# Pages, feeds and all other paths outside /api. Not /index: it is the key of / and no path.
SITE = "site"
# The maps whose keys are whole paths, and their patterns. nginx chooses the map of a path by its location.
MAPS = {
    SITE: rf"(?!/(?:api|index)(?![^/])){_PLAIN}",
    "series": f"/api/series{_PLAIN}",
    "v1_series": f"/api/v1/series{_PLAIN}",
    "chapters": f"/api/v2/chapters{_PLAIN}",
    "validators": _PLAIN,
}
# The map of redirects to chapters. A line holds the middle of the path only.
READ = "chapter_read"
READ_PARTS = ("/api/v2/chapters", "/[-a-z0-9_.~]++", "/read")
# The map of all other keys. nginx ignores case when it looks up a key, so the value of a line repeats the key.
EXACT = "exact"
# The map of aliases, which are all deprecated URLs of a chapter's pages; and that of the series where each number that
# no chapter has needs an API key, too.
PAGES, LOCKED_PAGES = "pages", "locked_pages"
# The maps with a line for each entry of the table, in a fixed order.
LONG = (*MAPS, READ, EXACT, PAGES, LOCKED_PAGES)
_MAP = re.compile(
    "|".join(
        [
            f"{READ_PARTS[0]}(?P<{READ}>{READ_PARTS[1]}){READ_PARTS[2]}",
            *(f"(?P<{name}>{key})" for name, key in MAPS.items()),
        ]
    )
)
# A line of a short map: key, and value with or without quotes.
_ENTRY = re.compile(r'(\S+) (?:"((?:[^"\\]|\\.)*)"|([^"\s]+));')
# The maps of old slugs and of API keys.
REDIRECTS, KEYS = "redirects.map", "keys.map"
# The variable whose value is a dollar sign, which a path and the URL of a cover may have.
_DOLLAR = "${fp_dollar}"
# No capitals: nginx ignores case when it looks up a key.
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class MapLine(NamedTuple):
    """A line of one of the maps."""

    map: str
    key: str
    value: str


def age_letters(max_ages: Iterable[int]) -> dict[tuple[bool, int], str]:
    """One letter for each pair of `restricted` and a max-age of site.yaml, whether a body has it or not."""
    classes = [(restricted, age) for restricted in (False, True) for age in max_ages]
    return {pair: _number(index, _LETTERS) for index, pair in enumerate(classes)}


def lines(entries: Iterable[Entry], letters: Mapping[tuple[bool, int], str]) -> dict[str, list[bytes]]:
    """The lines of a segment in each of the long maps."""
    by_map: dict[str, list[bytes]] = {name: [] for name in LONG}
    for entry in entries:
        name, key, value = _entry_line(entry, letters)
        by_map[name].append(f"{key} {value};\n".encode())
    return by_map


def longest(lines: Mapping[str, Sequence[bytes]]) -> int:
    """The length of the longest line in any map."""
    return max((len(line) for map_lines in lines.values() for line in map_lines), default=0)


def _entry_line(entry: Entry, letters: Mapping[tuple[bool, int], str]) -> MapLine:
    if isinstance(entry, Published):
        return body_line(entry, letters)
    return gate_line(entry) if isinstance(entry, Gate) else alias_line(entry)


def body_line(body: Published, letters: Mapping[tuple[bool, int], str]) -> MapLine:
    """The line of a body: ETag, + or - for a gzip form or none, age letter, and Last-Modified."""
    letter = letters[body.restricted, body.max_age]
    return _line(key(body.url), f"{body.etag}{'-+'[body.gzip]}{letter}{last_modified(body) or ''}")


def gate_line(gate: Gate) -> MapLine:
    """The line of a gate: 451 and its own key, or 302 or 308 and its target; `key:` first if it needs an API key."""
    path = key(gate.url)
    return _line(path, f"{'key:' * gate.restricted}{gate.status}{gate.target or path}")


def alias_line(alias: Alias) -> MapLine:
    """The line of an alias: the key of its URL, or of all numbers the part before them, and the key of its target."""
    path, target = key(alias.url), quote(key(alias.target))
    if alias.target == LOCKED_RESULTS_URL:
        return MapLine(LOCKED_PAGES, quote_key(path.rsplit("/", 2)[0]), target)
    return MapLine(PAGES, quote_key(path), target)


def redirects_map(rules: Rules) -> bytes:
    """One line for each path with an old slug: the old path, and both paths.

    A line repeats its key, because nginx ignores the case of keys.
    """
    return dump({old: f"{old} {present}" for old, present in rules.redirected_paths().items()})


def keys_map(keys: Mapping[str, str]) -> bytes:
    """One line for each API key: its digest, and `=` with its account, which is also the name of a folder of bodies."""
    return dump({digest: f"={account}" for digest, account in keys.items()})


def keys(text: bytes) -> dict[str, str]:
    """The account key of each API key in a text of `keys_map`."""
    return {digest: holder.removeprefix("=") for digest, holder in parse(text).items()}


def _line(path: str, value: str) -> MapLine:
    match = _MAP.fullmatch(path)
    if match and match.lastgroup:
        return MapLine(match.lastgroup, match[match.lastgroup], quote_key(value, _DOLLAR))
    return MapLine(EXACT, quote_key(path), quote_key(f"{value} {path}", _DOLLAR))


def dump(entries: Mapping[str, str]) -> bytes:
    """The lines of a short map."""
    return "".join(f"{quote_key(key)} {quote(value)};\n" for key, value in sorted(entries.items())).encode()


def parse(lines: bytes) -> dict[str, str]:
    """The entries of a map written by `dump`."""
    matches = map(_ENTRY.fullmatch, lines.decode().split("\n"))
    return {match[1]: match[3] or re.sub(r"\\(.)", r"\1", match[2]) for match in matches if match}


def _number(number: int, digits: str) -> str:
    """A number written with other digits."""
    rest, digit = divmod(number, len(digits))
    return (_number(rest, digits) if rest else "") + digits[digit]
