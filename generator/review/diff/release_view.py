"""A release as somebody sees it who has its files, or only its manifest."""

import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from ... import encoding
from ...api.resources import SERIES_INDEX_URL, Gate
from ...nginx import maps
from ...pipeline.publish import MAPS
from ...release import manifest
from ...release.manifest import Published
from ...release.manifest_reader import ManifestReader
from ...release.store import Store

# What is larger is compared by its tag alone: as values it would take ten times the memory.
LARGEST = 1 << 25
_LONG = {f"{name}.map" for name in (*MAPS, "days")}
# Lines of the configuration that follow from how much there is, and not from what somebody decided.
_OF_SIZE = (b"map_hash_max_size", b"map_hash_bucket_size")
_DIST = re.compile(rb'include "?([^\s"]+)/releases/' + manifest.ID_PLACEHOLDER.encode())
INDEX = "/"


class UrlResponse(NamedTuple):
    """What a URL answers: with a body and its tag, or with a gate and where it leads."""

    status: int
    tag: str
    restricted: bool
    max_age: int = 0
    body: Published | None = None

    @property
    def access(self) -> str:
        """What somebody gets who has no key."""
        return "restricted" if self.restricted else "public" if self.status == 200 else str(self.status)


class ReleaseView:
    """One of the two that are compared."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.folder = path.resolve().parent
        # Bodies lie below dist, or beside a manifest that was taken out of it.
        self.root = self.folder.parents[1] if self.folder.parent.name == "releases" else self.folder
        self.ledger = ManifestReader(path)

    def __enter__(self) -> "ReleaseView":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.ledger.close()

    def count(self, slug: str) -> int:
        """How many bodies a series has, or what is about all of them."""
        return self.ledger.count(slug)

    def answers(self, slug: str) -> dict[str, UrlResponse]:
        """All that has a body."""
        return self._read(slug) if slug else self._about_all

    @cached_property
    def _about_all(self) -> dict[str, UrlResponse]:
        return self._read("")

    def _read(self, slug: str) -> dict[str, UrlResponse]:
        found = self.ledger.bodies(slug).values()
        return {one.url: UrlResponse(200, one.etag, one.restricted, one.max_age, one) for one in found}

    @cached_property
    def base_url(self) -> str | None:
        """Where the site is, by what its index says."""
        answer = self.answers("").get(INDEX)
        index = self.value(answer) if answer else None
        return str(index["api"]["authors"]).removesuffix("/api/authors") if index else None

    def gates(self) -> dict[str, UrlResponse]:
        """All that has none; a redirect is an absolute address."""
        found = (gate for name in MAPS for gate in maps.gates(name, self._lines(name)))
        return {one.url: UrlResponse(one.status, self._target(one), one.restricted) for one in found}

    def _target(self, one: Gate) -> str:
        return f"{self.base_url or ''}{one.target}" if one.target else ""

    def asked_pages(self) -> dict[str, str]:
        """The keys of the deprecated addresses of pages, and the paths that have them."""
        return maps.parse_pages(self._lines("pages"))

    def _lines(self, name: str) -> Iterator[str]:
        path = self.folder / f"{name}.map"
        if path.is_file():
            with path.open(encoding="utf-8") as opened:
                yield from (line.rstrip("\n") for line in opened)

    @property
    def has_maps(self) -> bool:
        return (self.folder / "validators.map").is_file()

    def value(self, answer: UrlResponse) -> Any:
        """What a body says, or nothing where it is no JSON, too large, not at hand, or not what it was."""
        one = answer.body
        if one is None or not one.file.endswith(".json") or one.size > LARGEST:
            return None
        try:
            text = (self.root / one.file).read_bytes()
        except FileNotFoundError:
            return None
        return encoding.parse(text) if encoding.etag(text) == one.etag else None

    @property
    def settings(self) -> dict[str, str]:
        """The digests of the short files of its configuration."""
        return {name: digest for name, digest in self.ledger.file_digests.items() if name not in _LONG}

    def setting(self, name: str) -> bytes:
        """One of these files without what differs although nobody set it: names, places, and sizes of maps."""
        text = re.sub(rb'(?<=[\s"])' + re.escape(self._dist) + rb'(?=[/;"])', b"dist", self._unnamed(name))
        searched = self.answers("").get(SERIES_INDEX_URL)
        file = searched.body.file if searched and searched.body else SERIES_INDEX_URL
        text = text.replace(file.encode(), SERIES_INDEX_URL.encode())
        return b"".join(line for line in text.splitlines(keepends=True) if not line.strip().startswith(_OF_SIZE))

    @cached_property
    def _dist(self) -> bytes:
        """How the configuration calls the folder in which it lies."""
        found = _DIST.search(self._unnamed("http.conf"))
        return found[1] if found else b"dist"

    def _unnamed(self, name: str) -> bytes:
        path = self.folder / name
        return manifest.without_release_id(path.read_bytes(), self.folder.name) if path.is_file() else b""


def find_manifest(path: Path) -> Path | None:
    """The manifest that a path means: itself, that of a release, or that of the current release of a built site."""
    if path.is_file():
        return path
    for found in (path / "manifest.json", Store(path).manifest_path(Store(path).current())):
        if found and os.path.isfile(found):
            return found
    return None
