"""Published resources -> the configuration that answers with them.

Templates hold text, this module holds decisions. Whatever comes from a catalog or a site reaches a
configuration through `ngx`, which quotes a value or refuses it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import encoding
from ..api.payloads import errors
from ..api.resources import EMPTY_RESULTS_URL, JSON, SUFFIXES, key
from ..catalog.records import Site
from ..release.manifest import Published
from ..templating import Templates
from . import date_patterns, maps, quoting

# Numbers in canonical form: 0, 10 and, of a chapter, 10.5; never 01, 1.0 or 1e3.
_INTEGER = r"(?:0|[1-9]\d*)"
_NUMBER = rf"{_INTEGER}(?:\.\d*[1-9])?"
_TEMPLATES = (
    "body.conf",
    "coding.conf",
    "conditions.conf",
    "decisions.conf",
    "errors.conf",
    "failures.conf",
    "headers.conf",
    "keys.conf",
    "plain.conf",
    "queries.conf",
    "views.conf",
)
_SHIM = Path(__file__).parent / "shim"
_CONFIGURATION = Templates(Path(__file__).parent / "templates", ngx=quoting.quote, place=quoting.quote_path)
# Where Debian and the official images keep the module that runs the shim.
JS_MODULE = "/usr/lib/nginx/modules/ngx_http_js_module.so"
# What a page may load: its own files from this host, and the little pictures inside its style sheet.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


@dataclass(frozen=True, slots=True)
class File:
    """A file of a release's own folder, or of the project's."""

    path: str
    text: bytes


def _rendered(name: str, values: dict[str, object]) -> File:
    return File(name, _CONFIGURATION.render(name, values))


def main_conf(
    port: int, *, folder: str, run: str, ipv6: str = "", log: str | None = None, js_module: str = JS_MODULE
) -> bytes:
    """The ready-made main file around the release in `folder`; the log and temporary files go to `run`.

    It listens on all addresses of IPv4, and on `ipv6` if that is given.
    """
    values = {
        "js_module": js_module,
        "port": port,
        "ipv6": ipv6,
        "folder": folder,
        "run": run,
        "log": log or f"{run}/error.log",
    }
    return _rendered("nginx.conf", values).text


@dataclass(frozen=True, slots=True)
class ConfigData:
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


def release_files(answers: ConfigData, site: Site, *, dist: str, folder: str) -> list[File]:
    """What is in the `folder` of a release beside its manifest and its long maps; its bodies lie below `dist`."""
    short = [
        File("days.map", maps.days_map(answers.days)),
        File("keys.map", maps.dump({digest: f"={account or ''}" for digest, account in answers.keys.items()})),
    ]
    own = {
        "dist": dist,
        "folder": folder,
        "run": f"{dist}/run",
        "index": f"{dist}/{answers.index.file}",
        "hash": hash_sizes(answers, [one.text for one in short]),
        "pages": [(path, _answer_conf(one.type)) for one in answers.pages for path in (one.url, f"{one.url}/")],
    }
    values = own | _of_site(site) | _of_conditions() | _of_failures()
    return [
        *(_rendered(name, values) for name in ("http.conf", "server.conf", *_TEMPLATES)),
        *(_answering(kind, values) for kind in SUFFIXES),
        *short,
        *(File(path.name, path.read_bytes()) for path in sorted(_SHIM.iterdir()) if path.suffix == ".js"),
    ]


def _of_site(site: Site) -> dict[str, object]:
    ages = maps.age_letters(site)
    return {
        "ages": [(letter, "private" if one[0] else "public", one[1]) for one, letter in ages.items()],
        "locked_letters": [letter for one, letter in ages.items() if one[0]],
        "maps": maps.MAPS,
        "base_url": site.base_url,
        "error_age": site.cache.errors,
        "locked_routes": [_route_pattern(path) for path in site.restricted],
        "integer": _INTEGER,
        "number": _NUMBER,
        "policy": CONTENT_SECURITY_POLICY,
        "views_per_second": site.views_per_second,
    }


def _of_conditions() -> dict[str, object]:
    sources = {
        "fp_modified": "$fp_last_modified",
        "fp_ims": "$http_if_modified_since",
        "fp_ius": "$http_if_unmodified_since",
    }
    lines = [
        {"name": name, "source": source, "lines": list(date_patterns.lines(name))} for name, source in sources.items()
    ]
    return {"not_after": date_patterns.NOT_AFTER, "dates": lines, "nothing": key(EMPTY_RESULTS_URL)}


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
    rendered = _rendered("answer.conf", values | {"type": kind, "suffix": SUFFIXES[kind]})
    return File(_answer_conf(kind), rendered.text)


def _answer_conf(kind: str) -> str:
    """The file that says how bodies of one type are answered; most are JSON, and it is called after none."""
    return "answer.conf" if kind == JSON else f"answer{SUFFIXES[kind]}.conf"


def _json(body: object) -> str:
    return encoding.json(body).decode()


def _route_pattern(path: str) -> str:
    """A restricted route as a pattern of paths, whatever stands for its parameters."""
    return re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(f"/api/v2{path}"))


def hash_sizes(answers: ConfigData, short: Iterable[bytes]) -> dict[str, int]:
    """Sizes at which nginx builds the hash of each map at its first attempt and without a warning.

    nginx begins 1000 below a maximum of more than 10,000. Four lines a bucket are quickly searched and share the 40
    bytes that it costs; a bucket that happens to get three times as many holds them all the same.
    """
    lines = [text.splitlines() for text in short]
    longest = max(answers.longest, *(len(line) for text in lines for line in text))
    most = max(answers.lines, *map(len, lines))
    bucket = 1 << (12 * longest).bit_length()
    return {"bucket_size": min(max(1024, bucket), 32_768), "max_size": max(12_000, most // 4 + 1000)}
