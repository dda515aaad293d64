"""Publish an earlier release again: its bodies, maps and gates, with the API keys of the current release.

Revoked keys stay revoked, and no existing file is overwritten: if the keys differ, the result is a new release.
Everything is read from the releases; the catalog is not read.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

from .. import encoding
from ..api.payloads.resources import Gate
from ..errors import FlatpanelError
from ..nginx import maps
from ..release import journal, manifest
from ..release.changes import EntryDifference, differences
from ..release.manifest import Entry, Published
from ..release.manifest_reader import KEYS_FILE, ManifestReader, dump_keys
from ..release.transaction import NextRelease, Transaction

_PROFILE = "/api/v2/profile#"
_OLD_VERSIONS = ("/api/series/", "/api/v1/series/")
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Rollback:
    """What a rollback to `target` publishes."""

    target: str
    release: str
    # The files of the new release; empty if the target itself becomes current again.
    files: Mapping[str, Callable[[], Iterable[bytes]]]
    # Bodies whose Last-Modified differs in the current release.
    redate_after_commit: list[Published]
    # The number of omitted keys for each account that the target does not have.
    left_out: dict[str, int]
    # Series and URLs that are public in the target and not in the current release, each with the reason.
    reopened: dict[str, str]


def plan(transaction: Transaction, id_prefix: str | None) -> Rollback:
    """Plan a rollback to the release with this id prefix, or without one to the release before the current one."""
    return _Plan(transaction, _target(transaction, id_prefix)).rollback()


def carry_out(transaction: Transaction, rollback: Rollback, at: int) -> None:
    """Make the planned release the current one. No release is removed."""
    transaction.sweep()
    entry = journal.rollback_entry(transaction.journal, rollback.target, rollback.release, at)
    transaction.commit(NextRelease(rollback.release, rollback.files, entry, rollback.redate_after_commit))


def _target(transaction: Transaction, id_prefix: str | None) -> str:
    root, listed = transaction.root, "`python build.py releases` lists all releases"
    current, earlier = transaction.journal[-1].release, transaction.journal[-1].before
    if id_prefix is None:
        if not earlier:
            raise FlatpanelError(f"{root}: no previous release" + f"; {listed}" * bool(transaction.older))
        return earlier[0]
    matches = [entry.release for entry in transaction.journal if entry.release.startswith(id_prefix)]
    if not matches:
        raise FlatpanelError(f"{root}: no release id begins with {id_prefix!r}; {listed}")
    if len(matches) > 1:
        raise FlatpanelError(f"{root}: {id_prefix!r} matches {', '.join(matches)}; write more of the id")
    if matches[0] == current:
        raise FlatpanelError(f"{root}: release {current} is already the current one; {listed}")
    return matches[0]


class _Plan:
    """Compares the current release with the target."""

    def __init__(self, transaction: Transaction, target: str) -> None:
        self.transaction, self.target_id = transaction, target
        self.current = transaction.current_manifest
        self.target = transaction.older_manifests[transaction.older.index(target)]

    def rollback(self) -> Rollback:
        self._check_target()
        differing = list(differences(self.current, self.target))
        keys, left_out = self._keys()
        release = self.target_id
        files: dict[str, Callable[[], Iterable[bytes]]] = {}
        if keys != self.target.keys:
            release, files = self._with_keys(keys)
        if release == self.transaction.current:
            raise FlatpanelError(
                f"{self.transaction.root}: release {release} is already the current one; it is release "
                f"{self.target_id} with the current keys"
            )
        return Rollback(
            self.target_id, release, files, list(_redated(differing)), left_out, dict(self._reopened(differing))
        )

    def _folder(self, release: str | None) -> Path:
        return self.transaction.root / "releases" / str(release)

    def _check_target(self) -> None:
        """Check that all files of the target exist."""
        own = (self._folder(self.target_id) / name for name in self.target.file_digests)
        for path in chain(own, (self.transaction.root / file for file in self.target.files())):
            if not path.exists():
                raise FlatpanelError(f"{path}: is missing, so release {self.target_id} cannot be served again")

    def _keys(self) -> tuple[dict[str, str], dict[str, int]]:
        """The current keys whose accounts the target has, and the number of the other keys by username."""
        accounts, usernames = {"", *_usernames(self.target)}, _usernames(self.current)
        current = self.current.keys
        keys = {digest: account for digest, account in current.items() if account in accounts}
        return keys, Counter(usernames.get(account, account) for account in current.values() if account not in accounts)

    def _with_keys(self, keys: Mapping[str, str]) -> tuple[str, dict[str, Callable[[], Iterable[bytes]]]]:
        """The id and the files of a release that is the target with other keys."""
        manifests = (self.current, *self.transaction.older_manifests)
        texts = {maps.KEYS: maps.keys_map(keys), KEYS_FILE: dump_keys(keys)}
        head = manifest.Head(
            files={**self.target.file_digests, **{name: encoding.sha256(text) for name, text in texts.items()}},
            # An id is never used for another chapter or page, also one that only a newer release has.
            highest_id=max(reader.highest_id for reader in manifests),
            page_ids={page: number for reader in (*manifests, self.target) for page, number in reader.page_ids.items()},
            segments={slug: length for slug, (_, length) in self.target.segments.items()},
            rules=self.target.rules,
        ).dump()
        release = manifest.release_id(encoding.sha256_of_chunks(chain([head], self.target.resource_lines())))
        files: dict[str, Callable[[], Iterable[bytes]]] = {
            name: partial(self._copied, name, release) for name in self.target.file_digests
        }
        files["manifest.json"] = lambda: chain([head], self.target.resource_lines())
        files |= {name: partial(iter, [text]) for name, text in texts.items()}
        return release, files

    def _copied(self, name: str, release: str) -> Iterator[bytes]:
        """The content of a target's file in the new release. Maps do not have the release's id, and may be long."""
        path = self._folder(self.target_id) / name
        if path.suffix != ".map":
            yield manifest.with_release_id(manifest.without_release_id(path.read_bytes(), self.target_id), release)
            return
        with path.open("rb") as opened:
            while block := opened.read(_BLOCK):
                yield block

    def _reopened(self, differing: Iterable[EntryDifference]) -> Iterator[tuple[str, str]]:
        opened: dict[str, dict[str, str]] = {}
        for difference in differing:
            old, new = difference.bodies
            if new and not new.restricted and not (old and not old.restricted):
                opened.setdefault(difference.slug, {})[difference.url] = _why_closed(difference.old)
        for slug, reasons in sorted(opened.items()):
            if slug:
                reason = next(filter(None, reasons.values()), "") or self._why_unpublished(slug, reasons)
                yield from [(slug, reason)] if reason else []
            else:
                yield from ((url, reason) for url, reason in reasons.items() if reason)

    def _why_unpublished(self, slug: str, opened: Iterable[str]) -> str:
        """Why the current release does not have some URLs of a series; "" if others have the same content."""
        current = self.current.bodies(slug)
        if not current:
            # The description of a licensed or restricted series is public.
            return "no longer published" if any(url != f"/api/v2/series/{slug}" for url in opened) else ""
        was_old, is_old = (any(url.startswith(_OLD_VERSIONS) for url in urls) for urls in (opened, current))
        return "no longer in /api and /api/v1" if was_old and not is_old else ""


def _redated(differing: Iterable[EntryDifference]) -> Iterator[Published]:
    """The bodies of the target whose Last-Modified differs in the current release."""
    for old, new in (difference.bodies for difference in differing):
        if new and not (old and old.modified == new.modified):
            yield new


def _why_closed(entry: Entry | None) -> str:
    """Why an entry of the current release is not public; "" if the release has none that explains it."""
    if isinstance(entry, Published):
        return "restricted"
    return "licensed" if isinstance(entry, Gate) and entry.status == 451 else ""


def _usernames(reader: ManifestReader) -> dict[str, str]:
    """The username of each account key of a release. Folders of bodies have the same names as keys."""
    return {
        body.file.split("/")[2]: unquote(url.removeprefix(_PROFILE))
        for url, body in reader.bodies("").items()
        if url.startswith(_PROFILE)
    }
