"""docs/first-day.md: a group follows the page, with a real sshd, nginx, and a webhook as strict as Discord."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.project.test_installation import shell
from tests.support import browser, images, ssh_server, webhook_server
from tests.support.browser import PHONE
from tests.support.documents import DOCUMENTS, blocks_of, steps
from tests.support.paths import ROOT
from tests.support.servers import LIMIT, free_port
from tests.support.ssh_server import SshServer
from tests.support.webhook_server import Webhook

pytestmark = pytest.mark.documents
PAGE = "docs/first-day.md"
# Other tests install the wheel, serve a project, and open the editor.
NOT_RUN = (
    "python3 -m venv",
    "~/flatpanel/bin/pip",
    "export PATH=",
    "flatpanel serve",
    "npm install",
    "python3 -m http",
)
EXAMPLE_SERVER = "ssh://deploy@moonlit.example/srv/comics"


class Day:
    """The commands of the page in a folder, with the addresses of this machine."""

    def __init__(self, folder: Path, server: SshServer, webhook: Webhook, port: int) -> None:
        self.folder, self.server, self.webhook, self.port = folder, server, webhook, port
        self.live = folder / "server"
        self.project = folder / "moonlit"
        tools = folder / "tools"
        tools.mkdir()
        (tools / "flatpanel").write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT}/build.py "$@"\n')
        (tools / "flatpanel").chmod(0o755)
        person = {f"GIT_{role}_{key}": "a@b" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}
        path = os.pathsep.join([str(tools), server.environment["PATH"], "/usr/sbin"])
        self.environment = {**os.environ, **person, "PATH": path, "FLATPANEL_SERVICES": webhook.service}

    def follow(self, section: str) -> str:
        """Run the commands of a section; what they print."""
        printed = ""
        for block in blocks_of(section, "sh", "diff"):
            if block.language == "diff":
                name, old, new = (line[1:].strip() for line in block.text.splitlines())
                file = self.project / name.removeprefix("-- ")
                text = file.read_text(encoding="utf-8")
                assert text.count(f"\n{old}\n") == 1
                file.write_text(text.replace(f"\n{old}\n", f"\n{new}\n"), encoding="utf-8")
                continue
            printed += "".join(self.run(command) for command, _ in steps(block) if not command.startswith(NOT_RUN))
        return printed

    def run(self, command: str) -> str:
        if command.startswith(("cd ", "export FLATPANEL_SERVICES")):
            return ""
        if command.startswith("ssh "):
            command = f"cd {self.live} && nginx -p . -c nginx.conf{' -s quit' * command.endswith(' quit')}"
        command = command.replace(EXAMPLE_SERVER, self.server.url(self.live))
        command = command.replace("https://moonlit.example", f"http://127.0.0.1:{self.port}")
        folder = self.project if self.project.exists() else self.folder
        printed = shell(command, folder, self.environment)
        if command.startswith("flatpanel init"):
            with (self.project / "catalog_src/site.yaml").open("a", encoding="utf-8") as site:
                site.write(f"port: {self.port}\n")
        return printed

    def status(self, path: str) -> int:
        try:
            with urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=LIMIT) as response:
                status: int = response.status
                return status
        except HTTPError as error:
            error.close()
            return error.code


@pytest.fixture
def day(tmp_path: Path) -> Iterator[Day]:
    for path in ("1/1.png", "1/2.png", "2/1.png"):
        (tmp_path / "scans" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "scans" / path).write_bytes(images.png(800, 1200))
    (tmp_path / "scans/cover.png").write_bytes(images.png(300, 400))
    (tmp_path / "sshd").mkdir()
    with (
        webhook_server.running() as webhook,
        ssh_server.running(tmp_path / "sshd") as server,
    ):
        followed = Day(tmp_path, server, webhook, free_port())
        yield followed
        if (followed.live / "dist/run/nginx.pid").exists():
            followed.run("ssh deploy@moonlit.example quit")


@browser.needs_browser
def test_a_group_follows_its_first_day(day: Day, chromium: browser.Browser) -> None:
    """Each chapter is announced once, over a rollback and a correction, and the site has what the page says."""
    whole = DOCUMENTS[PAGE].split("\n## ")
    sections = {section[:1]: section for section in whole}
    for number in "1234":
        day.follow(sections[number])
    assert "only writes down which chapters are public" in day.follow(sections["5"])
    assert day.status("/reader/night-ferry/0/1/") == 200
    assert day.status("/media/series/night-ferry/0/1/1.png") == 200
    assert day.webhook.links() == []

    printed = day.follow(sections["6"])
    second = f"http://127.0.0.1:{day.port}/reader/night-ferry/0/2/"
    assert "Second Crossing" in printed
    assert day.webhook.links() == [second]
    with chromium.tab(PHONE) as phone:
        phone.open(second)
        phone.wait_until("[...document.querySelectorAll('main img')].some((image) => image.naturalWidth === 800)")
        assert phone.run("document.documentElement.scrollWidth") <= PHONE.width

    rollback, correction = sections["7"].split("Correct it")
    day.follow(rollback)
    assert day.status("/reader/night-ferry/0/2/") == 404
    day.follow(correction)
    assert day.status("/reader/night-ferry/0/2/") == 200
    assert day.webhook.links() == [second]
