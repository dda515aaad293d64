"""The core in JavaScript behind the smallest server, run by Node.js: what it answers is the core's alone."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from generator import encoding
from generator.api.payloads.resources import Alias, Gate, key
from generator.hosts.packs.worker_files import worker_rules
from generator.release import manifest
from generator.release.manifest import Entry
from generator.release.manifest_reader import ManifestReader
from tests.conftest import Site
from tests.support import servers
from tests.support.paths import DATA, ROOT

NODE = shutil.which("node")
CORE = ROOT / "generator/javascript/core"
needs_node = pytest.mark.skipif(not NODE, reason="node is not installed")
_SERVER = DATA / "javascript/serve.mjs"


def write_modules(folder: Path) -> Path:
    """The modules of the core in a folder where Node.js reads them as modules, not as scripts."""
    shutil.copytree(CORE, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


@contextmanager
def serving(site: Site, folder: Path) -> Iterator[int]:
    """The port of a server with the current release of a site. Its files go to a folder that does not exist yet."""
    code = write_modules(folder)
    with site.store.table() as table:
        release = {"rules": worker_rules(table), "records": records(site, table)}
        (folder / "release.json").write_bytes(encoding.json(release))
    command = [NODE, _SERVER, code, folder / "release.json", site.folder / "dist"]
    port = re.compile(r"^\d+(?=\n)")
    with servers.running(command, port.search) as process:
        yield int(port.findall(process.printed())[0])


def records(site: Site, table: ManifestReader) -> dict[str, dict[str, Any]]:
    entries = [entry for slug in table.segments for entry in table.entries(slug)]
    return {key(entry.url): _record(entry, site.folder / "dist") for entry in entries}


def _record(entry: Entry, dist: Path) -> dict[str, Any]:
    if isinstance(entry, Alias):
        return {"kind": "alias", "target": key(entry.target)}
    if isinstance(entry, Gate):
        return {"kind": str(entry.status), "restricted": entry.restricted, "target": entry.target}
    return {
        "kind": "body",
        "restricted": entry.restricted,
        "etag": entry.etag,
        "modified": -1 if manifest.last_modified(entry) is None else entry.modified,
        "maxAge": entry.max_age,
        "type": entry.type,
        "gzip": entry.gzip,
        "size": entry.size,
        "stored": (dist / f"{entry.file}.gz").stat().st_size if entry.gzip else entry.size,
        "file": entry.file,
    }
