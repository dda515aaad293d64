""".pre-commit-hooks.yaml: git runs its hooks in the repository of a catalog."""

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
from tests.support.archives import ROOT, needs_hatchling, unmeasured
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
    "additional_dependencies",
}

pytestmark = needs_hatchling


class Repository:
    """A catalog under git, with one of the hooks."""

    def __init__(self, folder: Path, programs: Path, hook: str) -> None:
        self.folder, self.hook = folder, HOOKS[hook]
        path = os.pathsep.join([str(programs), os.environ["PATH"]])
        identity = {f"GIT_{role}_{what}": "author" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        no_configuration = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self.environment = {**unmeasured(), **identity, **no_configuration, "PATH": path}
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
def repository(tmp_path: Path, commands: Path, request: pytest.FixtureRequest) -> Repository:
    """With the environment that pre-commit makes."""
    return Repository(tmp_path, commands, request.param)


def test_hook_definitions_are_valid() -> None:
    """Each has the required keys and no unknown one, runs an installed command, and is documented.

    pre-commit installs the repository of the hook, also its extras: nothing comes from an index by our name.
    """
    for hook, one in HOOKS.items():
        assert {"id", "name", "entry", "language"} <= one.keys() <= KNOWN
        assert (one["language"], one["entry"].split()[0]) == ("python", "flatpanel")
        assert one.get("additional_dependencies", []) == [".[texts]"] * (hook == "flatpanel-check")
        assert f"id: {hook}\n" in DOCUMENTS["docs/serving.md"]
        assert f"rev: v{__version__}\n" in DOCUMENTS["docs/serving.md"]


def test_hooks_run_for_changes_of_the_catalog() -> None:
    """Any file of the catalog starts them, and no other file."""
    for hook in HOOKS.values():
        pattern = re.compile(hook["files"])
        assert all(
            pattern.search(name) for name in (SERIES, "catalog_src/site.yaml", "catalog_src/series/a/chapters/1.yaml")
        )
        assert not any(pattern.search(name) for name in ("README.md", "old/catalog_src/site.yaml", "catalog_src.md"))


@pytest.mark.packages
@pytest.mark.parametrize("repository", ["flatpanel-check"], indirect=True)
def test_invalid_catalog_is_not_committed(repository: Repository) -> None:
    """The commit is refused with place and message; without the mistake it passes."""
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


@pytest.mark.packages
@pytest.mark.parametrize("repository", ["flatpanel-ids"], indirect=True)
def test_new_chapters_get_ids_before_the_commit(repository: Repository) -> None:
    """The hook changes the file, which pre-commit treats as a refusal; the second commit passes."""
    repository.append(WITHOUT_ID)
    first = repository.commit()
    changed = repository.left()
    second = repository.commit()

    assert (first.returncode, changed) == (0, f" M {SERIES}\n")
    assert re.search(r"^  - \{id: \d+, number: 7, ", (repository.folder / SERIES).read_text(), re.MULTILINE)
    assert (second.returncode, repository.left()) == (0, "")


@pytest.mark.packages
@pytest.mark.parametrize("repository", HOOKS, indirect=True)
def test_catalog_with_a_bare_repository_is_not_committed(repository: Repository) -> None:
    """git starts the hook, and the hook does not start git in the catalog."""
    repository.append(WITHOUT_ID)
    disguise(repository.folder / "catalog_src", repository.folder, settings(repository.folder / "ran"))
    refused = repository.commit()

    assert (refused.returncode, refused.stderr.splitlines()[0]) == (1, f"catalog_src/HEAD:1:1: {REFUSED}")
    assert not (repository.folder / "ran").exists()
