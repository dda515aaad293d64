"""Headless Chromium, controlled over a pipe: page content, requests and errors."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

COMMAND = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# No network: no updates, no accounts, no first-run page.
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
    "--remote-debugging-pipe",
)


@dataclass
class Browser:
    """One tab, and all events of the browser."""

    commands: int
    replies: Any
    events: list[dict[str, Any]] = field(default_factory=list)
    last: int = 0
    session: str | None = None

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command of the DevTools protocol and return its result."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while (reply := self._hear()).get("id") != self.last:
            self.events.append(reply)
        assert "error" not in reply, reply["error"]
        result: dict[str, Any] = reply["result"]
        return result

    def _hear(self) -> dict[str, Any]:
        text = bytearray()
        while (byte := self.replies.read(1)) != b"\0":
            assert byte, "the browser is gone"
            text += byte
        heard: dict[str, Any] = json.loads(text)
        return heard

    def attach(self, *, width: int, height: int) -> None:
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.send(f"{domain}.enable")
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, url: str) -> None:
        self.send("Page.navigate", url=url)

    def run(self, script: str) -> Any:
        """Evaluate an expression in the page; a promise is awaited."""
        reply = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in reply, reply["exceptionDetails"]
        return reply["result"].get("value")

    def wait_for(self, selector: str) -> None:
        """Wait until the page contains an element."""
        self.run(
            f"""new Promise((done) => {{
                const look = () => document.querySelector({json.dumps(selector)}) && done();
                new MutationObserver(look).observe(document, {{ childList: true, subtree: true }});
                look();
            }})"""
        )

    def picture(self) -> bytes:
        return b64decode(self.send("Page.captureScreenshot", format="png")["data"])

    def events_of(self, method: str) -> list[dict[str, Any]]:
        return [one["params"] for one in self.events if one.get("method") == method]

    def requests(self) -> list[tuple[str, int | None]]:
        """The requests of the page and their responses."""
        statuses = {one["requestId"]: one["response"]["status"] for one in self.events_of("Network.responseReceived")}
        return [
            (one["request"]["url"], statuses.get(one["requestId"]))
            for one in self.events_of("Network.requestWillBeSent")
        ]


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
def browsing(profile: Path, *, width: int = 1280, height: int = 900) -> Iterator[Browser]:
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
        with os.fdopen(replies, "rb") as heard:
            browser = Browser(commands, heard)
            browser.attach(width=width, height=height)
            yield browser
            browser.session = None
            browser.send("Browser.close")
    finally:
        process.terminate()
        process.wait()
        os.close(commands)


if __name__ == "__main__":
    # python -m tests.browser URL SELECTOR FILE: a picture of a page, once it shows something.
    with tempfile.TemporaryDirectory() as folder, browsing(Path(folder)) as tab:
        tab.open(sys.argv[1])
        tab.wait_for(sys.argv[2])
        Path(sys.argv[3]).write_bytes(tab.picture())
