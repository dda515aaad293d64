"""Whether there is anything to do at all: a build that finds everything as it left it reads and writes nothing."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .. import encoding
from ..catalog import git, snapshot
from ..catalog.confined_folder import Folder
from ..release.store import Store
from .cache import Cache
from .scan import CatalogScan
from .segments import samples

_HOUSE = Path(__file__).parents[1]


class Asked(NamedTuple):
    """What a build is about."""

    catalog: Folder
    out: Path
    nginx: Path
    local: bool
    base_url: str | None


def version() -> str:
    """Changes whenever this program does, or a library whose bytes it writes."""
    rooms = sorted(path for path in _HOUSE.rglob("*") if path.suffix in (".py", ".conf", ".js", ".html", ".css"))
    parts = [encoding.digest(path.read_bytes()) for path in rooms]
    return encoding.digest(
        encoding.json([encoding.ZLIB_VERSION, [str(path.relative_to(_HOUSE)) for path in rooms], parts])
    )


def past(catalog: Folder, as_of: int, cache: Cache) -> git.FileTimes:
    """As `history.past`; git is asked once for the commits before a commit."""

    def committed(repository: git.Repository) -> dict[str, int]:
        state = [repository.prefix, repository.is_shallow, repository.head]
        known = cache.recall("history")
        if not known or known["state"] != state:
            # The name of a file is bytes that need not be text.
            times = {os.fsencode(path).decode("latin-1"): moment for path, moment in repository.commit_times().items()}
            known = {"state": state, "times": times}
            cache.remember("history", known)
        return {os.fsdecode(path.encode("latin-1")): moment for path, moment in known["times"].items()}

    return git.file_times(Path(catalog), as_of, committed)


def seen(asked: Asked, committed: Mapping[str, int]) -> dict[str, Any]:
    """What a build depends on, the clock excepted, as it is now."""
    return {
        "asked": [ascii(str(Path(part).absolute())) if isinstance(part, os.PathLike) else part for part in asked],
        "times": encoding.digest(ascii(sorted(committed.items())).encode()),
        "tree": snapshot.digest(snapshot.take(asked.catalog)),
    }


def done(asked: Asked, as_of: int, committed: Mapping[str, int], cache: Cache) -> dict[str, Any] | None:
    """What a build reported that saw the same; nothing if there is something to do."""
    known, store = cache.recall("done"), Store(asked.out)
    if not known or known["release"] != store.current() or not store.finished():
        return None
    if not known["from"] <= as_of < (known["until"] or as_of + 1) or known["conf"] != _digest(asked.nginx):
        return None
    if not samples(cache.recall("runs"), asked.out):
        return None
    report: dict[str, Any] = known["report"]
    return report if known["seen"] == seen(asked, committed) else None


def remember(
    asked: Asked, seen: Mapping[str, Any], found: CatalogScan, report: Mapping[str, Any], cache: Cache
) -> None:
    """Let the next build know that it need not do the same again."""
    cache.remember(
        "done",
        {
            "seen": seen,
            "from": found.last_publication,
            "until": found.next_publication,
            "release": report["release"],
            "conf": _digest(asked.nginx),
            "report": report,
        },
    )
    cache.commit()


def _digest(path: Path) -> str | None:
    return encoding.digest(path.read_bytes()) if path.is_file() else None
