"""`serve`: nginx at work while somebody edits."""

import dataclasses
import functools
import signal
import sys
import time
from datetime import datetime
from typing import Any

import click

from ..catalog import loopback, reader, snapshot
from ..catalog.records import Site
from ..catalog.snapshot import Snapshot
from ..errors import FlatpanelError
from ..nginx import process as serving
from ..pipeline.run import Options
from ..release.store import Store
from . import build, options
from .output import print_lines, with_timestamps
from .reporting import handle_errors, print_error

# Beside the cache: a folder for each port at which something else is served than a build publishes.
SERVED = ".flatpanel_serve"
# How many of the series that changed are named.
NAMED = 10


@click.command()
@options.catalog
@options.out
@options.nginx
@options.cache
@options.as_of
@options.jobs
@click.option("--port", type=click.IntRange(1, 65535), help="[default: site.yaml's]")
@click.option("--watch", is_flag=True, help="Build again and reload after every change.")
@handle_errors
def serve(as_of: int | None, port: int | None, watch: bool, **paths: Any) -> None:
    """Build the site and run nginx on it in the foreground."""
    # Ending this program, or closing its terminal, must end nginx as well.
    # A shell starts what runs in its background deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: sys.exit(0))
    asked = Options(as_of=options.now() if as_of is None else as_of, local=True, **paths)
    before = snapshot.take(asked.catalog)
    site = reader.read_site(asked.catalog)
    if site:
        port = port or site.port
        serving.free_port(port)
    wanted = _placed(asked, site, port)
    if wanted.base_url:
        print_lines(
            f"building for {wanted.base_url} in {wanted.out.parent}; {asked.out} is for {site and site.base_url}"
        )
    report = build.run(wanted)
    port = port or report.site.port
    try:
        with serving.serving(Store(wanted.out), report.dist, port, functools.partial(print_lines, err=True)) as server:
            print_lines(f"serving http://localhost:{port}/ (Ctrl-C stops)", bold=True)
            if not loopback.is_loopback(report.site.base_url):
                print_lines(f"links in answers lead to {report.site.base_url}, the base_url of the site")
            if watch:
                _watch(asked, server, before, report.next_publication, fixed=as_of is not None)
            server.process.wait()
    except KeyboardInterrupt:
        return
    server.check_end()


def _placed(asked: Options, site: Site | None, port: int | None) -> Options:
    """Where base_url is another address of this machine, a build for this one, in a folder of its own."""
    base_url = loopback.local_base_url(site.base_url, port) if site and port else None
    if not site or not base_url or base_url == site.base_url:
        return asked
    folder = (asked.cache or asked.out).absolute().parent / SERVED / str(port)
    cache = asked.cache and folder / "cache"
    return dataclasses.replace(asked, base_url=base_url, out=folder / "dist", nginx=folder / "nginx.conf", cache=cache)


def _watch(asked: Options, server: serving.Server, before: Snapshot, due: int | None, *, fixed: bool) -> None:
    """Until nginx ends: build after every change, and when a scheduled chapter's time has come."""
    next_publication = due
    site = reader.read_site(asked.catalog)

    def wait() -> bool:
        time.sleep(0.3)
        return server.process.poll() is None

    def is_due() -> bool:
        return not fixed and next_publication is not None and options.now() >= next_publication

    def changed() -> None:
        nonlocal next_publication, site
        next_publication = None
        try:
            now = asked if fixed else dataclasses.replace(asked, as_of=options.now())
            # While site.yaml is being written it cannot be read, and the folder that is served stays the same.
            site = reader.read_site(asked.catalog) or site
            wanted = _placed(now, site, server.port)
            report = build.run(wanted)
            if wanted.out != server.store.root:
                print_lines(f"serving from {wanted.out} now: base_url is {report.site.base_url}")
            server.store, server.dist = Store(wanted.out), report.dist
            server.reload()
            next_publication = report.next_publication
            print_lines(f"release {report.release} is live; {_named(report.changed_series)}")
        except (FlatpanelError, OSError) as error:
            print_error(error)
            print_lines("the site stays as it was", err=True)

    with with_timestamps(lambda: datetime.fromtimestamp(time.time()).strftime("%H:%M:%S ")):
        serving.watch(asked.catalog, before, wait, is_due, changed)


def _named(slugs: list[str]) -> str:
    more = f" and {len(slugs) - NAMED} more" if len(slugs) > NAMED else ""
    return f"changed series: {', '.join(slugs[:NAMED])}{more}" if slugs else "no series changed"
