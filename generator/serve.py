"""nginx in the foreground on a built site, and again after every change of the catalog.

The configuration is the release's own, rendered once more for a scratch folder: it needs no port, no right
and no path that the person at the keyboard does not have.
"""

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from . import nginx, store
from .errors import FlatpanelError
from .store import Store


def find_nginx() -> str:
    """nginx is often where only an administrator's PATH leads."""
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"))
    found = shutil.which("nginx", path=path)
    if not found:
        raise FlatpanelError("nginx is not installed; on Debian: sudo apt-get install nginx libnginx-mod-http-js")
    return found


def find_js_module() -> str:
    """Where this nginx keeps the module that runs the shim; the usual place if it does not say."""
    said = subprocess.run([find_nginx(), "-V"], capture_output=True, text=True, check=False).stderr
    folders = re.findall(r"--(?:modules-path|prefix)=(\S+)", said)
    names = [Path(folder, *inside, "ngx_http_js_module.so") for folder in folders for inside in ((), ("modules",))]
    return next((str(name) for name in names if name.is_file()), nginx.JS_MODULE)


class Server:
    """One nginx, from its start to its end. `dist` is how the release's configuration calls its folder."""

    def __init__(self, built: Store, dist: str, port: int, run: Path) -> None:
        self.store, self.dist, self.port, self.run = built, dist, port, run
        self.configure()
        # Until nginx has read where its log is, it would try a file that only root may write; hence -e.
        command = [find_nginx(), "-e", "stderr", "-p", str(run), "-c", str(run / "nginx.conf"), "-g", "daemon off;"]
        self.process = subprocess.Popen(command)

    def configure(self) -> None:
        """Lay a main file into the scratch folder, around the release as it stands in `dist`."""
        assert self.store.current(), "a site is built before it is served"
        if not Path(self.dist).is_absolute():
            store.point(self.run / self.dist, str(self.store.root.resolve()))
        # Started by root, nginx would give its workers to an account that may not read this folder.
        user = pwd.getpwuid(self.store.root.stat().st_uid).pw_name if os.geteuid() == 0 else None
        main = nginx.main(
            self.port, folder=f"{self.dist}/current", run=".", log="stderr", user=user, js_module=find_js_module()
        )
        store.write_if_changed(self.run / "nginx.conf", main)

    def reload(self) -> None:
        self.configure()
        self.process.send_signal(signal.SIGHUP)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()


@contextmanager
def serving(built: Store, dist: str, port: int) -> Iterator[Server]:
    _refuse_taken(port)
    with store.scratch() as run:
        server = Server(built, dist, port, run)
        try:
            yield server
        finally:
            server.stop()


def _refuse_taken(port: int) -> None:
    """nginx would say it too, five times and in its own words."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as error:
            raise FlatpanelError(f"port {port} cannot be used: {error.strerror}; choose another with --port") from None


def fingerprint(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Changes whenever a file of the catalog does."""
    found = []
    for inside, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            try:
                status = os.stat(os.path.join(inside, name))
            except OSError:
                continue
            found.append((os.path.join(inside, name), status.st_mtime_ns, status.st_size))
    return tuple(found)


def watch(folder: Path, wait: Callable[[], bool], due: Callable[[], bool], changed: Callable[[], None]) -> None:
    """Call `changed` after every change below `folder` and whenever something is `due`, until `wait` says to stop."""
    seen = fingerprint(folder)
    while wait():
        now = fingerprint(folder)
        if now != seen or due():
            seen = now
            changed()
