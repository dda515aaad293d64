"""Export the current release as files for a plain web server."""

from pathlib import Path

from ..errors import FlatpanelError
from ..filesystem import write
from . import manifest
from .store import Store


def export_release(store: Store, target: Path) -> int:
    """Write each body as `path.json` beside its sidecar, and return the number of bodies."""
    release = store.release()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FlatpanelError(f"{target}: is not an empty folder; choose a new one")
    bodies = [body for body in store.manifest(release).resources.values() if manifest.is_plain(body)]
    for body in bodies:
        path = target / manifest.plain_file(body)
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, (store.root / body.file).read_bytes(), body.modified)
        write(Path(f"{path}.headers"), manifest.sidecar(body))
    return len(bodies)
