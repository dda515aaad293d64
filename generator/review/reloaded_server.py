"""Wait until a server has loaded a release: nginx starts new workers some time after the signal."""

from collections.abc import Callable
from contextlib import suppress

from ..errors import FlatpanelError
from ..http_client import Client, Clock
from ..release.manifest import Published
from ..server_url import ServerUrl

# While workers change places, both may answer: all of these requests have to get the new body.
_IN_A_ROW = 5
_PAUSE = 0.1


def wait_until_served(
    url: str, body: Published, clock: Clock, sleep: Callable[[float], None], seconds: float = 60
) -> bool:
    """Request a new body, each time over a new connection, until the server has it; False after `seconds`."""
    server, deadline, in_a_row = ServerUrl.of(url), clock() + seconds, 0
    while in_a_row < _IN_A_ROW:
        if clock() > deadline:
            return False
        in_a_row = in_a_row + 1 if _is_served(Client(server, clock), body, seconds) else 0
        sleep(_PAUSE)
    return True


def _is_served(client: Client, body: Published, seconds: float) -> bool:
    try:
        with suppress(OSError, FlatpanelError):
            response = client.get(body.url, {}, body.size, seconds)
            return response.headers.get("etag") == f'"{body.etag}"'
        return False
    finally:
        client.close()
