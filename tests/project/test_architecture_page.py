"""docs/architecture.md: the modules and tests in it exist, and each package is in it."""

import re

from tests.support.documents import DOCUMENTS, ROOT, SPAN, first_cells, sections

PAGE = DOCUMENTS["docs/architecture.md"]
GUARANTEES = re.findall(
    r"^\| (.+?) \| `(.+?)` \| `(.+?)` \|$", sections(PAGE)["what-is-guaranteed-where"], re.MULTILINE
)


def missing_files(text: str) -> list[str]:
    """Paths below generator/ and tests/ in a text that do not exist."""
    paths = [span for span in SPAN.findall(text) if span.startswith(("generator/", "tests/"))]
    return [path for path in paths if not (ROOT / path).exists()]


def test_each_file_exists() -> None:
    """A renamed module or test is renamed on the page."""
    assert missing_files(PAGE) == []


def test_a_missing_file_is_reported() -> None:
    """The check above fails for a module or test that does not exist."""
    assert missing_files("`generator/errors.py` `generator/no.py` `tests/no.py`") == ["generator/no.py", "tests/no.py"]


def test_each_package_is_in_the_table() -> None:
    """A new package needs a row, and so does the place to start reading it."""
    packages = {f"generator/{path.parent.name}/" for path in ROOT.glob("generator/*/__init__.py")}

    assert set(first_cells(PAGE, "package")) - {"generator/"} == packages


def test_a_guarantee_has_a_module_and_a_test() -> None:
    """Each row names a file of the program, and a file with tests."""
    for _, module, test in GUARANTEES:
        assert (ROOT / module).is_file() and module.startswith("generator/"), module
        assert re.search(r"^def test_", (ROOT / test).read_text(encoding="utf-8"), re.MULTILINE), test


def test_the_questions_are_answered() -> None:
    """The page answers five questions and has one picture."""
    questions = re.findall(r"^\*\*(.+)\*\*$", sections(PAGE)["questions"], re.MULTILINE)

    assert len(questions) == 5
    assert len(GUARANTEES) > 10
    assert PAGE.count("```mermaid") == 1
