"""The responses and settings of a release, read from its files or from its manifest alone."""

import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from ... import encoding
from ...nginx import maps
from ...pipeline.publish import MAPS
from ...release import manifest
from ...release.manifest import Published
from ...release.manifest_reader import ManifestReader
from ...release.store import Store

# Larger bodies are compared by ETag only, because parsed values need ten times the memory.
LARGEST = 1 << 25
_MAP_FILES = {f"{name}.map" for name in (*MAPS, "days")}
# Directives that depend on the number of URLs, and not on a setting.
_SIZE_DIRECTIVES = (b"map_hash_max_size", b"map_hash_bucket_size")
_DIST = re.compile(rb'include "?([^\s"]+)/releases/' + manifest.ID_PLACEHOLDER.encode())
INDEX, SEARCH_INDEX = "/", "/api/v2/series#index"


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


def _responses(manifest: ManifestReader, slug: str) -> dict[str, UrlResponse]:
    bodies = manifest.bodies(slug).values()
    return {body.url: UrlResponse(200, body.etag, body.restricted, body.max_age, body) for body in bodies}


class Configuration:
    """The configuration files of a release, without its maps."""

    def __init__(self, folder: Path, digests: Mapping[str, str], search_index: str) -> None:
        self.folder, self.search_index = folder, search_index
        self.digests = {name: digest for name, digest in digests.items() if name not in _MAP_FILES}

    def settings(self, name: str) -> bytes:
        """The text of a file without values that follow from the catalog: ids, paths and sizes of maps."""
        text = re.sub(rb'(?<=[\s"])' + re.escape(self._dist) + rb'(?=[/;"])', b"dist", self._text(name))
        text = text.replace(self.search_index.encode(), SEARCH_INDEX.encode())
        return b"".join(
            line for line in text.splitlines(keepends=True) if not line.strip().startswith(_SIZE_DIRECTIVES)
        )

    @cached_property
    def _dist(self) -> bytes:
        """The path of `dist` in the configuration."""
        match = _DIST.search(self._text("http.conf"))
        return match[1] if match else b"dist"

    def _text(self, name: str) -> bytes:
        path = self.folder / name
        return manifest.without_release_id(path.read_bytes(), self.folder.name) if path.is_file() else b""


class ReleaseView:
    """One of the two compared releases."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.folder = path.resolve().parent
        # Bodies are below dist, or beside a manifest that was copied elsewhere.
        self.root = self.folder.parents[1] if self.folder.parent.name == "releases" else self.folder
        self.manifest = ManifestReader(path)

    def __enter__(self) -> "ReleaseView":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.manifest.close()

    def responses(self, slug: str) -> dict[str, UrlResponse]:
        """The responses with bodies of a series, or of no series if the slug is empty."""
        return _responses(self.manifest, slug) if slug else self._shared_responses

    @cached_property
    def _shared_responses(self) -> dict[str, UrlResponse]:
        return _responses(self.manifest, "")

    @cached_property
    def base_url(self) -> str | None:
        """The base URL of the site, read from the body of the index."""
        response = self.responses("").get(INDEX)
        index = self.body_value(response) if response else None
        return str(index["api"]["authors"]).removesuffix("/api/authors") if index else None

    def gates(self) -> dict[str, UrlResponse]:
        """The responses without bodies. Targets of redirects are absolute URLs."""
        base_url = self.base_url or ""
        return {
            gate.url: UrlResponse(gate.status, f"{base_url}{gate.target}" if gate.target else "", gate.restricted)
            for name in MAPS
            for gate in maps.gates(name, self._map_lines(name))
        }

    def page_queries(self) -> dict[str, str]:
        """The paths of page lists by the query arguments of their deprecated URL."""
        return maps.parse_pages(self._map_lines("pages"))

    def _map_lines(self, name: str) -> Iterator[str]:
        path = self.folder / f"{name}.map"
        if path.is_file():
            with path.open(encoding="utf-8") as opened:
                yield from (line.rstrip("\n") for line in opened)

    @property
    def has_maps(self) -> bool:
        return (self.folder / "validators.map").is_file()

    def body_value(self, response: UrlResponse) -> Any:
        """The JSON value of a body; None if it is not JSON, too large, missing or damaged."""
        body = response.body
        if body is None or not body.file.endswith(".json") or body.size > LARGEST:
            return None
        try:
            text = (self.root / body.file).read_bytes()
        except FileNotFoundError:
            return None
        return encoding.parse(text) if encoding.etag(text) == body.etag else None

    @cached_property
    def configuration(self) -> Configuration:
        search_index = self.responses("").get(SEARCH_INDEX)
        file = search_index.body.file if search_index and search_index.body else SEARCH_INDEX
        return Configuration(self.folder, self.manifest.file_digests, file)


def find_manifest(path: Path) -> Path | None:
    """The manifest at a path: the file, a release's manifest, or that of a built site's current release."""
    if path.is_file():
        return path
    for manifest_path in (path / "manifest.json", Store(path).manifest_path(Store(path).current())):
        if manifest_path and os.path.isfile(manifest_path):
            return manifest_path
    return None
