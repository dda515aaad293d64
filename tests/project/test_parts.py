"""Every test is in one part, `make test-all` and the workflow run all parts, and tests change nothing they share."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.catalog import test_json_schema_agrees
from tests.faults import test_hostile_repositories, test_killed_builds
from tests.support import parts, tree_snapshot
from tests.support.paths import ROOT


def test_each_slow_kind_is_in_one_part(pytestconfig: pytest.Config) -> None:
    kinds = [name.partition(":")[0] for name in pytestconfig.getini("markers") if ": slow, " in name]
    in_parts = [kind for each in parts.KINDS.values() for kind in each]
    assert sorted(in_parts) == sorted(kinds)


def test_make_and_the_workflow_run_every_part() -> None:
    targets = {f"test-{part}" for part in parts.PARTS}
    makefile = (ROOT / "Makefile").read_text()
    of_make = set(re.findall(r"^PARTS := (.+)$", makefile, re.MULTILINE)[0].split())
    assert of_make == targets - {"test-newer-nginx"}
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    assert set(re.findall(r"^ +part: \[(.+)\]$", workflow, re.MULTILINE)[0].split(", ")) == of_make


def test_functions_with_samples_run_again_with_all_cases() -> None:
    """By a call, by a table of the module or by what they call; the other functions of their modules run once."""
    by_call, by_helper = map(parts.taking_samples, (test_hostile_repositories, test_killed_builds))

    assert "test_no_setting_of_a_repository_starts_a_program" in by_call
    assert "test_after_a_killed_rollback_the_site_is_complete" in by_helper
    assert "test_an_impossible_output_path_is_a_message" not in by_helper
    assert "test_schema_accepts_the_same_values_as_the_model" in parts.taking_samples(test_json_schema_agrees)


def test_temporary_files_are_where_programs_run(tmp_path: Path) -> None:
    def run(folder: Path) -> tuple[int, str, str]:
        command = [ROOT / "tools/in-memory", "sh", "-c", 'echo "$TMPDIR"; exit 3']
        done = subprocess.run(command, env=os.environ | {"TMPDIR": str(folder)}, capture_output=True, text=True)
        return done.returncode, str(Path(done.stdout).parent), done.stderr

    assert run(tmp_path) == (3, str(tmp_path), "")
    assert not [*tmp_path.iterdir()]
    # A program without the mode of one stands for a system that forbids it.
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "chmod").write_text("#!/bin/sh\n")
    (tools / "chmod").chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
        advice = f"tools/in-memory: no program can run in a new folder in {tmp_path}; TMPDIR names another place\n"
        assert run(tmp_path) == (1, ".", advice)
    assert [*tmp_path.iterdir()] == [tools]


def test_a_changed_shared_folder_is_named(tmp_path: Path) -> None:
    """Whether a file gets other bytes of the same length, is added or removed; not what a server writes."""
    (tmp_path / "dist/run").mkdir(parents=True)
    for name in ("dist/edited", "dist/removed"):
        (tmp_path / name).write_text("one")
    with pytest.raises(AssertionError, match="others read") as failed, tree_snapshot.unchanged(tmp_path):
        (tmp_path / "dist/edited").write_text("two")
        (tmp_path / "dist/removed").unlink()
        (tmp_path / "dist/added").touch()
        (tmp_path / "dist/run/log").touch()

    assert all(f"{tmp_path}/dist/{name}'" in str(failed.value) for name in ("added", "edited", "removed"))
    assert "dist/run" not in str(failed.value)
