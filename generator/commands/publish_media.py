"""`publish --media`: send the images that the catalog names."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import click

from ..catalog import media_folder
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.site_settings import Site
from ..errors import FlatpanelError
from ..hosts.publish.s3.layouts import MediaLayout
from ..hosts.publish.ssh.media import publish_images
from ..hosts.publish.ssh.target import SshTarget
from ..hosts.publish.totals import PublishTotals
from ..media import named_files
from ..media.named_files import RESTRICTIONS, SCHEDULED
from ..media.source import existing
from . import options, publish_s3, publish_ssh
from .output import counter
from .reporting import print_warning, with_program_name

F = TypeVar("F", bound=Callable[..., Any])
# The folder on a server if site.yaml names none.
_FOLDER = "media"


class SentImages(NamedTuple):
    """Where the images went, and their counts."""

    target: str
    totals: PublishTotals


def media_options(command: F) -> F:
    """The options of `publish` for images."""
    media = click.option(
        "--media",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Send the images in DIR first.",
    )
    # Not a setting: who can edit the catalog must not direct the keys of those who publish it.
    target = click.option(
        "--media-to",
        metavar="TARGET",
        help="A bucket or a folder on a server for the images.  [default: a folder below TARGET of the release]",
    )
    leave_out = click.option(
        "--leave-out",
        type=click.Choice([name for name in RESTRICTIONS if name != SCHEDULED]),
        multiple=True,
        help="Leave out images of such chapters, besides scheduled ones; may be repeated.",
    )
    return media(target(leave_out(command)))


def send_images(url: str, given: Mapping[str, Any]) -> SentImages:
    """Send the images that are complete. Those of scheduled chapters are sent when they are due."""
    catalog, folder = given["catalog"], ConfinedFolder(given["media"])
    site = publish_ssh.settings(catalog)
    named = named_files.read(catalog, options.now()).without([SCHEDULED, *given["leave_out"]])
    files = {path: folder / path for path in named.files if existing(folder, path) is not None}
    if missing := len(named.files) - len(files):
        advice = with_program_name("`python build.py media check` prints them")
        print_warning(
            f"{given['media']}: {missing:,} of {len(named.files):,} images that the catalog names are missing or"
            f" incomplete; {advice}"
        )
    target, below = (given["media_to"], "") if given["media_to"] else (url, _folder_below(url, site))
    shown = f"{target.rstrip('/')}/{quote(below)}" if below else target
    if target.startswith("ssh:"):
        progress = partial(counter, "sending images", quiet=given["as_json"])
        dry_run, lock_seconds = given["dry_run"], given["lock_seconds"]
        to_server = SshTarget.of(target)
        return SentImages(
            shown, publish_images(to_server, below, files, progress, dry_run=dry_run, lock_seconds=lock_seconds)
        )
    layout = MediaLayout(files, site.cache.media)
    return SentImages(shown, publish_s3.publish_layout(publish_s3.bucket_target(shown), layout, given))


def _folder_below(url: str, site: Site) -> str:
    """The place below the target of a release where the site has its images."""
    path = media_folder.url_path(site).strip("/")
    if not path:
        raise FlatpanelError(
            f"site.yaml: media is {site.media}, on another host; name the target of the images with --media-to"
        )
    return site.media_folder or _FOLDER if url.startswith("ssh:") else path
