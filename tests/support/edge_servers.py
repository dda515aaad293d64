"""The runtimes of edge workers, workerd and Deno, which serve packed folders on free loopback ports."""

import os
import queue
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import nginx_client
from tests.support.paths import ROOT

_MODULES = ROOT / ".node-edge/node_modules"
# npm installs the binaries of this platform only.
_WORKERD = next(_MODULES.glob("@cloudflare/workerd-*/bin/workerd"), None)
_DENO = next(_MODULES.glob("@deno/*/deno"), None)
# CI must have them, so that its tests fail there instead, unless it could not install them.
_REQUIRED = os.environ.get("CI") == "true" and "WITHOUT_EDGE_RUNTIMES" not in os.environ
needs_edge_runtimes = pytest.mark.skipif(
    not (_WORKERD and _DENO) and not _REQUIRED, reason="no workerd and Deno: `tools/setup-node edge` installs them"
)
RUNTIMES = ("workerd", "deno")


@dataclass(frozen=True)
class EdgeServer(nginx_client.Web):
    """A client of a runtime, and what the runtime printed until now."""

    output: list[str]


@contextmanager
def running(runtime: str, packed: Path) -> Iterator[EdgeServer]:
    """workerd or Deno on a packed folder; it must not end before the test does."""
    with {"workerd": _workerd, "deno": _deno}[runtime](packed) as server:
        yield server
        assert server.process.poll() is None, server.output


@contextmanager
def _workerd(packed: Path) -> Iterator[EdgeServer]:
    """It inherits a socket that listens already, so that no port is guessed and no test waits."""
    with socket.create_server(("127.0.0.1", 0), backlog=511) as listener:
        command = [str(_WORKERD), "serve", "config.capnp", "--socket-fd", f"http={listener.fileno()}"]
        with _process(command, packed, listener.fileno()) as (process, output, _):
            yield EdgeServer(listener.getsockname()[1], packed, process, output)


@contextmanager
def _deno(packed: Path) -> Iterator[EdgeServer]:
    """It chooses a free port itself and prints it when it listens."""
    rights = ["--allow-net=127.0.0.1", "--allow-env=HOST,PORT", "--allow-read=files"]
    # Deno reads files below /dev, as in /dev/shm, only with all rights.
    rights = ["--allow-all"] if packed.is_relative_to("/dev") else rights
    command = [str(_DENO), "run", *rights, "--no-prompt", "--cached-only", "worker/deno.js"]
    with _process(command, packed) as (process, output, lines):
        port = None
        while port is None:
            line = lines.get(timeout=60)
            assert line, output
            port = re.search(r"istening on http://127\.0\.0\.1:(\d+)", line)
        yield EdgeServer(int(port[1]), packed, process, output)


@contextmanager
def _process(
    command: list[str], folder: Path, *passed: int
) -> Iterator[tuple[subprocess.Popen[bytes], list[str], queue.Queue[str]]]:
    """A program, all lines that it prints, and the same lines to wait for; the last one is empty."""
    # Deno keeps compiled modules outside the folder, which has nothing but the release.
    cache = folder.parent / f"{folder.name}-deno"
    environment = {**os.environ, "NO_COLOR": "1", "PORT": "0", "DENO_DIR": str(cache), "DENO_NO_UPDATE_CHECK": "1"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, pass_fds=passed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    output: list[str] = []
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert process.stdout
        for line in process.stdout:
            output.append(line.decode(errors="replace"))
            lines.put(output[-1])
        lines.put("")

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield process, output, lines
    finally:
        process.terminate()
        reader.join()
        # Closes the pipe, and waits for the end.
        with process:
            pass
