"""The target s3:// of `publish`: its options, and what it prints besides the counts."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from ..hosts.packs import pack_files
from ..hosts.publish.s3 import run as to_bucket
from ..hosts.publish.s3.bucket import Bucket, BucketTarget, Connection
from ..hosts.publish.s3.layouts import BucketLayout, PlainKeys
from ..hosts.publish.s3.packed_files import PackedFiles
from ..hosts.publish.s3.run import PublishOptions
from ..hosts.publish.totals import PublishTotals
from ..release import transaction
from ..release.store import Store, refuse_inside
from ..server_url import ServerUrl, without_password
from .output import counter, print_lines, waiting_notice
from .publish_ssh import settings

F = TypeVar("F", bound=Callable[..., Any])


# The last one is the first one in the help.
_OPTIONS = (
    click.option("--without-lock", is_flag=True, help="s3: Publish to a store that ignores conditions of writes."),
    click.option(
        "--retries", type=click.IntRange(0, 20), default=6, show_default=True, help="s3: Tries after a failed request."
    ),
    click.option("--region", help="s3: Region of the bucket.  [default: AWS_REGION]"),
    click.option("--endpoint", help="s3: URL of the store.  [default: AWS_ENDPOINT_URL]"),
    click.option(
        "--with-restricted",
        is_flag=True,
        help="s3: Send restricted packs, too; only a worker may read the bucket then.",
    ),
    click.option(
        "--keep",
        type=click.IntRange(1, 100),
        metavar="N",
        help="s3: Releases whose packs stay in the bucket.  [default: keep_releases of site.yaml]",
    ),
    click.option(
        "--packs",
        metavar="DIR",
        type=click.Path(path_type=Path),
        help="s3: Folder for the packs.  [default: .flatpanel_packs beside --out]",
    ),
    click.option(
        "--layout",
        type=click.Choice(["files", "packs"]),
        default="files",
        show_default=True,
        help="s3: One object for each public URL, or packs that a worker reads.",
    ),
)


def s3_options(command: F) -> F:
    """The options of `publish` for buckets."""
    for option in _OPTIONS:
        command = option(command)
    return command


def to_store(store: Store, url: str, given: Mapping[str, Any]) -> PublishTotals:
    """Publish to the bucket of a URL."""
    target = bucket_target(url)
    # A build would remove bodies while they are sent.
    with transaction.locked(store, waiting_notice(store.root)):
        return publish_layout(target, _layout(store, given), given)


def bucket_target(url: str) -> BucketTarget:
    try:
        return BucketTarget.of(url)
    except ValueError as error:
        raise click.UsageError(f"{without_password(url)}: {error}") from None


def publish_layout(target: BucketTarget, layout: BucketLayout, given: Mapping[str, Any]) -> PublishTotals:
    """Publish the objects of a layout, or count them."""
    connection = Connection(_endpoint(given["endpoint"]), given["region"] or "", given["timeout"], given["retries"])
    bucket = Bucket(target, connection)
    if given["dry_run"]:
        return to_bucket.plan(bucket, layout, check=given["check"])
    return to_bucket.publish(
        bucket,
        layout,
        PublishOptions(
            given["jobs"],
            given["lock_seconds"],
            partial(_announce_wait, str(target)),
            partial(counter, "sending", quiet=given["as_json"]),
            given["check"],
            given["without_lock"],
        ),
    )


def _layout(store: Store, given: Mapping[str, Any]) -> BucketLayout:
    """The objects of the release. Packs are written into their folder first."""
    if given["layout"] == "files":
        for option in ("packs", "keep", "with_restricted"):
            if given[option]:
                raise click.UsageError(f"--{option.replace('_', '-')} needs --layout packs")
        return PlainKeys(store)
    if given["packs"]:
        refuse_inside(store.root, given["packs"], "choose another folder with --packs")
    folder = given["packs"] or store.root.absolute().parent / ".flatpanel_packs"
    with counter("packing", pack_files.STEPS, quiet=given["as_json"]) as progress:
        pack_files.pack_release(store, folder, progress=progress)
    keep = given["keep"] or settings(given["catalog"]).keep_releases
    return PackedFiles(store, folder, keep, with_restricted=given["with_restricted"])


def _endpoint(given: str | None) -> str:
    """The URL of the store; empty for the one that the library chooses."""
    url = given or os.environ.get("AWS_ENDPOINT_URL", "")
    try:
        return str(ServerUrl.of(url)) if url else ""
    except ValueError as error:
        raise click.UsageError(f"{without_password(url)}: the URL of the store {error}") from None


def _announce_wait(url: str, seconds: int) -> None:
    print_lines(f"{url}: another publish holds the lock; waiting {seconds} s for a sign of it", err=True)
