"""`publish --announce` and `announce`: each new chapter once, through a strict webhook, apprise, or a program."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest
from click.testing import Result

from generator import installation
from tests.conftest import Site
from tests.hosts.publish.conftest import BucketPublisher
from tests.support import servers, webhook_server
from tests.support.paths import ROOT
from tests.support.remote_site import Remote
from tests.support.servers import LIMIT
from tests.support.store_proxy import Answer, Seen, StoreProxy
from tests.support.tables import each
from tests.support.webhook_server import BUSY, CUT, DROPPED, KEPT, LOST, TOKEN, Reply, Webhook

pytestmark = pytest.mark.hosts

API = "https://minimal.example/api/v2/chapters/"
NO_MESSAGE = "the response has status 200, but is not a message of Discord; look at the address"


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with webhook_server.running() as started:
        yield started


def chapters(site: Site, *ids: int, name: str = "news", lines: str = "", other: dict[str, str] | None = None) -> None:
    """A series with these chapters, and other texts in place of some of its own; build."""
    texts = [
        f"  - {{id: {id}, number: {id}, title: 'The *{id}*', published: 2026-02-02T10:00:00Z, pages: [1.png]}}\n"
        for id in ids
    ]
    head = f"title: The {name}\ncover: cover.jpg\nmodified: 2026-02-01T00:00:00Z\n{lines}"
    text = f"{head}chapters:\n{''.join(texts)}"
    for usual, replacement in (other or {}).items():
        text = text.replace(usual, replacement)
    site.write(f"series/{name}.yaml", text)
    site.build()


class Announcer:
    """`announce` with a record in a folder."""

    def __init__(self, run: Callable[..., Result], site: Site, webhook: Webhook) -> None:
        self.run, self.site, self.webhook = run, site, webhook
        self.folder = site.folder / "records"
        self.environment = {"FLATPANEL_SERVICES": webhook.service}

    @property
    def command(self) -> list[object]:
        folder = self.site.folder
        return ["announce", self.folder, "--out", folder / "dist", "--catalog", folder / "catalog_src"]

    def __call__(self, *options: object, code: int = 0, **environment: str) -> Result:
        result = self.run(*self.command, *options, **(self.environment | environment))
        assert result.exit_code == code, result.output
        assert TOKEN not in result.output
        return result

    def facts(self, *options: object) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self("--json", *options).stdout)
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
    return [
        chapter["id"] for service in facts["services"] for each in service["unsure"] for chapter in each["chapters"]
    ]


# The targets of publishes


class Publisher:
    """Publishes a site to a bucket or a server, and can be killed after it wrote down what it will send."""

    def __init__(self, kind: str, request: pytest.FixtureRequest, webhook: Webhook) -> None:
        self.webhook = webhook
        self.run: Callable[..., Result] = request.getfixturevalue("run")
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
        # A bucket is waited for this long after a kill; the lock on a server ends with its process.
        seconds = "60" if self.kind == "ssh" else "2"
        return ["publish", self.target, *map(str, paths), "--lock-seconds", seconds, "--announce", *map(str, options)]

    def start(self, *options: object) -> "subprocess.Popen[bytes]":
        command = [sys.executable, str(ROOT / "build.py"), *self.command(*options)]
        environment = {**os.environ, **self.environment}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __call__(self, *options: object) -> dict[str, Any]:
        result = self.run(*self.command("--json", *options), **self.environment)
        assert TOKEN not in result.output
        assert result.exit_code in (0, 1), result.stderr
        facts: dict[str, Any] = json.loads(result.stdout)
        # An announcement that fails leaves the release published.
        assert facts["release"] == self.site.store.current()
        announced: dict[str, Any] = facts["announced"]
        assert announced["ok"] == facts["ok"] == (result.exit_code == 0)
        return announced

    def killed(self) -> None:
        """A publish that is killed between the record and the message."""
        if self.kind == "ssh":
            # `mv` gives the record its name.
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


@pytest.mark.end_to_end
@pytest.mark.parametrize("kind", ["s3", "ssh"])
def test_ten_publishes_announce_no_chapter_twice(kind: str, request: pytest.FixtureRequest, webhook: Webhook) -> None:
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


# What is announced


def test_only_public_chapters_are_announced(announce: Announcer) -> None:
    """No licensed, restricted or scheduled one, and none twice when it becomes public for the second time."""
    chapters(announce.site, 10, name="licensed", lines="licensed: true\n")
    chapters(announce.site, 20, name="restricted", lines="restricted: true\n")
    scheduled = "{id: 31, number: 31, title: Late, published: 2036-01-01T00:00:00Z, pages: [1.png]}"
    chapters(announce.site, 30)
    file = announce.site.folder / "catalog_src/series/news.yaml"
    file.write_text(f"{file.read_text()}  - {scheduled}\n")
    announce.site.build()
    assert announce().output == "discord: announced 1 chapter in 1 message\n"
    assert announce.webhook.links() == [f"{API}30"]
    file.unlink()
    announce.site.build()
    assert announce().output == "no new chapters to announce\n"
    chapters(announce.site, 30)
    assert announce().output == "no new chapters to announce\n"
    assert announce.webhook.count == 1


def test_chapters_are_grouped_by_series_with_title_cover_and_link(announce: Announcer) -> None:
    """Links lead to the pages of a site that has them. Titles are no markup. An explicit series has no cover."""
    announce.site.write("site.yaml", "base_url: https://minimal.example\npages: true\n")
    chapters(announce.site, 12, 11)
    chapters(announce.site, 20, name="adults", lines="rating: explicit\n")
    dry = announce("--dry-run").output
    assert announce.webhook.count == 0
    announce()

    (body,) = announce.webhook.posted
    reader = "https://minimal.example/reader"
    assert body["embeds"] == [
        {
            "title": "The adults",
            "url": f"{reader}/adults/",
            "description": rf"[Ch. 20: The \*20\*]({reader}/adults/0/20/)",
        },
        {
            "title": "The news",
            "url": f"{reader}/news/",
            "description": rf"[Ch. 11: The \*11\*]({reader}/news/0/11/)"
            "\n"
            rf"[Ch. 12: The \*12\*]({reader}/news/0/12/)",
            "thumbnail": {"url": "https://minimal.example/media/series/news/cover.jpg"},
        },
    ]
    assert dry.splitlines() == [
        f"The adults: {reader}/adults/",
        f"  Ch. 20: The *20*: {reader}/adults/0/20/",
        f"The news: {reader}/news/ https://minimal.example/media/series/news/cover.jpg",
        f"  Ch. 11: The *11*: {reader}/news/0/11/",
        f"  Ch. 12: The *12*: {reader}/news/0/12/",
        "discord: would announce 3 chapters in 1 message",
    ]


def test_a_chapter_that_shares_a_number_is_announced_with_its_own_page(announce: Announcer) -> None:
    announce.site.write("site.yaml", "base_url: https://minimal.example\npages: true\n")
    chapters(announce.site, 11, 12, other={"number: 12": "number: 11"})

    lines = announce("--dry-run").output.splitlines()
    reader = "https://minimal.example/reader/news/0/11/"
    assert lines[1:3] == [f"  Ch. 11: The *11*: {reader}version-11/", f"  Ch. 11: The *12*: {reader}"]


def test_restricted_details_are_not_announced(announce: Announcer) -> None:
    """The title and the cover of a series need an API key there, so its slug stands for them. A page is public."""
    settings = "base_url: https://minimal.example\nrestricted: ['/series/{slug}']\n"
    for id, lines, url in ((10, "", "/api/v2/series/news"), (11, "pages: true\nreader: /read/\n", "/read/news/")):
        announce.site.write("site.yaml", settings + lines)
        chapters(announce.site, *range(10, id + 1))
        announce()
        (embed,) = announce.webhook.posted[-1]["embeds"]
        assert embed["title"] == "news" and "thumbnail" not in embed
        assert embed["url"] == f"https://minimal.example{url}"


def test_a_large_import_is_divided_within_the_limits_of_discord(announce: Announcer) -> None:
    """The receiver refuses longer texts and more embeds: 90 chapters of one series, then one of each of 12 others."""
    long = "x" * 300
    for number in range(12):
        chapters(announce.site, number + 200, name=f"many-{number}")
    chapters(announce.site, *range(100, 190), name="long", other={"The long": long, "'The ": f"'{long}"})
    facts = announce.facts()
    assert facts["ok"] and facts["services"][0]["chapters"] == 102
    posted = sorted(int(link.removeprefix(API)) for link in announce.webhook.links())
    assert posted == [*range(100, 190), *range(200, 212)]
    assert facts["services"][0]["messages"] == announce.webhook.count == len(announce.webhook.posted) > 2


def test_a_damaged_body_is_announced_later(announce: Announcer) -> None:
    """It is read before anything is written down."""
    chapters(announce.site, 10)
    body = announce.site.folder / "dist" / announce.site.manifest.resources["/api/v2/chapters/10"].file
    content = body.read_bytes()
    body.write_bytes(b"{}")
    assert "is damaged; `python build.py verify --repair`" in announce(code=1).output
    body.write_bytes(content)
    assert announce().output == "discord: announced 1 chapter in 1 message\n"


def test_two_at_once_announce_once(announce: Announcer) -> None:
    """The second one waits for the lock and finds the record of the first."""
    chapters(announce.site, 10)
    printed: list[bytes] = []

    def reply(number: int) -> Reply:
        thread.start()
        locked.wait(LIMIT)
        return Reply()

    locked = Barrier(2)

    def second() -> None:
        environment = {**os.environ, **announce.environment}
        words = [sys.executable, *map(str, [ROOT / "build.py", *announce.command])]
        with subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stderr and process.stdout
            assert b"another run holds the lock" in process.stderr.readline()
            locked.wait(LIMIT)
            printed.append(process.stdout.read())

    thread = Thread(target=second)
    announce.webhook.decide = reply
    announce()
    thread.join(LIMIT)
    assert printed == [b"no new chapters to announce\n"] and announce.webhook.links() == [f"{API}10"]


# Failures


@each(
    ("reply", "fault", "tries"),
    [
        (Reply(404, False), "the response has status 404", 1),
        # For a second, which is the wait without a time in it.
        (Reply(429, False, b"[]"), "the response has status 429", 5),
        (Reply(429, False, b'{"retry_after": 3600}'), "the response has status 429", 1),
        (Reply(429, False, b"", "61"), "the response has status 429", 1),
        (Reply(429, False, b"", "Sat, 28 Nov 2026 04:43:13 GMT"), "the response has status 429", 1),
        (Reply(429, False, b"", "inf"), "the response has status 429", 1),
        (DROPPED, "the connection ended without a response", 1),
        (Reply(body=b"x" * (1 << 22)), NO_MESSAGE, 1),
        (Reply(200, False, b"<title>Log in</title>"), NO_MESSAGE, 1),
        (Reply(204, body=b""), "", 1),
        (Reply(429, False, b"", "0"), "", 2),
        (Reply(429, False, b'{"retry_after": 0}', "3600"), "", 2),
    ],
)
def test_a_failed_message_is_listed_and_repeated(announce: Announcer, reply: Reply, fault: str, tries: int) -> None:
    """No message is sent again by itself, unless the webhook says that it was refused for now, for a minute at most.

    The header of the response has the time if its body has none.
    """
    last = max([9, *announce.record()["public"]]) + 1
    chapters(announce.site, *range(10, last + 1))
    announce.webhook.count = 0
    announce.webhook.decide = lambda number: reply if number == 1 or fault else Reply()
    result = announce(code=1 if fault else 0)
    assert announce.webhook.count == tries
    if fault:
        assert f"warning: discord: a message failed: {fault}\n" in result.output
        assert "may not have arrived; look there, and send it again with --repeat:" in result.output
        assert f"Ch. {last}: The *{last}*: {API}{last}" in result.output
        assert f"{API}{last}" in announce().output
        announce.webhook.decide = lambda number: Reply()
        assert "discord: announced 1 chapter in 1 message" in announce("--repeat").output
    assert announce.webhook.links()[-1] == f"{API}{last}" and announce.record()["unsure"] == {}


def test_no_connection_is_a_failure(announce: Announcer) -> None:
    chapters(announce.site, 10)
    closed = f"discord http://127.0.0.1:1/api/webhooks/1/{TOKEN}"
    assert "a message failed: no connection" in announce(code=1, FLATPANEL_SERVICES=closed).output


def test_a_silent_service_has_a_deadline(announce: Announcer) -> None:
    """A response, and a program that does not end."""
    chapters(announce.site, 10)
    with servers.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"discord http://127.0.0.1:{silent.getsockname()[1]}/{TOKEN}"
        output = announce("--timeout", 1, "--program", "tail -f /dev/null", code=1, FLATPANEL_SERVICES=address).output
    assert "discord: a message failed: the response takes longer than 1 seconds" in output
    assert "program: a message failed: the program did not end within 1 seconds" in output


def test_a_damaged_record_is_refused(announce: Announcer) -> None:
    """A new record would forget what may not have arrived."""
    for text in ("", "[]", '{"flatpanel": 2}', '{"flatpanel": 1, "public": 1, "unsure": {}}'):
        (announce.folder / "announced.json").write_text(text)
        assert "announced.json: is not a record of this version" in announce(code=1).output


def test_a_record_that_is_a_link_is_refused(announce: Announcer) -> None:
    """Without what it leads to, a run would count as the first, and lose what may not have arrived."""
    path, kept = announce.folder / "announced.json", announce.site.folder / "kept.json"
    path.rename(kept)
    path.symlink_to(kept)
    for options in ((), ("--dry-run",)):
        assert f"{path}: is not a file but a link or something else" in announce(*options, code=1).output
    assert path.is_symlink()


# Services


def test_a_program_reads_the_news_as_json(announce: Announcer) -> None:
    """With the cover and the rating, for it to decide. Two programs are announced to on their own."""
    chapters(announce.site, 10, lines="rating: explicit\n")
    program = announce.site.folder / "program"
    program.write_text('#!/bin/sh\necho secret >&2\necho secret\nexec cat >"$1"\n')
    program.chmod(0o755)
    file = announce.site.folder / "news with blanks.json"
    output = announce("--program", f"{program} '{file}'", FLATPANEL_SERVICES="program false", code=1).output
    assert "secret" not in output
    assert "program: a message failed: the program ended with exit code 1\n" in output
    assert "program 2: announced 1 chapter in 1 message\n" in output
    assert json.loads(file.read_text()) == {
        "series": [
            {
                "slug": "news",
                "title": "The news",
                "url": "https://minimal.example/api/v2/series/news",
                "cover": "https://minimal.example/media/series/news/cover.jpg",
                "rating": "explicit",
                "chapters": [
                    {"id": 10, "title": "Ch. 10: The *10*", "url": f"{API}10", "published": "2026-02-02T10:00:00Z"}
                ],
            }
        ]
    }
    program.write_text("no program")
    assert "the program cannot be started: Exec format" in announce("--program", program, "--repeat", code=1).output
    program.write_text("#!/no/interpreter\n")
    output = announce("--program", program, "--repeat", code=1).output
    assert "cannot be started: it, or the interpreter that its first line names, is missing\n" in output


@pytest.fixture
def apprise(announce: Announcer) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A service of apprise, and the title and the text of each message that it got."""
    got: list[tuple[str, str]] = []

    class Receiver(servers.Handler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            got.append((body["title"], body["message"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    with servers.answering(Receiver) as port, pytest.MonkeyPatch.context() as home:
        home.setenv("HOME", str(announce.site.folder))
        yield f"apprise json://127.0.0.1:{port}/{TOKEN}", got


def test_apprise_announces_each_series(announce: Announcer, apprise: tuple[str, list[tuple[str, str]]]) -> None:
    """One message each, as text: Telegram and email have no common markup. Its own output is not printed."""
    chapters(announce.site, 10, 11)
    chapters(announce.site, 20, name="adults", lines="rating: explicit\n")
    service, got = apprise
    output = announce(FLATPANEL_SERVICES=f"# comment\n\n{service}\napprise nonsense://{TOKEN}\n", code=1).output
    assert "apprise: announced 3 chapters in 2 messages\n" in output
    assert "apprise 2: a message failed: the program ended with exit code 1\n" in output
    assert got == [
        ("The adults", f"Ch. 20: The *20*: {API}20\n\nhttps://minimal.example/api/v2/series/adults"),
        (
            "The news",
            f"Ch. 10: The *10*: {API}10\nCh. 11: The *11*: {API}11\n\nhttps://minimal.example/api/v2/series/news\n"
            "https://minimal.example/media/series/news/cover.jpg",
        ),
    ]


def test_no_title_notifies_anyone_through_apprise(
    announce: Announcer, apprise: tuple[str, list[tuple[str, str]]]
) -> None:
    """apprise gives Discord the title and the text without `allowed_mentions`. A space of no width breaks mentions."""
    mentions = "@everyone @here <@123> <@!123> <@&1> <!channel>"
    other = {"The news": f"'{mentions}'", "The *10*": mentions, "cover.jpg": "https://images.example/@everyone.jpg"}
    chapters(announce.site, 10, other=other)
    service, got = apprise
    announce(FLATPANEL_SERVICES=service)
    ((title, text),) = got
    broken = "@\u200beveryone @\u200bhere <@\u200b123> <@\u200b!123> <@\u200b&1> <!\u200bchannel>"
    assert title == broken and text.startswith(f"Ch. 10: {broken}: {API}10\n")
    assert text.endswith("\nhttps://images.example/%40everyone.jpg")


def test_a_large_import_is_divided_within_the_limits_of_chats(
    announce: Announcer, apprise: tuple[str, list[tuple[str, str]]]
) -> None:
    """Discord takes 2000 characters with the title. Lines stay whole, and long titles are cut."""
    chapters(announce.site, *range(100, 120), other={"The news": f"'{'@' * 2000}'", "'The ": f"'{'x' * 1990}"})
    service, got = apprise
    output = announce(FLATPANEL_SERVICES=service).output
    assert output == f"apprise: announced 20 chapters in {len(got)} messages\n"
    assert len(got) > 2 and max(len(f"{title}\r\n{text}") for title, text in got) <= 1901
    lines = [text.partition("\n\n")[0].splitlines() for _, text in got]
    assert [line.rpartition(" ")[2] for part in lines for line in part] == [f"{API}{id}" for id in range(100, 120)]


def test_without_apprise_the_command_that_installs_it_is_printed(
    announce: Announcer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("generator.hosts.announce.services.find_spec", lambda name: None)
    sentence = f"apprise: announcing needs the library apprise; install it: {installation.how_to_add('apprise')}\n"
    assert announce(code=1, FLATPANEL_SERVICES=f"apprise json://{TOKEN}").output == sentence


@each(
    ("lines", "sentence"),
    [
        (f"https://discord.com/{TOKEN}", ":1: should be `discord URL` or `apprise URL` or `program COMMAND`"),
        ("\ndiscord", ":2: should be `discord URL` or"),
        (f"discord {TOKEN}", "discord: the address should be a URL like"),
        (f"discord http://a/{TOKEN}?thread_id=1 2", "discord: the address should be of ASCII characters"),
        (f"discord http://a\\{TOKEN}/", "discord: the address should"),
        (f"program '{TOKEN}", "program: the command is empty, or has a quote without an end\n"),
        (f"program {TOKEN}", "program: the first word of the command is no program that can be run\n"),
        ("", "no service to announce to; name it in FLATPANEL_SERVICES, with --services or --program"),
    ],
)
def test_a_wrong_service_is_an_error_without_its_address(announce: Announcer, lines: str, sentence: str) -> None:
    result = announce(FLATPANEL_SERVICES=lines, code=2 if "URL" not in sentence and "addr" not in sentence else 1)
    assert sentence in result.output


@each(
    ("command", "fault"),
    [
        (" ", "the command is empty, or has a quote without an end"),
        ("'' a", "the command is empty, or has a quote without an end"),
        ("cat 'a", "the command is empty, or has a quote without an end"),
        ("missing-program --key secret", "missing-program is no program that can be run"),
        ("'a\x1b[1m' secret", r"a\x1b[1m is no program that can be run"),
        ("'/dev/null' secret", "/dev/null is no program that can be run"),
    ],
)
def test_a_program_that_cannot_be_run_is_named(announce: Announcer, command: str, fault: str) -> None:
    """Without its arguments, and before another service has the news."""
    chapters(announce.site, 10)
    output = announce("--program", command, code=2).output
    assert output.endswith(f"Error: program: {fault}\n")
    assert announce.webhook.posted == []


def test_services_are_in_a_file_outside_the_catalog(announce: Announcer, tmp_path: Path) -> None:
    """Who edits the catalog chooses neither where it is announced nor a program. A thread is a parameter."""
    chapters(announce.site, 10)
    file = tmp_path / "services.txt"
    file.write_text(f"program touch {tmp_path}/run\n")
    assert f"{file}:1: should be `discord URL` or `apprise URL`\n" in announce("--services", file, code=1).output
    file.write_text(f"{announce.webhook.service}?thread_id=7\n")
    for folder in ("catalog_src", "dist"):
        link = announce.site.folder / folder / "services.txt"
        link.write_text(file.read_text())
        assert "addresses are secrets, so move it" in announce("--services", link, code=1).output
        link.unlink()
    assert announce("--services", file, FLATPANEL_SERVICES="").output == "discord: announced 1 chapter in 1 message\n"


# Targets


def test_a_wrong_target_is_refused(announce: Announcer) -> None:
    for folder, code in (("http://user:password@host/", 2), (announce.site.folder / "dist/records", 1)):
        announce.folder = folder  # type: ignore[assignment]
        assert "password" not in announce(code=code).output


def test_a_dry_run_writes_nothing(announce: Announcer, remote: Remote, publish: BucketPublisher) -> None:
    """Neither a record nor a lock, wherever the target is."""
    environment = {**publish.store.environment, **remote.server.environment}
    for target in (announce.folder / "new", remote.target, publish.target):
        announce.folder = target  # type: ignore[assignment]
        result = announce("--dry-run", **environment)
        assert "the first run would only write down which chapters are public" in result.output
    assert (
        publish.own_keys() == [] and not remote.folder.exists() and not (announce.site.folder / "records/new").exists()
    )


def test_a_publish_announces_after_the_release(publish: BucketPublisher, webhook: Webhook) -> None:
    """Without a service, nothing is published; what the public URL does not serve is not announced."""
    environment = {**publish.store.environment, "FLATPANEL_SERVICES": webhook.service}

    def run(*options: object, code: int = 0, **others: str) -> str:
        result = publish.run(*publish.arguments("--catalog", publish.site.folder, *options), **(environment | others))
        assert result.exit_code == code, result.output
        return str(result.output)

    assert "no service to announce to" in run("--announce", code=2, FLATPANEL_SERVICES="")
    assert publish.own_keys() == []
    assert "need --announce" in run("--repeat", code=2)
    assert "announced nothing: the first run" in run("--announce")
    chapters(publish.site, 10)
    closed = "http://127.0.0.1:1"
    assert "announce" not in run("--announce", "--url", closed, "--timeout", 1, code=1) and webhook.count == 0
    publish.put(".flatpanel/announced.json", b"[]")
    output = run("--announce", code=1)
    assert "the announcement failed, the release stays; run it again: " in output and "0 objects" in output
    publish.put(".flatpanel/announced.json", b'{"flatpanel":1,"public":[1],"unsure":{}}')
    assert "discord: would announce 1 chapter in 1 message" in run("--announce", "--dry-run")
    assert run("--announce").endswith("discord: announced 1 chapter in 1 message\n")
    assert webhook.links() == [f"{API}10"]


def test_a_server_that_cannot_write_the_record_gets_no_announcement(remote: Remote, announce: Announcer) -> None:
    """The record is written before the message."""
    chapters(remote.site, 10)
    announce.folder = remote.target  # type: ignore[assignment]
    announce(**remote.server.environment)
    chapters(remote.site, 10, 11)
    remote.server.wrap_command("mv", "exit 1")
    assert "announced.json: cannot be written" in announce(code=1, **remote.server.environment).output
    assert announce.webhook.count == 0
