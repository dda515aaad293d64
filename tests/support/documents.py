"""The documents of the project, and somebody who does what they say."""

import hashlib
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from generator import filesystem
from generator.nginx import process
from tests.support.paths import ROOT

DOCUMENTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
}
# The instant at which the documents are followed; their examples are of that time.
AS_OF = 1_795_266_000
COPIED = ("Makefile", "build.py", "catalog_src", "docs", "generator", "pyproject.toml", "tests")
# Commands in the foreground that end when they are told to.
SERVERS = ("make serve", "python build.py serve")
# Commands that are not run here, by how they begin, and why not.
NOT_RUN = {
    "make test": "is what runs this test",
    "make lint": "CI runs it, on the real tree",
    "make test-all": "runs this test",
    "make ci": "runs `make test-all`",
    ".venv/bin/python -m pytest": "is what runs this test",
    "UPDATE_GOLDEN=1": "writes into tests/",
    "PREVIOUS=last.json docker": "as docker",
    "docker": "tests/project/test_container.py does what it would do",
    "flatpanel": "tests/project/test_installed_package.py runs it where it is installed",
    "pip install": "tests/project/test_installed_package.py installs the wheel, without a network",
    'python build.py diff "$(git': "needs a repository",
    "rsync": "needs a second machine",
    "s5cmd": "needs somebody's bucket",
    "ssh": "needs a second machine",
}
# What differs from run to run and from machine to machine: clocks, times of files, the port, the zlib at hand.
STEADY = (
    (r"(?m)^\d\d:\d\d:\d\d ", "<time> "),
    (r"Content-Length: \d+", "<length>"),  # the port is part of many bodies
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "<date>"),
    (r"release [0-9a-f]{16}", "release <id>"),
    (r"\d+ requests;", "<requests>;"),  # one more for each that comes before a server listens
    (r"[\d,]+ bytes written in \d+\.\d\d s", "<bytes> written in <seconds>"),
)

FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
TAG = re.compile(r'(?<=")[0-9a-f]{32}(?=")')
SPAN = re.compile(r"`([^`\n]+)`")


class Block(NamedTuple):
    language: str
    text: str


def blocks(document: str, *languages: str) -> list[Block]:
    found = [Block(one["language"], one["text"]) for one in FENCE.finditer(DOCUMENTS[document])]
    return [one for one in found if one.language in languages]


def prose(document: str) -> str:
    return FENCE.sub("", DOCUMENTS[document])


def steps(block: Block) -> list[tuple[str, str]]:
    """The commands of a block and what each prints; a `sh` block shows no output."""
    if block.language == "sh":
        return [(line, "") for line in block.text.splitlines() if line and not line.startswith("#")]
    commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (one.partition("\n") for one in commands)]


def anchor(heading: str) -> str:
    """What a heading is called in links, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def sections(text: str) -> dict[str, str]:
    """What stands under each heading, by its anchor."""
    parts = re.split(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {anchor(heading): part for heading, part in zip(parts[1::2], parts[2::2], strict=True)}


def first_cells(text: str, head: str) -> list[str]:
    """The names in the first column of the tables that begin with `head`."""
    tables = re.findall(rf"^\| {re.escape(head)} \|.*\n\|.*\n((?:\|.*\n)*)", text, re.MULTILINE)
    return [name for table in tables for row in table.splitlines() for name in SPAN.findall(row.split("|")[1])]


def brought(document: str) -> set[str]:
    """The options and files that patches in a document bring along."""
    patches = "".join(block.text for block in blocks(document, "diff"))
    options = re.findall(r'^\+.*option\("(--[a-z-]+)"', patches, re.MULTILINE)
    files = re.findall(r"^\+\+\+ b/(.+)$", patches, re.MULTILINE)
    return {*options, *files}


def not_run(command: str) -> bool:
    return command.startswith(tuple(NOT_RUN))


def steady(text: str) -> str:
    for pattern, name in STEADY:
        text = re.sub(pattern, name, text)
    return text


def is_shown(shown: str, printed: str) -> bool:
    """Whether a document shows what was printed; `…` at the end of a line stands for the rest of it."""
    expected, found = shown.splitlines(), printed.splitlines()
    return len(expected) == len(found) and all(
        line.startswith(start[:-1]) if start.endswith("…") else line == start
        for start, line in zip(expected, found, strict=True)
    )


class Person:
    """Somebody who does what a document says, from top to bottom, in a copy of the project."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.server: subprocess.Popen[bytes] | None = None
        # What is being measured here is not that copy.
        kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
        path = os.pathsep.join([str(folder / ".venv/bin"), kept["PATH"], os.path.dirname(process.find_nginx())])
        self.environment = {**kept, "PATH": path, "CURL_HOME": str(folder), "SOURCE_DATE_EPOCH": str(AS_OF)}

    def follow(self, block: Block) -> None:
        if block.language == "diff":
            self.edit(block.text)
        elif block.language == "text":
            self.read_terminal(block.text)
        elif block.language == "python":
            self.save(block.text)
        for command, output in steps(block) if block.language in ("sh", "console") else ():
            if command.startswith(SERVERS):
                self.start(command)
            elif not not_run(command):
                self.run(command, output if block.language == "console" else None)

    def here(self, text: str) -> str:
        tags = {shown: tag for tag, shown in self.tags(text).items()}
        text = TAG.sub(lambda tag: tags.get(tag[0], tag[0]), text)
        return text.replace("localhost:8000", f"localhost:{self.port}")

    def shown(self, output: bytes) -> str:
        text = output.decode().replace("\r", "").replace(f"localhost:{self.port}", "localhost:8000")
        tags = self.tags(text)
        return steady(TAG.sub(lambda tag: tags.get(tag[0], tag[0]), text))

    def tags(self, text: str) -> dict[str, str]:
        """The tags of all bodies here, and those that they have at the port of the documents."""
        ours, theirs = (f"localhost:{port}".encode() for port in (self.port, 8000))
        bodies = (self.folder / "dist/www").rglob("*.json") if TAG.search(text) else ()
        return {
            path.suffixes[-2][1:]: hashlib.md5(path.read_bytes().replace(ours, theirs)).hexdigest() for path in bodies
        }

    def run(self, command: str, expected: str | None) -> None:
        """The command must succeed and print what the document shows.

        A server that was started or told to load something needs a moment, so that it is asked again.
        """
        for _ in range(500 if command.startswith("curl") else 1):
            done = subprocess.run(
                ["bash", "-c", self.here(command)],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=120,
            )
            printed = self.shown(done.stdout)
            if done.returncode == 0 and (expected is None or is_shown(steady(expected), printed)):
                return
        pytest.fail(f"$ {command}\nexit code {done.returncode}, and it printed\n{printed}")

    def start(self, command: str) -> None:
        self.stop()
        self.server = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def read_terminal(self, expected: str) -> None:
        """What the server in the foreground prints next, sooner or later."""
        assert self.server and self.server.stdout, "no server was started before"
        printed = b""
        while steady(expected) not in self.shown(printed):
            ready, _, _ = select.select([self.server.stdout], [], [], 60)
            more = os.read(self.server.stdout.fileno(), 65536) if ready else b""
            assert more, f"the server does not say\n{expected}but\n{printed.decode()}"
            printed += more

    def save(self, text: str) -> None:
        """A script under the name that its first line gives it."""
        name = text.splitlines()[0].removeprefix("# ")
        (self.folder / name).write_text(text, encoding="utf-8")

    def edit(self, text: str) -> None:
        """What is shown of one file, or a whole patch."""
        if "\n+++ " in text:
            self.apply(text)
            return
        lines = text.splitlines()
        file = self.folder / lines[0].removeprefix("--- ")
        before, after = ("".join(f"{line[1:]}\n" for line in lines[1:] if line[0] == sign) for sign in "-+")
        content = file.read_text(encoding="utf-8")
        assert content.count(before) == 1, f"{file} does not hold exactly once\n{before}"
        file.write_text(content.replace(before, after), encoding="utf-8")

    def apply(self, patch: str) -> None:
        """As git does it, which knows of no repository here."""
        environment = {**self.environment, "GIT_CEILING_DIRECTORIES": str(self.folder.parent)}
        done = subprocess.run(
            ["git", "apply"], cwd=self.folder, env=environment, input=patch, text=True, capture_output=True
        )
        assert done.returncode == 0, done.stderr

    def stop(self) -> None:
        if self.server and self.server.stdout:
            os.killpg(self.server.pid, signal.SIGTERM)
            self.server.stdout.close()
            self.server.wait()
        pid = self.folder / "dist/run/nginx.pid"
        if pid.exists():
            os.kill(int(pid.read_text()), signal.SIGTERM)


@contextmanager
def free_port() -> Iterator[int]:
    """Bound and not listened on: nobody is given it by chance, and whoever asks for it gets it."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("", 0))
        yield holder.getsockname()[1]


@contextmanager
def project(*, base_url: bool = True) -> Iterator[Person]:
    """A copy of the project on a port of its own, in which everything is installed already.

    With `base_url`, its links lead to that port: at another address than that, `serve` would build elsewhere.
    """
    with filesystem.scratch_folder(shared=True) as folder, free_port() as port:
        for name in COPIED:
            copy: Any = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, folder / name)
        (folder / ".curlrc").write_text("silent\n")
        for name, script in ((".venv/bin/python", f'exec "{sys.executable}" "$@"'), ("tools/setup", ":")):
            (folder / name).parent.mkdir(parents=True)
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        site = folder / "catalog_src/site.yaml"
        text = site.read_text(encoding="utf-8").replace("port: 8000", f"port: {port}")
        text = text.replace("localhost:8000", f"localhost:{port}") if base_url else text
        site.write_text(text, encoding="utf-8")
        person = Person(folder, port)
        try:
            yield person
        finally:
            person.stop()
