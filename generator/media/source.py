"""Check and fetch media on a server: one polite request after the other."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from io import BytesIO

from .. import encoding, filesystem
from ..catalog import confined_folder
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.linking import ARCHIVE_TYPE, is_archive
from ..reading_sites.lenient import UnusableResponse, last_modified
from ..reading_sites.site_client import SiteClient, TimedResponse
from . import image_content
from .folder_check import Finding
from .named_files import url_path

_MISSING = (404, 410)
# A server that does not know HEAD: a request for the first byte instead.
_NO_HEAD = (405, 501)
_FIRST_BYTE = {"Range": "bytes=0-0"}
_UNSATISFIABLE = 416

Progress = Callable[[int], None]


@dataclass(slots=True)
class SourceChecker:
    """Requests the headers of files."""

    client: SiteClient
    # One for each file that the server does not send as an image.
    findings: list[Finding] = field(default_factory=list)
    # The last file that was checked.
    last: str = ""
    _knows_head: bool = True

    def check(self, paths: Iterable[str], progress: Progress) -> list[Finding]:
        for path in paths:
            self.findings += self._findings(path)
            self.last = path
            progress(1)
        return self.findings

    def _findings(self, path: str) -> list[Finding]:
        try:
            response = self._headers(f"/{url_path(path)}")
        except UnusableResponse as error:
            return [Finding("unusable", path, str(error))]
        if _is_empty(response):
            return [Finding("empty", path)]
        return _faults(path, response)

    def _headers(self, target: str) -> TimedResponse:
        if self._knows_head:
            response = self.client.request("HEAD", target, {})
            if response.status not in _NO_HEAD:
                return response
            self._knows_head = False
        return self.client.request("GET", target, _FIRST_BYTE)


def _is_empty(response: TimedResponse) -> bool:
    """Whether a response states that the file has no bytes."""
    is_zero = response.status == 200 and response.headers.get("content-length") == "0"
    return is_zero or response.status == _UNSATISFIABLE


def _faults(path: str, response: TimedResponse) -> list[Finding]:
    """Return the finding for a status or a type that is not that of an image."""
    if response.status in _MISSING:
        return [Finding("missing", path)]
    if response.status not in (200, 206):
        return [Finding("unusable", path, f"status {response.status}")]
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    # SVG may contain scripts.
    if kind != ARCHIVE_TYPE if is_archive(path) else (not kind.startswith("image/") or "svg" in kind):
        return [Finding("unreadable", path, f"is sent as {kind or 'no type'}")]
    return []


@dataclass(slots=True)
class FetchResult:
    """The numbers of files that were fetched or kept, the bytes, and a finding for each file that is not there."""

    fetched: int = 0
    kept: int = 0
    size: int = 0
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Copies files of a server into a folder. A file gets its name when it is complete."""

    client: SiteClient
    folder: ConfinedFolder
    # Whether files that exist are requested, too, and replaced if the server has other ones.
    updates: bool = False

    def fetch(self, paths: Iterable[str], progress: Progress) -> FetchResult:
        filesystem.make_folder(self.folder.path)
        result = FetchResult()
        with filesystem.exclusive(self.folder):
            for path in paths:
                self._fetch(path, result)
                progress(1)
        return result

    def _fetch(self, path: str, result: FetchResult) -> None:
        modified = existing(self.folder, path)
        if modified is not None and not self.updates:
            result.kept += 1
            return
        conditions = {} if modified is None else {"If-Modified-Since": encoding.http_date(modified)}
        try:
            response = self.client.get(f"/{url_path(path)}", conditions)
        except UnusableResponse as error:
            result.findings.append(Finding("unusable", path, str(error)))
            return
        if conditions and response.status == 304:
            result.kept += 1
            return
        findings = _faults(path, response) or _body_faults(path, response.body)
        result.findings += findings
        if not findings:
            self.folder.write(path, response.body, last_modified(response.headers))
            result.fetched += 1
            result.size += len(response.body)


def existing(folder: ConfinedFolder, path: str) -> int | None:
    """Return the mtime of a complete image; None if there is none. A link that leads out of the folder raises."""
    try:
        with confined_folder.reading(folder, path) as file:
            return None if image_content.examine(file).fault else int(os.fstat(file.fileno()).st_mtime)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _body_faults(path: str, body: bytes) -> list[Finding]:
    fault = image_content.examine(BytesIO(body)).fault
    return [Finding("unreadable" if body else "empty", path, fault)] if fault else []
