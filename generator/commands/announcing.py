"""Announce new chapters, for `announce` and `publish`: the options of both, services, and what is printed."""

import os
import re
import shlex
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from ..catalog.confined_folder import ConfinedFolder
from ..errors import FlatpanelError, counted
from ..filesystem import is_inside
from ..hosts.announce import records, run
from ..hosts.announce.news import NewSeries
from ..hosts.announce.records import Place
from ..hosts.announce.run import Announced
from ..hosts.announce.services import Apprise, Discord, Program, Service, document
from ..hosts.publish.s3.bucket import Bucket, BucketTarget, Connection
from ..hosts.publish.ssh.target import SshTarget
from ..release.manifest_reader import ManifestReader
from ..release.store import Store, refuse_inside
from ..server_url import ServerUrl, without_password
from .command import Result, show, warning
from .output import Line, note

# Lines like those of the file of --services, which may also name a program.
_SERVICES = "FLATPANEL_SERVICES"


@dataclass(frozen=True, slots=True)
class AnnounceArguments:
    """The options that `publish` and `announce` share."""

    dry_run: bool
    timeout: int
    lock_seconds: int
    endpoint: str | None
    region: str | None
    retries: int
    without_lock: bool
    catalog: ConfinedFolder
    services: Path | None
    program: str | None
    repeat: bool


OPTIONS = (
    click.option(
        "--services",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help=f"Announce to the services that this file outside the catalog lists, and to those in {_SERVICES}.",
    ),
    # Neither is a setting: who can edit the catalog must not run programs of those who publish it.
    click.option("--program", metavar="COMMAND", help="Announce to a program, as JSON on its standard input."),
    click.option("--repeat", is_flag=True, help="Announce again what may not have arrived."),
)


# Services


def services_of(given: AnnounceArguments, out: Path) -> list[Service]:
    """The services of the environment and the options; an error if there is none. No message has an address."""
    lines = [(_SERVICES, *line) for line in enumerate(os.environ.get(_SERVICES, "").splitlines(), 1)]
    if path := given.services:
        if is_inside(os.path.realpath(path), os.path.realpath(str(given.catalog))):
            raise FlatpanelError(f"{path}: is in the catalog; addresses are secrets, so move it to another folder")
        refuse_inside(out, path, "addresses are secrets, so move it to another folder")
        text = path.read_bytes().decode(errors="replace")
        lines += [(str(path), *line) for line in enumerate(text.splitlines(), 1)]
    services: list[Service] = []
    for place, number, line in lines:
        kind, _, address = line.strip().partition(" ")
        kinds = ("discord", "apprise", *(("program",) if place == _SERVICES else ()))
        if kind and not kind.startswith("#"):
            if kind not in kinds or not address:
                forms = " or ".join(f"`{name} {'COMMAND' if name == 'program' else 'URL'}`" for name in kinds)
                raise FlatpanelError(f"{place}:{number}: should be {forms}")
            services.append(_service(kind, address.strip(), services, given))
    if given.program:
        services.append(_service("program", given.program, services, given))
    if not services:
        raise click.UsageError(f"no service to announce to; name it in {_SERVICES}, with --services or --program")
    return services


def _service(kind: str, address: str, others: Sequence[Service], given: AnnounceArguments) -> Service:
    # Records have the name, so it must not contain the address.
    number = 1 + sum(other.name.partition(" ")[0] == kind for other in others)
    name = kind if number == 1 else f"{kind} {number}"
    if kind == "discord":
        return Discord.of(name, address, given.timeout, time.monotonic, time.sleep)
    if kind == "apprise":
        return Apprise.of(name, address, given.timeout, os.environ)
    try:
        command = shlex.split(address)
    except ValueError:
        command = []
    if not command or not command[0]:
        raise click.UsageError(f"{name}: the command is empty, or has a quote without an end")
    # Checked now: another service may already have the news when the program is started.
    if not shutil.which(command[0]):
        # A line of the environment may be the address of another service, which is secret; the option is none.
        program = command[0] if address == given.program else "the first word of the command"
        raise click.UsageError(f"{name}: {program} is no program that can be run")
    return Program(name, command, os.environ, given.timeout)


# Targets


def bucket_target(url: str) -> BucketTarget:
    try:
        return BucketTarget.of(url)
    except ValueError as error:
        raise click.UsageError(f"{without_password(url)}: {error}") from None


# What the library reads of the environment and puts into headers, where it panics at a control character.
_IN_HEADERS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def open_bucket(target: BucketTarget, given: AnnounceArguments) -> Bucket:
    values = {name: os.environ.get(name, "") for name in _IN_HEADERS} | {"--region": given.region or ""}
    for name, value in values.items():
        if _CONTROL.search(value):
            # Without the value, which may be secret.
            raise FlatpanelError(f"{name}: has a line break or another control character; remove it")
    return Bucket(target, Connection(_endpoint(given.endpoint), given.region or "", given.timeout, given.retries))


def _endpoint(given: str | None) -> str:
    """The URL of the store; empty for the one that the library chooses."""
    url = given or os.environ.get("AWS_ENDPOINT_URL", "")
    try:
        return str(ServerUrl.of(url)) if url else ""
    except ValueError as error:
        raise click.UsageError(f"{without_password(url)}: the URL of the store {error}") from None


# Goes on while the machine sleeps. On Linux, CLOCK_MONOTONIC does not; on macOS, it does.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def clock_of_locks() -> float:
    return time.clock_gettime(_CLOCK)


def show_wait(url: str, seconds: int) -> None:
    show([note(f"{url}: another publish holds the lock; waiting {seconds} s for a sign of it")])


def _place(target: str, store: Store, given: AnnounceArguments) -> AbstractContextManager[Place]:
    """The record at a target."""
    scheme, separator, _ = target.partition("://")
    if scheme == "ssh":
        out = store.root.resolve().name
        return records.on_server(SshTarget.of(target), out, given.lock_seconds, dry_run=given.dry_run)
    if scheme == "s3":
        waiting = partial(show_wait, target)
        return records.in_bucket(
            open_bucket(bucket_target(target), given),
            given.lock_seconds,
            waiting,
            clock_of_locks,
            without_lock=given.without_lock,
            dry_run=given.dry_run,
        )
    if separator:
        raise click.UsageError(
            f"{without_password(target)}: is not a target; use a folder, or a URL like s3://bucket/prefix or"
            " ssh://user@host/folder"
        )
    refuse_inside(store.root, Path(target), "choose another folder")
    sentence = f"{target}: another run holds the lock; waiting for it"
    return records.in_folder(Path(target), lambda: show([note(sentence)]), dry_run=given.dry_run)


# The announcement


def announce(store: Store, release: str, target: str, services: Sequence[Service], given: AnnounceArguments) -> Result:
    """Announce what a release adds to the record at a target."""
    with ManifestReader(store.manifest_path(release)) as reader, _place(target, store, given) as place:
        announced = run.announce(reader, store.root, place, services, repeat=given.repeat, dry_run=given.dry_run)
    return Result(
        lambda: _lines(announced, given),
        lambda: {
            "ok": announced.ok,
            "dry_run": given.dry_run,
            "first": announced.is_first,
            **document(announced.news),
            "services": [
                {**delivery._asdict(), "unsure": document(delivery.unsure)["series"]}
                for delivery in announced.deliveries
            ],
        },
        ok=announced.ok,
    )


def _lines(announced: Announced, given: AnnounceArguments) -> Iterator[str | Line]:
    if announced.is_first:
        would = "would only write" if given.dry_run else "only writes"
        yield f"announced nothing: the first run {would} down which chapters are public"
    elif not any(delivery.messages or delivery.faults for delivery in announced.deliveries):
        yield "no new chapters to announce"
    if given.dry_run:
        yield from _listed(announced.news)
    for delivery in announced.deliveries:
        if delivery.messages:
            sent = "would announce" if given.dry_run else "announced"
            chapters, messages = counted(delivery.chapters, "chapter"), counted(delivery.messages, "message")
            yield f"{delivery.service}: {sent} {chapters} in {messages}"
        for fault in delivery.faults:
            yield warning(f"{delivery.service}: a message failed: {fault}")
        if delivery.unsure:
            yield warning(f"{delivery.service}: may not have arrived; look there, and send it again with --repeat:")
            yield from map(note, _listed(delivery.unsure))


def _listed(series: Sequence[NewSeries]) -> Iterator[str]:
    for each in series:
        yield f"{each.title}: {' '.join(filter(None, [each.url, each.harmless_cover]))}"
        yield from (f"  {chapter.title}: {chapter.url}" for chapter in each.chapters)
