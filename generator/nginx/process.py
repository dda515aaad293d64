"""Run nginx in the foreground on a built site, with temporary files in a scratch folder."""

import errno
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Event, Thread
from typing import IO

from .. import filesystem
from ..errors import FlatpanelError
from ..release import nginx_user
from ..release.store import Store
from . import config
from .config import MediaConf

# Seconds that nginx may take to load a configuration. It needs one second for some hundred thousand URLs.
MAX_WAIT = 60
# What nginx logs before a worker accepts connections, and when a worker no longer does. Lines that quote a request have
# another beginning.
_STARTED = re.compile(r"\d\S+ \S+ \[\w+\] \d+#\d+: start worker process (\d+)$")
_STOPPED = re.compile(r"\d\S+ \S+ \[\w+\] (?:(\d+)#\d+: gracefully shutting|\d+#\d+: worker process (\d+) exited)")
_REJECTED = re.compile(r"(?:nginx:|\d\S+ \S+) \[emerg\]")
# What nginx logs below the level of errors.
_NOTICE = re.compile(r"\d\S+ \S+ \[(?:warn|notice|info)\]")


def find_nginx() -> str:
    """The path of nginx, which is often installed outside a user's PATH."""
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"))
    nginx = shutil.which("nginx", path=path)
    if not nginx:
        raise FlatpanelError("nginx is not installed; on Debian: sudo apt-get install nginx libnginx-mod-http-js")
    return nginx


def find_js_module() -> str:
    """The path of the module that runs the shim; the usual path if this nginx does not print where its modules are."""
    folders = re.findall(r"--(?:modules-path|prefix)=(\S+)", _settings(find_nginx()))
    names = [Path(folder, *inside, "ngx_http_js_module.so") for folder in folders for inside in ((), ("modules",))]
    return next((str(name) for name in names if name.is_file()), config.JS_MODULE)


@cache
def _settings(nginx: str) -> str:
    """The options that nginx was compiled with. Each reload needs them, and nginx takes 10 ms to print them."""
    return subprocess.run([nginx, "-V"], capture_output=True, text=True, check=False).stderr


class _Messages:
    """What the lines that nginx prints say about its workers."""

    def __init__(self) -> None:
        # The process ids of the workers that accept connections.
        self.workers: frozenset[int] = frozenset()
        # The number of messages about a configuration that cannot be loaded.
        self.rejected = 0
        self._changed = Event()

    def read(self, line: str) -> None:
        if started := _STARTED.match(line):
            self.workers |= {int(started[1])}
        elif stopped := _STOPPED.match(line):
            self.workers -= {int(stopped[1] or stopped[2])}
        self.rejected += bool(_REJECTED.match(line))
        self._changed.set()

    def wait(self, seconds: float) -> None:
        """Return after the next line, and at the latest after this time."""
        self._changed.wait(seconds)
        self._changed.clear()


@dataclass(eq=False)
class Server:
    """One nginx process, inside a with statement. It listens on `hosts`, by default on loopback."""

    store: Store
    # The path of the store in the release's configuration. With `status`, the folder of a preview's status, the first
    # release may come later: until then it is None.
    dist: str | None
    port: int
    # Called with each error that nginx prints. The lines quote requests as clients sent them.
    on_line: Callable[[str], None]
    # Its folder is absolute.
    media: MediaConf | None = None
    status: Path | None = None
    hosts: Sequence[str] = ()

    def __enter__(self) -> "Server":
        with ExitStack() as opened:
            self.run = opened.enter_context(filesystem.scratch_folder(shared=True))
            self.listen = addresses(self.port, self.hosts)
            self.messages = _Messages()
            self.configure()
            self._start()
            opened.callback(self.stop)
            self.wait_until_up()
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def _start(self) -> None:
        # Without -e, nginx writes to a log that only root can open until it has read its configuration.
        command = [find_nginx(), "-e", "stderr", "-p", str(self.run), "-c", str(self.run / "nginx.conf")]
        command += ["-g", "daemon off;"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        # A shell waits for the end of this program, and ends nginx if it still runs: a killed program cannot.
        watch = ["sh", "-c", 'trap "" INT TERM HUP; read -r _; kill -TERM "$1"', "sh", str(self.process.pid)]
        silent = subprocess.DEVNULL
        self.guard = subprocess.Popen(watch, stdin=subprocess.PIPE, stdout=silent, stderr=silent)
        assert self.guard.stdin
        # A forked process of a build may outlive this program, and would keep the pipe open.
        os.register_at_fork(after_in_child=self.guard.stdin.close)
        self.relay = Thread(target=self._relay, args=(self.process.stderr,), daemon=True)
        self.relay.start()

    def _relay(self, lines: IO[bytes]) -> None:
        """Read each line that nginx prints, and pass on the errors."""
        with lines:
            for line in lines:
                text = line.decode(errors="backslashreplace").rstrip("\n")
                if not _NOTICE.match(text):
                    with suppress(OSError):  # if the output is closed, nginx must go on
                        self.on_line(text)
                self.messages.read(text)

    def configure(self) -> None:
        """Write a main file for the current release into the scratch folder."""
        assert self.store.current() or not self.dist, "serve builds first"
        if self.dist and not Path(self.dist).is_absolute():
            filesystem.replace_link(self.run / self.dist, str(self.store.root.resolve()))
        nginx_user.write_user_conf(self.store.root if self.dist else self.run, self.run / "user.conf")
        folder = f"{self.dist}/current" if self.dist else None
        preview = None
        if self.status:
            preview = "."
            text = config.preview_conf(str(self.status), has_release=bool(self.dist))
            filesystem.write_if_changed(self.run / config.PREVIEW_FILE, text)
        # The media.conf of the release has a path relative to the project, or that of another machine.
        media = None
        if self.media and folder:
            media = "."
            text = config.media_conf(self.media, folder=folder, run=".", preview=bool(preview))
            filesystem.write_if_changed(self.run / config.MEDIA_FILE, text)
        main = config.main_conf(
            self.listen,
            folder=folder,
            run=".",
            log="stderr",
            log_level="notice",
            js_module=find_js_module(),
            media=media,
            preview=preview,
        )
        filesystem.write_if_changed(self.run / "nginx.conf", main)

    def wait_until_up(self) -> None:
        """Return when nginx accepts connections; an error if it ends instead."""
        self._wait(lambda: bool(self.messages.workers), rejected=0)

    def reload(self) -> None:
        """Load the current release, and return when all workers serve it."""
        self.configure()
        # Read before the signal: nginx may reject the configuration at once.
        old, rejected = set(self.messages.workers), self.messages.rejected
        self.process.send_signal(signal.SIGHUP)
        self._wait(lambda: len(self.messages.workers - old) >= len(old), rejected)
        # nginx would let the old workers accept connections for another 0.1 s.
        for worker in old:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGQUIT)
        self._wait(lambda: not old & self.messages.workers, rejected)

    def _wait(self, done: Callable[[], bool], rejected: int) -> None:
        """Wait until `done`; an error if nginx rejects the configuration, ends, or exceeds MAX_WAIT."""
        for _ in range(50 * MAX_WAIT):
            if self.process.poll() is not None:
                return self.check_end()
            if done():
                return
            if self.messages.rejected > rejected:
                raise FlatpanelError("nginx rejected the configuration; its messages above say why")
            self.messages.wait(1 / 50)
        raise FlatpanelError(f"nginx did not load the new configuration within {MAX_WAIT} s")

    def check_end(self) -> None:
        """An error if nginx ended with one."""
        # With a limit: a worker that outlives its master keeps the pipe open.
        self.relay.join(1)
        if self.process.returncode:
            raise FlatpanelError(f"nginx ended with exit code {self.process.returncode}")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        self.relay.join(1)
        # The process id may belong to another program from now on.
        self.guard.kill()
        self.guard.communicate()


def addresses(port: int, hosts: Sequence[str] = ()) -> list[str]:
    """The IP addresses `hosts` with the port, as nginx writes them; an error if one of them cannot be used.

    nginx would repeat the error five times. Without hosts, they are those of loopback: many programs try ::1 first.
    """
    if not hosts:
        hosts = ["127.0.0.1", "::1"]
        try:
            _bind("::1", 0)
        except FlatpanelError:  # a machine without IPv6
            hosts = hosts[:1]
    for host in hosts:
        _bind(host, port)
    return [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host in hosts]


def _bind(host: str, port: int) -> None:
    is_ipv6 = ":" in host
    try:
        with socket.socket(socket.AF_INET6 if is_ipv6 else socket.AF_INET) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if is_ipv6:  # [::] is not 0.0.0.0, as in nginx
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind((host, port))
    except OSError as error:
        option = "--host" if error.errno == errno.EADDRNOTAVAIL else "--port"
        raise FlatpanelError(
            f"port {port} of {host} cannot be used: {error.strerror}; choose another with {option}"
        ) from None
