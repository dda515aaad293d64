"""`serve`: nginx at work while somebody edits."""

import dataclasses
import functools
import signal
import sys
import time
from typing import Any

import click

from .. import serve as serving
from ..errors import FlatpanelError
from ..pipeline import Options
from ..store import Store
from . import build, options
from .output import say
from .reporting import complain, reporting


@click.command()
@options.catalog
@options.out
@options.nginx
@options.cache
@options.as_of
@options.jobs
@click.option("--port", type=click.IntRange(1, 65535), help="[default: site.yaml's]")
@click.option("--watch", is_flag=True, help="Build again and reload after every change.")
@reporting
def serve(as_of: int | None, port: int | None, watch: bool, **paths: Any) -> None:
    """Build the site and run nginx on it in the foreground."""
    # Ending this program, or closing its terminal, must end nginx as well.
    # A shell starts what runs in its background deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: sys.exit(0))
    wanted = Options(as_of=options.now() if as_of is None else as_of, local=True, **paths)
    seen = serving.fingerprint(wanted.catalog)
    report = build.run(wanted)
    port = port or report.site.port
    try:
        with serving.serving(Store(wanted.out), report.dist, port, functools.partial(say, err=True)) as server:
            say(f"serving http://localhost:{port}/ (Ctrl-C stops)", bold=True)
            if watch:
                _watch(wanted, server, seen, report.next_publication, fixed=as_of is not None)
            server.process.wait()
    except KeyboardInterrupt:
        return
    server.check_end()


def _watch(wanted: Options, server: serving.Server, seen: serving.Fingerprint, due: int | None, *, fixed: bool) -> None:
    """Until nginx ends: build after every change, and when a scheduled chapter's time has come."""
    next_publication = due

    def wait() -> bool:
        time.sleep(0.3)
        return server.process.poll() is None

    def is_due() -> bool:
        return not fixed and next_publication is not None and options.now() >= next_publication

    def changed() -> None:
        nonlocal next_publication
        next_publication = None
        try:
            report = build.run(wanted if fixed else dataclasses.replace(wanted, as_of=options.now()))
            server.dist = report.dist
            server.reload()
            next_publication = report.next_publication
            say(f"release {report.release} is live")
        except (FlatpanelError, OSError) as error:
            complain(error)
            say("the site stays as it was", err=True)

    serving.watch(wanted.catalog, seen, wait, is_due, changed)
