"""Stores that refuse, are slow, fail or lie, and two publishers at once."""

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from click.testing import Result

from generator.commands import announcing
from generator.commands import publish as command
from generator.errors import FlatpanelError
from generator.hosts.publish.s3.bucket import _BACKOFF, Bucket, BucketTarget, Connection
from generator.hosts.publish.s3.lock import LOCK, exclusive
from generator.installation import how_to_add
from tests.hosts.publish.conftest import BucketPublisher
from tests.support.object_stores import BUCKET, ObjectStore
from tests.support.servers import LIMIT, free_port
from tests.support.store_proxy import PASS, Answer, Seen, StoreProxy

pytestmark = pytest.mark.hosts


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A publisher in this process repeats a request at once."""
    monkeypatch.setitem(_BACKOFF, "init_backoff", timedelta(milliseconds=1))


def is_body(seen: Seen) -> bool:
    return seen.method == "PUT" and "/.flatpanel/" not in seen.target


def is_pointer(seen: Seen) -> bool:
    return seen.method == "PUT" and seen.target.endswith("/pointer.json")


def error_of(result: Result) -> str:
    """The only line of an error."""
    assert result.exit_code == 1, result.output
    assert result.stdout == "" and result.stderr.count("\n") == 1
    return result.stderr


@pytest.mark.parametrize(("key", "code"), [("unknown", "InvalidAccessKeyId"), ("reader", "AccessDenied")])
def test_refused_credentials(to_seaweed: BucketPublisher, key: str, code: str) -> None:
    result = to_seaweed(by=ObjectStore(to_seaweed.store.endpoint, key))
    assert error_of(result).startswith(f"{to_seaweed.target}: the store refuses this (403: {code}")
    assert "check the credentials and what they permit in the bucket" in result.stderr


def test_no_credentials(publish: BucketPublisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library would ask the service of a cloud machine, which this proxy replaces."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    arguments = publish.arguments("--endpoint", publish.store.endpoint, "--retries", 0, "--timeout", 2)
    sentence = "no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    assert error_of(publish.run(*arguments)) == f"{publish.target}: {sentence}\n"


NAMES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION")


def test_control_characters_of_the_environment(publish: BucketPublisher) -> None:
    """A secret of a CI often ends with a line break. The library would panic, and a message must not have the value."""
    results = {
        (name, value): error_of(publish.run(*publish.arguments(), **{**publish.store.environment, name: value}))
        for name in NAMES
        for value in ("s3cret\n", "s3\rcret", "\ts3cret", "s3cret\x7f")
    }
    region = error_of(publish("--region", "s3cret\n"))
    sentence = "has a line break or another control character; remove it\n"
    assert results == {(name, value): f"{name}: {sentence}" for name, value in results}
    assert region == f"--region: {sentence}"


@pytest.mark.parametrize("kind", ["publish", "to_seaweed"])
def test_a_missing_bucket(kind: str, request: pytest.FixtureRequest) -> None:
    publish: BucketPublisher = request.getfixturevalue(kind)
    arguments = publish.arguments()
    arguments[1] = "s3://nowhere/comics"
    if kind == "publish":
        arguments.append("--dry-run")
    result = publish.run(*arguments, **publish.store.environment)
    assert error_of(result) == (
        f"s3://nowhere/comics: the bucket nowhere does not exist at {publish.store.endpoint}; create it, or check the "
        "endpoint\n"
    )


def test_no_store_at_the_endpoint(publish: BucketPublisher) -> None:
    endpoint = f"http://127.0.0.1:{free_port()}"
    result = publish("--retries", 0, by=ObjectStore(endpoint))
    assert error_of(result) == f"{publish.target}: no connection to {endpoint}; check --endpoint and the network\n"


@pytest.mark.parametrize("status", [301, 400, 405, 501])
def test_another_server_at_the_endpoint(publish: BucketPublisher, proxy: StoreProxy, status: int) -> None:
    proxy.decide = lambda seen: Answer(status)
    text = error_of(publish("--retries", 0, by=proxy.as_store))
    assert text.startswith(f"{publish.target}: ") and "--region" in text


def test_the_endpoint_is_a_url(publish: BucketPublisher) -> None:
    result = publish("--endpoint", "nowhere")
    assert result.exit_code == 2 and "nowhere: the URL of the store should be a URL like https://" in result.stderr


def test_the_library_is_optional(publish: BucketPublisher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    sentence = f"publishing to a bucket needs the library obstore; install it: {how_to_add('obstore')}\n"
    assert error_of(publish()) == sentence


def test_a_store_that_stays_busy(publish: BucketPublisher, proxy: StoreProxy) -> None:
    """Nothing that was sent is sent again by the next publish."""
    proxy.decide = lambda seen: Answer(503) if is_body(seen) and len(publish_bodies(proxy)) > 5 else PASS
    result = publish("--retries", 1, "--jobs", 1, by=proxy.as_store)
    assert error_of(result) == (
        f"{publish.target}: the store is busy or broken (503: SlowDown: Reduce.); run it again later, what was sent is "
        "not sent again\n"
    )
    sent = set(publish_bodies(proxy)[:5])
    proxy.reset()
    totals = publish.totals(by=proxy.as_store)
    assert totals["kept"] == len(sent) == 5
    assert sent.isdisjoint(publish_bodies(proxy))


def publish_bodies(proxy: StoreProxy) -> list[str]:
    return [seen.target for seen in proxy.seen if is_body(seen)]


def test_a_store_that_does_not_answer(publish: BucketPublisher, proxy: StoreProxy) -> None:
    proxy.decide = lambda seen: Answer(seconds=3) if is_body(seen) else PASS
    result = publish("--timeout", 1, "--retries", 0, by=proxy.as_store)
    assert "no connection to" in error_of(result)


@pytest.mark.parametrize("answer", [Answer(429), Answer(503), Answer(cuts=True), Answer(drops=True)])
def test_a_failed_request_is_repeated(publish: BucketPublisher, proxy: StoreProxy, answer: Answer) -> None:
    """Every fifth one is refused, or its response is lost; no publisher takes its own first try for another one."""
    proxy.decide = lambda seen: answer if seen.number % 5 == 2 else PASS
    totals = publish.totals("--jobs", 1, by=proxy.as_store)
    assert totals["sent"] == len(publish.bodies())
    assert publish.totals("--check")["sent"] == 0


def test_garbled_bodies_are_noticed(publish: BucketPublisher, proxy: StoreProxy) -> None:
    """moto stores what it gets, and its ETag is that of the garbled body. The next publish repairs it."""
    proxy.decide = lambda seen: Answer(garbles_request=True) if seen.target.endswith("/api/series") else PASS
    text = error_of(publish(by=proxy.as_store))
    assert f"{publish.target}: the store has other bytes of api/series than were sent" in text
    assert publish.totals()["sent"] >= 1
    assert publish.totals("--check")["sent"] == 0


def test_a_damaged_body_is_not_sent(publish: BucketPublisher) -> None:
    (file,) = publish.site.folder.glob("dist/www/api/series.*.json")
    file.write_bytes(b"[]")
    text = error_of(publish())
    assert text.endswith(": is damaged; `python build.py verify --repair` restores it\n")


class HeldPublish:
    """A publish in another process whose requests, as far as `stops` says, wait until the end of the block."""

    def __init__(
        self, publish: BucketPublisher, proxy: StoreProxy, stops: Callable[[Seen], bool], lock_seconds: int = 1
    ) -> None:
        self.lock_seconds = lock_seconds
        self.reached, self.released = Event(), Event()
        self.publish, self.proxy, self.stops = publish, proxy, stops

    def __enter__(self) -> "subprocess.Popen[bytes]":
        self.proxy.decide = self.decide
        environment = {**os.environ, **self.proxy.as_store.environment}
        self.process = subprocess.Popen(
            self.publish.command("--jobs", 1, "--lock-seconds", self.lock_seconds),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert self.reached.wait(LIMIT)
        return self.process

    def decide(self, seen: Seen) -> Answer:
        if self.stops(seen):
            self.reached.set()
            self.released.wait(LIMIT)
        return PASS

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self.output = self.process.communicate(timeout=300)[0].decode()


def test_two_publishers_at_once(publish: BucketPublisher, proxy: StoreProxy, tmp_path: Path) -> None:
    """The first one is held in the middle; the second ends, and the first goes on."""
    other = publish.elsewhere(tmp_path / "other")
    with HeldPublish(publish, proxy, is_body, 10) as process:
        result = other()
        assert (result.exit_code, result.stderr.splitlines()[1:]) == (
            1,
            [f"{publish.target}: another publish is at work; run this one again after it"],
        )
    assert process.returncode == 0
    assert publish.is_current()


def test_a_paused_publisher_is_replaced(publish: BucketPublisher, proxy: StoreProxy, tmp_path: Path) -> None:
    """All of its requests wait, also those for the lock. It must not publish afterwards."""
    other = publish.elsewhere(tmp_path / "other")
    reached = Event()

    def stops(seen: Seen) -> bool:
        if is_body(seen):
            reached.set()
        return reached.is_set()

    waiting = HeldPublish(publish, proxy, stops)
    with waiting:
        result = other()
        assert result.exit_code == 0
        assert "another publish holds the lock; waiting 1 s for a sign of it" in result.stderr
        other.edit()
        assert other.totals()["sent"] > 0
        pointer = publish.pointer()
    assert waiting.process.returncode == 1
    assert "another publish is at work; run this one again after it" in waiting.output
    assert publish.pointer() == pointer


def test_the_pointer_is_compared_too(publish: BucketPublisher, proxy: StoreProxy, tmp_path: Path) -> None:
    """The lock of a publisher that only pauses may be removed by hand."""
    publish.totals()
    other = publish.elsewhere(tmp_path / "other")
    publish.edit()
    waiting = HeldPublish(publish, proxy, lambda seen: is_pointer(seen) or ("lock" in seen.target and pointed(proxy)))
    with waiting:
        publish.delete(".flatpanel/lock.json")
        other.edit("Another")
        other.totals()
        pointer = publish.pointer()
    assert waiting.process.returncode == 1
    assert "another publish has finished meanwhile; run this one again" in waiting.output
    assert publish.pointer() == pointer


def pointed(proxy: StoreProxy) -> bool:
    return any(map(is_pointer, proxy.seen))


def is_lock(seen: Seen) -> bool:
    return seen.method == "PUT" and seen.target.endswith("/lock.json")


def test_two_publishers_see_a_free_lock(publish: BucketPublisher, proxy: StoreProxy, tmp_path: Path) -> None:
    other = publish.elsewhere(tmp_path / "other")
    waiting = HeldPublish(publish, proxy, is_lock)
    with waiting:
        assert other.totals()["sent"] > 0
    assert waiting.process.returncode == 1
    assert "another publish is at work; run this one again after it" in waiting.output


def test_a_lock_that_cannot_be_given_back(publish: BucketPublisher, proxy: StoreProxy) -> None:
    """The release is published, but the next publish has to wait."""
    proxy.decide = lambda seen: Answer(503) if is_lock(seen) and pointed(proxy) else PASS
    assert "the store is busy" in error_of(publish("--retries", 0, by=proxy.as_store))
    assert publish.is_current()
    result = publish()
    assert result.exit_code == 0 and "waiting 1 s" in result.stderr


def test_a_store_that_fails_for_good(publish: BucketPublisher, proxy: StoreProxy) -> None:
    """The first error is printed, not that of the lock."""
    proxy.decide = lambda seen: Answer(501) if publish_bodies(proxy) else PASS
    assert "501" in error_of(publish("--retries", 0, "--jobs", 1, by=proxy.as_store))


def test_a_lock_survives_some_failures(publish: BucketPublisher, proxy: StoreProxy) -> None:
    """A body takes longer than the lock holds without a sign, and two of three signs are lost meanwhile."""
    ended = Event()

    def decide(seen: Seen) -> Answer:
        if is_body(seen) and len(publish_bodies(proxy)) == 1:
            ended.wait(2)
            ended.set()
        is_slow = publish_bodies(proxy) and not ended.is_set()
        return Answer(503) if is_slow and is_lock(seen) and seen.number % 3 else PASS

    proxy.decide = decide
    publish("--jobs", 1, "--retries", 0, by=proxy.as_store)
    assert len([seen for seen in proxy.seen if is_lock(seen)]) > 3
    assert publish.is_current()


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of a publisher. Its machine sleeps for an hour, and its next beat is not due for as long again."""
    seconds = [0.0]
    for module in (command, announcing):
        monkeypatch.setattr(module, "clock_of_locks", lambda: seconds[0])
    return seconds


LONG = ("--jobs", 1, "--retries", 0, "--lock-seconds", 3600)


def taken_over(
    publish: BucketPublisher, proxy: StoreProxy, seconds: list[float], at: Callable[[Seen], bool], jobs: int = 1
) -> None:
    """The machine sleeps at a request, and another publisher takes over meanwhile."""

    def decide(seen: Seen) -> Answer:
        if at(seen) and not seconds[0]:
            publish.put(".flatpanel/lock.json", b'{"holder": "another", "seconds": 3600, "unfinished": []}')
            seconds[0] = 3600
        return PASS

    proxy.decide = decide
    sentence = f"{publish.target}: another publish is at work; run this one again after it"
    assert sentence in error_of(publish(*LONG, "--jobs", jobs, by=proxy.as_store))


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_suspended_publisher_writes_no_more(
    publish: BucketPublisher, proxy: StoreProxy, seconds: list[float], jobs: int
) -> None:
    """No list would have what it writes now, so that it would stay public."""
    taken_over(publish, proxy, seconds, is_body, jobs)
    assert 1 <= len(publish_bodies(proxy)) <= jobs
    assert not any(map(is_pointer, proxy.seen))


def test_a_suspended_publisher_writes_no_list(
    publish: BucketPublisher, proxy: StoreProxy, seconds: list[float]
) -> None:
    """A comparison may take long. A list names restricted packs, and no other list would have it."""

    def is_compared(seen: Seen) -> bool:
        return seen.method == "GET" and seen.target.endswith("/pointer.json") and any(map(is_lock, proxy.seen))

    taken_over(publish, proxy, seconds, is_compared)
    assert not [key for key in publish.own_keys() if "/lists/" in key]


def test_a_suspended_publisher_removes_no_more(
    publish: BucketPublisher, proxy: StoreProxy, seconds: list[float]
) -> None:
    """The release of another one may need the objects."""
    publish.totals()
    keys = publish.bodies()
    (publish.site.folder / "catalog_src/series/second.yaml").unlink()
    publish.site.build()
    taken_over(publish, proxy, seconds, is_pointer)
    assert publish.bodies().keys() == keys.keys()


def test_a_suspended_publisher_goes_on_with_its_own_lock(
    publish: BucketPublisher, proxy: StoreProxy, seconds: list[float]
) -> None:
    def decide(seen: Seen) -> Answer:
        if is_body(seen):
            seconds[0] = 3600
        return PASS

    proxy.decide = decide
    publish.totals(*LONG, by=proxy.as_store)
    # The lock is taken, names the lists, is renewed, and is given back.
    assert len([seen for seen in proxy.seen if is_lock(seen)]) == 4
    assert publish.is_current()


def test_a_suspended_publisher_without_a_sign_writes_no_more(
    publish: BucketPublisher, proxy: StoreProxy, seconds: list[float]
) -> None:
    """It cannot know whether another one has taken over."""

    def decide(seen: Seen) -> Answer:
        if is_body(seen):
            seconds[0] = 3600
        return Answer(503) if is_lock(seen) and seconds[0] else PASS

    proxy.decide = decide
    assert "the store is busy or broken (503" in error_of(publish(*LONG, by=proxy.as_store))
    assert len(publish_bodies(proxy)) == 1


def test_a_lost_lock_is_asked_for_once(bucket: Bucket) -> None:
    """Each of many threads would wait for a store that does not answer."""
    seconds = [0.0]
    with (
        pytest.raises(FlatpanelError, match="another publish is at work"),
        exclusive(bucket, 3600, lambda _: None, lambda: seconds[0], without_lock=False) as lock,
    ):
        bucket.put(LOCK, b"of another", {})
        lock.check()
        seconds[0] = 3600
        with pytest.raises(FlatpanelError) as first:
            lock.check()
        with pytest.raises(FlatpanelError) as second:
            lock.check()
        assert second.value is first.value
        raise first.value


@pytest.fixture
def bucket(publish: BucketPublisher, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    for name, value in publish.store.environment.items():
        monkeypatch.setenv(name, value)
    return Bucket(BucketTarget(BUCKET, publish.prefix), Connection(publish.store.endpoint))


def test_a_missing_object_has_no_headers(bucket: Bucket) -> None:
    assert bucket.attributes("nothing") == {}


def test_a_key_that_no_bucket_has(bucket: Bucket) -> None:
    """The library refuses it; names of a catalog cannot contain it."""
    with pytest.raises(FlatpanelError, match=r"s3://.*: Could not parse path: .*empty path segment\Z"):
        bucket.get("a//b")
