"""Times of the last change of files, read from real git repositories."""

import os
import resource
import subprocess
from pathlib import Path

import pytest

from generator.catalog import git as history
from generator.catalog.git import FileTimes
from generator.pipeline import run
from generator.pipeline.build_options import Options

NOW = 2_000_000_000
FIRST, SECOND, THIRD = 1_000_000_000, 1_000_086_400, 1_000_172_800


@pytest.fixture(autouse=True)
def default_git_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of the user, and no repository around the temporary folder."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


def git(folder: Path, *arguments: str, at: int = FIRST) -> None:
    """Run git with a fixed identity and time."""
    who = {f"GIT_{role}_{what}": "committer" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    when = {f"GIT_{role}_DATE": f"{at} +0300" for role in ("AUTHOR", "COMMITTER")}
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, env={**os.environ, **who, **when})


def times(folder: Path, as_of: int = NOW) -> dict[str, int]:
    """The time of each file, without warnings."""
    file_times = history.file_times(folder, as_of)
    assert file_times.warnings == []
    return file_times.times


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


def written(path: Path, text: str, at: int) -> None:
    """Write a file, as if at some time."""
    path.write_text(text)
    os.utime(path, (at, at))


def test_edited_and_new_files_have_their_mtime(repository: Path) -> None:
    """Also if they are staged."""
    for number, name in enumerate("abcd"):
        written(repository / f"{name}.yaml", name * 3, THIRD + number)
    git(repository, "add", "b.yaml", "d.yaml")

    assert times(repository) == {f"{name}.yaml": THIRD + number for number, name in enumerate("abcd")}


def test_edited_file_is_between_its_last_commit_and_the_build(repository: Path) -> None:
    """An older file may be copied over a committed one, and a clock that is ahead brings no future dates."""
    written(repository / "a.yaml", "later", NOW + 1000)
    written(repository / "b.yaml", "older", FIRST - 1)

    assert times(repository) == {"a.yaml": NOW, "b.yaml": SECOND}


@pytest.mark.parametrize("staged", [False, True])
def test_changed_mode_and_the_same_content_are_no_edit(repository: Path, staged: bool) -> None:
    """Clients do not see the mode; staging and touching a file changes nothing, nor does a checkout that writes it."""
    (repository / "b.yaml").write_text("bb")
    (repository / "a.yaml").chmod(0o755)
    if staged:
        git(repository, "add", "a.yaml")
    os.utime(repository / "a.yaml", (THIRD, THIRD))

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND}


def test_changed_mode_does_not_hide_an_edit(repository: Path) -> None:
    """A staged mode and an edit of the content: the edit counts."""
    (repository / "a.yaml").chmod(0o755)
    git(repository, "add", "a.yaml")
    written(repository / "a.yaml", "aa", THIRD)

    assert times(repository)["a.yaml"] == THIRD


def test_removed_file_keeps_its_commit_time(repository: Path) -> None:
    """A file removed from the index only counts as new."""
    (repository / "a.yaml").unlink()
    git(repository, "rm", "--quiet", "--cached", "b.yaml")
    os.utime(repository / "b.yaml", (THIRD, THIRD))

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": THIRD}


def test_file_with_a_merge_conflict_counts_as_edited(repository: Path) -> None:
    """It has its mtime during a merge."""
    git(repository, "checkout", "--quiet", "-b", "branch", "HEAD~1")
    (repository / "b.yaml").write_text("other")
    commit(repository, SECOND + 1)
    with pytest.raises(subprocess.CalledProcessError):
        git(repository, "merge", "--quiet", "main")
    os.utime(repository / "b.yaml", (THIRD, THIRD))

    assert times(repository)["b.yaml"] == THIRD


@pytest.mark.parametrize("committer", ["x <x>", "x <x> 99999999999999999999999 +0000", f"x <x> {'9' * 5000} +0000"])
def test_commit_without_a_time_counts_as_second_0(repository: Path, committer: str) -> None:
    """Imported histories contain such commits, and anyone can write one."""
    head = subprocess.run(["git", "cat-file", "commit", "HEAD"], cwd=repository, check=True, capture_output=True).stdout
    lines = [f"committer {committer}" if line.startswith("committer ") else line for line in head.decode().split("\n")]
    git(repository, "update-ref", "HEAD", stored(repository, "commit", "\n".join(lines).encode()))

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": 0}


def stored(repository: Path, kind: str, content: bytes) -> str:
    """Write an object that git would not make, and return its name."""
    command = ["git", "hash-object", "--literally", "-t", kind, "-w", "--stdin"]
    return (
        subprocess.run(command, cwd=repository, check=True, capture_output=True, input=content).stdout.decode().strip()
    )


def test_a_path_that_looks_like_a_time_is_no_time(repository: Path) -> None:
    """git makes no such tree, but anyone can write its bytes into a commit that is undone later."""
    tree = subprocess.run(["git", "cat-file", "tree", "HEAD^{tree}"], cwd=repository, check=True, capture_output=True)
    entry = b"100644 //%s\0" + tree.stdout[-20:]
    odd = stored(repository, "tree", entry % b"0" + entry % b"abc" + entry % b"" + tree.stdout)
    for commit_tree in (odd, "HEAD^{tree}"):
        git(repository, "update-ref", "HEAD", committed(repository, commit_tree))

    assert {name: moment for name, moment in times(repository).items() if "/" not in name} == {
        "a.yaml": FIRST,
        "b.yaml": SECOND,
    }


def committed(repository: Path, tree: str) -> str:
    words = ("-c", "user.name=x", "-c", "user.email=x", "commit-tree", tree, "-p", "HEAD", "-m", "x")
    return subprocess.run(["git", *words], cwd=repository, check=True, capture_output=True, text=True).stdout.strip()


def test_ignored_file_has_no_git_time(repository: Path) -> None:
    """The build uses its mtime."""
    (repository / ".gitignore").write_text("*.bak.yaml\n")
    commit(repository, THIRD)
    (repository / "a.bak.yaml").write_text("a")

    assert times(repository) == {".gitignore": THIRD, "a.yaml": FIRST, "b.yaml": SECOND}


def test_renamed_file_has_the_time_of_the_rename(repository: Path) -> None:
    """The name of a file is its slug, so a renamed file is a new series."""
    git(repository, "mv", "a.yaml", "c.yaml")
    commit(repository, THIRD)

    assert times(repository)["c.yaml"] == THIRD


def test_merged_file_keeps_the_time_of_its_commit(repository: Path) -> None:
    """A merge commit changes no file of the branch."""
    git(repository, "checkout", "--quiet", "-b", "branch")
    (repository / "c.yaml").write_text("c")
    commit(repository, SECOND + 1)
    git(repository, "checkout", "--quiet", "main")
    git(repository, "merge", "--quiet", "--no-ff", "--no-edit", "branch", at=THIRD)

    assert times(repository)["c.yaml"] == SECOND + 1


@pytest.mark.parametrize("name", ["été 猫.yaml", 'a"b\\c.yaml', "a\nb.yaml", " a .yaml", "-- .yaml"])
def test_file_names_may_contain_any_character(repository: Path, name: str) -> None:
    """Letters, quotes, blanks and line breaks."""
    (repository / name).write_text("x")
    commit(repository, THIRD)
    written(repository / f"new {name}", "x", THIRD)

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND, name: THIRD, f"new {name}": THIRD}


def test_paths_are_relative_to_the_catalog(repository: Path) -> None:
    """Files beside the catalog are ignored."""
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


def test_catalog_path_may_be_a_link_into_a_repository(repository: Path, tmp_path: Path) -> None:
    """The real path of the catalog counts."""
    (tmp_path / "link").symlink_to(repository)

    assert times(tmp_path / "link") == {"a.yaml": FIRST, "b.yaml": SECOND}


def test_without_a_commit_there_are_no_times(tmp_path: Path) -> None:
    """Nor ids of earlier chapters: the build uses mtimes."""
    assert history.file_times(tmp_path, NOW) == FileTimes({}, [])
    git(tmp_path, "init", "--quiet")
    (tmp_path / "a.yaml").write_text("a")

    assert history.file_times(tmp_path, NOW) == FileTimes({}, [])
    repository = history.Repository.around(tmp_path)
    assert repository and repository.ids_in_history() == set()


def test_missing_git_is_a_warning(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The build goes on with mtimes."""
    monkeypatch.setenv("PATH", "")
    sentence = f"git cannot be started for {repository}: No such file or directory"

    assert history.file_times(repository, NOW) == FileTimes(
        {}, [f"{repository}: {sentence}; each file counts as changed at its mtime"]
    )


def test_git_runs_where_its_memory_has_no_limit(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only Linux bounds the memory of another process."""
    monkeypatch.delattr(resource, "prlimit")

    assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND}


SETTINGS = (
    *("color.ui=always", "core.quotePath=true", "diff.relative=true", "log.follow=true", "log.showRoot=false"),
    *("log.decorate=full", "diff.autoRefreshIndex=false", "status.showUntrackedFiles=no", "status.showStash=true"),
    *("status.branch=true", "status.relativePaths=true", "core.fileMode=true", "log.diffMerges=combined"),
)


def test_git_settings_change_no_time(repository: Path) -> None:
    """The result is the same on every machine."""
    written(repository / "c.yaml", "stashed", FIRST)
    git(repository, "stash", "--include-untracked")
    written(repository / "é.yaml", "é", THIRD)
    (repository / "a.yaml").touch()
    for setting in SETTINGS:
        name, _, value = setting.partition("=")
        git(repository, "config", name, value)
        assert times(repository) == {"a.yaml": FIRST, "b.yaml": SECOND, "é.yaml": THIRD}, setting
        git(repository, "config", "--unset", name)


def test_git_variables_of_another_repository_are_ignored(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git sets them for a hook that runs a build."""
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


def test_clone_has_the_same_times(repository: Path, tmp_path: Path) -> None:
    """In UTC, for any time zone of the committer."""
    copy = clone(repository, tmp_path / "clone")

    assert history.file_times(copy, NOW) == FileTimes({"a.yaml": FIRST, "b.yaml": SECOND}, [], is_shallow=False)


def test_shallow_clone_is_recognised(repository: Path, tmp_path: Path) -> None:
    """All its files seem to belong to its one commit."""
    copy = clone(repository, tmp_path / "clone", "--depth", "1")

    assert history.file_times(copy, NOW) == FileTimes({"a.yaml": SECOND, "b.yaml": SECOND}, [], is_shallow=True)


def test_build_warns_of_a_shallow_clone(repository: Path, tmp_path: Path) -> None:
    """The build goes on with the wrong dates."""
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
        [f"{copy}: is a shallow git clone, so dates of older files are wrong; fetch the whole history"],
    ]
