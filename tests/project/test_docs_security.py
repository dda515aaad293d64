"""docs/security.md: every promise has a test, and every test that is named is there."""

import re

import pytest

from tests.support.documents import DOCUMENTS, ROOT, SPAN

SECURITY = DOCUMENTS["docs/security.md"]
PROMISES = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", SECURITY.partition("## Promises")[2], re.MULTILINE)
ROWS = [row for row in PROMISES if row[0] != "promise" and not row[0].startswith("---")]


def test_there_are_promises() -> None:
    """In a table under each heading, and none in a form that these tests would not see."""
    promised = SECURITY.partition("## Promises")[2].partition("## What is not promised")[0]

    assert len(ROWS) > 25
    assert promised.count("\n| ") == len(ROWS) + promised.count("\n| promise |")
    assert promised.count("\n### ") == promised.count("\n| promise | against | proven by |")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_every_promise_names_tests_that_exist(row: tuple[str, str, str]) -> None:
    """Files with tests in them, and nothing but such files."""
    files = SPAN.findall(row[2])

    assert row[2] == ", ".join(f"`{file}`" for file in files)
    for file in files:
        assert re.search(r"^def test_", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_attacker_is_somebody() -> None:
    """Each of those who were introduced stands beside a promise."""
    introduced = re.findall(r"^\| (.+?) \| .+ \| .+ \|$", SECURITY.partition("## Promises")[0], re.MULTILINE)[1:]
    named = {row[1] for row in ROWS}

    assert all(any(one in row for row in named) for one in introduced)


def test_the_document_is_listed() -> None:
    """Whoever reads the first page finds it."""
    assert "](docs/security.md)" in DOCUMENTS["README.md"].partition("## Documents")[2]
