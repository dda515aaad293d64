"""URLs -> lines of the maps by which nginx finds their bodies. No line owes anything to another."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from .. import encoding
from ..api.resources import EMPTY_RESULTS_URL, Gate, key
from ..catalog.records import Site
from ..release.manifest import Published
from .quoting import quote, quote_key

# The maps that share the lines of all keys: how the keys of each begin, what tells them apart, how they end. A line
# names the middle only, with its slash, so that it is never a word of nginx's own. What fits none of these stands in
# validators.map, under its whole key.
MAPS = {
    "series": ("/api/series", "/.+", ""),
    "v1_series": ("/api/v1/series", "/.+", ""),
    "chapter": ("/api/v2/chapters", "/[^/]+", ""),
    "chapter_pages": ("/api/v2/chapters", "/[^/]+", "/pages"),
    "chapter_read": ("/api/v2/chapters", "/[^/]+", "/read"),
}
_MAP = re.compile("|".join(f"{begin}(?P<{name}>{middle}){end}" for name, (begin, middle, end) in MAPS.items()))
# A line of a gate. That of a body begins with a tag, which has no slash.
_GATE = re.compile(r'(\S+) "?(key:)?(308|451)(/.*?)"?;')
# A line of a short map: its key, and its value with quotes or without.
_WORDS = re.compile(r'(\S+) (?:"((?:[^"\\]|\\.)*)"|([^"\s]+));')
_DAY = 86_400
# Nothing in capitals, since nginx takes no notice of the case of what it looks up.
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = f"0123456789{_LETTERS}"


class Line(NamedTuple):
    """A line of one of the maps, which owes nothing to any other line."""

    map: str
    key: str
    value: str

    @property
    def text(self) -> str:
        return f"{self.key} {self.value};\n"


def age_letters(site: Site) -> dict[tuple[bool, int], str]:
    """What a line calls an age, and that a key is needed: for every age in site.yaml, whether it occurs or not."""
    cache = site.cache
    ages = {age for family in (cache.unversioned, cache.v1, cache.v2) for _, age in family} | {cache.index}
    classes = [(restricted, age) for restricted in (False, True) for age in sorted(ages)]
    return {one: _spelt(index, _LETTERS) for index, one in enumerate(classes)}


def body_line(one: Published, letters: Mapping[tuple[bool, int], str]) -> Line:
    """A body: its tag, + if there is a gzip form, the letter of its age, time and day of its last change if it says."""
    letter = letters[one.restricted, one.max_age]
    moment = "" if one.url == EMPTY_RESULTS_URL else _moment(one.modified)
    return _line(key(one.url), f"{one.etag}{'-+'[one.gzip]}{letter}{moment}")


# A chapter is in several bodies, which are as old as it is.
@lru_cache(maxsize=4096)
def _moment(seconds: int) -> str:
    time = seconds % _DAY
    return f"{time // 3600:02}:{time // 60 % 60:02}:{time % 60:02}{_spelt(seconds // _DAY, _DIGITS)}"


def gate_line(gate: Gate) -> Line:
    """A gate: `451` and its own key or `308` and the path to go to, behind the word `key:` where it takes one."""
    path = key(gate.url)
    return _line(path, quote(f"{'key:' * gate.restricted}{gate.status}{gate.target or path}"))


def gates(map: str, lines: Iterable[str]) -> Iterator[Gate]:
    """The gates of a map as `gate_line` wrote them; one that is chosen by a parameter is like that of its path."""
    begin, _, end = MAPS.get(map, ("", "", ""))
    for line in lines:
        found = _GATE.fullmatch(line)
        if found and not found[1].startswith("/query"):
            path, lock, status, target = found.groups()
            yield Gate(f"{begin}{path}{end}", int(status), target if status == "308" else "", bool(lock))


def parse_pages(lines: Iterable[str]) -> dict[str, str]:
    """What the lines of `page_line` say."""
    return dict(line.removesuffix(";").split(" ") for line in lines)


def page_line(asked: str, found: str) -> Line:
    """The deprecated address of a chapter's pages, and the one that has them."""
    return Line("pages", quote_key(asked), quote(found))


def day(one: Published) -> int:
    """The day of a body's last change. Its line names it by this alone; days_map says which date it is."""
    return one.modified // _DAY


def days_map(days: Iterable[int]) -> bytes:
    """What HTTP calls a day, for all days that bodies name."""
    return dump({_spelt(one, _DIGITS): encoding.http_date(one * _DAY)[:16] for one in days})


def _line(path: str, value: str) -> Line:
    found = _MAP.fullmatch(path)
    map = found and found.lastgroup
    return Line(map, quote_key(found[map]), value) if found and map else Line("validators", quote_key(path), value)


def dump(lines: Mapping[str, str]) -> bytes:
    return "".join(f"{quote_key(key)} {quote(value)};\n" for key, value in sorted(lines.items())).encode()


def parse(lines: bytes) -> dict[str, str]:
    """What `text` wrote."""
    found = map(_WORDS.fullmatch, lines.decode().split("\n"))
    return {line[1]: line[3] or re.sub(r"\\(.)", r"\1", line[2]) for line in found if line}


def _spelt(number: int, digits: str) -> str:
    rest, digit = divmod(number, len(digits))
    return (_spelt(rest, digits) if rest else "") + digits[digit]
