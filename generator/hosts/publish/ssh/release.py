"""Publish a release to a server: bodies, then the folder of the release, then the link to it, then the reload.

The state of the server decides which files are sent, and which ones it no longer needs.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from .... import encoding, filesystem
from ....errors import FlatpanelError
from ....release import journal, manifest, manifest_reader
from ....release.changes import differences
from ....release.journal import RELEASE_ID, JournalEntry
from ....release.manifest import Published
from ....release.manifest_reader import ManifestReader
from ....release.store import TREES, Store
from ...totals import Counter, PublishTotals
from . import archive
from .archive import ArchiveFile
from .session import Refused, Session, connected
from .target import SshTarget

# What the server has

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
    # The main configuration is missing: none was sent, or it was removed by hand.
    lacks_conf: bool = False

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
            elif kind == "no-conf":
                state.lacks_conf = True
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


# What to send and to remove


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


Bodies: TypeAlias = Mapping[str, Published]


def _bodies(old: ManifestReader, new: ManifestReader) -> tuple[Bodies, Bodies]:
    """The bodies of lines that differ in two releases, by file."""
    pairs = [difference.bodies for difference in differences(old, new)]
    return {body.file: body for body, _ in pairs if body}, {body.file: body for _, body in pairs if body}


def _files(bodies: Bodies) -> set[str]:
    """All files of bodies."""
    return {name for body in bodies.values() for name in manifest.files_with_sidecar(body)}


def _is_redated(name: str, new: Bodies, old: Bodies) -> bool:
    """Whether a sidecar has another date than the one of the server's current release, if that has it."""
    file = name.removesuffix(".headers")
    return file != name and not (file in old and old[file].modified == new[file].modified)


# The publish

# Reload nginx by the ready-made configuration.
NGINX = "nginx"


@dataclass(frozen=True, slots=True)
class SshOptions:
    """How to publish to a server."""

    # The number of releases that the server keeps, the new one included.
    keep: int
    # The main configuration file, if the site uses the ready-made one.
    nginx_conf: Path | None
    # The folder in the configuration, if its paths are absolute.
    server_folder: str = ""
    # A command that reloads nginx, NGINX, or "" for none.
    reload: str = NGINX
    dry_run: bool = False
    # List the files of the server instead of trusting the notes of the last publish.
    check: bool = False
    # How long to wait for another publish.
    lock_seconds: int = 15


@dataclass(frozen=True, slots=True)
class SshResult:
    """What a publish did."""

    totals: PublishTotals
    # Whether nginx got the signal to load the release.
    reloaded: bool = False
    # Whether nginx runs there with another configuration, or not at all.
    not_running: bool = False
    # A public URL whose body is new, if there is one.
    changed_url: str | None = None


def publish(store: Store, target: SshTarget, options: SshOptions, counter: Counter) -> SshResult:
    """Send the current release to a server and make it the current one there."""
    variables = {
        "out": store.root.resolve().name,
        "server_folder": options.server_folder,
        "reload": options.reload,
    }
    lock_seconds, dry_run = options.lock_seconds, options.dry_run
    with ExitStack() as opened:
        new = opened.enter_context(store.table())
        session = opened.enter_context(
            connected(target, "release.sh", variables, lock_seconds=lock_seconds, dry_run=dry_run, compress=True)
        )
        state = ServerState.parse(session.lines())
        scratch = opened.enter_context(filesystem.scratch_folder())
        sender = _Sender(store, new, session, state, options)
        plan = sender.plan(partial(_server_manifest, opened, session, store, scratch))
        members = list(sender.members(plan))
        size = sum(member.size() for member in members)
        totals = PublishTotals(len(members), size, plan.kept, len(plan.remove), new.id)
        if options.dry_run:
            return SshResult(totals)
        with counter(len(members)) as progress:
            outcome = sender.send(plan, members, progress)
    return SshResult(totals, outcome == "reloaded", outcome == "stopped", plan.changed_url)


def _server_manifest(opened: ExitStack, session: Session, store: Store, scratch: Path, release: str) -> ManifestReader:
    """The manifest of a release of the server. Its id is its digest, so one of the same id here is the same file."""
    path, name = store.manifest_path(release), ""
    if not (path and path.is_file()):
        path = scratch / f"{release}.json"
        filesystem.write_parts(path, session.content(f"manifest {release}"))
        if fault := manifest_reader.problem(path, release):
            raise FlatpanelError(f"{session.url}: the manifest of release {release} there {fault}; remove that release")
        name = f"{session.url}: the manifest of release {release} there"
    return opened.enter_context(ManifestReader(path, name))


@dataclass(frozen=True, slots=True)
class _Sender:
    """One release on its way to one server."""

    store: Store
    new: ManifestReader
    session: Session
    state: ServerState
    options: SshOptions

    def plan(self, server_manifest: Callable[[str], ManifestReader]) -> TransferPlan:
        """Compare the release with the server's current one; where notes do not say which files there are, list them.

        Of listed files, only one that has arrived completely has the time that it has here.
        """
        state, keep, nothing = self.state, self.options.keep, ManifestReader(None)
        listed: Mapping[str, FileState] | None = None
        # The files of the server's releases, from the newest to the oldest.
        earlier: dict[str, Iterable[str]] = {}
        if state.is_known and not self.options.check:
            old, new = _bodies(server_manifest(state.current) if state.current else nothing, self.new)
            if state.current and state.notes:
                earlier = {state.current: _files(old), **state.notes.older}
            there = set(chain.from_iterable(earlier.values()))
        else:
            names = [*filter(None, [state.current]), *state.earlier()][:keep]
            bodies = {id: _bodies(nothing, server_manifest(id))[1] for id in names}
            old, new = next(iter(bodies.values()), {}), _bodies(nothing, self.new)[1]
            listed = parse_listing(self.session.lines("list"), self._out)
            earlier = {id: _files(each) & listed.keys() for id, each in bodies.items()}
            there = set(listed)
        new_files, old_files = _files(new), _files(old)

        def is_there(name: str) -> bool:
            is_complete = name in there and not _is_redated(name, new, old)
            if listed is None or name not in there:
                return is_complete
            wanted, present = FileState.of(self.store.root / name), listed[name]
            return present == wanted or (is_complete and name in old_files and present.size == wanted.size)

        send = sorted(name for name in new_files if not is_there(name))
        older: Older = {}
        newer = new_files
        for id, files in earlier.items():
            if id != self.new.id:
                older[id] = sorted(set(files) - newer)
                newer = newer.union(older[id])
        kept = {id: older[id] for id in list(older)[: keep - 1]}
        unused = there - new_files - set(chain.from_iterable(kept.values()))
        # Notes and manifests of the server name them. They must not lead to a file of others.
        remove = sorted(name for name in unused if name.startswith(_TREES) and ".." not in name.split("/"))
        total = sum(map(self.new.count_files, self.new.segments))
        changed = (body.url for file, body in new.items() if file not in old and manifest.is_plain(body))
        return TransferPlan(send, remove, total - len(send), kept, next(changed, None))

    @property
    def _out(self) -> str:
        return self.store.root.resolve().name

    def members(self, plan: TransferPlan) -> Iterator[ArchiveFile]:
        """The files in the order in which they have to arrive."""
        root = self.store.root
        for name in plan.send:
            yield ArchiveFile(f"{self._out}/{name}", root / name)
        # An interrupted publish may have removed parts of any release but the current one.
        complete = [self.state.current] if self.state.unfinished else self.state.releases
        if self.new.id not in complete:
            folder = self.new.folder
            for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
                yield ArchiveFile(f"{self._out}/releases/.new/{path.relative_to(folder)}", path)
        sent = "" if self.state.lacks_conf or not self.state.notes else self.state.notes.nginx_conf
        if self.options.nginx_conf and self._conf_digest() != sent:
            yield ArchiveFile(f"{self._out}/run/publish/nginx.conf", self.options.nginx_conf)

    def _conf_digest(self) -> str:
        path = self.options.nginx_conf
        return encoding.sha256(path.read_bytes()) if path else ""

    def _control_files(self, plan: TransferPlan) -> Iterator[ArchiveFile]:
        """Files for the script on the server. The last one tells it that everything arrived."""
        folder = f"{self._out}/run/publish"
        before = self.store.journal()[-1].before or tuple(plan.older)
        if before:
            yield ArchiveFile(f"{folder}/previous", link=f"../{before[0]}")
        yield ArchiveFile(
            f"{folder}/journal.jsonl", content=self.state.journal_after(self.store.journal(), plan.older), mode=0o644
        )
        yield ArchiveFile(
            f"{folder}/publish.json", content=PublishNotes(self.new.id, plan.older, self._conf_digest()).dump()
        )
        folders = {parent for name in plan.remove for parent in Path(name).parents if len(parent.parts) > 1}
        deepest_first = sorted(folders, key=lambda parent: -len(parent.parts))
        yield ArchiveFile(f"{folder}/remove", content=self._names(plan.remove))
        yield ArchiveFile(f"{folder}/folders", content=self._names(map(str, deepest_first)))
        dropped = {*self.state.releases, *self.state.partial} - {self.new.id, *plan.older}
        yield ArchiveFile(f"{folder}/releases", content=self._names(f"releases/{id}" for id in sorted(dropped)))
        yield ArchiveFile(f"{folder}/complete")

    def _names(self, names: Iterable[str]) -> bytes:
        return b"".join(f"{self._out}/{name}\0".encode(errors="surrogateescape") for name in names)

    def send(self, plan: TransferPlan, members: Sequence[ArchiveFile], progress: Callable[[int], None]) -> str:
        """Send everything; the last line of the script before it is done says whether nginx was reloaded."""
        files = chain(members, self._control_files(plan))
        try:
            self.session.command(f"publish {self.new.id}")
            self.session.upload(partial(archive.write, files=files, written=progress))
            *_, outcome = self.session.lines()
        except Refused as error:
            kind, _, reason = error.reason.partition(" ")
            if kind != "reload":
                raise
            raise FlatpanelError(
                f"{self.session.url}: release {self.new.id} is in place, but nginx was not reloaded and serves an "
                f"earlier one: {reason or 'the command failed'}"
            ) from None
        return outcome
