"""The files that releases name: where each lies below `dist`, and what is wrong with given bytes of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .. import encoding
from . import manifest
from .manifest import Manifest, Published


@dataclass(frozen=True, slots=True)
class Body:
    """A body, as it is sent without compression."""

    one: Published

    @property
    def path(self) -> str:
        return self.one.file

    def fault(self, text: bytes) -> str | None:
        if len(text) != self.one.size:
            return f"has {len(text)} bytes instead of {self.one.size}"
        intact = encoding.etag(text) == self.one.etag and encoding.sha256(text) == self.one.sha256
        return None if intact else "was changed after the build"


@dataclass(frozen=True, slots=True)
class Packed:
    """The gzip form of a body. Another zlib may give other bytes, so its content counts."""

    one: Published

    @property
    def path(self) -> str:
        return f"{self.one.file}.gz"

    def fault(self, text: bytes) -> str | None:
        return None if self.body(text) is not None else "is not the compressed form of its body"

    def body(self, text: bytes) -> bytes | None:
        """The body, if these bytes are a gzip form of it."""
        body = encoding.unpacked(text, self.one.size) if text.startswith(encoding.GZIP_HEAD) else None
        return body if body is not None and Body(self.one).fault(body) is None else None


@dataclass(frozen=True, slots=True)
class Sidecar:
    """The validators of a body."""

    one: Published

    @property
    def path(self) -> str:
        return f"{self.one.file}.headers"

    @property
    def text(self) -> bytes:
        return manifest.sidecar(self.one)

    def fault(self, text: bytes) -> str | None:
        return None if text == self.text else "does not hold the validators of its body"


@dataclass(frozen=True, slots=True)
class Beside:
    """A file beside the manifest of a release. Its digest was taken before the release had an id."""

    release: str
    name: str
    sha256: str

    @property
    def path(self) -> str:
        return f"releases/{self.release}/{self.name}"

    def fault(self, text: bytes) -> str | None:
        plain = manifest.unnamed(text, self.release)
        intact = encoding.sha256(plain) == self.sha256 and manifest.named(plain, self.release) == text
        return None if intact else "was changed after the build"


NamedFile: TypeAlias = Body | Packed | Sidecar | Beside


def beside(release: str, found: Manifest) -> Iterator[Beside]:
    """The files of a release's own folder, without its manifest."""
    for name, digest in found.files.items():
        yield Beside(release, name, digest)


def of_bodies(bodies: Iterable[Published]) -> Iterator[Body | Packed | Sidecar]:
    """Every body with its gzip form and its sidecar."""
    for one in bodies:
        yield Body(one)
        if one.gzip:
            yield Packed(one)
        yield Sidecar(one)


def bodies(manifests: Iterable[Manifest]) -> Mapping[str, Published]:
    """The bodies of several releases by file. The last manifest decides the date of a body that several name.

    A gzip form stays named as long as one of them has it: another version of the program may have made none.
    """
    known: dict[str, Published] = {}
    for found in manifests:
        for one in found.resources.values():
            older = known.get(one.file)
            known[one.file] = one._replace(gzip=True) if older and older.gzip else one
    return known
