"""Publish images and archives to a folder on a server.

Images that the catalog no longer names stay there. Their smaller copies are removed, and archives that were sent: the
notes of earlier publishes on the server list these.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path

from ....errors import counted
from ...totals import Counter, PublishTotals
from . import archive
from .archive import ArchiveFile
from .release import FileState, parse_listing
from .session import connected
from .target import SshTarget

# The folder in which images arrive, below the folder of the images.
_NEW = ".flatpanel-new/"
# The last file of an upload.
_COMPLETE = ".complete"
# The notes, which are below the folder of the images, as the script prints them.
_NOTE = re.compile(r"sent (\d+) (-?\d+) (.+)")


def publish_images(
    target: SshTarget,
    below: str,
    files: Mapping[str, Path],
    is_obsolete: Callable[[str], bool],
    is_noted: Callable[[str], bool],
    counter: Counter,
    warn: Callable[[str], object],
    *,
    dry_run: bool,
    lock_seconds: int,
) -> PublishTotals:
    """Send the images whose size or time differs into the folder `below` the target. A second publish resumes.

    Files that are obsolete are removed, by their paths below the folder. One whose path `is_noted` is removed only if
    an earlier publish has sent it; one that has changed there since stays, with a warning.
    """
    # Images do not become smaller by compression.
    with connected(
        target, "media.sh", {"below": below}, lock_seconds=lock_seconds, dry_run=dry_run, compress=False
    ) as session:
        lines = [*session.lines()]
        listed, noted = parse_listing(lines, "."), _notes(lines)
        wanted = {path: FileState.of(file) for path, file in files.items()}
        arrived = {name.removeprefix(_NEW): state for name, state in listed.items() if name.startswith(_NEW)}
        arrived.pop(_COMPLETE, None)
        lacking = [path for path, state in wanted.items() if listed.get(path) != state]
        # An incomplete or outdated image would be moved to its place, too.
        resumes = all(wanted.get(path) == state for path, state in arrived.items())
        send = [path for path in lacking if not (resumes and path in arrived)]
        sent_bytes = sum(wanted[path].size for path in send)
        gone = {path: state for path, state in listed.items() if is_obsolete(path)}
        obsolete = {path for path, state in gone.items() if not is_noted(path) or (path, state) in noted}
        changed = gone.keys() & {path for path, _ in noted} - obsolete
        if changed:
            others = f"; {counted(len(changed) - 1, 'other')} as well" if len(changed) > 1 else ""
            warn(
                f"{target.url}: {below}/{min(changed)}: readers should not get it any more, but it has changed there"
                f" since it was sent; remove it on the server{others}"
            )
        totals = PublishTotals(len(send), sent_bytes, len(files) - len(send), len(obsolete), "")
        if dry_run:
            return totals
        if obsolete:
            list(session.lines("\n".join(["remove", *sorted(obsolete), ""])))
        # Before they are sent. What was removed is no longer of these, nor what others have replaced and is sent again.
        there = {
            (path, state)
            for path, state in noted
            if path in listed and path not in obsolete and (path not in wanted or listed[path] == state)
        }
        notes = there | {(path, wanted[path]) for path in lacking if is_noted(path)}
        if notes != noted:
            names = (f"{state.size} {state.modified} {path}" for path, state in sorted(notes))
            list(session.lines("\n".join(["note", *names, "."])))
        if not (lacking or arrived):
            return totals
        members = [ArchiveFile(path, files[path]) for path in send]
        session.command("resume" if resumes else "restart")
        with counter(len(members)) as progress:
            session.upload(partial(archive.write, files=chain(members, [ArchiveFile(_COMPLETE)]), written=progress))
        list(session.lines())  # the images are in place after the last line
    return totals


def _notes(lines: Iterable[str]) -> set[tuple[str, FileState]]:
    """The files that earlier publishes have sent, or were about to send, each with its state."""
    parsed = filter(None, map(_NOTE.fullmatch, lines))
    return {(match[3], FileState(int(match[1]), int(match[2]))) for match in parsed}
