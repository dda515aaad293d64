"""The media files that a catalog names: paths below the media root, made from the URLs of the linked catalog.

Archives are among them, as `archives.yaml` records them.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from .. import encoding
from ..catalog import entities, field_values, media_folder
from ..catalog.confined_folder import Folder
from ..catalog.entities import Archive, Series
from ..catalog.linking import SERIES_MEDIA, Linker, path_below, variant_path
from ..catalog.problems.load import load_valid
from ..catalog.reader import Sources

# Why readers do not get the pages of a chapter, or not without a key.
SCHEDULED, LICENSED, RESTRICTED = RESTRICTIONS = ("scheduled", "licensed", "restricted")
# The kind of a smaller copy of a cover or a page.
VARIANT = "variant"
# That of a chapter as one file.
ARCHIVE = "archive"
# The digits of a digest in variants.yaml and archives.yaml.
DIGEST_LENGTH = 16


@dataclass(frozen=True, slots=True)
class MediaFile:
    """A file that the catalog names: its path below the media root, or its URL on another host.

    The owner is the slug of a series, the id of a group, or a username.
    """

    path: str
    kind: str
    owner: str
    restrictions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedMedia:
    """All files that a catalog names."""

    # The URL of the media root; ends with a slash.
    root: str
    # By path, in the order of the catalog; then smaller copies, then archives.
    files: Mapping[str, MediaFile]
    # By URL: files on other hosts, and files whose URL has no valid path.
    elsewhere: Mapping[str, MediaFile]
    # The slugs that each series has and had.
    slugs: Mapping[str, tuple[str, ...]]
    # `media_folder` of site.yaml.
    folder: Path | None
    # The content of variants.yaml.
    variants: Mapping[str, str]
    # The archives that readers get, by path, and the paths of others in archives.yaml.
    archives: Mapping[str, Archive]
    withdrawn: frozenset[str]

    @property
    def images(self) -> list[str]:
        """The paths of all files that are no archives, which are made of images."""
        return [path for path in self.files if path not in self.archives]

    def without(self, restrictions: Iterable[str]) -> "NamedMedia":
        """Return only files without any of the restrictions."""
        left_out = set(restrictions)

        def kept(files: Mapping[str, MediaFile]) -> dict[str, MediaFile]:
            return {path: file for path, file in files.items() if left_out.isdisjoint(file.restrictions)}

        return replace(self, files=kept(self.files), elsewhere=kept(self.elsewhere))


class _NamedUrl(NamedTuple):
    url: str
    kind: str
    owner: str
    restrictions: tuple[str, ...] = ()


def url_path(path: str) -> str:
    """Return a path below the media root as in URLs."""
    return "/".join(map(field_values.percent_encoded, path.split("/")))


def read(catalog: Folder, now: int) -> NamedMedia:
    """Read a catalog. Raises all problems. Chapters that are published after `now` are scheduled."""
    sources = load_valid(catalog)
    linker = Linker(sources, sources.mtimes, encoding.LAST_INSTANT)
    root = linker.media.root
    files: dict[str, MediaFile] = {}
    elsewhere: dict[str, MediaFile] = {}
    for url, kind, owner, restrictions in _urls(sources, linker, now):
        path = path_below(root, url)
        by_path = files if path else elsewhere
        file = MediaFile(path or url, kind, owner, restrictions)
        # A page may occur twice. Readers get it if one of its chapters has no restriction.
        first = by_path.setdefault(file.path, file)
        common = tuple(reason for reason in first.restrictions if reason in restrictions)
        by_path[file.path] = replace(first, restrictions=common)
    for file in [*files.values()]:
        for path in copies_of(file.path, sources.variants.get(file.path, "")) if may_have_copies(file) else ():
            files.setdefault(path, MediaFile(path, VARIANT, file.owner))
    published = Linker(sources, sources.mtimes, now)
    archives: dict[str, Archive] = {}
    for entry in sources.series:
        for archive in published.archives_of(entry).values():
            archives[archive.path] = archive
            files[archive.path] = MediaFile(archive.path, ARCHIVE, entry.slug)
    slugs = {entry.slug: (entry.slug, *entry.entry.record.formerly) for entry in sources.series}
    withdrawn = frozenset(entry.partition(" ")[0] for entry in sources.archives.values()) - archives.keys()
    return NamedMedia(root, files, elsewhere, slugs, folder_of(catalog, sources), sources.variants, archives, withdrawn)


def folder_of(catalog: Folder, sources: Sources) -> Path | None:
    """The folder of the media in the project, if site.yaml names one."""
    below = sources.site and sources.site.media_folder
    return media_folder.project_folder(catalog) / below if below else None


def may_have_copies(file: MediaFile) -> bool:
    """Whether an image may have smaller copies: it is in the folder of its series, and pages show it to all readers."""
    return file.path.startswith(f"{SERIES_MEDIA}/{file.owner}/") and not file.restrictions


def copies_of(path: str, entry: str) -> list[str]:
    """Return the paths of the copies of an image, by its entry in variants.yaml."""
    variants = entities.variants(entry)
    return [variant_path(width, path) for width in variants.widths] if variants else []


def digest(content: bytes) -> str:
    """Return the digest of an image as in variants.yaml."""
    return hashlib.sha256(content).hexdigest()[:DIGEST_LENGTH]


def _urls(sources: Sources, linker: Linker, now: int) -> Iterator[_NamedUrl]:
    for group in linker.groups.by_id.values():
        if group.logo:
            yield _NamedUrl(group.logo, "logo", str(group.id))
    for account in linker.catalog(()).accounts:
        if account.avatar:
            yield _NamedUrl(account.avatar, "avatar", account.record.username)
    # Page ids do not matter here.
    ids: Mapping[str, int] = defaultdict(int)
    for entry in sources.series:
        yield from _series_urls(linker.series(entry, sources.mtimes, ids), now)


def _series_urls(series: Series, now: int) -> Iterator[_NamedUrl]:
    yield _NamedUrl(series.cover, "cover", series.slug)
    for chapter in series.chapters:
        conditions = (chapter.published > now, series.licensed, series.restricted)
        restrictions = tuple(name for name, holds in zip(RESTRICTIONS, conditions, strict=True) if holds)
        for page in chapter.pages:
            yield _NamedUrl(chapter.pages_root + page, "page", series.slug, restrictions)
