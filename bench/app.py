"""The same answers from a server in Python, which holds everything in memory: what a release is compared with.

It is as simple and as fast as one gets with FastAPI: one route, one look into a dict, validators that are known
before they are asked for, compressed forms that are ready. Only bodies are encoded for each request.
"""

import gzip
import os
from dataclasses import dataclass
from email.utils import formatdate, parsedate_to_datetime
from pathlib import Path
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response


@dataclass(frozen=True, slots=True)
class Answer:
    value: Any
    packed: bytes | None
    etag: str
    modified: str


def load(listed: Path) -> dict[str, Answer]:
    """The bodies in a file with lines of path, tag and file."""
    found = {}
    for line in listed.read_text().splitlines():
        path, tag, name = line.split("\t")
        body, modified = Path(name).read_bytes(), Path(name).stat().st_mtime
        packed = gzip.compress(body, 6) if Path(f"{name}.gz").exists() else None
        found[path] = Answer(orjson.loads(body), packed, f'"{tag}"', formatdate(modified, usegmt=True))
    return found


ANSWERS = load(Path(os.environ["BENCH_BODIES"]))
app = FastAPI(openapi_url=None)


@app.get("/{path:path}")
async def answer(request: Request) -> Response:
    one = ANSWERS.get(request.url.path)
    if one is None:
        return Response(b'{"detail":"Not found."}', 404, media_type="application/json")
    asked = request.headers
    packed = one.packed if "gzip" in asked.get("accept-encoding", "") else None
    headers = {
        "ETag": f"W/{one.etag}" if packed else one.etag,
        "Last-Modified": one.modified,
        "Cache-Control": "public, max-age=300",
        "Access-Control-Allow-Origin": "*",
    }
    if one.packed:
        headers["Vary"] = "Accept-Encoding"
    if is_fresh(one, asked.get("if-none-match"), asked.get("if-modified-since")):
        return Response(None, 304, headers)
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(packed or orjson.dumps(one.value), 200, headers, "application/json")


def is_fresh(one: Answer, tags: str | None, date: str | None) -> bool:
    if tags is not None:
        return one.etag in (tag.strip().removeprefix("W/") for tag in tags.split(",")) or tags == "*"
    try:
        return date is not None and parsedate_to_datetime(date) >= parsedate_to_datetime(one.modified)
    except (ValueError, TypeError):
        return False
