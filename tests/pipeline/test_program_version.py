"""The cache is valid for one version of the program: after an edit of any program file, nothing is reused."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import DATA, ROOT

# A harmless edit for each type of file.
COMMENTS = {
    ".py": "# edited",
    ".conf": "# edited",
    ".js": "// edited",
    ".css": "/* edited */",
    ".html": "<!-- -->",
    ".svg": "<!-- -->",
}
# Files that no build reads: texts for people. Neither does a build read what `init` copies, and templates of hosts.
NOT_USED = {"LICENSE", "NOTICE", "README.md", "swagger-ui-bundle.js.LICENSE.txt"}
BUILD = """
import sys
from pathlib import Path

from generator.catalog.confined_folder import ConfinedFolder
from generator.pipeline import run
from generator.pipeline.build_options import Options

folder = Path(sys.argv[1])
options = Options(
    ConfinedFolder(folder / "catalog_src"),
    folder / "dist",
    folder / "nginx.conf",
    1_790_000_000,
    cache=folder / "cache",
)
print(run.build(options).parsed)
"""


def parsed(program: Path, site: Path) -> int:
    """The number of files of series that a build parses, although it could use the cache of the build before."""
    command = [sys.executable, "-B", "-c", BUILD, site]
    done = subprocess.run(command, cwd=program, check=True, capture_output=True, text=True)
    return int(done.stdout)


def edited_files() -> list[str]:
    """One file of each package, and one of each type."""
    files = [path.relative_to(ROOT) for path in sorted((ROOT / "generator").rglob("*")) if path.suffix in COMMENTS]
    files = [path for path in files if "scaffold" not in path.parts or path.suffix == ".py"]
    firsts = {path.parent: path for path in reversed(files)} | {path.suffix: path for path in reversed(files)}
    return sorted({str(path) for path in firsts.values()})


@pytest.mark.histories
def test_an_edit_of_any_program_file_causes_a_full_build(tmp_path: Path) -> None:
    """Each package and each type of file counts: code, templates, shim, style sheets."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "generator", tmp_path / "generator", ignore=ignored)
    shutil.copytree(DATA / "sites/minimal", tmp_path / "site/catalog_src")
    series = parsed(tmp_path, tmp_path / "site")
    assert series and parsed(tmp_path, tmp_path / "site") == 0

    for name in edited_files():
        with (tmp_path / name).open("a") as file:
            file.write(f"{COMMENTS[Path(name).suffix]}\n")
        assert parsed(tmp_path, tmp_path / "site") == series, name


def test_files_without_influence_are_listed() -> None:
    """A file of a new type is covered by the program's version, or listed here."""
    others = {
        path.name
        for path in (ROOT / "generator").rglob("*")
        if path.is_file() and path.suffix not in (*COMMENTS, ".pyc") and not {"scaffold", "hosts"} & set(path.parts)
    }

    assert others <= NOT_USED
