"""nginx in the foreground on a built site, and again after every change of the catalog.

The configuration is the release's own, rendered once more for a scratch folder: it needs no port, no right
and no path that the person at the keyboard does not have.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO

from .. import filesystem
from ..catalog import snapshot
from ..catalog.confined_folder import Folder
from ..catalog.snapshot import Snapshot
from ..errors import FlatpanelError
from ..release import nginx_user
from ..release.store import Store
from . import config, quoting

# How many seconds nginx may take to read a new configuration; it needs one for some hundred thousand URLs.
PATIENCE = 60
# From its first line on nginx hands connections to a worker; after the second it takes no more of them.
_CAME = re.compile(r"start worker process (\d+)")
_REFUSAL = re.compile(r"(?:nginx:|\d\S+ \S+) \[emerg\]")
_WENT = re.compile(r"(\d+)(?=#\d+: gracefully shutting down| exited (?:with code|on signal))")


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
    return next((str(name) for name in names if name.is_file()), config.JS_MODULE)


class Server:
    """One nginx, from its start to its end. `dist` is how the release's configuration calls its folder.

    `hear` gets each line that nginx prints; requests are quoted in them as they came.
    """

    def __init__(self, built: Store, dist: str, port: int, run: Path, hear: Callable[[str], None]) -> None:
        self.store, self.dist, self.port, self.run, self.hear = built, dist, port, run, hear
        self.ipv6 = free_port(port)
        self.refusals = 0
        self.configure()
        # Until nginx has read where its log is, it would try a file that only root may write; hence -e.
        command = [find_nginx(), "-e", "stderr", "-p", str(run), "-c", str(run / "nginx.conf")]
        command += ["-g", f"daemon off; error_log {quoting.quote_path(self.log)} notice;"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.relay = Thread(target=self._relay, args=(self.process.stderr,), daemon=True)
        self.relay.start()

    def _relay(self, lines: IO[bytes]) -> None:
        """Hand on what nginx prints, to its last word."""
        with lines:
            for line in lines:
                text = line.decode(errors="backslashreplace").rstrip("\n")
                with suppress(OSError):  # nobody listens, and nginx must not wait for that
                    self.hear(text)
                self.refusals += bool(_REFUSAL.match(text))

    @property
    def log(self) -> Path:
        """Where nginx says what its workers do; what is wrong it says to people as well."""
        return self.run / "notice.log"

    def configure(self) -> None:
        """Lay a main file into the scratch folder, around the release as it stands in `dist`."""
        assert self.store.current(), "a site is built before it is served"
        if not Path(self.dist).is_absolute():
            filesystem.replace_link(self.run / self.dist, str(self.store.root.resolve()))
        nginx_user.write_user_conf(self.store.root, self.run / "user.conf")
        folder = f"{self.dist}/current"
        main = config.main_conf(
            self.port, ipv6=self.ipv6, folder=folder, run=".", log="stderr", js_module=find_js_module()
        )
        filesystem.write_if_changed(self.run / "nginx.conf", main)

    def wait_until_up(self) -> None:
        """Return when nginx takes connections; that it ended instead is an error."""
        self._wait(lambda: bool(self._workers()), refusals=0)

    def reload(self) -> None:
        """Load the current release, and return when it is the one that is served."""
        self.configure()
        old = self._workers()
        # Counted before it is asked: it may refuse before anybody looks.
        refusals = self.refusals
        self.process.send_signal(signal.SIGHUP)
        self._wait(lambda: not old & self._workers(), refusals)

    def _workers(self) -> set[str]:
        """The processes that take new connections, by what nginx logs of their coming and going."""
        log = self._logged()
        return set(_CAME.findall(log)) - set(_WENT.findall(log))

    def _logged(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def _wait(self, done: Callable[[], bool], refusals: int) -> None:
        """Until it is done; that nginx refuses the configuration, ends, or does nothing at all is an error."""
        for _ in range(50 * PATIENCE):
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(1 / 50)
                return self.check_end()
            if done():
                return
            if self.refusals > refusals:
                raise FlatpanelError("nginx refuses the configuration; it said why above")
        raise FlatpanelError(f"nginx did not follow within {PATIENCE} seconds")

    def check_end(self) -> None:
        # A worker that outlives its master keeps the pipe open.
        self.relay.join(1)
        if self.process.returncode:
            raise FlatpanelError(f"nginx ended with exit code {self.process.returncode}")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        self.relay.join(1)


@contextmanager
def serving(built: Store, dist: str, port: int, hear: Callable[[str], None]) -> Iterator[Server]:
    with filesystem.scratch_folder(shared=True) as run:
        server = Server(built, dist, port, run, hear)
        try:
            server.wait_until_up()
            yield server
        finally:
            server.stop()


def free_port(port: int) -> str:
    """The loopback address of IPv6, if this machine has one; that another program has the port is an error.

    nginx would say it too, five times and in its own words.
    """
    _bind(socket.AF_INET, ("", port))
    try:
        _bind(socket.AF_INET6, ("::1", 0))
    except FlatpanelError:
        return ""
    _bind(socket.AF_INET6, ("::1", port))
    return "[::1]"


def _bind(family: socket.AddressFamily, address: tuple[str, int]) -> None:
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise FlatpanelError(
            f"port {address[1]} cannot be used: {error.strerror}; choose another with --port"
        ) from None


def watch(
    folder: Folder, before: Snapshot, wait: Callable[[], bool], due: Callable[[], bool], changed: Callable[[], None]
) -> None:
    """Call `changed` when `folder` differs from `before` and when something is `due`, until `wait` returns False."""
    while wait():
        now = snapshot.take(folder)
        if now != before or due():
            before = now
            changed()
