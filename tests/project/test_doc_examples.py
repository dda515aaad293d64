"""`make docs` writes the examples in docs/api.md from a build of the example catalog."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import DOCUMENTS, ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the documents that are written."""
    for name in ("api.md", "catalog.md", "commands.md", "hosts.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path / name)
    return tmp_path


def write_docs(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "tools/write-docs", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.documents
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('  "status": "hiatus",\n', '  "status": "ongoing",\n'),  # another value
        ('  "views": 610,\n', ""),  # a missing field
        ('  "views": 610,\n', '  "views": 610,\n  "reads": 1,\n'),  # a field that the body does not have
    ],
)
def test_an_outdated_example_is_written_again(folder: Path, old: str, new: str) -> None:
    """The check names the document, and the next run restores the body of the build."""
    page = folder / "api.md"
    assert DOCUMENTS["docs/api.md"].count(old) == 1
    page.write_text(DOCUMENTS["docs/api.md"].replace(old, new), encoding="utf-8")

    check = write_docs("--check", folder)
    assert (check.returncode, check.stdout) == (1, f"{page}: out of date; `make docs` writes it\n")
    assert write_docs(folder).returncode == 0
    assert page.read_text(encoding="utf-8") == DOCUMENTS["docs/api.md"]


def test_omitted_parts_stay_omitted(folder: Path) -> None:
    """`…` in an example stands for parts that the document does not show."""
    page = folder / "api.md"
    shown = '"volume": "1", "number": "1", "…": "…"'
    assert DOCUMENTS["docs/api.md"].count(shown) == 1
    text = DOCUMENTS["docs/api.md"].replace(shown, shown.replace('"1"', '"2"'))
    page.write_text(text, encoding="utf-8")

    assert write_docs(folder).returncode == 0
    assert shown in page.read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8").count("…") == DOCUMENTS["docs/api.md"].count("…")
