"""What was announced, kept at the target of a publish: on a server, in a bucket, or in a folder.

A record is read and written while its lock is held, and written before a message is sent.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ... import encoding, filesystem
from ...errors import FlatpanelError
from ..publish.s3.bucket import Bucket
from ..publish.s3.layouts import FOLDER, JSON_HEADERS
from ..publish.s3.lock import exclusive
from ..publish.ssh.session import connected
from ..publish.ssh.target import SshTarget

_FORMAT = 1
_FILE = "announced.json"


class AnnouncementRecord(NamedTuple):
    """The chapters that were public in any run, and for each service those that may not have arrived."""

    public: set[int]
    unsure: dict[str, set[int]]

    def dump(self) -> bytes:
        unsure = {name: sorted(ids) for name, ids in sorted(self.unsure.items()) if ids}
        return encoding.json({"flatpanel": _FORMAT, "public": sorted(self.public), "unsure": unsure})


class Place(NamedTuple):
    """A place whose lock is held: its name in messages, its record as it was, and the function that writes it."""

    name: str
    data: bytes | None
    write: Callable[[bytes], None]

    def record(self) -> AnnouncementRecord | None:
        """The record; None before the first run."""
        if self.data is None:
            return None
        try:
            value = encoding.parse(self.data)
            if value["flatpanel"] != _FORMAT:
                raise ValueError
            unsure = {str(name): set(map(int, ids)) for name, ids in value["unsure"].items()}
            return AnnouncementRecord(set(map(int, value["public"])), unsure)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise FlatpanelError(
                f"{self.name}: is not a record of this version of the program; restore it, or remove it: then the next"
                " run announces nothing, and later ones what is new"
            ) from None


@contextmanager
def in_folder(folder: Path, waiting: Callable[[], None], *, dry_run: bool) -> Iterator[Place]:
    path = folder / _FILE
    if dry_run:
        yield Place(str(path), _file(path), lambda data: None)
        return
    filesystem.make_folder(folder)
    with filesystem.exclusive(folder, waiting):

        def write(data: bytes) -> None:
            filesystem.replace(path, data)
            filesystem.sync(path)
            filesystem.sync(folder)

        yield Place(str(path), _file(path), write)


def _file(path: Path) -> bytes | None:
    """The bytes of a record; None if there is none. Without a link's record, the run would count as the first."""
    data = filesystem.read_regular(path)
    if data is None and os.path.lexists(path):
        raise FlatpanelError(f"{path}: is not a file but a link or something else; put the record itself there")
    return data


@contextmanager
def in_bucket(
    bucket: Bucket,
    lock_seconds: int,
    waiting: Callable[[int], None],
    clock: Callable[[], float],
    *,
    without_lock: bool,
    dry_run: bool,
) -> Iterator[Place]:
    key = f"{FOLDER}/{_FILE}"
    name = f"{bucket.target}/{key}"
    if dry_run:
        stored = bucket.get(key)
        yield Place(name, stored and stored.data, lambda data: None)
        return
    with exclusive(bucket, lock_seconds, waiting, clock, without_lock=without_lock) as lock:
        stored = bucket.get(key)
        tag = stored and stored.tag

        def write(data: bytes) -> None:
            nonlocal tag
            lock.check()
            tag = bucket.swap(key, data, JSON_HEADERS, tag)

        yield Place(name, stored and stored.data, write)


@contextmanager
def on_server(target: SshTarget, out: str, lock_seconds: int, *, dry_run: bool) -> Iterator[Place]:
    with connected(
        target, "announce.sh", {"out": out}, lock_seconds=lock_seconds, dry_run=dry_run, compress=True
    ) as session:
        lines = [line.removeprefix("record ") for line in session.lines()]

        def write(data: bytes) -> None:
            list(session.lines(data.decode()))

        yield Place(f"{target.url}/{out}/run/{_FILE}", "\n".join(lines).encode() if lines else None, write)
