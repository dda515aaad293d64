"""The nginx configuration of a release, and the main file around it.

The templates hold the directives, this module fills in the values. Each value from a catalog is quoted or refused by
`quote`, the filter of the templates.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import encoding
from ..api import policies
from ..api.payloads import errors
from ..api.payloads.resources import (
    ATOM,
    EMPTY_RESULTS_URL,
    HTML,
    JSON,
    JSON_FEED,
    RSS,
    SERIES_INDEX_URL,
    SUFFIXES,
    XML,
    key,
)
from ..javascript import modules
from ..release.manifest import ID_PLACEHOLDER, Published
from ..release.rules import Rules
from ..templating import Templates
from . import maps, quoting

# The page for paths that do not exist.
_MISSING_URL = "/404/"
# Bodies whose type nginx knows by the form of their URLs.
_PAGE_TYPES = (HTML, ATOM, RSS, JSON_FEED)
_SITEMAPS = "/sitemaps/"


@dataclass(frozen=True, slots=True)
class ConfigData:
    """Data of a release that the configuration depends on, besides the long maps."""

    rules: Rules
    # The account key of each API key by its digest; empty for a key without an account.
    keys: Mapping[str, str]
    # The file of the body that the shim searches. It is not sent.
    index_file: str
    # The number of lines of the longest of the long maps, and the length of their longest line.
    most_lines: int
    longest_line: int
    # URL and type of the bodies below /api that are not JSON.
    documents: Sequence[tuple[str, str]] = ()
    # URL and type of the bodies outside /api that have a location of their own: the type follows from the URL only.
    files: Sequence[tuple[str, str]] = ()
    # The file of the page for paths that do not exist.
    missing_page: str = ""


def of_bodies(
    rules: Rules, keys: Mapping[str, str], bodies: Sequence[Published], lines: Iterable[int], longest_line: int
) -> ConfigData:
    """The data of a release with these bodies of the catalog as a whole; `lines` are the numbers of each long map."""
    return ConfigData(
        rules=rules,
        keys=keys,
        index_file=next(body.file for body in bodies if body.url == SERIES_INDEX_URL),
        most_lines=max(lines),
        longest_line=longest_line,
        documents=[(body.url, body.type) for body in bodies if body.type != JSON and _is_in_api(body)],
        files=[(body.url, body.type) for body in bodies if _has_own_location(body, rules.apps)],
        missing_page=next((body.file for body in bodies if body.url == _MISSING_URL), ""),
    )


def _is_in_api(body: Published) -> bool:
    return body.url.startswith("/api/")


def _has_own_location(body: Published, apps: Sequence[str]) -> bool:
    """Whether nginx knows the type of a body outside /api by its whole URL only."""
    # Below the path of an app, patterns tell the type: a location for each of its pages of lists would cost megabytes.
    if body.url.split("/")[1] in apps:
        return False
    return not (_is_in_api(body) or body.url == "/" or body.type in _PAGE_TYPES or body.url.startswith(_SITEMAPS))


# Numbers in canonical form: 0, 10 and, for chapters, 10.5; not 01, 1.0 or 1e3.
_INTEGER = r"(?:0|[1-9]\d*)"
_NUMBER = rf"{_INTEGER}(?:\.\d*[1-9])?"
_HTTP = "http.conf"
_MAX_SIZE = "@max_size@"
# The maps of apps. A release has this file only if site.yaml has apps with paths of their own.
_APPS_FILE = "apps.conf"
_TEMPLATES = (
    _HTTP,
    "body.conf",
    "coding.conf",
    "conditions.conf",
    "decisions.conf",
    "errors.conf",
    "failures.conf",
    "fresh.conf",
    "headers.conf",
    "keys.conf",
    "pages.conf",
    "plain.conf",
    "queries.conf",
    "redirects.conf",
    "server.conf",
    "views.conf",
)
# The location of the images. A release has this file only if site.yaml has a folder of images.
MEDIA_FILE = "media.conf"
PREVIEW_FILE = "preview.conf"
_CONFIGURATION = Templates(
    Path(__file__).parent / "templates", quote=quoting.quote, path=quoting.quote_path, json=encoding.json_text
)
# The module that runs the shim, where Debian and the official images install it.
JS_MODULE = "/usr/lib/nginx/modules/ngx_http_js_module.so"


@dataclass(frozen=True, slots=True)
class MediaConf:
    """Images and archives that nginx serves."""

    # The path of their URLs. It begins and ends with /.
    location: str
    folder: str
    max_age: int
    # That of archives; None if there are none.
    archive_age: int | None = None


# The path of an archive below the location of the images. Its parts are in the name by which a browser saves it.
_ARCHIVE = (
    r"archives/(?<fp_saved_slug>[-A-Za-z0-9_]+)/(?<fp_saved_volume>[0-9]+)"
    r"/(?<fp_saved_number>[0-9.]+(?:-version-[0-9]+)?)\.cbz\z"
)


def media_conf(media: MediaConf, *, folder: str, run: str, preview: bool = False) -> bytes:
    """The location of the images and archives, for a server with the release in `folder`."""
    archives = "" if media.archive_age is None else f"^{re.escape(media.location)}{_ARCHIVE}"
    values = {"media": media, "folder": folder, "run": run, "preview": preview}
    return _CONFIGURATION.render(MEDIA_FILE, {**values, "archives": archives})


def preview_conf(status: str, *, has_release: bool) -> bytes:
    """The location of the files in the folder `status`, which `serve --preview` writes."""
    values = {"status": status, "has_release": has_release, "policies": policies}
    return _CONFIGURATION.render(PREVIEW_FILE, values)


def main_conf(
    listen: Sequence[str],
    *,
    folder: str | None,
    run: str,
    log: str | None = None,
    log_level: str = "",
    js_module: str = JS_MODULE,
    media: str | None = None,
    preview: str | None = None,
) -> bytes:
    """The main file around the release in `folder`; the log and temporary files go to `run`.

    `listen` has an address with its port, or a port alone for all IPv4 addresses, as nginx writes them. The file
    includes media.conf of the folder `media` if that is given and the file exists, and preview.conf of the folder
    `preview`. `folder` is None as long as a preview has no release.
    """
    values: dict[str, object] = {
        "js_module": js_module,
        "listen": listen,
        "folder": folder,
        "run": run,
        "log": log or f"{run}/error.log",
        "log_level": log_level,
        "media": media,
        "preview": preview,
    }
    return _CONFIGURATION.render("nginx.conf", values)


@dataclass(frozen=True, slots=True)
class ServerConf:
    """Where and how nginx serves a release: all that its table does not say."""

    # The path of `dist` in the configuration, and that of the folder of the release.
    dist: str
    folder: str
    views_per_second: int
    media: MediaConf | None = None


def release_files(data: ConfigData, server: ServerConf) -> dict[str, bytes]:
    """The files of a release but its manifest, its keys and the long maps."""
    return filled(rendered_files(with_placeholders(data), server), data)


def with_placeholders(data: ConfigData) -> ConfigData:
    """The data without the values that differ in most builds, so that the next build can use its files again."""
    # As long as the name of the file, because long words are refused.
    return replace(data, index_file="@index".ljust(len(data.index_file), "@"), most_lines=0)


def filled(files: Mapping[str, bytes], data: ConfigData) -> dict[str, bytes]:
    """The result of `rendered_files` with the values of the data."""
    most = max(data.most_lines, *(len(text.splitlines()) for text in _short_maps(data).values()))
    # With this maximum, nginx builds the hash of each map at the first attempt. It begins 1000 below a maximum over
    # 10,000. Four lines in a bucket are searched quickly and share its 40 bytes of overhead.
    text = files[_HTTP].replace(_MAX_SIZE.encode(), str(max(12_000, most // 4 + 1000)).encode())
    text = text.replace(with_placeholders(data).index_file.encode(), data.index_file.encode())
    return {**files, _HTTP: text}


def _short_maps(data: ConfigData) -> dict[str, bytes]:
    return {maps.REDIRECTS: maps.redirects_map(data.rules), maps.KEYS: maps.keys_map(data.keys)}


def rendered_files(data: ConfigData, server: ServerConf) -> dict[str, bytes]:
    """The files by name, with placeholders."""
    rules, run, short_maps = data.rules, f"{server.dist}/run", _short_maps(data)
    values: dict[str, object] = {
        "rules": rules,
        "server": server,
        "policies": policies,
        "errors": errors,
        "dist": server.dist,
        "folder": server.folder,
        "run": run,
        "release": ID_PLACEHOLDER,
        "index": f"{server.dist}/{data.index_file}",
        "hash": {"bucket_size": _bucket_size(data, short_maps), "max_size": _MAX_SIZE},
        "documents": _patterns(data.documents),
        "site_files": _locations(data.files),
        "missing_page": data.missing_page,
        "family": "page" if rules.pages else "",
        "reader": re.escape(rules.reader),
        "maps": maps.MAPS,
        "read": maps.READ_PARTS,
        "locked_routes": [_route_pattern(path) for path in rules.restricted],
        "integer": _INTEGER,
        "number": _NUMBER,
        "apps": _apps(rules),
        "gates": "302|308|451" if rules.sends_302 else "308|451",
        **_age_values(rules),
        **_condition_values(),
    }
    templates = (*_TEMPLATES, _APPS_FILE) if rules.apps else _TEMPLATES
    files = {name: _CONFIGURATION.render(name, values) for name in templates}
    for type in _types(data):
        own = {"type": type, "suffix": SUFFIXES[type]}
        files[_answer_conf(type)] = _CONFIGURATION.render("answer.conf", values | own)
    if server.media:
        files[MEDIA_FILE] = media_conf(server.media, folder=server.folder, run=run)
    return files | short_maps | modules.of_nginx(apps=bool(rules.apps))


def _age_values(rules: Rules) -> dict[str, object]:
    letters = maps.age_letters(rules.max_ages)
    return {
        "ages": [(letter, "private" if restricted else "public", age) for (restricted, age), letter in letters.items()],
        "open_letters": [letter for (restricted, _), letter in letters.items() if not restricted],
        "locked_letters": [letter for (restricted, _), letter in letters.items() if restricted],
    }


def _apps(rules: Rules) -> list[tuple[str, list[tuple[str, str]]]]:
    """The apps, each with a pattern of the paths of each media type, and the file for it."""
    return [
        (app, [(rf"^(?:{'|'.join(paths)})/?\z", _answer_conf(type)) for type, paths in _paths_of_app(app).items()])
        for app in rules.apps
    ]


def _paths_of_app(app: str) -> dict[str, list[str]]:
    # Imported here: a site without apps has no use for their modules.
    from ..api.app_routes import typed_paths

    return typed_paths(app)


def _types(data: ConfigData) -> list[str]:
    """The media types of all responses."""
    types = {JSON, *(type for _, type in (*data.documents, *data.files))}
    types |= {type for app in data.rules.apps for type in _paths_of_app(app)}
    types |= {HTML, XML, ATOM, RSS, JSON_FEED} if data.rules.pages else set()
    return sorted(types)


def _locations(bodies: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Path and file of the location of each body, with and without a final slash."""
    return [(path, _answer_conf(type)) for url, type in bodies for path in (key(url), f"{key(url)}/")]


def _patterns(bodies: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """For each type, a pattern of the paths of all bodies, with and without a final slash, and the file."""
    paths: dict[str, list[str]] = {}
    for url, type in bodies:
        paths.setdefault(_answer_conf(type), []).append(re.escape(key(url)))
    return [(rf"^(?:{'|'.join(escaped)})/?\z", conf) for conf, escaped in paths.items()]


def _condition_values() -> dict[str, object]:
    sources = {
        "fp_modified": "$fp_last_modified",
        "fp_ims": "$http_if_modified_since",
        "fp_ius": "$http_if_unmodified_since",
    }
    dates = [{"name": name, "source": source, "lines": list(date_lines(name))} for name, source in sources.items()]
    return {"not_after": NOT_AFTER, "dates": dates, "empty_list_key": key(EMPTY_RESULTS_URL)}


def _answer_conf(type: str) -> str:
    """The file for responses of a media type: answer.conf for JSON, answer.html.conf for HTML."""
    return "answer.conf" if type == JSON else f"answer{SUFFIXES[type]}.conf"


def _route_pattern(path: str) -> str:
    """A restricted route as a pattern of paths with any parameters."""
    return re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(f"/api/v2{path}"))


def _bucket_size(data: ConfigData, short_maps: Mapping[str, bytes]) -> int:
    """The size with which nginx builds the hash of each map without a warning: enough for three times four lines."""
    longest = max([data.longest_line, *(len(line) for text in short_maps.values() for line in text.splitlines())])
    return min(max(1024, 1 << (12 * longest).bit_length()), 32_768)


# HTTP dates: maps turn each of the three forms into fourteen digits, and compare two dates. A configuration has no
# arithmetic, but numbers with equally many digits compare like texts.

_MONTH = "|".join(encoding.MONTHS)
_DAY = f"(?:{'|'.join(encoding.DAYS)})"
_LONG_DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_SHORT_MONTH = "(?:Apr|Jun|Sep|Nov)"
_BY_FOUR = "(?:[02468][048]|[13579][26])"
_LEAP_YEAR = rf"(?:\d\d(?!00){_BY_FOUR}|{_BY_FOUR}00)"

# Matches "A B", both of fourteen digits, if A <= B: they are equal, or at the first difference A's digit is less.
NOT_AFTER = (
    r"^(?:(\d{14}) \g{1}|(\d*)(?:" + "|".join(rf"{digit}\d* \g{{2}}[{digit + 1}-9]" for digit in range(9)) + r")\d*)$"
)


def date_lines(name: str) -> Iterator[tuple[str, str]]:
    """Pattern and value of each line of the map from a date to its digits; the names of captures begin with `name`."""

    def digits(*parts: str) -> str:
        return "".join(part if part.isdigit() else f"${{{name}_{part}}}" for part in parts)

    clock = rf"(?<{name}_h>[01]\d|2[0-3]):(?<{name}_i>[0-5]\d):(?<{name}_s>[0-5]\d|60)"
    day, month, year = rf"(?<{name}_d>\d\d)", rf"(?<{name}_b>{_MONTH})", rf"(?<{name}_y>\d{{4}})"

    exists = rf"(?!00|3[2-9]|[4-9]|3[01] Feb|31 {_SHORT_MONTH}|29 Feb (?!{_LEAP_YEAR}))"
    yield rf"^{_DAY}, {exists}{day} {month} {year} {clock} GMT$", digits("y", "month", "d", "h", "i", "s")

    exists = rf"(?!00|3[2-9]|[4-9]|3[01]-Feb|31-{_SHORT_MONTH}|29-Feb-(?!{_BY_FOUR}))"
    dashed = rf"{day}-{month}-(?<{name}_yy>\d\d)"
    yield rf"^{_LONG_DAY}, {exists}{dashed} {clock} GMT$", digits("century", "yy", "month", "d", "h", "i", "s")

    exists = rf"(?!Feb 3|{_SHORT_MONTH} 31|Feb 29 \S+ (?!{_LEAP_YEAR}))"
    single, double = rf" (?<{name}_d>[1-9])", rf"(?<{name}_d>[12]\d|3[01])"
    yield rf"^{_DAY} {exists}{month} {single} {clock} {year}$", digits("y", "month", "0", "d", "h", "i", "s")
    yield rf"^{_DAY} {exists}{month} {double} {clock} {year}$", digits("y", "month", "d", "h", "i", "s")
