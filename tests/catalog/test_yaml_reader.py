"""The core schema of YAML 1.2, and the limits and errors of catalog files."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generator.catalog.yaml import reader
from generator.catalog.yaml.positions import Positions, read_positions
from generator.catalog.yaml.reader import MAX_ALIASED_NODES, MAX_ALIASES, MAX_DEPTH, Malformed, load
from tests.support.runs import examples

SPELLINGS: list[tuple[Any, list[str]]] = [
    (None, ["", "~", "null", "Null", "NULL"]),
    (True, ["true", "True", "TRUE"]),
    (False, ["false", "False", "FALSE"]),
    (0, ["0", "-0", "+0", "00", "0x0", "0o0"]),
    (1, ["1", "+1", "01"]),
    (-10, ["-10", "-010"]),
    (15, ["15", "015", "0o17", "0xf", "0xF"]),
    (int("9" * 400), ["9" * 400]),
    (Decimal("0.5"), [".5", "+.5", "0.5", "00.5", "5e-1"]),
    (Decimal("-0.5"), ["-.5", "-0.5"]),
    (Decimal("5"), ["5.", "5e0"]),
    (Decimal("1E+3"), ["1e3", "1E3", "1e+3", "+1e3"]),
    (Decimal("1.10"), ["1.10"]),
    (Decimal("0.1234567890123456789"), ["0.1234567890123456789"]),
    (Decimal("Infinity"), [".inf", ".Inf", ".INF", "+.inf"]),
    (Decimal("-Infinity"), ["-.inf"]),
    (Decimal("NaN"), [".nan", ".NaN", ".NAN"]),
]
WORDS = ["nULL", "none", "tRUE", "no", "No", "NO", "yes", "on", "off", "y", "n", "Ada Penn", "inf", "nan", "e3"]
WORDS += ["1_000", "12:30", "0o18", "0O17", "0X1F", "-0x1f", "+0o7", "0b11", "1e", ".", ".e3", "1.2.3", "-", "--"]
WORDS += [
    "-.nan",
    "+.NaN",
    "2026-05-01",
    "2026-05-01T12:00:00Z",
    "001.jpg .. 018.jpg",
    "1e99999",
    "٣",
    "１２",
    "9" * 401,
]
SCALARS = [(text, value) for value, texts in SPELLINGS for text in texts] + [(word, word) for word in WORDS]


def test_plain_scalar_has_the_value_of_the_core_schema() -> None:
    """It is None, a boolean, a number with every digit, or text."""
    parsed = [(text, reader.scalar(text)) for text, _ in SCALARS]

    assert [(text, type(value), str(value)) for text, value in parsed] == [
        (text, type(value), str(value)) for text, value in SCALARS
    ]


def test_quoted_scalar_is_text() -> None:
    """In any context."""
    for text in ("", "~", "null", "true", "010", "0x1f", ".inf", "2026-05-01"):
        values = [load(form.format(text).encode()) for form in ('"{}"', "'{}'", "k: '{}'", '- "{}"', '&a "{}"')]
        assert values == [text, text, {"k": text}, [text], text]


def test_document_has_one_value() -> None:
    """Documents, markers, anchors and keys follow YAML 1.2; every key is text."""
    cases: list[Any] = [
        (b"\xef\xbb\xbfa: 1\n", {"a": 1}),
        (b"a: 1\r\nb: [x]\r\n", {"a": 1, "b": ["x"]}),
        (b"%YAML 1.2\n---\nno\n", "no"),
        (b"1: a\ntrue: b\n~: c\n", {"1": "a", "true": "b", "~": "c"}),
        (b"? a\n? b\n", {"a": None, "b": None}),
        (b"a: &x [1, &y 2]\nb: *x\nc: *y\n", {"a": [1, 2], "b": [1, 2], "c": 2}),
        (b"- &x a\n- &x b\n- *x\n", ["a", "b", "b"]),
        (b"a: &x b\nc: [*x]\n", {"a": "b", "c": ["b"]}),
        (b"<<: {a: 1}\n", {"<<": {"a": 1}}),
    ]
    assert [load(text) for text, _ in cases] == [value for _, value in cases]


def nested(depth: int, inside: str = "") -> bytes:
    return ("[" * depth + inside + "]" * depth).encode()


def nested_fields(depth: int, inside: str = "") -> bytes:
    return ("{a: " * depth + inside + "}" * depth).encode()


def repeated(aliases: int) -> bytes:
    return b"- &x a\n" + b"- *x\n" * aliases


def shared(nodes: int, form: str) -> bytes:
    """An anchor at something that is `nodes` values together with itself, and an alias to it."""
    inside = {
        "list": f"[{'a, ' * (nodes - 1)}]",
        "fields": f"{{{', '.join(f'a{number}: b' for number in range(nodes - 1))}}}",
        "lists": f"[&y [{'a, ' * 99}], *y, [{'[], ' * (nodes - 202)}]]",
    }
    return f"- &x {inside[form]}\n- *x\n".encode()


WITHIN = {
    "lists": nested(MAX_DEPTH),
    "a text in lists": nested(MAX_DEPTH, "a"),
    "an anchor in lists": nested(MAX_DEPTH, "&x a"),
    "fields": nested_fields(MAX_DEPTH),
    "a list in fields": nested_fields(MAX_DEPTH - 1, "[&x a, b]"),
    "fields in lists": nested(MAX_DEPTH - 1, "{a: &x b}"),
    "aliases": repeated(MAX_ALIASES),
    **{f"an alias of {form}": shared(MAX_ALIASED_NODES, form) for form in ("list", "fields", "lists")},
}
BEYOND = {
    "lists": nested(MAX_DEPTH + 1),
    "fields": nested_fields(MAX_DEPTH + 1),
    "a list in fields": nested_fields(MAX_DEPTH, "[a]"),
    "fields in lists": nested(MAX_DEPTH, "{a: b}"),
    "aliases": repeated(MAX_ALIASES + 1),
    **{f"an alias of {form}": shared(MAX_ALIASED_NODES + 1, form) for form in ("list", "fields", "lists")},
}


@pytest.mark.parametrize("text", WITHIN.values(), ids=WITHIN)
def test_text_at_a_limit_is_valid(text: bytes) -> None:
    """The limit itself is allowed."""
    load(text)

    assert read_positions(text).flaws == []


@pytest.mark.parametrize("text", BEYOND.values(), ids=BEYOND)
def test_text_beyond_a_limit_has_one_flaw(text: bytes) -> None:
    """It is reported once, however long the rest is."""
    with pytest.raises(Malformed):
        load(text)

    assert len(read_positions(text).flaws) == 1


@pytest.mark.parametrize(
    ("text", "flaws"),
    [
        (
            b"[" + nested(MAX_DEPTH) + b", " + nested(MAX_DEPTH, "{a: [b]}") + b"]",
            [
                "1:25: is nested deeper than 24 levels; remove the extra brackets or indentation",
                "1:75: is nested deeper than 24 levels; remove the extra brackets or indentation",
            ],
        ),
        (
            b"a: 1\nb: 2\na: 3\nb: 4\n",
            [
                "3:1: duplicate field a, first in line 1; remove one of them",
                "4:1: duplicate field b, first in line 2; remove one of them",
            ],
        ),
        (
            b"!a {b: !!int c}",
            [
                "1:1: YAML tag !a is not allowed; remove it",
                "1:8: YAML tag !!int is not allowed; remove it",
            ],
        ),
        (
            b"{[a, {b: c}]: {d: !e f}}",
            [
                "1:2: is not a valid field name; write a plain name",
                "1:19: YAML tag !e is not allowed; remove it",
            ],
        ),
        (b"- &x a\n- *x : b\n", ["2:3: is not a valid field name; write a plain name"]),
        (b"!a b: c", ["1:1: is not a valid field name; write a plain name"]),
        (b"a: %b", ["1:4: invalid YAML: unexpected character; put text in quotes, indent with spaces"]),
        (b"a: !<b", ["1:7: invalid YAML: while scanning a tag, did not find the expected '>'"]),
        (b"%YAML 3.0\n---\na", ["1:1: invalid YAML: found incompatible YAML document"]),
    ],
)
def test_every_flaw_has_its_position(text: bytes, flaws: list[str]) -> None:
    """`read_positions` returns all errors of a text that `load` refuses, with lines and columns from 1.

    Those of usual mistakes are in tests/data/wrong/yaml.md.
    """
    with pytest.raises(Malformed):
        load(text)

    assert [f"{line}:{column}: {message}" for line, column, message in read_positions(text).flaws] == flaws


FILE = """\
title: One
aliases: &names
  - Uno
  - {short: 1}
chapters:
- number: 1
  groups: *names
"""


def test_value_has_a_position() -> None:
    """A missing value has the position of the nearest value around it; inside an alias, that of the alias."""
    cases: list[Any] = [
        ((), (1, 1)),
        (("title",), (1, 8)),
        (("aliases",), (2, 10)),
        (("aliases", 0), (3, 5)),
        (("aliases", 1, "short"), (4, 13)),
        (("chapters", 0), (6, 3)),
        (("chapters", 0, "number"), (6, 11)),
        (("chapters", 0, "groups"), (7, 11)),
        (("chapters", 0, "groups", 1), (7, 11)),
        (("chapters", 0, "pages"), (6, 3)),
        (("cover",), (1, 1)),
    ]
    assert [read_positions(FILE.encode()).position(path) for path, _ in cases] == [position for _, position in cases]


def test_key_has_its_own_position() -> None:
    """A problem of a field name is at the name."""
    positions = read_positions(FILE.encode())

    assert positions.position(("aliases", 1, "short"), of_key=True) == (4, 6)
    assert positions.position(("aliases", 1), of_key=True) == (4, 5)


@pytest.mark.parametrize("text", [b"", b"# only a remark\n"])
def test_empty_file_has_one_position(text: bytes) -> None:
    """A missing field is at the first line."""
    positions = read_positions(text)

    assert (positions.position(("title",)), positions) == ((1, 1), Positions())


def test_columns_count_characters() -> None:
    """A character of several bytes is one column, as in editors."""
    assert read_positions("été: [ñ, 猫, x]".encode()).position(("été", 2)) == (1, 13)


PIECES = ["a", "b: ", "- ", "? ", ": ", "[", "]", "{", "}", ", ", "&x ", "*x", "*x ", "!t ", "!!str ", '"', "'"]
PIECES += ["\n", "\n  ", "\n    ", "|\n", ">-\n", "---\n", "...\n", "%YAML 1.2\n", "#", "\t", "\\", "\0", "é", "\x85"]
PIECES += ["1", ".5", "~", "\ufeff", "@", "<<: ", "&y [", "*y, "]


def load_or_flaws(text: bytes) -> bool:
    try:
        load(text)
    except Malformed:
        return False
    return True


@settings(max_examples=examples(600))
@given(st.lists(st.sampled_from(PIECES), max_size=24).map("".join))
def test_load_refuses_exactly_the_texts_with_flaws(text: str) -> None:
    """And neither function raises another exception."""
    positions = read_positions(text.encode())

    assert load_or_flaws(text.encode()) is (positions.flaws == [])


@given(st.binary(max_size=40))
def test_any_bytes_have_a_value_or_a_flaw(text: bytes) -> None:
    """No content of a file is an unexpected exception."""
    assert load_or_flaws(text) is (read_positions(text).flaws == [])


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")) | st.just(" "), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_json_has_the_same_value(value: Any) -> None:
    """JSON is YAML 1.2."""
    assert load(json.dumps(value, ensure_ascii=False).encode()) == value
