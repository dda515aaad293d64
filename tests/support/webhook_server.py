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


def _fault(request: servers.Handler, data: bytes) -> str:
    """Why Discord would refuse a request; an empty text if it would not."""
    parts = urlsplit(request.path)
    if parts.path != _PATH or parse_qs(parts.query).get("wait") != ["true"]:
        return f"wrong target: {request.path}"
    if request.headers["Content-Type"] != "application/json" or not request.headers["User-Agent"]:
        return "no Content-Type or no User-Agent"
    body = json.loads(data)
    if {"embeds", "allowed_mentions"} != body.keys() or body["allowed_mentions"] != {"parse": []}:
        return f"wrong fields: {body}"
    total = 0
    if not 1 <= len(body["embeds"]) <= 10:
        return f"{len(body['embeds'])} embeds"
    for embed in body["embeds"]:
        if not embed.keys() <= {"title", "url", "description", "thumbnail"}:
            return f"wrong fields: {embed}"
        title, text = embed["title"], embed["description"]
        if title != title.strip() or not 1 <= len(title) <= 256:
            return f"wrong title: {title}"
        if text != text.strip() or not 1 <= len(text) <= 4096:
            return f"wrong description: {text}"
        for url in (embed["url"], embed.get("thumbnail", {"url": embed["url"]})["url"]):
            if urlsplit(url).scheme not in ("http", "https") or len(url) > 2048:
                return f"wrong URL: {url}"
        total += len(title) + len(text)
    return f"{total} characters" if total > 6000 else ""


@contextmanager
def running() -> Iterator[Webhook]:
    webhook = Webhook()

    class Handler(servers.Handler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            webhook.count += 1
            reply = webhook.decide(webhook.count)
            if fault := _fault(self, data):
                webhook.refused.append(fault)
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
