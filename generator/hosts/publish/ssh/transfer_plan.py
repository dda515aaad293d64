"""What a server lacks of a release, and what it needs no more."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ....release import manifest
from ....release.manifest import Published
from ....release.manifest_reader import ManifestReader
from ....release.store import TREES
from .server_state import Older, ServerState

# Size, time and name of a file of the server.
_LISTED = re.compile(r"(\d+) (-?\d+) (.+)")

_TREES = tuple(f"{tree}/" for tree in TREES)


class FileState(NamedTuple):
    """Size and time of a file."""

    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> "FileState":
        status = path.stat()
        return cls(status.st_size, int(status.st_mtime))


def parse_listing(lines: Iterable[str], folder: str) -> dict[str, FileState]:
    """The files that a script lists, by their names below a folder."""
    parsed = filter(None, map(_LISTED.fullmatch, lines))
    return {match[3].removeprefix(f"{folder}/"): FileState(int(match[1]), int(match[2])) for match in parsed}


@dataclass(slots=True)
class TransferPlan:
    """The files to send and to remove, as paths below `dist`."""

    send: list[str]
    remove: list[str]
    # The number of files that the server has already.
    kept: int
    older: Older
    # A public URL whose body the server's current release does not have, if there is one.
    changed_url: str | None


def by_notes(new: ManifestReader, release: str, current: ManifestReader, state: ServerState, keep: int) -> TransferPlan:
    """The difference to the server's current release. Only series whose lines changed are parsed."""
    slugs = [slug for slug in {**new.segments, **current.segments} if new.segment(slug) != current.segment(slug)]
    new_bodies, old_bodies = _bodies(new, slugs), _bodies(current, slugs)
    new_files, old_files = _files(new_bodies), _files(old_bodies)
    noted = state.notes.older if state.notes else {}
    older: Older = {id: [file for file in files if file not in new_files] for id, files in noted.items()}
    if state.current:
        older = {state.current: sorted(old_files - new_files), **older}
    older.pop(release, None)
    there = old_files.union(*noted.values())
    send = sorted(name for name in new_files if name not in there or _is_redated(name, new_bodies, old_bodies))
    return _plan(new, send, older, keep, _changed_url(new_bodies, old_bodies))


def by_listing(
    new: ManifestReader,
    release: str,
    earlier: Mapping[str, ManifestReader],
    listed: Mapping[str, FileState],
    dist: Path,
    keep: int,
) -> TransferPlan:
    """The difference to the files that the server has, for example after an interrupted publish.

    `earlier` are releases of the server, the current one first, then from the newest to the oldest. Only a file that
    has arrived completely has the time that it has here.
    """
    new_bodies = _bodies(new, new.segments)
    new_files = _files(new_bodies)
    newer, older = set(new_files), {}
    old_bodies: dict[str, Published] = {}
    for id, reader in earlier.items():
        bodies = _bodies(reader, reader.segments)
        old_bodies = old_bodies or bodies
        if id != release:
            files = _files(bodies) & listed.keys()
            older[id] = sorted(files - newer)
            newer |= files
    old_files = _files(old_bodies)

    def is_there(name: str) -> bool:
        wanted, present = FileState.of(dist / name), listed.get(name)
        if present == wanted:
            return True
        complete = name in old_files and not _is_redated(name, new_bodies, old_bodies)
        return complete and present is not None and present.size == wanted.size

    send = sorted(name for name in new_files if not is_there(name))
    plan = _plan(new, send, older, keep, _changed_url(new_bodies, old_bodies))
    plan.remove = sorted(listed.keys() - new_files - set().union(*plan.older.values()))
    return plan


def _bodies(reader: ManifestReader, slugs: Iterable[str]) -> dict[str, Published]:
    """The bodies of some series by file."""
    return {body.file: body for slug in slugs for body in reader.bodies(slug).values()}


def _files(bodies: Mapping[str, Published]) -> set[str]:
    """All files of bodies."""
    return {name for body in bodies.values() for name in manifest.files_with_sidecar(body)}


def _is_redated(name: str, new: Mapping[str, Published], old: Mapping[str, Published]) -> bool:
    """Whether a sidecar has another date than the one of the server's current release, if that has it."""
    file = name.removesuffix(".headers")
    return file != name and not (file in old and old[file].modified == new[file].modified)


def _changed_url(new: Mapping[str, Published], old: Mapping[str, Published]) -> str | None:
    changed = (body for file, body in new.items() if file not in old and manifest.is_plain(body))
    return next((body.url for body in changed), None)


def _plan(new: ManifestReader, send: list[str], older: Older, keep: int, changed_url: str | None) -> TransferPlan:
    kept_ids = list(older)[: keep - 1]
    dropped = (name for id, files in older.items() if id not in kept_ids for name in files)
    # Notes and manifests of the server name them. They must not lead to a file of others.
    remove = [name for name in dropped if name.startswith(_TREES) and ".." not in name.split("/")]
    total = sum(map(new.count_files, new.segments))
    return TransferPlan(send, remove, total - len(send), {id: older[id] for id in kept_ids}, changed_url)
