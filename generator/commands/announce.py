"""`announce`: announce the new chapters of the current release, for sites that are published in another way."""

from pathlib import Path

import click

from ..release.store import Store
from . import announcing, options
from .announcing import AnnounceArguments
from .command import Command, Result


@click.command(
    cls=Command,
    examples=["announce records --services ~/services.txt --dry-run", "announce s3://bucket/prefix --repeat"],
)
@click.argument("target")
@options.out
@click.option("--dry-run", is_flag=True, help="Print what would be announced; change nothing.")
@options.timeout
@options.lock_seconds
@options.endpoint
@options.region
@options.retries
@options.without_lock
@options.catalog
@options.grouped("given", AnnounceArguments, *announcing.OPTIONS)
@options.as_json
def announce(target: str, out: Path, given: AnnounceArguments) -> Result:
    """Announce new chapters of the release.

    TARGET is where the record of announcements is kept: a folder, or a URL like s3://bucket/prefix or
    ssh://user@host/folder. The first run announces nothing. To publish and announce, use publish --announce.
    """
    store = Store(out)
    release = store.release()
    return announcing.announce(store, release, target, announcing.services_of(given, out), given)
