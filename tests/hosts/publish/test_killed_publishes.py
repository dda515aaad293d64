"""A publish that is killed at each of its requests: readers have one release, whole, and the next publish goes on."""

import os
import subprocess
from threading import Event

import pytest

from generator.release import manifest
from tests.conftest import Site
from tests.hosts.publish.conftest import BucketPublisher
from tests.support.servers import LIMIT
from tests.support.store_proxy import PASS, Answer, Seen, StoreProxy

pytestmark = pytest.mark.kills


def etags(site: Site) -> set[str]:
    return {body.etag for body in site.manifest.resources.values() if manifest.is_plain(body)}


def killed_at(publish: BucketPublisher, proxy: StoreProxy, moment: int, *options: object, after: bool) -> bool:
    """Kill a publish at its request number `moment`, before or after the store gets it; False if it ended before."""
    started = Event()

    def decide(seen: Seen) -> Answer:
        if seen.number < moment:
            return PASS
        if seen.number == moment and after:
            return Answer(cuts=True)
        started.wait(LIMIT)
        process.kill()
        return Answer(drops=True)

    proxy.reset(decide)
    environment = {**os.environ, **proxy.as_store.environment}
    command = publish.command("--jobs", 1, "--retries", 0, *options)
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    started.set()
    output = process.communicate(timeout=LIMIT)[0]
    assert process.returncode in (0, 1, -9), output
    assert b"Traceback" not in output
    return process.returncode != 0


def body_puts(proxy: StoreProxy) -> list[str]:
    return [seen.target for seen in proxy.seen if seen.method == "PUT" and "/.flatpanel/" not in seen.target]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_killed_publish_leaves_whole_bodies(publish: BucketPublisher, proxy: StoreProxy, after: bool) -> None:
    """Each body is that of the old or of the new release, and nothing that was sent is sent again."""
    publish.totals(by=proxy.as_store)
    old = etags(publish.site)
    proxy.reset()
    publish.edit("Counted")
    publish.totals("--jobs", 1, by=proxy.as_store)
    count = len(proxy.seen)
    # Before a request and after the one before it, the store has the same.
    for moment in range(1, count + 1, 2):
        old = etags(publish.site)
        publish.edit(f"Killed at {moment}")
        new = etags(publish.site)
        was_killed = killed_at(publish, proxy, moment, after=after)
        assert was_killed or moment >= count - 1
        assert set(publish.bodies().values()) <= old | new
        first = body_puts(proxy)
        proxy.reset()
        publish.totals(by=proxy.as_store)
        assert set(publish.bodies().values()) == new
        assert len(set(first[: -1 if was_killed else None]) & set(body_puts(proxy))) == 0
        assert publish.listed() == publish.bodies()
