"""Golden responses: the bodies and headers of the test sites, one readable file for each URL.

A file has the URL, the headers of the exported sidecar, an empty line, and the body, indented. The body that is sent is
the same JSON without white space; its ETag, an MD5 of the bytes, proves that nothing else is lost.
"""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from tests.support.paths import DATA

GOLDEN = DATA / "golden"
# The paths that end in .json themselves.
NAMED = ("api/v2/openapi.json", "index.json")
SUFFIX = ".txt"


class Response(NamedTuple):
    """What an export holds for one URL: the bytes of a body and of its sidecar."""

    body: bytes
    sidecar: bytes


def url_of(path: str) -> str:
    """Return the URL of an exported body."""
    return quote(f"/{path}" if path in NAMED else f"/{path.removesuffix('.json')}")


def path_of(url: str) -> str:
    """Return the path of the exported body of a URL."""
    path = unquote(url[1:])
    return path if path in NAMED else f"{path}.json"


def written(url: str, response: Response) -> str:
    """Return the text of a golden file."""
    body = json.dumps(json.loads(response.body), ensure_ascii=False, indent=2)
    return f"{url}\n{response.sidecar.decode()}\n{body}\n"


def read(text: str) -> tuple[str, Response]:
    """Return the URL and the response of a golden file."""
    head, _, body = text.partition("\n\n")
    url, _, sidecar = head.partition("\n")
    compact = json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":")).encode()
    return url, Response(compact, f"{sidecar}\n".encode())


@cache
def responses(name: str) -> dict[str, Response]:
    """Return all golden responses of a test site by their URLs."""
    files = sorted((GOLDEN / name).rglob(f"*{SUFFIX}"))
    return dict(read(file.read_text(encoding="utf-8")) for file in files)


def bodies(name: str) -> dict[str, bytes]:
    """Return all golden bodies of a test site by their URLs."""
    return {url: response.body for url, response in responses(name).items()}


@cache
def sidecar(name: str, url: str) -> dict[str, str]:
    """Return the golden headers of a URL, with their names in lower case."""
    lines = (line.partition(": ") for line in responses(name)[url].sidecar.decode().splitlines())
    return {header.lower(): value for header, _, value in lines}


def exported(folder: Path) -> dict[str, Response]:
    """Return the responses of an exported tree by their URLs, without the documentation page."""
    files = (path for path in sorted(folder.rglob("*.json")) if "docs" not in path.parts)
    return {
        url_of(path.relative_to(folder).as_posix()): Response(
            path.read_bytes(), path.with_name(f"{path.name}.headers").read_bytes()
        )
        for path in files
    }


def etag(body: bytes) -> str:
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'


def write(name: str, current: dict[str, Response]) -> None:
    """Replace the golden files of a test site."""
    for file in (GOLDEN / name).rglob(f"*{SUFFIX}"):
        file.unlink()
    for url, response in current.items():
        file = GOLDEN / name / f"{path_of(url)}{SUFFIX}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(written(url, response), encoding="utf-8", newline="\n")
