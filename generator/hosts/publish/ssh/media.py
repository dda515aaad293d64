"""Publish images to a folder on a server. Images that the catalog no longer names stay there, but no copies of them."""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path

from ..totals import PublishTotals
from . import archive
from .archive import ArchiveFile
from .release import Counter, FileState, parse_listing
from .session import connected
from .target import SshTarget

# The folder in which images arrive, below the folder of the images.
_NEW = ".flatpanel-new/"
# The last file of an upload.
_COMPLETE = ".complete"


def publish_images(
    target: SshTarget,
    below: str,
    files: Mapping[str, Path],
    is_obsolete: Callable[[str], bool],
    counter: Counter,
    *,
    dry_run: bool,
    lock_seconds: int,
) -> PublishTotals:
    """Send the images whose size or time differs into the folder `below` the target. A second publish resumes.

    Files that are obsolete are removed, by their paths below the folder.
    """
    variables = {
        "folder": target.folder,
        "below": below,
        "dry": "yes" if dry_run else "",
        "lock_seconds": str(lock_seconds),
    }
    # Images do not become smaller by compression.
    with connected(target, "media.sh", variables, compress=False) as session:
        listed = parse_listing(session.lines(), ".")
        wanted = {path: FileState.of(file) for path, file in files.items()}
        arrived = {name.removeprefix(_NEW): state for name, state in listed.items() if name.startswith(_NEW)}
        arrived.pop(_COMPLETE, None)
        lacking = [path for path, state in wanted.items() if listed.get(path) != state]
        # An incomplete or outdated image would be moved to its place, too.
        resumes = all(wanted.get(path) == state for path, state in arrived.items())
        send = [path for path in lacking if not (resumes and path in arrived)]
        sent_bytes = sum(wanted[path].size for path in send)
        obsolete = sorted(filter(is_obsolete, listed))
        totals = PublishTotals(len(send), sent_bytes, len(files) - len(send), len(obsolete), "")
        if dry_run:
            return totals
        if obsolete:
            list(session.lines("\n".join(["remove", *obsolete, ""])))
        if not (lacking or arrived):
            return totals
        members = [ArchiveFile(path, files[path]) for path in send]
        session.command("resume" if resumes else "restart")
        with counter(len(members)) as progress:
            session.upload(partial(archive.write, files=chain(members, [ArchiveFile(_COMPLETE)]), written=progress))
        list(session.lines())  # the images are in place after the last line
    return totals
