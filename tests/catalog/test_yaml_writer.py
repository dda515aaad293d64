"""Written YAML: its style, and that it is read as the same value."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.catalog import yaml_values
from generator.catalog.yaml import reader, writer
from generator.catalog.yaml_values import yaml_value
from generator.errors import FlatpanelError
from tests.conftest import SITES
from tests.support.paths import ROOT


def test_series_is_readable() -> None:
    """One field per line, short lists on one line, chapters separated, quotes only where needed."""
    series = {
        "title": "Paper Moons: again",
        "aliases": ["紙の月たち", "10", "a, b"],
        "description": "First line.\nSecond # line: with signs.\n",
        "modified": 1_777_636_800,
        "licensed": None,
        "chapters": [
            {"number": "10.5", "published": 1_777_572_000, "pages": ["001.jpg", "002.jpg", "003.jpg"], "final": True},
            {"number": "1", "title": "no", "pages": ["a b.jpg", "c.jpg"], "groups": []},
        ],
    }

    assert writer.file(yaml_value(series)).decode() == (
        'title: "Paper Moons: again"\n'
        'aliases: [紙の月たち, "10", "a, b"]\n'
        "description: |\n"
        "  First line.\n"
        "  Second # line: with signs.\n"
        "modified: 2026-05-01T12:00:00Z\n"
        "\n"
        "chapters:\n"
        "  - number: 10.5\n"
        "    published: 2026-04-30T18:00:00Z\n"
        "    pages: 001.jpg .. 003.jpg\n"
        "    final: true\n"
        "\n"
        "  - number: 1\n"
        "    title: no\n"
        "    pages: [a b.jpg, c.jpg]\n"
        "    groups: []\n"
    )


def test_small_entries_have_one_line() -> None:
    """A role in a group, or a person with an id and a name."""
    group = [{"id": 1, "name": "Night Shift", "members": [{"member": "Wren, the", "role": "Editor"}]}]

    assert writer.file(yaml_value(group)).decode() == (
        '- id: 1\n  name: Night Shift\n  members:\n    - {member: "Wren, the", role: Editor}\n'
    )
    assert writer.file([{"id": 6, "name": "Bram"}, {"id": 7, "name": "Ada"}]) == (
        b"- {id: 6, name: Bram}\n- {id: 7, name: Ada}\n"
    )


def test_comments_are_above_their_fields() -> None:
    """A file begins with its heading; fields can have comments at any depth."""
    remarks = {("title",): "The title.\nAs it is shown.", ("chapters", 0, "number"): "A number"}
    value = {"title": "A", "chapters": [{"number": "1", "pages": [], "final": False}]}

    assert writer.file(yaml_value(value), "One series\n\nand more", remarks).decode() == (
        "# One series\n#\n# and more\n\n"
        "# The title.\n# As it is shown.\ntitle: A\n\n"
        "chapters:\n  - # A number\n    number: 1\n    pages: []\n    final: false\n"
    )
    assert writer.file([], "No entries") == b"# No entries\n"
    assert writer.file({}) == b""


def test_values_and_fields_are_written_alone() -> None:
    """The editor indents them."""
    assert writer.lines(yaml_value([{"number": "1", "pages": ["1.jpg"], "title": "A"}])) == [
        "- number: 1",
        "  pages: [1.jpg]",
        "  title: A",
    ]
    assert writer.field("modified", yaml_value({"modified": 0})["modified"]) == ["modified: 1970-01-01T00:00:00Z"]
    assert writer.field("a b", yaml_value({"x": {}, "y": None})) == ['"a b":', "  x: {}"]


def test_long_texts_and_lists_are_wrapped() -> None:
    """No line is wider than the limit."""
    words = "Tilda folds the moon out of newspaper " * 9
    names = [f"page {number} of many.jpg" for number in range(9)]

    text = writer.file({"description": words.strip(), "pages": names, "lists": [["a", "b"]]}).decode()

    assert max(map(len, text.splitlines())) <= writer.WIDTH
    assert text.startswith("description: >-\n  Tilda folds")
    assert "pages:\n  - page 0 of many.jpg\n  - page 1" in text
    assert text.endswith("lists:\n  - - a\n    - b\n")


def test_quotes_are_written_only_where_needed() -> None:
    """Around text that would be read as another type; invisible characters are escaped."""
    for value, written in [
        ("yes", "yes"),
        ("true", '"true"'),
        ("", '""'),
        ("a: b", '"a: b"'),
        ('say "x" \\ y', 'say "x" \\ y'),
        ('"x" \\', '"\\"x\\" \\\\"'),
        ("a\tb", '"a\\U00000009b"'),
        ("\ufeffa", '"\\U0000feffa"'),
        ("a\u200eb\nc", '"a\\U0000200eb\\U0000000ac"'),
        ("a\u3000b", "a\u3000b"),
        ("x" * 200, ">-\n  " + "x" * 200),
        ("a\u200eb " + "c" * 200, '"a\\U0000200eb ' + "c" * 200 + '"'),
        ("a  b " * 30, '"' + "a  b " * 30 + '"'),
        (Decimal("1e3"), "1000"),
        (False, "false"),
    ]:
        assert "\n".join(writer.field("x", value)) == f"x: {written}"


def test_null_is_not_text() -> None:
    """A list can contain null."""
    assert writer.file(["null", None]) == b'- "null"\n- null\n'


def test_pages_that_are_no_run_are_a_list() -> None:
    """The short form is used only if it has exactly these names."""
    for pages in [
        ["1.jpg", "2.jpg"],
        ["1.jpg", "3.jpg", "2.jpg"],
        ["1.jpg", "x.jpg", "3.jpg"],
        ["a b1.jpg", "a b2.jpg", "a b3.jpg"],
        "later",
    ]:
        assert yaml_values.pages(pages) == pages


def test_other_values_of_a_field_called_number_are_unchanged() -> None:
    """A field with the same name elsewhere can have any value."""
    assert yaml_value({"number": "one", "published": "soon"}) == {"number": "one", "published": "soon"}
    assert yaml_value({"number": "01"}) == {"number": "01"}


def test_unpaired_surrogate_is_refused() -> None:
    """YAML cannot represent it."""
    with pytest.raises(FlatpanelError, match="contains text that YAML cannot represent"):
        writer.file({"title": "\ud800"})
    with pytest.raises(FlatpanelError, match="contains text that YAML cannot represent"):
        writer.file({"title": Decimal("NaN")})


def test_every_test_catalog_can_be_written_again() -> None:
    """The value of the written file is that of the file."""
    for path in sorted(SITES.rglob("*.yaml")) + sorted(ROOT.glob("catalog_src/**/*.yaml")):
        value = yaml_value(reader.load(path.read_bytes()))
        assert reader.load(writer.file(value)) == (value or None), path


TEXTS = st.text(st.characters(codec="utf-8"), max_size=150) | st.text("ab \n\t#:-|>'\"\\{}[],&*!%@`", max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=4) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=4) | st.lists(VALUES, max_size=4))
def test_any_value_is_read_as_written(value: Any) -> None:
    """With indicators of YAML, spaces, all line breaks and all letters."""
    assert (reader.load(writer.file(yaml_value(value))) or None) == (yaml_value(value) or None)
