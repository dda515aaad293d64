"""Export the current release for a host that serves files."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from ...release.store import Store
from . import apache, caddy, cloudflare, netlify, plain_release
from .export_folder import FolderTotals, HostExport, Track, write_files
from .plain_release import PlainRelease

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
    with store.table() as table:
        release = plain_release.read(table, store.root)
    export = HOSTS[host](release)
    return ExportTotals(write_files(target, host, export.files, track), export.warnings)
