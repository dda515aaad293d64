"""CONTRIBUTING.md: its recipes name the files that their patches touch. tests/project/test_docs.py applies them."""

import re

import pytest

from tests.support.documents import DOCUMENTS, blocks

RECIPES = dict(zip(("a-field", "an-endpoint", "a-host"), blocks("CONTRIBUTING.md", "diff"), strict=True))


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_names_its_files_in_order(recipe: str) -> None:
    """The list above a patch is the table of what is in it."""
    part = DOCUMENTS["CONTRIBUTING.md"].partition(RECIPES[recipe].text)[0].rpartition("\n### ")[2]
    touched = re.findall(r"^\+\+\+ b/(.+)$", RECIPES[recipe].text, re.MULTILINE)

    assert re.findall(r"^\d+\. `([^`]+)`", part, re.MULTILINE) == touched
    assert re.findall(r"^(\d+)\. ", part, re.MULTILINE) == [str(number + 1) for number in range(len(touched))]


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_is_a_whole_change(recipe: str) -> None:
    """Program, document and test: nothing that a commit should have is left to the reader."""
    touched = re.findall(r"^\+\+\+ b/(.+)$", RECIPES[recipe].text, re.MULTILINE)

    assert {name.split("/")[0] for name in touched} >= {"generator", "docs", "tests"}
    # Short enough to be read in one go.
    assert len(RECIPES[recipe].text.splitlines()) < 120
