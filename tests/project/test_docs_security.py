"""docs/security.md: every promise names tests that exist."""

import re

from tests.support.documents import DOCUMENTS

SECURITY = DOCUMENTS["docs/security.md"]
PROMISES = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", SECURITY.partition("## Promises")[2], re.MULTILINE)
ROWS = [row for row in PROMISES if row[0] != "promise" and not row[0].startswith("---")]


def test_promises_are_rows_of_tables() -> None:
    """Each section of promises has a table, and these tests read all of its rows."""
    promised = SECURITY.partition("## Promises")[2].partition("## What is not promised")[0]

    assert len(ROWS) > 25
    assert promised.count("\n| ") == len(ROWS) + promised.count("\n| promise |")
    assert promised.count("\n### ") == promised.count("\n| promise | against | proven by |")


def test_every_promise_names_its_tests() -> None:
    """tests/project/test_docs.py sees that these files exist."""
    file = r"`tests/[\w/]+/test_\w+\.py`"

    assert [row for row in ROWS if not re.fullmatch(f"{file}(?:, {file})*", row[2])] == []


def test_every_attacker_is_named_by_a_promise() -> None:
    """Each row of the table of attackers is in the second cell of a promise."""
    attackers = re.findall(r"^\| (.+?) \| .+ \| .+ \|$", SECURITY.partition("## Promises")[0], re.MULTILINE)[1:]
    opponents = {row[1] for row in ROWS}

    assert all(any(attacker in opponent for opponent in opponents) for attacker in attackers)
