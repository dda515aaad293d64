"""Headless Chromium, controlled over a pipe with the DevTools protocol: no library, no open port.

A tab is a class of its own: what a visitor does in it, and what the page asks for and reports.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar
from urllib.parse import urlsplit

import pytest

from tests.support.needed import needs

T = TypeVar("T")
# Seconds after which a condition that stays false fails the test.
LIMIT = 60
# Key codes of keys that type no text.
CODES = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}
_MOVING = ("PageUp", "PageDown", "End", "Home", "ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown")
CODES |= {key: code for code, key in enumerate(_MOVING, 33)}
TYPED = {"Enter": "\r", " ": " "}
SHIFT = 8

# The sum of all layout shifts; scores of a session window can only be smaller.
SHIFTS = """(() => {
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type: "layout-shift", buffered: true });
    return observer.takeRecords().filter((entry) => !entry.hadRecentInput)
        .reduce((sum, entry) => sum + entry.value, 0);
})()"""
MIDDLE = """(() => {
    const element = document.querySelector(%s);
    const middle = () => {
        const box = element.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    };
    const hit = document.elementFromPoint(...middle());
    if (!hit || !element.contains(hit)) element.scrollIntoView({ block: "center", behavior: "instant" });
    return middle();
})()"""


@dataclass(frozen=True)
class Viewport:
    """The screen of a visitor."""

    width: int = 1280
    height: int = 900
    touch: bool = False
    scheme: str = "light"
    scripts: bool = True
    motion: bool = False
    # Pixels of the picture per pixel of CSS.
    scale: float = 1


PHONE = Viewport(390, 844, touch=True)
WIDE = Viewport(1280, 900)


class Tab:
    """A tab, attached to the browser by a session."""

    def __init__(self, browser: Browser, session: str, context: str) -> None:
        self.browser = browser
        self.session = session
        self.context = context
        self.answers: dict[str, tuple[str, bytes]] = {}

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        return self.browser.send(method, self.session, **parameters)

    def prepare(self, viewport: Viewport) -> None:
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=viewport.width,
            height=viewport.height,
            deviceScaleFactor=viewport.scale,
            mobile=viewport.touch,
        )
        scheme = {"name": "prefers-color-scheme", "value": viewport.scheme}
        # While a transition between two pages moves, clicks have no effect.
        motion = {"name": "prefers-reduced-motion", "value": "no-preference" if viewport.motion else "reduce"}
        self.send("Emulation.setEmulatedMedia", features=[scheme, motion])
        self.send("Emulation.setFocusEmulationEnabled", enabled=True)
        if viewport.touch:
            self.send("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=1)
        if not viewport.scripts:
            self.send("Emulation.setScriptExecutionDisabled", value=True)

    # Loading

    def open(self, url: str) -> None:
        """Load a page with everything that it needs at once."""
        self._load("Page.navigate", url=url)

    def reload(self) -> None:
        """Load the page again with everything that it needs at once."""
        self._load("Page.reload")

    def _load(self, method: str, **parameters: str) -> None:
        start = len(self.browser.events)
        result = self.send(method, **parameters)
        assert "errorText" not in result, (parameters, result["errorText"])
        # A link inside of the page loads nothing.
        if "loaderId" in result or method == "Page.reload":
            self.wait_for_event("Page.loadEventFired", start)

    def wait_for_event(self, method: str, start: int) -> None:
        while not any(self._is_own(event, method) for event in self.browser.events[start:]):
            self.browser.hear(method)

    def intercept(self, url: str, kind: str, body: bytes) -> None:
        """Answer requests for `url`, which may have a `*`, instead of a server."""
        self.answers[url] = kind, body
        self.browser.interceptors[self.session] = self._answer
        self.send("Fetch.enable", patterns=[{"urlPattern": url} for url in self.answers])

    def hold(self, url: str) -> list[dict[str, Any]]:
        """Keep requests waiting for the answer of `intercept`, until `release` gets what this returns."""
        held: list[dict[str, Any]] = []

        def answer(paused: dict[str, Any]) -> None:
            if fnmatchcase(paused["request"]["url"], url):
                held.append(paused)
            else:
                self._answer(paused)

        self.browser.interceptors[self.session] = answer
        return held

    def release(self, held: list[dict[str, Any]]) -> None:
        self.browser.interceptors[self.session] = self._answer
        for paused in held:
            self._answer(paused)

    def _answer(self, paused: dict[str, Any]) -> None:
        asked = paused["request"]["url"]
        kind, body = next(answer for url, answer in self.answers.items() if fnmatchcase(asked, url))
        self.browser.post(
            "Fetch.fulfillRequest",
            self.session,
            requestId=paused["requestId"],
            responseCode=200,
            responseHeaders=[{"name": "Content-Type", "value": kind}],
            body=b64encode(body).decode(),
        )

    # The page

    def run(self, script: str) -> Any:
        """Evaluate an expression in the page; a promise is awaited."""
        reply = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in reply, reply["exceptionDetails"]
        return reply["result"].get("value")

    def wait_until(self, condition: str) -> Any:
        """Evaluate an expression until it is true, also across pages, and return its value."""

        def value() -> Any:
            reply = self.browser.ask("Runtime.evaluate", self.session, expression=condition, returnByValue=True)
            # A page that is left or not yet there has no values.
            result = reply.get("result", {})
            return None if "exceptionDetails" in result else result.get("result", {}).get("value")

        return self.browser.until(value, condition)

    def wait_until_resolved(self, promise: str) -> None:
        """Make a promise until its value is true."""
        self.browser.until(lambda: self.run(promise), promise)

    def wait_for(self, selector: str) -> None:
        """Wait until the page contains an element."""
        self.wait_until(f"document.querySelector({json.dumps(selector)}) !== null")

    def wait_for_path(self, path: str) -> None:
        """Wait until the page at `path` is loaded."""
        here = f"location.pathname + location.hash === {json.dumps(path)}"
        self.wait_until(f"{here} && document.readyState === 'complete'")

    @property
    def path(self) -> str:
        path: str = self.run("location.pathname + location.hash")
        return path

    def layout_shift(self) -> float:
        return float(self.run(SHIFTS))

    def picture(self, **parameters: object) -> bytes:
        parameters = {"format": "png", **parameters}
        return b64decode(self.send("Page.captureScreenshot", **parameters)["data"])

    # The visitor

    def press(self, key: str, *, shift: bool = False, held: bool = False) -> None:
        """Press and release a key, such as "ArrowRight" or "n"; one that is held repeats."""
        text = TYPED.get(key, key if len(key) == 1 else "")
        code = CODES.get(key) or ord(key.upper())
        event = {"key": key, "windowsVirtualKeyCode": code, "modifiers": SHIFT if shift else 0, "autoRepeat": held}
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **event)
        self.send("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        for character in text:
            self.press(character)

    def middle(self, selector: str) -> tuple[float, float]:
        """The position of the centre of an element, which is scrolled into view if a click would not hit it."""
        x, y = self.run(MIDDLE % json.dumps(selector))
        return x, y

    def click(self, selector: str) -> None:
        self.click_at(*self.middle(selector))

    def click_at(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def tap(self, selector: str) -> None:
        self.tap_at(*self.middle(selector))

    def tap_at(self, x: float, y: float) -> None:
        self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def swipe(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Move a finger from one position to another one."""
        self.send("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": start[0], "y": start[1]}])
        for step in (0.25, 0.5, 0.75, 1):
            x, y = (first + (last - first) * step for first, last in zip(start, end, strict=True))
            self.send("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x, "y": y}])
        self.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def back(self) -> None:
        self._go(-1)

    def forward(self) -> None:
        self._go(1)

    def _go(self, step: int) -> None:
        history = self.send("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] + step]
        self.send("Page.navigateToHistoryEntry", entryId=entry["id"])
        url = urlsplit(entry["url"])
        self.wait_for_path(url._replace(scheme="", netloc="", query="").geturl())

    def choose_file(self, selector: str, file: Path) -> None:
        """Choose a file in a form."""
        found = self.send("Runtime.evaluate", expression=f"document.querySelector({json.dumps(selector)})")["result"]
        self.send("DOM.setFileInputFiles", objectId=found["objectId"], files=[str(file)])

    def download(self, selector: str, folder: Path, name: str) -> bytes:
        """Click on what saves a file, and return the file."""
        target = {"behavior": "allow", "downloadPath": str(folder), "browserContextId": self.context}
        self.browser.send("Browser.setDownloadBehavior", **target)
        self.click(selector)
        self.browser.until((folder / name).exists, f"a file {name}")
        return (folder / name).read_bytes()

    # What happened

    def _is_own(self, event: dict[str, Any], method: str) -> bool:
        return event["method"] == method and event.get("sessionId") == self.session

    def events_of(self, method: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self.browser.events if self._is_own(event, method)]

    def requests(self) -> list[tuple[str, int | None]]:
        """The requests of the tab and the statuses of their responses; None if a request failed.

        Waits for the responses: an image below the end of the window may load while the page is complete.
        """
        self.browser.until(lambda: not self._pending(), "responses to all requests")
        statuses = {
            event["requestId"]: event["response"]["status"] for event in self.events_of("Network.responseReceived")
        }
        return [
            (event["request"]["url"], statuses.get(event["requestId"]))
            for event in self.events_of("Network.requestWillBeSent")
        ]

    def _pending(self) -> list[str]:
        """The URLs of requests of the current page that have neither a response nor an error yet.

        Chromium reports no end of some that the page before had begun, such as that of its icon.
        """
        ended = {
            event["requestId"]
            for method in ("Network.responseReceived", "Network.loadingFailed")
            for event in self.events_of(method)
        }
        sent = self.events_of("Network.requestWillBeSent")
        pages = [event["loaderId"] for event in sent if event.get("type") == "Document"]
        current = [event for event in sent if event["loaderId"] in pages[-1:]]
        return [event["request"]["url"] for event in current if event["requestId"] not in ended]

    def origins(self) -> set[str]:
        """The origins of all requests, sent or blocked."""
        urls = [urlsplit(url) for url, _ in self.requests()]
        return {f"{url.scheme}://{url.netloc}" for url in urls if url.scheme not in ("data", "about")}

    def loaded_twice(self) -> set[str]:
        """The URLs that more than one response came for from a server, and not from a cache of the browser.

        A service worker loads what a page asks for with the cache of the browser.
        """
        cached = {event["requestId"] for event in self.events_of("Network.requestServedFromCache")}
        loaded = [
            event["response"]["url"]
            for event in self.events_of("Network.responseReceived")
            if event["requestId"] not in cached
            and not any(event["response"].get(name) for name in ("fromDiskCache", "fromServiceWorker"))
        ]
        return {url for url in loaded if loaded.count(url) > 1}

    def complaints(self) -> list[object]:
        """All messages of the console, uncaught exceptions, and issues such as a violated policy."""
        issues = [event["issue"] for event in self.events_of("Audits.issueAdded")]
        entries = [event["entry"] for event in self.events_of("Log.entryAdded")]
        calls = self.events_of("Runtime.consoleAPICalled")
        thrown = [event["exceptionDetails"] for event in self.events_of("Runtime.exceptionThrown")]
        return [*entries, *calls, *thrown, *issues]


COMMAND = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = needs(COMMAND, "no browser: install chromium to read pages with it")
# For modules that all read pages. tests/pages/test_first_visit.py is what the everyday run sees of them.
reads_pages = [needs_browser, pytest.mark.browser]
# No network except this machine: no updates, no accounts, no first-run page, no names of hosts.
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-extensions", "--no-first-run", "--hide-scrollbars"),
    *("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-pipe"),
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

    def until(self, condition: Callable[[], T], what: str) -> T:
        """Call a function until its value is true, and return it. Events are received meanwhile."""
        end = monotonic() + LIMIT
        while not (value := condition()):
            assert monotonic() < end, f"never true: {what}"
            self.hear(what, 0.02)
        return value

    @contextmanager
    def tab(self, viewport: Viewport | None = None, *, of_profile: bool = False) -> Iterator[Tab]:
        """A tab with a storage and a cache of its own, which begin empty; or with those of the profile."""
        context = "" if of_profile else self.send("Target.createBrowserContext")["browserContextId"]
        place = {"browserContextId": context} if context else {}
        target = self.send("Target.createTarget", url="about:blank", **place)["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, session, context)
        tab.prepare(viewport or Viewport())
        yield tab
        if context:
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
        # It writes what its profile remembers.
        process.wait(LIMIT)
    finally:
        process.terminate()
        process.wait()
        os.close(commands)
        os.close(replies)
