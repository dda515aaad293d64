"""Promises about lists that a server assembles from the parameters of a request."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from ... import encoding
from ...api.payloads import errors
from ...api.payloads.resources import SERIES_INDEX_URL
from .probe import Observation, Probe, body_observation, content, header_observations, status_observation
from .subjects import Subjects

_LIST = "/api/v2/series"


def check(probe: Probe, subjects: Subjects) -> Iterator[Observation]:
    body = subjects.bodies.get(_LIST)
    if body is None or body.restricted:
        return
    shown = encoding.parse(subjects.body(_LIST))
    items: list[Any] = shown["results"]
    yield from _list(probe, "slug=-", _answer([], 0, last=True))
    yield from _list(probe, "title=%ff", _answer([], 0, last=True))
    if items:
        slug = quote(items[-1]["slug"])
        yield from _list(probe, f"slug={slug}&status=any&a=1", _answer(items[-1:], 1, last=True))
        yield from _list(probe, "limit=1", _answer(items[:1], shown["total"], last=shown["total"] == 1))
        if len(items) > 1:
            yield from _list(probe, "limit=1&page=2", _answer(items[1:2], shown["total"], last=shown["total"] == 2))
    index = encoding.parse(subjects.body(SERIES_INDEX_URL))
    for field, part in _parts_of_names(index):
        matching = [
            encoding.parse(item)
            for item, names in zip(index["items"], index[field]["names"], strict=True)
            if part in names
        ]
        size = index["page_size"]
        yield from _list(
            probe, f"{field}={quote(part)}", _answer(matching[:size], len(matching), last=len(matching) <= size)
        )
    missing = encoding.json(errors.DETAILS["page"])
    yield from probe.expect("page-not-found", f"{_LIST}?page=999999999", 404, missing)


def _parts_of_names(index: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Parts of names in each field: one for each length that a character of a name has in UTF-8.

    Engines of JavaScript count characters beyond U+FFFF in two ways.
    """
    parts: dict[tuple[str, int], str] = {}
    for field in ("title", "author", "artist"):
        for name in "\n".join(index[field]["names"]).split("\n"):
            for at, character in enumerate(name):
                # Longer than the parts that the index lists as they are.
                part = name[max(at - 6, 0) : at + 7]
                if len(part) > 2:
                    parts.setdefault((field, len(character.encode())), part)
    return dict.fromkeys((field, part) for (field, _), part in parts.items())


def _list(probe: Probe, query: str, expected: bytes) -> Iterator[Observation]:
    response = probe.get(f"{_LIST}?{query}", size=len(expected))
    label = f"{probe.base}{_LIST}?{query}"
    yield status_observation("filters", label, response, 200)
    if response.status == 200:
        received = content(response, len(expected))
        yield body_observation("filters", label, received == expected)
        if received == expected:
            etag = f'"{encoding.etag(expected)}"'
            yield from header_observations("etag", label, response.headers, {"ETag": etag})


def _answer(items: list[Any], total: int, *, last: bool) -> bytes:
    return encoding.json({"total": total, "last": last, "results": items})
