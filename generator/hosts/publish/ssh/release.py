"""Publish a release to a server: bodies, then the folder of the release, then the link to it, then the reload."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TypeAlias

from .... import encoding, filesystem
from ....errors import FlatpanelError
from ....release import manifest_reader
from ....release.manifest_reader import ManifestReader
from ....release.store import Store
from ..totals import PublishTotals
from . import archive, transfer_plan
from .archive import ArchiveFile
from .session import Refused, Session, connected
from .target import SshTarget
from .transfer_plan import PublishNotes, ServerState, TransferPlan

# A progress bar for a number of files.
Counter: TypeAlias = Callable[[int], AbstractContextManager[Callable[[int], None]]]
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
    release = store.release()
    variables = {
        "folder": target.folder,
        "out": store.root.resolve().name,
        "server_folder": options.server_folder,
        "reload": options.reload,
        "lock_seconds": str(options.lock_seconds),
        "dry": "yes" if options.dry_run else "",
    }
    with ExitStack() as opened:
        session = opened.enter_context(connected(target, "release.sh", variables, compress=True))
        state = ServerState.parse(session.lines())
        scratch = opened.enter_context(filesystem.scratch_folder())
        new = opened.enter_context(ManifestReader(store.manifest_path(release)))
        sender = _Sender(store, release, new, session, state, options)
        plan = sender.plan(partial(_server_manifest, opened, session, store, scratch))
        members = list(sender.members(plan))
        totals = PublishTotals(
            len(members), sum(member.size() for member in members), plan.kept, len(plan.remove), release
        )
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
    release: str
    new: ManifestReader
    session: Session
    state: ServerState
    options: SshOptions

    def plan(self, server_manifest: Callable[[str], ManifestReader]) -> TransferPlan:
        state, keep = self.state, self.options.keep
        if state.is_known and not self.options.check:
            current = server_manifest(state.current) if state.current else ManifestReader(None)
            return transfer_plan.by_notes(self.new, self.release, current, state, keep)
        names = [*filter(None, [state.current]), *state.earlier()][:keep]
        earlier = {id: server_manifest(id) for id in names}
        listed = transfer_plan.parse_listing(self.session.lines("list"), self._out)
        return transfer_plan.by_listing(self.new, self.release, earlier, listed, self.store.root, keep)

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
        if self.release not in complete:
            folder = root / "releases" / self.release
            for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
                yield ArchiveFile(f"{self._out}/releases/.new/{path.relative_to(folder)}", path)
        if self.options.nginx_conf and self._conf_digest() != (self.state.notes and self.state.notes.nginx_conf):
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
            f"{folder}/publish.json", content=PublishNotes(self.release, plan.older, self._conf_digest()).dump()
        )
        folders = {parent for name in plan.remove for parent in Path(name).parents if len(parent.parts) > 1}
        deepest_first = sorted(folders, key=lambda parent: -len(parent.parts))
        yield ArchiveFile(f"{folder}/remove", content=self._names(plan.remove))
        yield ArchiveFile(f"{folder}/folders", content=self._names(map(str, deepest_first)))
        dropped = {*self.state.releases, *self.state.partial} - {self.release, *plan.older}
        yield ArchiveFile(f"{folder}/releases", content=self._names(f"releases/{id}" for id in sorted(dropped)))
        yield ArchiveFile(f"{folder}/complete")

    def _names(self, names: Iterable[str]) -> bytes:
        return b"".join(f"{self._out}/{name}\0".encode(errors="surrogateescape") for name in names)

    def send(self, plan: TransferPlan, members: Sequence[ArchiveFile], progress: Callable[[int], None]) -> str:
        """Send everything; the last line of the script before it is done says whether nginx was reloaded."""

        def everything(stream: IO[bytes]) -> None:
            archive.write(stream, chain(members, self._control_files(plan)), progress)

        try:
            self.session.command(f"publish {self.release}")
            self.session.upload(everything)
            *_, outcome = self.session.lines()
        except Refused as error:
            raise self._explained(error) from None
        return outcome

    def _explained(self, error: Refused) -> FlatpanelError:
        kind, _, reason = error.reason.partition(" ")
        if kind != "reload":
            return error
        return FlatpanelError(
            f"{self.session.url}: release {self.release} is in place, but nginx was not reloaded and serves an earlier "
            f"one: {reason or 'the command failed'}"
        )
