""".pre-commit-hooks.yaml: what it lets pre-commit run in the repository of a catalog, run there by git itself."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from generator import __version__
from tests.faults.test_hostile_repositories import REFUSED, disguise, settings
from tests.support.archives import ROOT, installed, named, needs_hatchling, packages, unmeasured
from tests.support.documents import DOCUMENTS

HOOKS: dict[str, dict[str, Any]] = {
    one["id"]: one for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
}
SERIES = "catalog_src/series/paper-moons.yaml"
WITHOUT_ID = "  - {number: 7, published: 2026-02-02, pages: []}\n"
# What pre-commit knows of a hook; a key that it does not know is a warning on every machine.
KNOWN = {
    *("id", "name", "description", "entry", "language", "pass_filenames", "files", "exclude", "types", "types_or"),
    *("always_run", "require_serial", "stages", "args", "language_version", "minimum_pre_commit_version"),
}

pytestmark = needs_hatchling


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pre-commit makes of this project: an environment into which it is installed."""
    folder = tmp_path_factory.mktemp("hooks")
    return installed(named(packages(folder, umask=0o022, date=1_600_000_000, seed="1"), ".whl"), folder / "installed")


class Repository:
    """Somebody's catalog under git, with one of the hooks."""

    def __init__(self, folder: Path, programs: Path, hook: str) -> None:
        self.folder, self.hook = folder, HOOKS[hook]
        path = os.pathsep.join([str(programs), os.environ["PATH"]])
        who = {f"GIT_{role}_{what}": "somebody" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        nobodys = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self.environment = {**unmeasured(), **who, **nobodys, "PATH": path}
        shutil.copytree(ROOT / "catalog_src", folder / "catalog_src")
        self.git("init", "--quiet")
        self.commit()
        script = folder / ".git/hooks/pre-commit"
        script.parent.mkdir(exist_ok=True)
        script.write_text(
            f"#!/bin/sh\nexec {shlex.join([*shlex.split(self.hook['entry']), *self.hook.get('args', [])])}\n"
        )
        script.chmod(0o755)

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *arguments], cwd=self.folder, env=self.environment, capture_output=True, text=True
        )

    def commit(self) -> subprocess.CompletedProcess[str]:
        self.git("add", "--all")
        return self.git("commit", "--quiet", "--message", "a change")

    def append(self, text: str) -> None:
        with (self.folder / SERIES).open("a") as series:
            series.write(text)

    def left(self) -> str:
        """What lies in the folder that is in no commit."""
        return self.git("status", "--short").stdout


@pytest.fixture
def repository(tmp_path: Path, programs: Path, request: pytest.FixtureRequest) -> Repository:
    return Repository(tmp_path, programs, request.param)


@pytest.mark.parametrize("hook", HOOKS)
def test_hooks_are_what_pre_commit_takes_for_hooks(hook: str) -> None:
    """They have what it wants of each and nothing that it does not know, run what is installed, and are documented."""
    one = HOOKS[hook]

    assert {"id", "name", "entry", "language"} <= one.keys() <= KNOWN
    assert (one["language"], one["entry"].split()[0]) == ("python", "flatpanel")
    assert f"id: {hook}\n" in DOCUMENTS["docs/serving.md"]
    assert f"rev: v{__version__}\n" in DOCUMENTS["docs/serving.md"]


@pytest.mark.parametrize("hook", HOOKS)
def test_hooks_run_when_a_file_of_the_catalog_changes(hook: str) -> None:
    """Whatever lies in the catalog, and nothing else."""
    pattern = re.compile(HOOKS[hook]["files"])

    assert all(
        pattern.search(name) for name in (SERIES, "catalog_src/site.yaml", "catalog_src/series/a/chapters/1.yaml")
    )
    assert not any(pattern.search(name) for name in ("README.md", "old/catalog_src/site.yaml", "catalog_src.md"))


@pytest.mark.parametrize("repository", ["flatpanel-check"], indirect=True)
def test_a_catalog_that_cannot_be_built_is_not_committed(repository: Repository) -> None:
    """The commit is refused with the place and the sentence; when the mistake is gone, it passes."""
    repository.append("nonsense: true\n")
    refused = repository.commit()
    staged = repository.left()
    repository.git("checkout", "--quiet", "HEAD", "--", SERIES)
    repository.append(WITHOUT_ID)
    passed = repository.commit()

    assert refused.returncode == 1
    assert re.search(rf"^{SERIES}:\d+:1: nonsense: unknown field", refused.stderr, re.MULTILINE)
    assert staged == f"M  {SERIES}\n"
    assert (passed.returncode, repository.left()) == (0, "")


@pytest.mark.parametrize("repository", ["flatpanel-ids"], indirect=True)
def test_new_chapters_get_their_ids_before_they_are_committed(repository: Repository) -> None:
    """The file is changed, which pre-commit takes for a refusal; added once more, nothing is left to do."""
    repository.append(WITHOUT_ID)
    first = repository.commit()
    changed = repository.left()
    second = repository.commit()

    assert (first.returncode, changed) == (0, f" M {SERIES}\n")
    assert re.search(r"^  - \{id: \d+, number: 7, ", (repository.folder / SERIES).read_text(), re.MULTILINE)
    assert (second.returncode, repository.left()) == (0, "")


@pytest.mark.parametrize("repository", HOOKS, indirect=True)
def test_a_catalog_that_git_takes_for_a_repository_is_not_committed(repository: Repository) -> None:
    """git starts the hook, which starts git nowhere in the catalog."""
    repository.append(WITHOUT_ID)
    disguise(repository.folder / "catalog_src", repository.folder, settings(repository.folder / "ran"))
    refused = repository.commit()

    assert (refused.returncode, refused.stderr.splitlines()[0]) == (1, f"catalog_src/HEAD:1:1: {REFUSED}")
    assert not (repository.folder / "ran").exists()
