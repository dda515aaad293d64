"""Whether there is anything to do at all: a build that finds everything as it left it reads and writes nothing."""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from . import encode, history, parsing
from .cache import Cache
from .reading import Reading
from .runs import samples
from .store import Store

_HOUSE = Path(__file__).parent


class Asked(NamedTuple):
    """What a build is about."""

    catalog: Path
    out: Path
    nginx: Path
    local: bool
    base_url: str | None


def version() -> str:
    """Changes whenever this program does, or a library whose bytes it writes."""
    rooms = sorted(path for path in _HOUSE.rglob("*") if path.suffix in (".py", ".conf", ".js", ".html", ".css"))
    parts = [encode.digest(path.read_bytes()) for path in rooms]
    return encode.digest(encode.json([encode.PACKED_BY, [str(path.relative_to(_HOUSE)) for path in rooms], parts]))


def past(catalog: Path, as_of: int, cache: Cache) -> history.Past:
    """As `history.past`; git is asked once for the commits before a commit."""

    def committed(repository: history.Repository) -> dict[str, int]:
        state = [repository.prefix, repository.is_shallow, repository.head]
        known = cache.recall("history")
        if not known or known["state"] != state:
            # The name of a file is bytes that need not be text.
            times = {os.fsencode(path).decode("latin-1"): moment for path, moment in repository.committed().items()}
            known = {"state": state, "times": times}
            cache.remember("history", known)
        return {os.fsdecode(path.encode("latin-1")): moment for path, moment in known["times"].items()}

    return history.past(catalog, as_of, committed)


def seen(asked: Asked, committed: Mapping[str, int]) -> dict[str, Any]:
    """What a build depends on, the clock and what lies behind links excepted, as it is now."""
    return {
        "asked": [str(part.absolute()) if isinstance(part, Path) else part for part in asked],
        "times": encode.digest(ascii(sorted(committed.items())).encode()),
        "tree": encode.digest(encode.json(list(_tree(asked.catalog)))),
    }


def _tree(catalog: Path) -> Iterator[tuple[str, str]]:
    for folder, folders, names in os.walk(catalog):
        folders.sort()
        for path in (os.path.join(folder, name) for name in ("", *sorted(names))):
            yield ascii(path), _looks(path)


def _looks(path: str | Path) -> str:
    try:
        return parsing.looks(path)
    except OSError:
        return ""


def _folders(catalog: Path, files: Iterable[str]) -> list[tuple[str, str]]:
    """The folders in which files lie, which may be somewhere else, behind links."""
    folders = [catalog / folder for folder in sorted({os.path.dirname(file) for file in files})]
    return [(ascii(str(folder)), _looks(folder)) for folder in folders]


def done(asked: Asked, as_of: int, committed: Mapping[str, int], cache: Cache) -> dict[str, Any] | None:
    """What a build reported that saw the same; nothing if there is something to do."""
    known, store = cache.recall("done"), Store(asked.out)
    if not known or known["release"] != store.current() or not store.finished():
        return None
    if not known["from"] <= as_of < (known["until"] or as_of + 1) or known["conf"] != _digest(asked.nginx):
        return None
    if not samples(cache.recall("runs"), asked.out):
        return None
    files = cache.files()
    if any(_looks(os.path.join(asked.catalog, file)) != look for file, (look, _) in files.items()):
        return None
    if known["folders"] != encode.digest(encode.json(_folders(asked.catalog, files))):
        return None
    report: dict[str, Any] = known["report"]
    return report if known["seen"] == seen(asked, committed) else None


def remember(asked: Asked, seen: Mapping[str, Any], found: Reading, report: Mapping[str, Any], cache: Cache) -> None:
    """Let the next build know that it need not do the same again."""
    cache.remember(
        "done",
        {
            "seen": seen,
            "folders": encode.digest(encode.json(_folders(asked.catalog, cache.files()))),
            "from": found.last_publication,
            "until": found.next_publication,
            "release": report["release"],
            "conf": _digest(asked.nginx),
            "report": report,
        },
    )
    cache.commit()


def _digest(path: Path) -> str | None:
    return encode.digest(path.read_bytes()) if path.is_file() else None
