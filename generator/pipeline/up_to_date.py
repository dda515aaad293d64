"""Check whether a build has anything to do: if no input changed since the last build, its result is returned again."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import encoding
from ..catalog import git, media_folder, snapshot, theme_files
from ..catalog.confined_folder import Folder
from ..release.manifest import MAX_AHEAD
from ..release.store import Store
from .build_options import Options
from .cache import HISTORY, LAST_BUILD, Cache

# The manifest of the current release, in `out`.
MANIFEST = "current/manifest.json"


def commit_times(catalog: Folder, as_of: int, cache: Cache) -> git.FileTimes:
    """The last commit time of each file. The history of one commit is read from git once."""

    def committed(repository: git.Repository) -> dict[str, int]:
        # A file name is bytes and may not be valid UTF-8.
        def read() -> dict[str, int]:
            return {os.fsencode(path).decode("latin-1"): moment for path, moment in repository.commit_times().items()}

        head = [repository.prefix, repository.is_shallow, repository.head]
        times = cache.cached(HISTORY, encoding.digest(encoding.json(head)), read)
        return {os.fsdecode(path.encode("latin-1")): moment for path, moment in times.items()}

    return git.file_times(Path(catalog), as_of, committed)


def fingerprint(options: Options, times: Mapping[str, int]) -> dict[str, Any]:
    """The inputs of a build except the current time: options, commit times and the status of every file."""
    paths = (Path(options.catalog), options.out, options.nginx)
    return {
        "options": [*(ascii(str(path.absolute())) for path in paths), options.local, options.base_url, options.preview],
        "times": encoding.digest(ascii(sorted(times.items())).encode()),
        "files": snapshot.digest(theme_files.snapshot_with_theme(options.catalog)),
        # A link to the same files has the same statuses.
        "theme": theme_files.is_permitted(options.catalog),
    }


def last_result(options: Options, inputs: Mapping[str, Any], cache: Cache) -> dict[str, Any] | None:
    """The dumped result of the last build, if a build would have the same result and change no file.

    `inputs` is the fingerprint.
    """
    last, store = cache.recall(LAST_BUILD), Store(options.out)
    if not last or last["fingerprint"] != inputs or last["as_of"] > options.as_of + MAX_AHEAD:
        return None
    result: dict[str, Any] = last["result"]
    if result["release"] != store.current() or not store.finished() or store.lacks_releases():
        return None
    due = result["next_publication"] or options.as_of + 1
    if not last["last_publication"] <= options.as_of < due or last["surroundings"] != _surroundings(options, result):
        return None
    # One body stands for all of a series: looking at each would take longer than the rest of an unchanged build.
    return result if all(os.path.exists(f"{options.out}/{file}") for file in last["samples"]) else None


def keep_result(
    options: Options,
    fingerprint: Mapping[str, Any],
    last_publication: int,
    result: Mapping[str, Any],
    samples: Sequence[str],
    cache: Cache,
) -> None:
    """Store the dumped result of a build and the inputs for which it holds; `fingerprint` is that before the scan.

    `last_publication` is the time at which the latest chapter was due; `samples` are files that the result needs, too.
    """
    cache.remember(
        LAST_BUILD,
        {
            "fingerprint": fingerprint,
            "as_of": options.as_of,
            "last_publication": last_publication,
            "surroundings": _surroundings(options, result),
            "result": result,
            "samples": samples,
        },
    )
    cache.commit()


def _surroundings(options: Options, result: Mapping[str, Any]) -> list[object]:
    """What a build writes or finds outside the catalog.

    These are the status of the manifest, a digest of the main configuration file, and the folder of images with all
    links resolved, and its kind. Only a scan checks that the folder is one of the project.
    """
    conf = encoding.digest(options.nginx.read_bytes()) if options.nginx.is_file() else None
    files: list[object] = [snapshot.file_status(options.out / MANIFEST), conf]
    folder = result["site_values"].get("media_folder")
    if not folder:
        return files
    path = os.path.realpath(media_folder.project_folder(options.catalog) / folder)
    return [*files, ascii(path), os.path.lexists(path) and not os.path.isdir(path)]
