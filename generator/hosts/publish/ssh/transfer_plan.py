"""The state of a server, the files of a release that it lacks, and those that it no longer needs."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from .... import encoding
from ....release import journal, manifest
from ....release.changes import differences
from ....release.journal import RELEASE_ID, JournalEntry
from ....release.manifest import Published
from ....release.manifest_reader import ManifestReader
from ....release.store import TREES

# For each earlier release, from the newest to the oldest: the files of bodies that no newer release has.
Older: TypeAlias = dict[str, list[str]]


class PublishNotes(NamedTuple):
    """What the last publish wrote down on the server. They are of use while the server has the same current release."""

    release: str
    older: Older
    # SHA-256 of nginx.conf.
    nginx_conf: str

    def dump(self) -> bytes:
        return encoding.json(self._asdict()) + b"\n"

    @classmethod
    def parse(cls, text: str) -> "PublishNotes | None":
        try:
            value: Any = encoding.parse(text.encode(errors="surrogateescape"))
            older = {id: list(map(str, files)) for id, files in value["older"].items() if RELEASE_ID.fullmatch(id)}
            return cls(str(value["release"]), older, str(value["nginx_conf"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


@dataclass(slots=True)
class ServerState:
    """What a server said about its folder."""

    current: str = ""
    # An earlier publish was interrupted: files may exist that no release names, and releases may lack files.
    unfinished: bool = False
    # From the newest to the oldest.
    releases: list[str] = field(default_factory=list)
    # Folders that an interrupted publish left of a release.
    partial: list[str] = field(default_factory=list)
    notes: PublishNotes | None = None
    journal: bytes = b""

    @classmethod
    def parse(cls, lines: Iterable[str]) -> "ServerState":
        state = cls()
        for line in lines:
            kind, _, value = line.partition(" ")
            if kind == "notes":
                state.notes = PublishNotes.parse(value)
            elif kind == "journal":
                state.journal += f"{value}\n".encode(errors="surrogateescape")
            elif kind == "unfinished":
                state.unfinished = True
            elif kind == "current":
                state.current = value.removeprefix("releases/")
            # A path is made of an id, so a server cannot choose another name.
            elif RELEASE_ID.fullmatch(value):
                (state.releases if kind == "release" else state.partial).append(value)
        if state.current not in state.releases:
            state.current = ""
        return state

    @property
    def is_known(self) -> bool:
        """Whether manifest and notes say which files there are. Otherwise the files have to be listed."""
        if self.unfinished:
            return False
        return bool(self.notes and self.notes.release == self.current) if self.current else not self.releases

    def earlier(self) -> list[str]:
        """The releases beside the current one, from the newest to the oldest."""
        # A publish that was interrupted after it replaced the link did not write its notes.
        noted = [self.notes.release, *self.notes.older] if self.notes else []
        order = [id for id in noted if id in self.releases]
        return [id for id in dict.fromkeys([*order, *self.releases]) if id != self.current]

    def journal_after(self, own: list[JournalEntry], kept: Iterable[str]) -> bytes:
        """The journal after a publish: that of this machine, and the entries of releases that only the server has."""
        ids = {entry.release for entry in own}
        entries = journal.of_releases(journal.parse(self.journal), set(kept) - ids)
        if self.current and self.current not in ids:
            before = (self.current, *(entry.release for entry in entries[-2::-1]))
            own = [*own[:-1], own[-1]._replace(before=(*own[-1].before, *before))]
        return journal.dump([*entries, *own])


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
    """The difference to the server's current release."""
    pairs = [difference.bodies for difference in differences(current, new)]
    old_bodies = {body.file: body for body, _ in pairs if body}
    new_bodies = {body.file: body for _, body in pairs if body}
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
    new_bodies = _bodies(new)
    new_files = _files(new_bodies)
    newer, older = set(new_files), {}
    old_bodies: dict[str, Published] = {}
    for id, reader in earlier.items():
        bodies = _bodies(reader)
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


def _bodies(reader: ManifestReader) -> dict[str, Published]:
    """The bodies of a release by file."""
    return {body.file: body for slug in reader.segments for body in reader.bodies(slug).values()}


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
