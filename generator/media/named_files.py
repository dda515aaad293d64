"""The media files that a catalog names: paths below the media root, made from the URLs of the linked catalog."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from .. import encoding
from ..catalog import field_values, media_folder, patterns
from ..catalog.confined_folder import Folder
from ..catalog.entities import Series
from ..catalog.linking import Linker
from ..catalog.problems.load import load_valid
from ..catalog.reader import Sources

# Why readers do not get the pages of a chapter, or not without a key.
SCHEDULED, LICENSED, RESTRICTED = RESTRICTIONS = ("scheduled", "licensed", "restricted")


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
    # By path, in the order of the catalog.
    files: Mapping[str, MediaFile]
    # By URL: files on other hosts, and files whose URL has no valid path.
    elsewhere: Mapping[str, MediaFile]
    # The slugs that each series has and had.
    slugs: Mapping[str, tuple[str, ...]]
    # `media_folder` of site.yaml.
    folder: Path | None

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
    slugs = {entry.slug: (entry.slug, *entry.entry.record.formerly) for entry in sources.series}
    below = linker.site.media_folder
    folder = media_folder.project_folder(catalog) / below if below else None
    return NamedMedia(root, files, elsewhere, slugs, folder)


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


def path_below(root: str, url: str) -> str:
    """Return the path of a URL below the root; "" if it is elsewhere, or is no path of a file."""
    rest = url.removeprefix(root)
    if rest == url or {"?", "#"} & set(rest):
        return ""
    try:
        names = [unquote(name, errors="strict") for name in rest.split("/")]
    except UnicodeDecodeError:
        return ""
    is_path = all("/" not in name and re.fullmatch(patterns.FILE_OR_URL, name) for name in names)
    return "/".join(names) if is_path else ""
