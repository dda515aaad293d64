"""Edits of hand-written YAML: what changes, what stays, and what is refused."""

from collections.abc import Sequence
from functools import reduce
from itertools import cycle
from typing import Any

import pytest

from generator.catalog.yaml import editor, positions, reader
from generator.catalog.yaml.editor import FieldEdit
from generator.catalog.yaml.positions import read_positions
from generator.catalog.yaml_values import yaml_value
from generator.errors import FlatpanelError
from tests.conftest import SITES
from tests.support.paths import ROOT
from tests.support.runs import sample

REFUSAL = "cannot be edited in this form"


def test_first_field_is_added_without_other_changes() -> None:
    """The id has the style of its surroundings, and no other byte changes."""
    cases: list[Any] = [
        ("- number: 1\n  title: A\n", "- id: 7\n  number: 1\n  title: A\n"),
        ("  -   number: 1\n      title: A\n", "  -   id: 7\n      number: 1\n      title: A\n"),
        ("-\n  number: 1\n", "-\n  id: 7\n  number: 1\n"),
        ("- # {the first}\n\n  # one\n  number: 1\n", "- # {the first}\n\n  # one\n  id: 7\n  number: 1\n"),
        ("- number: 1", "- id: 7\n  number: 1"),
        ("- number: 1\r\n  title: A\r\n", "- id: 7\r\n  number: 1\r\n  title: A\r\n"),
        ("- &one # {\n  number: 1\n", "- &one # {\n  id: 7\n  number: 1\n"),
        ("- {number: 1}\n", "- {id: 7, number: 1}\n"),
        ("- { number: 1, title: A }\n", "- { id: 7, number: 1, title: A }\n"),
        ("- {\n    # one\n    number: 1,\n  }\n", "- {\n    # one\n    id: 7, number: 1,\n  }\n"),
        ("- &one # two\n  {number: 1}\n", "- &one # two\n  {id: 7, number: 1}\n"),
        ("- title: 紙の月 {\n  number: 1\n", "- id: 7\n  title: 紙の月 {\n  number: 1\n"),
        ("\ufeff- number: 1\n", "\ufeff- id: 7\n  number: 1\n"),
        (
            "- number: 1\n  description: |\n    # no comment\n\n",
            "- id: 7\n  number: 1\n  description: |\n    # no comment\n\n",
        ),
        ("# a\u2028- number: 1\u2028  title: A\n", "# a\u2028- id: 7\n  number: 1\u2028  title: A\n"),
    ]
    assert [editor.with_ids(before.encode(), {(0,): 7}).decode() for before, _ in cases] == [
        after for _, after in cases
    ]


def test_first_field_is_added_to_a_whole_file() -> None:
    """A chapter in a file of its own is edited like any other."""
    assert editor.with_ids(b"# one\nnumber: 1\n", {(): 7}) == b"# one\nid: 7\nnumber: 1\n"


def test_first_field_is_added_to_many_mappings() -> None:
    """In any mixture of styles, each chapter gets its own id."""
    before = b"chapters:\n- number: 1\n  groups: &g [a]\n- {number: 2, groups: *g}\n- [{number: 3}, {number: 4}]\n"
    paths = {("chapters", 2, 1): 4, ("chapters", 1): 2, ("chapters", 0): 1, ("chapters", 2, 0): 3}

    assert editor.with_ids(before, paths) == (
        b"chapters:\n- id: 1\n  number: 1\n  groups: &g [a]\n- {id: 2, number: 2, groups: *g}\n"
        b"- [{id: 3, number: 3}, {id: 4, number: 4}]\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "- id:\n  number: 1\n",  # would have the field twice
        "- ? number\n  : 1\n",  # the field would become a part of the key
        "- {}\n- &a {number: 1}\n",  # nothing to be first before
        "- &a {number: 1}\n- *a\n",  # the other one would change as well
    ],
)
def test_edit_with_another_value_is_refused(text: str) -> None:
    """The result must have the intended value."""
    path = (1,) if "*a" in text else (0,)

    with pytest.raises(editor.NotEditable, match=REFUSAL) as caught:
        editor.with_ids(text.encode(), {path: 7})
    assert caught.value.paths == (path,)


def test_only_mappings_in_an_unusual_form_are_named() -> None:
    """An explicit key and an alias, among others that could be edited."""
    text = b"- number: 1\n- ?\n    number\n  : 2\n- &a {number: 3}\n- *a\n- [{number: 4}, {? number : 5}]\n"
    paths: list[positions.YamlPath] = [(0,), (1,), (3,), (4, 0)]

    with pytest.raises(editor.NotEditable) as caught:
        editor.with_ids(text, dict.fromkeys(paths, 7))
    assert caught.value.paths == ((1,), (3,))


def test_item_is_appended() -> None:
    """The list grows by one line, with any indentation."""
    cases: list[Any] = [
        ("", "- {name: new}\n"),
        ("# keys", "# keys\n- {name: new}\n"),
        ("\ufeff# keys\r\n", "\ufeff# keys\r\n- {name: new}\r\n"),
        ("- name: old\n# end\n", "- name: old\n# end\n- {name: new}\n"),
        ("- name: old", "- name: old\n- {name: new}\n"),
        ("- name: old\r\n  a: b", "- name: old\r\n  a: b\r\n- {name: new}\r\n"),
        ("[]", "- {name: new}\n"),
        ("\ufeff# keys\r\n[ ] # none\r\n", "\ufeff# keys\r\n# none\r\n- {name: new}\r\n"),
        ("--- []\n# end\n", "--- \n# end\n- {name: new}\n"),
        ("---\n  - {name: old}\n", "---\n  - {name: old}\n  - {name: new}\n"),
    ]
    assert [editor.with_item(before.encode(), {"name": "new"}).decode() for before, _ in cases] == [
        after for _, after in cases
    ]


def test_appended_text_is_read_as_the_same_text() -> None:
    """Every text can be an item."""
    for value, written in [
        ("Noor's: #2", '"Noor\'s: #2"'),
        ("- item", '"- item"'),
        ("{a, b]", '"{a, b]"'),
        ("12", '"12"'),
        ("紙の月 🌙", "紙の月 🌙"),
        ("a\u2028b\x85c\ufeff\xa0", '"a\\U00002028b\\U00000085c\\U0000feff\\U000000a0"'),
    ]:
        text = editor.with_item(b"", {"name": value})

        assert text.decode() == f"- {{name: {written}}}\n"
        assert reader.load(text) == [{"name": value}]


@pytest.mark.parametrize("text", ["[{name: old}]\n", "null\n"])
def test_list_without_dashes_is_refused(text: str) -> None:
    """Only a block list takes another item."""
    with pytest.raises(FlatpanelError, match=REFUSAL):
        editor.with_item(text.encode(), {"name": "new"})


@pytest.mark.parametrize(
    ("index", "after"),
    [
        (0, "# a\n\n# c\n-\n  # d\n  name: c\n  more:\n    - e\n# f\n\n- {name: g}\n# h"),
        (1, "# a\n- {name: a, more: [b]} # b\n\n# c\n# f\n\n- {name: g}\n# h"),
        (2, "# a\n- {name: a, more: [b]} # b\n\n# c\n-\n  # d\n  name: c\n  more:\n    - e\n# f\n\n# h"),
    ],
)
def test_item_is_removed_without_the_comments_around_it(index: int, after: str) -> None:
    """Only the lines of the item are removed."""
    before = "# a\n- {name: a, more: [b]} # b\n\n# c\n-\n  # d\n  name: c\n  more:\n    - e\n# f\n\n- {name: g}\n# h"

    assert editor.without_item(before.encode(), index).decode() == after


def test_file_without_items_keeps_its_comments() -> None:
    """The line endings and the byte order mark stay, too."""
    assert editor.without_item(b"\xef\xbb\xbf# a\r\n- name: b\r\n  c: d", 0) == b"\xef\xbb\xbf# a\r\n"


@pytest.mark.parametrize("text", ["[{name: a}, {name: b}]\n", "- &a {name: a}\n- *a\n"])
def test_item_with_an_anchor_in_use_is_not_removed(text: str) -> None:
    """Removing its lines would change other values."""
    with pytest.raises(FlatpanelError, match=REFUSAL):
        editor.without_item(text.encode(), 0)


def test_field_is_set_or_added() -> None:
    """Comments stay; a new field follows the fields of one line."""
    cases: list[Any] = [
        ("title: A  # short\nx: 1\n", "title", "B", "title: B  # short\nx: 1\n"),
        ("title:\nx: 1\n", "title", "B", "title: B\nx: 1\n"),
        ("title: A\r\nx: 1\r\n", "title", "B\nC", "title: |-\r\n  B\r\n  C\r\nx: 1\r\n"),
        ("title: 'A\n  b'\nx: 1\n", "title", "B", "title: B\nx: 1\n"),
        ("title: >-\n  A\n  b\n\n# x\nx: 1\n", "title", "B", "title: B\n\n# x\nx: 1\n"),
        ("title: |\n  A", "title", "B", "title: B"),
        ("a: [x, y] # z\n", "a", ["b"], "a: [b] # z\n"),
        ("a: [x,\n    y]\nb: 1\n", "a", [], "a: []\nb: 1\n"),
        ("a:\n  - x\n  # last\n\nb: 1\n", "a", ["c"], "a: [c]\n  # last\n\nb: 1\n"),
        ("a:\n  x: 1\n", "a", {"y": 2}, "a:\n  y: 2\n"),
        ("{title: A, x: 1}\n", "title", "B, c", '{title: "B, c", x: 1}\n'),
        ("title: A\n", "number", "1.50", 'title: A\nnumber: "1.50"\n'),
        ("title: A # x\ntext: |\n  b\n", "x", 1, "title: A # x\nx: 1\ntext: |\n  b\n"),
        ("text: |\n  b\n# end\n", "x", 1, "text: |\n  b\nx: 1\n# end\n"),
        ("title: A\nend: B", "x", "c\nd", "title: A\nend: B\nx: |-\n  c\n  d\n"),
        ("{title: A}\n", "x", ["b", "c, d"], '{title: A, x: [b, "c, d"]}\n'),
        ("# nothing\n", "x", 1, "# nothing\nx: 1\n"),
        ("", "x", 1, "x: 1\n"),
    ]
    assert [
        editor.with_field(before.encode(), (), name, yaml_value({name: value})[name]).decode()
        for before, name, value, _ in cases
    ] == [after for *_, after in cases]


def test_inner_field_of_several_lines_is_indented() -> None:
    before = b"chapters:\n- number: 1\n  title: A\n"

    edited = editor.with_field(before, ("chapters", 0), "title", "B\nC")
    assert edited == before.replace(b"A\n", b"|-\n    B\n    C\n")


def test_many_fields_are_edited_at_once() -> None:
    """As one after the other, also before a field that is replaced. Edits inside each other are refused."""
    text = b"a: 1 # one\nb:\n  - x\n\n# about c\nc: {d: 2, e: 3}\nf: 4\n"
    edits = [
        *(FieldEdit((), "f", None), FieldEdit(("c",), "e", 5), FieldEdit(("c",), "g", 6), FieldEdit((), "h", "new")),
        *(FieldEdit((), "i", 8), FieldEdit((), "a", 7), FieldEdit((), "b", ["y"])),
    ]
    after = b"a: 7 # one\nb: [y]\n\n# about c\nc: {d: 2, e: 5, g: 6}\nh: new\ni: 8\n"

    assert editor.with_fields(text, edits) == after
    assert reduce(lambda before, edit: editor.with_field(before, *edit), edits, text) == after
    replaced, added = FieldEdit((), "b", ["y"]), FieldEdit((), "c", 2)
    assert editor.with_fields(b"a: 1\nb:\n  - x\n  - z\n", [replaced, added]) == b"a: 1\nc: 2\nb: [y]\n"
    with pytest.raises(FlatpanelError, match=REFUSAL):
        editor.with_fields(text, [FieldEdit((), "c", {"d": 1}), FieldEdit(("c",), "e", 5)])


def test_value_with_comments_is_not_replaced() -> None:
    """The comments would be lost."""
    for text in (b"a:\n  - x # mine\nb: 1\n", b"a: [x, # mine\n  y]\n", b"a:\n  # mine\n  x: 1\n"):
        with pytest.raises(FlatpanelError, match="contains comments that would be lost; edit it by hand"):
            editor.with_field(text, (), "a", ["z"])


FILES = sorted((ROOT / "catalog_src").rglob("*.yaml")) + sorted(SITES.rglob("*.yaml"))
VALUES = ("one, two", ["a", "b # c"], "two\nlines\n")


def test_every_field_of_the_test_catalogs_can_be_set() -> None:
    """Each field gets another value and a new field next to it, and every comment stays."""
    values = cycle(VALUES)
    for file in sample([file for file in FILES if file.stat().st_size < 20_000], 10):
        text = file.read_bytes()
        comments = [line for line in text.decode().splitlines() if line.strip().startswith("#")]
        paths = list(read_positions(text).keys)
        for *path, name in paths[:: max(1, len(paths) // 15)]:
            for field, value in zip((str(name), "brand_new"), values, strict=False):
                try:
                    edited = editor.with_field(text, tuple(path), field, value)
                except FlatpanelError:
                    assert "\n" in str(value) or isinstance(at(reader.load(text), [*path, field]), dict | list)
                    continue
                left = edited.decode().splitlines()
                assert [line for line in comments if line not in left] == [], file
                assert at(reader.load(edited), [*path, field]) == value, file


@pytest.mark.parametrize(
    ("name", "after"),
    [
        ("b", "a: 1\n# about b\n\n# about c\nc: 3 # three\nd: >\n  x\n\n  y\n"),
        ("c", "a: 1\n# about b\nb:\n  - x\n  - y\n\n# about c\nd: >\n  x\n\n  y\n"),
        ("d", "a: 1\n# about b\nb:\n  - x\n  - y\n\n# about c\nc: 3 # three\n"),
    ],
)
def test_field_is_removed_without_the_comments_around_it(name: str, after: str) -> None:
    """A comment on its own line goes with it."""
    text = b"a: 1\n# about b\nb:\n  - x\n  - y\n\n# about c\nc: 3 # three\nd: >\n  x\n\n  y\n"

    assert editor.with_field(text, (), name, None).decode() == after


@pytest.mark.parametrize(
    "text", ["- {a: 1, b: 2}\n", "- b: 2\n  a: 1\n", "- <<: &x {b: 2}\n  a: 1\n", "- a: &x 1\n  b: &y 2\n  c: *y\n"]
)
def test_field_without_a_line_of_its_own_is_not_removed(text: str) -> None:
    """In braces, beside the dash of an item, from another mapping, or with an anchor in use."""
    with pytest.raises(FlatpanelError, match=REFUSAL):
        editor.with_field(text.encode(), (0,), "b", None)


def test_item_of_an_inner_list_is_removed() -> None:
    """With the last item, the field is removed."""
    text = b"a: 1\nlist:\n  # first\n  - id: 1\n\n  - id: 2\n    b: 2\n# end\nc: 3\n"
    shorter = editor.without_item(text, 1, ("list",))

    assert shorter == b"a: 1\nlist:\n  # first\n  - id: 1\n\n# end\nc: 3\n"
    assert editor.without_item(shorter, 0, ("list",)) == b"a: 1\n\n# end\nc: 3\n"
    assert editor.without_item(text, 0, ("list",)) == b"a: 1\nlist:\n  # first\n\n  - id: 2\n    b: 2\n# end\nc: 3\n"


def at(value: Any, path: Sequence[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value
