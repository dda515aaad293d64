"""Catalogs, configurations and commits that try to make git run a program: none runs, and valid dates still arrive."""

import json
import os
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from generator.catalog import git as git_module
from tests.catalog.test_git import commit, git
from tests.conftest import AS_OF
from tests.support.author_catalogs import Run, chapter, series
from tests.support.paths import DATA
from tests.support.runs import sample
from tests.support.servers import free_port

THEN, LATER = 1_700_000_000, 1_700_086_400
WRITTEN = 1_600_000_000
UNDATED = "title: Undated\ncover: c.png\nchapters:\n  - {number: 1, id: 9, published: 2020-01-01, pages: [1.png]}\n"
REFUSED = "makes git use this folder as a repository and run the programs that its config names; remove it"
COMMANDS = {
    **dict.fromkeys(("check", "build", "build --check", "next", "diff .", "ids"), ()),
    **{"diff": ("HEAD~1", "HEAD"), "new chapter": ("undated",)},
}
IDENTITY = ("-c", "user.name=x", "-c", "user.email=x")
PLACES = ("root", "subfolder", "submodule", "worktree", "link")


@pytest.fixture(autouse=True)
def no_user_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git without the user's settings, except for folders that may be submodules."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def marker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that every program of an attack creates."""
    return tmp_path_factory.mktemp("marker") / "ran"


class Project:
    """A catalog under git; `folder` is the root of the repository, `catalog` the path that commands get."""

    def __init__(self, folder: Path, catalog: Path, run: Run) -> None:
        self.folder, self.catalog, self.invoke = folder, catalog, run

    def run(self, command: str, *arguments: str, **environment: str) -> tuple[int, str]:
        """The exit code, and everything that was printed."""
        name, *rest = command.split()
        paths = ["--catalog", self.catalog]
        out = self.folder.parent / "out"
        if name in ("build", "next", "ids", "new", "serve"):
            paths += ["--out", out / "dist"]
        if name in ("build", "serve"):
            paths += ["--nginx", out / "nginx.conf"]
        if name in ("next", "serve"):
            rest.append("--no-cache")
        if name == "serve":
            rest += ["--port", str(free_port())]
        words = [name, *(one for one in rest if one != "."), *arguments, *paths]
        result = self.invoke(*words, **environment)
        return result.exit_code, result.stdout + result.stderr

    def date(self) -> str:
        """The published date of the series without a `modified` field."""
        code, printed = self.run("build", "--as-of", str(AS_OF))
        assert code == 0, printed
        (body,) = (self.folder.parent / "out/dist/www/api/series").glob("undated.*.json")
        headers = body.with_name(f"{body.name}.headers").read_text()
        return next(line for line in headers.splitlines() if line.startswith("Last-Modified: "))


def write_catalog(folder: Path) -> None:
    shutil.copytree(DATA / "sites/minimal", folder, dirs_exist_ok=True)
    (folder / "series/undated.yaml").write_text(UNDATED)
    for path in folder.rglob("*"):
        os.utime(path, (WRITTEN, WRITTEN))


def repository(folder: Path, inside: str = ".") -> Path:
    """A repository with two commits of a catalog."""
    folder.mkdir(exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    write_catalog(folder / inside)
    commit(folder, THEN)
    (folder / "README.md").write_text("A catalog.\n")
    commit(folder, LATER)
    return folder


@pytest.fixture
def project(tmp_path: Path, run: Run, request: pytest.FixtureRequest) -> Project:
    """A catalog in each of the places that a repository may have for it."""
    place = getattr(request, "param", "subfolder")
    inside = "." if place in ("root", "submodule") else "catalog_src"
    folder = repository(tmp_path / "project", inside)
    if place == "submodule":
        outer = tmp_path / "outer"
        outer.mkdir()
        git(outer, "init", "--quiet", "--initial-branch", "main")
        git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(folder), "comics")
        commit(outer, LATER)
        return Project(outer / "comics", outer / "comics", run)
    if place == "worktree":
        git(folder, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
        return Project(tmp_path / "tree", tmp_path / "tree/catalog_src", run)
    if place == "link":
        (tmp_path / "link").symlink_to(folder / "catalog_src")
        return Project(folder, tmp_path / "link", run)
    return Project(folder, folder / inside, run)


def output(folder: Path, *arguments: str, text: str = "") -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, input=text).stdout.strip()


def settings(marker: Path) -> str:
    """A configuration that starts a program at every place where git allows one."""
    program = f"touch {marker}; false"
    return "\n".join(
        (
            f'[core]\n\tfsmonitor = "{program}"\n\thooksPath = {marker.parent}\n\tsshCommand = "{program}"',
            f'\tpager = "{program}"\n\teditor = "{program}"\n\taskPass = "{program}"\n\tgitProxy = "{program}"',
            f'[gpg]\n\tprogram = {marker.parent}/program\n[log]\n\tshowSignature = true\n[pager]\n\tlog = "{program}"',
            f'[diff]\n\texternal = "{program}"\n\tsubmodule = log\n[diff "trap"]\n\ttextconv = "{program}"',
            f'\tcommand = "{program}"\n[submodule]\n\trecurse = true\n[status]\n\tsubmoduleSummary = true',
            f'[remote "origin"]\n\turl = "ext::sh -c \'touch% {marker}\'"\n\tpromisor = true\n',
        )
    )


def disguise(folder: Path, root: Path, settings: str) -> None:
    """Files of a catalog that git, started in its folder, takes for a repository with a history."""
    folder.mkdir(exist_ok=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(f"[core]\n\trepositoryformatversion = 0\n\tworktree = {folder}\n{settings}")
    for path in ("refs/heads", "objects/aa", "objects/info"):
        (folder / path).mkdir(parents=True)
    (folder / "refs/heads/main").write_text(output(root, "rev-parse", "HEAD") + "\n")
    (folder / "objects/aa/README").write_text("x")
    objects = output(root, "rev-parse", "--path-format=absolute", "--git-path", "objects")
    (folder / "objects/info/alternates").write_text(f"{objects}\n")


@pytest.mark.parametrize(
    ("project", "command"),
    sample([*product(PLACES, (*COMMANDS, "keys list", "serve --watch"))], 3),
    indirect=["project"],
)
def test_a_catalog_that_looks_like_a_repository_is_refused(project: Project, command: str, marker: Path) -> None:
    """Every command names the file, wherever the catalog is, and no program runs."""
    home = Path(os.path.realpath(project.catalog))
    (home / "series/first.yaml").write_text(series(chapter(1)))
    disguise(home, project.folder, settings(marker))
    commit(project.folder, LATER)
    code, printed = project.run(command, *COMMANDS.get(command, ()))

    assert not marker.exists()
    assert (code, printed.splitlines()[0]) == (1, f"{project.catalog}/HEAD:1:1: {REFUSED}")


def test_a_revision_that_looks_like_a_repository_is_refused(project: Project, marker: Path) -> None:
    """The files of a commit are checked like the working copy."""
    disguise(project.catalog / "series/.a", project.folder, settings(marker))
    commit(project.folder, LATER)
    shutil.rmtree(project.catalog / "series/.a")
    commit(project.folder, LATER)

    assert project.run("diff", "HEAD~1", "HEAD")[1].splitlines()[0] == (
        f"HEAD~1:{project.catalog}/series/.a/HEAD:1:1: {REFUSED}"
    )
    assert not marker.exists()


@pytest.mark.parametrize("folder", [".hidden", "series", "series/.a", "any"])
def test_no_folder_of_a_catalog_may_look_like_a_repository(project: Project, folder: str, marker: Path) -> None:
    """Neither hidden folders nor those without a meaning in a catalog."""
    disguise(project.catalog / folder, project.folder, settings(marker))

    assert project.run("check")[1].splitlines()[0] == f"{project.catalog}/{folder}/HEAD:1:1: {REFUSED}"
    assert not marker.exists()


@pytest.mark.parametrize("names", [("HEAD", "commondir"), ("head", "Objects", "REFS")])
def test_other_forms_of_a_repository_are_refused(project: Project, names: tuple[str, ...]) -> None:
    """`commondir` names a folder with objects and refs, and some file systems ignore case."""
    for name in names:
        (project.catalog / name).mkdir()

    assert project.run("check")[0] == 1


def test_a_name_like_those_of_git_is_no_repository(project: Project) -> None:
    """A single file called HEAD is harmless."""
    (project.catalog / "HEAD").write_text("x")

    assert project.run("check")[0] == 0


def test_git_is_not_started_in_a_nested_repository(project: Project, marker: Path) -> None:
    """With a damaged .git, git would use the folder around it, which a pull request can fill."""
    disguise(project.folder, project.folder, settings(marker))
    (project.folder / ".git/HEAD").unlink()
    code, printed = project.run("build", "--as-of", str(AS_OF))

    assert (code, marker.exists()) == (0, False)
    assert f"warning: {project.catalog}: git is not started in {project.folder}: " in printed


def test_git_does_not_search_parent_folders(project: Project) -> None:
    """A damaged repository is not replaced by the one around it."""
    (project.folder / ".git/HEAD").unlink()
    repository(project.folder.parent)
    code, printed = project.run("check")

    assert code == 0
    assert f"git cannot read the repository {project.folder}: fatal: not a git repository" in printed


# Valid repositories


@pytest.mark.parametrize("project", PLACES, indirect=True)
def test_valid_commit_dates_are_used(project: Project) -> None:
    """A series has the date of its last commit, wherever the catalog is in its repository."""
    assert project.date() == "Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT"


@pytest.mark.end_to_end
@pytest.mark.parametrize(("project", "command"), sample([*product(PLACES, COMMANDS)], 5), indirect=["project"])
def test_no_setting_of_a_repository_starts_a_program(project: Project, command: str, marker: Path) -> None:
    """Hooks, monitors, pagers, external diffs, conversions, signatures, submodules and remotes are switched off."""
    program = marker.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    for hook in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(program, marker.parent / hook)
    home = Path(os.path.realpath(project.catalog))
    (home / ".gitattributes").write_text("* diff=trap\n")
    (home / "series/first.yaml").write_text(series(chapter(1)))
    commit(project.folder, LATER)
    sign(project.folder)
    (home / "series/first.yaml").write_text(series(chapter(2)))
    config = Path(output(project.folder, "rev-parse", "--path-format=absolute", "--git-path", "config"))
    config.write_text(f"{config.read_text()}\n{settings(marker)}")
    code, printed = project.run(command, *COMMANDS[command])

    assert not marker.exists()
    assert (code, "git" in printed) == (0 if command != "build --check" else 1, False), printed


@pytest.mark.parametrize("project", ["root"], indirect=True)
@pytest.mark.parametrize("kind", ["clean", "process"])
def test_no_filter_of_a_repository_in_the_catalog_runs(project: Project, kind: str, marker: Path) -> None:
    """An editor whose files arrive by other means than git could have written it."""
    program = f'"touch {marker}; cat"'
    with (project.folder / ".git/config").open("a") as config:
        config.write(f'[filter "a.b"]\n\t{kind} = {program}\n\trequired = true\n')
    (project.folder / ".gitattributes").write_text("* filter=a.b\n")
    os.utime(project.folder / "series/undated.yaml", (LATER, LATER))
    date = project.date()

    assert (marker.exists(), date) == (False, "Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT")
    with (project.folder / ".git/config").open("a") as config:
        config.write(f'[filter "a=b"]\n\t{kind} = {program}\n')
    assert "git has a filter with = in its name; rename it" in project.run("check")[1]


def sign(folder: Path) -> None:
    """Give the last commit a signature that git would check with a program."""
    text = output(folder, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    name = output(folder, "hash-object", "-t", "commit", "-w", "--stdin", text=text)
    git(folder, "update-ref", "HEAD", name)


@pytest.mark.end_to_end
@pytest.mark.parametrize("command", COMMANDS)
def test_no_setting_of_a_submodule_starts_a_program(project: Project, command: str, marker: Path) -> None:
    """A submodule has a configuration of its own."""
    other = repository(project.folder.parent / "other")
    git(project.folder, "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(other), "catalog_src/a")
    (project.catalog / "series/first.yaml").write_text(series(chapter(1)))
    commit(project.folder, LATER)
    for file in (project.catalog / "a/README.md", project.catalog / "series/first.yaml"):
        file.write_text(file.read_text() + "\n")
    with (project.folder / ".git/modules/catalog_src/a/config").open("a") as config:
        config.write(settings(marker))
    project.run(command, *COMMANDS[command])

    assert not marker.exists()


@pytest.mark.parametrize("command", ["build", "diff", "new chapter"])
def test_missing_objects_of_a_partial_clone_are_not_fetched(project: Project, command: str, marker: Path) -> None:
    """A missing object is an error; no remote is contacted."""
    for setting, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::sh -c touch% {marker}"),
        ("protocol.ext.allow", "always"),
    ):
        git(project.folder, "config", setting, value)
    (project.catalog / "series/undated.yaml").write_text(UNDATED.replace("Undated", "Unread"))
    commit(project.folder, LATER)
    name = output(project.folder, "rev-parse", {"build": "HEAD~1^{tree}"}.get(command, "HEAD~1:catalog_src/series"))
    (project.folder / ".git/objects" / name[:2] / name[2:]).unlink()
    code, printed = project.run(command, *COMMANDS[command])

    assert not marker.exists()
    assert (code, f"git cannot read the repository {project.folder}: " in printed) == (int(command == "diff"), True), (
        printed
    )


@pytest.mark.parametrize(
    ("command", "has_files", "fault"),
    [
        # git itself needs the memory, and says so in several ways.
        ("build", True, "git cannot read the repository {}: fatal: "),
        ("new chapter", True, "git cannot read the repository {}: fatal: "),
        ("diff", True, "the repository {} has too many files or changes: git ls-tree prints more than 1 MiB"),
        ("build", False, "git cannot read the repository {}: git log was ended by signal 24; it may take 1 second"),
        ("diff", False, "git cannot read the repository {}: git ls-tree was ended by signal 24; it may take 1 second"),
    ],
)
def test_a_tree_of_endless_files_has_limits(
    project: Project, command: str, has_files: bool, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten objects are a tree of ten billion files, or empty folders, of which git prints nothing.

    They need not be checked out: a later commit may undo them.
    """
    monkeypatch.setattr(git_module, "MAX_OUTPUT", 1 << 20)
    monkeypatch.setattr(git_module, "MAX_MEMORY", 64 << 20)
    monkeypatch.setattr(git_module, "MAX_SECONDS", 300 if has_files else 1)
    tree = output(project.folder, "rev-parse", "HEAD:catalog_src") if has_files else output(project.folder, "mktree")
    for _ in range(10):
        entries = "".join(f"040000 tree {tree}\tfolder{number}\n" for number in range(10))
        tree = output(project.folder, "mktree", text=entries)
    for name in ("series", "catalog_src"):
        tree = output(project.folder, "mktree", text=f"040000 tree {tree}\t{name}\n")
    for each in (tree, "HEAD^{tree}"):
        name = output(project.folder, *IDENTITY, "commit-tree", each, "-p", "HEAD", "-m", "x")
        git(project.folder, "update-ref", "HEAD", name)
    code, printed = project.run(command, *COMMANDS[command])

    assert (code, fault.format(project.folder) in printed) == (int(command == "diff"), True), printed


# Repositories that git refuses


def refused(project: Project, words: str) -> str:
    return f"git cannot read the repository {project.folder}: fatal: {words} '{project.folder}'"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_repository_of_another_owner_is_reported(project: Project, command: str) -> None:
    """With git's message, which says how to allow it; no command continues without the history."""
    (project.catalog / "series/first.yaml").write_text(series(chapter(1)))
    code, printed = project.run(command, *COMMANDS[command], GIT_TEST_ASSUME_DIFFERENT_OWNER="1")

    assert refused(project, "detected dubious ownership in repository at") in printed
    assert "git config --global --add safe.directory" in printed
    assert code == int(command in ("diff", "diff .", "build --check"))


def test_warnings_of_a_check_are_in_its_json(project: Project) -> None:
    """In the list `warnings`."""
    result = project.invoke(
        "check", "--catalog", project.catalog, "--format", "json", GIT_TEST_ASSUME_DIFFERENT_OWNER="1"
    )
    (warning,) = json.loads(result.stdout)["warnings"]

    assert warning.startswith(f"{project.catalog}: {refused(project, 'detected dubious ownership in repository at')}")
    assert warning.endswith("; each file counts as changed at its mtime")


@pytest.mark.parametrize("by", ["file", "environment"])
def test_safe_directory_is_respected(
    project: Project, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the user's configuration and from variables."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    if by == "file":
        (tmp_path / "gitconfig").write_text(f"[safe]\n\tdirectory = {project.folder}\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    else:
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "safe.directory")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(project.folder))

    assert project.date() == "Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT"


def test_a_work_tree_elsewhere_is_reported(project: Project, tmp_path: Path) -> None:
    """The dates of other files are not those of the catalog."""
    (tmp_path / "elsewhere").mkdir()
    git(project.folder, "config", "core.worktree", str(tmp_path / "elsewhere"))

    assert f"the repository in {project.folder} has its files in another folder" in project.run("check")[1]


def test_repair_reports_the_problem_of_git(project: Project) -> None:
    """Without dates from git, the catalog gives other bodies than those of the release."""
    project.date()
    out = project.folder.parent / "out"
    for path in [path for path in (out / "dist/www/api").rglob("*") if "undated" in str(path) and path.is_file()]:
        path.unlink()
    words = ["verify", "--repair", "--catalog", project.catalog, "--out", out / "dist", "--nginx", out / "nginx.conf"]
    result = project.invoke(*words, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")

    assert refused(project, "detected dubious ownership in repository at") in result.stderr
    assert (result.exit_code, project.invoke(*words).exit_code) == (1, 0)


# Uncommitted edits


def test_builds_of_uncommitted_edits_can_be_repeated(project: Project) -> None:
    """A later build of the same files is the same release, and `build --check` agrees."""
    for name, text in (("undated", UNDATED.replace("Undated", "Edited")), ("new", UNDATED.replace("id: 9", "id: 8"))):
        (project.catalog / f"series/{name}.yaml").write_text(text)
        os.utime(project.catalog / f"series/{name}.yaml", (LATER + 60, LATER + 60))
    git(project.folder, "add", "catalog_src/series/new.yaml")
    (project.catalog / "series/first.yaml").chmod(0o755)
    first = project.run("build", "--as-of", str(AS_OF))
    checked = project.run("build", "--check", "--as-of", str(AS_OF + 60))
    second = project.run("build", "--as-of", str(AS_OF + 60), "--no-cache")

    assert (first[0], checked) == (0, (0, "up to date\n"))
    assert ": 0 added, 0 changed, 0 removed, " in second[1]
    assert second[1].split()[1] == first[1].split()[1]
