"""`serve`: build the site and serve it with nginx."""

import dataclasses
import functools
import signal
import sys
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

import click

from ..catalog import loopback, reader, snapshot
from ..catalog.confined_folder import Folder
from ..catalog.site_settings import Site
from ..catalog.snapshot import Snapshot
from ..errors import FlatpanelError
from ..nginx import process
from ..pipeline.build_options import Options
from ..release.store import Store
from . import building, options
from .help import Command
from .output import print_lines, with_timestamps
from .reporting import handle_errors, print_error

# Folder beside the cache, with one folder for each port whose build differs from the published one.
SERVED = ".flatpanel_serve"
# How many changed series are named.
MAX_NAMED = 10


@click.command(cls=Command, examples=["serve", "serve --watch", "serve --port 8080"])
@options.catalog
@options.out
@options.nginx
@options.cache
@options.as_of
@options.jobs
@click.option("--port", type=click.IntRange(1, 65535), help="Port of nginx.  [default: port in site.yaml]")
@click.option("--watch", is_flag=True, help="Rebuild and reload after every change.")
@handle_errors
def serve(as_of: int | None, port: int | None, watch: bool, **paths: Any) -> None:
    """Build the site and serve it with nginx.

    nginx runs in the foreground; Ctrl-C stops it.
    """
    # When this program or its terminal ends, nginx must end, too.
    # Shells start background programs with SIGINT ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))
    requested = Options(as_of=options.now() if as_of is None else as_of, local=True, **paths)
    before = snapshot.take(requested.catalog)
    site = reader.read_site(requested.catalog)
    if site:
        port = port or site.port
        process.free_port(port)
    local = _local_options(requested, site, port)
    if local.base_url:
        print_lines(
            f"building for {local.base_url} in {local.out.parent}; {requested.out} is for {site and site.base_url}"
        )
    result = building.build_site(local)
    port = port or result.site.port
    try:
        with process.serving(Store(local.out), result.dist, port, functools.partial(print_lines, err=True)) as server:
            print_lines(f"serving http://localhost:{port}/ (Ctrl-C stops)", bold=True)
            if not loopback.is_loopback(result.site.base_url):
                print_lines(f"links in responses lead to {result.site.base_url}, the base_url of the site")
            if watch:
                _watch(requested, server, before, result.next_publication, fixed=as_of is not None)
            server.process.wait()
    except KeyboardInterrupt:
        return
    server.check_end()


def _local_options(requested: Options, site: Site | None, port: int | None) -> Options:
    """Options of a build in a folder of its own if base_url is a loopback URL other than the served one."""
    base_url = loopback.local_base_url(site.base_url, port) if site and port else None
    if not site or not base_url or base_url == site.base_url:
        return requested
    folder = (requested.cache or requested.out).absolute().parent / SERVED / str(port)
    cache = requested.cache and folder / "cache"
    return dataclasses.replace(
        requested, base_url=base_url, out=folder / "dist", nginx=folder / "nginx.conf", cache=cache
    )


def _watch(requested: Options, server: process.Server, before: Snapshot, due: int | None, *, fixed: bool) -> None:
    """Until nginx ends, rebuild after each change and when a scheduled chapter is due."""
    next_publication = due
    site = reader.read_site(requested.catalog)

    def wait() -> bool:
        time.sleep(0.3)
        return server.process.poll() is None

    def is_due() -> bool:
        return not fixed and next_publication is not None and options.now() >= next_publication

    def rebuild() -> None:
        nonlocal next_publication, site
        next_publication = None
        try:
            current = requested if fixed else dataclasses.replace(requested, as_of=options.now())
            # An unreadable site.yaml may be half written: keep the served folder.
            site = reader.read_site(requested.catalog) or site
            local = _local_options(current, site, server.port)
            result = building.build_site(local)
            if local.out != server.store.root:
                print_lines(f"serving {local.out} from now on: base_url is {result.site.base_url}")
            server.store, server.dist = Store(local.out), result.dist
            server.reload()
            next_publication = result.next_publication
            print_lines(f"release {result.release} is live; {_changed_series(result.changed_series)}")
        except (FlatpanelError, OSError) as error:
            print_error(error)
            print_lines("still serving the previous release", err=True)

    with with_timestamps(lambda: datetime.fromtimestamp(time.time()).strftime("%H:%M:%S ")):
        _watch_catalog(requested.catalog, before, wait, is_due, rebuild)


def _watch_catalog(
    folder: Folder, before: Snapshot, wait: Callable[[], bool], due: Callable[[], bool], changed: Callable[[], None]
) -> None:
    """Call `changed` when `folder` differs from `before` and when something is `due`, until `wait` returns False."""
    while wait():
        now = snapshot.take(folder)
        if now != before or due():
            before = now
            changed()


def _changed_series(slugs: list[str]) -> str:
    more = f" and {len(slugs) - MAX_NAMED} more" if len(slugs) > MAX_NAMED else ""
    return f"changed series: {', '.join(slugs[:MAX_NAMED])}{more}" if slugs else "no series changed"
