"""No test waits for ever: neither for a server that is not there, nor for anything else."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import nginx_client
from tests.support.archives import unmeasured
from tests.support.paths import ROOT

MAIN = "pid nginx.pid; error_log error.log; events {{ }} http {{ access_log off; {} server {{ listen {}; }} }}"
WAITING = """
import socket, subprocess, threading
from tests import conftest
from tests.support import servers

conftest.SECONDS_OF_A_TEST, conftest.SECONDS_OF_A_CLEAN_UP = 5, 3

def test_command():
    subprocess.run(["sh", "-c", "kill -ALRM $PPID; exec sleep 600"])

def test_response():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).recv(1)

def test_thread():
    threading.Thread(target=threading.Event().wait).start()
"""


def serve(folder: Path, temporary_paths: str) -> None:
    """Start nginx, ask it, end it, and ask again."""
    with nginx_client.listening() as listener:
        (folder / "nginx.conf").write_text(MAIN.format(temporary_paths, listener.getsockname()[1]))
        with nginx_client.running(folder, listener) as web:
            assert web.ask("/").status == 404
            web.process.terminate()
            web.process.wait()
            web.ask("/")


def test_a_server_that_does_not_come_up_fails_its_test(tmp_path: Path) -> None:
    """At once, with its log. No test waits for a response then, although it has opened the socket."""
    (tmp_path / "file").touch()
    with pytest.raises(pytest.fail.Exception, match=r"(?s)nginx ended with exit code 1;.* mkdir\(\) .*file/proxy"):
        serve(tmp_path, nginx_client.TEMPORARY_PATHS.replace(" proxy;", " file/proxy;"))


def test_clients_of_a_server_that_ended_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConnectionRefusedError) as error:
        serve(tmp_path, nginx_client.TEMPORARY_PATHS)

    assert "nginx ended with exit code 0; it printed:" in error.value.__notes__[0]


def test_a_main_file_without_temporary_folders_is_refused(tmp_path: Path) -> None:
    """Also where nginx could use those of root."""
    (tmp_path / "nginx.conf").write_text(MAIN.format("", 1))
    refused = pytest.raises(AssertionError, match="TEMPORARY_PATHS")
    with nginx_client.listening() as listener, refused, nginx_client.running(tmp_path, listener):
        pass


def test_a_test_that_waits_for_ever_ends(tmp_path: Path) -> None:
    """It fails, names the command or shows the place, and the next test runs. A thread does not keep the process.

    The command sends the signal of the end itself, since its start may take as long as that time on a busy machine.
    """
    (tmp_path / "test_waiting.py").write_text(WAITING)
    command = [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "-p", "tests.conftest", tmp_path]
    done = subprocess.run(command, cwd=ROOT, env=unmeasured(), capture_output=True, text=True)

    assert done.returncode == 1, done.stdout + done.stderr
    assert "test_command has not ended after 5 seconds; it waits for ['sh', '-c', 'kill" in done.stdout
    assert "test_response has not ended after 5 seconds" in done.stdout
    assert ".recv(1)" in done.stdout
    assert "2 failed, 1 passed" in done.stdout
    assert "Timeout (0:00:03)!" in done.stderr
