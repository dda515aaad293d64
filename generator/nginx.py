"""Published resources -> the configuration that answers with them. The only importer of jinja2.

Templates hold text, this module holds decisions. Whatever comes from a catalog or a site reaches a
configuration through `ngx`, which quotes a value or refuses it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import dates, encode
from .artifact import JSON, NOTHING, SUFFIXES, File, Gate, Published, key
from .errors import FlatpanelError
from .model import Site
from .payloads import errors

if TYPE_CHECKING:
    from jinja2 import Environment

_PLAIN = re.compile(r"[-A-Za-z0-9_./:+=@,]+")
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f$]")
# nginx reads its configuration through a buffer of 4096 bytes, and a word has to fit.
_LONGEST = 4000
# A canonical decimal, as in CONTRACT: 0, 10, 10.5; never 01, 1.0 or 1e3.
_NUMBER = r"(?:0|[1-9]\d*)(?:\.\d*[1-9])?"
_TEMPLATES = (
    "body.conf",
    "coding.conf",
    "conditions.conf",
    "errors.conf",
    "failures.conf",
    "headers.conf",
    "keys.conf",
    "plain.conf",
    "queries.conf",
)
_SHIM = Path(__file__).parent / "shim"
# Where Debian and the official images keep the module that runs the shim.
JS_MODULE = "/usr/lib/nginx/modules/ngx_http_js_module.so"
INDEX = "/api/v2/series#index"
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
_DAY = 86_400
# Nothing in capitals, since nginx takes no notice of the case of what it looks up.
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = f"0123456789{_LETTERS}"
# What a page may load: its own files from this host, and the little pictures inside its style sheet.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_DOLLAR = "\ue000"


def ngx(value: object) -> str:
    """A value as one word of a configuration. nginx has no escape for `$`, and no value of ours needs one."""
    text = str(value)
    if _PLAIN.fullmatch(text) and len(text) <= _LONGEST:
        return text
    if _FORBIDDEN.search(text):
        raise FlatpanelError(f"{text!r} cannot be written into an nginx configuration; rename it")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    if len(escaped.encode()) > _LONGEST:
        raise FlatpanelError(f"{text[:60]!r}… is too long for an nginx configuration; shorten it")
    return f'"{escaped}"'


def place(path: object, pattern: str = "") -> str:
    """A path as one word, without what `include` takes for a pattern of names, and without what njs cannot read."""
    if set("*?['\\") & set(str(path)):
        raise FlatpanelError(f"{str(path)!r}: nginx cannot use a folder with *, ?, [, ' or \\ in its name; rename it")
    return ngx(f"{path}{pattern}")


@cache
def _environment() -> "Environment":
    # Most builds have no template to fill, and the library takes its time to load.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(ngx=ngx, place=place)
    return environment


def _rendered(name: str, values: dict[str, object]) -> File:
    return File(name, _environment().get_template(name).render(values).encode())


def main(port: int, *, folder: str, run: str, log: str | None = None, js_module: str = JS_MODULE) -> bytes:
    """The ready-made main file around the release in `folder`; the log and temporary files go to `run`."""
    values = {
        "js_module": js_module,
        "port": port,
        "folder": folder,
        "run": run,
        "log": log or f"{run}/error.log",
    }
    return _rendered("nginx.conf", values).text


@dataclass(frozen=True, slots=True)
class Answers:
    """What a server has to know beside the long maps, and what it has to know of them."""

    # The body that is not sent but searched.
    index: Published
    # Whatever is not JSON.
    pages: Sequence[Published]
    # The digests of all keys, and whose each is.
    keys: Mapping[str, str | None]
    # The days on which a body changed.
    days: Iterable[int]
    # How many lines the longest of the maps has, and how long the longest line is.
    lines: int
    longest: int


class Line(NamedTuple):
    """A line of one of the maps, which owes nothing to any other line."""

    map: str
    name: str
    value: str

    @property
    def text(self) -> str:
        return f"{self.name} {self.value};\n"


def letters(site: Site) -> dict[tuple[bool, int], str]:
    """What a line calls an age, and that a key is needed: for every age in site.yaml, whether it occurs or not."""
    cache = site.cache
    ages = {age for family in (cache.unversioned, cache.v1, cache.v2) for _, age in family} | {cache.index}
    classes = [(restricted, age) for restricted in (False, True) for age in sorted(ages)]
    return {one: _spelt(index, _LETTERS) for index, one in enumerate(classes)}


def body_line(one: Published, letters: Mapping[tuple[bool, int], str]) -> Line:
    """A body: its tag, + if there is a gzip form, the letter of its age, time and day of its last change."""
    letter = letters[one.restricted, one.max_age]
    return _line(key(one.url), f"{one.etag}{'-+'[one.gzip]}{letter}{_moment(one.modified)}")


# A chapter is in several bodies, which are as old as it is.
@lru_cache(maxsize=4096)
def _moment(seconds: int) -> str:
    time = seconds % _DAY
    return f"{time // 3600:02}:{time // 60 % 60:02}:{time % 60:02}{_spelt(seconds // _DAY, _DIGITS)}"


def gate_line(gate: Gate) -> Line:
    """A gate: `451` and its own key or `308` and the path to go to, behind the word `key:` where it takes one."""
    path = key(gate.url)
    return _line(path, ngx(f"{'key:' * gate.restricted}{gate.status}{gate.target or path}"))


def page_line(asked: str, found: str) -> Line:
    """The deprecated address of a chapter's pages, and the one that has them."""
    return Line("pages", name(asked), ngx(found))


def day(one: Published) -> int:
    """The day of a body's last change. Its line names it by this alone; days_map says which date it is."""
    return one.modified // _DAY


def days_map(days: Iterable[int]) -> bytes:
    """What HTTP calls a day, for all days that bodies name."""
    return _map({_spelt(one, _DIGITS): encode.http_date(one * _DAY)[:16] for one in days})


def _line(path: str, value: str) -> Line:
    found = _MAP.fullmatch(path)
    map = found and found.lastgroup
    return Line(map, name(found[map]), value) if found and map else Line("validators", name(path), value)


def release_files(answers: Answers, site: Site, *, dist: str, folder: str) -> list[File]:
    """What is in the `folder` of a release beside its manifest and its long maps; its bodies lie below `dist`."""
    maps = [
        File("days.map", days_map(answers.days)),
        File("keys.map", _map({digest: f"={account or ''}" for digest, account in answers.keys.items()})),
    ]
    own = {
        "dist": dist,
        "folder": folder,
        "run": f"{dist}/run",
        "index": f"{dist}/{answers.index.file}",
        "hash": hash_sizes(answers, [one.text for one in maps]),
        "pages": [(path, _answer_conf(one.type)) for one in answers.pages for path in (one.url, f"{one.url}/")],
    }
    values = own | _of_site(site) | _of_conditions() | _of_failures()
    return [
        *(_rendered(name, values) for name in ("http.conf", "server.conf", *_TEMPLATES)),
        *(_answering(kind, values) for kind in SUFFIXES),
        *maps,
        *(File(path.name, path.read_bytes()) for path in sorted(_SHIM.iterdir()) if path.suffix == ".js"),
        # An empty folder would be lost by whoever copies files only.
        File("empty/.keep", b""),
    ]


def _of_site(site: Site) -> dict[str, object]:
    ages = letters(site)
    return {
        "ages": [(letter, "private" if one[0] else "public", one[1]) for one, letter in ages.items()],
        "locked_letters": [letter for one, letter in ages.items() if one[0]],
        "maps": MAPS,
        "base_url": site.base_url,
        "error_age": site.cache.errors,
        "locked_routes": [_route_pattern(path) for path in site.restricted],
        "number": _NUMBER,
        "policy": POLICY,
    }


def _of_conditions() -> dict[str, object]:
    sources = {
        "fp_modified": "$fp_last_modified",
        "fp_ims": "$http_if_modified_since",
        "fp_ius": "$http_if_unmodified_since",
    }
    lines = [{"name": name, "source": source, "lines": list(dates.lines(name))} for name, source in sources.items()]
    return {"not_after": dates.NOT_AFTER, "dates": lines, "nothing": key(NOTHING)}


def _of_failures() -> dict[str, object]:
    statuses = sorted(errors.MESSAGES)
    return {
        "statuses": statuses,
        "errors": [(status, _json(errors.error(status))) for status in statuses],
        "details": [(status, _json(errors.detail(status))) for status in statuses],
        "bad_parameters": [(key, _json(body)) for key, body in errors.BAD_PARAMETERS.items()],
        "say": {name: _json(body) for name, body in errors.DETAILS.items()},
        "other_error": _json(errors.error(500)),
        "other_detail": _json(errors.detail(500)),
    }


def _answering(kind: str, values: dict[str, object]) -> File:
    """How bodies of one type are answered."""
    fresh = "fresh" if kind == JSON else "fresh-page"
    rendered = _rendered("answer.conf", values | {"type": kind, "suffix": SUFFIXES[kind], "fresh": fresh})
    return File(_answer_conf(kind), rendered.text)


def _answer_conf(kind: str) -> str:
    """The file that says how bodies of one type are answered; most are JSON, and it is called after none."""
    return "answer.conf" if kind == JSON else f"answer{SUFFIXES[kind]}.conf"


def _json(body: object) -> str:
    return encode.json(body).decode()


def _map(lines: Mapping[str, str]) -> bytes:
    return "".join(f"{name(key)} {ngx(value)};\n" for key, value in sorted(lines.items())).encode()


def name(text: str) -> str:
    """The left side of a line of a map: never a variable, and a word of nginx's own only with a backslash."""
    if _PLAIN.fullmatch(text):
        return text
    return ngx(text.replace("$", _DOLLAR)).replace(_DOLLAR, "$")


def _route_pattern(path: str) -> str:
    """A restricted route as a pattern of paths, whatever stands for its parameters."""
    return re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(f"/api/v2{path}"))


def _spelt(number: int, digits: str) -> str:
    rest, digit = divmod(number, len(digits))
    return (_spelt(rest, digits) if rest else "") + digits[digit]


def hash_sizes(answers: Answers, short: Iterable[bytes]) -> dict[str, int]:
    """Sizes at which nginx builds the hash of each map at its first attempt and without a warning.

    nginx begins 1000 below a maximum of more than 10,000. Four lines a bucket are quickly searched and share the 40
    bytes that it costs; a bucket that happens to get three times as many holds them all the same.
    """
    lines = [text.splitlines() for text in short]
    longest = max(answers.longest, *(len(line) for text in lines for line in text))
    most = max(answers.lines, *map(len, lines))
    bucket = 1 << (12 * longest).bit_length()
    return {"bucket_size": min(max(1024, bucket), 32_768), "max_size": max(12_000, most // 4 + 1000)}
