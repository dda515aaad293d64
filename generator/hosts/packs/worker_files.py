"""The worker beside the packs: its code, the release that it answers with, and the settings of its hosts."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from ... import encoding
from ...api import policies
from ...api.payloads import errors
from ...filesystem import delete_file, read_regular, remove_empty_folders, write_if_changed
from ...javascript import modules
from ...release.manifest_reader import ManifestReader
from ...release.store import refuse_links
from ...templating import Templates
from . import pack_format

_TEMPLATES = Templates(Path(__file__).parent / "templates")
# The folder of the worker, and the modules that a host starts. They stay the same in all versions.
WORKER = "worker"
_STARTS = ("cloudflare.js", "deno.js", "bucket.js")
# The only files whose meaning changes: code and packs of one release for a worker that starts, and the same release for
# one that runs already.
POINTER = f"{WORKER}/release.js"
RUNNING = f"{WORKER}/release.json"
WORKERD = "config.capnp"
# Files that a user may change. A changed one stays as it is.
SETTINGS = ("wrangler.jsonc", "deno.json")
# Older than the newest runtimes, and new enough for everything that the worker uses.
COMPATIBILITY_DATE = "2025-09-01"
_CODE = re.compile(r"[0-9a-f]{16}")


class WorkerFiles(NamedTuple):
    """The files of the worker by path: modules, settings, and both forms of the release."""

    modules: Mapping[str, bytes]
    settings: Mapping[str, bytes]
    pointer: bytes
    running: bytes


def of_release(table: ManifestReader, directories: Mapping[str, str]) -> WorkerFiles:
    """The files for packs with these directories, in Base64."""
    code = modules.of_worker()
    starts = {f"{WORKER}/{name}": code.pop(name) for name in _STARTS}
    # Modules of another version get another folder, so that an interrupted run mixes none of them.
    name = encoding.sha256(encoding.json({path: encoding.sha256(text) for path, text in code.items()}))[:16]
    running = encoding.json({"code": name, "rules": worker_rules(table), "directories": directories})
    values = {
        "release": table.id,
        "code": name,
        "text": encoding.json_text(running.decode()),
        "name": encoding.json_text(worker_name(table.rules.base_url)),
        "date": encoding.json_text(COMPATIBILITY_DATE),
    }
    settings = {file: _TEMPLATES.render(file, values) for file in SETTINGS}
    own = {f"{WORKER}/{name}/{path}": text for path, text in code.items()}
    return WorkerFiles(own | starts, settings, _TEMPLATES.render("release.js", values), running)


def worker_rules(table: ManifestReader) -> dict[str, object]:
    """The rules as JSON. They hold digests of API keys, so they are part of the worker and of no public file."""
    return {
        **table.rules.dump(),
        "keys": dict(table.keys),
        "types": pack_format.TYPES,
        "errors": {
            "messages": {str(status): text for status, text in errors.MESSAGES.items()},
            "details": errors.DETAILS,
            "bad_parameters": errors.BAD_PARAMETERS,
            "pages": {str(status): policies.error_page(text) for status, text in errors.MESSAGES.items()},
        },
        "policies": {
            "pages": policies.page_policy(table.rules.image_origins),
            "docs": policies.DOCS_POLICY,
            "svg": policies.SVG_POLICY,
            "worker": policies.worker_policy(table.rules.image_origins),
        },
    }


def worker_name(base_url: str) -> str:
    """A name for the worker that Cloudflare accepts, from the host of the site."""
    name = re.sub(r"[^a-z0-9]+", "-", (urlsplit(base_url).hostname or "").lower()).strip("-")
    return name[:50].strip("-") or "flatpanel"


def write(target: Path, files: WorkerFiles, earlier: Mapping[str, str]) -> Mapping[str, str]:
    """Write the files, the pointer last; returns the digests of the settings as this program wrote them.

    `earlier` has the digests of the settings that it wrote before.
    """
    written, present = dict(earlier), _modules(target)
    refuse_links(target, {*present, *files.modules})
    for file in files.settings.keys() - changed_by_others(target, files, earlier):
        write_if_changed(target / file, files.settings[file])
        written[file] = encoding.sha256(files.settings[file])
    for path, text in files.modules.items():
        write_if_changed(target / path, text)
    # workerd gets both versions of the code until the pointer has changed.
    write_if_changed(target / WORKERD, _workerd_config({*present, *files.modules}))
    write_if_changed(target / RUNNING, files.running)
    write_if_changed(target / POINTER, files.pointer)
    write_if_changed(target / WORKERD, _workerd_config(files.modules))
    for path in present - files.modules.keys():
        delete_file(target / path)
        remove_empty_folders((target / path).parent)
    return dict(sorted(written.items()))


def changed_by_others(target: Path, files: WorkerFiles, earlier: Mapping[str, str]) -> list[str]:
    """The settings in the folder that this program has not written."""
    texts = {file: read_regular(target / file) for file in SETTINGS}
    return [
        file
        for file, text in texts.items()
        if text not in (None, files.settings[file]) and encoding.sha256(text or b"") != earlier.get(file)
    ]


def _modules(target: Path) -> set[str]:
    """The modules of all versions in the folder."""
    paths = target.glob(f"{WORKER}/*/*.js")
    return {path.relative_to(target).as_posix() for path in paths if _CODE.fullmatch(path.parent.name)}


def _workerd_config(paths: Iterable[str]) -> bytes:
    # The first module is the one that workerd starts.
    start, *unused = (f"{WORKER}/{name}" for name in _STARTS)
    others = sorted({*paths, POINTER} - {start, *unused})
    return _TEMPLATES.render(WORKERD, {"modules": [start, *others], "date": encoding.json_text(COMPATIBILITY_DATE)})
