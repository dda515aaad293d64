"""Items appended to a list inside a file: their place and style, and what stays."""

import re
from typing import Any

import pytest

from generator.catalog.yaml import editor, reader
from generator.errors import FlatpanelError

NEW = {"id": 7, "title": "A: b", "final": True}


def written(text: str) -> str:
    """The text with the item in the place of each @."""
    return re.sub("( *)@(\r?\n)", r'\1- id: 7\2\1  title: "A: b"\2\1  final: true\2', text)


def test_item_is_appended_below_the_others() -> None:
    """With empty lines if the list has them; no other byte changes."""
    for before, after in [
        ("title: A\n", "title: A\nlist:\n  @\n"),
        ("title: A\n... # end\n", "title: A\nlist:\n  @\n... # end\n"),
        ("list:\n  - id: 1\n...\n", "list:\n  - id: 1\n\n  @\n...\n"),
        ("  title: A\n# end\n", "  title: A\n# end\n  list:\n    @\n"),
        ("list: []\n", "list:\n  @\n"),
        ("list:   [ ] # none\nb: 1\n", "list: # none\n  @\nb: 1\n"),
        ("list:\n  - id: 1\n", "list:\n  - id: 1\n\n  @\n"),
        ("list:\n- id: 1\n", "list:\n- id: 1\n\n@\n"),
        ("list:\n    -   id: 1", "list:\n    -   id: 1\n\n    @\n"),
        ("list:\n  - {id: 1}\n  - {id: 2}\n", "list:\n  - {id: 1}\n  - {id: 2}\n  @\n"),
        (
            "list:\n  - id: 1\n\n  # two\n  - id: 2\n",
            "list:\n  - id: 1\n\n  # two\n  - id: 2\n\n  @\n",
        ),
        (
            "list:\n  - id: 1\n  # two\n  -\n    id: 2\n  # more\n\n# about b\nb: 1\n",
            "list:\n  - id: 1\n  # two\n  -\n    id: 2\n  # more\n  @\n\n# about b\nb: 1\n",
        ),
        (
            "list:\n  - id: 1\n    text: |\n      # no comment\n\n\n# end\n",
            "list:\n  - id: 1\n    text: |\n      # no comment\n\n  @\n\n\n# end\n",
        ),
        (
            "\ufefflist:\r\n  - id: 1\r\nb: 1\r\n",
            "\ufefflist:\r\n  - id: 1\r\n\r\n  @\r\nb: 1\r\n",
        ),
        (
            "list:\n  - &a {id: 1}\n  - *a\nother: [*a]\n",
            "list:\n  - &a {id: 1}\n  - *a\n  @\nother: [*a]\n",
        ),
    ]:
        assert editor.with_entries(before.encode(), "list", [NEW]).decode() == written(after)


@pytest.mark.parametrize(
    "text",
    [
        "list: [{id: 1}]\n",
        "list: [\n  {id: 1},\n  {id: 2}]\n",
        "{title: A}\n",
        "list: &none []\n",
        "other: &some\n  - id: 1\nlist: *some\n",
        "list: &some\n  - id: 1\nother: *some\n",
        "list:\n  - text: |+\n      a\n\n\n",
    ],
)
def test_list_that_cannot_be_extended_is_refused(text: str) -> None:
    """Only a block list takes another item, and only without other changes."""
    with pytest.raises(FlatpanelError, match="one field per line, and each item of a list below a `-`"):
        editor.with_entries(text.encode(), "list", [NEW])


def test_several_items_are_appended() -> None:
    """At the end of the list, before the comments after it."""
    cases: list[Any] = [
        ("- {id: 1, name: A}\n", None, [{"id": 2, "name": "B"}], "- {id: 1, name: A}\n- {id: 2, name: B}\n"),
        ("# A\n- {id: 1, name: A}", None, [{"id": 2}], "# A\n- {id: 1, name: A}\n- {id: 2}\n"),
        ("- id: 1\n\n# end\n", None, [{"id": 2}], "- id: 1\n- {id: 2}\n\n# end\n"),
        ("- id: 1\n", None, [{"a": 1, "b": 2, "c": 3}], "- id: 1\n\n- a: 1\n  b: 2\n  c: 3\n"),
        ("# none\n", None, [1, 2], "# none\n- 1\n- 2\n"),
        ("[] # none\n", None, [1], "# none\n- 1\n"),
        ("a: 1\n", "b", [1], "a: 1\nb: [1]\n"),
        ("b: []\na: 1\n", "b", [{"x": 1}], "b:\n  - {x: 1}\na: 1\n"),
        ("b:\r\n- 1\r\n- 2\r\na: 1\r\n", "b", [3], "b:\r\n- 1\r\n- 2\r\n- 3\r\na: 1\r\n"),
        ("- a: 1\n\n- a: 2\n", None, [{"a": 3}, {"a": 4}], "- a: 1\n\n- a: 2\n\n- {a: 3}\n\n- {a: 4}\n"),
        ("- a: 1\n- a: 2\n", None, [NEW], "- a: 1\n- a: 2\n" + written("@\n")),
        (
            "b:\n  - x: 1\n  # of the last\n# of a\na: 1\n",
            "b",
            [2],
            "b:\n  - x: 1\n  # of the last\n  - 2\n# of a\na: 1\n",
        ),
        ("b:\n  - x: |\n      y\n", "b", ["z"], "b:\n  - x: |\n      y\n  - z\n"),
    ]
    assert [editor.with_entries(before.encode(), name, entries).decode() for before, name, entries, _ in cases] == [
        after for *_, after in cases
    ]


@pytest.mark.parametrize("text", [b"[1, 2]\n", b"- |\n  a\n  # b\n- &a [1]\n- *a\n  # c\n# d\n---\n"])
def test_flow_list_of_a_file_is_refused(text: bytes) -> None:
    """There is no line to append to."""
    with pytest.raises((FlatpanelError, reader.Malformed)):
        editor.with_entries(text, None, [3])
