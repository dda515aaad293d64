"""When files were committed, asked of real repositories."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.catalog import git as history
from generator.catalog.git import FileTimes
from generator.pipeline import run
from generator.pipeline.build_options import Options
from tests.support import linked_catalog

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


def times(folder: Path, as_of: int = NOW) -> dict[str, int]:
    """When git says that each file changed; it must not refuse."""
    found = history.file_times(folder, as_of)
    assert found.warnings == []
    return found.times


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
    assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND}


def written(path: Path, text: str, at: int) -> None:
    """Write a file, as if at some time."""
    path.write_text(text)
    os.utime(path, (at, at))


def test_an_edited_file_changed_when_it_was_written(repository: Path) -> None:
    """An edit that is not committed is as old as its file, and so is one that is staged."""
    written(repository / "a.yaml", "aa", THIRD)
    written(repository / "b.yaml", "bbb", THIRD + 1)
    git(repository, "add", "b.yaml")

    assert times(repository) == {"a.yaml": THIRD, "b.yaml": THIRD + 1}


def test_a_new_file_changed_when_it_was_written(repository: Path) -> None:
    """A file that was never committed is as old as it is, staged or not."""
    written(repository / "c.yaml", "c", THIRD)
    written(repository / "d.yaml", "d", THIRD + 1)
    git(repository, "add", "d.yaml")

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND, "c.yaml": THIRD, "d.yaml": THIRD + 1}


def test_an_edited_file_is_no_older_than_its_last_commit(repository: Path) -> None:
    """An older file that was copied over a newer one is a change of what was committed."""
    written(repository / "b.yaml", "older", FIRST - 1)

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND}


def test_an_edited_file_is_no_younger_than_the_build(repository: Path) -> None:
    """A clock that is ahead does not bring dates of the future into a release."""
    written(repository / "b.yaml", "later", NOW + 1000)

    assert times(repository)["b.yaml"] == NOW


def test_the_time_of_a_build_changes_no_date(repository: Path) -> None:
    """Uncommitted files are as old at the next build."""
    written(repository / "a.yaml", "aa", THIRD)
    written(repository / "c.yaml", "c", THIRD)

    assert times(repository, NOW) == times(repository, NOW + 60)


@pytest.mark.parametrize("staged", [False, True])
def test_permissions_are_no_edit(repository: Path, staged: bool) -> None:
    """A mode bit is nothing that a client sees, also where it is staged and the file was written again."""
    (repository / "a.yaml").chmod(0o755)
    if staged:
        git(repository, "add", "a.yaml")
    os.utime(repository / "a.yaml", (THIRD, THIRD))

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND}


def test_new_permissions_do_not_hide_an_edit(repository: Path) -> None:
    """The content counts, whatever the mode."""
    (repository / "a.yaml").chmod(0o755)
    git(repository, "add", "a.yaml")
    written(repository / "a.yaml", "aa", THIRD)

    assert times(repository)["a.yaml"] == THIRD


def test_a_removed_file_keeps_its_commit(repository: Path) -> None:
    """A file that is not there has no time of its own; one that git shall forget is new."""
    (repository / "a.yaml").unlink()
    git(repository, "rm", "--quiet", "--cached", "b.yaml")
    os.utime(repository / "b.yaml", (THIRD, THIRD))

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": THIRD}


def test_a_file_with_a_conflict_is_edited(repository: Path) -> None:
    """In the middle of a merge a file is what lies there."""
    git(repository, "checkout", "--quiet", "-b", "branch", "HEAD~1")
    (repository / "b.yaml").write_text("other")
    commit(repository, SECOND + 1)
    with pytest.raises(subprocess.CalledProcessError):
        git(repository, "merge", "--quiet", "main")
    os.utime(repository / "b.yaml", (THIRD, THIRD))

    assert times(repository)["b.yaml"] == THIRD


def test_a_commit_without_a_time_is_as_old_as_can_be(repository: Path) -> None:
    """Old imported histories have such commits, and the author of a commit may write one."""
    head = subprocess.run(["git", "cat-file", "commit", "HEAD"], cwd=repository, check=True, capture_output=True).stdout
    lines = [b"committer x <x>" if line.startswith(b"committer ") else line for line in head.split(b"\n")]
    made = ["git", "hash-object", "--literally", "-t", "commit", "-w", "--stdin"]
    name = subprocess.run(made, cwd=repository, check=True, capture_output=True, input=b"\n".join(lines)).stdout
    git(repository, "update-ref", "HEAD", name.decode().strip())

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": 0}


def test_a_touched_file_is_not_an_edited_one(repository: Path) -> None:
    """Only contents count: a checkout that rewrites every file changes nothing."""
    os.utime(repository / "a.yaml", (THIRD, THIRD))
    (repository / "b.yaml").write_text("bb")

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND}


def test_an_ignored_file_is_unknown(repository: Path) -> None:
    """What git is told not to look at is as old as the file system says."""
    (repository / ".gitignore").write_text("*.bak.yaml\n")
    commit(repository, THIRD)
    (repository / "a.bak.yaml").write_text("a")

    assert times(repository) == {".gitignore": THIRD, "a.yaml": FIRST, "b.yaml": SECOND}


def test_a_renamed_file_changed_when_it_was_renamed(repository: Path) -> None:
    """The name of a file is its slug, so that a new name is a new thing."""
    git(repository, "mv", "a.yaml", "c.yaml")
    commit(repository, THIRD)

    assert times(repository)["c.yaml"] == THIRD


def test_a_merged_file_keeps_the_time_of_its_own_commit(repository: Path) -> None:
    """Merging a branch touches nothing that the branch had touched."""
    git(repository, "checkout", "--quiet", "-b", "branch")
    (repository / "c.yaml").write_text("c")
    commit(repository, SECOND + 1)
    git(repository, "checkout", "--quiet", "main")
    git(repository, "merge", "--quiet", "--no-ff", "--no-edit", "branch", at=THIRD)

    assert times(repository)["c.yaml"] == SECOND + 1


@pytest.mark.parametrize("name", ["été 猫.yaml", 'a"b\\c.yaml', "a\nb.yaml", " a .yaml", "-- .yaml"])
def test_any_name_is_known(repository: Path, name: str) -> None:
    """Letters, quotes, blanks and line breaks in a name are part of it."""
    (repository / name).write_text("x")
    commit(repository, THIRD)
    written(repository / f"new {name}", "x", THIRD)

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND, name: THIRD, f"new {name}": THIRD}


def test_a_subfolder_of_a_repository_has_paths_of_its_own(repository: Path) -> None:
    """A catalog is mostly a folder of a project; what lies beside it is nothing to it."""
    inside = repository / "catalog_src/series"
    inside.mkdir(parents=True)
    (inside / "a.yaml").write_text("a")
    (inside / "b.yaml").write_text("b")
    commit(repository, THIRD)
    written(inside / "b.yaml", "bb", NOW)
    written(inside / "c.yaml", "c", NOW)
    (repository / "d.yaml").write_text("d")
    (repository / "a.yaml").write_text("edited")

    assert times(repository / "catalog_src") == {
        "series/a.yaml": THIRD,
        "series/b.yaml": NOW,
        "series/c.yaml": NOW,
    }


def test_a_link_to_a_folder_of_a_repository_is_followed(repository: Path, tmp_path: Path) -> None:
    """A catalog may be reached by another path than the one that git knows."""
    (tmp_path / "link").symlink_to(repository)

    assert times(tmp_path / "link") == {"a.yaml": FIRST, "b.yaml": SECOND}


def test_without_a_repository_nothing_is_known(tmp_path: Path) -> None:
    """The file system tells instead."""
    assert history.file_times(tmp_path, NOW) == FileTimes({}, [])


def test_before_the_first_commit_nothing_is_known(tmp_path: Path) -> None:
    """A repository without a history is like none."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a.yaml").write_text("a")

    assert times(tmp_path) == {}
    repository = history.Repository.around(tmp_path)
    assert repository and repository.ids_in_history() == set()


def test_without_git_a_repository_is_missed(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that cannot run git can build all the same, and says what is lost."""
    monkeypatch.setenv("PATH", "")
    sentence = f"git cannot be started for {repository}: No such file or directory"

    assert history.file_times(repository, NOW) == FileTimes(
        {}, [f"{repository}: {sentence}; each file counts as changed at its mtime"]
    )


@pytest.mark.parametrize(
    "setting",
    [
        *("color.ui=always", "core.quotePath=true", "diff.relative=true", "log.follow=true", "log.showRoot=false"),
        *("log.decorate=full", "diff.autoRefreshIndex=false", "status.showUntrackedFiles=no", "status.showStash=true"),
        *("status.branch=true", "status.relativePaths=true", "core.fileMode=true", "log.diffMerges=combined"),
    ],
)
def test_the_settings_of_whoever_builds_change_nothing(repository: Path, setting: str) -> None:
    """The same history is told on every machine."""
    written(repository / "c.yaml", "stashed", FIRST)
    git(repository, "stash", "--include-untracked")
    written(repository / "é.yaml", "é", THIRD)
    (repository / "a.yaml").touch()
    git(repository, "config", *setting.split("="))

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND, "é.yaml": THIRD}


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

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND}


def clone(repository: Path, folder: Path, *options: str) -> Path:
    git(repository, "clone", "--quiet", *options, repository.as_uri(), str(folder))
    return folder


def test_a_clone_tells_the_same(repository: Path, tmp_path: Path) -> None:
    """What was committed when does not depend on who asks."""
    copy = clone(repository, tmp_path / "clone")

    assert history.file_times(copy, NOW) == FileTimes({"a.yaml": FIRST, "b.yaml": SECOND}, [], is_shallow=False)


def test_a_shallow_clone_is_known_for_one(repository: Path, tmp_path: Path) -> None:
    """With one commit every file seems to come from it, and that can be told."""
    copy = clone(repository, tmp_path / "clone", "--depth", "1")

    assert history.file_times(copy, NOW) == FileTimes({"a.yaml": SECOND, "b.yaml": SECOND}, [], is_shallow=True)


def test_a_build_warns_of_a_shallow_clone(repository: Path, tmp_path: Path) -> None:
    """The build goes on, and says why its dates are too new."""
    (repository / "site.yaml").write_text("base_url: https://comics.example\n")
    for name in ("a.yaml", "b.yaml"):
        (repository / name).unlink()
    commit(repository, THIRD)
    copy = clone(repository, tmp_path / "clone", "--depth", "1")
    warnings = [
        run.build(Options(folder, tmp_path / f"dist{number}", tmp_path / "nginx.conf", NOW)).warnings
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
    os.utime(repository / "categories.yaml", (NOW - 1, NOW - 1))

    found = linked_catalog.read_catalog(repository, NOW)

    modified = [found.authors[0].modified, found.artists[0].modified, found.categories[0].modified, found.site_modified]
    assert modified == [THIRD, 123_456_789, NOW - 1, THIRD]
