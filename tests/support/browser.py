"""Headless Chromium, controlled over a pipe with the DevTools protocol: no library, no open port."""

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser_tab import Tab, Viewport

COMMAND = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# CI must have one, so that its tests fail there instead.
needs_browser = pytest.mark.skipif(
    not COMMAND and os.environ.get("CI") != "true", reason="no browser: install chromium to read pages with it"
)
# For modules that all read pages. tests/pages/test_first_visit.py is what the everyday run sees of them.
reads_pages = [needs_browser, pytest.mark.browser]
# No network except this machine: no updates, no accounts, no first-run page, no names of hosts.
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--no-first-run",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-pipe",
)
# Seconds without any message after which a test fails instead of waiting for ever.
_SILENCE = 120


class Browser:
    """The process, and all events of its tabs."""

    def __init__(self, commands: int, replies: int) -> None:
        self._commands = commands
        self._replies = replies
        self._received = bytearray()
        self._last = 0
        self.events: list[dict[str, Any]] = []
        # What answers requests that are held, by session.
        self.interceptors: dict[str, Callable[[dict[str, Any]], None]] = {}

    def post(self, method: str, session: str | None = None, **parameters: object) -> int:
        """Send a command of the DevTools protocol without waiting for its reply."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        return self._last

    def ask(self, method: str, session: str | None = None, **parameters: object) -> dict[str, Any]:
        """Send a command and return its reply, which may be an error."""
        number = self.post(method, session, **parameters)
        while (reply := self.hear(method)) is None or reply.get("id") != number:
            pass
        return reply

    def send(self, method: str, session: str | None = None, **parameters: object) -> dict[str, Any]:
        """Send a command and return its result."""
        reply = self.ask(method, session, **parameters)
        assert "error" not in reply, (method, reply["error"])
        result: dict[str, Any] = reply["result"]
        return result

    def hear(self, waiting_for: str, seconds: float = _SILENCE) -> dict[str, Any] | None:
        """The next message. Events are kept. Nothing if none comes, and `seconds` were fewer than the limit."""
        while (end := self._received.find(b"\0")) < 0:
            if not select.select([self._replies], [], [], seconds)[0]:
                assert seconds < _SILENCE, f"no message of the browser while waiting for {waiting_for}"
                return None
            part = os.read(self._replies, 1 << 16)
            assert part, f"the browser ended while waiting for {waiting_for}"
            self._received += part
        message: dict[str, Any] = json.loads(self._received[:end])
        del self._received[: end + 1]
        if message.get("method") == "Fetch.requestPaused":
            self.interceptors[message["sessionId"]](message["params"])
        elif "method" in message:
            self.events.append(message)
        return message

    @contextmanager
    def tab(self, viewport: Viewport | None = None) -> Iterator[Tab]:
        """A tab with a storage and a cache of its own, which begin empty."""
        context = self.send("Target.createBrowserContext")["browserContextId"]
        target = self.send("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session)
        tab.prepare(viewport or Viewport())
        yield tab
        self.send("Target.disposeBrowserContext", browserContextId=context)
        self.events = [event for event in self.events if event.get("sessionId") != session]


# The browser reads from 3 and writes to 4.
_MOVE = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)


def _pipe() -> tuple[int, int]:
    """A pipe with file descriptors above those that the browser uses."""
    ends = os.pipe()
    above = fcntl.fcntl(ends[0], fcntl.F_DUPFD_CLOEXEC, 10), fcntl.fcntl(ends[1], fcntl.F_DUPFD_CLOEXEC, 10)
    for end in ends:
        os.close(end)
    return above


@contextmanager
def running(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile in `profile`."""
    assert COMMAND, "chromium is not installed"
    read_commands, commands = _pipe()
    replies, write_replies = _pipe()
    moved = [sys.executable, "-c", _MOVE, str(read_commands), str(write_replies)]
    process = subprocess.Popen(
        [*moved, COMMAND, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        pass_fds=[read_commands, write_replies],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(read_commands)
    os.close(write_replies)
    try:
        browser = Browser(commands, replies)
        yield browser
        browser.send("Browser.close")
    finally:
        process.terminate()
        process.wait()
        os.close(commands)
        os.close(replies)


@contextmanager
def browsing(profile: Path, *, width: int = 1280, height: int = 900) -> Iterator[Tab]:
    """A browser with a single tab."""
    with running(profile) as browser, browser.tab(Viewport(width, height)) as tab:
        yield tab


if __name__ == "__main__":
    # python -m tests.support.browser URL SELECTOR FILE: a picture of a page, once it contains an element.
    with tempfile.TemporaryDirectory() as folder, browsing(Path(folder)) as opened:
        opened.open(sys.argv[1])
        opened.wait_for(sys.argv[2])
        Path(sys.argv[3]).write_bytes(opened.picture())
