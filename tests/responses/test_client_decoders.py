"""The decoders of the test clients reject the bodies that would break the apps."""

import copy
import json

import pytest

from tests.data.clients import aidoku, kotatsu, others, paperback, tachiyomi
from tests.data.clients.app import App
from tests.data.clients.strict import Broken, parse
from tests.support.tables import each

ITEM = {"slug": "a", "title": "A", "url": "/reader/a/", "cover": "https://a.example/a", "chapters": 1}
CHAPTER = {
    "id": 1,
    "title": "A",
    "number": 1.0,
    "volume": None,
    "published": "1700000000000",
    "views": 0,
    "final": False,
    "series": "a",
    "groups": [],
    "full_title": "A",
    "url": "/reader/a/0/1/",
}
CUBARI = {
    "title": "A",
    "cover": "https://a.example/a",
    "original_url": "/reader/a/",
    "description": "",
    "author": "",
    "artist": "",
    "alt_titles": [],
    "metadata": [["Author", ""]],
    "chapters": {"1": {"title": "", "volume": "0", "number": "1", "groups": {"N/A": []}, "last_updated": "1"}},
}
REMOVED = object()


def changed(value: object, path: tuple[str | int, ...], new: object) -> bytes:
    value = copy.deepcopy(value)
    container = value
    for step in path[:-1]:
        container = container[step]
    if new is REMOVED:
        del container[path[-1]]
    else:
        container[path[-1]] = new
    return json.dumps(value).encode()


@each(
    ("app", "kind", "path", "new"),
    [
        (tachiyomi.CURRENT, "list", ("last",), REMOVED),
        (tachiyomi.CURRENT, "list", ("results", 0, "cover"), None),
        (tachiyomi.DEPRECATED, "list", ("total",), 1.0),
        (aidoku.LEGACY, "list", ("results", 0, "url"), "https://a.example/reader/a/"),
        (kotatsu.KOTATSU, "list", ("results", 0, "url"), "/read/a/"),
        (tachiyomi.CURRENT, "chapters in milliseconds", ("results", 0, "id"), 2**31),
        (tachiyomi.CURRENT, "chapters in milliseconds", ("results", 0, "volume"), REMOVED),
        (tachiyomi.CURRENT, "chapters in milliseconds", ("results", 0, "published"), 1700000000000),
        (tachiyomi.CURRENT, "chapters in milliseconds", ("results", 0, "final"), 0),
        (paperback.OFFICIAL, "chapters", ("results", 0, "published"), "1700000000000"),
        (others.FMD2, "chapters", ("results", 0, "url"), "/reader/a/1/"),
        (others.CUBARI, "cubari", ("chapters", "1", "volume"), "None"),
        (others.CUBARI, "cubari", ("chapters", "1", "groups"), {}),
        (others.CUBARI, "cubari", ("original_url",), "https://a.example/reader/a/"),
    ],
)
def test_decoders_reject_what_breaks_the_apps(app: App, kind: str, path: tuple[str | int, ...], new: object) -> None:
    """A decoder that accepts everything would prove nothing."""
    whole = {
        "list": {"total": 1, "last": True, "results": [ITEM]},
        "chapters": {"results": [{**CHAPTER, "published": "2026-01-01T00:00:00Z"}]},
        "chapters in milliseconds": {"results": [CHAPTER]},
        "cubari": CUBARI,
    }[kind]
    read = app.reads[kind]
    assert read(parse(json.dumps(whole).encode()))

    with pytest.raises(Broken):
        read(parse(changed(whole, path, new)))
