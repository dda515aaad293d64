"""Validators of single values: instants, chapter numbers, runs of pages, templates of titles.

Each takes a value of the YAML and returns its canonical form, or raises ValueError with a message. The caller adds
the invalid value to a message that begins with "should be".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import takewhile
from urllib.parse import quote

from . import patterns
from .suggestions import nearest

DEFAULT_CHAPTER_TITLE = "Vol. {volume}, Ch. {number}: {title}"
TITLE_FIELDS = ("volume", "number", "title", "date", "series")
MAX_PAGES = 10_000
# Of the chapters of a series together: a run of few characters can have the names of many pages.
MAX_SERIES_PAGES, MAX_SERIES_PAGE_NAMES = 500_000, 32 << 20
MAX_FILE_OR_URL = 2000
_SCHEMES = ("http://", "https://")

_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d"
INSTANT = re.compile(
    rf"(\d{{4}}-\d\d-\d\d)(?:[Tt ]({_CLOCK})(?:(:[0-5]\d)(?:[.,]\d+)?)?(?: ?([Zz]|[-+]{_CLOCK}))?)?", re.ASCII
)
_YEAR_10000 = 253_402_300_800
_NUMBER = re.compile(r"([0-9]+)(?:\.([0-9]+))?")
# Two braces are a brace in the title.
_TITLE_FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_UNRESERVED = re.compile(r"[-A-Za-z0-9._~]+")
_URL = re.compile(r"https?://([^/?#]*)(.*)", re.DOTALL)
MISSPELT_SCHEME = re.compile("(?!https?://)[hpst]+:/")
WITH_USER = re.compile("https?://[^/?#]*@")
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PORT = re.compile(r":([^:\]]*)\Z")
# By the ending of a file name.
IMAGE_TYPES = {
    "avif": "image/avif",
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "png": "image/png",
    "webp": "image/webp",
}
IMAGE = re.compile(r"(https?://[^/?#]+/(?:[^/?#]*/)*)([^/?#]+(?:[?#].*)?)")


def instant(value: object) -> int:
    """Return seconds since 1970, without fractions. The default zone is UTC, the default time midnight."""
    match = INSTANT.fullmatch(value) if isinstance(value, str) else None
    if not match:
        raise ValueError("should be a time like 2026-05-01T12:00:00Z")
    day, clock, second, zone = match.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock or '00:00'}{second or ':00'}{(zone or 'Z').upper()}")
    except ValueError:
        raise ValueError(f"the day {day} does not exist") from None
    seconds = int(moment.timestamp())
    if not 0 <= seconds < _YEAR_10000:
        raise ValueError("should be in the years 1970 to 9999")
    return seconds


@lru_cache(maxsize=4096)
def iso(seconds: int) -> str:
    """Return an instant in ISO 8601."""
    return f"{_utc(seconds)}Z"


def day(seconds: int) -> str:
    """Return the UTC day of an instant: YYYY-MM-DD."""
    return _utc(seconds)[:10]


def _utc(seconds: int) -> str:
    # Half the time of `strftime`.
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def number(value: object) -> str:
    """Return a chapter number as in URLs and keys: 1, 10.5, 1.25; never 1.0, 01 or 1e3."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        raise ValueError("should be a number like 10 or 10.5")
    text = str(value)
    if isinstance(value, Decimal) and "E-" in text:
        text = f"{value:f}"  # 0.0000001 instead of 1E-7
    match = _NUMBER.fullmatch(text)
    if not match:
        raise ValueError("should be digits with at most one decimal point between them, like 10 or 10.5")
    whole, fraction = match[1].lstrip("0") or "0", (match[2] or "").rstrip("0")
    if len(whole) > 9 or len(fraction) > 4:
        raise ValueError("has too many digits; use at most 9 before the decimal point and 4 after it")
    return f"{whole}.{fraction}" if fraction else whole


def reference(value: object) -> str | int:
    """Return a name or an id; it is looked up when all files are read."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError("should be a name or an id")
    return value


def filterable(text: str) -> str:
    """Check that a filter can match a name or an id. Spaces are those of Python and of JavaScript."""
    if text.startswith("-") or any(end.isspace() or end == "\ufeff" for end in (text[0], text[-1])):
        raise ValueError(
            'should not start with - or a space, and should not end with a space: in filters, - means "not", '
            "and spaces are dropped"
        )
    return text


def link(text: str) -> str:
    """Check the beginning of a text, which is usually a URL: no misspelt http or https, and no user name."""
    if MISSPELT_SCHEME.match(text):
        raise ValueError("should begin with http:// or https://")
    if WITH_USER.match(text):
        raise ValueError("should have no user name and no password before the host")
    return text


@dataclass(slots=True)
class PageTotal:
    """The pages of a series that were read, and the characters of their names."""

    pages: int = 0
    characters: int = 0

    def add(self, pages: int, characters: int) -> None:
        self.pages += pages
        self.characters += characters

    @property
    def is_above(self) -> bool:
        return self.pages > MAX_SERIES_PAGES or self.characters > MAX_SERIES_PAGE_NAMES

    def admits(self, pages: int, characters: int) -> bool:
        """Add pages, and return whether they are within the limits. The first that are not raise."""
        if self.is_above:
            return False
        self.add(pages, characters)
        if self.pages > MAX_SERIES_PAGES:
            raise ValueError(
                f"the series has more than {MAX_SERIES_PAGES:,} pages up to this chapter; split the series"
            )
        if self.characters > MAX_SERIES_PAGE_NAMES:
            raise ValueError(
                f"the names of the pages of the series have more than {MAX_SERIES_PAGE_NAMES:,} characters up to this "
                "chapter; use shorter names, or split the series"
            )
        return True


def pages(value: object, total: PageTotal | None = None) -> object:
    """Return a list of pages unchanged, and the run `001.jpg .. 018.jpg` as a list.

    The pages are added to `total` and checked there before the list of a run is made.
    """
    total = total or PageTotal()
    if isinstance(value, list):
        is_admitted = total.admits(len(value), sum(len(page) for page in value if isinstance(page, str)))
        return value if is_admitted else []
    names = _names_of_run(value) if isinstance(value, str) else []
    ends = _split_run(*names) if names else None
    if not ends:
        raise ValueError("should be a list of files or a run like 001.jpg .. 018.jpg")
    before, first, last, after = ends
    width = len(first)
    is_padded = any(str(int(end)) != end for end in (first, last))
    if is_padded and len(last) != width:
        raise ValueError(f"should have numbers of the same length at both ends, unlike {first} and {last}")
    if int(last) < int(first):
        raise ValueError(f"should count upwards, not from {first} to {last}")
    count = int(last) - int(first) + 1
    if count > MAX_PAGES:
        raise ValueError(f"should have at most {MAX_PAGES} pages; split the chapter")
    if (longest := max(map(len, names))) > MAX_FILE_OR_URL:
        raise ValueError(f"should have names of at most {MAX_FILE_OR_URL} characters, has {longest}")
    if not total.admits(count, count * longest):
        return []
    return [f"{before}{page:0{width}}{after}" for page in range(int(first), int(last) + 1)]


def _names_of_run(run: str) -> list[str]:
    """Return the two names of a run; empty if it is none. Spaces around the dots may be left out.

    A regular expression would take a time of the square of the length.
    """
    separator = next((dots for dots in (" ..", ".. ") if dots in run.strip()), "..")
    first, _, last = run.rpartition(separator) if separator == ".." else run.partition(separator)
    names = [first.strip(), last.strip()]
    return names if f"{first} {last}".split() == names else []


def _split_run(first: str, last: str) -> tuple[str, str, str, str] | None:
    """Return the common start of two names, their different numbers, and their common end."""
    before = common_start(first, last).rstrip("0123456789")
    first, last = first[len(before) :], last[len(before) :]
    after = common_start(first[::-1], last[::-1])[::-1].lstrip("0123456789")
    first, last = (name.removesuffix(after) for name in (first, last))
    if all(re.fullmatch("[0-9]{1,9}", name) for name in (first, last)):
        return before, first, last, after
    return None


def common_start(text: str, other: str) -> str:
    return "".join(pair[0] for pair in takewhile(lambda pair: pair[0] == pair[1], zip(text, other, strict=False)))


def is_url(file: str) -> bool:
    return file.startswith(_SCHEMES)


def url_advice(url: str) -> str:
    """Return the end of a message about an invalid URL: its known fault, or ""."""
    match = _URL.fullmatch(url)
    if not match:
        return ""
    authority, rest = match.groups()
    port = _PORT.search(authority)
    host = authority[: port.start()] if port else authority
    if _LONE_PERCENT.search(rest):
        return "; write a % as %25"
    if "@" in authority:
        return "; remove the user name and the password before the host"
    if not host.isascii():
        return f"; write the host as {_ascii(host) or 'xn--…'}"
    if "[" in host and not re.fullmatch(patterns.IPV6, host):
        return "; put a complete IPv6 address between [ and ]"
    if port and not (port[1].isdecimal() and 1 <= int(port[1][:6]) <= 65535):
        return "; a port is a number from 1 to 65535"
    if "[" not in host and not re.fullmatch(patterns.NAME, host):
        return "; a host has letters, digits and -, with single dots between them"
    return ""


def _ascii(host: str) -> str:
    """Return the form of a host name that browsers request; "" if it is not certain."""
    try:
        text = host.encode("idna")
        return text.decode() if text.decode("idna") == host.lower() else ""
    except UnicodeError:
        return ""


def split_url(url: str) -> tuple[str, str]:
    """Return the folder of an image's URL, with a final /, and the file name; "" if the URL has no file name."""
    match = IMAGE.fullmatch(url)
    return (match[1], match[2]) if match else (url, "")


def image_type(file: str) -> str:
    """Return the media type of an image by the ending of its name or URL; "" if that tells none."""
    path = file.partition("?")[0].partition("#")[0]
    return IMAGE_TYPES.get(path.rpartition(".")[2].lower(), "")


def check_pages(pages: list[str]) -> list[str]:
    """Check that all pages are file names, or URLs in one folder: clients join one folder and each name."""
    if len(pages) > MAX_PAGES:
        raise ValueError(f"should have at most {MAX_PAGES} pages; split the chapter")
    urls = [page for page in pages if page.startswith(_SCHEMES)]
    if len(urls) not in (0, len(pages)):
        raise ValueError("should contain file names or URLs, not both")
    for url in urls:
        if not split_url(url)[1]:
            raise ValueError(f"should all end with a file name, unlike {url}")
    if len({split_url(url)[0] for url in urls}) > 1:
        raise ValueError("should all be in one folder, because apps join one folder and each name")
    return pages


def percent_encoded(file: str) -> str:
    """Return a file name as a path segment of a URL."""
    return file if _UNRESERVED.fullmatch(file) else quote(file, safe="")


def all_percent_encoded(files: list[str]) -> tuple[str, ...]:
    """Return file names as path segments. Usually all are such segments already: one match is enough."""
    return tuple(files if _UNRESERVED.fullmatch("".join(files)) else map(percent_encoded, files))


def chapter_title(value: object) -> object:
    """Check that a title template has only valid fields."""
    if isinstance(value, str):
        for name in (match[1] for match in _TITLE_FIELD.finditer(value)):
            if name not in (None, *TITLE_FIELDS):
                match = nearest(name, TITLE_FIELDS)
                valid = ", ".join(f"{{{field}}}" for field in TITLE_FIELDS)
                hint = f"did you mean {{{match}}}?" if match else f"valid fields: {valid}"
                raise ValueError(f"unknown field {{{name}}}; {hint}")
    return value


def full_title(template: str, volume: int | None, values: Mapping[str, str]) -> str:
    """Fill a title template with the values of a chapter. Braces inside a value are not filled."""
    if volume is None:
        template = template.replace("Vol. {volume}, ", "")
    if not values["title"]:
        template = template.removesuffix(": {title}")
    return _TITLE_FIELD.sub(lambda match: match[0][0] if match[1] is None else values[match[1]], template)


def default_title(volume: int | None, number: str, title: str) -> str:
    """The full title in the default form."""
    return full_title(DEFAULT_CHAPTER_TITLE, volume, {"volume": str(volume), "number": number, "title": title.strip()})


def is_slug(text: str) -> bool:
    return re.fullmatch(patterns.SLUG, text) is not None
