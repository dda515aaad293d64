"""Export the current release as files for a plain web server."""

from collections.abc import Mapping
from pathlib import Path

from .. import encoding
from ..filesystem import delete_file
from ..release import manifest
from ..release.store import Store
from .plain import export_folder
from .plain.export_folder import Track, body_file, text_file


def export_release(store: Store, target: Path, redirects: Mapping[str, str] | None = None, track: Track = iter) -> int:
    """Write each body as `path.json` beside its sidecar, and return the number of bodies.

    `redirects` are paths with old slugs and their present paths; they are written as one file, if there are any.
    An interrupted export leaves the list of its files, with which the next one completes it.
    """
    plain = (body for body in store.manifest(store.release()).resources.values() if manifest.is_plain(body))
    # Without pages, `/` and `/index.json` have the same body and the same file.
    bodies = {manifest.plain_file(body): body for body in plain}
    files = [body_file(name, body, store.root) for name, body in bodies.items()]
    files += [text_file(f"{name}.headers", manifest.sidecar(body)) for name, body in bodies.items()]
    if redirects:
        files.append(text_file("redirects.json", encoding.json(redirects)))
    export_folder.write_files(target, "plain files", files, track)
    delete_file(target / export_folder.LIST)
    return len(bodies)
