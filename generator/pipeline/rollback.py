"""Publish an earlier release again: its bodies, maps and gates, with the keys of the current release.

Revoked keys stay revoked, and nothing that exists is overwritten: where the keys differ, the result is a release of
its own. Everything is read from the releases; the catalog takes no part.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path

from .. import encoding
from ..errors import FlatpanelError
from ..nginx import maps
from ..release import journal, manifest
from ..release.manifest import Published
from ..release.transaction import NextRelease, Transaction

KEYS = "keys.map"
_PROFILE = "/api/v2/profile#"
_OLD_FAMILIES = ("/api/series/", "/api/v1/series/")
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Rollback:
    """What a rollback to `target` publishes."""

    target: str
    release: str
    # The files of the new release; none where the target itself becomes current again.
    files: Mapping[str, Callable[[], Iterable[bytes]]]
    # Bodies that are dated otherwise in the current release.
    late: list[Published]
    # Accounts that the target does not know, with the number of their keys.
    left_out: dict[str, int]
    # What the target serves to everyone and the current release does not: a series or a URL, and what it is now.
    reopened: dict[str, str]


def plan(session: Transaction, wanted: str | None) -> Rollback:
    """Rollback to the release whose id begins with `wanted`, or to the release served before the current one."""
    target = _target(session, wanted)
    return _Plan(session, target).made()


def carry_out(session: Transaction, found: Rollback, at: int) -> None:
    """Make the planned release the current one; no release is collected."""
    session.retained_files(None)  # what a build that died has left is cleared up
    entry = journal.rollback_entry(session.journal, found.target, found.release, at)
    session.commit(NextRelease(found.release, found.files, entry, found.late))


def _target(session: Transaction, wanted: str | None) -> str:
    root, listed = session.root, "`python build.py releases` lists the releases that are there"
    current, steps = session.journal[-1].release, session.journal[-1].before
    if wanted is None:
        if not steps:
            raise FlatpanelError(f"{root}: there is no release before this one" + f"; {listed}" * bool(session.older))
        return steps[0]
    found = [one.release for one in session.journal if one.release.startswith(wanted)]
    if not found:
        raise FlatpanelError(f"{root}: no release has an id that begins with {wanted!r}; {listed}")
    if len(found) > 1:
        raise FlatpanelError(f"{root}: {wanted!r} begins the ids of {', '.join(found)}; write more of one")
    if found[0] == current:
        raise FlatpanelError(f"{root}: release {current} is the current one; {listed}")
    return found[0]


class _Plan:
    """The comparison of the current release with the target."""

    def __init__(self, session: Transaction, target: str) -> None:
        self.session, self.name = session, target
        self.current, self.target = session.current_manifest, session.older_manifests[session.older.index(target)]

    def made(self) -> Rollback:
        late = self.checked()
        keys, left_out = self.keys()
        release = self.name
        files: dict[str, Callable[[], Iterable[bytes]]] = {}
        if maps.dump(keys) != self.folder(self.name).joinpath(KEYS).read_bytes():
            release, files = self.renewed(maps.dump(keys))
        if release == self.session.current:
            raise FlatpanelError(
                f"{self.session.root}: release {release} is the current one; it is release {self.name} with other keys"
            )
        return Rollback(self.name, release, files, late, left_out, dict(self.reopened()))

    def folder(self, release: str | None) -> Path:
        return self.session.root / "releases" / str(release)

    def checked(self) -> list[Published]:
        """The bodies whose dates change. Every file of the target must be there."""
        late = []
        for name in self.target.file_digests:
            self.require(self.folder(self.name) / name)
        for slug in self.target.segments:
            served = self.current.bodies(slug)
            for url, one in self.target.bodies(slug).items():
                for file in manifest.files(one):
                    self.require(self.session.root / file)
                if url not in served or served[url].modified != one.modified:
                    late.append(one)
        return late

    def require(self, path: Path) -> None:
        if not path.exists():
            raise FlatpanelError(f"{path}: is missing, so release {self.name} cannot be served again")

    def keys(self) -> tuple[dict[str, str], dict[str, int]]:
        """The keys of the current release whose accounts the target knows, and the number of the others."""
        accounts = {f"={url.removeprefix(_PROFILE)}" for url in self.target.bodies("") if url.startswith(_PROFILE)}
        found = maps.parse(self.folder(self.session.current).joinpath(KEYS).read_bytes())
        kept = {digest: owner for digest, owner in found.items() if owner in accounts | {"="}}
        return kept, Counter(owner[1:] for digest, owner in found.items() if digest not in kept)

    def renewed(self, keys: bytes) -> tuple[str, dict[str, Callable[[], Iterable[bytes]]]]:
        """The id and the files of the target with other keys."""
        ledgers = (self.current, *self.session.older_manifests)
        head = manifest.Head(
            files={**self.target.file_digests, KEYS: encoding.sha256(keys)},
            # Ids are never given twice, and what was taken back had been published.
            highest_id=max(one.highest_id for one in ledgers),
            page_ids={name: number for one in (*ledgers, self.target) for name, number in one.page_ids.items()},
            segments={slug: length for slug, (_, length) in self.target.segments.items()},
        ).dump()
        release = manifest.release_id(encoding.sha256_of_chunks(chain([head], self.target.resource_lines())))
        files: dict[str, Callable[[], Iterable[bytes]]] = {
            name: partial(self.copied, name, release) for name in self.target.file_digests
        }
        files["manifest.json"] = lambda: chain([head], self.target.resource_lines())
        files[KEYS] = lambda: [keys]
        return release, files

    def copied(self, name: str, release: str) -> Iterator[bytes]:
        """A file of the target under the name of the new release; maps name none and may be long."""
        path = self.folder(self.name) / name
        if path.suffix != ".map":
            yield manifest.with_release_id(manifest.without_release_id(path.read_bytes(), self.name), release)
            return
        with path.open("rb") as opened:
            while block := opened.read(_BLOCK):
                yield block

    def reopened(self) -> Iterator[tuple[str, str]]:
        for slug in self.target.segments:
            public = [url for url, one in self.target.bodies(slug).items() if not one.restricted]
            if slug:
                why = self.why_closed(slug, public)
                yield from [(slug, why)] if why else []
            else:
                yield from ((url, "restricted") for url in public if self.closed.get(url))

    def why_closed(self, slug: str, public: list[str]) -> str | None:
        """What the current release does with a series of which the target serves some URLs to everyone."""
        if closed := next((self.closed[url] for url in public if url in self.closed), None):
            return closed
        now = self.current.bodies(slug)
        if not now:
            # Everyone may read what a licensed or restricted series is about.
            return "not there any more" if any(url != f"/api/v2/series/{slug}" for url in public) else None
        was_old, is_old = (any(url.startswith(_OLD_FAMILIES) for url in urls) for urls in (public, now))
        return "not in /api and /api/v1 any more" if was_old and not is_old else None

    @cached_property
    def closed(self) -> dict[str, str]:
        """The URLs that the current release answers with a key only, or with 451."""
        found: dict[str, str] = {}
        folder = self.folder(self.session.current)
        for name in self.current.file_digests:
            if name.endswith(".map"):
                with (folder / name).open(encoding="utf-8") as opened:
                    gates = maps.gates(name.removesuffix(".map"), (line.rstrip("\n") for line in opened))
                    found |= {one.url: "licensed" for one in gates if one.status == 451}
        for slug in self.current.segments:
            found |= {url: "restricted" for url, one in self.current.bodies(slug).items() if one.restricted}
        return found
