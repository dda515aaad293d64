"""WebKit, the engine of Safari, controlled with the WebDriver protocol on a display of its own.

A tab is one of tests/support/browser.py as far as journeys of a reader use it, so that they run in both engines.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.support import servers
from tests.support.browser import WIDE, Tab
from tests.support.needed import needs

_DRIVER, _DISPLAY = shutil.which("WebKitWebDriver"), shutil.which("Xvfb")
needs_webkit = needs(
    _DRIVER and _DISPLAY,
    "no WebKit: `tools/apt-install tests webkit2gtk-driver xvfb` installs it",
    unless="WITHOUT_WEBKIT",
)
# Key codes of WebDriver.
KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "End": "\ue010",
    "Home": "\ue011",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
}
NUMBER = re.compile(r"^\d+$", re.MULTILINE)
AWAITED = """
    const done = arguments[arguments.length - 1];
    (async () => (%s))().then((value) => done({ value }), (error) => done({ error: String(error) }));
"""


class Refused(Exception):
    """The driver could not do what a command asks for."""


def command(url: str, method: str = "POST", /, **parameters: object) -> Any:
    body = json.dumps(parameters).encode() if method == "POST" else None
    request = Request(url, body, {"Content-Type": "application/json"}, method=method)
    try:
        with urlopen(request, timeout=servers.LIMIT) as response:
            return json.load(response)["value"]
    except HTTPError as error:
        with error:
            raise Refused(url, parameters, error.read()) from error


class WebKitTab(Tab):
    """The window of a session. What it inherits and does not override is made of these methods, or fails."""

    def __init__(self, session: str) -> None:
        self.url = session

    def command(self, name: str, **parameters: object) -> Any:
        return command(f"{self.url}/{name}", **parameters)

    def open(self, url: str) -> None:
        self.command("url", url=url)

    def run(self, script: str) -> Any:
        result = self.command("execute/async", script=AWAITED % script, args=[])
        assert "error" not in result, result
        return result.get("value")

    def wait_until(self, condition: str) -> Any:
        def value() -> Any:
            try:
                return self.command("execute/sync", script=f"return {condition}", args=[])
            except Refused:
                # A page that is left or not yet there has no values.
                return None

        return self._until(value, condition)

    def wait_until_resolved(self, promise: str) -> None:
        self._until(lambda: self.run(promise), promise)

    def _until(self, value: Callable[[], Any], condition: str) -> Any:
        end = monotonic() + servers.LIMIT
        while not (found := value()):
            assert monotonic() < end, f"never true: {condition}; at {self.run('location.href')}"
            sleep(0.02)
        return found

    def press(self, key: str, *, shift: bool = False, held: bool = False) -> None:
        assert not shift and not held, "no journey needs this here"
        presses = [{"type": kind, "value": KEYS.get(key, key)} for kind in ("keyDown", "keyUp")]
        self.command("actions", actions=[{"type": "key", "id": "keys", "actions": presses}])

    def click_at(self, x: float, y: float) -> None:
        move = {"type": "pointerMove", "x": round(x), "y": round(y)}
        presses = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        self.command("actions", actions=[{"type": "pointer", "id": "mouse", "actions": [move, *presses]}])

    def click(self, selector: str) -> None:
        """Click in one step: a mouse of the driver would miss an element that moves meanwhile, and did so once."""
        script = "const element = document.querySelector(arguments[0]); element.focus(); element.click()"
        self.command("execute/sync", script=script, args=[selector])

    # The driver knows no finger.
    tap = click

    def back(self) -> None:
        self.command("back")

    def forward(self) -> None:
        self.command("forward")


@contextmanager
def running() -> Iterator[str]:
    """WebKit on a display in memory; yields the URL of its sessions."""
    screen = ("-nolisten", "tcp", "-screen", "0", "1600x1200x24")
    # The X server prints the number of its display once it accepts clients.
    with servers.running([_DISPLAY, "-displayfd", 1, *screen], NUMBER.search) as display, TemporaryDirectory() as home:
        number = NUMBER.findall(display.printed())[0]
        # While a transition between two pages moves, clicks have no effect.
        settings = Path(home) / "gtk-3.0/settings.ini"
        settings.parent.mkdir()
        settings.write_text("[Settings]\ngtk-enable-animations=0\n", encoding="utf-8")
        place = {"DISPLAY": f":{number}", "GDK_BACKEND": "x11", "HOME": home, "XDG_CONFIG_HOME": home}
        port = servers.free_port()
        with servers.running([_DRIVER, f"--port={port}"], servers.answers(port), env=os.environ | place):
            yield f"http://127.0.0.1:{port}/session"


@contextmanager
def tab(sessions: str) -> Iterator[WebKitTab]:
    """A window with a storage of its own."""
    opened = WebKitTab(f"{sessions}/{command(sessions, capabilities={})['sessionId']}")
    try:
        opened.command("window/rect", width=WIDE.width, height=WIDE.height)
        assert opened.run("matchMedia('(prefers-reduced-motion: reduce)').matches")
        yield opened
    finally:
        command(opened.url, "DELETE")
