"""The nouns that everything below the catalog speaks."""

from dataclasses import dataclass
from typing import NamedTuple


class Shown(NamedTuple):
    """A value on the wire and when the newest part of it changed. What is shown is counted, by construction."""

    json: object
    modified: int


@dataclass(frozen=True, slots=True)
class Resource:
    """What a URL answers: a value to be encoded, and how many seconds a cache may keep it."""

    url: str
    shown: Shown
    max_age: int


@dataclass(frozen=True, slots=True)
class Published:
    """One line of a release: the body that a URL has, where it lies, and what HTTP says of it."""

    url: str
    file: str
    etag: str
    modified: int
    size: int
    sha256: str
    gzip: bool
    max_age: int


@dataclass(frozen=True, slots=True)
class File:
    """A file of a release's own folder, or of the project's."""

    path: str
    text: bytes
