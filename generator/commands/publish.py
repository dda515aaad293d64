"""`publish`: send the current release to a bucket or a server."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ..hosts.publish.totals import PublishTotals
from ..release.store import Store
from ..review import verify_server
from ..server_url import without_password
from . import options, publish_media, publish_s3, publish_ssh
from .help import Command
from .output import print_json, print_lines
from .publish_media import SentImages
from .reporting import handle_errors

# The function for the scheme of a target. It takes the store, the target and all other options by name.
_TARGETS: Mapping[str, Callable[[Store, str, Mapping[str, Any]], PublishTotals]] = {
    "s3": publish_s3.to_store,
    "ssh": publish_ssh.to_server,
}

# What serves a target, as `verify --for` names it; by scheme and layout.
_HOSTS = {("s3", "files"): "s3", ("s3", "packs"): "workerd"}


@click.command(
    cls=Command,
    examples=[
        "publish s3://bucket/prefix --dry-run",
        "publish ssh://user@comics.example/srv/comics --url https://comics.example",
    ],
)
@click.argument("target")
@options.out
@click.option("--dry-run", is_flag=True, help="Print what would be sent and removed; change nothing.")
@click.option("--url", help="Then compare the responses of this public URL with the release, as verify does.")
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=16, show_default=True, help="Number of requests at a time."
)
@options.timeout
@click.option("--check", is_flag=True, help="List what the target has, and send what is missing or differs there.")
@click.option(
    "--lock-seconds",
    type=click.IntRange(1, 3600),
    default=15,
    show_default=True,
    help="Time to wait for another publish; s3: without a sign of it, its lock is taken over.",
)
@publish_s3.s3_options
@publish_ssh.ssh_options
@publish_media.media_options
@options.as_json
@handle_errors
def publish(target: str, out: Path, **given: Any) -> None:
    """Send the release to another host.

    TARGET is a URL like s3://bucket/prefix or ssh://user@host/folder. Only what the target does not have yet is
    sent; the new release becomes visible last.
    """
    if given["media_to"] and not given["media"]:
        raise click.UsageError("--media-to needs --media")
    schemes = [_scheme(url) for url in (target, given["media_to"]) if url]
    _refuse_options_of_others(schemes)
    if given["url"]:
        # Before anything is sent.
        verify_server.server_url(given["url"])
    store = Store(out)
    store.release()
    # The release names images, so they come first.
    images = publish_media.send_images(target, given) if given["media"] else None
    totals = _TARGETS[schemes[0]](store, target, given)
    faults = _faults(store, target, given) if given["url"] and not given["dry_run"] else []
    _print_totals(target, totals, images, given, faults)
    if faults:
        raise SystemExit(1)


def _scheme(url: str) -> str:
    scheme = url.partition("://")[0]
    if scheme not in _TARGETS:
        raise click.UsageError(
            f"{without_password(url)}: is not a target; use a URL like s3://bucket/prefix or ssh://user@host/folder"
        )
    return scheme


def _refuse_options_of_others(schemes: list[str]) -> None:
    """An error for an option whose help names another scheme."""
    context = click.get_current_context()
    for parameter in context.command.params:
        named = (getattr(parameter, "help", None) or "").partition(": ")[0]
        is_given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if is_given and named in _TARGETS and named not in schemes:
            raise click.UsageError(f"{parameter.opts[0]} is for targets of {named}://, not of {schemes[0]}://")


def _faults(store: Store, target: str, given: Mapping[str, Any]) -> list[str]:
    host = _HOSTS.get((target.partition("://")[0], given["layout"]), "nginx")
    return verify_server.check_server(store, given["url"], time.monotonic, given["timeout"], host).faults


def _print_totals(
    target: str, totals: PublishTotals, images: SentImages | None, given: Mapping[str, Any], faults: list[str]
) -> None:
    is_dry, url = given["dry_run"], given["url"]
    if given["as_json"]:
        counts = images.totals._asdict().items() if images else ()
        sent_images = images and {"target": images.target} | {
            name: count for name, count in counts if name != "release"
        }
        facts = {"target": target, **totals._asdict(), "images": sent_images, "differences": faults}
        print_json({"ok": not faults, "dry_run": is_dry, **facts})
        return
    if images:
        print_lines(f"{images.target}: images: {_counts(images.totals, is_dry)}")
    removed = "would remove" if is_dry else "removed"
    print_lines(f"{target}: release {totals.release}: {_counts(totals, is_dry)}, {removed} {totals.removed:,}")
    print_lines(*faults, err=True)
    if url and not is_dry and not faults:
        print_lines(f"{url}: OK: all URLs match release {totals.release}")


def _counts(totals: PublishTotals, is_dry: bool) -> str:
    sent = "would send" if is_dry else "sent"
    return f"{sent} {totals.sent:,} objects ({totals.bytes:,} bytes), {totals.kept:,} unchanged"
