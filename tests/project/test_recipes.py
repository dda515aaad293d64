"""docs/recipes: each patch fits the project, and its commands print what the page shows."""

import re

import pytest

from tests.support.documents import DOCUMENTS, ROOT, blocks_of, project

FOLDER = ROOT / "docs/recipes"
PAGE = DOCUMENTS["docs/recipes/README.md"]
# Patch -> the section about it.
SECTIONS = {
    match[1]: section for section in PAGE.split("\n## ")[1:] if (match := re.search(r"\((\w+\.patch)\)", section))
}


def touched_files(name: str) -> list[str]:
    return re.findall(r"^\+\+\+ b/(.+)$", (FOLDER / name).read_text(encoding="utf-8"), re.MULTILINE)


def test_each_patch_has_a_section() -> None:
    """The page describes every patch in the folder."""
    assert set(SECTIONS) == {path.name for path in FOLDER.glob("*.patch")}


def test_a_section_lists_the_files_of_its_patch() -> None:
    """The numbered list has each file of the patch, in the order of the data or of the patch."""
    for name in SECTIONS:
        steps = re.findall(r"^(\d+)\. `([^`]+)`", SECTIONS[name], re.MULTILINE)
        assert sorted(file for _, file in steps) == sorted(touched_files(name))
        assert [int(number) for number, _ in steps] == [*range(1, len(steps) + 1)]


def test_a_patch_is_a_whole_commit() -> None:
    """It has program, documents and tests, or writes the documents, and is short enough to read at once."""
    for name in SECTIONS:
        folders = {file.split("/")[0] for file in touched_files(name)}
        assert folders >= {"generator", "tests"}
        assert "docs" in folders or "\nmake docs\n" in SECTIONS[name]
        assert len((FOLDER / name).read_text(encoding="utf-8").splitlines()) < 130


def test_a_field_needs_at_most_four_files() -> None:
    """Tables and schemas are generated, and catalogs are data; a new field is written by hand in four files."""
    data = ("catalog_src/", "tests/data/")

    assert len([file for file in touched_files("field.patch") if not file.startswith(data)]) <= 4


@pytest.mark.documents
@pytest.mark.parametrize("name", SECTIONS)
def test_a_recipe_works(name: str) -> None:
    """The patch applies to a copy of the project, and the commands of its section succeed."""
    # The tests in the copy compare examples with docs/api.md, which shows port 8000.
    with project(base_url=False) as runner:
        for block in blocks_of(SECTIONS[name], "sh", "console"):
            runner.follow(block)
