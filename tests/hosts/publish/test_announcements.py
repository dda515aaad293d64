"""`publish --announce` and `announce`: each new chapter once, through a strict webhook, apprise, or a program."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from click.testing import Result

from generator import installation
from generator.commands import announcing
from tests.conftest import Site
from tests.hosts.publish.conftest import BucketPublisher
from tests.support import servers, webhook_server
from tests.support.object_stores import ObjectStore
from tests.support.remote_site import Remote
from tests.support.servers import LIMIT
from tests.support.store_proxy import Answer, Seen, StoreProxy
from tests.support.tables import each
from tests.support.webhook_server import BUSY, CUT, DROPPED, KEPT, LOST, TOKEN, Reply, Webhook

pytestmark = pytest.mark.hosts

API = "https://minimal.example/api/v2/chapters/"


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with webhook_server.running() as started:
        yield started


def chapters(site: Site, *ids: int, name: str = "news", lines: str = "") -> None:
    """A series with these chapters; build."""
    texts = [
        f"  - {{id: {id}, number: {id}, title: 'The *{id}*', published: 2026-02-02T10:00:00Z, pages: [1.png]}}\n"
        for id in ids
    ]
    head = f"title: The {name}\ncover: cover.jpg\nmodified: 2026-02-01T00:00:00Z\n{lines}"
    site.write(f"series/{name}.yaml", f"{head}chapters:\n{''.join(texts)}")
    site.build()


class Announcer:
    """`announce` with a record in a folder."""

    def __init__(self, run: Callable[..., Result], site: Site, webhook: Webhook) -> None:
        self.run, self.site, self.webhook = run, site, webhook
        self.folder = site.folder / "records"
        self.environment = {"FLATPANEL_SERVICES": webhook.service}

    def __call__(self, *options: object, code: int = 0, **environment: str) -> Result:
        paths = ["--out", self.site.folder / "dist", "--catalog", self.site.folder / "catalog_src"]
        result = self.run("announce", self.folder, *paths, *options, **(self.environment | environment))
        assert result.exit_code == code, result.output
        assert TOKEN not in result.output
        return result

    def facts(self, *options: object, code: int = 0) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self("--json", *options, code=code).stdout)
        return facts

    def record(self) -> dict[str, Any]:
        record: dict[str, Any] = json.loads((self.folder / "announced.json").read_text())
        return record


@pytest.fixture
def announce(run: Callable[..., Result], site: Site, webhook: Webhook) -> Announcer:
    """The first run is over."""
    site.build()
    announcer = Announcer(run, site, webhook)
    first = announcer()
    assert first.output == "announced nothing: the first run only writes down which chapters are public\n"
    assert webhook.count == 0
    return announcer


def unsure(facts: dict[str, Any]) -> list[int]:
    """The chapters that an announcement lists as those that may not have arrived."""
    return [chapter["id"] for service in facts["services"] for each in service["unsure"] for chapter in each["chapters"]]


# The targets of publishes


class Publisher:
    """Publishes a site to a bucket or a server, and can be killed after it wrote down what it will send."""

    def __init__(self, kind: str, request: pytest.FixtureRequest, webhook: Webhook) -> None:
        self.webhook = webhook
        if kind == "ssh":
            self.remote: Remote = request.getfixturevalue("remote")
            self.site, self.target = self.remote.site, self.remote.target
            self.environment = self.remote.server.environment
        else:
            bucket: BucketPublisher = request.getfixturevalue("publish")
            self.proxy: StoreProxy = request.getfixturevalue("proxy")
            self.site, self.target = bucket.site, bucket.target
            self.environment = self.proxy.as_store.environment
        self.kind = kind
        self.environment["FLATPANEL_SERVICES"] = webhook.service

    def command(self, *options: object) -> list[str]:
        folder = self.site.folder
        paths = ["--out", folder / "dist", "--catalog", folder / "catalog_src"]
        paths += ["--nginx", folder / "nginx.conf", "--no-reload"] if self.kind == "ssh" else []
        return ["publish", self.target, *map(str, paths), "--lock-seconds", "5", "--announce", *map(str, options)]

    def start(self, *options: object) -> "subprocess.Popen[bytes]":
        command = [sys.executable, str(Path(installation.__file__).parents[1] / "build.py"), *self.command(*options)]
        environment = {**os.environ, **self.environment}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __call__(self, *options: object) -> dict[str, Any]:
        process = self.start("--json", *options)
        output, errors = process.communicate(timeout=LIMIT)
        assert TOKEN.encode() not in output + errors
        assert process.returncode in (0, 1), errors
        facts: dict[str, Any] = json.loads(output)
        # An announcement that fails leaves the release published.
        assert facts["release"] == self.site.store.current()
        announced: dict[str, Any] = facts["announced"]
        assert announced["ok"] == facts["ok"] == (process.returncode == 0)
        return announced

    def killed(self) -> None:
        """A publish that is killed between the record and the message."""
        if self.kind == "ssh":
            # `mv` gives the record its name; the process group of the test has the process to kill.
            pid = self.site.folder / "pid"
            os.mkfifo(pid)
            script = f'"$real" "$@"; case "$*" in *announced.json) kill -9 "$(cat \'{pid}\')";; esac'
            self.remote.server.wrap_command("mv", script)
            process = self.start()
            pid.write_text(str(process.pid))
        else:
            pids: list[int] = []
            started = Barrier(2)

            def decide(seen: Seen) -> Answer:
                if seen.method == "PUT" and "announced.json" in seen.target:
                    started.wait(LIMIT)
                    os.kill(pids[0], signal.SIGKILL)
                return Answer()

            self.proxy.reset(decide)
            process = self.start()
            pids.append(process.pid)
            started.wait(LIMIT)
        process.communicate(timeout=LIMIT)
        assert process.returncode == -signal.SIGKILL
        if self.kind == "ssh":
            (self.remote.server.commands / "mv").unlink()
        else:
            self.proxy.reset()


@pytest.mark.parametrize("kind", ["s3", "ssh"])
def test_ten_publishes_announce_no_chapter_twice(
    kind: str, request: pytest.FixtureRequest, webhook: Webhook
) -> None:
    """With two rollbacks, one kill and a server that fails; what it may lack is listed, and repeated on request."""
    replies = {1: BUSY, 3: LOST, 4: KEPT, 5: BUSY, 6: DROPPED, 7: CUT, 8: BUSY}
    webhook.decide = lambda number: replies.get(number, Reply())
    publish = Publisher(kind, request, webhook)
    site = publish.site
    listed: set[int] = set()

    def publish_with(last: int) -> dict[str, Any]:
        chapters(site, *range(10, last + 1))
        return publish()

    assert publish_with(12)["first"] and webhook.count == 0
    for last in (13, 15, 16):  # posted after a 429, lost, posted with an error
        listed |= set(unsure(publish_with(last)))
    site.roll_back()
    assert publish()["series"] == []
    chapters(site, *range(10, 18))
    publish.killed()
    assert webhook.count == 4
    for last in (17, 18, 19, 20):  # nothing new, dropped after a 429, cut off, posted after a 429
        listed |= set(unsure(publish_with(last)))
    site.roll_back()
    assert publish()["series"] == []
    announced = publish_with(20)

    assert announced["series"] == [] and set(unsure(announced)) == listed == {14, 15, 16, 17, 18, 19}
    posted = Counter(map(int, (link.removeprefix(API) for link in webhook.links())))
    assert set(posted.values()) == {1} and set(posted) == {13, 16, 19, 20}
    repeated = publish("--repeat")
    assert repeated["ok"] and unsure(repeated) == []
    posted.update(int(link.removeprefix(API)) for link in webhook.links()[4:])
    assert set(posted) == set(range(13, 21)) and {id for id, count in posted.items() if count == 2} == {16, 19}
    assert unsure(publish("--repeat")) == [] and webhook.links()[10:] == []
