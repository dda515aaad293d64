"""`media`: list, check, fetch and shrink the images that the catalog names, archive chapters, report what differs."""

import os
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click

from .. import __version__, installation
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.linking import TOLD_BY_ARCHIVES
from ..catalog.media_folder import overlap
from ..catalog.problems.load import load_valid
from ..errors import FlatpanelError, counted
from ..media import findings_report, folder_check, image_copies, image_sizes, moves, named_files, size_file
from ..media.archives import Archiver, ArchivesResult
from ..media.findings_report import mebibytes
from ..media.folder_check import Finding
from ..media.named_files import RESTRICTIONS, MediaFile, NamedMedia
from ..media.source import Fetcher, SourceChecker, existing
from ..media.variants import VariantsWriter
from ..reading_sites.site_client import SiteClient
from ..release.store import Store
from ..server_url import ServerUrl
from . import options
from .command import CommandGroup, Result, show
from .importing import Rate, Url, shown
from .output import Line, counter, note, output_format

_AGENT = f"flatpanel/{__version__} (copies or checks the images of a catalog)"
# MiB of one image.
_MAX_IMAGE = 64


_leave_out = click.option(
    "--leave-out",
    type=click.Choice(RESTRICTIONS),
    multiple=True,
    help="Leave out pages of such chapters; may be repeated.",
)
_source = click.option("--source", type=Url(ServerUrl.of), help="URL of the media.  [default: media of site.yaml]")
_all = click.option("--all", "shows_all", is_flag=True, help="Print every file instead of examples.")
_rate = click.option("--rate", type=Rate(0.001, 100), default=5, show_default=True, help="Maximum requests per second.")


@click.group(cls=CommandGroup)
def media() -> None:
    """List, check, fetch, shrink, archive images."""


@media.command("list", examples=["media list", "media list --urls --source https://comics.example/media/"])
@options.catalog
@_leave_out
@click.option("--urls", is_flag=True, help="Print the URL of each file, too, after a tab.")
@_source
@click.option("--elsewhere", is_flag=True, help="Print the URLs of images on other hosts instead.")
@options.as_json
def list_(
    catalog: ConfinedFolder,
    leave_out: tuple[str, ...],
    urls: bool,
    source: ServerUrl | None,
    elsewhere: bool,
) -> Result:
    """List the files that the catalog names.

    Prints paths below the media root, one per line, as `rsync --files-from` reads them.
    """
    named = named_files.read(catalog, options.now()).without(leave_out)
    root = f"{source}/" if source else named.root
    return Result(
        lambda: named.elsewhere if elsewhere else _list_lines(named, root if urls else ""),
        lambda: _list_json(named, root),
        is_data=True,
    )


def _list_lines(named: NamedMedia, root: str) -> Iterator[str | Line]:
    yield from (_line(path, root) for path in named.files)
    if named.elsewhere:
        yield note(f"{counted(len(named.elsewhere), 'image')} on other hosts; use --elsewhere to list URLs")


def _list_json(named: NamedMedia, root: str) -> dict[str, object]:
    files = [{**_facts(file), "url": root + named_files.url_path(file.path)} for file in named.files.values()]
    others = [{**_facts(file), "path": None, "url": url} for url, file in named.elsewhere.items()]
    return {"ok": True, "root": root, "files": files, "elsewhere": others}


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
def check(
    catalog: ConfinedFolder,
    target: str,
    leave_out: tuple[str, ...],
    prints_moves: bool,
    writes_sizes: bool,
    after: str | None,
    rate: float,
    timeout: float,
    shows_all: bool,
) -> Result:
    """Check the images in a folder or on a server.

    Exits with 1 if a file that the catalog names is missing or unreadable. The default is the media_folder of
    site.yaml.
    """
    named = named_files.read(catalog, options.now())
    required = named.without(leave_out)
    if "://" in target:
        if prints_moves or writes_sizes:
            raise click.UsageError(f"{'--moves' if prints_moves else '--write-sizes'} needs a folder, not a URL")
        with _client(_server(target), rate, timeout) as client:
            return _check_server(client, _remaining(list(required.files), after), shows_all=shows_all)
    if after is not None:
        raise click.UsageError("--after needs a URL, not a folder")
    folder, sized = _folder(target, named.folder), catalog if writes_sizes else None
    return _check_folder(folder, named, required, sized, prints_moves=prints_moves, shows_all=shows_all)


def _server(url: str) -> ServerUrl:
    server: ServerUrl = Url(ServerUrl.of).convert(url, None, click.get_current_context())
    return server


def _remaining(paths: list[str], after: str | None) -> list[str]:
    if after is None:
        return paths
    if after not in paths:
        raise click.UsageError(f"--after: the list has no file {after}")
    return paths[paths.index(after) + 1 :]


def _check_server(client: SiteClient, paths: list[str], *, shows_all: bool) -> Result:
    checker = SourceChecker(client)
    try:
        with counter("requesting", len(paths)) as progress:
            checker.check(paths, progress)
    except (FlatpanelError, KeyboardInterrupt):
        if checker.last:
            # As JSON, stdout has the error alone.
            lines = [] if output_format() == "json" else _finding_lines(checker.findings, shows_all=shows_all)
            show([*lines, note(f"continue with --after {shlex.quote(checker.last)}")])
        raise
    findings = checker.findings
    summary = f"{client.site}/: {len(paths) - len(findings):,} of {len(paths):,} files are there"
    return _report(summary, findings, {"requests": client.requests}, ok=not findings, shows_all=shows_all)


def _folder(path: str, own: Path | None) -> Path:
    """The folder of an argument, or else that of site.yaml."""
    if path:
        return Path(path)
    if own is None:
        raise click.UsageError("name the folder of the images: site.yaml has no media_folder")
    return shown(own)


def _target(path: str, catalog: ConfinedFolder, own: Path | None) -> ConfinedFolder:
    """The folder into which a command writes: neither the catalog, nor a built site, which are named by mistake."""
    folder = _folder(path, own)
    if overlap(os.path.realpath(folder), os.path.realpath(catalog.path)):
        raise FlatpanelError(f"{folder}: is in the catalog or contains it; name the folder of the images")
    if Store(folder).current():
        raise FlatpanelError(f"{folder}: is a built site; name the folder of the images")
    return ConfinedFolder(folder)


def _check_folder(
    path: Path,
    named: NamedMedia,
    required: NamedMedia,
    sized: ConfinedFolder | None,
    *,
    prints_moves: bool,
    shows_all: bool,
) -> Result:
    """Check a folder, and write the sizes of pages into the catalog `sized`."""
    measure = image_sizes.measuring()
    if sized and not measure:
        raise FlatpanelError(not_measured())
    with counter("checking", len(required.files), quiet=prints_moves) as progress:
        result = folder_check.check(ConfinedFolder(path), named, required, measure, progress)
    chapters = size_file.write(sized, result.sizes) if sized else None
    if prints_moves and output_format() != "json":
        return Result(lambda: moves.script(path.absolute(), result.moves), is_data=True)
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
    sizes += [] if chapters is None else [SIZES_WRITTEN.format(counted(chapters, "chapter"))]
    return _report(summary, result.findings, facts, ok=result.ok, shows_all=shows_all, more=sizes)


@media.command(examples=["media variants", "media variants media --pages"])
@options.catalog
@click.argument("folder", metavar="[DIR]", default="", type=click.Path(file_okay=False))
@click.option("--pages", is_flag=True, help="Also write copies of pages, 800 and 1200 pixels wide.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 256),
    default=lambda: os.cpu_count() or 1,
    show_default="number of CPUs",
    help="Number of threads.",
)
@_all
@options.as_json
def variants(catalog: ConfinedFolder, folder: str, pages: bool, jobs: int, shows_all: bool) -> Result:
    """Write smaller copies of the images.

    DIR, or the media_folder of site.yaml, gets WebP copies of the covers, 160, 320 and 480 pixels wide, where they
    are smaller than the image. variants.yaml in the catalog records them, and the next build uses them.
    """
    copier = image_copies.copier()
    if not copier:
        raise FlatpanelError(
            f"copies of images need the library Pillow; install it: {installation.how_to_add('pillow')}"
        )
    named = named_files.read(catalog, options.now())
    target = _target(folder, catalog, named.folder)
    writer = VariantsWriter(catalog, target, named, copier)
    images = writer.wanted(pages=pages)
    with counter("converting", len(images)) as progress:
        result = writer.write(images, jobs, progress)
    summary = (
        f"{target}: wrote {counted(result.written, 'file')}, {mebibytes(result.size)}; removed"
        f" {counted(result.removed, 'file')}; {result.kept:,} of {len(images):,} images had theirs already"
    )
    facts = {"written": result.written, "bytes": result.size, "kept": result.kept, "removed": result.removed}
    return _report(summary, result.findings, facts, ok=result.ok, shows_all=shows_all)


@media.command(examples=["media archives", "media archives media --dry-run"])
@options.catalog
@click.argument("folder", metavar="[DIR]", default="", type=click.Path(file_okay=False))
@click.option("--dry-run", "dry", is_flag=True, help="Print what would be written and deleted; change nothing.")
@_all
@options.as_json
def archives(catalog: ConfinedFolder, folder: str, dry: bool, shows_all: bool) -> Result:
    """Write chapters as .cbz files.

    DIR, or the media_folder of site.yaml, gets an archive of each chapter that all readers get; archives of other
    chapters are deleted. archives.yaml in the catalog records them, and the next build offers them.
    """
    sources = load_valid(catalog)
    target = _target(folder, catalog, named_files.folder_of(catalog, sources))
    archiver = Archiver(catalog, sources, target, options.now())
    if not (archiver.is_on or archiver.recorded or archiver.obsolete()):
        routes = ", ".join(sorted(TOLD_BY_ARCHIVES))
        raise FlatpanelError(
            f"{catalog}/site.yaml: the site has no archives; add apps: [archives], and restrict none of the routes that"
            f" archives tell: {routes}"
        )
    with counter("archiving", len(archiver.wanted)) as progress:
        result = archiver.plan(progress) if dry else archiver.write(progress)
    facts = {"written": result.written, "bytes": result.size, "kept": result.kept, "removed": result.removed}
    facts = {"dry_run": dry, **facts, "without": archiver.without}
    return _report(
        _archives_line(target, archiver, result, dry), result.findings, facts, ok=result.ok, shows_all=shows_all
    )


def _archives_line(target: ConfinedFolder, archiver: Archiver, result: ArchivesResult, dry: bool) -> str:
    written = counted(result.written, "file") + ("" if dry else f", {mebibytes(result.size)}")
    verbs = ("would write", "would delete") if dry else ("wrote", "deleted")
    others = counted(archiver.without, "chapter")
    without = f"; {others} without id or pages, or with pages on other hosts" if archiver.without else ""
    return (
        f"{target}: {verbs[0]} {written}; {verbs[1]} {counted(result.removed, 'file')};"
        f" {result.kept:,} of {len(archiver.wanted):,} chapters had theirs already{without}"
    )


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
    shows_all: bool,
) -> Result:
    """Copy the images from a server into a folder.

    DIR, or the media_folder of site.yaml, gets the images that the catalog names. Complete images in it are not
    fetched again, so an interrupted copy continues when the command is run again.
    """
    named = named_files.read(catalog, options.now()).without(leave_out)
    target, server = _target(folder, catalog, named.folder), source or _server(named.root)
    if dry:
        return _plan(target, server, named.images, updates=updates, shows_all=shows_all)
    client = _client(server, rate, timeout, max_response << 20, max_total << 30)
    with client as connected, counter("fetching", len(named.images)) as progress:
        result = Fetcher(connected, target, updates).fetch(named.images, progress)
    summary = f"{target}: fetched {counted(result.fetched, 'file')}, {mebibytes(result.size)}; kept {result.kept:,}"
    facts = {"fetched": result.fetched, "kept": result.kept, "bytes": result.size}
    return _report(summary, result.findings, facts, ok=not result.findings, shows_all=shows_all)


def _plan(folder: ConfinedFolder, server: ServerUrl, paths: list[str], *, updates: bool, shows_all: bool) -> Result:
    wanted = [path for path in paths if updates or existing(folder, path) is None]
    summary = f"{folder}: would request {len(wanted):,} of {len(paths):,} files from {server}/"
    findings = [Finding("request", path) for path in wanted]
    return _report(summary, findings, {"paths": wanted}, ok=True, shows_all=shows_all)


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
    "extra": "extra: served, but not named by the catalog",
    "no image": "no image: not served",
    "link": "link: not followed",
    "request": "to request",
    "write": "to write",
    "delete": "to delete",
    "outdated": "outdated: images that have changed since their smaller copies were made (media variants)",
    "differs": "differs: archives that are not as archives.yaml records them (media archives)",
    "withdrawn": "withdrawn: archives that readers should not get any more (media archives deletes them)",
    "animated": "animated: without smaller copies, which would not move",
    "converted": "converted: the copies are upright, in 8-bit RGB",
}
SIZES_WRITTEN = "sizes.yaml: {} with sizes of pages"


def not_measured() -> str:
    return f"sizes: not measured, which needs the library imagesize; install it: {installation.how_to_add('imagesize')}"


def _report(
    summary: str,
    findings: Sequence[Finding],
    facts: Mapping[str, object],
    *,
    ok: bool,
    shows_all: bool,
    more: Sequence[str] = (),
) -> Result:
    """A line, the findings, and more lines for people; for programs the findings and more facts."""
    return Result(
        lambda: [summary, *_finding_lines(findings, shows_all=shows_all), *more],
        lambda: {"ok": ok, **facts, "findings": [asdict(finding) for finding in findings]},
        ok,
    )


def _finding_lines(findings: Sequence[Finding], *, shows_all: bool) -> Iterator[str]:
    return findings_report.lines(findings, _LABELS, shows_all=shows_all)
