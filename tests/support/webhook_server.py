"""A webhook of Discord that refuses every body that Discord refuses, and fails as a test decides."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from tests.support import servers

TOKEN = "t0ken-that-is-never-printed"
_PATH = f"/api/webhooks/1234/{TOKEN}"
# Both kinds of links to a chapter: the last number of the API's, and the number in that of a page.
_LINK = re.compile(r"\]\((http[^)\s]+)\)$")


class Reply(NamedTuple):
    """A response. Without `posts`, the message is lost; status 0 closes the connection instead."""

    status: int = 200
    posts: bool = True
    body: bytes = b"{}"
    retry_after: str = ""


BUSY = Reply(429, False, b'{"message": "You are being rate limited.", "retry_after": 0.01, "global": false}')
LOST, KEPT = Reply(500, False), Reply(502)
DROPPED, CUT = Reply(0, False), Reply(0)


@dataclass
class Webhook:
    """The running server: the bodies that it posted, and why it refused others."""

    address: str = ""
    decide: Callable[[int], Reply] = lambda number: Reply()
    count: int = 0
    posted: list[dict[str, Any]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    @property
    def service(self) -> str:
        return f"discord {self.address}"

    def links(self) -> list[str]:
        """The links of all chapters, in the order in which they were posted."""
        texts = [embed["description"] for body in self.posted for embed in body["embeds"]]
        return [_LINK.findall(line)[0] for text in texts for line in text.splitlines()]


def _check(request: servers.Handler, data: bytes) -> None:
    """Fail for what Discord would refuse."""
    parts, body = urlsplit(request.path), json.loads(data)
    assert (parts.path, parse_qs(parts.query).get("wait")) == (_PATH, ["true"]), request.path
    assert request.headers["Content-Type"] == "application/json" and request.headers["User-Agent"], request.headers
    assert body.keys() == {"embeds", "allowed_mentions"} and body["allowed_mentions"] == {"parse": []}, body
    assert 1 <= len(body["embeds"]) <= 10, body
    for embed in body["embeds"]:
        assert embed.keys() <= {"title", "url", "description", "thumbnail"}, embed
        for text, most in (embed["title"], 256), (embed["description"], 4096):
            assert text == text.strip() and 1 <= len(text) <= most, text
        for url in (embed["url"], embed.get("thumbnail", embed)["url"]):
            assert urlsplit(url).scheme in ("http", "https") and len(url) <= 2048, url
    assert sum(len(embed["title"]) + len(embed["description"]) for embed in body["embeds"]) <= 6000, body


@contextmanager
def running() -> Iterator[Webhook]:
    webhook = Webhook()

    class Handler(servers.Handler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            webhook.count += 1
            reply = webhook.decide(webhook.count)
            try:
                _check(self, data)
            except AssertionError as fault:
                webhook.refused.append(str(fault))
                reply = Reply(400, False)
            if reply.posts:
                webhook.posted.append(json.loads(data))
            self.close_connection = True
            if reply.status:
                self.reply(reply.status, {"Retry-After": reply.retry_after or None}, reply.body)

    with servers.answering(Handler) as port:
        webhook.address = f"http://127.0.0.1:{port}{_PATH}"
        yield webhook
    assert webhook.refused == []
