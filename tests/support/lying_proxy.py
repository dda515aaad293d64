"""A proxy in front of a real server that changes its responses, as a server with a defect would."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple

from tests.support import servers
from tests.support.servers import LIMIT


class Asked(NamedTuple):
    """A request; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]


class Answer(NamedTuple):
    """A response; None removes a header."""

    status: int
    headers: dict[str, str | None]
    body: bytes

    def with_header(self, name: str, value: str | None) -> "Answer":
        rest = {key: text for key, text in self.headers.items() if key.lower() != name.lower()}
        return self._replace(headers=rest | {name: value})


Lie = Callable[[Asked, Answer], Answer]
# Headers that the proxy writes itself.
_OWN = {"connection", "content-length", "transfer-encoding"}


def _sent(asked: Asked, answer: Answer) -> dict[str, str | None]:
    """The headers to send, with the length of the changed body; if that was removed, its end closes the connection."""
    fields = {name: value for name, value in answer.headers.items() if name.lower() not in _OWN}
    length = answer.headers.get("Content-Length", "")
    if answer.status in (204, 304):
        return fields
    if length is None:
        return fields | {"Connection": "close"}
    return fields | {"Content-Length": length if asked.method == "HEAD" else str(len(answer.body))}


@contextmanager
def lying(port: int, lie: Lie, prefix: str = "") -> Iterator[str]:
    """A proxy in front of the server on `port`; yields its URL. `prefix` begins every path there."""

    class Handler(servers.Handler):
        def setup(self) -> None:
            super().setup()
            self.server_behind = HTTPConnection("127.0.0.1", port, timeout=LIMIT)

        def finish(self) -> None:
            self.server_behind.close()
            super().finish()

        def respond(self) -> None:
            target = self.requestline.split(" ")[1]  # `path` has lost a second slash
            asked = Asked(self.command, target, {name.lower(): value for name, value in self.headers.items()})
            try:
                answer = self.answer(asked)
            except HTTPException:  # the server closed the connection in the middle of its response
                self.server_behind.close()
                self.close_connection = True
                return
            self.send_response_only(answer.status)
            for name, value in _sent(asked, answer).items():
                if value is not None:
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"" if answer.status in (204, 304) or asked.method == "HEAD" else answer.body)

        def answer(self, asked: Asked) -> Answer:
            self.server_behind.request(asked.method, f"{prefix}{asked.path}", headers=asked.headers)
            with self.server_behind.getresponse() as response:
                headers = dict[str, str | None](response.getheaders())
                return lie(asked, Answer(response.status, headers, response.read()))

        do_GET = do_HEAD = do_OPTIONS = do_POST = do_PUT = do_DELETE = do_BREW = respond

    with servers.answering(Handler) as own_port:
        yield f"http://127.0.0.1:{own_port}"
