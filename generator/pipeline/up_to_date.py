"""Check whether a build has anything to do: if no input changed since the last build, its result is returned again."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import encoding
from ..catalog import git, snapshot
from ..catalog.confined_folder import Folder
from ..release.store import Store
from .build_options import Options
from .cache import Cache
from .scan import CatalogScan
from .segments import all_have_bodies

_PACKAGE = Path(__file__).parents[1]
_SUFFIXES = (".py", ".conf", ".js", ".html", ".css")


def version() -> str:
    """The version of the cache: a digest of this program, and the version of zlib, which compresses bodies."""
    files = sorted(path for path in _PACKAGE.rglob("*") if path.suffix in _SUFFIXES)
    names = [str(path.relative_to(_PACKAGE)) for path in files]
    digests = [encoding.digest(path.read_bytes()) for path in files]
    return encoding.digest(encoding.json([encoding.ZLIB_VERSION, names, digests]))


def commit_times(catalog: Folder, as_of: int, cache: Cache) -> git.FileTimes:
    """The last commit time of each file. The history of one commit is read from git once."""

    def committed(repository: git.Repository) -> dict[str, int]:
        state = [repository.prefix, repository.is_shallow, repository.head]
        cached = cache.recall("history")
        if not cached or cached["state"] != state:
            # A file name is bytes and may not be valid UTF-8.
            times = {os.fsencode(path).decode("latin-1"): moment for path, moment in repository.commit_times().items()}
            cached = {"state": state, "times": times}
            cache.remember("history", cached)
        return {os.fsdecode(path.encode("latin-1")): moment for path, moment in cached["times"].items()}

    return git.file_times(Path(catalog), as_of, committed)


def fingerprint(options: Options, times: Mapping[str, int]) -> dict[str, Any]:
    """The inputs of a build except the current time: options, commit times and the status of every file."""
    paths = (Path(options.catalog), options.out, options.nginx)
    return {
        "options": [*(ascii(str(path.absolute())) for path in paths), options.local, options.base_url],
        "times": encoding.digest(ascii(sorted(times.items())).encode()),
        "files": snapshot.digest(snapshot.take(options.catalog)),
    }


def last_result(options: Options, times: Mapping[str, int], cache: Cache) -> dict[str, Any] | None:
    """The dumped result of the last build, if a build would have the same result and change no file."""
    last, store = cache.recall("last build"), Store(options.out)
    if not last or last["release"] != store.current() or not store.finished():
        return None
    due = last["next_publication"] or options.as_of + 1
    if not last["last_publication"] <= options.as_of < due or last["conf"] != _digest(options.nginx):
        return None
    if not all_have_bodies(cache, options.out):
        return None
    result: dict[str, Any] = last["result"]
    return result if last["fingerprint"] == fingerprint(options, times) else None


def keep_result(
    options: Options, fingerprint: Mapping[str, Any], scan: CatalogScan, result: Mapping[str, Any], cache: Cache
) -> None:
    """Store the dumped result of a build and the inputs for which it holds; `fingerprint` is that before the scan."""
    cache.remember(
        "last build",
        {
            "fingerprint": fingerprint,
            "last_publication": scan.last_publication,
            "next_publication": scan.next_publication,
            "release": result["release"],
            "conf": _digest(options.nginx),
            "result": result,
        },
    )
    cache.commit()


def _digest(path: Path) -> str | None:
    return encoding.digest(path.read_bytes()) if path.is_file() else None
