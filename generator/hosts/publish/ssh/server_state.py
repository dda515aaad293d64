"""What a server says about its folder."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from .... import encoding
from ....release import journal
from ....release.journal import RELEASE_ID, JournalEntry

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
