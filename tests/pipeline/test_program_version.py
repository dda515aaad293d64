"""The cache is valid for one version of the program: after an edit of any program file, nothing is reused."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from generator.pipeline import open_cache, program_version, run
from tests.conftest import Site
from tests.support.paths import ROOT

# A harmless edit for each type of file.
COMMENTS = {
    ".py": "# edited",
    ".conf": "# edited",
    ".js": "// edited",
    ".css": "/* edited */",
    ".html": "<!-- -->",
    ".svg": "<!-- -->",
    ".yaml": "# edited",
}
# Files that no build reads: texts for people. Neither does a build read what `init` copies, and templates of hosts.
NOT_USED = {"LICENSE", "NOTICE", "README.md", "package.json", "swagger-ui-bundle.js.LICENSE.txt"}


def edited_files() -> list[str]:
    """One file of each package, and one of each type."""
    files = [path.relative_to(ROOT) for path in sorted((ROOT / "generator").rglob("*")) if path.suffix in COMMENTS]
    files = [path for path in files if "scaffold" not in path.parts or path.suffix == ".py"]
    firsts = {path.parent: path for path in reversed(files)} | {path.suffix: path for path in reversed(files)}
    return sorted({str(path) for path in firsts.values()})


@pytest.mark.histories
def test_an_edit_of_any_program_file_causes_a_full_build(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each package and each type of file counts: code, templates, shim, style sheets."""
    program = tmp_path / "generator"
    shutil.copytree(ROOT / "generator", program, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(program_version, "_PACKAGE", program)
    # A process has one version: that of its start.
    monkeypatch.setattr(open_cache, "_own_version", program_version.current)
    options = replace(site.options, cache=tmp_path / "cache")
    series = run.build(options).parsed
    assert series and run.build(options).parsed == 0

    for name in edited_files():
        with (tmp_path / name).open("a") as file:
            file.write(f"{COMMENTS[Path(name).suffix]}\n")
        assert run.build(options).parsed == series, name


def test_files_without_influence_are_listed() -> None:
    """A file of a new type is covered by the program's version, or listed here."""
    others = {
        path.name
        for path in (ROOT / "generator").rglob("*")
        if path.is_file() and path.suffix not in (*COMMENTS, ".pyc") and not {"scaffold", "hosts"} & set(path.parts)
    }

    assert others <= NOT_USED
