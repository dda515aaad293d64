"""The target ssh:// of `publish`: its options, and what it prints besides the counts."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from ..catalog import reader
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.site_settings import Site
from ..errors import FlatpanelError
from ..hosts.publish.ssh import release
from ..hosts.publish.ssh.release import NGINX, SshOptions, SshResult
from ..hosts.publish.ssh.target import SshTarget
from ..hosts.publish.totals import PublishTotals
from ..pipeline.main_conf import WRITTEN
from ..release import transaction
from ..release.store import Store
from ..review.reloaded_server import wait_until_served
from . import options
from .output import counter, print_lines, waiting_notice
from .reporting import print_warning, with_program_name

F = TypeVar("F", bound=Callable[..., Any])


def ssh_options(command: F) -> F:
    """The options of `publish` for servers."""
    reload = click.option(
        "--reload", metavar="COMMAND", help="ssh: Run this on the server to reload nginx.  [default: nginx -s reload]"
    )
    no_reload = click.option("--no-reload", is_flag=True, help="ssh: Do not reload nginx.")
    nginx = click.option(
        "--nginx",
        type=click.Path(path_type=Path),
        default="nginx.conf",
        show_default=True,
        help="ssh: Main nginx configuration to send, if it exists.",
    )
    return options.catalog(nginx(reload(no_reload(command))))


def settings(catalog: ConfinedFolder) -> Site:
    """The settings of the site. The rest of the catalog is not read."""
    site = reader.read_site(catalog)
    if not site:
        advice = with_program_name("`python build.py check` prints them")
        raise FlatpanelError(f"{catalog}/site.yaml: has problems; {advice}")
    return site


def to_server(store: Store, url: str, given: Mapping[str, Any]) -> PublishTotals:
    """Publish to the server of a URL."""
    if given["no_reload"] and given["reload"]:
        raise click.UsageError("--reload and --no-reload cannot be combined")
    target, site = SshTarget.of(url), settings(given["catalog"])
    ssh = SshOptions(
        keep=site.keep_releases,
        server_folder=site.server_folder or "",
        nginx_conf=_nginx_conf(given["nginx"]),
        reload="" if given["no_reload"] else given["reload"] or NGINX,
        dry_run=given["dry_run"],
        check=given["check"],
        lock_seconds=given["lock_seconds"],
    )
    # A build would remove bodies while they are sent.
    with transaction.locked(store, waiting_notice(store.root)):
        result = release.publish(store, target, ssh, partial(counter, "sending", quiet=given["as_json"]))
    if result.not_running:
        print_warning(
            f"{target.url}: nginx is not running there with the nginx.conf of the site; start it with"
            " `nginx -p . -c nginx.conf` in that folder, or pass --reload with the command for your nginx"
        )
    if given["url"] and result.reloaded:
        _wait(store, given["url"], result, given["timeout"])
    return result.totals


def _nginx_conf(path: Path) -> Path | None:
    """The main configuration, if a build wrote one. With any other, the server would refuse the next publish."""
    if not path.is_file():
        return None
    with path.open("rb") as opened:
        if opened.readline().startswith(WRITTEN):
            return path
    raise FlatpanelError(
        f"{path}: was not written by a build; pass the file that a build wrote with --nginx, or a missing file for none"
    )


def _wait(store: Store, url: str, result: SshResult, seconds: float) -> None:
    changed = result.changed_url and store.manifest(result.totals.release).resources[result.changed_url]
    if not changed:
        # No body can show that the release is loaded.
        time.sleep(1)
    elif not wait_until_served(url, changed, time.monotonic, time.sleep, seconds):
        print_lines(f"{url}: did not serve the new release within {seconds:g} s", err=True)
