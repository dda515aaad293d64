"""docs/moving.md: an owner follows the page, with the replay of the original service as the old site.

nginx serves the old site as on a real server, from a file in conf.d. The folders of the page are below a temporary one.
"""

import lzma
import os
import re
import shlex
import shutil
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from generator import filesystem
from generator.nginx import process
from tests.support import nginx_client
from tests.support.documents import DOCUMENTS, Block, Runner, blocks_of, sections, steps
from tests.support.media_server import fill
from tests.support.paths import ROOT
from tests.support.real_service import RECORDED, RECORDED_AT, RealService, real_service
from tests.support.servers import LIMIT, free_port

PAGE = "docs/moving.md"
SECTIONS = sections(DOCUMENTS[PAGE])
FOLLOWED = ("1-copy-the-site", "2-compare", "3-run-both", "4-switch-over")
AFTER, BACK = "5-after-the-switch", "6-go-back"
ELSEWHERE = ("to-another-server", "images")
# Requests until a reload counts as failed; far more than a busy machine needs.
TRIES = 100_000
# Beginnings of commands that copy from another machine.
OTHER_MACHINES = ("rsync",)
# The exit code of commands that find faults of the old site is 1.
ADDED = {"flatpanel media check": "|| test $? = 1", "flatpanel media fetch": "|| test $? = 1"}
# The script that pip would install, for this checkout, without pauses between requests to the old site.
# The path of Python may have spaces.
INSTALLED = """\
#!/bin/sh
'''exec' "{python}" "$0" "$@"
' '''
import sys, time
time.sleep = lambda seconds: None
sys.path.insert(0, "{root}")
from generator.commands.cli import main
sys.exit(main())
"""
AS_ROOT = """\
#!/bin/sh
test "$1" != nginx || {{ shift; set -- "{nginx}" -p "{folder}" -e stderr -c nginx.conf "$@"; }}
exec "$@"
"""
MAIN = """
load_module {module};
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_rlimit_nofile 20000;
events {{ worker_connections 8192; }}
http {{ {temporary} access_log off; {types} include conf.d/*.conf; }}
"""
TYPES = "types { image/png png; image/jpeg jpg jpeg; image/webp webp; }"
OLD_SITE = """\
server {{
    listen 443 ssl;
    server_name shelf.example;
    location /media/ {{ root /srv/mangadventure; }}
    location / {{
        proxy_pass http://127.0.0.1:{old};
    }}
}}
"""


class Move(Runner):
    """Runs the blocks of the page. `cd` lasts, and `sudo` runs the command as the same user."""

    def __init__(self, root: Path, port: int, service: RealService) -> None:
        super().__init__(root / "home/me", port)
        self.root, self.service, self.front = root, service, service.port
        path = os.pathsep.join([str(root / "bin"), self.environment["PATH"]])
        self.environment |= {"PATH": path, "HOME": str(root / "home/me"), "TMPDIR": str(root / "tmp")}
        self.environment["SOURCE_DATE_EPOCH"] = str(RECORDED_AT)

    def follow_section(self, heading: str) -> None:
        for block in blocks_of(SECTIONS[heading], "sh", "console", "diff"):
            self.follow(block)

    def follow(self, block: Block) -> None:
        if block.language == "diff":
            self.edit(self.with_port(block.text))
        for command, output in steps(block) if block.language in ("sh", "console") else ():
            self.type(command, output if block.language == "console" else None)

    def type(self, command: str, output: str | None) -> None:
        if command.startswith("cd "):
            self.folder = self.folder / shlex.split(self.with_port(command))[1]
        elif command.startswith("flatpanel serve"):
            self.start(f"exec {command} --port {self.port}")
            self.read_terminal("serving http://localhost:8000/")
        elif not command.startswith(OTHER_MACHINES):
            self.run(" ".join([command, *(more for start, more in ADDED.items() if command.startswith(start))]), output)

    def with_port(self, text: str) -> str:
        text = re.sub(r"(?<![\w.:])(?=/(?:srv|etc)/)", str(self.root), text)
        text = text.replace("https://shelf.example", self.service.url).replace("443 ssl", str(self.front))
        return super().with_port(text)

    def as_documented(self, output: bytes) -> str:
        replaced = ((self.root, ""), (self.service.url, "https://shelf.example"), ("/bin/flatpanel", "flatpanel"))
        for text, documented in replaced:
            output = output.replace(str(text).encode(), documented.encode())
        return super().as_documented(output)

    def etags(self, text: str) -> dict[str, str]:
        return {}

    def change_old_site(self) -> None:
        """Make the recorded edits, of which one is a new chapter."""
        self.service.edit()
        self.write_data("after-edit.sqlite3", "media-after-edit.txt")

    def write_data(self, database: str, media: str) -> None:
        """Write the recorded database and the recorded files of images, which are tiny here."""
        folder = self.root / "srv/mangadventure"
        content = {name: lzma.decompress((RECORDED / f"v0.9.6/{name}.xz").read_bytes()) for name in (database, media)}
        (folder / "db.sqlite3").write_bytes(content[database])
        fill(folder / "media", content[media].decode().splitlines())

    def answers(self, path: str) -> bool:
        """Whether the new site answers a path of the public address, and not the old one."""
        before = len(self.service.requests)
        with urllib.request.urlopen(f"{self.service.url}{path}", timeout=LIMIT) as response:
            assert response.status == 200
        return len(self.service.requests) == before


@contextmanager
def old_server(root: Path) -> Iterator[Move]:
    """A server with the old site, and a second port for `serve`."""
    nginx = root / "etc/nginx"
    for folder in ("bin", "home/me", "tmp", "srv/mangadventure/media", "etc/nginx/conf.d"):
        (root / folder).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    for name, script in (
        ("flatpanel", INSTALLED.format(python=sys.executable, root=ROOT)),
        ("sudo", AS_ROOT.format(nginx=process.find_nginx(), folder=nginx)),
    ):
        (root / "bin" / name).write_text(script)
        (root / "bin" / name).chmod(0o755)
    temporary = nginx_client.TEMPORARY_PATHS
    main = MAIN.format(module=process.find_js_module(), folder=root, temporary=temporary, types=TYPES)
    (nginx / "nginx.conf").write_text(main)
    with real_service() as service, nginx_client.listening() as listener:
        front, old, port = listener.getsockname()[1], service.port, free_port()
        text = OLD_SITE.format(old=old).replace("/srv/", f"{root}/srv/").replace("443 ssl", str(front))
        (nginx / "conf.d/shelf.conf").write_text(text)
        # An address of this machine that is not a loopback URL: links of the new site lead to it.
        service.host, service.port = "0.0.0.0", front
        with nginx_client.running(nginx, listener):
            runner = Move(root, port, service)
            runner.write_data("db.sqlite3", "media.txt")
            try:
                yield runner
            finally:
                runner.stop()


@pytest.mark.documents
@pytest.mark.skipif(not shutil.which("sqlite3"), reason="not installed: sqlite3")
def test_an_owner_moves_a_site_and_goes_back() -> None:
    """Each command succeeds and prints the text below it; only the paths of the API change hands."""
    with filesystem.scratch_folder(shared=True) as root, old_server(root) as runner:
        for heading in ("1-copy-the-site", "2-compare"):
            runner.follow_section(heading)
        runner.change_old_site()
        runner.follow_section("3-run-both")
        assert not runner.answers("/api/v2/series")
        runner.stop()
        runner.follow_section("4-switch-over")
        # A worker with the configuration before a reload may still answer.
        assert any(runner.answers("/api/v2/series") for _ in range(TRIES))
        assert not runner.answers("/reader/")
        refused = "https://shelf.example: this is a site of Flatpanel, which seems to be made from this catalog;…"
        runner.run("flatpanel import https://shelf.example; test $? = 1", f"{refused}\n…")
        runner.follow_section(AFTER)
        runner.follow_section(BACK)
        assert not all(runner.answers("/api/v2/series") for _ in range(TRIES))
        for heading in ELSEWHERE:
            runner.follow_section(heading)


def commands(heading: str) -> list[str]:
    return [command for block in blocks_of(SECTIONS[heading], "sh", "console") for command, _ in steps(block)]


def test_a_site_is_moved_with_twelve_commands() -> None:
    """From the first step to the switch; the page says so. A look at a response is not counted."""
    needed = [command for heading in FOLLOWED for command in commands(heading) if not command.startswith("curl")]

    assert "twelve commands" in DOCUMENTS[PAGE]
    assert len(needed) <= 12


def test_every_command_is_run_or_needs_another_machine() -> None:
    """No section has a command that the test above leaves out."""
    others = {heading for heading in SECTIONS if commands(heading)} - {*FOLLOWED, AFTER, BACK, *ELSEWHERE}

    assert others == set()


@pytest.mark.parametrize(
    ("number", "path", "status", "location"),
    [
        (0, "/reader/kiln-sisters/", 200, None),
        (1, "/media/a%20b.png", 200, None),
        (2, "/media/a%20b.png", 301, "https://images.example/media/a%20b.png"),
    ],
    ids=["pages for people", "images in another folder", "images on another host"],
)
def test_each_location_of_the_page_works(
    number: int, path: str, status: int, location: str | None, tmp_path: Path
) -> None:
    """In a server of its own."""
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/a b.png").write_bytes(b"image")
    block = blocks_of(DOCUMENTS[PAGE], "nginx")[number].text
    with real_service() as service, nginx_client.listening() as listener:
        block = block.replace("https://192.0.2.10", service.url).replace("/srv/pictures", f"{tmp_path}/pictures")
        server = f"server {{ listen {listener.getsockname()[1]}; {block} }}"
        main = f"pid own.pid; events {{}} http {{ {nginx_client.TEMPORARY_PATHS} access_log off; {server} }}"
        (tmp_path / "nginx.conf").write_text(main)
        with nginx_client.running(tmp_path, listener) as web:
            response = web.ask(path)

    assert (response.status, response["location"]) == (status, location)
