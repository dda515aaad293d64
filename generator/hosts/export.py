"""Export the current release as files for a plain web server."""

from collections.abc import Mapping
from pathlib import Path

from .. import encoding
from ..errors import FlatpanelError
from ..filesystem import write
from ..release import manifest
from ..release.store import Store


def export_release(store: Store, target: Path, redirects: Mapping[str, str] | None = None) -> int:
    """Write each body as `path.json` beside its sidecar, and return the number of bodies.

    `redirects` are paths with old slugs and their present paths; they are written as one file, if there are any.
    """
    release = store.release()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FlatpanelError(f"{target}: is not an empty folder; choose a new one")
    plain = (body for body in store.manifest(release).resources.values() if manifest.is_plain(body))
    # Without pages, `/` and `/index.json` have the same body and the same file.
    files = {manifest.plain_file(body): body for body in plain}
    bodies = list(files.values())
    for name, body in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, (store.root / body.file).read_bytes(), body.modified)
        write(Path(f"{path}.headers"), manifest.sidecar(body))
    if redirects:
        write(target / "redirects.json", encoding.json(redirects))
    return len(bodies)
