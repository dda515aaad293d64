"""Published resources -> the configuration that answers with them. The only importer of jinja2.

Templates hold text, this module holds decisions. Whatever comes from a catalog or a site reaches a
configuration through `ngx`, which quotes a value or refuses it.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from . import dates, encode
from .artifact import File, Published
from .errors import FlatpanelError
from .manifest import key
from .model import Site
from .payloads import errors

_PLAIN = re.compile(r"[-A-Za-z0-9_./:+=@,]+")
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f$]")
# nginx reads its configuration through a buffer of 4096 bytes, and a word has to fit.
_LONGEST = 4000
# A canonical decimal, as in CONTRACT: 0, 10, 10.5; never 01, 1.0 or 1e3.
_NUMBER = r"(?:0|[1-9]\d*)(?:\.\d*[1-9])?"
_TEMPLATES = ("answer.conf", "coding.conf", "conditions.conf", "errors.conf", "failures.conf", "headers.conf")


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


def place(path: object) -> str:
    """A path as one word. `include` would take these characters for a pattern of names."""
    if set("*?[") & set(str(path)):
        raise FlatpanelError(f"{path}: nginx cannot include files from a folder with *, ? or [ in its name; rename it")
    return ngx(path)


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


def main(port: int, *, folder: str, run: str, log: str | None = None, user: str | None = None) -> bytes:
    """The ready-made main file around the release in `folder`; the log and temporary files go to `run`."""
    values = {"port": port, "folder": folder, "run": run, "log": log or f"{run}/error.log", "user": user}
    return _rendered("nginx.conf", values).text


def release_files(published: Sequence[Published], site: Site, *, dist: str, folder: str) -> list[File]:
    """Everything in the `folder` of a release but its manifest; its bodies lie below `dist`."""
    ages = sorted({one.max_age for one in published})
    letters = {age: _letters(index) for index, age in enumerate(ages)}
    values: dict[str, object] = {
        "dist": dist,
        "folder": folder,
        "hash": _hash_sizes(published),
        "ages": [(letter, age) for age, letter in letters.items()],
        "number": _NUMBER,
        "not_after": dates.NOT_AFTER,
        "dates": [
            {"name": name, "source": source, "lines": list(dates.lines(name))}
            for source, name in (
                ("$fp_modified", "fp_modified"),
                ("$http_if_modified_since", "fp_ims"),
                ("$http_if_unmodified_since", "fp_ius"),
            )
        ],
        "statuses": sorted(errors.MESSAGES),
        "errors": [(status, encode.json(errors.error(status)).decode()) for status in sorted(errors.MESSAGES)],
        "other_error": encode.json(errors.error(500)).decode(),
        "error_age": site.cache.errors,
    }
    return [
        *(_rendered(name, values) for name in ("http.conf", "server.conf", *_TEMPLATES)),
        File("validators.map", validators_map(published, letters)),
        # An empty folder would be lost by whoever copies files only.
        File("empty/.keep", b""),
    ]


def validators_map(published: Iterable[Published], letters: dict[int, str]) -> bytes:
    """A line a URL: its tag, + if there is a gzip form, the letter of its age, the date of its last change."""
    return "".join(
        f'{ngx(key(one.url))} "{one.etag}{"-+"[one.gzip]}{letters[one.max_age]} {encode.http_date(one.modified)}";\n'
        for one in published
    ).encode()


def _letters(index: int) -> str:
    """a, b, … z, ba, bb …"""
    rest, digit = divmod(index, 26)
    return (_letters(rest) if rest else "") + chr(ord("a") + digit)


def _hash_sizes(published: Sequence[Published]) -> dict[str, int]:
    """Sizes at which nginx builds its hash at the first attempt and without a warning.

    An entry is two pointers and a name; a bucket must hold the longest, and a few of the usual ones.
    """
    longest = max((len(key(one.url)) for one in published), default=0)
    bucket = max(1024, 1 << (longest + 64).bit_length())
    return {"bucket_size": bucket, "max_size": max(2048, len(published) // 2 + 1000)}
