"""What `diff` takes out of a commit: the bytes of regular files, as git stores them, and nothing from elsewhere."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from generator.catalog import confined_folder
from generator.catalog import git as history
from generator.catalog.git import GitError, Repository, TreeEntry
from generator.catalog.git_files import CommittedFiles
from generator.errors import FlatpanelError
from tests.catalog.test_git import FIRST, THIRD, commit, git
from tests.faults.test_hostile_repositories import output, write_catalog
from tests.support.author_catalogs import Run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a repository with a catalog, which is the current folder."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    write_catalog(folder / "catalog_src")
    commit(folder, FIRST)
    monkeypatch.chdir(folder)
    return folder


def repository(project: Path) -> Repository:
    found = Repository.around(project / "catalog_src")
    assert found
    return found


def chosen(project: Path, commit: str = "HEAD") -> CommittedFiles:
    known = repository(project)
    return CommittedFiles(known, str(known.tree(commit)), Path(f"{commit}:catalog_src"))


def contents(project: Path) -> dict[str, bytes]:
    return dict(repository(project).contents(chosen(project).files))


def test_files_have_the_bytes_of_the_commit(project: Path, run: Run) -> None:
    """Filters, conversions and hooks, which a commit and a configuration can name, take no part."""
    text = (project / "catalog_src/series/first.yaml").read_text() + "# $Id$\n"
    (project / "catalog_src/series/first.yaml").write_text(text)
    (project / "catalog_src/.gitattributes").write_text("*.yaml filter=trap ident text eol=crlf export-ignore\n")
    for kind in ("smudge", "clean", "process"):
        git(project, "config", f"filter.trap.{kind}", f"touch {project.parent}/ran; cat")
    hook = project / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {project.parent}/ran\n")
    hook.chmod(0o755)
    git(project, "-c", "filter.trap.process=", "-c", "filter.trap.clean=cat", "add", ".")
    git(project, "-c", "filter.trap.process=", "-c", "filter.trap.clean=cat", "commit", "-m", "x", at=THIRD)
    (project.parent / "ran").unlink(missing_ok=True)
    result = run("diff", "HEAD~1", "HEAD")

    assert result.exit_code == 0, result.stderr
    assert not (project.parent / "ran").exists()
    assert contents(project)["series/first.yaml"] == text.encode()


def test_only_what_a_build_reads_is_taken(project: Path) -> None:
    """Images, notes and hidden files stay where they are."""
    for name in ("notes.txt", ".hidden.yaml", ".hidden/site.yaml", "series/cover.png"):
        (project / "catalog_src" / name).parent.mkdir(exist_ok=True)
        (project / "catalog_src" / name).write_text("x")
    (project / "catalog_src/wrong.yml").write_text("x")
    commit(project, THIRD)

    assert set(contents(project)) == {
        *("site.yaml", "wrong.yml", "series/first.yaml", "series/second.yaml", "series/undated.yaml")
    } | {path.name for path in (project / "catalog_src").glob("[a-v]*.yaml")}


def test_many_files_are_read_in_parts(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All contents of a commit together need not fit into memory."""
    whole = contents(project)
    commands = []
    output = history._Git.output
    monkeypatch.setattr(
        history._Git,
        "output",
        lambda self, *arguments, **options: (commands.append(arguments[0]), output(self, *arguments, **options))[1],
    )
    monkeypatch.setattr(history, "BATCH_BYTES", 1)

    assert contents(project) == whole
    assert commands.count("cat-file") == len(whole) + 1


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("../../README.md", "leads out of the catalog; links in a commit are not followed out of it"),
        ("/etc/passwd", "leads out of the catalog; links in a commit are not followed out of it"),
        ("../series", "is a link to a folder; links to folders are not followed in a commit"),
        ("nowhere.yaml", "is a broken link"),
        ("third.yaml", "is a broken link"),
        ("first.yaml/x", "is a broken link"),
    ],
)
def test_a_link_is_followed_to_a_file_of_the_catalog_only(project: Path, run: Run, target: str, problem: str) -> None:
    """Any other link is refused by name, and what it leads to is not read."""
    (project / "catalog_src/series/third.yaml").symlink_to(target)
    commit(project, THIRD)
    result = run("diff", "HEAD~1", "HEAD")

    assert (result.exit_code, result.stderr) == (1, f"HEAD:catalog_src/series/third.yaml: {problem}\n")


def test_a_link_whose_name_has_two_lines_is_not_followed(project: Path) -> None:
    """git would read its name as two questions."""
    (project / "catalog_src/series/a\nb.yaml").symlink_to("first.yaml")
    commit(project, THIRD)

    with pytest.raises(FlatpanelError, match="leads out of the catalog"):
        chosen(project)


def test_a_hidden_link_is_not_looked_at(project: Path) -> None:
    """Editors leave some that lead nowhere."""
    (project / "catalog_src/.#first.yaml").symlink_to("somebody@somewhere.1234")
    commit(project, THIRD)

    assert ".#first.yaml" not in contents(project)


def test_a_submodule_is_left_out(project: Path, run: Run) -> None:
    """It is another repository, which need not be here; the other files are compared."""
    git(project, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(project), "catalog_src/more")
    commit(project, THIRD)
    result = run("diff", "HEAD~1", "HEAD")

    assert result.exit_code == 0
    assert result.stderr == "warning: HEAD:catalog_src/more: is a submodule; skipped\n"


@pytest.mark.parametrize("path", ["../out.yaml", "/tmp/out.yaml", "series/./out.yaml", "series//out.yaml"])
def test_a_commit_writes_nothing_outside_of_its_folder(
    project: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git's own tools make no such tree, but a tree is only bytes."""
    monkeypatch.setattr(Repository, "entries", lambda self, tree: [TreeEntry(path, "100644", "0" * 40, 1)])

    with pytest.raises(FlatpanelError, match="is not a path that git checks out"):
        chosen(project)


def test_a_tree_with_an_entry_above_itself_is_refused(project: Path, run: Run) -> None:
    """Written byte by byte, as an attacker would."""
    series = bytes.fromhex(output(project, "rev-parse", "HEAD:catalog_src/series"))

    def write(entry: bytes) -> str:
        command = ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
        done = subprocess.run(command, cwd=project, input=entry, capture_output=True, check=True)
        return done.stdout.decode().strip()

    tree = write(b"40000 catalog_src\0" + bytes.fromhex(write(b"40000 ..\0" + series)))
    words = ("commit-tree", tree, "-m", "x")
    git(project, "update-ref", "refs/heads/evil", output(project, "-c", "user.name=x", "-c", "user.email=x", *words))
    result = run("diff", "HEAD", "evil")

    assert (result.exit_code, "is not a path that git checks out" in result.stderr) == (1, True)


def test_a_huge_file_is_not_read(project: Path, run: Run) -> None:
    """As in a folder: nobody writes so much by hand."""
    (project / "catalog_src/series/third.yaml").write_bytes(b"#" * (confined_folder.MAX_SIZE + 1))
    commit(project, THIRD)
    result = run("diff", "HEAD~1", "HEAD")

    assert result.stderr == "HEAD:catalog_src/series/third.yaml: has more than 16 MiB; split it\n"


def test_a_content_that_is_not_here_is_told_of(project: Path) -> None:
    """The name that git gives it may be missing, in a damaged repository."""
    known = repository(project)

    with pytest.raises(GitError, match=r"git has no content of catalog_src/a\.yaml in "):
        list(known.contents([TreeEntry("a.yaml", "100644", "1" * 40, 1)]))


def test_a_catalog_that_was_a_file_is_none(project: Path, run: Run) -> None:
    """At that commit there was nothing to compare with."""
    shutil.rmtree(project / "catalog_src")
    (project / "catalog_src").write_text("x")
    commit(project, THIRD)
    git(project, "checkout", "--quiet", "HEAD~1")

    assert run("diff", "main", "HEAD").stderr == (
        "main: git cannot take catalog_src out of it; was it there at that time?\n"
    )
