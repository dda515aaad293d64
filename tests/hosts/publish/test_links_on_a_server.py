"""`publish ssh://` to a folder in which others have put links and odd names: it changes no file but its own."""

import json
import os
from pathlib import Path

import pytest

from generator.review import verify_files
from tests.support import tree_snapshot
from tests.support.remote_site import Remote, tree
from tests.support.runs import sample

# 16 digits, as releases have.
ID = "0123456789abcdef"


@pytest.mark.end_to_end
def test_a_link_in_place_of_a_folder_or_file_is_refused(remote: Remote) -> None:
    """Nothing behind it is overwritten, emptied or removed, and nothing is sent."""
    remote.publish()
    release = f"dist/releases/{remote.store.current()}"
    remote.edit("Another Author")
    places = ["dist", "dist/.flatpanel", "dist/run", "dist/run/publish.json", "dist/www", "dist/www/api/v2"]
    places += ["dist/private", "dist/releases", release, f"dist/releases/{ID}", "dist/releases/journal.jsonl"]
    for number, place in enumerate(sample([*places, "nginx.conf"], 4)):
        path, outside = remote.folder / place, remote.folder.parent / f"outside {number}"
        is_moved = path.exists()
        if is_moved:
            path.rename(outside)
        else:
            (outside / "folder").mkdir(parents=True)
        path.symlink_to(outside)
        before = tree_snapshot.state(remote.folder.parent)
        for option in ("--dry-run", "--check"):
            message = f"{remote.folder}/{place}: is a link, and a publish follows none"
            assert message in remote.publish(option, ok=False).stderr
        assert tree_snapshot.state(remote.folder.parent) == before
        path.unlink()
        if is_moved:
            outside.rename(path)
    (remote.folder / "dist/current").unlink()
    (remote.folder / "dist/current").mkdir()
    assert "dist/current: is not a link; remove it" in remote.publish(ok=False).stderr
    (remote.folder / "dist/current").rmdir()
    remote.publish()
    assert list(verify_files.check_files(remote.store)) == []


def test_links_and_folders_of_others_beside_the_releases_stay(remote: Remote, tmp_path: Path) -> None:
    """Only releases that the publisher knows are removed, and what an interrupted publish left of one."""
    remote.publish()
    releases, outside = remote.folder / "dist/releases", tmp_path / "outside"
    for folder in (outside, releases / "backup", releases / ID):
        folder.mkdir()
        (folder / "file").write_text("mine")
    (releases / ID / "link").symlink_to(outside)
    (releases / "stable").symlink_to(remote.store.current() or "")
    (releases / "line\nbreak").symlink_to(outside)
    remote.edit("Another Author")
    remote.publish()
    assert {fault.path.name for fault in verify_files.check_files(remote.store)} == {"backup", "line\nbreak", "stable"}
    assert (releases / "stable/manifest.json").is_file() and not (releases / ID).exists()
    for folder in (outside, releases / "backup", releases / "line\nbreak"):
        assert (folder / "file").read_text() == "mine"


@pytest.mark.hosts
def test_names_of_others_below_the_bodies(remote: Remote) -> None:
    """Any name is a line of the list of `--check`, but one with a line break, which no body has: its file stays."""
    remote.publish()
    www = remote.folder / "dist/www"
    breaks = [b"line\nbreak.json", b"7 8\n9 10 dist/www/none.json", b"folder\n/file", b"\n"]
    for name in (*breaks, b"\xff\xfe.json", b" two  blanks ", b"\r", b"folder\\'$(\"/file", b"-rf"):
        path = Path(os.fsdecode(os.path.join(os.fsencode(www), name)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    facts = remote.facts("--check")
    assert (facts["sent"], facts["removed"]) == (0, 5)
    left = {os.fsencode(path.relative_to(www)) for path in www.rglob("*") if path.is_file()}
    assert {name for name in left if b"\n" in name} == set(breaks)
    assert len(left) == len(breaks) + len([path for path in tree(remote.site.folder / "dist") if path[:3] == "www"])


@pytest.mark.hosts
def test_names_that_the_server_notes_lead_to_no_file_of_others(remote: Remote) -> None:
    """They are the files of older releases, which are removed with them."""
    remote.publish()
    path = remote.folder / "dist/run/publish.json"
    (remote.folder / "mine").write_text("")
    (remote.folder / "dist/www/old.json").write_text("")
    notes = json.loads(path.read_text())
    notes["older"] = {ID: ["../mine", "www/../../mine", "www/old.json"], "../..": []}
    path.write_text(json.dumps(notes))
    remote.edit("Another Author")
    assert remote.facts()["removed"] == 1
    assert (remote.folder / "mine").exists() and not (remote.folder / "dist/www/old.json").exists()
