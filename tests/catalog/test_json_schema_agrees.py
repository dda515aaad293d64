"""The JSON Schemas accept and refuse the same values as the records."""

import json
import re
import shutil
import subprocess
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from generator.catalog import records
from tests.support.runs import examples, sample
from tests.support.schema_editor import LEAST, RECORDS, SCHEMAS, objects, takes, values, weakened
from tests.support.tables import each

# Messages of the records, and the reason why no schema can refuse the value.
UNSAID = {
    r"the day \S+ does not exist": "which years have a 29th of February is arithmetic",
    r"should be in the years 1970 to 9999": "a zone moves the first and the last hours over the bounds",
    r"should be a list of files or a run": "that two names differ in one number only compares two parts of a text",
    r"should have numbers of the same length": "so does this",
    r"should count upwards": "and this",
    r"should have at most 10000 pages": "a run's length is a difference",
    r"should all be in one folder": "no entry of a list can be compared with another",
    r"should be digits with at most one decimal point": "1e3 and 1000 are one number in JSON",
    r"has too many digits": "a number's digits are counted by multipleOf, which goes wrong with fractions",
    r"should be a name or an id": "an id 1.0 and an id 1 are one number in JSON",
    r"valid integer": "1.0 and 1 are one number in JSON",
}
# Keywords that follow from others, and have a better message.
SAID_TWICE = {(records.Category, field): {"minLength"} for field in ("id", "name")}
FIELDS = [(kind, field) for kind in LEAST for field in kind.model_fields]
# Each field takes hundreds of values; an odd step meets fields of each type.
SOME_FIELDS = sample(FIELDS, 13)
NODE = shutil.which("node")


def refusals(kind: Any, value: object) -> list[str]:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        return [str(one["msg"]) for one in error.errors()]
    return []


def reason(message: str) -> str | None:
    return next((one for one in UNSAID if re.search(one, message)), None)


@cache
def judged(kind: type[records.Record], field: str) -> list[tuple[Any, list[str], bool]]:
    """(record, errors of the model, whether the schema accepts it) for every value of a field."""
    written = [{**LEAST[kind], field: value} for value in values(field)]
    taken = takes(RECORDS[kind.__name__], *written)
    return [(record, refusals(kind, record), is_accepted) for record, is_accepted in zip(written, taken, strict=True)]


def test_schema_accepts_the_same_values_as_the_model() -> None:
    """Except for values that no schema can decide."""
    every = [(kind.__name__, *one) for kind, field in SOME_FIELDS for one in judged(kind, field)]

    assert [(kind, record) for kind, record, wrong, taken in every if not taken and not wrong] == []
    assert [
        (kind, record, wrong) for kind, record, wrong, taken in every if taken and not all(map(reason, wrong))
    ] == []


def test_every_keyword_of_a_schema_is_needed() -> None:
    """Without any one keyword, the schema accepts a value that the model refuses."""
    for kind, field in SOME_FIELDS:
        refused = [record for record, wrong, taken in judged(kind, field) if wrong and not taken]
        idle = {name for name, weaker in weakened(RECORDS[kind.__name__], field) if not any(takes(weaker, *refused))}
        assert idle == SAID_TWICE.get((kind, field), set()), (kind, field)


def test_every_exception_is_needed() -> None:
    """Each exception applies to a value of one of these fields."""
    some = [one for field in ("id", "number", "published", "pages", "groups") for one in judged(records.Chapter, field)]

    assert {reason(message) for _, wrong, taken in some if taken for message in wrong} == UNSAID.keys()


PATTERNS = {
    (kind, field): found
    for kind, field in FIELDS
    if (found := [one["pattern"] for one in objects(RECORDS[kind.__name__]["properties"][field]) if "pattern" in one])
}


@settings(max_examples=examples(200), derandomize=True)
@given(st.data())
def test_schema_accepts_the_same_texts_as_the_model(data: st.DataObject) -> None:
    """Also random texts that match a pattern, or nearly match it."""
    kind, field = data.draw(st.sampled_from(sorted(PATTERNS, key=str)))
    text = data.draw(st.from_regex(data.draw(st.sampled_from(PATTERNS[kind, field]))) | st.text())
    text = text[: data.draw(st.integers(0, len(text)))] + data.draw(st.sampled_from(["", "\n", " ", "/", "{", "0"]))
    for value in (text, [text]):
        record = {**LEAST[kind], field: value}
        wrong, (taken,) = refusals(kind, record), takes(RECORDS[kind.__name__], record)

        assert taken or wrong
        assert not taken or all(map(reason, wrong)), wrong


def test_schema_has_the_same_fields_as_the_model() -> None:
    """Required fields are required, and unknown fields are refused."""
    for kind in LEAST:
        whole = RECORDS[kind.__name__]

        lacking = [{name: one for name, one in LEAST[kind].items() if name != field} for field in LEAST[kind]]
        wrong = [{**LEAST[kind], "surplus": 1}, [LEAST[kind]], *lacking]

        assert [*takes(whole, LEAST[kind], *wrong)] == [True, *([False] * len(wrong))]
        assert all(refusals(kind, one) for one in wrong)


@each(
    ("name", "model", "valid", "wrong"),
    [
        ("views", records.Views, [{"31": 1204}], [{"31": -1}, {"031": 1}, {"31": "1"}, []]),
        (
            "sizes",
            records.Sizes,
            [{"31": "784x1145*23 - 1568x1145"}, {"31": "-*2"}],
            [*({"31": text} for text in ("", "0x5", "5x5*0", "5x5  5x5", "5x5 ", "1000000x5", 5)), {"031": "5x5"}, []],
        ),
    ],
)
def test_files_by_chapter_id_are_checked_alike(name: str, model: Any, valid: list[Any], wrong: list[Any]) -> None:
    """views.yaml and sizes.yaml contain values by id, or nothing."""
    accepted = [True] * (2 + len(valid)) + [False] * len(wrong)

    assert [*takes(SCHEMAS[f"{name}.json"], None, {}, *valid, *wrong)] == accepted
    assert [not refusals(model, value) for value in ({}, *valid, *wrong)] == accepted[1:]


def test_list_can_be_empty() -> None:
    """A file of comments is an empty list; fields are not a list."""
    for name in ["people", "categories", "groups", "members", "accounts", "keys"]:
        assert [*takes(SCHEMAS[f"{name}.json"], [], None, {}, "")] == [True, True, False, False]


@pytest.mark.skipif(not NODE, reason="node is not installed")
def test_patterns_match_the_same_texts_in_javascript() -> None:
    """Editors use ECMAScript regular expressions."""
    patterns = sorted({one["pattern"] for one in objects(SCHEMAS) if isinstance(one.get("pattern"), str)})
    texts = [one for one in values("") if isinstance(one, str)]
    script = (
        "const [patterns, texts] = JSON.parse(require('fs').readFileSync(0));"
        "console.log(JSON.stringify(patterns.map(one => texts.map(text => new RegExp(one, 'u').test(text)))))"
    )
    done = subprocess.run(
        [str(NODE), "-e", script], input=json.dumps([patterns, texts]), capture_output=True, text=True
    )

    assert json.loads(done.stdout) == [[*takes({"pattern": one}, *texts)] for one in patterns]
