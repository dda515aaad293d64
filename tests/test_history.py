"""When files were committed, asked of real repositories."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from generator import pipeline
from generator.history import is_shallow, last_commits
from generator.pipeline import Options

NOW = 2_000_000_000
FIRST, SECOND, THIRD = 1_000_000_000, 1_000_086_400, 1_000_172_800

Git = Callable[..., None]


@pytest.fixture(autouse=True)
def nobodys_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the settings of the person at the keyboard nor a repository around the temporary folder."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


def git(folder: Path, *arguments: str, at: int = FIRST) -> None:
    """Run git as somebody, at some time."""
    who = {f"GIT_{role}_{what}": "somebody" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    when = {f"GIT_{role}_DATE": f"{at} +0300" for role in ("AUTHOR", "COMMITTER")}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env={**os.environ, **who, **when})


def commit(folder: Path, at: int) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "x", at=at)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two files, committed at FIRST; `b.yaml` again at SECOND."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    (folder / "a.yaml").write_text("a")
    (folder / "b.yaml").write_text("b")
    commit(folder, FIRST)
    (folder / "b.yaml").write_text("bb")
    commit(folder, SECOND)
    return folder


def test_a_file_is_as_old_as_the_last_commit_that_touched_it(repository: Path) -> None:
    """The time of the commit, in UTC, whatever the zone of the committer."""
    assert last_commits(repository, now=NOW) == {"a.yaml": FIRST, "b.yaml": SECOND}


def test_what_is_edited_counts_as_now(repository: Path) -> None:
    """An edit that is not committed is a change, and so is one that is staged."""
    (repository / "a.yaml").write_text("aa")
    (repository / "b.yaml").write_text("bbb")
    git(repository, "add", "b.yaml")

    assert last_commits(repository, now=NOW) == {"a.yaml": NOW, "b.yaml": NOW}


def test_what_is_new_counts_as_now(repository: Path) -> None:
    """A file that was never committed appeared now, staged or not."""
    (repository / "c.yaml").write_text("c")
    (repository / "d.yaml").write_text("d")
    git(repository, "add", "d.yaml")

    assert last_commits(repository, now=NOW) == {"a.yaml": FIRST, "b.yaml": SECOND, "c.yaml": NOW, "d.yaml": NOW}


def test_a_touched_file_is_not_an_edited_one(repository: Path) -> None:
    """Only contents count: a checkout that rewrites every file changes nothing."""
    os.utime(repository / "a.yaml", (THIRD, THIRD))
    (repository / "b.yaml").write_text("bb")

    assert last_commits(repository, now=NOW) == {"a.yaml": FIRST, "b.yaml": SECOND}


def test_an_ignored_file_is_unknown(repository: Path) -> None:
    """What git is told not to look at is as old as the file system says."""
    (repository / ".gitignore").write_text("*.bak.yaml\n")
    commit(repository, THIRD)
    (repository / "a.bak.yaml").write_text("a")

    assert last_commits(repository, now=NOW) == {".gitignore": THIRD, "a.yaml": FIRST, "b.yaml": SECOND}


def test_a_renamed_file_changed_when_it_was_renamed(repository: Path) -> None:
    """The name of a file is its slug, so that a new name is a new thing."""
    git(repository, "mv", "a.yaml", "c.yaml")
    commit(repository, THIRD)

    assert last_commits(repository, now=NOW)["c.yaml"] == THIRD


def test_a_merged_file_keeps_the_time_of_its_own_commit(repository: Path) -> None:
    """Merging a branch touches nothing that the branch had touched."""
    git(repository, "checkout", "--quiet", "-b", "branch")
    (repository / "c.yaml").write_text("c")
    commit(repository, SECOND + 1)
    git(repository, "checkout", "--quiet", "main")
    git(repository, "merge", "--quiet", "--no-ff", "--no-edit", "branch", at=THIRD)

    assert last_commits(repository, now=NOW)["c.yaml"] == SECOND + 1


@pytest.mark.parametrize("name", ["été 猫.yaml", 'a"b\\c.yaml', "a\nb.yaml", " a .yaml", "-- .yaml"])
def test_any_name_is_known(repository: Path, name: str) -> None:
    """Letters, quotes, blanks and line breaks in a name are part of it."""
    (repository / name).write_text("x")
    commit(repository, THIRD)
    (repository / f"new {name}").write_text("x")

    assert last_commits(repository, now=NOW) == {"a.yaml": FIRST, "b.yaml": SECOND, name: THIRD, f"new {name}": NOW}


def test_a_subfolder_of_a_repository_has_paths_of_its_own(repository: Path) -> None:
    """A catalog is mostly a folder of a project; what lies beside it is nothing to it."""
    inside = repository / "catalog_src/series"
    inside.mkdir(parents=True)
    (inside / "a.yaml").write_text("a")
    (inside / "b.yaml").write_text("b")
    commit(repository, THIRD)
    (inside / "b.yaml").write_text("bb")
    (inside / "c.yaml").write_text("c")
    (repository / "d.yaml").write_text("d")
    (repository / "a.yaml").write_text("edited")

    assert last_commits(repository / "catalog_src", now=NOW) == {
        "series/a.yaml": THIRD,
        "series/b.yaml": NOW,
        "series/c.yaml": NOW,
    }


def test_a_link_to_a_folder_of_a_repository_is_followed(repository: Path, tmp_path: Path) -> None:
    """A catalog may be reached by another path than the one that git knows."""
    (tmp_path / "link").symlink_to(repository)

    assert last_commits(tmp_path / "link", now=NOW) == {"a.yaml": FIRST, "b.yaml": SECOND}


def test_without_a_repository_nothing_is_known(tmp_path: Path) -> None:
    """The file system tells instead."""
    assert last_commits(tmp_path, now=NOW) == {}
    assert not is_shallow(tmp_path)


def test_before_the_first_commit_nothing_is_known(tmp_path: Path) -> None:
    """A repository without a history is like none."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a.yaml").write_text("a")

    assert last_commits(tmp_path, now=NOW) == {}


def test_without_git_nothing_is_known(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that cannot run git can build all the same."""
    monkeypatch.setenv("PATH", "")

    assert last_commits(repository, now=NOW) == {}
    assert not is_shallow(repository)


@pytest.mark.parametrize(
    "setting", ["color.ui=always", "core.quotePath=true", "diff.relative=false", "log.follow=true"]
)
def test_the_settings_of_whoever_builds_change_nothing(repository: Path, setting: str) -> None:
    """The same history is told on every machine."""
    (repository / "é.yaml").write_text("é")
    git(repository, "config", *setting.split("="))

    assert last_commits(repository, now=NOW) == {"a.yaml": FIRST, "b.yaml": SECOND, "é.yaml": NOW}


def test_a_hook_of_another_repository_changes_nothing(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build that git starts, with its variables around it, still asks the repository of the catalog."""
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    monkeypatch.setenv("GIT_PREFIX", "catalog_src/")

    assert last_commits(repository, now=NOW) == {"a.yaml": FIRST, "b.yaml": SECOND}


def clone(repository: Path, folder: Path, *options: str) -> Path:
    git(repository, "clone", "--quiet", *options, repository.as_uri(), str(folder))
    return folder


def test_a_clone_tells_the_same(repository: Path, tmp_path: Path) -> None:
    """What was committed when does not depend on who asks."""
    copy = clone(repository, tmp_path / "clone")

    assert last_commits(copy, now=NOW) == {"a.yaml": FIRST, "b.yaml": SECOND}
    assert not is_shallow(copy)


def test_a_shallow_clone_is_known_for_one(repository: Path, tmp_path: Path) -> None:
    """With one commit every file seems to come from it, and that can be told."""
    copy = clone(repository, tmp_path / "clone", "--depth", "1")

    assert last_commits(copy, now=NOW) == {"a.yaml": SECOND, "b.yaml": SECOND}
    assert is_shallow(copy)


def test_a_build_warns_of_a_shallow_clone(repository: Path, tmp_path: Path) -> None:
    """The build goes on, and says why its dates are too new."""
    (repository / "site.yaml").write_text("base_url: https://comics.example\n")
    for name in ("a.yaml", "b.yaml"):
        (repository / name).unlink()
    commit(repository, THIRD)
    copy = clone(repository, tmp_path / "clone", "--depth", "1")
    warnings = [
        pipeline.build(Options(folder, tmp_path / f"dist{number}", tmp_path / "nginx.conf", NOW)).warnings
        for number, folder in enumerate((repository, copy))
    ]

    assert warnings == [
        [],
        [f"{copy}: is a shallow git clone, so every file seems as new as its last commit; fetch it all"],
    ]


def test_a_catalog_takes_its_times_from_history(repository: Path) -> None:
    """The commit of a file beats the time at which it was written; what git does not know has only the latter."""
    (repository / "site.yaml").write_text("base_url: https://comics.example\n")
    (repository / ".gitignore").write_text("artists.yaml\n")
    for name in ("a.yaml", "b.yaml"):
        (repository / name).unlink()
    (repository / "authors.yaml").write_text("- {id: 1, name: Ada Penn}\n")
    commit(repository, THIRD)
    (repository / "artists.yaml").write_text("- {id: 1, name: Cy Brush}\n")
    (repository / "categories.yaml").write_text("- {id: drama, name: Drama}\n")
    for file in repository.glob("*.yaml"):
        os.utime(file, (123_456_789, 123_456_789))

    found = pipeline.read_catalog(repository, NOW)

    times = [found.authors[0].modified, found.artists[0].modified, found.categories[0].modified, found.site_modified]
    assert times == [THIRD, 123_456_789, NOW, THIRD]
