"""The files that `diff` reads from a commit: the stored bytes of regular files in the catalog."""

import os
import shutil
from pathlib import Path

import pytest

from generator.catalog import confined_folder
from generator.catalog import git as history
from generator.catalog.git import CommittedFiles, GitError, Repository, TreeEntry
from generator.errors import FlatpanelError
from tests.catalog.test_git import FIRST, THIRD, commit, git, stored
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
    around = Repository.around(project / "catalog_src")
    assert around
    return around


def chosen(project: Path) -> CommittedFiles:
    source = repository(project)
    return CommittedFiles(source, str(source.tree("HEAD")), Path("HEAD:catalog_src"))


def contents(project: Path) -> dict[str, bytes]:
    return dict(repository(project).contents(chosen(project).files))


def test_files_have_the_bytes_of_the_commit(project: Path, run: Run) -> None:
    """Filters and conversions are not applied. Hooks are in tests/faults/test_hostile_repositories.py."""
    text = (project / "catalog_src/series/first.yaml").read_text() + "# $Id$\n"
    (project / "catalog_src/series/first.yaml").write_text(text)
    (project / "catalog_src/.gitattributes").write_text("*.yaml filter=trap ident text eol=crlf export-ignore\n")
    for kind in ("smudge", "clean", "process"):
        git(project, "config", f"filter.trap.{kind}", f"touch {project.parent}/ran; cat")
    git(project, "-c", "filter.trap.process=", "-c", "filter.trap.clean=cat", "add", ".")
    git(project, "-c", "filter.trap.process=", "-c", "filter.trap.clean=cat", "commit", "-m", "x", at=THIRD)
    (project.parent / "ran").unlink(missing_ok=True)
    result = run("diff", "HEAD~1", "HEAD")

    assert result.exit_code == 0, result.stderr
    assert not (project.parent / "ran").exists()
    assert contents(project)["series/first.yaml"] == text.encode()


def test_only_yaml_files_are_read(project: Path) -> None:
    """Images, notes and hidden files are skipped, and hidden links: editors leave broken ones as locks."""
    (project / "catalog_src/.#first.yaml").symlink_to("user@host.1234")
    for name in ("notes.txt", ".hidden.yaml", ".hidden/site.yaml", "series/cover.png"):
        (project / "catalog_src" / name).parent.mkdir(exist_ok=True)
        (project / "catalog_src" / name).write_text("x")
    (project / "catalog_src/wrong.yml").write_text("x")
    commit(project, THIRD)

    assert set(contents(project)) == {
        *("site.yaml", "wrong.yml", "series/first.yaml", "series/second.yaml", "series/undated.yaml")
    } | {path.name for path in (project / "catalog_src").glob("[a-v]*.yaml")}


def test_contents_are_read_in_batches(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of a commit need not fit into memory together."""
    whole = contents(project)
    commands = []
    output = Repository._output
    monkeypatch.setattr(
        Repository,
        "_output",
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
def test_only_links_to_files_in_the_catalog_are_followed(project: Path, run: Run, target: str, problem: str) -> None:
    """Any other link is an error, and its target is not read."""
    (project / "catalog_src/series/third.yaml").symlink_to(target)
    commit(project, THIRD)
    result = run("diff", "HEAD~1", "HEAD")

    assert (result.exit_code, result.stderr) == (1, f"HEAD:catalog_src/series/third.yaml: {problem}\n")


def test_all_links_are_resolved_by_one_process(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A commit may have hundreds of thousands of them."""
    for number in range(20):
        (project / f"catalog_src/series/link{number}.yaml").symlink_to("first.yaml")
    commit(project, THIRD)
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    files = {file.path: file.oid for file in chosen(project).files}

    assert [files[f"series/link{number}.yaml"] for number in range(20)] == [files["series/first.yaml"]] * 20
    assert (tmp_path / "trace").read_text().count("built-in: git cat-file") == 1


def test_link_with_a_line_break_in_its_name_is_refused(project: Path) -> None:
    """git would read the name as two queries."""
    (project / "catalog_src/series/a\nb.yaml").symlink_to("first.yaml")
    commit(project, THIRD)

    with pytest.raises(FlatpanelError, match="leads out of the catalog"):
        chosen(project)


def test_submodule_is_skipped_with_a_warning(project: Path, run: Run) -> None:
    """It is another repository, which may be missing; the other files are compared."""
    git(project, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(project), "catalog_src/more")
    commit(project, THIRD)
    result = run("diff", "HEAD~1", "HEAD")

    assert result.exit_code == 0
    assert result.stderr == "warning: HEAD:catalog_src/more: is a submodule; skipped\n"


@pytest.mark.parametrize("path", ["../out.yaml", "/tmp/out.yaml", "series/./out.yaml", "series//out.yaml"])
def test_tree_with_unsafe_paths_is_refused(project: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """git makes no such tree, but anyone can write its bytes."""
    monkeypatch.setattr(Repository, "entries", lambda self, tree: [TreeEntry(path, "100644", "0" * 40, 1)])

    with pytest.raises(FlatpanelError, match="is not a path that git checks out"):
        chosen(project)


def test_tree_with_a_parent_entry_is_refused(project: Path, run: Run) -> None:
    """A real tree with the entry `..`, written byte by byte."""
    series = bytes.fromhex(output(project, "rev-parse", "HEAD:catalog_src/series"))

    catalog = stored(project, "tree", b"40000 ..\0" + series)
    tree = stored(project, "tree", b"40000 catalog_src\0" + bytes.fromhex(catalog))
    words = ("commit-tree", tree, "-m", "x")
    git(project, "update-ref", "refs/heads/evil", output(project, "-c", "user.name=x", "-c", "user.email=x", *words))
    result = run("diff", "HEAD", "evil")

    assert (result.exit_code, "is not a path that git checks out" in result.stderr) == (1, True)


def test_file_over_16_mib_is_refused(project: Path, run: Run) -> None:
    """As in a folder."""
    (project / "catalog_src/series/third.yaml").write_bytes(b"#" * (confined_folder.MAX_SIZE + 1))
    commit(project, THIRD)
    result = run("diff", "HEAD~1", "HEAD")

    assert result.stderr == "HEAD:catalog_src/series/third.yaml: has more than 16 MiB; split it\n"


def test_the_files_of_a_commit_have_a_limit_together(project: Path, run: Run) -> None:
    """A few kilobytes of trees and links can name one large file any number of times."""
    (project / "catalog_src/series/large.yaml").write_bytes(b"#" * confined_folder.MAX_SIZE)
    for number in range(history.MAX_COMMIT // confined_folder.MAX_SIZE):
        (project / f"catalog_src/series/link{number}.yaml").symlink_to("large.yaml")
    commit(project, THIRD)
    result = run("diff", "HEAD~1", "HEAD")

    assert result.stderr == "HEAD:catalog_src: has files of more than 1 GiB together\n"


def test_missing_object_is_an_error(project: Path) -> None:
    """A damaged repository may lack the content of a file."""
    source = repository(project)

    with pytest.raises(GitError, match=r"git has no content of catalog_src/a\.yaml in "):
        list(source.contents([TreeEntry("a.yaml", "100644", "1" * 40, 1)]))


def test_commit_with_a_file_in_place_of_the_catalog_is_refused(project: Path, run: Run) -> None:
    """There is no catalog to compare at that commit."""
    shutil.rmtree(project / "catalog_src")
    (project / "catalog_src").write_text("x")
    commit(project, THIRD)
    git(project, "checkout", "--quiet", "HEAD~1")

    assert run("diff", "main", "HEAD").stderr == ("revision main has no catalog_src\n")
