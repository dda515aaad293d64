"""`serve`: build the site and serve it with nginx. With `--watch` or `--preview`, build again after each change."""

import ctypes
import dataclasses
import functools
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any, TypeAlias

import click
from click.core import ParameterSource

from .. import encoding, filesystem, server_url
from ..catalog import media_folder, reader, theme_files
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.site_settings import Site
from ..catalog.snapshot import Snapshot
from ..errors import FlatpanelError, escaped
from ..nginx import process
from ..nginx.config import MediaConf
from ..pipeline.build_options import Options
from ..pipeline.build_result import BuildResult
from ..pipeline.main_conf import local_media, media_conf
from ..release.store import Store
from ..templating import Templates
from . import building, options
from .command import Command, print_error, problem_records, sentences, show
from .output import Line, bold, note, with_timestamps

# Preview: files that nginx serves at /preview/, for the script of the pages in a browser

_FILES = Path(__file__).parent / "preview_files"
_TEMPLATES = Templates(_FILES)
_WITHOUT_PLACE: dict[str, Any] = {"file": "", "line": 0, "column": 0, "field": ""}


class PreviewStatus:
    """The release that is live, whether a build is running, and the problems of the catalog."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.release = folder, ""
        self.problems: list[dict[str, Any]] = []
        for name in ("preview.css", "preview.js"):
            filesystem.write(folder / name, (_FILES / name).read_bytes())
        self._write(building=True)

    def begin_build(self) -> None:
        self._write(building=True)

    def succeed(self, release: str) -> None:
        self.release, self.problems = release, []
        self._write()

    def fail(self, error: FlatpanelError | OSError) -> None:
        """The last release stays live; without any, nginx serves a page with the problems."""
        records = problem_records(error) or [_WITHOUT_PLACE | {"message": sentence} for sentence in sentences(error)]
        # A file name may have bytes that are no text.
        self.problems = [
            {name: escaped(value) if isinstance(value, str) else value for name, value in record.items()}
            for record in records
        ]
        self._write()

    def _write(self, *, building: bool = False) -> None:
        page = _TEMPLATES.render("problems.html", {"problems": self.problems})
        filesystem.replace(self.folder / "problems.html", page)
        state = {"release": self.release, "building": building, "problems": self.problems}
        filesystem.replace(self.folder / "state.json", encoding.json(state))


# Watch: wait for changes in folders, with inotify on Linux, elsewhere for a time.
# An event only ends the wait early. It misses changes in some file systems, and behind links to files; so `_Watch`
# compares the files after each wait.

# A file was closed after writing, moved out or in, or deleted. IN_CREATE is left out: a new file is still empty then.
_EVENTS = 0x8 | 0x40 | 0x80 | 0x200
_ONLY_FOLDERS = 0x01000000
# Seconds from the first event to the end of the wait: programs often write several files.
_MORE = 0.01


class FolderEvents:
    """The folders to watch. A folder that cannot be watched has no events."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None)
        start = getattr(self._library, "inotify_init1", None)
        # -1 without inotify, and if the user has too many of them.
        self._descriptor: int = start(os.O_CLOEXEC) if start else -1

    def watch(self, folders: Iterable[str | os.PathLike[str]]) -> None:
        """Watch these folders too; watching one twice has no effect."""
        for folder in folders if self._descriptor >= 0 else ():
            self._library.inotify_add_watch(self._descriptor, os.fsencode(folder), _EVENTS | _ONLY_FOLDERS)

    def wait(self, seconds: float) -> None:
        """Return after a change in a watched folder, and at the latest after this time."""
        watched = [self._descriptor] if self._descriptor >= 0 else []
        if select.select(watched, [], [], seconds)[0]:
            select.select([], [], [], _MORE)
            os.read(self._descriptor, 1 << 20)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


# Folder beside the cache, with one folder for each port whose build differs from the published one.
SERVED = ".flatpanel_serve"
# The port of a preview if site.yaml cannot be read.
_DEFAULT_PORT: int = Site.model_fields["port"].default
# How many changed series are named.
MAX_NAMED = 10
# A rebuild is repeated after a failure of the system, such as a full disk. A catalog with problems waits for an edit.
_RETRY_SECONDS = 60

Images: TypeAlias = Callable[[Site], MediaConf | None]
Hosts: TypeAlias = tuple[str, ...]


def _ip_addresses(context: click.Context, _parameter: click.Parameter, values: Hosts) -> Hosts:
    """Normalise the addresses. No names: one may have several addresses, and not those of this machine."""
    if values and context.params["preview"]:
        raise click.UsageError("--preview shows unpublished chapters, so it is for this machine only; omit --host")
    try:
        for value in values:
            if "%" in value:  # a zone may be any text, and nginx knows none
                raise ValueError(f"{value!r} has a zone, which nginx does not know")
        return tuple(dict.fromkeys(str(ip_address(value)) for value in values))
    except ValueError as error:
        raise click.BadParameter(f"{error}; pass an address of this machine") from None


@click.command(
    cls=Command,
    examples=["serve", "serve --watch", "serve --preview", "serve --host 0.0.0.0 --port 8080 --media ~/comics/media"],
)
@options.catalog
@options.out
@options.nginx
@options.cache
@options.as_of
@options.jobs
@click.option("--port", type=click.IntRange(1, 65535), show_default="port in site.yaml", help="Port of nginx.")
@click.option(
    "--host",
    "hosts",
    metavar="ADDRESS",
    multiple=True,
    callback=_ip_addresses,
    help="IP address of nginx, so that other machines can open the site; 0.0.0.0 and :: are all addresses.  "
    "[default: 127.0.0.1 and ::1]",
)
@click.option("--watch", is_flag=True, help="Rebuild and reload after every change.")
# Eager, because --host needs its value.
@click.option("--preview", is_flag=True, is_eager=True, help="Show scheduled and restricted chapters; implies --watch.")
@click.option(
    "--media",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the images.  [default: media_folder in site.yaml]",
)
def serve(
    catalog: ConfinedFolder,
    out: Path,
    nginx: Path,
    cache: Path | None,
    as_of: int,
    jobs: int,
    port: int | None,
    hosts: Hosts,
    watch: bool,
    preview: bool,
    media: Path | None,
) -> None:
    """Build the site and serve it with nginx.

    nginx runs in the foreground; Ctrl-C stops it. Only this machine can open the site, unless --host is given.
    """
    _end_with_nginx()
    requested = Options(catalog, out, nginx, as_of, jobs=jobs, cache=cache, local=True, preview=preview)
    before = theme_files.snapshot_with_theme(catalog)
    site = reader.read_site(catalog)
    if site or preview:
        port = port or (site.port if site else _DEFAULT_PORT)
        process.addresses(port, hosts)
    images = functools.partial(_images, requested, media)
    local = _local_options(requested, site, port, images)
    if local.base_url and not preview:
        show([f"building for {local.base_url} in {local.out.parent}; {out} is for {site and site.base_url}"])
    with ExitStack() as opened:
        status = PreviewStatus(opened.enter_context(filesystem.scratch_folder(shared=True))) if preview else None
        result = _first_build(local, status)
        port = port or (result.site.port if result else _DEFAULT_PORT)
        server = process.Server(
            Store(local.out, preview=preview),
            result.dist if result else None,
            port,
            lambda line: show([note(line)]),
            images(result.site) if result else None,
            status.folder if status else None,
            hosts,
        )
        with suppress(KeyboardInterrupt):
            running = opened.enter_context(server)
            show(_start_lines(running, hosts, result.site if result else None))
            if watch or preview:
                source = click.get_current_context().get_parameter_source("as_of")
                fixed = source is not ParameterSource.DEFAULT
                _Watch(requested, images, running, status, result, fixed=fixed).run(before)
            running.process.wait()
            running.check_end()


def _end_with_nginx() -> None:
    """When this program or its terminal ends, nginx must end, too."""
    # Shells start background programs with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))


def _built(requested: Options) -> BuildResult:
    site_build = building.build_site(requested)
    show(site_build.lines())
    return site_build.result


def _first_build(local: Options, status: PreviewStatus | None) -> BuildResult | None:
    """Build before nginx starts. A preview starts without a release if the catalog has problems."""
    try:
        result = _built(local)
    except (FlatpanelError, OSError) as error:
        if not status:
            raise
        print_error(error)
        status.fail(error)
        return None
    if status:
        status.succeed(result.release)
    return result


def _local_options(requested: Options, site: Site | None, port: int | None, images: Images) -> Options:
    """Options of a build in a folder of its own, for a preview or another base_url than the one that is served.

    Such a base_url is a loopback URL, or belongs to a preview whose images this server has, too.
    """
    base_url = server_url.local_base_url(site.base_url, port) if site and port else None
    if site and requested.preview and site.media.startswith("/") and images(site):
        base_url = base_url if server_url.is_loopback(site.base_url) else f"http://localhost:{port}"
    if not requested.preview and (not site or not base_url or base_url == site.base_url):
        return requested
    name = f"preview-{port}" if requested.preview else str(port)
    folder = (requested.cache or requested.out).absolute().parent / SERVED / name
    cache = requested.cache and folder / "cache"
    return dataclasses.replace(
        requested, base_url=base_url, out=folder / "dist", nginx=folder / "nginx.conf", cache=cache
    )


def _start_lines(server: process.Server, hosts: Hosts, site: Site | None) -> Iterator[str | Line]:
    if server.status:
        yield "this preview shows chapters that are not published yet"
    if images := server.media:
        missing = "" if Path(images.folder).is_dir() else ", which does not exist"
        yield f"serving images at {images.location} from {images.folder}{missing}"
    is_local = all(ip_address(host).is_loopback for host in hosts)
    access = "only this machine can open it (see --host)" if is_local else "other machines can open it"
    yield f"listening on {' and '.join(server.listen)}: {access}"
    is_at_localhost = not hosts or ip_address(hosts[0]).is_unspecified
    address = f"localhost:{server.port}" if is_at_localhost else server.listen[0]
    yield bold(f"serving http://{address}/ (Ctrl-C stops)")
    if site and not (is_local and server_url.is_loopback(site.base_url)):
        yield f"links in responses lead to {site.base_url}, the base_url of the site"


def _images(requested: Options, folder: Path | None, site: Site) -> MediaConf | None:
    """The images in `folder`, or else in `media_folder` of site.yaml; None if neither is given."""
    location = media_folder.url_path(site)
    if folder:
        if not location:
            raise FlatpanelError(f"--media: media in site.yaml is {site.media}, which is on another host; omit --media")
        if fault := media_folder.url_path_fault(location):
            raise FlatpanelError(f"--media: {fault}")
    elif not site.media_folder or not location:
        return None
    else:
        folder = local_media(requested.catalog, site.media_folder)
    return media_conf(location, str(folder.absolute()), site)


class _Watch:
    """Rebuilds after each change and when a scheduled chapter is due, until nginx ends."""

    def __init__(
        self,
        requested: Options,
        images: Images,
        server: process.Server,
        status: PreviewStatus | None,
        result: BuildResult | None,
        *,
        fixed: bool,
    ) -> None:
        self.requested, self.images, self.server, self.status, self.fixed = requested, images, server, status, fixed
        self.next_publication = result.next_publication if result else None
        # When a failed rebuild is repeated.
        self.retry: int | None = None
        self.site = reader.read_site(requested.catalog)
        # The release that nginx was told to load last.
        self.release = result.release if result else None

    def run(self, before: Snapshot) -> None:
        with (
            closing(FolderEvents()) as events,
            with_timestamps(lambda: datetime.fromtimestamp(time.time()).strftime("%H:%M:%S ")),
        ):
            while self._wait(events, before):
                now = self._files()
                if now != before or self._is_due():
                    before = now
                    self._rebuild()

    def _files(self) -> Snapshot:
        """The files with their status. None if they cannot be listed, as in a circle of links: the build says why."""
        try:
            return theme_files.snapshot_with_theme(self.requested.catalog)
        except OSError:
            return ()

    def _wait(self, events: FolderEvents, files: Snapshot) -> bool:
        """Wait for a change of a file or of the current release, for at most 0.3 s. False if nginx has ended."""
        events.watch({os.path.join(self.requested.catalog, os.path.dirname(file)) for file, _ in files})
        events.wait(0.3)
        if self.release and self.server.store.current() not in (self.release, None):
            self._follow()
        return self.server.process.poll() is None

    def _follow(self) -> None:
        """Load the release that another command made the current one, such as a rollback."""
        try:
            self.release = self.server.store.release()
            self.server.reload()
            show([f"release {self.release} is live; another command made it the current one"])
        except FlatpanelError as error:
            print_error(error)

    def _is_due(self) -> bool:
        publication = None if self.fixed else self.next_publication
        return any(moment is not None and options.now() >= moment for moment in (publication, self.retry))

    def _rebuild(self) -> None:
        self.next_publication = self.retry = None
        if self.status:
            self.status.begin_build()
        try:
            result = self._build()
            if self.status:
                self.status.succeed(result.release)
            show([f"release {result.release} is live; {_changed_series(result.changed_series)}"])
        except (FlatpanelError, OSError) as error:
            if isinstance(error, OSError):
                self.retry = options.now() + _RETRY_SECONDS
            if self.status:
                self.status.fail(error)
            print_error(error)
            show([note(f"still serving {'the previous release' if self.server.dist else 'the problems'}")])

    def _build(self) -> BuildResult:
        server, requested = self.server, self.requested
        current = requested if self.fixed else dataclasses.replace(requested, as_of=options.now())
        # An unreadable site.yaml may be half written: keep the served folder.
        self.site = reader.read_site(requested.catalog) or self.site
        local = _local_options(current, self.site, server.port, self.images)
        result = _built(local)
        if local.out != server.store.root:
            show([f"serving {local.out} from now on: base_url is {result.site.base_url}"])
        server.media = self.images(result.site)
        server.store, server.dist = Store(local.out, preview=local.preview), result.dist
        self.release = result.release
        server.reload()
        self.next_publication = result.next_publication
        return result


def _changed_series(slugs: list[str]) -> str:
    more = f" and {len(slugs) - MAX_NAMED} more" if len(slugs) > MAX_NAMED else ""
    return f"changed series: {', '.join(slugs[:MAX_NAMED])}{more}" if slugs else "no series changed"
