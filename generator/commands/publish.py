"""`publish`: send the current release to a bucket or a server, and before it the images that the catalog names."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import click
from click.core import ParameterSource

from ..catalog import media_folder, reader
from ..catalog.confined_folder import ConfinedFolder
from ..catalog.layout import refuse_among_sources
from ..catalog.linking import is_archive, is_variant
from ..catalog.site_settings import Site
from ..errors import FlatpanelError, counted
from ..filesystem import scratch_folder
from ..hosts.announce.services import Service
from ..hosts.packs import pack_files
from ..hosts.publish.s3 import run as to_bucket
from ..hosts.publish.s3.bucket import BucketTarget
from ..hosts.publish.s3.layouts import BucketLayout, MediaLayout, PackedFiles, PlainKeys
from ..hosts.publish.s3.run import PublishOptions
from ..hosts.publish.ssh import release as to_server
from ..hosts.publish.ssh.media import publish_images
from ..hosts.publish.ssh.release import NGINX, SshOptions, SshResult
from ..hosts.publish.ssh.target import SshTarget
from ..hosts.totals import PublishTotals
from ..media import named_files
from ..media.folder_check import is_recorded
from ..media.named_files import RESTRICTIONS, SCHEDULED, NamedMedia
from ..media.source import existing
from ..pipeline.main_conf import WRITTEN
from ..release import transaction
from ..release.store import Store, refuse_inside
from ..review import verify_server
from ..review.verify_server import ServerResult, wait_until_served
from ..server_url import without_password
from . import announcing, options
from .announcing import AnnounceArguments, bucket_target, clock_of_locks, open_bucket, show_wait
from .command import Command, Result, print_warning, sentences, show, warning, with_program_name
from .output import Line, counter, note, waiting_notice


@dataclass(frozen=True, slots=True)
class PublishArguments(AnnounceArguments):
    """The options of the command. For another kind of target, those of a kind have their defaults."""

    url: str | None
    jobs: int
    check: bool
    announce: bool
    # Of buckets.
    layout: str
    packs: Path | None
    keep: int | None
    with_restricted: bool
    # Of servers.
    nginx: Path
    reload: str | None
    no_reload: bool
    # Of images.
    media: Path | None
    media_to: str | None
    leave_out: tuple[str, ...]


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
@options.lock_seconds
@click.option(
    "--layout",
    type=click.Choice(["files", "packs"]),
    default="files",
    show_default=True,
    help="s3: One object for each public URL, or packs that a worker reads.",
)
@click.option(
    "--packs",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="s3: Folder for the packs.  [default: .flatpanel_packs beside --out]",
)
@click.option(
    "--keep",
    type=click.IntRange(1, 100),
    metavar="N",
    show_default="keep_releases of site.yaml",
    help="s3: Releases whose packs stay, with --with-restricted.",
)
@click.option(
    "--with-restricted", is_flag=True, help="s3: Send restricted packs, too; only a worker may read the bucket then."
)
@options.endpoint
@options.region
@options.retries
@options.without_lock
@options.catalog
@click.option(
    "--nginx",
    type=click.Path(path_type=Path),
    default="nginx.conf",
    show_default=True,
    help="ssh: Main nginx configuration to send, if it exists.",
)
@click.option(
    "--reload",
    metavar="COMMAND",
    help="ssh: Run this on the server to reload nginx.  [default: nginx -p . -c nginx.conf -s reload in the folder]",
)
@click.option("--no-reload", is_flag=True, help="ssh: Do not reload nginx.")
@click.option(
    "--media",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Send the images in DIR first.",
)
# Not a setting: who can edit the catalog must not direct the keys of those who publish it.
@click.option(
    "--media-to",
    metavar="TARGET",
    help="A bucket or a folder on a server for the images.  [default: a folder below TARGET of the release]",
)
@click.option(
    "--leave-out",
    type=click.Choice([name for name in RESTRICTIONS if name != SCHEDULED]),
    multiple=True,
    help="Leave out images of such chapters, besides scheduled ones; may be repeated.",
)
@click.option("--announce", is_flag=True, help="Then announce new chapters to services, as announce does.")
@options.grouped("given", PublishArguments, *announcing.OPTIONS)
@options.as_json
def publish(target: str, out: Path, given: PublishArguments) -> Result:
    """Send the release to another host.

    TARGET is a URL like s3://bucket/prefix or ssh://user@host/folder. Only what the target does not have yet is
    sent; the new release becomes visible last.
    """
    if given.media_to and not given.media:
        raise click.UsageError("--media-to needs --media")
    if not given.announce and (given.services or given.program or given.repeat):
        raise click.UsageError("--services, --program and --repeat need --announce")
    schemes = [_scheme(url) for url in (target, given.media_to) if url]
    _refuse_options_of_others(schemes)
    if given.media_to and schemes == ["s3", "s3"] and bucket_target(given.media_to) == bucket_target(target):
        raise click.UsageError("--media-to has the release; use another prefix for the images")
    for option in ("packs", "keep", "with_restricted"):
        if given.layout == "files" and getattr(given, option):
            raise click.UsageError(f"--{option.replace('_', '-')} needs --layout packs")
    if given.url:
        # Before anything is sent.
        verify_server.server_url(given.url)
    store = Store(out)
    store.release()
    services = announcing.services_of(given, out) if given.announce else []
    # The release names images, so they come first. Pages name smaller copies until the next release is there.
    sender = _images(target, given.media, given) if given.media else None
    if schemes[0] == "s3":
        # Before images are sent, and before packs are written: workers may answer from their folder.
        to_bucket.read_pointer(open_bucket(bucket_target(target), given), given.layout)
        if given.layout == "packs":
            _packs_folder(store, given)
    images = sender and sender.send(removes=given.dry_run)
    totals = _to_store(store, target, given) if schemes[0] == "s3" else _to_server(store, target, given)
    if sender and images and not given.dry_run:
        removed = sender.send(removes=True).totals.removed
        images = images._replace(totals=images.totals._replace(removed=removed))
    comparison = _compare(store, schemes[0], given.url, given) if given.url and not given.dry_run else None
    faults = comparison.faults if comparison else []
    # A release that readers do not get yet is announced by a later publish.
    announced = _announce(store, totals.release, target, services, given) if given.announce and not faults else None
    ok = not faults and (not announced or announced.ok)
    return Result(
        lambda: chain(_lines(target, totals, images, given, comparison), announced.lines() if announced else ()),
        lambda: {
            "ok": ok,
            "dry_run": given.dry_run,
            "target": target,
            **totals._asdict(),
            "images": images and _images_json(images),
            "differences": faults,
            "announced": announced and announced.plain(),
        },
        ok=ok,
    )


def _announce(store: Store, release: str, target: str, services: Sequence[Service], given: PublishArguments) -> Result:
    """Announce new chapters. An error leaves the release published, and is printed after the result of the publish."""
    try:
        return announcing.announce(store, release, target, services, given)
    except (FlatpanelError, OSError) as error:
        message = "; ".join(sentences(error))
        line = warning(f"{target}: the announcement failed, the release stays; run it again: {message}")
        return Result(lambda: [line], lambda: {"ok": False, "message": message}, ok=False)


def _scheme(url: str) -> str:
    scheme = url.partition("://")[0]
    if scheme not in ("s3", "ssh"):
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
        if is_given and named in ("s3", "ssh") and named not in schemes:
            raise click.UsageError(f"{parameter.opts[0]} is for targets of {named}://, not of {schemes[0]}://")


def _compare(store: Store, scheme: str, url: str, given: PublishArguments) -> ServerResult:
    """Compare a public URL with the release, as `verify` does for the host that serves such a target."""
    packs = "workerd" if given.with_restricted else "public-packs"
    host = "nginx" if scheme == "ssh" else "s3" if given.layout == "files" else packs
    return verify_server.check_server(store, url, time.monotonic, given.timeout, host)


def _settings(catalog: ConfinedFolder) -> Site:
    """The settings of the site. The rest of the catalog is not read."""
    site = reader.read_site(catalog)
    if not site:
        advice = with_program_name("`python build.py check` prints them")
        raise FlatpanelError(f"{catalog}/site.yaml: has problems; {advice}")
    return site


# The result


class SentImages(NamedTuple):
    """Where the images went, and their counts."""

    target: str
    totals: PublishTotals


def _images_json(images: SentImages) -> dict[str, object]:
    counts = images.totals._asdict()
    del counts["release"]
    return {"target": images.target, **counts}


def _lines(
    target: str,
    totals: PublishTotals,
    images: SentImages | None,
    given: PublishArguments,
    comparison: ServerResult | None,
) -> Iterator[str | Line]:
    removed = "would remove" if given.dry_run else "removed"
    if given.keep and not given.with_restricted:
        yield warning("--keep has no effect without --with-restricted: earlier packs are removed at once")
    if images:
        copies = f", {removed} {images.totals.removed:,}" if images.totals.removed else ""
        yield f"{images.target}: images: {_counts(images.totals, given.dry_run)}{copies}"
    yield f"{target}: release {totals.release}: {_counts(totals, given.dry_run)}, {removed} {totals.removed:,}"
    yield from map(note, comparison.lines() if comparison else ())
    if comparison and not comparison.faults:
        yield f"{given.url}: OK: all URLs match release {totals.release}"


def _counts(totals: PublishTotals, is_dry: bool) -> str:
    sent = "would send" if is_dry else "sent"
    objects, size = counted(totals.sent, "object"), counted(totals.bytes, "byte")
    return f"{sent} {objects} ({size}), {totals.kept:,} unchanged"


# To a bucket


def _to_store(store: Store, url: str, given: PublishArguments) -> PublishTotals:
    """Publish to the bucket of a URL."""
    target = bucket_target(url)
    # A build would remove bodies while they are sent.
    with transaction.locked(store, waiting_notice(store.root)), _layout(store, given) as layout:
        return _publish_layout(target, layout, given)


def _publish_layout(target: BucketTarget, layout: BucketLayout, given: PublishArguments) -> PublishTotals:
    """Publish the objects of a layout, or count them."""
    bucket = open_bucket(target, given)
    if given.dry_run:
        return to_bucket.plan(bucket, layout, check=given.check)
    return to_bucket.publish(
        bucket,
        layout,
        PublishOptions(
            given.jobs,
            given.lock_seconds,
            partial(show_wait, str(target)),
            clock_of_locks,
            partial(counter, "sending"),
            given.check,
            given.without_lock,
        ),
    )


@contextmanager
def _layout(store: Store, given: PublishArguments) -> Iterator[BucketLayout]:
    """The objects of the release. Packs are written into their folder first; in a dry run, into a temporary one."""
    if given.layout == "files":
        yield PlainKeys(store)
        return
    keep, folder = given.keep or _settings(given.catalog).keep_releases, _packs_folder(store, given)
    with scratch_folder() if given.dry_run else nullcontext(folder) as packs:
        pack_files.pack_release(store, packs, counter=partial(counter, "packing"))
        yield PackedFiles(store, packs, keep, with_restricted=given.with_restricted)


def _packs_folder(store: Store, given: PublishArguments) -> Path:
    """The folder of the packs; an error if it is not for them."""
    folder = given.packs or store.root.absolute().parent / ".flatpanel_packs"
    refuse_inside(store.root, folder, "choose another folder with --packs")
    refuse_among_sources(folder, "choose another folder with --packs")
    pack_files.read_mark(folder)
    return folder


# To a server


def _to_server(store: Store, url: str, given: PublishArguments) -> PublishTotals:
    """Publish to the server of a URL."""
    if given.no_reload and given.reload:
        raise click.UsageError("--reload and --no-reload cannot be combined")
    target, site = SshTarget.of(url), _settings(given.catalog)
    ssh = SshOptions(
        keep=site.keep_releases,
        server_folder=site.server_folder or "",
        nginx_conf=_nginx_conf(given.nginx),
        reload="" if given.no_reload else given.reload or NGINX,
        dry_run=given.dry_run,
        check=given.check,
        lock_seconds=given.lock_seconds,
    )
    # A build would remove bodies while they are sent.
    with transaction.locked(store, waiting_notice(store.root)):
        result = to_server.publish(store, target, ssh, partial(counter, "sending"))
    if result.not_running:
        print_warning(
            f"{target.url}: nginx is not running there with the nginx.conf of the site; start it with"
            " `nginx -p . -c nginx.conf` in that folder, or pass --reload with the command for your nginx"
        )
    if given.url and result.reloaded:
        _wait(store, given.url, result, given.timeout)
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
        show([note(f"{url}: did not serve the new release within {seconds:g} s")])


# Images


class _Images(NamedTuple):
    """The images that are complete, and where they go."""

    target: str
    below: str
    files: dict[str, Path]
    max_age: int
    archive_age: int
    # The paths of the images and archives that readers may request.
    named: frozenset[str]
    given: PublishArguments

    def send(self, *, removes: bool) -> SentImages:
        """Send what the target lacks; with `removes`, also remove copies and archives that readers no longer get."""

        def is_obsolete(path: str) -> bool:
            return removes and (is_variant(path) or is_archive(path)) and path not in self.named

        shown = f"{self.target.rstrip('/')}/{quote(self.below)}" if self.below else self.target
        if self.target.startswith("ssh:"):
            totals = publish_images(
                SshTarget.of(self.target),
                self.below,
                self.files,
                is_obsolete,
                is_archive,
                partial(counter, "sending images"),
                print_warning,
                dry_run=self.given.dry_run,
                lock_seconds=self.given.lock_seconds,
            )
        else:
            layout = MediaLayout(self.files, self.max_age, self.archive_age, is_obsolete)
            totals = _publish_layout(bucket_target(shown), layout, self.given)
        return SentImages(shown, totals)


def _images(url: str, media: Path, given: PublishArguments) -> _Images:
    """The images to send. Those of scheduled chapters are sent when they are due."""
    site, folder = _settings(given.catalog), ConfinedFolder(media)
    named = named_files.read(given.catalog, options.now()).without([SCHEDULED, *given.leave_out])
    files = {path: folder / path for path in named.files if _is_complete(folder, named, path)}
    if missing := len(named.files) - len(files):
        advice = with_program_name("`python build.py media check` prints them")
        print_warning(
            f"{media}: missing or incomplete: {missing:,} of {counted(len(named.files), 'image')} that the catalog"
            f" names; {advice}"
        )
    target, below = (given.media_to, "") if given.media_to else (url, _folder_below(url, site))
    return _Images(target, below, files, site.cache.media, site.cache.v2.series, frozenset(named.files), given)


def _is_complete(folder: ConfinedFolder, named: NamedMedia, path: str) -> bool:
    # A link that leads out of the folder counts as missing: nginx follows none.
    if not folder.real_path(path):
        return False
    if path in named.archives:
        return is_recorded(folder, named.archives[path])
    return existing(folder, path) is not None


def _folder_below(url: str, site: Site) -> str:
    """The place below the target of a release where the site has its images."""
    path = media_folder.url_path(site).strip("/")
    if not path:
        raise FlatpanelError(
            f"site.yaml: media is {site.media}, on another host; name the target of the images with --media-to"
        )
    return site.media_folder or "media" if url.startswith("ssh:") else path
