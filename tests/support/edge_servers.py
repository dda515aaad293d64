"""The runtimes of edge workers, workerd and Deno, which serve packed folders on free loopback ports."""

import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import nginx_client, servers
from tests.support.needed import needs
from tests.support.object_stores import BUCKET, ObjectStore
from tests.support.paths import ROOT

_MODULES = ROOT / ".node-edge/node_modules"
# npm installs the binaries of this platform only.
_WORKERD = next(_MODULES.glob("@cloudflare/workerd-*/bin/workerd"), None)
_DENO = next(_MODULES.glob("@deno/*/deno"), None)
needs_edge_runtimes = needs(
    _WORKERD and _DENO,
    "no workerd and Deno: `tools/setup-node edge` installs them",
    unless="WITHOUT_EDGE_RUNTIMES",
)
# For modules that need one of them in each test; tests/javascript compares the core with nginx in the everyday run.
on_edge_runtimes = [needs_edge_runtimes, pytest.mark.edge]
RUNTIMES = ("workerd", "deno")


@dataclass(frozen=True)
class EdgeServer(nginx_client.Web):
    """A client of a runtime."""

    process: servers.Server

    @property
    def output(self) -> list[str]:
        """What the runtime printed until now."""
        return self.process.printed().splitlines(keepends=True)


@contextmanager
def running(runtime: str, packed: Path) -> Iterator[EdgeServer]:
    """workerd or Deno on a packed folder; it must not end before the test does."""
    with {"workerd": _workerd, "deno": _deno}[runtime](packed) as server:
        yield server


@contextmanager
def _workerd(packed: Path) -> Iterator[EdgeServer]:
    """It inherits a socket that listens already, so that no port is guessed; it reports when it accepts connections."""
    with socket.create_server(("127.0.0.1", 0), backlog=511) as listener:
        port = listener.getsockname()[1]
        command = [_WORKERD, "serve", "config.capnp", "--socket-fd", f"http={listener.fileno()}", "--control-fd=1"]
        with servers.running(command, lambda log: '"event":"listen"' in log, listener=listener, cwd=packed) as process:
            yield EdgeServer(port, packed, process)


_BUCKET_CONFIG = """using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
    services = [
        (name = "site", worker = .worker),
        (name = "store", external = (address = "{address}", http = ())),
    ],
    sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "site")],
);
const worker :Workerd.Worker = (
    modules = [{modules}],
    compatibilityDate = "2025-09-01",
    compatibilityFlags = ["nodejs_compat"],
    bindings = [(name = "STORE", service = "store"), (name = "PREFIX", text = "{prefix}")],
);
"""
# What the service does for a bucket that is bound to a worker.
_BUCKET_FRONT = """import worker from './worker/bucket.js';
const get = async (env, key) => {
    const response = await env.STORE.fetch(`http://{address}/{bucket}/${key}`);
    return response.ok ? response : null;
};
export default {
    fetch: (request, env) => worker.fetch(request, { PREFIX: env.PREFIX, BUCKET: { get: (key) => get(env, key) } }),
};
"""


@contextmanager
def before_bucket(packed: Path, store: ObjectStore, prefix: str) -> Iterator[EdgeServer]:
    """workerd with the worker for buckets of a packed folder, in front of a prefix of a store."""
    address = store.endpoint.removeprefix("http://")
    front = _BUCKET_FRONT.replace("{address}", address).replace("{bucket}", BUCKET)
    (packed / "front.js").write_text(front)
    names = ["front.js", *sorted(path.relative_to(packed).as_posix() for path in packed.rglob("worker/**/*.js"))]
    modules = ", ".join(f'(name = "{name}", esModule = embed "{name}")' for name in names)
    config = _BUCKET_CONFIG.format(address=address, modules=modules, prefix=prefix)
    (packed / "config.capnp").write_text(config)
    with _workerd(packed) as server:
        yield server


@contextmanager
def _deno(packed: Path) -> Iterator[EdgeServer]:
    """It chooses a free port itself and prints it when it listens."""
    rights = ["--allow-net=127.0.0.1", "--allow-env=HOST,PORT", "--allow-read=files,worker"]
    # Deno reads files below /dev, as in /dev/shm, only with all rights.
    rights = ["--allow-all"] if packed.is_relative_to("/dev") else rights
    command = [_DENO, "run", *rights, "--no-prompt", "--cached-only", "worker/deno.js"]
    # Deno keeps compiled modules outside the folder, which has nothing but the release.
    cache = packed.parent / f"{packed.name}-deno"
    environment = {**os.environ, "NO_COLOR": "1", "PORT": "0", "DENO_DIR": str(cache), "DENO_NO_UPDATE_CHECK": "1"}
    port = re.compile(r"istening on http://127\.0\.0\.1:(\d+)")
    with servers.running(command, port.search, cwd=packed, env=environment) as process:
        yield EdgeServer(int(port.findall(process.printed())[0]), packed, process)
