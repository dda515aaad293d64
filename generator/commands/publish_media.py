"""`publish --media`: send the images that the catalog names."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import click

from ..catalog import media_folder
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.site_settings import Site
from ..errors import FlatpanelError
from ..hosts.publish.s3.media_layout import MediaLayout
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


def media_options(command: F) -> F:
    """The options of `publish` for images."""
    media = click.option(
        "--media",
        metavar="DIR",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="Send the images in DIR first, to the target of site.yaml or to TARGET.",
    )
    leave_out = click.option(
        "--leave-out",
        type=click.Choice([name for name in RESTRICTIONS if name != SCHEDULED]),
        multiple=True,
        help="Leave out images of such chapters, besides scheduled ones; may be repeated.",
    )
    return media(leave_out(command))


def send_images(url: str, given: Mapping[str, Any]) -> PublishTotals:
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
    target = target_url(url, site)
    if target.startswith("ssh:"):
        progress = partial(counter, "sending images", quiet=given["as_json"])
        dry_run, lock_seconds = given["dry_run"], given["lock_seconds"]
        return publish_images(SshTarget.of(target), "", files, progress, dry_run=dry_run, lock_seconds=lock_seconds)
    layout = MediaLayout(files, site.cache.media)
    return publish_s3.publish_layout(publish_s3.bucket_target(target), layout, given)


def target_url(url: str, site: Site) -> str:
    """The target of the images: that of site.yaml, or the place below a target where the site has its images."""
    if site.publish.media:
        return site.publish.media
    path = media_folder.url_path(site).strip("/")
    if not path:
        raise FlatpanelError(
            f"site.yaml: media is {site.media}, on another host; name the target of the images: publish: {{media: …}}"
        )
    folder = quote(site.media_folder or _FOLDER) if url.startswith("ssh:") else path
    return f"{url.rstrip('/')}/{folder}"
