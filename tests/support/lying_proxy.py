"""A proxy in front of a real server that changes its responses, as a server with a defect would."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from typing import NamedTuple

from tests.support import servers


class Asked(NamedTuple):
    """A request; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]


class Answer(NamedTuple):
    """A response; None removes a header."""

    status: int
    headers: Mapping[str, str | None]
    body: bytes

    def with_header(self, name: str, value: str | None) -> "Answer":
        rest = {key: text for key, text in self.headers.items() if key.lower() != name.lower()}
        return self._replace(headers=rest | {name: value})


Lie = Callable[[Asked, Answer], Answer]


@contextmanager
def lying(port: int, lie: Lie, prefix: str = "") -> Iterator[str]:
    """A proxy in front of the server on `port`; yields its URL. `prefix` begins every path there."""

    class Handler(servers.Handler):
        def respond(self) -> None:
            target = self.requestline.split(" ")[1]  # `path` has lost a second slash
            asked = Asked(self.command, target, {name.lower(): value for name, value in self.headers.items()})
            try:
                answer = lie(asked, Answer(*self.forward(f"127.0.0.1:{port}", f"{prefix}{target}")))
            except HTTPException:  # the server closed the connection in the middle of its response
                self.close_connection = True
            else:
                self.reply(*answer)

        do_GET = do_HEAD = do_OPTIONS = do_POST = do_PUT = do_DELETE = do_BREW = respond

    with servers.answering(Handler) as own_port:
        yield f"http://127.0.0.1:{own_port}"
