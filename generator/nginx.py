"""Published resources -> the configuration that answers with them. The only importer of jinja2.

Templates hold text, this module holds decisions. Whatever comes from a catalog or a site reaches a
configuration through `ngx`, which quotes a value or refuses it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from . import dates, encode
from .artifact import JSON, SUFFIXES, File, Gate, Published, key
from .errors import FlatpanelError
from .model import Site
from .payloads import errors

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


_environment = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    autoescape=False,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_environment.filters.update(ngx=ngx, place=place)


def _rendered(name: str, values: dict[str, object]) -> File:
    return File(name, _environment.get_template(name).render(values).encode())


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
    """All that a server has to know: bodies, gates, the deprecated addresses of pages, and whose each key is."""

    published: Sequence[Published]
    gates: Sequence[Gate]
    deprecated_pages: Mapping[str, str]
    keys: Mapping[str, str | None]

    @property
    def index(self) -> Published:
        """The body that is not sent but searched."""
        (found,) = (one for one in self.published if one.url == INDEX)
        return found

    @property
    def pages(self) -> list[Published]:
        """Whatever is not JSON."""
        return [one for one in self.published if one.type != JSON]


def release_files(answers: Answers, site: Site, *, dist: str, folder: str) -> list[File]:
    """Everything in the `folder` of a release but its manifest; its bodies lie below `dist`."""
    classes = sorted({(one.restricted, one.max_age) for one in answers.published})
    letters = {one: _letters(index) for index, one in enumerate(classes)}
    places = {"dist": dist, "folder": folder, "run": f"{dist}/run", "index": f"{dist}/{answers.index.file}"}
    values = places | _of_site(site) | _of_answers(answers, letters) | _of_conditions() | _of_failures()
    return [
        *(_rendered(name, values) for name in ("http.conf", "server.conf", *_TEMPLATES)),
        *(_answering(kind, values) for kind in SUFFIXES),
        File("validators.map", validators_map(answers, letters)),
        File("pages.map", _map(answers.deprecated_pages)),
        File("keys.map", _map({digest: f"={account or ''}" for digest, account in answers.keys.items()})),
        *(File(path.name, path.read_bytes()) for path in sorted(_SHIM.iterdir()) if path.suffix == ".js"),
        # An empty folder would be lost by whoever copies files only.
        File("empty/.keep", b""),
    ]


def _of_site(site: Site) -> dict[str, object]:
    return {
        "base_url": site.base_url,
        "error_age": site.cache.errors,
        "locked_routes": [_route_pattern(path) for path in site.restricted],
        "number": _NUMBER,
        "policy": POLICY,
    }


def _of_answers(answers: Answers, letters: Mapping[tuple[bool, int], str]) -> dict[str, object]:
    return {
        "hash": _hash_sizes(answers),
        "ages": [(letter, "private" if one[0] else "public", one[1]) for one, letter in letters.items()],
        "locked_letters": [letter for one, letter in letters.items() if one[0]],
        "pages": [(path, _answer_conf(one.type)) for one in answers.pages for path in (one.url, f"{one.url}/")],
    }


def _of_conditions() -> dict[str, object]:
    sources = {
        "fp_modified": "$fp_modified",
        "fp_ims": "$http_if_modified_since",
        "fp_ius": "$http_if_unmodified_since",
    }
    lines = [{"name": name, "source": source, "lines": list(dates.lines(name))} for name, source in sources.items()]
    return {"not_after": dates.NOT_AFTER, "dates": lines}


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


def validators_map(answers: Answers, letters: Mapping[tuple[bool, int], str]) -> bytes:
    """A line a URL. A body: its tag, + if there is a gzip form, the letter of its age, the date of its last change.

    A gate: `451` or `308` and the path to go to, behind the word `key` where it takes one.
    """
    lines = {}
    for one in answers.published:
        letter = letters[one.restricted, one.max_age]
        lines[key(one.url)] = f"{one.etag}{'-+'[one.gzip]}{letter} {encode.http_date(one.modified)}"
    for gate in answers.gates:
        lines[key(gate.url)] = f"{'key ' * gate.restricted}{gate.status} {gate.target or key(gate.url)}"
    return _map(lines)


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


def _letters(index: int) -> str:
    """a, b, … z, ba, bb …"""
    rest, digit = divmod(index, 26)
    return (_letters(rest) if rest else "") + chr(ord("a") + digit)


def _hash_sizes(answers: Answers) -> dict[str, int]:
    """Sizes at which nginx builds its hash at the first attempt and without a warning.

    An entry is two pointers and a name; a bucket must hold the longest, and a few of the usual ones.
    """
    urls = [one.url for one in answers.published] + [one.url for one in answers.gates] + list(answers.deprecated_pages)
    longest = max(len(key(url).encode()) for url in urls)
    bucket = max(1024, 1 << (longest + 64).bit_length())
    return {"bucket_size": bucket, "max_size": max(2048, len(urls) // 2 + 1000)}
