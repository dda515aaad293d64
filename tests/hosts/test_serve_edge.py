"""`make serve-workerd` and `make serve-deno`: the example from the real runtimes."""

import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support import nginx_client, servers
from tests.support.edge_servers import RUNTIMES, on_edge_runtimes
from tests.support.paths import ROOT
from tests.support.servers import LIMIT

pytestmark = on_edge_runtimes


@pytest.fixture
def project() -> Iterator[Path]:
    """A copy of the project that may be built, in a folder whose name needs quoting.

    It is not in memory: Deno reads files below /dev, as in /dev/shm, only with all rights.
    """
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield copy_of_project(Path(folder) / "flat panel (copy)")


def copy_of_project(folder: Path) -> Path:
    for name in ("catalog_src", "media", "tools", "generator"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "build.py", folder)
    (folder / ".node-edge").symlink_to(ROOT / ".node-edge")
    python = folder / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -B "$@"\n')
    python.chmod(0o755)
    return folder


@pytest.fixture(params=RUNTIMES)
def server(request: pytest.FixtureRequest, project: Path) -> Iterator[nginx_client.Web]:
    port = servers.free_port()
    command = [project / "tools/serve-edge", request.param, str(port)]
    # A group of its own, as in a terminal: Ctrl-C reaches all processes.
    environment = {**os.environ, "DENO_DIR": str(project.parent / "deno")}
    # In a terminal no program ignores Ctrl-C; below nohup or in a background job all do.
    heeded = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        command, cwd="/", env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    signal.signal(signal.SIGINT, heeded)
    server = nginx_client.Web(port, project, process)
    try:
        wait(server)
        yield server
    finally:
        os.killpg(process.pid, signal.SIGINT)
        with process:
            try:
                process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
    # Ended by the signal, or by Deno's own handler for it.
    assert process.returncode in (-signal.SIGINT, 128 + signal.SIGINT)


def wait(server: nginx_client.Web) -> None:
    """Until the server accepts connections, however long that takes."""
    output, stream = b"", server.process.stdout
    assert stream
    while True:
        try:
            server.connect().close()
        except ConnectionRefusedError:
            assert server.process.poll() is None, output.decode()
            if select.select([stream], [], [], 0.05)[0]:
                output += os.read(stream.fileno(), 65536)
        else:
            return


def test_the_example_is_served(server: nginx_client.Web) -> None:
    """Lists with parameters, pages for readers with their images, and errors."""
    assert server.ask("/api/v2/series?limit=1").body.startswith(b'{"total":')
    assert server.ask("/reader/paper-moons/1/1/")["content-type"] == "text/html; charset=utf-8"
    image = server.ask("/media/series/paper-moons/cover.jpg")
    assert (image.status, image["content-type"]) == (200, "image/jpeg")
    assert image.body == (ROOT / "media/series/paper-moons/cover.jpg").read_bytes()
    assert server.ask("/media/series/paper-moons/cover.jpg", method="HEAD").status == 200
    for path in ("/media/nothing.jpg", "/media/../build.py", "/media/%2e%2e/build.py", "/config.capnp"):
        assert server.ask(path).status in (400, 404)
