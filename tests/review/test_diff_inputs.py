"""The arguments of `diff`: built sites, releases, manifests, catalogs and git revisions."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from generator.catalog.git import Repository
from tests.catalog.test_git import commit, git
from tests.commands.test_cli import Run, outcome
from tests.conftest import AS_OF, Site, without_help
from tests.support import tree_snapshot

# No body of two megabytes, and no fsync.
pytestmark = pytest.mark.usefixtures("without_sync_and_docs")

FIRST, SECOND = 1_700_000_000, 1_700_086_400


def facts(run: Run, *arguments: object) -> Any:
    result = run("diff", *arguments, "--format", "json", "--as-of", AS_OF, "--jobs", 1)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def series(comparison: Any) -> dict[str, str]:
    return {one["name"]: one["change"] for one in comparison["things"] if one["kind"] == "series"}


def releases(site: Site) -> list[Path]:
    """Two releases in one folder."""
    tree_snapshot.first_version(site)
    first = site.build().release
    tree_snapshot.second_version(site)
    return [site.folder / "dist/releases" / one for one in (first, site.build().release)]


def test_two_releases_of_one_folder(site: Site, run: Run) -> None:
    """Each by its folder or its manifest; the current one also by the built folder."""
    old, new = releases(site)
    comparison = facts(run, old, new)
    names = {"old": str(old), "new": str(new)}

    assert series(comparison) == {"first": "changed", "third": "added"}
    for before, other in ((old / "manifest.json", new / "manifest.json"), (old, site.folder / "dist")):
        assert facts(run, before, other) | names == comparison
    assert series(facts(run, new, old)) == {"first": "changed", "third": "removed"}


def test_a_new_series_is_shown_with_its_title(site: Site, run: Run) -> None:
    """The fields of added and removed entities are not listed."""
    old, new = releases(site)
    text = run("diff", old, new).stdout

    assert 'series third added: "third"\n' in text
    assert '  - chapters[volume=3, number=3]: {"id":3,"title":"","number":"3",' in text


def test_a_manifest_alone_is_compared_by_etags(site: Site, run: Run, tmp_path: Path) -> None:
    """It shows which URLs differ, redirects too, but no settings, and without bodies beside it no fields."""
    old, new = releases(site)
    (tmp_path / "last").mkdir()
    manifest = tmp_path / "last/manifest.json"
    manifest.write_bytes((old / "manifest.json").read_bytes())
    comparison, whole = facts(run, manifest, new), facts(run, old, new)
    text = run("diff", manifest, new).stdout
    (tmp_path / "last/www").symlink_to(site.folder / "dist/www")
    with_bodies = facts(run, tmp_path / "last", new)

    assert [one["complete"] for one in (comparison, with_bodies, whole)] == [False, False, True]
    assert [(one["name"], one["changes"], one["title"]) for one in comparison["things"] if one["kind"] == "series"] == [
        ("first", [], ""),
        ("third", [], "third"),
    ]
    assert comparison["urls"] == whole["urls"] and with_bodies["things"] == whole["things"]
    assert any(one["url"].endswith("/read") for one in whole["urls"])
    assert "one side is only a manifest, so settings were not compared" in text


def test_a_built_site_and_its_catalog(site: Site, run: Run) -> None:
    """The output is what the next build would publish. Different folders are not different settings."""
    site.build()
    catalog, out = site.folder / "catalog_src", site.folder / "dist"

    assert run("diff", out, catalog, "--as-of", AS_OF).stdout == f"{out} → {catalog}: no differences\n"
    tree_snapshot.first_version(site)
    assert series(facts(run, out, catalog)) == {"first": "changed", "second": "changed"}


def test_place_of_the_images_is_no_difference(repository: Site, run_diff: Callable[..., Any]) -> None:
    """Neither between a built site, a working copy and a commit, nor if the folder has a name of a temporary one."""
    settings = "base_url: https://a.example\nmedia_folder: cache\n"
    repository.write("site.yaml", settings)
    commit(repository.folder, SECOND)
    repository.build()

    assert run_diff("dist", ".")["settings"] == []
    assert run_diff("HEAD", ".")["settings"] == []
    repository.write("site.yaml", settings + "media: /img/\n")
    assert run_diff("HEAD", ".")["settings"] == ["media.conf"]


def test_the_folder_around_a_catalog_is_accepted(site: Site, run: Run) -> None:
    """Another checkout of the project is such a folder."""
    catalog = site.folder / "catalog_src"

    assert facts(run, site.folder, ".", "--catalog", catalog)["differs"] is False


def test_exit_code_is_1_for_differences(site: Site, run: Run) -> None:
    """Only with --exit-code, as in git."""
    old, new = releases(site)

    assert [run("diff", *two, "--exit-code").exit_code for two in ((old, old), (old, new))] == [0, 1]
    assert run("diff", old, new).exit_code == 0


@pytest.mark.parametrize(
    ("old", "problem"),
    [
        ("", "an argument is empty; use HEAD for the last commit, or . for the working copy"),
        ("nowhere", "nowhere: is neither a built site, nor a catalog, nor a git revision"),
        ("{folder}", "{folder}: contains neither a built site nor a catalog"),
        ("{folder}/other/site.yaml", "{folder}/other/site.yaml: is not the manifest of a release"),
    ],
)
def test_an_unknown_argument_is_an_error(site: Site, run: Run, old: str, problem: str) -> None:
    """The message names the argument."""
    other = (site.folder / "catalog_src").rename(site.folder / "other")
    result = outcome(run("diff", old.format(folder=site.folder), other, "--catalog", site.folder / "catalog_src"))

    assert result == (1, "", f"{problem.format(folder=site.folder)}\n")


def test_without_a_commit_the_default_is_an_error(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message does not name HEAD, which was not typed."""
    monkeypatch.chdir(site.folder)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(site.folder))
    for fault in ("is not in a git repository", "has no commit yet"):
        sentence = f"catalog_src: {fault}; name OLD and NEW, such as the folders of two built sites\n"
        assert outcome(run("diff")) == (1, "", sentence)
        git(site.folder, "init", "--quiet")


def test_in_a_catalog_the_folder_above_is_named(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As other commands do: neither git nor the commit lacks anything."""
    catalog = site.folder / "catalog_src"
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(site.folder))
    monkeypatch.chdir(catalog)
    sentence = f"catalog_src: no such folder; {catalog} is a catalog: run the command in {catalog.parent}\n"
    assert outcome(run("diff")) == (1, "", sentence)

    git(site.folder, "init", "--quiet")
    git(site.folder, "add", ".")
    git(site.folder, "commit", "--quiet", "--message", "all")
    assert outcome(run("diff")) == (1, "", sentence)


def test_errors_are_json_with_json_output(site: Site, run: Run) -> None:
    """With --format json and with --json."""
    site.build()
    out = site.folder / "dist"
    problem = {"ok": False, "message": f"{site.folder}: contains neither a built site nor a catalog", "problems": []}

    assert run("diff", out, out, "--json").stdout == run("diff", out, out, "--format", "json").stdout
    for options in (("--json",), ("--format", "json")):
        result = run("diff", site.folder, out, "--catalog", "x", *options)
        assert (result.exit_code, json.loads(result.stdout)) == (1, problem)


# Revisions


@pytest.fixture
def repository(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A project with two commits of its catalog; the first one has a tag."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git(site.folder, "init", "--quiet", "--initial-branch", "main")
    tree_snapshot.first_version(site)
    site.write("series/undated.yaml", "title: Undated\ncover: c.png\nchapters:\n  - {id: 9, number: 1, "
               "published: 2023-01-01T00:00:00Z, pages: [1.png]}\n")  # fmt: skip
    commit(site.folder, FIRST)
    git(site.folder, "tag", "first")
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(path.read_text().replace("title: First", "title: Second"))
    commit(site.folder, SECOND)
    return site


@pytest.fixture
def run_diff(
    repository: Site, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    """Run `diff` in the folder of the project. It leaves no files behind and changes none."""
    monkeypatch.chdir(repository.folder)
    scratch = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr("tempfile.tempdir", str(scratch))

    def ask(*arguments: object) -> Any:
        before = tree_snapshot.state(repository.folder)
        comparison = facts(run, *arguments)
        assert tree_snapshot.state(repository.folder) == before
        assert list(scratch.iterdir()) == []
        return comparison

    return ask


TITLE = [{"path": "title", "change": "changed", "old": "First", "new": "Second"}]


@pytest.mark.parametrize("names", [("first", "main"), ("HEAD~1", "HEAD"), ("first", "."), ("HEAD^",)])
def test_two_revisions(run_diff: Callable[..., Any], names: tuple[str, ...]) -> None:
    """Each is built from its commit; `.` and the default NEW are the working copy."""
    comparison = run_diff(*names)

    assert (comparison["old"], comparison["new"]) == (names[0], [*names, "."][1])
    assert {one["name"]: one["changes"] for one in comparison["things"] if one["changes"]} == {"first": TITLE}


def test_the_default_shows_uncommitted_changes(run_diff: Callable[..., Any], repository: Site) -> None:
    """The working copy is compared with HEAD."""
    assert run_diff()["differs"] is False
    repository.write("authors.yaml", "- {id: 1, name: Ada Pen, modified: 2026-01-01T00:00:00Z}\n")
    assert [one["name"] for one in run_diff()["things"] if one["changes"]] == ["1"]


def test_a_revision_is_built_with_its_own_commit_times(run_diff: Callable[..., Any], repository: Site) -> None:
    """A record without `modified` is as old as its last commit at that revision."""
    path = repository.folder / "catalog_src/series/undated.yaml"
    path.write_text(path.read_text() + "# a comment\n")
    commit(repository.folder, SECOND + 60)
    comparison = run_diff("main~1", "main")

    assert [one["changes"] for one in comparison["things"]] == [
        [{"path": 'chapters["9"].last_updated', "change": "changed", "old": str(FIRST), "new": str(SECOND + 60)}]
    ]


def test_a_revision_has_its_own_theme(run_diff: Callable[..., Any], repository: Site, run: Run) -> None:
    """Without one, its pages have no theme; a theme that cannot be used is an error with git's name of it."""
    theme = repository.folder / "theme"
    with (repository.folder / "catalog_src/site.yaml").open("a") as settings:
        settings.write("pages: true\n")
    commit(repository.folder, SECOND + 60)
    theme.mkdir()
    (theme / "footer.html").write_text("<footer>Ours</footer>\n")
    commit(repository.folder, SECOND + 120)
    added = [one["url"] for one in run_diff("main~1", "main")["urls"]]
    (theme / "notes.txt").write_text("a")
    commit(repository.folder, SECOND + 180)
    refused = outcome(run("diff", "main~1", "main"))
    theme.rename(repository.folder / "former")
    theme.symlink_to("catalog_src")
    commit(repository.folder, SECOND + 240)

    assert {"/", "/search/"} <= set(added)
    assert (refused[0], refused[2].partition(";")[0]) == (1, "main:theme/notes.txt:1:1: is not used")
    assert outcome(run("diff", "main~2", "main")) == (
        *(1, "", "main:theme: is not a folder; a link to a folder is not followed in a commit\n"),
    )
    # Beside the root of a repository is nothing that it could have.
    around = Repository.around(repository.folder)
    assert around and around.beside("main", "theme") is None


def test_problems_of_a_revision_name_files_as_git_does(run_diff: Any, repository: Site, run: Run) -> None:
    """The temporary folder does not appear."""
    repository.write("series/second.yaml", "title: Second\n")
    commit(repository.folder, SECOND + 60)
    code, output, complained = outcome(run("diff", "first", "main"))

    assert (code, output, without_help(complained)) == (
        1,
        "",
        "main:catalog_src/series/second.yaml:1:1: cover: is missing\n1 problem\n",
    )


def test_a_shallow_clone_has_few_revisions(
    repository: Site, run: Run, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Existing revisions are compared with a warning about dates.

    The error for others explains why they are missing.
    """
    clone = tmp_path_factory.mktemp("clone")
    path = repository.folder / "catalog_src/series/first.yaml"
    path.write_text(path.read_text().replace("title: Second", "title: Third"))
    commit(repository.folder, SECOND + 60)
    git(clone, "clone", "--quiet", "--depth", "2", repository.folder.as_uri(), ".")
    monkeypatch.chdir(clone)
    result = run("diff", "HEAD~1", "HEAD", "--as-of", AS_OF, "--jobs", 1)
    problem = "HEAD~2: is neither a built site, nor a catalog, nor a git revision"

    assert '\n  ! title: "Second" → "Third"\n' in result.stdout
    assert result.stderr.startswith("warning: HEAD~1:catalog_src: is a shallow git clone")
    assert outcome(run("diff", "HEAD~2")) == (1, "", f"{problem}; the clone is shallow: run git fetch --unshallow\n")
    assert "pass OLD and NEW as two arguments" in run("diff", "HEAD~2..HEAD").stderr


TWO = "; pass OLD and NEW as two arguments"


@pytest.mark.parametrize(("name", "hint"), [("first..main", TWO), ("..main", TWO), ("^main", "")])
def test_a_range_of_revisions_is_no_revision(run_diff: Any, run: Run, name: str, hint: str) -> None:
    """git has two ids for it, or one with a sign before it."""
    problem = f"{name}: is neither a built site, nor a catalog, nor a git revision{hint}\n"

    assert outcome(run("diff", name)) == (1, "", problem)


def test_warnings_of_the_builds_are_printed(run_diff: Any, repository: Site, run: Run) -> None:
    """A chapter without an id is missing from the comparison, too."""
    repository.write("series/second.yaml", "title: x\ncover: c.png\nchapters:\n  - {number: 1, "
                     "published: 2023-01-01T00:00:00Z, pages: [1.png]}\n")  # fmt: skip
    commit(repository.folder, SECOND + 60)
    warning = "1 chapter has no id and is missing from /api/v2; `python build.py ids` changes that"

    assert run("diff", "first", "main").stderr == f"warning: main:catalog_src: {warning}\n"


def test_without_git_a_revision_is_an_error(run_diff: Any, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catalogs and built sites can be compared without git."""
    monkeypatch.setenv("PATH", os.devnull)

    assert run("diff", "first", "main").stderr.startswith("first: is neither a built site")
    assert run("diff", ".", ".").exit_code == 0
