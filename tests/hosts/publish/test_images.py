"""`publish --media`: the images that the catalog names, to a server or to a bucket."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generator.errors import FlatpanelError
from generator.hosts.publish.s3 import run
from generator.hosts.publish.s3.layouts import MediaLayout
from generator.hosts.publish.ssh.session import connected
from generator.hosts.publish.ssh.target import SshTarget
from tests.conftest import AS_OF
from tests.hosts.publish.conftest import BucketPublisher
from tests.support import media_server, tree_snapshot
from tests.support.media_server import FILES
from tests.support.object_stores import BUCKET, ObjectStore
from tests.support.remote_site import Remote
from tests.support.runs import sample

pytestmark = pytest.mark.hosts

# Its chapter is published in 2030.
SCHEDULED = [path for path in FILES if path.startswith("series/one/2/")]
READABLE = [path for path in FILES if path not in SCHEDULED]


def fill(folder: Path, *, media: str = "") -> Path:
    """Add the images of a catalog that names FILES."""
    images = folder / "media"
    media_server.fill(images, FILES)
    (images / "not-named.png").write_bytes(b"image")
    settings = "base_url: https://comics.example\n" + f"media: {media}\n" * bool(media)
    (folder / "catalog_src/site.yaml").write_text(settings)
    return images


@pytest.fixture
def images(remote: Remote) -> Path:
    media_server.write_catalog(remote.site)
    folder = fill(remote.site.folder)
    remote.site.build()
    return folder


@pytest.fixture
def to_bucket(publish: BucketPublisher) -> Callable[..., dict[str, Any]]:
    """Publish a site and its images to a bucket; the counts of these."""
    media_server.write_catalog(publish.site)
    images = fill(publish.site.folder)
    publish.site.build()
    where = ("--media", images, "--catalog", publish.site.folder / "catalog_src")
    return lambda *options: dict(publish.totals(*where, *options)["images"])


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(AS_OF))


def sent(remote: Remote, *options: object) -> dict[str, Any]:
    facts: Any = remote.facts(*options)["images"]
    facts.pop("target")
    return dict(facts)


def paths(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.end_to_end
def test_a_server_gets_the_images_that_readers_can_see(remote: Remote, images: Path) -> None:
    """With their times, below the folder that nginx serves. Only a changed image is sent again."""
    assert sent(remote, "--media", images, "--dry-run")["sent"] == len(READABLE)
    assert not remote.folder.exists()
    assert sent(remote, "--media", images)["sent"] == len(READABLE)
    target = remote.folder / "media"
    assert paths(target) == sorted(READABLE)
    for path in READABLE:
        assert (target / path).read_bytes() == (images / path).read_bytes()
        assert int((target / path).stat().st_mtime) == int((images / path).stat().st_mtime)
    shutil.copy(images / READABLE[1], images / READABLE[0])
    (images / READABLE[2]).touch()
    os.utime(images / READABLE[2], (1, 1))
    size = sum((images / path).stat().st_size for path in (READABLE[0], READABLE[2]))
    kept = len(READABLE) - 2
    assert sent(remote, "--media", images) == {"sent": 2, "bytes": size, "kept": kept, "removed": 0}
    assert sent(remote, "--media", images)["sent"] == 0
    output, url = remote.publish("--media", images).stdout, remote.target
    assert output.startswith(
        f"{url}/media: images: sent 0 objects (0 bytes), {len(READABLE)} unchanged\n{url}: release "
    )


def test_no_image_goes_behind_a_link(remote: Remote, images: Path, tmp_path: Path) -> None:
    """nginx does not follow it, either. A folder in place of an image gets no image."""
    remote.site.write("site.yaml", "base_url: https://comics.example\nmedia_folder: all/media\n")
    remote.site.build()
    remote.publish("--media", images)
    (images / READABLE[0]).write_bytes((images / READABLE[1]).read_bytes() + b"1")
    outside = tmp_path / "outside"
    inside = str(Path("all/media", READABLE[0]).parent)
    for place in sample(["all", "all/media", "all/media/series", inside, "all/media/.flatpanel-new"], 3):
        path, is_new = remote.folder / place, place.endswith("new")
        outside.mkdir() if is_new else path.rename(outside)
        path.symlink_to(outside)
        before = tree_snapshot.state(outside)
        for option in ("--dry-run", "--check"):
            result = remote.publish("--media", images, option, ok=False)
            assert f"{remote.folder}/{place}: is a link, and a publish follows none" in result.stderr
        assert tree_snapshot.state(outside) == before
        path.unlink()
        outside.rmdir() if is_new else outside.rename(path)
    image = remote.folder / "all/media" / READABLE[0]
    image.unlink()
    image.mkdir()
    assert "cannot be written" in remote.publish("--media", images, ok=False).stderr
    assert not any(image.iterdir())
    image.rmdir()
    remote.publish("--media", images)
    assert (
        paths(remote.folder / "all/media") == sorted(READABLE)
        and image.read_bytes() == (images / READABLE[0]).read_bytes()
    )


def test_files_of_others_may_have_any_name(remote: Remote, images: Path) -> None:
    """A name with a line break would be two lines of the list, and the second one could name an image."""
    target = remote.folder / "media"
    image = images / READABLE[0]
    fake = f"x\n{image.stat().st_size} {int(image.stat().st_mtime)} .".split("/")
    (target / "/".join(fake) / READABLE[0]).parent.mkdir(parents=True)
    (target / "/".join(fake) / READABLE[0]).write_bytes(b"")
    for name in ("line\nbreak.jpg", " blank"):
        (target / name).write_bytes(b"")
    assert sent(remote, "--media", images)["sent"] == len(READABLE)
    assert sent(remote, "--media", images)["sent"] == 0
    assert len(paths(target)) == len(READABLE) + 3


def test_missing_images_are_counted(remote: Remote, images: Path) -> None:
    (images / READABLE[0]).unlink()
    (images / READABLE[1]).write_bytes(b"")
    # nginx follows no link out of the folder.
    (images / READABLE[2]).rename(images.parent / "elsewhere")
    (images / READABLE[2]).symlink_to(images.parent / "elsewhere")
    result = remote.publish("--media", images)
    assert f"missing or incomplete: 3 of {len(READABLE)} images that the catalog names" in result.stderr
    assert paths(remote.folder / "media") == sorted(READABLE[3:])


@pytest.mark.end_to_end
@pytest.mark.parametrize(("limit", "lacking"), [(4096, 3), (4650, 7)])
def test_an_interrupted_upload_is_resumed(remote: Remote, images: Path, limit: int, lacking: int) -> None:
    """No reader gets a part of an image: all of them arrive in a hidden folder, and a part is sent again."""
    remote.server.wrap_command("tar", f'head -c {limit} | "$real" "$@"; exit 2')
    assert "tar failed" in remote.publish("--media", images, ok=False).stderr
    arrived = paths(remote.folder / "media")
    assert arrived and all(path.startswith(".flatpanel-new/") for path in arrived)
    (remote.server.commands / "tar").unlink()
    assert sent(remote, "--media", images)["sent"] == lacking
    assert paths(remote.folder / "media") == sorted(READABLE)


@pytest.mark.end_to_end
def test_images_that_arrived_are_not_sent_again(remote: Remote, images: Path) -> None:
    """The server could not move them."""
    remote.publish("--media", images)
    for path in READABLE[:2]:
        os.utime(images / path, (2, 2))
    remote.server.wrap_command("find", 'case $* in *.flatpanel*|"."*sh*) exit 1; esac; exec "$real" "$@"')
    remote.publish("--media", images, ok=False)
    (remote.server.commands / "find").unlink()
    assert sent(remote, "--media", images)["sent"] == 0
    assert paths(remote.folder / "media") == sorted(READABLE)
    assert int((remote.folder / "media" / READABLE[0]).stat().st_mtime) == 2


def test_a_cut_connection_moves_nothing(remote: Remote, images: Path) -> None:
    """The archive ends between two images, and tar takes that for its end."""
    remote.server.wrap_command("tar", 'head -c 1024 | "$real" "$@"; exit 0')
    assert "the connection ended" in remote.publish("--media", images, ok=False).stderr
    assert not [path for path in paths(remote.folder / "media") if not path.startswith(".")]


def test_another_server_for_images(remote: Remote, images: Path, tmp_path: Path) -> None:
    """The command line names it, so its last folder may be a link. The output names both targets."""
    fill(remote.site.folder, media="https://images.example/")
    remote.site.build()
    (tmp_path / "images").mkdir()
    (tmp_path / "link").symlink_to("images")
    to = remote.server.url(tmp_path / "link")
    output = remote.publish("--media", images, "--leave-out", "licensed", "--media-to", to).stdout
    assert f"{to}: images: sent" in output and f"\n{remote.target}: release" in output
    facts = remote.facts("--media", images, "--media-to", to)
    assert (facts["target"], facts["images"]) == (
        remote.target,
        {"target": to, "sent": 0, "bytes": 0, "kept": len(READABLE), "removed": 0},
    )
    assert paths(tmp_path / "images") == sorted(READABLE)
    assert not (remote.folder / "media").exists()


def test_the_catalog_chooses_no_target(remote: Remote, images: Path) -> None:
    """An editor of the catalog would use the keys of the publisher."""
    remote.site.write("site.yaml", "base_url: https://comics.example\npublish: {media: 'ssh://other.example/x'}\n")
    assert "site.yaml: has problems" in remote.publish("--media", images, ok=False).stderr
    assert remote.server.sessions == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--media-to", "ssh://host/srv"], "--media-to needs --media"),
        (["--media", ".", "--media-to", "https://host/srv"], "https://host/srv: is not a target"),
        (["--media", ".", "--media-to", "ssh://host/srv", "--region", "x"], "--region is for targets of s3://"),
    ],
)
def test_wrong_targets_of_images(remote: Remote, options: list[str], message: str) -> None:
    assert message in remote.publish(*options, ok=False).stderr
    assert remote.server.sessions == []


def test_images_on_another_host_need_a_target(remote: Remote, images: Path) -> None:
    fill(remote.site.folder, media="https://images.example/")
    remote.site.build()
    result = remote.publish("--media", images, ok=False)
    assert "media is https://images.example/, on another host; name the target of the images" in result.stderr


def test_a_bucket_gets_the_images(publish: BucketPublisher, to_bucket: Callable[..., dict[str, Any]]) -> None:
    """With their type and their age. Only changed images are sent again, and none is removed."""
    images = publish.site.folder / "media"
    assert to_bucket()["sent"] == len(READABLE)
    keys = {
        key.removeprefix("media/") for key in publish.bodies() if key.startswith("media/") and "/.flatpanel/" not in key
    }
    assert keys == set(READABLE)
    head = publish.store.api.head_object(Bucket=BUCKET, Key=f"{publish.prefix}/media/{READABLE[0]}")
    assert (head["ContentType"], head["CacheControl"]) == ("image/png", "public, max-age=2592000")
    none = {"target": f"{publish.target}/media", "sent": 0, "bytes": 0, "kept": len(READABLE), "removed": 0}
    assert to_bucket() == none
    (images / READABLE[0]).write_bytes((images / READABLE[1]).read_bytes() + b"1")
    (images / READABLE[1]).unlink()
    assert to_bucket()["sent"] == 1
    assert f"media/{READABLE[1]}" in publish.bodies()


def test_images_and_release_have_their_own_prefixes(publish: BucketPublisher) -> None:
    """Nothing is sent before the refusal."""
    media = ("--media", publish.site.folder, "--catalog", publish.site.folder / "catalog_src")
    equal = publish(*media, "--media-to", f"{publish.target}/")
    assert equal.exit_code == 2 and "--media-to has the release; use another prefix" in equal.stderr
    assert publish.store.keys(publish.prefix) == {}
    other = publish.target.removesuffix(publish.prefix) + f"{publish.prefix}-media"
    assert publish(*media, "--media-to", other).exit_code == 0
    publish.prefix += "-media"
    for arguments in ((), (*media, "--media-to", f"{publish.target}-2")):
        result = publish(*arguments)
        assert result.exit_code == 1
        assert result.stderr.endswith(f"{publish.target}: has the layout media; use another prefix\n")
    assert publish.store.keys(f"{publish.prefix}-2") == {}


def test_a_bucket_for_the_images_of_a_server(remote: Remote, images: Path, moto: ObjectStore) -> None:
    """Options for buckets are allowed then, although the release goes to a server."""
    fill(remote.site.folder, media="https://images.example/x/")
    remote.site.build()
    environment = dict(moto.environment)
    endpoint = environment.pop("AWS_ENDPOINT_URL")
    to = ("--media-to", f"s3://{BUCKET}/pictures", "--endpoint", endpoint)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        assert sent(remote, "--media", images, *to)["sent"] == len(READABLE)
    assert READABLE[0] in moto.keys("pictures")


def add_copies(folder: Path) -> list[str]:
    """Add smaller copies to the images, and name them in the catalog; return their paths."""
    copies = [f"w/{width}/series/one/cover.jpg.webp" for width in (160, 320)]
    media_server.fill(folder / "media", copies)
    record = '"series/one/cover.jpg": 160 320 of 400, 0123456789abcdef\n'
    (folder / "catalog_src/variants.yaml").write_text(record)
    return copies


@pytest.mark.end_to_end
def test_copies_that_the_catalog_no_longer_names_are_removed(remote: Remote, images: Path) -> None:
    """Only these: other images stay, and files of others. A copy that is not here now stays as well."""
    copies = add_copies(remote.site.folder)
    assert sent(remote, "--media", images)["sent"] == len(READABLE) + 2
    target = remote.folder / "media"
    others = ["w/160/series/two/\udcff a.webp", "w/160/other.webp", "x/160/series/one/a.webp"]
    for name in others:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(b"")
    (images / copies[0]).unlink()
    assert sent(remote, "--media", images, "--dry-run")["removed"] == 1
    assert sent(remote, "--media", images)["removed"] == 1
    assert paths(target) == sorted([*READABLE, *copies, *others[1:]])

    (remote.site.folder / "catalog_src/variants.yaml").unlink()
    output = remote.publish("--media", images, "--dry-run").stdout
    assert f"{len(READABLE)} unchanged, would remove 2\n" in output
    shutil.copy(images / READABLE[1], images / READABLE[0])
    assert sent(remote, "--media", images)["removed"] == 2
    assert paths(target) == sorted([*READABLE, *others[1:]])
    assert not (target / "w/320").exists()
    assert "removed" not in remote.publish("--media", images).stdout.splitlines()[0]


def test_copies_stay_while_the_release_before_is_served(remote: Remote, images: Path) -> None:
    """Its pages name them, and browsers show no other image in their place."""
    copies = add_copies(remote.site.folder)
    remote.publish("--media", images)
    (remote.site.folder / "catalog_src/variants.yaml").unlink()
    remote.publish("--media", images, "--reload", "false", ok=False)

    assert set(copies) <= set(paths(remote.folder / "media"))


def test_a_copy_that_cannot_be_removed_is_a_message(remote: Remote, images: Path) -> None:
    add_copies(remote.site.folder)
    remote.publish("--media", images)
    (remote.site.folder / "catalog_src/variants.yaml").unlink()
    remote.server.wrap_command("rm", 'case $* in *w/160*) exit 1; esac; exec "$real" "$@"')

    assert "cover.jpg.webp: cannot be removed" in remote.publish("--media", images, ok=False).stderr


def test_a_bucket_loses_copies_that_the_catalog_no_longer_names(
    publish: BucketPublisher, to_bucket: Callable[..., dict[str, Any]]
) -> None:
    copies = add_copies(publish.site.folder)
    assert to_bucket()["sent"] == len(READABLE) + 2
    assert {f"media/{path}" for path in copies} <= set(publish.bodies())
    (publish.site.folder / "media" / copies[0]).unlink()
    assert to_bucket()["removed"] == 0
    (publish.site.folder / "catalog_src/variants.yaml").unlink()
    assert to_bucket("--dry-run")["removed"] == 2
    assert to_bucket()["removed"] == 2
    assert not {f"media/{path}" for path in copies} & set(publish.bodies())
    assert f"media/{READABLE[0]}" in publish.bodies()


ARCHIVES = {"1": "archives/one/0/1.cbz", "2": "archives/one/2/2.5.cbz"}
# The chapter of the other is published in 2030.
ARCHIVE = ARCHIVES["1"]


def add_archives(folder: Path, content: bytes = b"PK of a chapter") -> None:
    """Add archives to the images, and record them in the catalog."""
    lines = []
    for id, path in ARCHIVES.items():
        (folder / "media" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "media" / path).write_bytes(content)
        lines.append(f"{id}: {path} {len(content)} 0123456789abcdef\n")
    (folder / "catalog_src/archives.yaml").write_text("".join(lines))
    with (folder / "catalog_src/site.yaml").open("a") as settings:
        settings.write("apps: [archives]\ncache: {v2: {series: 9}}\n")


def test_nothing_is_sent_into_the_folder_of_the_releases(remote: Remote, images: Path) -> None:
    remote.publish()
    result = remote.publish("--media", images, url=f"{remote.target}/dist", ok=False)

    assert "dist: has the releases of a site itself; use its parent folder as the target\n" in result.stderr
    assert not {"media", "dist"} & {path.name for path in (remote.folder / "dist").iterdir()}


@pytest.mark.end_to_end
def test_a_server_loses_archives_that_were_sent_and_are_withdrawn(remote: Remote, images: Path) -> None:
    """And no other: not those that were there before."""
    add_archives(remote.site.folder)
    target = remote.folder / "media"
    others = ["archives/one/0/2.cbz", "archives/one/9/1.cbz", "archives/own.cbz"]
    for name in others:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(b"PK of the owner")
    assert sent(remote, "--media", images)["sent"] == len(READABLE) + 1
    assert {ARCHIVE, *others} <= set(paths(target)) and ARCHIVES["2"] not in paths(target)
    notes = (target / ".flatpanel-sent").read_text()
    assert notes.split()[0::2] == [str(len(b"PK of a chapter")), ARCHIVE]
    assert sent(remote, "--media", images)["sent"] == 0
    assert (target / ".flatpanel-sent").read_text() == notes

    # An archive that is not here at the moment stays there. A changed one replaces the first, and both are known.
    (images / ARCHIVE).rename(images / "away.cbz")
    assert sent(remote, "--media", images)["removed"] == 0
    (images / "away.cbz").rename(images / ARCHIVE)
    (images / ARCHIVE).write_bytes(b"PK of a Chapter")
    os.utime(images / ARCHIVE, (1, 1))
    assert sent(remote, "--media", images)["sent"] == 1
    assert (target / ARCHIVE).read_bytes() == b"PK of a Chapter"
    media_server.write_catalog(remote.site, licensed=True)
    with (remote.site.folder / "catalog_src/site.yaml").open("a") as settings:
        settings.write("apps: [archives]\n")
    assert sent(remote, "--media", images)["removed"] == 1
    assert sorted(others) == [path for path in paths(target) if path.startswith("archives/")]


def test_withdrawn_archives_leave_the_server(remote: Remote, images: Path) -> None:
    """After the release that does not name them. What has changed there stays, and each publish says so."""
    add_archives(remote.site.folder)
    remote.publish("--media", images)
    archive = remote.folder / "media" / ARCHIVE
    media_server.write_catalog(remote.site, restricted=True)
    content, times = archive.read_bytes(), archive.stat()
    archive.write_bytes(b"PK of another owner")
    for options in ("--dry-run",), ():
        result = remote.publish("--media", images, *options)
        assert f"media/{ARCHIVE}: readers should not get it any more, but it has changed there" in result.stderr
        assert archive.read_bytes() == b"PK of another owner"
    archive.write_bytes(content)
    os.utime(archive, (times.st_atime, times.st_mtime))
    assert sent(remote, "--media", images, "--dry-run")["removed"] == 1
    assert ARCHIVE in paths(remote.folder / "media")
    assert sent(remote, "--media", images)["removed"] == 1
    assert not (remote.folder / "media/archives").exists()
    assert (remote.folder / "media/.flatpanel-sent").read_text() == ""
    media_server.write_catalog(remote.site)
    add_archives(remote.site.folder)
    (remote.folder / "media/.flatpanel-sent.new").mkdir()
    assert ".flatpanel-sent: cannot be written" in remote.publish("--media", images, ok=False).stderr


def test_a_list_of_sent_archives_that_is_cut_off_replaces_none(
    remote: Remote, images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the list, no later publish could remove them."""
    for name, value in remote.server.environment.items():
        monkeypatch.setenv(name, value)
    add_archives(remote.site.folder)
    remote.publish("--media", images)
    notes = (remote.folder / "media/.flatpanel-sent").read_text()
    target, variables = SshTarget.of(remote.target), {"below": "media"}
    with connected(target, "media.sh", variables, lock_seconds=1, dry_run=False, compress=False) as session:
        assert f"sent {notes.strip()}" in list(session.lines())
        session.command("note\n1 1 archives/x/0/1.cbz")
    assert (remote.folder / "media/.flatpanel-sent").read_text() == notes


def test_a_bucket_has_archives_with_their_headers_and_loses_withdrawn_ones(
    publish: BucketPublisher, to_bucket: Callable[..., dict[str, Any]]
) -> None:
    add_archives(publish.site.folder, b"PK" + bytes(run._LARGE))
    publish.site.build()
    assert to_bucket()["sent"] == len(READABLE) + 1
    head = publish.store.api.head_object(Bucket=BUCKET, Key=f"{publish.prefix}/media/{ARCHIVE}")
    assert (head["ContentType"], head["CacheControl"], head["ContentDisposition"]) == (
        "application/vnd.comicbook+zip",
        "public, max-age=9",
        'attachment; filename="one v0 c1.cbz"',
    )
    assert to_bucket("--check")["sent"] == 0
    (publish.site.folder / "media" / ARCHIVE).unlink()
    assert to_bucket()["removed"] == 0
    media_server.write_catalog(publish.site, restricted=True)
    publish.site.build()
    assert to_bucket()["removed"] == 1
    assert f"media/{ARCHIVE}" not in publish.bodies()


def test_an_image_that_changes_meanwhile(tmp_path: Path) -> None:
    image = tmp_path / "1.png"
    image.write_bytes(b"one")
    layout = MediaLayout({"1.png": image, "2.bin": image}, 60, 6, lambda path: False)
    item, _ = layout.items({})
    image.write_bytes(b"two")
    with pytest.raises(FlatpanelError, match="was changed while it was sent"):
        layout.read(item)
