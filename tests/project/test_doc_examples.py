"""`make docs` writes the examples in docs/api.md from a build of the example catalog."""

import shutil
from pathlib import Path

import pytest

from tests.support.documents import DOCUMENTS, ROOT
from tests.support.tools import write_docs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the documents that are written."""
    for name in ("api.md", "catalog.md", "commands.md", "hosts.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path / name)
    return tmp_path


def test_an_outdated_example_is_written_again(folder: Path) -> None:
    """The check names the document, and the next run restores the body of the build."""
    page, text = folder / "api.md", DOCUMENTS["docs/api.md"]
    for old, new in (
        ('  "status": "hiatus",\n', '  "status": "ongoing",\n'),  # another value
        ('  "views": 610,\n', ""),  # a missing field
        ('  "views": 610,\n', '  "views": 610,\n  "reads": 1,\n'),  # a field that the body does not have
    ):
        assert text.count(old) == 1
        page.write_text(text.replace(old, new), encoding="utf-8")
        assert write_docs("--check", folder) == (1, f"{page}: out of date; `make docs` writes it\n")
        assert write_docs(folder)[0] == 0
        assert page.read_text(encoding="utf-8") == text


def test_omitted_parts_stay_omitted(folder: Path) -> None:
    """`…` in an example stands for parts that the document does not show."""
    page = folder / "api.md"
    shown = '"volume": "1", "number": "1", "…": "…"'
    assert DOCUMENTS["docs/api.md"].count(shown) == 1
    text = DOCUMENTS["docs/api.md"].replace(shown, shown.replace('"1"', '"2"'))
    page.write_text(text, encoding="utf-8")

    assert write_docs(folder)[0] == 0
    assert shown in page.read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8").count("…") == DOCUMENTS["docs/api.md"].count("…")
