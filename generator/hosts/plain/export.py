"""Export the current release as files: for any web server, or with the names and rules of one host."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from ... import encoding
from ...filesystem import delete_file
from ...release import manifest
from ...release.store import Store
from . import apache, caddy, cloudflare, export_folder, netlify, plain_release
from .export_folder import FolderTotals, HostExport, Track, body_file, text_file, write_files
from .plain_release import PlainRelease


def export_release(store: Store, target: Path, track: Track = iter) -> int:
    """Write each body as `path.json` beside its sidecar, and return the number of bodies.

    If there are old slugs, one file has their paths and the present ones. An interrupted export leaves the list of its
    files, with which the next one completes it.
    """
    release = _read(store)
    # Without pages, `/` and `/index.json` have the same body and the same file.
    bodies = {manifest.plain_file(body): body for body in release.bodies}
    files = [body_file(name, body, store.root) for name, body in bodies.items()]
    files += [text_file(f"{name}.headers", manifest.sidecar(body)) for name, body in bodies.items()]
    if redirects := release.rules.redirected_paths():
        files.append(text_file("redirects.json", encoding.json(redirects)))
    export_folder.write_files(target, "plain files", files, track)
    delete_file(target / export_folder.LIST)
    return len(bodies)


def _read(store: Store) -> PlainRelease:
    with store.table() as table:
        return plain_release.read(table, store.root)


# What `--for` accepts: the export of a release for each host.
HOSTS: Mapping[str, Callable[[PlainRelease], HostExport]] = {
    "apache": apache.export,
    "caddy": caddy.export,
    "cloudflare": cloudflare.export,
    "netlify": netlify.export,
}


class ExportTotals(NamedTuple):
    """What an export wrote, and what the host cannot do with the release."""

    folder: FolderTotals
    warnings: tuple[str, ...]


def export_for(store: Store, host: str, target: Path, track: Track = iter) -> ExportTotals:
    """Write the files of the current release for a host into a folder."""
    export = HOSTS[host](_read(store))
    return ExportTotals(write_files(target, host, export.files, track), export.warnings)
