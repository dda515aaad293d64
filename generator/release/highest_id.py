"""The highest chapter id of releases on the disk."""

from pathlib import Path

from .manifest_reader import ManifestReader, refuse_damaged
from .store import Store


def highest_id(out: Path, previous: Path | None) -> int:
    """Return the highest chapter id in the releases below `out` and in the manifest `previous`; 0 without any.

    Raises if the current release is missing: its ids would be assigned again.
    """
    store = Store(out)
    if not store.current():
        refuse_damaged(out)
    manifests = [store.manifest_path(release) for release in (store.current(), *store.older())]
    highest = 0
    for path in (*manifests, previous):
        with ManifestReader(path) as manifest:
            highest = max(highest, manifest.highest_id)
    return highest
