"""`publish s3://… --layout packs`: immutable files, and a pointer that names a release as a whole."""

import hashlib
import json
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from generator.hosts.packs import pack_files
from generator.hosts.publish.s3.layouts import PackedFiles
from tests.conftest import Serve, Site
from tests.hosts.publish.conftest import BucketPublisher
from tests.hosts.publish.test_killed_publishes import killed_at
from tests.support import tree_snapshot
from tests.support.object_stores import ObjectStore
from tests.support.store_proxy import StoreProxy

pytestmark = pytest.mark.hosts

PACKS = ("--layout", "packs")
ALL_PACKS = (*PACKS, "--with-restricted")


def description(publish: BucketPublisher) -> dict[str, Any]:
    """What the worker reads first."""
    value: dict[str, Any] = json.loads(publish.read(publish.pointer()["worker"]))
    return value


def packs_of(value: dict[str, Any], tree: str) -> set[str]:
    """The names of the packs in a directory."""
    directory = b64decode(value["directories"][tree])
    names = {directory[at + 1 : at + 17].hex() for at in range(0, len(directory), 17)}
    return names - {"0" * 32}


def files(site: Site, folder: Path, *trees: str) -> set[str]:
    """The keys of the files of the current release."""
    pack_files.pack_release(site.store, folder)
    return {f"{tree}/{path.name}" for tree in trees for path in (folder / "files" / tree).iterdir()}


@pytest.mark.parametrize("kind", ["publish", "to_seaweed"])
def test_the_files_of_a_release(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    publish: BucketPublisher = request.getfixturevalue(kind)
    totals = publish.totals(*PACKS)
    keys = publish.bodies().keys()
    value = description(publish)
    assert keys == files(publish.site, tmp_path / "other", "public") | {publish.pointer()["worker"]}
    assert {f"public/{name}" for name in packs_of(value, "public")} <= keys
    assert totals["release"] == publish.site.store.current()
    for key in keys:
        head = publish.store.head(f"{publish.prefix}/{key}")
        assert "immutable" in head["CacheControl"]
        assert hashlib.sha256(publish.read(key)).hexdigest()[:32] == Path(key).stem
    assert publish.totals(*PACKS)["sent"] == publish.totals(*PACKS, "--check")["sent"] == 0


@pytest.fixture
def restricted(run: Callable[..., Result], moto: ObjectStore, serve: Serve, tmp_path: Path) -> BucketPublisher:
    site, _ = serve("v2")
    publish = BucketPublisher(run, site, moto, tmp_path.name)
    return publish.elsewhere(tmp_path / "site")


def test_restricted_packs_stay_here(restricted: BucketPublisher) -> None:
    """Neither they nor digests of keys are sent."""
    restricted.totals(*PACKS)
    assert not [key for key in restricted.bodies() if key.startswith("private/")]
    value = description(restricted)
    assert value["rules"]["keys"] == {} and packs_of(value, "private") == set()


def test_restricted_packs_for_a_worker(restricted: BucketPublisher, tmp_path: Path) -> None:
    restricted.totals(*ALL_PACKS)
    value = description(restricted)
    assert value["rules"]["keys"] and packs_of(value, "private")
    assert restricted.pointer()["worker"].startswith("private/releases/")
    keys = files(restricted.site, tmp_path / "other", "public", "private")
    assert restricted.pointer()["list"].startswith("private/lists/")
    assert restricted.bodies().keys() == keys | {restricted.pointer()["worker"], restricted.pointer()["list"]}
    head = restricted.store.head(f"{restricted.prefix}/{restricted.pointer()['worker']}")
    assert head["CacheControl"] == "private, max-age=31536000, immutable"


def test_restricted_packs_are_removed_without_the_option(restricted: BucketPublisher) -> None:
    """At once, with the same release: the bucket may be public from now on."""
    restricted.totals(*ALL_PACKS, "--keep", 5)
    private = {key for key in restricted.bodies() if key.startswith("private/")}
    totals = restricted.totals(*PACKS)
    # The list that the pointer named is no object of the release.
    assert totals["removed"] == len(private) - 1 > 0
    assert not [key for key in restricted.bodies() if key.startswith("private/")]
    assert not restricted.pointer()["list"].startswith("private/")


@pytest.mark.parametrize("field", ["restricted", "licensed"])
def test_nothing_stays_of_what_was_public(publish: BucketPublisher, field: str) -> None:
    """Anyone may read the bucket, and its list names every object."""
    publish.totals(*PACKS)
    change(publish, field)
    publish.totals(*PACKS)
    assert publish.bodies().keys() == publish.listed().keys() == current(publish, "public")


def test_what_stayed_is_removed(publish: BucketPublisher, monkeypatch: pytest.MonkeyPatch) -> None:
    """Earlier versions kept packs of earlier releases; nothing else has changed since then."""
    publish.totals(*PACKS)
    change(publish, "restricted")
    with monkeypatch.context() as earlier:
        earlier.setattr(PackedFiles, "keeps", lambda self, key: 5)
        publish.totals(*PACKS)
    assert publish.bodies().keys() > current(publish, "public")
    totals = publish.totals(*PACKS)
    assert totals["sent"] == 0 and totals["removed"] > 0
    assert publish.bodies().keys() == current(publish, "public")


def change(publish: BucketPublisher, field: str) -> None:
    """Build with this field for a series that was public."""
    with (publish.site.folder / "catalog_src/series/first.yaml").open("a") as series:
        series.write(f"{field}: true\n")
    publish.site.build()


def test_old_packs_stay_for_some_releases(publish: BucketPublisher) -> None:
    """With --keep 2, a publish removes what the last two publishes do not use."""
    totals, releases = publish.totals(*ALL_PACKS, "--keep", 2), [stored(publish)]
    for count in range(3):
        publish.edit(f"Edit {count}")
        before = stored(publish)
        totals = publish.totals(*ALL_PACKS, "--keep", 2)
        after = stored(publish)
        releases.append(current(publish, "public", "private"))
        assert totals["sent"] == len(after - before) > 0
        assert after == releases[-1] | releases[-2]
        assert totals["removed"] == len(before - after)
    assert totals["removed"] > 0


def stored(publish: BucketPublisher) -> set[str]:
    """The objects of releases. The list that the pointer names is none."""
    return publish.bodies().keys() - {publish.pointer()["list"]}


def current(publish: BucketPublisher, *trees: str) -> set[str]:
    """The objects that the release of the pointer has."""
    folder = publish.site.folder / ".flatpanel_packs/files"
    keys = {f"{tree}/{path.name}" for tree in trees for path in (folder / tree).iterdir()}
    return keys | {publish.pointer()["worker"]}


def test_keep_releases_is_the_default(publish: BucketPublisher) -> None:
    catalog = ("--catalog", publish.site.folder / "catalog_src")
    with (publish.site.folder / "catalog_src/site.yaml").open("a") as settings:
        settings.write("keep_releases: 3\n")
    is_stored, first = [], set[str]()
    for count in range(4):
        publish.edit(f"Edit {count}")
        publish.totals(*ALL_PACKS, *catalog)
        first = first or stored(publish)
        is_stored.append(first <= stored(publish))
    assert is_stored == [True, True, True, False]


def test_a_rollback_sends_nothing(publish: BucketPublisher) -> None:
    publish.totals(*ALL_PACKS, "--keep", 2)
    first = description(publish)["directories"]
    publish.edit("Edited")
    publish.totals(*ALL_PACKS, "--keep", 2)
    publish.site.roll_back()
    totals = publish.totals(*ALL_PACKS, "--keep", 2)
    assert totals["sent"] == 0
    assert description(publish)["directories"] == first
    publish.edit("Edited")
    assert publish.totals(*ALL_PACKS, "--keep", 2)["sent"] == 0


def test_check_repairs(publish: BucketPublisher) -> None:
    publish.totals(*PACKS)
    keys = publish.bodies()
    garbled, lost = list(keys)[:2]
    publish.put(garbled, b"other bytes")
    publish.delete(lost)
    assert publish.totals(*PACKS)["sent"] == 0
    assert publish.totals(*PACKS, "--check")["sent"] == 2
    assert publish.bodies() == keys


def test_a_damaged_pack_is_not_sent(publish: BucketPublisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packing writes it again; one that is damaged after that is refused."""

    def damage() -> Path:
        path = max((tmp_path / "packs/files/public").iterdir(), key=lambda path: path.stat().st_size)
        path.write_bytes(path.read_bytes()[:-1] + b"?")
        return path

    command = (*PACKS, "--packs", tmp_path / "packs")
    publish.totals(*command)
    damage()
    publish.totals(*command, "--check")
    pack = pack_files.pack_release
    monkeypatch.setattr(pack_files, "pack_release", lambda *words, **named: (pack(*words, **named), damage()))
    result = publish(*command, "--check")
    assert result.exit_code == 1 and f"{damage()}: is damaged; remove the folder" in result.stderr


def test_a_dry_run_leaves_the_folder_of_packs(publish: BucketPublisher, tmp_path: Path) -> None:
    """Workers that answer from it would publish the release."""
    command = (*PACKS, "--packs", tmp_path / "edge")
    planned = publish.totals("--dry-run", *command)
    assert not (tmp_path / "edge").exists()
    totals = publish.totals(*command)
    assert totals == {**planned, "dry_run": False}
    publish.edit()
    before = tree_snapshot.state(tmp_path / "edge")
    assert publish.totals("--dry-run", *command)["sent"] == publish.totals("--dry-run", *PACKS)["sent"] > 0
    assert tree_snapshot.state(tmp_path / "edge") == before
    assert not (publish.site.folder / ".flatpanel_packs").exists()
    result = publish("--dry-run", *PACKS, "--packs", publish.site.folder)
    assert result.exit_code == 1 and "is not an empty folder, nor one of an earlier `pack`" in result.stderr


def test_a_refused_publish_leaves_the_folder_of_packs(to_seaweed: BucketPublisher, tmp_path: Path) -> None:
    """The bucket is asked before anything is packed: for wrong credentials, and for another layout."""
    command = (*PACKS, "--packs", tmp_path / "edge")
    wrong = ObjectStore(to_seaweed.store.endpoint, "publisher", "wrong")
    assert "403: SignatureDoesNotMatch" in to_seaweed(*command, by=wrong).stderr
    to_seaweed.totals()
    assert "has the layout files; pass --layout files" in to_seaweed(*command).stderr
    assert not (tmp_path / "edge").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--packs", "p"), "--packs needs --layout packs"),
        (("--keep", 3), "--keep needs --layout packs"),
        (("--with-restricted",), "--with-restricted needs --layout packs"),
    ],
)
def test_options_of_packs(publish: BucketPublisher, options: tuple[object, ...], sentence: str) -> None:
    result = publish(*options)
    assert result.exit_code == 2 and sentence in result.stderr


def test_a_number_of_releases_without_effect_is_named(publish: BucketPublisher) -> None:
    """What was public before a series was restricted must not stay."""
    result = publish(*PACKS, "--keep", 3)
    assert result.exit_code == 0 and "warning: --keep has no effect without --with-restricted" in result.stderr


@pytest.mark.kills
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_killed_publish_leaves_one_release_whole(
    publish: BucketPublisher, proxy: StoreProxy, tmp_path: Path, after: bool
) -> None:
    """The pointer names the old or the new release, and every file of that release is there."""
    publish.totals(*PACKS)
    publish.edit("Counted")
    publish.totals(*PACKS, "--jobs", 1, by=proxy.as_store)
    outcomes = set()
    live, old = publish.pointer()["worker"], set(publish.bodies())
    for moment in range(1, len(proxy.seen) + 1, 2):
        publish.edit(f"Killed at {moment}")
        new = files(publish.site, publish.site.folder / ".flatpanel_packs", "public")
        killed_at(publish, proxy, moment, *PACKS, after=after)
        is_new = publish.pointer()["worker"] != live
        outcomes.add(is_new)
        whole = (new if is_new else old) | {publish.pointer()["worker"]}
        assert whole <= publish.bodies().keys()
        for key in whole:
            assert hashlib.sha256(publish.read(key)).hexdigest()[:32] == Path(key).stem
        publish.totals(*PACKS)
        live, old = publish.pointer()["worker"], set(publish.bodies())
        assert old == new | {live}
    assert outcomes == {False, True}


def test_packs_in_the_releases_are_refused(publish: BucketPublisher) -> None:
    """They would be part of a release."""
    folder = publish.site.folder / "dist/www/packs"
    result = publish(*PACKS, "--packs", folder)
    assert result.exit_code == 1 and "which holds the releases; choose another folder with --packs" in result.stderr
    assert not folder.exists()
