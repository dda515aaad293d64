"""The files that a release references: the path of each below `dist`, and a check of its content."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .. import encoding
from ..errors import counted
from . import manifest
from .manifest import Manifest, Published


@dataclass(frozen=True, slots=True)
class BodyFile:
    """A body without compression."""

    body: Published

    @property
    def path(self) -> str:
        return self.body.file

    def fault(self, text: bytes) -> str | None:
        if len(text) != self.body.size:
            return f"has {counted(len(text), 'byte')} instead of {self.body.size:,}"
        intact = encoding.etag(text) == self.body.etag and encoding.sha256(text) == self.body.sha256
        return None if intact else "was changed after the build"


@dataclass(frozen=True, slots=True)
class GzipFile:
    """The gzip form of a body. Its content is checked: another zlib may write other bytes."""

    body: Published

    @property
    def path(self) -> str:
        return f"{self.body.file}.gz"

    def fault(self, text: bytes) -> str | None:
        return None if self.unpack(text) is not None else "is not the compressed form of its body"

    def unpack(self, text: bytes) -> bytes | None:
        """The body, if `text` is a gzip form of it."""
        body = encoding.gunzip(text, self.body.size) if text.startswith(encoding.GZIP_HEADER) else None
        return body if body is not None and BodyFile(self.body).fault(body) is None else None


@dataclass(frozen=True, slots=True)
class SidecarFile:
    """The validators of a body."""

    body: Published

    @property
    def path(self) -> str:
        return f"{self.body.file}.headers"

    @property
    def text(self) -> bytes:
        return manifest.sidecar(self.body)

    def fault(self, text: bytes) -> str | None:
        return None if text == self.text else "does not hold the validators of its body"


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """A file beside the manifest of a release. Its digest is that of the text without the release id."""

    release: str
    name: str
    sha256: str

    @property
    def path(self) -> str:
        return f"releases/{self.release}/{self.name}"

    def fault(self, text: bytes) -> str | None:
        plain = manifest.without_release_id(text, self.release)
        intact = encoding.sha256(plain) == self.sha256 and manifest.with_release_id(plain, self.release) == text
        return None if intact else "was changed after the build"


NamedFile: TypeAlias = BodyFile | GzipFile | SidecarFile | ReleaseFile


def release_files(release: str, loaded: Manifest) -> Iterator[ReleaseFile]:
    """The files in the folder of a release but its manifest."""
    for name, digest in loaded.files.items():
        yield ReleaseFile(release, name, digest)


def body_files(bodies: Iterable[Published]) -> Iterator[BodyFile | GzipFile | SidecarFile]:
    """Every body with its gzip form and its sidecar."""
    for body in bodies:
        yield BodyFile(body)
        if body.gzip:
            yield GzipFile(body)
        yield SidecarFile(body)


def bodies_by_file(manifests: Iterable[Manifest]) -> Mapping[str, Published]:
    """The bodies of several releases by file. The last manifest with a body decides its date.

    The gzip form counts if any of them references it: another version of the program may have written none.
    """
    by_file: dict[str, Published] = {}
    for loaded in manifests:
        for body in loaded.resources.values():
            other = by_file.get(body.file)
            by_file[body.file] = body._replace(gzip=True) if other and other.gzip else body
    return by_file
