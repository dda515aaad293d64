"""The nginx configuration of a release, and the main file around it.

The templates hold the directives, this module fills in the values. Each value from a catalog is quoted or refused by
`quote`, the filter of the templates.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import encoding
from ..api.payloads import errors
from ..api.resources import EMPTY_RESULTS_URL, JSON, SUFFIXES, key
from ..catalog.site_settings import Site
from ..release.manifest import Published
from ..templating import Templates
from . import date_patterns, maps, quoting

# Numbers in canonical form: 0, 10 and, for chapters, 10.5; not 01, 1.0 or 1e3.
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
_CONFIGURATION = Templates(Path(__file__).parent / "templates", quote=quoting.quote, path=quoting.quote_path)
# The module that runs the shim, where Debian and the official images install it.
JS_MODULE = "/usr/lib/nginx/modules/ngx_http_js_module.so"
# A page may load files from its own host only, and images inside its style sheet.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file of the configuration."""

    path: str
    text: bytes


def _render(name: str, values: dict[str, object]) -> ConfigFile:
    return ConfigFile(name, _CONFIGURATION.render(name, values))


def main_conf(
    port: int, *, folder: str, run: str, ipv6: str = "", log: str | None = None, js_module: str = JS_MODULE
) -> bytes:
    """The main file around the release in `folder`; the log and temporary files go to `run`.

    It listens on all IPv4 addresses, and on the IPv6 address if one is given.
    """
    values: dict[str, object] = {
        "js_module": js_module,
        "port": port,
        "ipv6": ipv6,
        "folder": folder,
        "run": run,
        "log": log or f"{run}/error.log",
    }
    return _render("nginx.conf", values).text


@dataclass(frozen=True, slots=True)
class ConfigData:
    """Data of a release that the configuration depends on, besides the long maps."""

    # The body that the shim searches. It is not sent.
    index: Published
    # Bodies of other types than JSON.
    pages: Sequence[Published]
    # Digests of API keys and the account of each, if it has one.
    keys: Mapping[str, str | None]
    # The days of all Last-Modified dates.
    days: Iterable[int]
    # The number of lines of the longest of the long maps, and the length of their longest line.
    most_lines: int
    longest_line: int


def release_files(data: ConfigData, site: Site, *, dist: str, folder: str) -> list[ConfigFile]:
    """The files of a release but its manifest and long maps. `folder` is its folder, the bodies are below `dist`."""
    short_maps = [
        ConfigFile("days.map", maps.days_map(data.days)),
        ConfigFile("keys.map", maps.dump({digest: f"={account or ''}" for digest, account in data.keys.items()})),
    ]
    values: dict[str, object] = {
        "dist": dist,
        "folder": folder,
        "run": f"{dist}/run",
        "index": f"{dist}/{data.index.file}",
        "hash": hash_sizes(data, [file.text for file in short_maps]),
        "pages": [(url, _answer_conf(page.type)) for page in data.pages for url in (page.url, f"{page.url}/")],
    }
    values |= _site_values(site) | _condition_values() | _error_values()
    return [
        *(_render(name, values) for name in ("http.conf", "server.conf", *_TEMPLATES)),
        *(_render_answer_conf(type, values) for type in SUFFIXES),
        *short_maps,
        *(ConfigFile(path.name, path.read_bytes()) for path in sorted(_SHIM.iterdir()) if path.suffix == ".js"),
    ]


def _site_values(site: Site) -> dict[str, object]:
    letters = maps.age_letters(site)
    return {
        "ages": [(letter, "private" if restricted else "public", age) for (restricted, age), letter in letters.items()],
        "locked_letters": [letter for (restricted, _), letter in letters.items() if restricted],
        "maps": maps.MAPS,
        "base_url": site.base_url,
        "error_age": site.cache.errors,
        "locked_routes": [_route_pattern(path) for path in site.restricted],
        "integer": _INTEGER,
        "number": _NUMBER,
        "policy": CONTENT_SECURITY_POLICY,
        "views_per_second": site.views_per_second,
    }


def _condition_values() -> dict[str, object]:
    sources = {
        "fp_modified": "$fp_last_modified",
        "fp_ims": "$http_if_modified_since",
        "fp_ius": "$http_if_unmodified_since",
    }
    dates = [
        {"name": name, "source": source, "lines": list(date_patterns.lines(name))} for name, source in sources.items()
    ]
    return {"not_after": date_patterns.NOT_AFTER, "dates": dates, "empty_list_key": key(EMPTY_RESULTS_URL)}


def _error_values() -> dict[str, object]:
    statuses = sorted(errors.MESSAGES)
    return {
        "statuses": statuses,
        "errors": [(status, _json(errors.error(status))) for status in statuses],
        "details": [(status, _json(errors.detail(status))) for status in statuses],
        "bad_parameters": [(key, _json(body)) for key, body in errors.BAD_PARAMETERS.items()],
        "messages": {name: _json(body) for name, body in errors.DETAILS.items()},
        "default_error": _json(errors.error(500)),
        "default_detail": _json(errors.detail(500)),
    }


def _render_answer_conf(type: str, values: dict[str, object]) -> ConfigFile:
    rendered = _render("answer.conf", values | {"type": type, "suffix": SUFFIXES[type]})
    return ConfigFile(_answer_conf(type), rendered.text)


def _answer_conf(type: str) -> str:
    """The file for responses of a media type: answer.conf for JSON, answer.html.conf for HTML."""
    return "answer.conf" if type == JSON else f"answer{SUFFIXES[type]}.conf"


def _json(body: object) -> str:
    return encoding.json(body).decode()


def _route_pattern(path: str) -> str:
    """A restricted route as a pattern of paths with any parameters."""
    return re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(f"/api/v2{path}"))


def hash_sizes(data: ConfigData, short_maps: Iterable[bytes]) -> dict[str, int]:
    """Sizes with which nginx builds the hash of each map at the first attempt and without a warning.

    If the maximum is over 10,000, nginx begins 1000 below it. Four lines in a bucket are searched quickly and share
    its 40 bytes of overhead. A bucket is large enough for three times as many.
    """
    lines = [text.splitlines() for text in short_maps]
    longest = max(data.longest_line, *(len(line) for text in lines for line in text))
    most = max(data.most_lines, *map(len, lines))
    bucket = 1 << (12 * longest).bit_length()
    return {"bucket_size": min(max(1024, bucket), 32_768), "max_size": max(12_000, most // 4 + 1000)}
