"""The documents of the project, and a runner for the commands in them."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import pytest

from generator import filesystem
from generator.nginx import process
from tests.support.paths import ROOT
from tests.support.servers import Server, free_port, wait_for

DOCUMENTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
}
# The documents are run as of this instant; their examples are from it.
AS_OF = 1_795_266_000
COPIED = ("Makefile", "build.py", "catalog_src", "docs", "generator", "media", "pyproject.toml", "tests", "tools")
# Commands that stay in the foreground until they are stopped.
SERVERS = ("make serve", "python build.py serve")
# Seconds after which a command or server counts as hanging; far beyond what a busy machine needs.
HANGS = 1800
# Beginnings of commands that are not run, with the reason.
NOT_RUN = {
    "make test": "does not run this test, and takes minutes",
    "make test-all": "runs this test",
    "make docs-site": "tests/project/test_docs_site.py runs it",
    "make lint": "CI runs it on the real tree",
    "make ci": "runs this test",
    ".venv/bin/python -m pytest": "runs a test that the suite runs anyway",
    "UPDATE_GOLDEN=1 .venv/bin/python": "writes into tests/",
    "python manage.py dumpdata": "a command of the original service; tests/authoring/test_dumpdata.py compares it",
    "PREVIOUS=last.json docker": "same as docker",
    "docker": "tests/project/test_container.py runs the same steps",
    "flatpanel": "tests/project/test_installed_package.py runs the installed program",
    'eval "$(_FLATPANEL_COMPLETE': "needs an installed program; tests/commands/test_cli.py completes words",
    "pipx install": "tests/project/test_installation.py follows it",
    "python3 -m venv ~/flatpanel": "same as pipx",
    "~/flatpanel/bin/": "same as pipx",
    "pipx run": "same as pipx",
    "npm install --ignore-scripts": "tests/authoring/test_cms.py has these packages from .node",
    "python3 -m http.server": "the same; it ends with the browser",
    "gh attestation": "needs an account at GitHub",
    'python build.py diff "$(git': "needs a repository",
    "python build.py media list |": "needs a second machine; tests/commands/test_media.py runs rsync",
    "python build.py media list --urls": "needs a second machine; tests/commands/test_media.py runs wget",
    "python build.py media check https": "needs a second machine",
    "python build.py media fetch media": "needs a second machine",
    "python build.py publish ssh": "needs a second machine; tests/hosts/publish runs it",
    "rsync": "needs a second machine",
    "cd edge && npx wrangler": "needs an account at Cloudflare; tests/hosts/test_documented_hosts.py runs workerd",
    "cd edge && deno": "stays in the foreground; tests/hosts/test_documented_hosts.py runs Deno",
    "cd assets && npx": "needs an account; tests/hosts/test_cloudflare.py runs wrangler",
    "cd netlify && npx": "needs an account",
    "python build.py publish": "needs a second machine or an account; tests/hosts/ has real servers and stores",
    "python build.py verify --url https": "needs a second machine",
    "s5cmd": "needs an account at an object store",
    "ssh": "needs a second machine",
}
# Output that depends on the clock, on file times, on the port or on the version of zlib.
STEADY = (
    (r"(?m)^\d\d:\d\d:\d\d ", "<time> "),
    (r"Content-Length: \d+", "<length>"),  # the port is part of many bodies
    (r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "<date>"),
    (r"release [0-9a-f]{16}", "release <id>"),
    (r"\d+ requests;", "<requests>;"),  # includes retries before a server listens
    (r"[\d,]+ bytes written in \d+\.\d\d s", "<bytes> written in <seconds>"),
)

FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
ETAG = re.compile(r'(?<=")[0-9a-f]{32}(?=")')
SPAN = re.compile(r"`([^`\n]+)`")


class Block(NamedTuple):
    language: str
    text: str


def blocks(document: str, *languages: str) -> list[Block]:
    return blocks_of(DOCUMENTS[document], *languages)


def blocks_of(text: str, *languages: str) -> list[Block]:
    """The fenced blocks of a text in one of the languages."""
    fences = [Block(match["language"], match["text"]) for match in FENCE.finditer(text)]
    return [block for block in fences if block.language in languages]


def prose(document: str) -> str:
    return FENCE.sub("", DOCUMENTS[document])


def steps(block: Block) -> list[tuple[str, str]]:
    """The commands of a block and the output of each; a `sh` block shows no output."""
    if block.language == "sh":
        return [(line, "") for line in block.text.splitlines() if line and not line.startswith("#")]
    commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (command.partition("\n") for command in commands)]


def anchor(heading: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def sections(text: str) -> dict[str, str]:
    """The text under each heading, by the anchor of the heading."""
    parts = re.split(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {anchor(heading): part for heading, part in zip(parts[1::2], parts[2::2], strict=True)}


def first_cells(text: str, head: str) -> list[str]:
    """The names in the first column of the tables whose first head is `head`."""
    tables = re.findall(rf"^\| {re.escape(head)} \|.*\n\|.*\n((?:\|.*\n)*)", text, re.MULTILINE)
    return [name for table in tables for row in table.splitlines() for name in SPAN.findall(row.split("|")[1])]


def added_by_patches(document: str) -> set[str]:
    """The options and files that the patches beside a document add."""
    patches = "".join(path.read_text(encoding="utf-8") for path in (ROOT / document).parent.glob("*.patch"))
    options = re.findall(r'^\+.*option\("(--[a-z-]+)"', patches, re.MULTILINE)
    files = re.findall(r"^\+\+\+ b/(.+)$", patches, re.MULTILINE)
    return {*options, *files}


def steady(text: str) -> str:
    for pattern, name in STEADY:
        text = re.sub(pattern, name, text)
    return text


def is_shown(shown: str, printed: str) -> bool:
    """Whether a document shows the printed text.

    `…` at the end of a line stands for the rest of it; alone in the last line, also for the lines below.
    """
    expected, actual = shown.splitlines(), printed.splitlines()
    if expected[-1:] == ["…"]:
        actual = actual[: len(expected)]
    return len(expected) == len(actual) and all(
        line.startswith(start[:-1]) if start.endswith("…") else line == start
        for start, line in zip(expected, actual, strict=True)
    )


class Runner:
    """Runs the blocks of a document from top to bottom, in a copy of the project."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.server: Server | None = None
        # Coverage is measured for the project, not for its copy.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
        path = os.pathsep.join([str(folder / ".venv/bin"), inherited["PATH"], os.path.dirname(process.find_nginx())])
        self.environment = {
            **inherited,
            "PATH": path,
            "CURL_HOME": str(folder),
            "SOURCE_DATE_EPOCH": str(AS_OF),
            # `git apply` must not use a repository around the copy.
            "GIT_CEILING_DIRECTORIES": str(folder.parent),
            # At its end, pytest removes the temporary folders of every pytest that uses the same place.
            "TMPDIR": str(folder / "tmp"),
        }

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
            elif not command.startswith(tuple(NOT_RUN)):
                self.run(command, output if block.language == "console" else None)

    def with_port(self, text: str) -> str:
        """A text of a document, with the port of the copy and the ETags that follow from it."""
        etags = {documented: etag for etag, documented in self.etags(text).items()}
        text = ETAG.sub(lambda match: etags.get(match[0], match[0]), text)
        return text.replace("localhost:8000", f"localhost:{self.port}")

    def as_documented(self, output: bytes) -> str:
        """Output of the copy, with the port of the documents and the ETags that follow from it."""
        text = output.decode().replace("\r", "").replace(f"localhost:{self.port}", "localhost:8000")
        etags = self.etags(text)
        return steady(ETAG.sub(lambda match: etags.get(match[0], match[0]), text))

    def etags(self, text: str) -> dict[str, str]:
        """The ETags of all bodies of the copy, and those that the bodies have at the port of the documents."""
        ours, theirs = (f"localhost:{port}".encode() for port in (self.port, 8000))
        bodies = (self.folder / "dist/www").rglob("*.json") if ETAG.search(text) else ()
        return {
            path.suffixes[-2][1:]: hashlib.md5(path.read_bytes().replace(ours, theirs)).hexdigest() for path in bodies
        }

    def run(self, command: str, expected: str | None) -> None:
        """Run the command; it must succeed and print the text in the document.

        A request is repeated, because a server needs a moment to start or to load a release.
        """
        for _ in range(500 if command.startswith("curl") else 1):
            words = ["bash", "-c", self.with_port(command)]
            pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
            done = subprocess.run(words, cwd=self.folder, env=self.environment, timeout=HANGS, **pipes)
            printed = self.as_documented(done.stdout)
            if done.returncode == 0 and (expected is None or is_shown(steady(expected), printed)):
                return
        pytest.fail(f"$ {command}\nexit code {done.returncode}, output\n{printed}")

    def start(self, command: str) -> None:
        self.stop()
        words, options = ["bash", "-c", command], {"env": self.environment, "start_new_session": True}
        self.server = Server(words, TemporaryFile(), cwd=self.folder, **options)  # noqa: SIM115  # until `stop`

    def read_terminal(self, expected: str) -> None:
        """Wait until the server in the foreground has printed the text."""
        assert self.server, "no server is running"
        wait_for(self.server, lambda printed: steady(expected) in self.as_documented(printed.encode()))

    def save(self, text: str) -> None:
        """Save a script under the name in its first line."""
        name = text.splitlines()[0].removeprefix("# ")
        (self.folder / name).write_text(text, encoding="utf-8")

    def edit(self, text: str) -> None:
        """Replace lines of the file that the first line of a diff names. Lines after a space stay."""
        lines = text.splitlines()
        file = self.folder / lines[0].removeprefix("--- ")
        before, after = ("".join(f"{line[1:]}\n" for line in lines[1:] if line[:1] in (sign, " ", "")) for sign in "-+")
        content = file.read_text(encoding="utf-8")
        assert content.count(before) == 1, f"{file} does not contain exactly once\n{before}"
        file.write_text(content.replace(before, after), encoding="utf-8")

    def stop(self) -> None:
        if self.server:
            os.killpg(self.server.pid, signal.SIGTERM)
            self.server.wait()
            self.server.log.close()
            self.server = None
        pid = self.folder / "dist/run/nginx.pid"
        if pid.exists():
            os.kill(int(pid.read_text()), signal.SIGTERM)


@contextmanager
def project(*, base_url: bool = True) -> Iterator[Runner]:
    """A copy of the project with its own port, and with everything installed.

    With `base_url`, links use that port too; otherwise `serve` builds into another folder.
    """
    port = free_port()
    with filesystem.scratch_folder(shared=True) as folder:
        for name in COPIED:
            copy: Any = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, folder / name)
        (folder / ".curlrc").write_text("silent\n")
        (folder / "tmp").mkdir()
        (folder / "tmp").chmod(0o1777)
        for name, script in ((".venv/bin/python", f'exec "{sys.executable}" "$@"'), ("tools/setup", ":")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"#!/bin/sh\n{script}\n")
            (folder / name).chmod(0o755)
        site = folder / "catalog_src/site.yaml"
        text = site.read_text(encoding="utf-8").replace("port: 8000", f"port: {port}")
        text = text.replace("localhost:8000", f"localhost:{port}") if base_url else text
        site.write_text(text, encoding="utf-8")
        runner = Runner(folder, port)
        try:
            yield runner
        finally:
            runner.stop()
