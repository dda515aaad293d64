"""`publish s3://…` with plain keys: what is sent, kept and removed."""

from collections.abc import Callable

import pytest
from botocore.exceptions import ResponseStreamingError
from click.testing import Result

from generator.release import manifest
from tests.conftest import Serve, Site
from tests.hosts.publish.conftest import BucketPublisher
from tests.support.node_tools import needs_s3rver
from tests.support.object_stores import ObjectStore
from tests.support.store_proxy import StoreProxy

pytestmark = pytest.mark.hosts


def public(site: Site) -> dict[str, str]:
    """The ETags of all public URLs without parameters."""
    return {url: body.etag for url, body in site.manifest.resources.items() if manifest.is_plain(body)}


@pytest.mark.parametrize("kind", ["publish", "to_seaweed"])
def test_each_public_url_is_a_key(kind: str, request: pytest.FixtureRequest) -> None:
    """The key is the path, the ETag is ours, and type and age are those of the release; nothing is compressed."""
    publish: BucketPublisher = request.getfixturevalue(kind)
    totals = publish.totals()
    keys = publish.bodies()
    assert sorted(keys.values()) == sorted(public(publish.site).values())
    assert totals["sent"] == len(keys) and totals["kept"] == totals["removed"] == 0
    for url, key in {"/api/series": "api/series", "/api/v2/series/first": "api/v2/series/first"}.items():
        body = publish.site.manifest.resources[url]
        head = publish.store.head(f"{publish.prefix}/{key}")
        assert head["ETag"] == f'"{body.etag}"'
        assert (head["ContentType"], head["CacheControl"]) == (body.type, f"public, max-age={body.max_age}")
        assert "ContentEncoding" not in head or not head["ContentEncoding"]
    assert totals["release"] == publish.site.store.current() and publish.is_current()
    if kind == "to_seaweed":
        # As the table of hosts says: with other keys below, a final slash names a folder.
        with pytest.raises(ResponseStreamingError, match="0 bytes read"):
            publish.read("api/series/")


def test_pages_have_the_names_that_websites_want(run: Callable[..., Result], moto: ObjectStore, serve: Serve) -> None:
    site, _ = serve("pages")
    publish = BucketPublisher(run, site, moto, "pages")
    publish.totals()
    keys = publish.bodies()
    assert {"index.html", "404.html", "api/series", "api/v2/openapi.json"} <= keys.keys()
    assert all(not key.endswith("/") for key in keys)
    assert publish.store.head("pages/index.html")["ContentType"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("kind", ["moto", "seaweed"])
def test_odd_names_are_keys(
    kind: str, run: Callable[..., Result], request: pytest.FixtureRequest, serve: Serve
) -> None:
    """A listing returns the same keys, so nothing is sent again."""
    site, _ = serve("hostile")
    publish = BucketPublisher(run, site, request.getfixturevalue(kind), "odd")
    assert publish.totals()["sent"] == len(public(site))
    assert publish.totals("--check")["sent"] == 0


def test_a_second_publish_sends_nothing(publish: BucketPublisher, proxy: StoreProxy) -> None:
    """It lists no objects, and the pointer stays as it is."""
    first = publish.totals(by=proxy.as_store)
    pointer = publish.pointer()
    proxy.reset()
    second = publish.totals(by=proxy.as_store)
    assert (second["sent"], second["kept"], second["removed"]) == (0, first["sent"], 0)
    assert publish.pointer() == pointer
    # The lock is renewed while time passes.
    others = [seen for seen in proxy.seen if not seen.target.endswith("lock.json")]
    assert len(others) <= 8 and not [seen for seen in others if "list-type" in seen.target]


def test_an_edit_sends_what_changed(publish: BucketPublisher, proxy: StoreProxy) -> None:
    """Bodies come first, lists after them, the pointer last; the lists of the publish before are removed."""
    publish.totals()
    before, objects, lists = public(publish.site), publish.bodies(), publish.own_keys()
    publish.edit()
    after = public(publish.site)
    totals = publish.totals(by=proxy.as_store)
    changed = {url for url in after if before.get(url) != after[url]}
    assert totals["sent"] == len(changed) and totals["removed"] == len(before.keys() - after.keys())
    assert sorted(publish.bodies().values()) == sorted(after.values())
    keys = [seen.target.partition(publish.prefix)[2] for seen in proxy.seen if seen.method == "PUT"]
    written = [key for key in keys if not key.startswith("/.flatpanel/lock")]
    assert written[-1] == "/.flatpanel/pointer.json"
    assert written.index("/api/series/second") < written.index("/api/series")
    assert len(publish.own_keys()) == len(lists) and publish.own_keys() != lists
    assert publish.bodies().keys() == objects.keys()


def test_a_removed_series_is_removed(publish: BucketPublisher) -> None:
    publish.totals()
    publish.put("media/second/cover.jpg", b"an image of another program")
    keys = publish.bodies()
    (publish.site.folder / "catalog_src/series/second.yaml").unlink()
    publish.site.build()
    assert publish.totals()["removed"] > 0
    removed = keys.keys() - publish.bodies().keys()
    assert "api/series/second" in removed and "media/second/cover.jpg" not in removed


def test_another_cache_age_sends_the_headers(publish: BucketPublisher) -> None:
    publish.totals()
    with (publish.site.folder / "catalog_src/site.yaml").open("a") as settings:
        settings.write("cache: {unversioned: {series: 77}}\n")
    publish.site.build()
    assert publish.totals()["sent"] > 0
    assert publish.store.head(f"{publish.prefix}/api/series")["CacheControl"] == "public, max-age=77"


def test_a_dry_run_counts_and_writes_nothing(publish: BucketPublisher) -> None:
    result = publish("--dry-run")
    count = len(public(publish.site))
    assert result.exit_code == 0
    assert f"{publish.target}: release {publish.site.store.current()}: would send {count} objects" in result.stdout
    assert publish.store.keys(publish.prefix) == {}
    totals = publish.totals()
    assert publish.totals("--dry-run") == {**totals, "dry_run": True, "sent": 0, "bytes": 0, "kept": totals["sent"]}


def test_check_finds_what_others_changed(publish: BucketPublisher) -> None:
    """Without it, the list of the last publish is believed."""
    publish.totals()
    keys = publish.bodies()
    publish.put("api/series", b"[]", ContentType="application/json")
    publish.delete("api/v2/series/first")
    publish.put("README", b"of another program")
    assert publish.totals()["sent"] == 0
    assert publish.totals("--check", "--dry-run")["sent"] == 2
    assert publish.totals("--check")["sent"] == 2
    assert publish.bodies() == {**keys, "README": publish.bodies()["README"]}


@pytest.mark.end_to_end
@pytest.mark.parametrize("data", [None, b"[]", b"\x1f\x8b no gzip"])
def test_a_lost_list_is_made_again(publish: BucketPublisher, data: bytes | None) -> None:
    """The objects are listed; one whose headers are not right is sent again."""
    publish.totals()
    name = publish.pointer()["list"]
    publish.delete(name) if data is None else publish.put(name, data)
    publish.put("api/series", publish.read("api/series"), ContentType="text/plain")
    assert publish.totals()["sent"] == 1
    assert publish.totals()["sent"] == 0


def test_objects_without_a_list_are_compared(publish: BucketPublisher) -> None:
    """Another program may have sent them; the pointer is missing, too."""
    publish.totals()
    for key in publish.own_keys():
        publish.delete(key)
    totals = publish.totals()
    assert (totals["sent"], totals["kept"]) == (0, len(publish.bodies()))


@pytest.mark.parametrize("text", [b"{}", b"[", b'{"flatpanel": 1}', b"[]"])
def test_a_foreign_pointer_is_refused(publish: BucketPublisher, text: bytes) -> None:
    publish.put(".flatpanel/pointer.json", text)
    result = publish()
    assert (result.exit_code, result.stderr) == (
        1,
        f"{publish.target}: .flatpanel/pointer.json is not of this version of the program; remove the object to send "
        "everything. That does not remove what only earlier releases have: if some of it must not be public, empty "
        "this prefix, or publish to an empty one\n",
    )


@pytest.mark.end_to_end
@pytest.mark.parametrize(
    "text",
    [b"[", b"[]", b'{"holder": ""}', b'{"holder": "a", "seconds": "soon", "unfinished": []}'],
)
def test_a_damaged_lock_is_written_again(publish: BucketPublisher, text: bytes) -> None:
    publish.put(".flatpanel/lock.json", text)
    assert publish.totals()["sent"]


@pytest.mark.parametrize(
    ("target", "option", "sentence"),
    [
        ("s3://comics", "--no-reload", "--no-reload is for targets of ssh://, not of s3://"),
        ("ssh://comics.example/srv", "--region=here", "--region is for targets of s3://, not of ssh://"),
    ],
)
def test_an_option_of_another_scheme_is_refused(
    publish: BucketPublisher, target: str, option: str, sentence: str
) -> None:
    """It would change nothing."""
    result = publish.run("publish", target, option, "--out", publish.site.folder / "dist")
    assert result.exit_code == 2 and sentence in result.stderr


WRONG_TARGETS = {
    "ftp://comics": "is not a target; use a URL like s3://bucket/prefix",
    "comics": "is not a target",
    "s3://": "should name a bucket: 3 to 63 lowercase letters",
    "s3://Comics": "should name a bucket",
    "s3://comics/a//b": "should have a prefix of letters",
    "s3://comics/..": "should have a prefix of letters",
    "s3://comics/a/./b": "should have a prefix of letters",
}


def test_wrong_targets(publish: BucketPublisher) -> None:
    out = publish.site.folder / "dist"
    results = {target: publish.run("publish", target, "--out", out) for target in WRONG_TARGETS}

    assert {result.exit_code for result in results.values()} == {2}
    assert [
        result.stderr for target, result in results.items() if f"{target}: {WRONG_TARGETS[target]}" not in result.stderr
    ] == []


WITH_PASSWORDS = (
    ("publish", "s3://me:s3c/ret@comics"),
    ("publish", "ssh://me:s3c/ret@comics.example/srv"),
    ("publish", "ssh:///me:s3c/ret@comics.example/srv"),
    ("publish", "ftp://me:s3c/ret@comics.example"),
    ("publish", "s3://comics", "--endpoint", "http://me:s3c/ret@127.0.0.1"),
    ("publish", "s3://comics", "--url", "http://me:s3cret@comics.example"),
    ("verify", "--url", "http://me:s3cret@comics.example"),
    # Without a scheme.
    ("publish", "me:s3c/ret@comics.example"),
    ("publish", "s3://comics", "--endpoint", "me:s3c/ret@comics.example"),
    ("verify", "--url", "me:s3cret@comics.example"),
)


def test_no_message_has_a_password(publish: BucketPublisher) -> None:
    """A URL often comes from the environment, and messages are kept in logs of builds."""
    results = [publish.run(*arguments, "--out", publish.site.folder / "dist") for arguments in WITH_PASSWORDS]

    assert {result.exit_code for result in results} <= {1, 2}
    assert [result.stderr for result in results if "me:" in result.stderr or "s3c" in result.stderr] == []
    assert [result.stderr for result in results[:-3] if "://…@" not in result.stderr] == []
    assert [result.stderr for result in results[-3:] if "…@comics.example: " not in result.stderr] == []


@needs_s3rver
def test_a_store_that_ignores_conditions(to_s3rver: BucketPublisher) -> None:
    result = to_s3rver()
    assert (result.exit_code, result.stderr) == (
        1,
        f"{to_s3rver.target}: this store ignores the conditions of writes, so two publishers at once would mix their "
        "releases; make sure that there is only one, and pass --without-lock\n",
    )
    assert to_s3rver.bodies() == {}
    assert to_s3rver.totals("--without-lock")["sent"] == len(public(to_s3rver.site))
    assert to_s3rver.totals("--without-lock")["sent"] == 0
