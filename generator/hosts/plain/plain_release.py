"""The parts of a release that a plain host serves: public bodies, gates, URLs that need a key, types and policies."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ...api.payloads import errors
from ...api.payloads.resources import Alias, Gate, location
from ...release.manifest import Published
from ...release.manifest_reader import ManifestReader
from ...release.rules import Rules


class PlainRelease(NamedTuple):
    """The entries of a release that a host without API keys serves."""

    # The folder `dist`.
    dist: Path
    rules: Rules
    # Public bodies at a path, and those that parameters select.
    bodies: tuple[Published, ...]
    queries: tuple[Published, ...]
    # Public gates at a path. Those of URLs with parameters equal them.
    gates: tuple[Gate, ...]
    aliases: tuple[Alias, ...]
    # The paths that need an API key.
    locked: tuple[str, ...]

    @property
    def licensed(self) -> list[str]:
        """The paths that answer 451."""
        return [gate.url for gate in self.gates if gate.status == 451]

    @property
    def moved(self) -> dict[str, str]:
        """The path that each gate with 308 redirects to."""
        return {gate.url: gate.target for gate in self.gates if gate.status == 308}

    @property
    def redirects_in_apps(self) -> dict[str, str]:
        """The URL that each gate with 302 redirects to."""
        return {gate.url: location(gate, self.rules.base_url) for gate in self.gates if gate.status == 302}

    def is_in_app(self, url: str) -> bool:
        """Whether a URL is one of an app."""
        return url.split("/", 2)[1] in self.rules.apps


def read(table: ManifestReader, dist: Path) -> PlainRelease:
    """The entries of all segments, without bodies that only the server or a holder of an API key reads."""
    entries = [entry for slug in table.segments for entry in table.entries(slug) if "#" not in entry.url]
    bodies = [entry for entry in entries if isinstance(entry, Published)]
    gates = [entry for entry in entries if isinstance(entry, Gate)]
    public = [body for body in bodies if not body.restricted]
    return PlainRelease(
        dist,
        table.rules,
        tuple(body for body in public if _is_path(body.url)),
        tuple(body for body in public if not _is_path(body.url)),
        tuple(gate for gate in gates if not gate.restricted and _is_path(gate.url)),
        tuple(entry for entry in entries if isinstance(entry, Alias)),
        tuple(_locked_paths([*bodies, *gates])),
    )


def _is_path(url: str) -> bool:
    return "?" not in url


def _locked_paths(entries: Iterable[Published | Gate]) -> Iterable[str]:
    return (entry.url for entry in entries if entry.restricted and _is_path(entry.url))


# What all hosts send besides bodies


def media_types(release: PlainRelease) -> list[str]:
    """The media types of a release, the most frequent first."""
    counts: dict[str, int] = {}
    for body in release.bodies:
        counts[body.type] = counts.get(body.type, 0) + 1
    return sorted(counts, key=lambda type: (-counts[type], type))


# The errors that a host with rules sends under a name: their status and body.
NAMED_ERRORS = (
    ("date_format", 400, errors.BAD_PARAMETERS["/bad/date_format"]),
    ("pages", 400, errors.BAD_PARAMETERS["/bad/pages"]),
    ("page", 404, errors.DETAILS["page"]),
)
