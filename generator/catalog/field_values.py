"""The spellings of single values: instants, chapter numbers, runs of pages, templates of titles.

Each function takes what stands in the YAML and answers the one form that the rest of the house uses,
or raises ValueError with what is wrong and what would be right. After "should be" it need not say what it was given.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import takewhile
from urllib.parse import quote

from . import patterns
from .problems.suggestions import nearest

DEFAULT_CHAPTER_TITLE = "Vol. {volume}, Ch. {number}: {title}"
TITLE_FIELDS = ("volume", "number", "title", "date", "series")
MAX_PAGES = 10_000

_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d"
INSTANT = re.compile(
    rf"(\d{{4}}-\d\d-\d\d)(?:[Tt ]({_CLOCK})(?:(:[0-5]\d)(?:[.,]\d+)?)?(?: ?([Zz]|[-+]{_CLOCK}))?)?", re.ASCII
)
_NUMBER = re.compile(r"([0-9]+)(?:\.([0-9]+))?")
_RUN = re.compile(r"(\S+) *\.\. *(\S+)")
_FIELD = re.compile(r"\{([^{}]*)\}")
_UNRESERVED = re.compile(r"[-A-Za-z0-9._~]+")
_AUTHORITY = re.compile(r"https?://([^/?#]*)(.*)", re.DOTALL)
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_IPV6 = re.compile(r"\[[0-9A-Fa-f:.]+\]")
IMAGE = re.compile(r"(https?://[^/?#]+/(?:[^/?#]*/)*)([^/?#]+(?:[?#].*)?)")


def instant(value: object) -> int:
    """Seconds since 1970; fractions of a second are cut, a missing zone means UTC, a missing time midnight."""
    found = INSTANT.fullmatch(value) if isinstance(value, str) else None
    if not found:
        raise ValueError("should be a time like 2026-05-01T12:00:00Z")
    day, clock, second, zone = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock or '00:00'}{second or ':00'}{(zone or 'Z').upper()}")
    except ValueError:
        raise ValueError(f"the day {day} does not exist") from None
    seconds = _seconds(moment)
    if not 0 <= seconds < 253_402_300_800:
        raise ValueError("should be in the years 1970 to 9999")
    return seconds


def _seconds(moment: datetime) -> int:
    offset = moment.utcoffset()
    naive = moment.replace(tzinfo=None) - datetime(1970, 1, 1)
    return int((naive - offset).total_seconds()) if offset else int(naive.total_seconds())


@lru_cache(maxsize=4096)
def iso(seconds: int) -> str:
    """An instant as clients and people read it."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def day(seconds: int) -> str:
    """The day of an instant, YYYY-MM-DD."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"


def number(value: object) -> str:
    """A chapter's number as every URL and key spells it: 1, 10.5, 1.25; never 1.0, 01 or 1e3."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        raise ValueError("should be a number like 10 or 10.5")
    text = str(value)
    if isinstance(value, Decimal) and "E-" in text:
        text = f"{value:f}"  # 0.0000001, which Decimal itself calls 1E-7
    found = _NUMBER.fullmatch(text)
    if not found:
        raise ValueError("should be digits with at most one point between them, like 10 or 10.5")
    whole, part = found[1].lstrip("0") or "0", (found[2] or "").rstrip("0")
    if len(whole) > 9 or len(part) > 4:
        raise ValueError("is too long; a number has up to 9 digits before the point and up to 4 after it")
    return f"{whole}.{part}" if part else whole


def reference(value: object) -> str | int:
    """A name or an id, to be looked up when every file has been read."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError("should be a name or an id")
    return value


def filterable(text: str) -> str:
    """A name or an id that the filter of a list can ask for; it drops whatever JavaScript or we take for a blank."""
    if text.startswith("-") or any(end.isspace() or end == "\ufeff" for end in (text[0], text[-1])):
        raise ValueError(
            'should start with neither - nor a blank, and not end with a blank: filters take - for "not", '
            "and drop blanks"
        )
    return text


def pages(value: object) -> object:
    """A list of pages as it is; the short form `001.jpg .. 018.jpg` as the list that it stands for."""
    if isinstance(value, list):
        return value
    found = _RUN.fullmatch(value.strip()) if isinstance(value, str) else None
    ends = _split_run(found[1], found[2]) if found else None
    if not ends:
        raise ValueError("should be a list of files or a run like 001.jpg .. 018.jpg")
    before, first, last, after = ends
    width = len(first)
    padded = any(str(int(end)) != end for end in (first, last))
    if padded and len(last) != width:
        raise ValueError(f"should have numbers of the same length at both ends, unlike {first} and {last}")
    if int(last) < int(first):
        raise ValueError(f"should count upwards, not from {first} to {last}")
    if int(last) - int(first) >= MAX_PAGES:
        raise ValueError(f"should have at most {MAX_PAGES} pages; split the chapter")
    return [f"{before}{page:0{width}}{after}" for page in range(int(first), int(last) + 1)]


def _split_run(first: str, last: str) -> tuple[str, str, str, str] | None:
    """What both names begin with, the two numbers in which they differ, what both end with."""
    before = common_start(first, last).rstrip("0123456789")
    first, last = first[len(before) :], last[len(before) :]
    after = common_start(first[::-1], last[::-1])[::-1].lstrip("0123456789")
    first, last = (name.removesuffix(after) for name in (first, last))
    if all(re.fullmatch("[0-9]{1,9}", name) for name in (first, last)):
        return before, first, last, after
    return None


def common_start(one: str, other: str) -> str:
    """What both texts begin with."""
    return "".join(pair[0] for pair in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def is_url(file: str) -> bool:
    return file.startswith(("http://", "https://"))


def url_advice(url: str) -> str:
    """What makes an address one that no client can ask for, as far as it has a name."""
    authority, rest = _AUTHORITY.fullmatch(url).groups() if is_url(url) else ("", "")  # type: ignore[union-attr]
    port = authority.rpartition("@")[2].rpartition("]")[2].partition(":")[1:]
    if _LONE_PERCENT.search(rest):
        return "; write a % as %25"
    if "[" in authority and not _IPV6.search(authority):
        return "; put the numbers of an IPv6 host between [ and ]"
    if port[0] and not (port[1].isdecimal() and 1 <= int(port[1][:6]) <= 65535):
        return "; a port is a number from 1 to 65535"
    return ""


def split_url(url: str) -> tuple[str, str]:
    """The folder of an image's address, with its /, and the rest; no rest if the address is not that of a file."""
    found = IMAGE.fullmatch(url)
    return (found[1], found[2]) if found else (url, "")


def check_pages(pages: list[str]) -> list[str]:
    """A chapter's pages are files, or addresses in one folder, since clients join one root and each name."""
    if len(pages) > MAX_PAGES:
        raise ValueError(f"should have at most {MAX_PAGES} pages; split the chapter")
    addresses = [page for page in pages if is_url(page)]
    if len(addresses) not in (0, len(pages)):
        raise ValueError("should hold names of files or addresses, not both")
    for page in addresses:
        if not split_url(page)[1]:
            raise ValueError(f"should all end with the name of a file, unlike {page}")
    if len({split_url(page)[0] for page in addresses}) > 1:
        raise ValueError("should all lie in one folder, because apps join one root with each name")
    return pages


def percent_encoded(file: str) -> str:
    """A file's name as it stands in a URL."""
    return file if _UNRESERVED.fullmatch(file) else quote(file, safe="")


def chapter_title(value: object) -> object:
    """A template of titles may name only what a chapter has."""
    if isinstance(value, str):
        for name in _FIELD.findall(value):
            if name not in TITLE_FIELDS:
                known = ", ".join(f"{{{field}}}" for field in TITLE_FIELDS)
                close = nearest(name, TITLE_FIELDS)
                hint = f"did you mean {{{close}}}? It" if close else "it"
                raise ValueError(f"does not know {{{name}}}; {hint} can hold {known}")
    return value


def full_title(template: str, volume: int | None, found: Mapping[str, str]) -> str:
    """A chapter's values in its series' template; nothing inside a value is looked at again."""
    if volume is None:
        template = template.replace("Vol. {volume}, ", "")
    if not found["title"]:
        template = template.removesuffix(": {title}")
    return _FIELD.sub(lambda match: found[match[1]], template)


def is_slug(text: str) -> bool:
    return re.fullmatch(patterns.SLUG, text) is not None
