"""Publish an earlier release again: its bodies, maps and gates, with the API keys of the current release.

Revoked keys stay revoked, and no existing file is overwritten: if the keys differ, the result is a new release.
Everything is read from the releases; the catalog is not read.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

from .. import encoding
from ..api.payloads.resources import Gate
from ..catalog import site_paths
from ..errors import FlatpanelError, counted
from ..nginx import maps
from ..release import journal, manifest
from ..release.changes import differences
from ..release.manifest import Entry, Published
from ..release.manifest_reader import KEYS_FILE, ManifestReader, dump_keys, refuse_damaged
from ..release.transaction import ReleaseFiles, Transaction

_PROFILE = "/api/v2/profile#"
_OLD_VERSIONS = ("/api/series/", "/api/v1/series/")
# A chapter keeps this URL if its number, its volume or its series changes.
_CHAPTER = re.compile(r"/api/v2/chapters/[0-9]+")
_PEOPLE = re.compile(r"/api/v2/(?:authors|artists|groups|members)/[0-9]+")
_PAGE = re.compile(r"/[a-z0-9][-a-z0-9_]*/")
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Rollback:
    """What a rollback to `target` publishes."""

    target: str
    release: str
    # The files of the new release; empty if the target itself becomes current again.
    files: ReleaseFiles
    # The bodies whose Last-Modified differs in the current release, found when they are used, in the transaction.
    redated: Iterator[Published]
    # The number of omitted keys for each account that the target does not have.
    left_out: dict[str, int]
    # Series and URLs that are public in the target and not in the current release, each with the reason.
    reopened: dict[str, str]


def plan(transaction: Transaction, id_prefix: str | None) -> Rollback:
    """Plan a rollback to the release with this id prefix, or without one to the newest before that differs."""
    current, targets = transaction.current_manifest, _target_ids(transaction, id_prefix)
    for id in targets:
        target = transaction.older_manifests[transaction.older.index(id)]
        _check_files(transaction.root, target)
        keys, left_out = _keys(current, target)
        release, files = _with_keys(transaction, target, keys) if keys != target.keys else (target.id, {})
        if release != transaction.current:
            redated, reopened = _redated(current, target), _reopened(current, target)
            return Rollback(id, release, files, redated, left_out, reopened)
    raise FlatpanelError(
        f"{transaction.root}: release {transaction.current} is already the current one; it is release {targets[-1]} "
        "with the current keys"
    )


def carry_out(transaction: Transaction, rollback: Rollback, at: int) -> None:
    """Make the planned release the current one. No release is removed."""
    transaction.sweep()
    entry = journal.rollback_entry(transaction.journal, rollback.target, rollback.release, at)
    transaction.commit(rollback.release, rollback.files, entry, redate_after_commit=rollback.redated)


def _target_ids(transaction: Transaction, id_prefix: str | None) -> Sequence[str]:
    """The release to go back to, or without an id all that were current before, the newest first."""
    root, listed = transaction.root, "`python build.py releases` lists all releases"
    current, earlier = transaction.journal[-1].release, transaction.journal[-1].before
    if id_prefix is None:
        if not earlier:
            raise FlatpanelError(f"{root}: no previous release" + f"; {listed}" * bool(transaction.older))
        return earlier
    matches = [entry.release for entry in transaction.journal if entry.release.startswith(id_prefix)]
    if not matches:
        raise FlatpanelError(f"{root}: no release id begins with {id_prefix!r}; {listed}")
    if len(matches) > 1:
        raise FlatpanelError(f"{root}: {id_prefix!r} matches {', '.join(matches)}; write more of the id")
    if matches[0] == current:
        raise FlatpanelError(f"{root}: release {current} is already the current one; {listed}")
    return matches


def _check_files(root: Path, target: ManifestReader) -> None:
    """Check that all files of the target exist, and that its manifest is the one that was built."""
    refuse_damaged(root, target.id)
    for path in chain((target.folder / name for name in target.file_digests), (root / file for file in target.files())):
        if not path.exists():
            raise FlatpanelError(f"{path}: is missing, so release {target.id} cannot be served again")


# The keys of the current release


def _keys(current: ManifestReader, target: ManifestReader) -> tuple[dict[str, str], dict[str, int]]:
    """The current keys whose accounts the target has, and the number of the other keys by username."""
    accounts, usernames = {"", *_usernames(target)}, _usernames(current)
    keys = {digest: account for digest, account in current.keys.items() if account in accounts}
    left_out = (account for account in current.keys.values() if account not in accounts)
    return keys, Counter(usernames.get(account, account) for account in left_out)


def _usernames(reader: ManifestReader) -> dict[str, str]:
    """The username of each account key of a release. Folders of bodies have the same names as keys."""
    return {
        body.file.split("/")[2]: unquote(url.removeprefix(_PROFILE))
        for url, body in reader.bodies("").items()
        if url.startswith(_PROFILE)
    }


def _with_keys(transaction: Transaction, target: ManifestReader, keys: Mapping[str, str]) -> tuple[str, ReleaseFiles]:
    """The id and the files of a release that is the target with other keys."""
    manifests = (transaction.current_manifest, *transaction.older_manifests)
    texts = {maps.KEYS: maps.keys_map(keys), KEYS_FILE: dump_keys(keys)}
    head = manifest.Head(
        files={**target.file_digests, **{name: encoding.sha256(text) for name, text in texts.items()}},
        # An id is never used for another chapter or page, also one that only a newer release has.
        highest_id=max(reader.highest_id for reader in manifests),
        page_ids={page: number for reader in (*manifests, target) for page, number in reader.page_ids.items()},
        segments={slug: length for slug, (_, length) in target.segments.items()},
        rules=target.rules,
    ).dump()
    release = manifest.release_id(encoding.sha256_of_chunks(chain([head], target.resource_lines())))
    files: dict[str, Callable[[], Iterable[bytes]]] = {
        name: partial(_copied, target, name, release) for name in target.file_digests
    }
    files["manifest.json"] = lambda: chain([head], target.resource_lines())
    files |= {name: partial(iter, [text]) for name, text in texts.items()}
    return release, files


def _copied(target: ManifestReader, name: str, release: str) -> Iterator[bytes]:
    """The content of a target's file in the new release. Maps do not have the release's id, and may be long."""
    path = target.folder / name
    if path.suffix != ".map":
        yield manifest.with_release_id(manifest.without_release_id(path.read_bytes(), target.id), release)
        return
    with path.open("rb") as opened:
        while block := opened.read(_BLOCK):
            yield block


# What differs. Each function reads both manifests from front to back.


def _redated(current: ManifestReader, target: ManifestReader) -> Iterator[Published]:
    """The bodies of the target whose Last-Modified differs in the current release."""
    for old, new in (difference.bodies for difference in differences(current, target)):
        if new and not (old and old.modified == new.modified):
            yield new


def _reopened(current: ManifestReader, target: ManifestReader) -> dict[str, str]:
    """Series and URLs that are public in the target and not in the current release, each with the reason."""
    urls: dict[str, str] = {}
    series: dict[str, str] = {}
    # The kinds of the other opened URLs of each series: see `_kind`. And the number of its opened chapters.
    unexplained: dict[str, set[str]] = {}
    chapters, licensed_chapters = Counter[str](), Counter[str]()
    for difference in differences(current, target):
        old, new = difference.bodies
        # Version 2 has only a gate for a chapter that is licensed.
        if isinstance(difference.new, Gate) and not difference.old and _CHAPTER.fullmatch(difference.url):
            licensed_chapters[difference.slug] += 1
        elif new and not new.restricted and not (old and not old.restricted):
            slug, url, reason = difference.slug, difference.url, _why_closed(difference.old)
            if reason:
                (series if slug else urls).setdefault(slug or url, reason)
            elif slug:
                unexplained.setdefault(slug, set()).add(_kind(slug, url))
                chapters[slug] += _CHAPTER.fullmatch(url) is not None
            elif not difference.old and (_PEOPLE.fullmatch(url) or _is_page_of_theme(url, target)):
                urls[url] = "no longer published"
    for slug, kinds in unexplained.items():
        chapters[slug] += licensed_chapters[slug] if "old" in kinds else 0
    for slug in unexplained.keys() - series.keys():
        if reason := _why_unpublished(current, slug, unexplained[slug], chapters[slug]):
            series[slug] = reason
    return urls | dict(sorted(series.items()))


def _is_page_of_theme(url: str, target: ManifestReader) -> bool:
    """Whether a URL is that of a text of the owner: of the other pages with such paths, all but one are reserved."""
    has_name = _PAGE.fullmatch(url) is not None
    return has_name and url != target.rules.reader and not site_paths.is_reserved(url.strip("/"))


def _why_closed(entry: Entry | None) -> str:
    """Why an entry of the current release is not public; "" if the release has none that explains it."""
    if isinstance(entry, Published):
        return "restricted"
    return "licensed" if isinstance(entry, Gate) and entry.status == 451 else ""


def _kind(slug: str, url: str) -> str:
    """`old` for a URL in /api and /api/v1, `series` for the description of a series, `new` for any other."""
    return "old" if url.startswith(_OLD_VERSIONS) else "series" if url == f"/api/v2/series/{slug}" else "new"


def _why_unpublished(current: ManifestReader, slug: str, opened: set[str], chapters: int) -> str:
    """Why the current release lacks URLs of these kinds of a series; "" if others have the same content."""
    urls = current.bodies(slug)
    if not urls:
        # The description of a licensed or restricted series is public.
        return "no longer published" if opened != {"series"} else ""
    if chapters:
        return f"{counted(chapters, 'chapter')} no longer published"
    is_old = any(url.startswith(_OLD_VERSIONS) for url in urls)
    return "no longer in /api and /api/v1" if "old" in opened and not is_old else ""
