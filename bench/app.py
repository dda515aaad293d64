"""The same responses from a Python server with all data in memory, to compare a release with.

As simple and fast as FastAPI allows: one route, one dict lookup, prepared validators and compressed forms.
Only bodies are encoded for each request.
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
    """Read the bodies listed in a file, with a path, an ETag and a file per line."""
    answers = {}
    for line in listed.read_text().splitlines():
        path, etag, name = line.split("\t")
        body, modified = Path(name).read_bytes(), Path(name).stat().st_mtime
        packed = gzip.compress(body, 6) if Path(f"{name}.gz").exists() else None
        answers[path] = Answer(orjson.loads(body), packed, f'"{etag}"', formatdate(modified, usegmt=True))
    return answers


ANSWERS = load(Path(os.environ["BENCH_BODIES"]))
app = FastAPI(openapi_url=None)


@app.get("/{path:path}")
async def answer(request: Request) -> Response:
    prepared = ANSWERS.get(request.url.path)
    if prepared is None:
        return Response(b'{"detail":"Not found."}', 404, media_type="application/json")
    fields = request.headers
    packed = prepared.packed if "gzip" in fields.get("accept-encoding", "") else None
    headers = {
        "ETag": f"W/{prepared.etag}" if packed else prepared.etag,
        "Last-Modified": prepared.modified,
        "Cache-Control": "public, max-age=300",
        "Access-Control-Allow-Origin": "*",
    }
    if prepared.packed:
        headers["Vary"] = "Accept-Encoding"
    if is_fresh(prepared, fields.get("if-none-match"), fields.get("if-modified-since")):
        return Response(None, 304, headers)
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(packed or orjson.dumps(prepared.value), 200, headers, "application/json")


def is_fresh(prepared: Answer, etags: str | None, date: str | None) -> bool:
    if etags is not None:
        return prepared.etag in (etag.strip().removeprefix("W/") for etag in etags.split(",")) or etags == "*"
    try:
        return date is not None and parsedate_to_datetime(date) >= parsedate_to_datetime(prepared.modified)
    except (ValueError, TypeError):
        return False
