"""Starts servers: nginx with a release, nginx with plain files, a Python server."""

import http.client
import os
import pwd
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from generator.nginx import process as serve

from .program import ROOT

# The environment of uvicorn and FastAPI, separate from that of builds and tests.
PYTHON = ROOT / ".venv-bench/bin/python"
PATIENCE = 120

# The same for both servers, so that only the locations differ. Numbers as in nginx.conf, except the workers.
MAIN = """
{user}
load_module {module};
worker_processes 1;
# As in the emitted main file.
pcre_jit on;
worker_rlimit_nofile 20000;
pid {run}/nginx.pid;
error_log stderr crit;
events {{
    worker_connections 8192;
    multi_accept on;
}}
http {{
    access_log off;
    server_tokens off;
    sendfile on;
    tcp_nopush on;
    absolute_redirect off;
    keepalive_requests 10000;
    client_body_temp_path {run}/body;
    proxy_temp_path {run}/proxy;
    fastcgi_temp_path {run}/fastcgi;
    uwsgi_temp_path {run}/uwsgi;
    scgi_temp_path {run}/scgi;
    {inside}
}}
"""
RELEASE = """
    include dist/current/http.conf;
    server {{
        listen 127.0.0.1:{port};
        include dist/current/errors.conf;
        include dist/current/server.conf;
    }}
"""
# A plain nginx: it looks for a file and makes the ETag of its time and length.
BARE = """
    server {{
        listen 127.0.0.1:{port};
        root plain;
        types {{ }}
        default_type application/json;
        gzip_static on;
        location / {{
            try_files $uri.json =404;
        }}
    }}
"""
# The same with the file cache of the emitted configuration.
CACHED = f"""
    open_file_cache max=10000 inactive=10m;
    open_file_cache_valid 1h;
    open_file_cache_min_uses 3;
    open_file_cache_errors off;
    {BARE}
"""


@dataclass(frozen=True)
class Server:
    name: str
    port: int
    process: subprocess.Popen[bytes]

    @property
    def worker(self) -> int:
        """The process id of the only worker; the Python server has none besides its main process."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0]) if children else self.process.pid

    def processor_time(self) -> int:
        """Processor time of the worker so far, in nanoseconds."""
        return int(Path(f"/proc/{self.worker}/schedstat").read_text().split()[0])


def configure(folder: Path, inside: str) -> tuple[list[str], int]:
    """Write a main file into `folder`; return the command that starts nginx, and its port."""
    port = free_port()
    name = f"bench-{port}"
    (folder / name).mkdir(exist_ok=True)
    main = folder / f"{name}.conf"
    main.write_text(
        MAIN.format(
            # If root starts nginx, its workers use an account that cannot enter a folder of root.
            user="" if os.geteuid() else f"user {pwd.getpwuid(folder.stat().st_uid).pw_name};",
            module=serve.find_js_module(),
            run=name,
            inside=inside.format(port=port),
        )
    )
    return [serve.find_nginx(), "-e", "stderr", "-p", str(folder), "-c", str(main)], port


@contextmanager
def nginx(name: str, folder: Path, inside: str) -> Iterator[Server]:
    command, port = configure(folder, inside)
    with running(Server(name, port, subprocess.Popen([*command, "-g", "daemon off;"]))) as server:
        yield server


@contextmanager
def python(name: str, bodies: Path) -> Iterator[Server]:
    """Run bench/app.py with the bodies that a file lists."""
    port = free_port()
    command = [
        str(PYTHON),
        "-m",
        "uvicorn",
        "bench.app:app",
        "--workers",
        "1",
        "--loop",
        "uvloop",
        "--http",
        "httptools",
    ]
    command += ["--host", "127.0.0.1", "--port", str(port), "--no-access-log", "--log-level", "warning"]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "BENCH_BODIES": str(bodies)})
    with running(Server(name, port, process)) as server:
        yield server


@contextmanager
def running(server: Server) -> Iterator[Server]:
    try:
        _wait(server)
        yield server
    finally:
        server.process.terminate()
        server.process.wait()


def _wait(server: Server) -> None:
    deadline = time.monotonic() + PATIENCE
    while server.process.poll() is None and time.monotonic() < deadline:
        # A response, not only a connection: nginx listens before it has a worker.
        with suppress(OSError), closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)) as connection:
            connection.request("GET", "/")
            connection.getresponse()
            return
        time.sleep(0.05)
    raise SystemExit(f"bench: {server.name} does not respond")


def memory(process: int) -> dict[str, int]:
    """The memory of a process by kind, such as Pss and Rss, in bytes; nothing if it has ended."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return {}
    return {name: int(size) * 1024 for name, size in re.findall(r"^(\w+): +(\d+) kB$", text, re.MULTILINE)}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
