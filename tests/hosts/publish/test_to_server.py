"""`publish ssh://`: a real ssh, a real sshd on a loopback port, and a real nginx that serves the folder."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest

from generator import encoding
from generator.errors import FlatpanelError
from generator.hosts.publish.ssh import archive
from generator.hosts.publish.ssh.archive import ArchiveFile
from generator.hosts.publish.ssh.session import connected
from generator.hosts.publish.ssh.target import SshTarget
from generator.release import nginx_user
from generator.review import verify_files
from tests.support import nginx_client
from tests.support.remote_site import Remote, bodies, tree

pytestmark = pytest.mark.hosts


def test_the_server_gets_the_release(remote: Remote) -> None:
    """Bodies, release, modes and links are those of the build. The second publish sends nothing."""
    facts = remote.facts()
    assert facts["ok"] and facts["release"] == remote.site.store.current()
    assert remote.files() == tree(remote.site.folder / "dist")
    assert list(verify_files.check_files(remote.store)) == []
    assert (remote.folder / "nginx.conf").read_bytes() == (remote.site.folder / "nginx.conf").read_bytes()
    assert (remote.folder / "dist/run/publish.json").stat().st_mode & 0o777 == 0o600
    again = remote.facts()
    assert (again["sent"], again["bytes"], again["removed"]) == (0, 0, 0)
    assert again["kept"] == len(bodies(remote.files()))


@pytest.mark.end_to_end
def test_a_second_publish_sends_what_changed(remote: Remote) -> None:
    """The bodies of the edited person and the files of the release; old bodies stay for one more release."""
    remote.publish()
    first = remote.files()
    remote.edit("Another Author")
    planned = remote.facts("--dry-run")
    assert remote.files() == first
    assert remote.facts() | {"dry_run": True} == planned
    second = remote.files()
    assert planned["sent"] == len(second.keys() - first.keys() - {f"releases/{remote.store.current()}/previous"})
    assert {path for path in first if first[path] != second[path]} == {"current", "releases/journal.jsonl"}
    remote.edit("A Third")
    removed = remote.facts()["removed"]
    third = remote.files()
    assert removed == len(bodies(second) - bodies(third)) > 0
    assert third == tree(remote.site.folder / "dist")
    assert list(verify_files.check_files(remote.store)) == []


@pytest.mark.parametrize(
    ("tar", "reason"),
    [
        ('echo "tar: No space left on device" >&2; exit 2', "tar failed: tar: No space left on device\n"),
        ("kill -9 $PPID", ": the connection ended\n"),
    ],
    ids=["refuses", "ends"],
)
def test_a_server_that_stops_reading_the_files_is_a_message(remote: Remote, tar: str, reason: str) -> None:
    """The program writes more than a pipe holds. The next publish sends all of it."""
    remote.server.wrap_command("tar", tar)
    assert reason in remote.publish(ok=False).stderr
    (remote.server.commands / "tar").unlink()
    remote.publish()
    assert list(verify_files.check_files(remote.store)) == []


def test_a_file_that_becomes_shorter_while_it_is_sent_is_named(tmp_path: Path) -> None:
    """Its header has said the length."""
    path = tmp_path / "1.png"
    path.write_bytes(b"a page")

    class Stream(BytesIO):
        def write(self, data: Any) -> int:
            os.truncate(path, 1)
            return super().write(data)

    with pytest.raises(FlatpanelError, match=f"{path}: became shorter"):
        archive.write(Stream(), [ArchiveFile("1.png", path)], lambda count: None)


def test_a_body_that_returns_is_not_sent_again(remote: Remote) -> None:
    """The server has it for the release before; only its sidecar has another date."""
    for title in ("A", "B", "A"):
        remote.edit(title)
        facts = remote.facts()
    assert remote.files() == tree(remote.site.folder / "dist")
    names = {path.partition(".")[0] for path in remote.files() if path.startswith("www/api/authors")}
    assert names and facts["sent"] < facts["kept"]


def test_a_machine_without_the_releases_of_the_server_fetches_its_manifest(remote: Remote, tmp_path: Path) -> None:
    """As in CI, where each build begins with an empty folder."""
    remote.publish()
    remote.edit("Another Author")
    shutil.rmtree(remote.site.folder / "dist")
    remote.site.build()
    old = remote.store.current()
    facts = remote.facts()
    assert facts["sent"] < facts["kept"]
    assert list(verify_files.check_files(remote.store)) == []
    assert remote.store.older() == [old]
    assert remote.store.journal()[-1].before == (old,)


@pytest.mark.end_to_end
@pytest.mark.parametrize("damage", ["remove", "truncate"])
def test_check_sends_what_is_damaged(remote: Remote, damage: str) -> None:
    """`--check` lists the files. A file that no release names is removed."""
    remote.publish()
    body = next(path for path in (remote.folder / "dist/www").rglob("*.json"))
    content = body.read_bytes()
    body.unlink()
    if damage == "truncate":
        body.write_bytes(content[:-1])
    (remote.folder / "dist/www/stray.json").write_text("stray")
    assert remote.facts()["sent"] == 0
    facts = remote.facts("--check")
    assert (facts["sent"], facts["removed"]) == (1, 1)
    assert remote.files() == tree(remote.site.folder / "dist")


def test_a_folder_that_was_copied_is_taken_over(remote: Remote) -> None:
    """With rsync, as documented for servers that get a release in another way: nothing is sent again."""
    remote.folder.mkdir(parents=True)
    shutil.copytree(remote.site.folder / "dist", remote.folder / "dist", symlinks=True)
    (remote.folder / "dist/.flatpanel").unlink()
    assert remote.facts("--nginx", "none.conf")["sent"] == 0
    assert not (remote.folder / "nginx.conf").exists()


def test_the_home_folder(remote: Remote) -> None:
    """A path after /~/ is below the home folder of the account. A dry run creates nothing."""
    url = remote.server.url("/~/none-of-these-exists/folder")
    assert json.loads(remote.publish("--dry-run", "--json", url=url).stdout)["kept"] == 0
    assert not (Path.home() / "none-of-these-exists").exists()


WRONG_URLS = (
    ("ssh:/host/path", "is not a target"),
    ("ssh://[::1/srv", "has no valid host or user"),
    ("ssh://host:22:22", "has no valid port"),
    ("ssh://-oProxyCommand=x/srv", "has no valid host or user"),
    ("ssh://a;b@host/srv", "has no valid host or user"),
    ("ssh:///srv", "has no valid host or user"),
    ("ssh://me:secret@host/srv", "contains a password"),
    ("ssh://host:0/srv", "has no valid port"),
    ("ssh://host", "names no folder"),
    ("ssh://host/~/", "names no folder"),
    ("ssh://host/srv?a", "has parameters"),
    ("ssh://host/srv%0Arm", "has control characters"),
    ("ssh://host/srv\nrm", "has control characters"),
    ("ssh://host/%ff", "has a path that is not UTF-8"),
)


def test_a_url_that_could_be_an_option_or_a_command_is_refused(remote: Remote) -> None:
    remote.server.wrap_client("touch called; exit 1")
    printed = {url: remote.publish(url=url, ok=False).stderr for url, _ in WRONG_URLS}

    assert [(url, printed[url]) for url, message in WRONG_URLS if message not in printed[url]] == []
    assert not [text for text in printed.values() if "secret" in text]
    assert remote.server.sessions == []


def test_the_url_to_verify_is_checked_first(remote: Remote) -> None:
    for url in ("comics.example", "https://comics.example/folder"):
        assert "is not the URL of a server" in remote.publish("--url", url, ok=False).stderr
    assert remote.server.sessions == [] and not remote.folder.exists()


def test_parts_of_a_url() -> None:
    assert SshTarget.of("ssh://[::1]:22/a/b/").arguments() == ["-p", "22", "--", "::1"]
    assert SshTarget.of("ssh://me@host/a%20b/")[1:] == ("me", "host", None, "/a b")
    with pytest.raises(FlatpanelError, match="is not the URL of a folder on a server"):
        SshTarget.of("s3://bucket")


def test_an_unreachable_host_is_one_line(remote: Remote) -> None:
    result = remote.publish(url="ssh://127.0.0.1:1/srv/comics", ok=False)
    assert result.stderr == "ssh://127.0.0.1:1/srv/comics: ssh: connect to host 127.0.0.1 port 1: Connection refused\n"


def test_a_refused_key_is_one_line(remote: Remote) -> None:
    shutil.copy(remote.server.folder / "other_key.pub", remote.server.folder / "authorized_keys")
    result = remote.publish(ok=False)
    assert "Permission denied (publickey).; check the user, and that the server has your public key\n" in result.stderr
    assert result.stderr.count("\n") == 1


def test_an_unknown_server_is_one_line(remote: Remote) -> None:
    (remote.server.folder / "known_hosts").write_text("")
    result = remote.publish(ok=False)
    assert result.stderr.endswith(
        "Host key verification failed.; connect once with ssh and check the key of the server\n"
    )
    assert result.stderr.count("\n") == 1


def test_without_ssh(remote: Remote, tmp_path: Path) -> None:
    (remote.server.client / "ssh").unlink()
    result = remote.run("publish", "ssh://host/srv", "--out", remote.site.folder / "dist", PATH=str(tmp_path))
    assert (result.exit_code, "ssh is not installed" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("dist/other.txt", "contains files that no build wrote"),
        ("dist/PREVIEW", "is a preview"),
        ("nginx.conf", "was not written by a build"),
        ("dist", "contains files that no build wrote"),
    ],
)
def test_a_foreign_folder_is_refused(remote: Remote, file: str, message: str) -> None:
    path = remote.folder / file
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    result = remote.publish(ok=False)
    assert message in result.stderr and result.stderr.count("\n") == 1
    assert path.read_text() == "mine"


def test_the_own_nginx_conf_of_a_user_is_not_sent(remote: Remote) -> None:
    """It would replace that of the server, which refuses the next publish then."""
    (remote.site.folder / "nginx.conf").write_text("events {}\n")
    result = remote.publish(ok=False)
    assert "nginx.conf: was not written by a build; pass" in result.stderr
    assert remote.server.sessions == [] and not remote.folder.exists()
    remote.publish("--nginx", remote.site.folder / "none.conf")
    assert not (remote.folder / "nginx.conf").exists()


def test_a_folder_that_cannot_be_written(remote: Remote) -> None:
    result = remote.publish(url=remote.server.url("/proc/1/comics"), ok=False)
    assert "mkdir: cannot create directory" in result.stderr and result.stderr.count("\n") == 1


def test_a_full_disk_leaves_the_old_release(remote: Remote) -> None:
    """tar fails in the middle; the message is its first error."""
    remote.publish()
    old = remote.store.current()
    remote.edit("Another Author")
    # The real tar may complain, too: about the end of the archive.
    remote.server.wrap_command("tar", 'echo "tar: No space left on device" >&2; head -c 20000 | "$real" "$@"; exit 2')
    result = remote.publish(ok=False)
    assert "tar failed: tar: No space left on device\n" in result.stderr and result.stderr.count("\n") == 1
    assert remote.store.current() == old
    (remote.server.commands / "tar").unlink()
    remote.publish()
    assert remote.files() == tree(remote.site.folder / "dist")


@pytest.mark.end_to_end
def test_two_publishers(remote: Remote) -> None:
    """The second waits a moment and exits with 1. The end of the first, however it ends, releases the lock."""
    remote.publish()
    target = SshTarget.of(remote.server.url(remote.folder).replace("%", "%25"))
    variables = {"out": "dist", "reload": ""}
    path = os.environ["PATH"]
    os.environ.update(remote.server.environment)
    try:
        with connected(target, "release.sh", variables, lock_seconds=0, dry_run=False, compress=False) as first:
            assert next(first.lines()) == f"current releases/{remote.store.current()}"
            result = remote.publish(ok=False)
            assert result.stderr.endswith(": another publish or build is at work there\n")
            assert remote.facts("--dry-run")["sent"] == 0
    finally:
        os.environ["PATH"] = path
    remote.publish()


def test_a_login_shell_may_print_a_greeting(remote: Remote) -> None:
    remote.server.wrap_command("sh", 'echo Welcome to the server; exec "$real" "$@"')
    assert remote.facts()["ok"]


def test_no_shell(remote: Remote) -> None:
    """Such as an account for sftp."""
    config = remote.server.folder / "sshd_config"
    config.write_text(f"{config.read_text()}ForceCommand echo no shells here >&2; exit 1\n")
    assert remote.publish(ok=False).stderr.endswith(": the shell on the server ended: no shells here\n")


def test_reload_commands(remote: Remote) -> None:
    """Nothing runs with --no-reload. A command that fails is named. The next run goes on."""
    assert "nginx is not running there" in remote.publish().stderr
    assert remote.publish("--no-reload").stderr == ""
    remote.edit("Another Author")
    result = remote.publish("--reload", "echo a password is required >&2; false", ok=False)
    assert result.stderr.endswith(
        "is in place, but nginx was not reloaded and serves an earlier one: a password is required\n"
    )
    assert remote.store.current() == remote.site.store.current()
    assert remote.publish("--reload", 'echo "$PWD" > pwd').stderr == ""
    assert (remote.folder / "pwd").read_text() == f"{remote.folder}\n"
    assert list(verify_files.check_files(remote.store)) == []
    assert remote.publish("--reload", "true", "--no-reload", ok=False).exit_code == 2


def test_only_nginx_gets_the_signal_to_reload(remote: Remote) -> None:
    """After a restart of the server, another program may have the process id of the nginx before it."""
    remote.publish()
    with subprocess.Popen(["sleep", "1200"]) as other:
        try:
            (remote.folder / "dist/run/nginx.pid").write_text(f"{other.pid}\n")
            result = remote.publish()
        finally:
            other.kill()

    assert "nginx is not running there" in result.stderr
    assert other.returncode == -SIGKILL


def test_a_removed_nginx_conf_is_sent_again(remote: Remote) -> None:
    """Nothing else changed since the last publish."""
    remote.publish()
    (remote.folder / "nginx.conf").unlink()
    remote.publish()

    assert (remote.folder / "nginx.conf").read_bytes() == (remote.site.folder / "nginx.conf").read_bytes()


def test_the_catalog_does_not_choose_the_folder_of_nginx(remote: Remote, tmp_path: Path) -> None:
    """nginx.conf with another `server_folder` includes files there, so the publisher's nginx does not read it."""
    (tmp_path / "link").symlink_to("comics")
    remote.site.write("site.yaml", f"base_url: https://comics.example\nserver_folder: {tmp_path}/link\n")
    remote.site.build()
    remote.publish(url=remote.server.url(tmp_path / "comics"))
    result = remote.publish(ok=False)
    assert f"site.yaml has server_folder: {tmp_path}/link, another folder" in result.stderr
    assert not (remote.folder / "nginx.conf").exists()
    remote.publish("--no-reload")


@pytest.fixture
def served(remote: Remote) -> Iterator[tuple[Remote, str]]:
    """The published site, and the URL at which nginx serves it."""
    with nginx_client.listening() as listener:
        port = listener.getsockname()[1]
        remote.site.write("site.yaml", f"base_url: http://localhost:{port}\nport: {port}\nrestricted: [/authors]\n")
        remote.site.build()
        remote.publish("--no-reload")
        nginx_user.write_user_conf(remote.folder / "dist", remote.folder / "dist/run/user.conf")
        with nginx_client.running(remote.folder, listener) as web:
            web.ask("/")  # nginx has written its pid
            yield remote, f"http://127.0.0.1:{port}"


def test_nginx_serves_the_new_release(served: tuple[Remote, str]) -> None:
    """After the reload, every response is that of the new release, also after a rollback."""
    remote, url = served
    remote.publish("--url", url)
    remote.edit("B")
    assert f"{url}: OK: all URLs match release {remote.site.store.current()}" in remote.publish("--url", url).stdout
    remote.site.roll_back()
    remote.publish("--url", url)


def test_a_configuration_that_nginx_rejects(served: tuple[Remote, str]) -> None:
    remote, _ = served
    remote.edit("B")
    path = remote.site.folder / "nginx.conf"
    path.write_text(f"{path.read_text()}\nnonsense;\n")
    result = remote.publish(ok=False)
    assert (
        "is in place, but nginx was not reloaded" in result.stderr and 'unknown directive "nonsense"' in result.stderr
    )


@pytest.mark.end_to_end
def test_a_release_that_is_not_served_in_time(served: tuple[Remote, str]) -> None:
    """The command for the reload did nothing, so `--url` finds the earlier release."""
    remote, url = served
    remote.edit("B")
    result = remote.publish("--reload", "true", "--timeout", 1, "--url", url, ok=False)
    assert f"{url}: did not serve the new release within 1 s\n" in result.stderr
    assert "has another body" in result.stderr


def test_a_server_that_is_down(remote: Remote) -> None:
    result = remote.publish("--reload", "true", "--timeout", 1, "--url", "http://127.0.0.1:1", ok=False)
    assert result.stderr.endswith("http://127.0.0.1:1: no response: Connection refused\n")


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"release": "a", "nginx_conf": "", "older": []}'])
def test_damaged_notes_are_ignored(remote: Remote, text: str) -> None:
    """The files of the server are listed instead."""
    remote.publish()
    (remote.folder / "dist/run/publish.json").write_text(text)
    assert remote.facts("--nginx", "none.conf")["sent"] == 0
    assert list(verify_files.check_files(remote.store)) == []


def test_a_damaged_manifest_of_the_server(remote: Remote) -> None:
    """Only a machine without that release reads it."""
    remote.publish()
    remote.edit("Another Author")
    shutil.rmtree(remote.site.folder / "dist")
    remote.site.build()
    remote.server.wrap_command("cat", "exit 1")
    assert "the shell on the server ended" in remote.publish(ok=False).stderr
    (remote.server.commands / "cat").unlink()
    (remote.folder / "dist/current/manifest.json").write_text("{}")
    assert "there does not match the id of the release" in remote.publish(ok=False).stderr


def test_a_release_of_an_old_format_on_the_server(remote: Remote) -> None:
    """Its digest is right. The message names the release, and no file of this machine."""
    remote.publish()
    remote.edit("Another Author")
    current = remote.folder / "dist/current"
    text = (current / "manifest.json").read_bytes().replace(b'{"flatpanel":3,', b'{"flatpanel":1,', 1)
    release = encoding.sha256(text)[:16]
    (current.resolve() / "manifest.json").write_bytes(text)
    current.resolve().rename(remote.folder / "dist/releases" / release)
    current.unlink()
    current.symlink_to(f"releases/{release}")
    message = f"{remote.target}: the manifest of release {release} there: has format 1, and this version"
    for option in ("--dry-run", "--check"):
        assert remote.publish(option, ok=False).stderr.startswith(message)
