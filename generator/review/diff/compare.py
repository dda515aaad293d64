"""What two releases publish, and the URLs whose responses differ."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from ... import encoding
from ...api.payloads.resources import key, location
from ...nginx import maps
from ...release import manifest, manifest_reader
from ...release.changes import differences
from ...release.manifest import Published
from ...release.manifest_reader import KEYS_FILE, ManifestReader
from .json_diff import ADDED, CHANGED, REMOVED

# The responses and settings of a release, read from its files or from its manifest alone

# Larger bodies are compared by ETag only, because parsed values need ten times the memory.
LARGEST = 1 << 25
# Directives that depend on the number of URLs or on the place of the project, and not on what clients see.
_LOCAL_DIRECTIVES = (b"map_hash_max_size", b"map_hash_bucket_size", b"alias ")
_DIST = re.compile(rb'include "?([^\s"]+)/releases/' + manifest.ID_PLACEHOLDER.encode())
SEARCH_INDEX = "/api/v2/series#index"
# The names and ids of groups. Bodies of series name groups only.
GROUPS = "/api/v2/groups"


class UrlResponse(NamedTuple):
    """The response to a URL: a body, or a gate."""

    status: int
    # The ETag of the body, or the target of a redirect.
    etag_or_target: str
    restricted: bool
    max_age: int = 0
    body: Published | None = None

    @property
    def without_max_age(self) -> tuple[int, str, bool]:
        return self[:3]

    @property
    def without_body(self) -> tuple[int, str, bool, int]:
        return self[:4]

    @property
    def access(self) -> str:
        """What a client without an API key gets."""
        return "restricted" if self.restricted else "public" if self.status == 200 else str(self.status)


def response_of(body: Published) -> UrlResponse:
    return UrlResponse(200, body.etag, body.restricted, body.max_age, body)


class ReleaseView:
    """One of the two compared releases, at the path of its manifest; an empty release if the path is None."""

    def __init__(self, path: Path | None, name: str) -> None:
        self.name = name
        self.folder = path.resolve().parent if path else Path()
        # Bodies are below dist, or beside a manifest that was copied elsewhere.
        self.root = self.folder.parents[1] if self.folder.parent.name == "releases" else self.folder
        self.manifest = ManifestReader(path)

    def __enter__(self) -> "ReleaseView":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.manifest.close()

    def responses(self, slug: str) -> dict[str, UrlResponse]:
        """The responses with bodies of a series, or of no series if the slug is empty."""
        return self._responses(slug) if slug else self._shared_responses

    @cached_property
    def _shared_responses(self) -> dict[str, UrlResponse]:
        return self._responses("")

    def _responses(self, slug: str) -> dict[str, UrlResponse]:
        return {url: response_of(body) for url, body in self.manifest.bodies(slug).items()}

    @property
    def base_url(self) -> str:
        """The base URL of the site; empty for an empty release."""
        return self.manifest.rules.base_url

    def gates(self) -> dict[str, UrlResponse]:
        """The responses without bodies. Targets of redirects are absolute URLs."""
        base_url = self.base_url
        responses = {
            gate.url: UrlResponse(gate.status, location(gate, base_url) if gate.target else "", gate.restricted)
            for gate in manifest_reader.gates(self.manifest)
            # The gates of URLs with parameters equal that of their path.
            if "?" not in gate.url
        }
        rules = self.manifest.rules
        for status, paths in ((308, rules.redirected_paths()), (302, rules.redirected_paths_in_apps())):
            responses |= {old: UrlResponse(status, f"{base_url}{new}", False) for old, new in paths.items()}
        return responses

    @cached_property
    def redirects(self) -> dict[str, str]:
        """The present path of each path with an old slug."""
        return self.manifest.rules.redirected_paths() | self.manifest.rules.redirected_paths_in_apps()

    def page_queries(self) -> dict[str, str]:
        """The paths of page lists by the keys of their deprecated URLs."""
        return {key(alias.url): alias.target for alias in manifest_reader.aliases(self.manifest)}

    def body_value(self, response: UrlResponse) -> Any:
        """The JSON value of a body; None if it is not JSON, too large, missing, unreadable or damaged."""
        body = response.body
        if body is None or not body.file.endswith(".json") or body.size > LARGEST:
            return None
        try:
            text = (self.root / body.file).read_bytes()
        except OSError:
            return None
        return encoding.parse(text) if encoding.etag(text) == body.etag else None

    # The configuration files of a release, without its long maps; keys.map stands for keys.json too.

    @property
    def has_configuration(self) -> bool:
        """Whether the files are there: not beside a manifest that was copied elsewhere."""
        return (self.folder / "http.conf").is_file()

    def configuration_digests(self) -> dict[str, str]:
        others = {*(f"{name}.map" for name in maps.LONG), maps.REDIRECTS, KEYS_FILE}
        return {name: digest for name, digest in self.manifest.file_digests.items() if name not in others}

    def settings(self, name: str) -> bytes:
        """The text of a file without values that follow from the catalog: ids, paths and sizes of maps."""
        dist = _DIST.search(self._text("http.conf"))
        path = re.escape(dist[1] if dist else b"dist")
        text = re.sub(rb'(?<=[\s"])' + path + rb'(?=[/;"])', b"dist", self._text(name))
        index = self.responses("").get(SEARCH_INDEX)
        file = index.body.file if index and index.body else SEARCH_INDEX
        text = text.replace(file.encode(), SEARCH_INDEX.encode())
        return b"".join(
            line for line in text.splitlines(keepends=True) if not line.strip().startswith(_LOCAL_DIRECTIVES)
        )

    def _text(self, name: str) -> bytes:
        path = self.folder / name
        return manifest.without_release_id(path.read_bytes(), self.folder.name) if path.is_file() else b""


# The URLs whose responses differ between two releases: ETags and redirects are compared, and no bodies are read

# Same body, different max-age.
RETIMED = "retimed"
_CHAPTER = re.compile(r"/api/v2/chapters/(\d+)")
_OF_SERIES = re.compile(r"/(?:api/v2/(?:series|cubari)|komga(?:/api/v1)?/series)/([^/]+)")
# The reader URL of a chapter ends with slug, volume and number.
_READER = re.compile(r".*/([^/]+)/[^/]+/[^/]+/")


class UrlDifference(NamedTuple):
    """A URL with different responses, and the slug of the series that it belongs to, or ""."""

    url: str
    slug: str
    old: UrlResponse | None
    new: UrlResponse | None

    @property
    def kind(self) -> str:
        if not (self.old and self.new):
            return REMOVED if self.old else ADDED
        return RETIMED if self.old.without_max_age == self.new.without_max_age else CHANGED

    @property
    def max_ages(self) -> tuple[int, int] | None:
        """Old and new max-age in seconds, if both responses have bodies and the values differ."""
        values = [response.max_age for response in (self.old, self.new) if response and response.body]
        return (values[0], values[1]) if len(set(values)) > 1 else None

    @property
    def access(self) -> tuple[str, str] | None:
        """Old and new access of a client without an API key, if they differ."""
        before, after = (response.access if response else "404" for response in (self.old, self.new))
        return (before, after) if before != after and self.old and self.new else None


@dataclass(slots=True)
class Comparison:
    """Everything that differs between two releases."""

    old: ReleaseView
    new: ReleaseView
    by_url: dict[str, UrlDifference] = field(default_factory=dict)
    unchanged: int = 0
    # Configuration files with different settings.
    settings: list[str] = field(default_factory=list)

    @property
    def differences(self) -> list[UrlDifference]:
        """The differences in the order of URLs."""
        return [difference for _, difference in sorted(self.by_url.items())]

    @property
    def counts(self) -> dict[str, int]:
        counts = Counter(difference.kind for difference in self.by_url.values())
        return {kind: counts[kind] for kind in (ADDED, CHANGED, REMOVED, RETIMED)} | {"unchanged": self.unchanged}

    @property
    def differs(self) -> bool:
        return bool(self.by_url or self.settings)

    @property
    def left_out(self) -> str:
        """What is not compared because a release is only a manifest, or ""."""
        return "" if self.old.has_configuration and self.new.has_configuration else "settings"


def compare(old: ReleaseView, new: ReleaseView) -> Comparison:
    comparison = Comparison(old, new, {difference.url: difference for difference in _differing_bodies(old, new)})
    bodies = sum(map(new.manifest.count, new.manifest.segments))
    comparison.unchanged = bodies - sum(1 for difference in comparison.by_url.values() if difference.new)
    _compare_gates(comparison)
    if not comparison.left_out:
        # Configuration files that differ in more than what follows from the catalog.
        before, after = old.configuration_digests(), new.configuration_digests()
        comparison.settings = [
            name
            for name in sorted(before | after)
            if before.get(name) != after.get(name) and old.settings(name) != new.settings(name)
        ]
    return comparison


def compare_series(old: ReleaseView, new: ReleaseView, slugs: Iterable[str]) -> Comparison:
    """Compare the bodies of these series only, and the list of groups, which describes the groups of chapters."""
    differing = _differing_bodies(old, new, ["", *slugs])
    return Comparison(
        old,
        new,
        {difference.url: difference for difference in differing if difference.slug or difference.url == GROUPS},
    )


def _differing_bodies(
    old: ReleaseView, new: ReleaseView, slugs: Iterable[str] | None = None
) -> Iterator[UrlDifference]:
    """The URLs whose bodies differ. Another date alone is no difference."""
    for difference in differences(old.manifest, new.manifest, slugs):
        before, after = (body and response_of(body) for body in difference.bodies)
        if (before and before.without_body) != (after and after.without_body):
            yield UrlDifference(difference.url, difference.slug, before, after)


def _compare_gates(comparison: Comparison) -> None:
    """Compare the redirects and licences. A URL may be a gate in one release and have a body in the other."""
    old, new = comparison.old.gates(), comparison.new.gates()
    series_of_chapter = {
        match[1]: difference.slug for url, difference in comparison.by_url.items() if (match := _CHAPTER.match(url))
    }

    redirects = comparison.old.redirects | comparison.new.redirects

    def slug_of(url: str) -> str:
        if url in redirects:
            return redirects[url].rpartition("/")[2]
        if match := _OF_SERIES.match(url):
            return match[1]
        chapter = _CHAPTER.match(url)
        slug = series_of_chapter.get(chapter[1], "") if chapter else ""
        reader = _READER.fullmatch((new.get(url) or old[url]).etag_or_target)
        return slug or (reader[1] if reader else "")

    for url in sorted(old.keys() | new.keys()):
        before, after, previous = old.get(url), new.get(url), comparison.by_url.pop(url, None)
        if previous:
            before, after = before or previous.old, after or previous.new
        if before and after and before.without_body == after.without_body:
            comparison.unchanged += 1
        else:
            slug = previous.slug if previous and not new.get(url) else slug_of(url)
            comparison.by_url[url] = UrlDifference(url, slug, before, after)
