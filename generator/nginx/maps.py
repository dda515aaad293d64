"""Lines of the maps by which nginx finds the body or the gate of a URL. Each line is made from one URL alone."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from .. import encoding
from ..api.resources import EMPTY_RESULTS_URL, Gate, key
from ..catalog.site_settings import Site
from ..release.manifest import Published
from .quoting import quote, quote_key

# The maps and the keys that belong to each: prefix, pattern of the middle, suffix. A line holds the middle only. It
# begins with a slash, so that it is never a word with a meaning for nginx. Other keys are in validators.map, in full.
MAPS = {
    "series": ("/api/series", "/.+", ""),
    "v1_series": ("/api/v1/series", "/.+", ""),
    "chapter": ("/api/v2/chapters", "/[^/]+", ""),
    "chapter_pages": ("/api/v2/chapters", "/[^/]+", "/pages"),
    "chapter_read": ("/api/v2/chapters", "/[^/]+", "/read"),
}
_MAP = re.compile("|".join(f"{begin}(?P<{name}>{middle}){end}" for name, (begin, middle, end) in MAPS.items()))
# A gate's line. The value of a body's line begins with an ETag, which has no slash.
_GATE = re.compile(r'(\S+) "?(key:)?(308|451)(/.*?)"?;')
# A line of a short map: key, and value with or without quotes.
_ENTRY = re.compile(r'(\S+) (?:"((?:[^"\\]|\\.)*)"|([^"\s]+));')
_DAY = 86_400
# No capitals: nginx ignores case when it looks up a key.
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = f"0123456789{_LETTERS}"


class Line(NamedTuple):
    """A line of one of the maps."""

    map: str
    key: str
    value: str

    @property
    def text(self) -> str:
        return f"{self.key} {self.value};\n"


def age_letters(site: Site) -> dict[tuple[bool, int], str]:
    """One letter for each pair of `restricted` and a max-age of site.yaml, whether a body has it or not."""
    cache = site.cache
    ages = {age for version in (cache.unversioned, cache.v1, cache.v2) for _, age in version} | {cache.index}
    classes = [(restricted, age) for restricted in (False, True) for age in sorted(ages)]
    return {pair: _number(index, _LETTERS) for index, pair in enumerate(classes)}


def body_line(body: Published, letters: Mapping[tuple[bool, int], str]) -> Line:
    """The line of a body: ETag, + or - for a gzip form or none, age letter, and the time and day of Last-Modified."""
    letter = letters[body.restricted, body.max_age]
    moment = "" if body.url == EMPTY_RESULTS_URL else _moment(body.modified)
    return _line(key(body.url), f"{body.etag}{'-+'[body.gzip]}{letter}{moment}")


# Cached: all bodies of a chapter have the same Last-Modified.
@lru_cache(maxsize=4096)
def _moment(seconds: int) -> str:
    time = seconds % _DAY
    return f"{time // 3600:02}:{time // 60 % 60:02}:{time % 60:02}{_number(seconds // _DAY, _DIGITS)}"


def gate_line(gate: Gate) -> Line:
    """The line of a gate: 451 and its own key, or 308 and the path to redirect to; `key:` first if it needs a key."""
    path = key(gate.url)
    return _line(path, quote(f"{'key:' * gate.restricted}{gate.status}{gate.target or path}"))


def gates(map: str, lines: Iterable[str]) -> Iterator[Gate]:
    """Parse the gates among the lines of a map; those of URLs with parameters equal that of their path."""
    begin, _, end = MAPS.get(map, ("", "", ""))
    for line in lines:
        match = _GATE.fullmatch(line)
        if match and not match[1].startswith("/query"):
            path, lock, status, target = match.groups()
            yield Gate(f"{begin}{path}{end}", int(status), target if status == "308" else "", bool(lock))


def page_line(key: str, target: str) -> Line:
    """The line of a deprecated URL of a chapter's pages: its key and the path of the current URL."""
    return Line("pages", quote_key(key), quote(target))


def parse_pages(lines: Iterable[str]) -> dict[str, str]:
    """Keys and targets of lines written by `page_line`."""
    return dict(line.removesuffix(";").split(" ") for line in lines)


def day(body: Published) -> int:
    """The day of Last-Modified as a number, which the body's line holds; days.map translates it into a date."""
    return body.modified // _DAY


def days_map(days: Iterable[int]) -> bytes:
    """Numbers of days with the beginning of their HTTP dates."""
    return dump({_number(day, _DIGITS): encoding.http_date(day * _DAY)[:16] for day in days})


def _line(path: str, value: str) -> Line:
    match = _MAP.fullmatch(path)
    map = match and match.lastgroup
    return Line(map, quote_key(match[map]), value) if match and map else Line("validators", quote_key(path), value)


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
