"""`media`: list, check and fetch the images that the catalog names, and report what differs."""

import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from .. import __version__, installation
from ..catalog import field_values
from ..catalog.confined_folder import ConfinedFolder
from ..errors import FlatpanelError
from ..media import findings_report, folder_check, image_sizes, moves, named_files, size_file
from ..media.findings_report import count_of_files, mebibytes
from ..media.folder_check import Finding
from ..media.named_files import RESTRICTIONS, MediaFile, NamedMedia
from ..media.source import Fetcher, SourceChecker, existing
from ..reading_sites.site_client import SiteClient
from ..server_url import ServerUrl
from . import options
from .help import CommandGroup
from .importing import Rate, shown
from .output import counter, print_data, print_json, print_lines
from .reporting import EXIT_PROBLEMS, handle_errors

_AGENT = f"flatpanel/{__version__} (copies or checks the images of a catalog)"
# MiB of one image.
_MAX_IMAGE = 64


class MediaUrl(click.ParamType[ServerUrl]):
    """The URL of the media of a site."""

    name = "URL"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ServerUrl:
        try:
            return ServerUrl.of(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


_leave_out = click.option(
    "--leave-out",
    type=click.Choice(RESTRICTIONS),
    multiple=True,
    help="Leave out pages of such chapters; may be repeated.",
)
_source = click.option("--source", type=MediaUrl(), help="URL of the media.  [default: media of site.yaml]")
_all = click.option("--all", "shows_all", is_flag=True, help="Print every file instead of examples.")
_rate = click.option("--rate", type=Rate(0.001, 100), default=5, show_default=True, help="Maximum requests per second.")


@click.group(cls=CommandGroup)
def media() -> None:
    """List, check and fetch the images."""


@media.command("list", examples=["media list", "media list --urls --source https://comics.example/media/"])
@options.catalog
@_leave_out
@click.option("--urls", is_flag=True, help="Print the URL of each file, too, after a tab.")
@_source
@click.option("--elsewhere", is_flag=True, help="Print the URLs of images on other hosts instead.")
@options.as_json
@handle_errors
def list_(
    catalog: ConfinedFolder,
    leave_out: tuple[str, ...],
    urls: bool,
    source: ServerUrl | None,
    elsewhere: bool,
    as_json: bool,
) -> None:
    """List the files that the catalog names.

    Prints paths below the media root, one per line, as `rsync --files-from` reads them.
    """
    named = named_files.read(catalog, options.now()).without(leave_out)
    root = f"{source}/" if source else named.root
    if as_json:
        files = [{**_facts(file), "url": root + named_files.url_path(file.path)} for file in named.files.values()]
        others = [{**_facts(file), "path": None, "url": url} for url, file in named.elsewhere.items()]
        print_json({"ok": True, "root": root, "files": files, "elsewhere": others})
        return
    if elsewhere:
        print_data(named.elsewhere)
        return
    print_data(_line(path, root if urls else "") for path in named.files)
    if named.elsewhere:
        count = len(named.elsewhere)
        print_lines(f"{count:,} images are on other hosts; --elsewhere lists their URLs", err=True)


def _facts(file: MediaFile) -> dict[str, object]:
    restrictions = {name: name in file.restrictions for name in RESTRICTIONS}
    return {"path": file.path, "kind": file.kind, "owner": file.owner, **restrictions}


def _line(path: str, root: str) -> str:
    """Return a path, and its URL below a root. rsync takes a line that begins with # or ; for a comment."""
    line = f"./{path}" if path.startswith(("#", ";")) else path
    return f"{line}\t{root}{named_files.url_path(path)}" if root else line


@media.command(examples=["media check media", "media check media --moves", "media check https://comics.example/media/"])
@options.catalog
@click.argument("target", metavar="[DIR|URL]", default="")
@_leave_out
@click.option("--moves", "prints_moves", is_flag=True, help="Print a shell script that moves misplaced files.")
@click.option("--write-sizes", "writes_sizes", is_flag=True, help="Write the sizes of pages into sizes.yaml.")
@click.option("--after", metavar="PATH", help="Continue a check of a server after this file of `media list`.")
@_all
@_rate
@options.timeout
@options.as_json
@handle_errors
def check(
    catalog: ConfinedFolder,
    target: str,
    leave_out: tuple[str, ...],
    prints_moves: bool,
    writes_sizes: bool,
    after: str | None,
    rate: float,
    timeout: float,
    as_json: bool,
    shows_all: bool,
) -> None:
    """Check the images in a folder or on a server.

    Exits with 1 if a file that the catalog names is missing or unreadable. The default is the media_folder of
    site.yaml.
    """
    named = named_files.read(catalog, options.now())
    required = named.without(leave_out)
    if field_values.is_url(target):
        if prints_moves or writes_sizes:
            raise click.UsageError(f"{'--moves' if prints_moves else '--write-sizes'} needs a folder, not a URL")
        with _client(_server(target), rate, timeout) as client:
            _check_server(client, _remaining(list(required.files), after), as_json=as_json, shows_all=shows_all)
    elif after is not None:
        raise click.UsageError("--after needs a URL, not a folder")
    else:
        folder = _folder(target, named)
        sized = catalog if writes_sizes else None
        _check_folder(folder, named, required, sized, prints_moves=prints_moves, as_json=as_json, shows_all=shows_all)


def _server(url: str) -> ServerUrl:
    server: ServerUrl = MediaUrl().convert(url, None, click.get_current_context())
    return server


def _remaining(paths: list[str], after: str | None) -> list[str]:
    if after is None:
        return paths
    if after not in paths:
        raise click.UsageError(f"--after: the list has no file {after}")
    return paths[paths.index(after) + 1 :]


def _check_server(client: SiteClient, paths: list[str], *, as_json: bool, shows_all: bool) -> None:
    checker = SourceChecker(client)
    try:
        with counter("requesting", len(paths), quiet=as_json) as progress:
            checker.check(paths, progress)
    except (FlatpanelError, KeyboardInterrupt):
        if checker.last:
            print_findings(checker.findings, shows_all)
            print_lines(f"continue with --after {shlex.quote(checker.last)}", err=True)
        raise
    findings = checker.findings
    summary = f"{client.site}/: {len(paths) - len(findings):,} of {len(paths):,} files are there"
    print_report(MediaReport(summary, findings, {"requests": client.requests}, ok=not findings), as_json, shows_all)


def _folder(path: str, named: NamedMedia) -> Path:
    if path:
        return Path(path)
    if named.folder is None:
        raise click.UsageError("name the folder of the images: site.yaml has no media_folder")
    return shown(named.folder)


def _check_folder(
    path: Path,
    named: NamedMedia,
    required: NamedMedia,
    sized: ConfinedFolder | None,
    *,
    prints_moves: bool,
    as_json: bool,
    shows_all: bool,
) -> None:
    """Check a folder, and write the sizes of pages into the catalog `sized`."""
    measure = image_sizes.measuring()
    if sized and not measure:
        raise FlatpanelError(not_measured())
    with counter("checking", len(required.files), quiet=as_json or prints_moves) as progress:
        result = folder_check.check(ConfinedFolder(path), named, required, measure, progress)
    chapters = size_file.write(sized, result.sizes) if sized else None
    if prints_moves:
        print_data(moves.script(path.absolute(), result.moves))
        return
    summary = f"{path}: {result.present:,} of {result.named:,} files that the catalog names, {mebibytes(result.size)}"
    facts = {
        "named": result.named,
        "present": result.present,
        "bytes": result.size,
        "moves": [asdict(move) for move in result.moves],
        "sizes": {name: list(pixels) for name, pixels in result.sizes.items()} if measure else None,
        "chapters_with_sizes": chapters,
    }
    sizes = list(findings_report.size_lines(result.sizes, named.files)) if measure else [not_measured()]
    sizes += [] if chapters is None else [SIZES_WRITTEN.format(chapters)]
    print_report(MediaReport(summary, result.findings, facts, result.ok, sizes), as_json, shows_all)


@media.command(examples=["media fetch media --source https://comics.example/media/"])
@options.catalog
@click.argument("folder", metavar="[DIR]", default="", type=click.Path(file_okay=False))
@_source
@_leave_out
@click.option("--update", "updates", is_flag=True, help="Also request files that exist; replace changed ones.")
@click.option("--dry-run", "dry", is_flag=True, help="Print what would be fetched; request and write nothing.")
@_rate
@options.timeout
@click.option(
    "--max-response",
    type=click.IntRange(1, 4096),
    default=_MAX_IMAGE,
    show_default=True,
    metavar="MIB",
    help="Largest image.",
)
@click.option(
    "--max-total", type=click.IntRange(1), default=100, show_default=True, metavar="GIB", help="Limit of one run."
)
@_all
@options.as_json
@handle_errors
def fetch(
    catalog: ConfinedFolder,
    folder: str,
    source: ServerUrl | None,
    leave_out: tuple[str, ...],
    updates: bool,
    dry: bool,
    rate: float,
    timeout: float,
    max_response: int,
    max_total: int,
    as_json: bool,
    shows_all: bool,
) -> None:
    """Copy the images from a server into a folder.

    DIR, or the media_folder of site.yaml, gets the files that the catalog names. Complete images in it are not
    fetched again, so an interrupted copy continues when the command is run again.
    """
    named = named_files.read(catalog, options.now()).without(leave_out)
    target, server = ConfinedFolder(_folder(folder, named)), source or _server(named.root)
    if dry:
        _print_plan(target, server, list(named.files), updates=updates, as_json=as_json, shows_all=shows_all)
        return
    client = _client(server, rate, timeout, max_response << 20, max_total << 30)
    with client as connected, counter("fetching", len(named.files), quiet=as_json) as progress:
        result = Fetcher(connected, target, updates).fetch(named.files, progress)
    summary = f"{target}: fetched {count_of_files(result.fetched)}, {mebibytes(result.size)}; kept {result.kept:,}"
    facts = {"fetched": result.fetched, "kept": result.kept, "bytes": result.size}
    print_report(MediaReport(summary, result.findings, facts, ok=not result.findings), as_json, shows_all)


def _print_plan(
    folder: ConfinedFolder, server: ServerUrl, paths: list[str], *, updates: bool, as_json: bool, shows_all: bool
) -> None:
    wanted = [path for path in paths if updates or existing(folder, path) is None]
    summary = f"{folder}: would request {len(wanted):,} of {len(paths):,} files from {server}/"
    findings = [Finding("request", path) for path in wanted]
    print_report(MediaReport(summary, findings, {"paths": wanted}, ok=True), as_json, shows_all)


@contextmanager
def _client(
    server: ServerUrl, rate: float, timeout: float, size: int = _MAX_IMAGE << 20, total: int = sys.maxsize
) -> Iterator[SiteClient]:
    client = SiteClient(server, time.monotonic, time.sleep, 1 / rate, timeout, size, _AGENT, "image/*")
    client.max_requests, client.max_bytes = sys.maxsize, total
    try:
        yield client
    finally:
        client.close()


# The report of `media check` and `media fetch`

# Headings of findings that need more than the name of their kind.
_LABELS = {
    "moved": "moved, with their place in the folder (--moves prints the commands that mend it)",
    "other format": "of another format than their extension states; sent with the wrong type",
    "extra": "extra: images that the catalog does not name",
    "no image": "no image: not served",
    "link": "link: not followed",
    "request": "to request",
}
SIZES_WRITTEN = "sizes.yaml: {:,} chapters with sizes of pages"


def not_measured() -> str:
    return f"sizes: not measured, which needs the library imagesize; install it: {installation.how_to_add('imagesize')}"


@dataclass(frozen=True, slots=True)
class MediaReport:
    """The result of a command: a line, the findings, and more facts for JSON or lines for people."""

    summary: str
    findings: Sequence[Finding]
    facts: Mapping[str, object]
    ok: bool
    more: Sequence[str] = ()


def print_report(report: MediaReport, as_json: bool, shows_all: bool) -> None:
    if as_json:
        print_json({"ok": report.ok, **report.facts, "findings": [asdict(finding) for finding in report.findings]})
    else:
        print_lines(report.summary)
        print_findings(report.findings, shows_all)
        print_lines(*report.more)
    if not report.ok:
        raise SystemExit(EXIT_PROBLEMS)


def print_findings(findings: Sequence[Finding], shows_all: bool) -> None:
    print_lines(*findings_report.lines(findings, _LABELS, shows_all=shows_all))
