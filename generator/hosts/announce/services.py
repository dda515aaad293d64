"""Where announcements go: a Discord webhook, a service of apprise, or a program.

An address is a secret. No sentence here contains one, nor an error of a library, which would: apprise runs in a process
of its own, whose output is discarded.
"""

import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ... import __version__, encoding, installation
from ...errors import FlatpanelError
from ...http_client import Client, Clock, LimitExceeded, Response, Unreachable
from ...server_url import URL_CHARACTERS, ServerUrl
from .news import NewSeries

T = TypeVar("T")


class Message(NamedTuple):
    """A message, with the ids of the chapters in it, and the arguments of the program that sends it."""

    chapters: frozenset[int]
    data: bytes
    arguments: tuple[str, ...] = ()


# Discord

# Its limits of a message, in characters.
_EMBEDS, _EMBEDS_TEXT, _TITLE, _DESCRIPTION, _URL = 10, 6000, 256, 4096, 2048
# Of a line, which has the title of a chapter. With its URL, it is far below the limit of a description.
_LINE_TITLE = 200
_MARKUP = str.maketrans({character: f"\\{character}" for character in "\\`*_~|[]<>"})
_MAX_RESPONSE = 1 << 20
_TOO_MANY = 429
# How often a message is sent that Discord refuses because of its limits, and the longest time in between.
_TRIES, _MAX_WAIT = 5, 60.0


class Discord(NamedTuple):
    """A webhook of Discord."""

    name: str
    server: ServerUrl
    query: str
    seconds: float
    clock: Clock
    sleep: Callable[[float], None]

    @classmethod
    def of(cls, name: str, address: str, seconds: float, clock: Clock, sleep: Callable[[float], None]) -> "Discord":
        url, _, query = address.partition("?")
        try:
            server = ServerUrl.of(url)
        except ValueError as error:
            raise FlatpanelError(f"{name}: the address {error}") from None
        if query and not URL_CHARACTERS.fullmatch(query):
            raise FlatpanelError(f"{name}: the address should be of ASCII characters without blanks")
        return cls(name, server, query, seconds, clock, sleep)

    def messages(self, news: Sequence[NewSeries]) -> Iterator[Message]:
        """The messages that announce these chapters."""
        embeds = [embed for series in news for embed in _embeds(series)]
        for group in _in_groups(embeds, lambda embed: embed[1], _EMBEDS, _EMBEDS_TEXT):
            # Without `parse`, a title with @everyone would notify everyone.
            body = {"embeds": [embed for _, _, embed in group], "allowed_mentions": {"parse": []}}
            yield Message(frozenset().union(*(ids for ids, _, _ in group)), encoding.json(body))

    def send(self, message: Message) -> str:
        """Send a message; return why it may not have arrived, or an empty text.

        It is sent again only after a 429: with any other response, it may have been posted.
        """
        target = "&".join([f"{self.server.folder}?wait=true", *filter(None, [self.query])])
        agent = f"flatpanel/{__version__} (announces new chapters)"
        headers = {"Content-Type": "application/json", "User-Agent": agent}
        status = 0
        for _ in range(_TRIES):
            try:
                # A connection that is kept for the next message could be closed by then.
                with closing(Client(self.server, self.clock)) as client:
                    response = client.get(target, headers, _MAX_RESPONSE, self.seconds, "POST", message.data)
            except LimitExceeded as error:
                return f"the response {error}"
            except Unreachable:
                return "no connection"
            except OSError:
                return "the connection ended without a response"
            if response.status == 200 and not _is_message(response):
                return "the response has status 200, but is not a message of Discord; look at the address"
            if response.status in (200, 204):
                return ""
            status, wait = response.status, _retry_after(response)
            if status != _TOO_MANY or wait > _MAX_WAIT:
                break
            self.sleep(wait)
        return f"the response has status {status}"


def _is_message(response: Response) -> bool:
    """Whether a body is an object of JSON, as `wait=true` asks for. A login page is none."""
    with suppress(ValueError):
        return isinstance(encoding.parse(response.body or b""), dict)
    return False


def _retry_after(response: Response) -> float:
    """The seconds that a 429 asks for: in its body, else in its header, where a date is more than can be waited for."""
    seconds: Any = response.headers.get("retry-after", 1)
    with suppress(ValueError, TypeError, KeyError):
        seconds = encoding.parse(response.body or b"")["retry_after"]
    try:
        wait = float(seconds)
    except (ValueError, TypeError):
        return math.inf
    return max(wait, 0.0) if math.isfinite(wait) else math.inf


def _embeds(series: NewSeries) -> Iterator[tuple[frozenset[int], int, dict[str, object]]]:
    """The embeds of a series, each with the ids of its chapters and the length of its texts."""
    lines = [(each.id, f"[{each.title[:_LINE_TITLE].translate(_MARKUP)}]({each.url})\n") for each in series.chapters]
    for group in _in_groups(lines, lambda line: len(line[1]), len(lines), _DESCRIPTION):
        title, text = series.title[:_TITLE], "".join(line for _, line in group).rstrip()
        embed: dict[str, object] = {"title": title, "url": series.url, "description": text}
        if series.harmless_cover and len(series.harmless_cover) <= _URL:
            embed["thumbnail"] = {"url": series.harmless_cover}
        yield frozenset(id for id, _ in group), len(title) + len(text), embed


def _in_groups(items: Iterable[T], size: Callable[[T], int], most: int, most_size: int) -> Iterator[list[T]]:
    """Divide items, at least one, into groups of at most `most` items and a size of at most `most_size`."""
    group: list[T] = []
    total = 0
    for item in items:
        if group and (len(group) == most or total + size(item) > most_size):
            yield group
            group, total = [], 0
        group.append(item)
        total += size(item)
    yield group


# Programs

# -P: a file in the working folder is not imported. The address is in the environment, since others can list arguments.
_APPRISE = (sys.executable, "-P", "-c", "from apprise.cli import main; main()", "--input-format=text")
APPRISE_ADDRESS = "APPRISE_URLS"
# Of a message with its title, in characters. Discord takes 2000, Telegram 4096 units of UTF-16; apprise adds some.
_TEXT = 1900
# Of the URL of a cover in it; the part of a longer one would be of no use.
_COVER = 500
# What mentions begin with: @everyone, <@1> and <@&1> on Discord, @name on Telegram, <!here> on Slack.
_MENTION = re.compile("@|<!")


class Program(NamedTuple):
    """A program that reads one JSON document on its standard input. Exit code 0: it has announced all of it."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    seconds: float

    def messages(self, news: Sequence[NewSeries]) -> Iterator[Message]:
        yield Message(frozenset(each.id for series in news for each in series.chapters), encoding.json(document(news)))

    def send(self, message: Message) -> str:
        try:
            done = subprocess.run(
                [*self.command, *message.arguments],
                input=message.data,
                # What it prints may contain its addresses.
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=self.environment,
                timeout=self.seconds,
            )
        except FileNotFoundError:
            return "the program cannot be started: it, or the interpreter that its first line names, is missing"
        except OSError as error:
            return f"the program cannot be started: {error.strerror}"
        except subprocess.TimeoutExpired:
            return f"the program did not end within {self.seconds:g} seconds"
        return f"the program ended with exit code {done.returncode}" if done.returncode else ""


class Apprise(Program):
    """A service of apprise: one message for each series."""

    @classmethod
    def of(cls, name: str, address: str, seconds: float, environment: Mapping[str, str]) -> "Apprise":
        if not find_spec("apprise"):
            advice = installation.how_to_add("apprise")
            raise FlatpanelError(f"{name}: announcing needs the library apprise; install it: {advice}")
        return cls(name, _APPRISE, {**environment, APPRISE_ADDRESS: address}, seconds)

    def messages(self, news: Sequence[NewSeries]) -> Iterator[Message]:
        for series in news:
            title = _without_mentions(series.title)[:_TITLE]
            # In the path of an image, %40 means the same.
            cover = series.harmless_cover.replace("@", "%40")
            end = "\n".join(["", series.url, *([cover] if 0 < len(cover) <= _COVER else [])])
            lines = [
                (each.id, f"{_without_mentions(each.title)[:_LINE_TITLE]}: {each.url}\n") for each in series.chapters
            ]
            # With the line break after the title.
            rest = _TEXT - len(title) - 1
            for group in _in_groups(lines, lambda line: len(line[1]), len(lines), rest - len(end)):
                text = "".join(line for _, line in group) + end
                yield Message(frozenset(id for id, _ in group), text[:rest].encode(), (f"--title={title}",))


def _without_mentions(text: str) -> str:
    """The text with a space of no width inside every mention. apprise cannot switch mentions off in all services."""
    return _MENTION.sub("\\g<0>\u200b", text)


# Each has a name for records: its kind and its number.
Service: TypeAlias = Discord | Program


def document(news: Sequence[NewSeries]) -> dict[str, object]:
    """What programs read: the series with their chapters."""
    series = [{**each._asdict(), "chapters": [chapter._asdict() for chapter in each.chapters]} for each in news]
    return {"series": series}
