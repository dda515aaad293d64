"""Every test is in one part, and `make test-all` and the workflow run all parts."""

import re

import pytest

from tests.support import parts
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
