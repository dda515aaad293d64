"""What the models refuse, the schemas refuse; what the models take, the schemas take."""

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
from tests.support.schema_editor import LEAST, RECORDS, SCHEMAS, objects, takes, values, weakened

# By what the models say: why no schema can say it.
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
# Demands that follow from others, and are there for the sake of a better sentence.
SAID_TWICE = {(records.Category, field): {"minLength"} for field in ("id", "name")}
FIELDS = [(kind, field) for kind in LEAST for field in kind.model_fields]
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
    """Records with all that somebody might write, what the model has against each, and whether the schema takes it."""
    written = [{**LEAST[kind], field: value} for value in values(field)]
    taken = takes(RECORDS[kind.__name__], *written)
    return [(record, refusals(kind, record), one) for record, one in zip(written, taken, strict=True)]


@pytest.mark.parametrize(("kind", "field"), FIELDS, ids=lambda one: getattr(one, "__name__", one))
def test_a_schema_takes_what_the_model_takes(kind: type[records.Record], field: str) -> None:
    """Of all that somebody might write, both refuse the same, but for what no schema can say."""
    for record, wrong, taken in judged(kind, field):
        assert taken or wrong, record
        assert not taken or all(map(reason, wrong)), (record, wrong)


@pytest.mark.parametrize(("kind", "field"), FIELDS, ids=lambda one: getattr(one, "__name__", one))
def test_every_demand_of_a_schema_is_one_of_the_model(kind: type[records.Record], field: str) -> None:
    """Whichever demand is left out of the schema, a value slips through that the model refuses; so none is missed."""
    refused = [record for record, wrong, taken in judged(kind, field) if wrong and not taken]
    idle = {name for name, weaker in weakened(RECORDS[kind.__name__], field) if not any(takes(weaker, *refused))}

    assert idle == SAID_TWICE.get((kind, field), set())


def test_each_exception_is_one() -> None:
    """What no schema can say is met in a chapter, which has a field of every kind; the list holds nothing else."""
    everything = [one for field in records.Chapter.model_fields for one in judged(records.Chapter, field)]

    assert {reason(message) for _, wrong, taken in everything if taken for message in wrong} == UNSAID.keys()


PATTERNS = {
    (kind, field): found
    for kind, field in FIELDS
    if (found := [one["pattern"] for one in objects(RECORDS[kind.__name__]["properties"][field]) if "pattern" in one])
}


@settings(deadline=None, max_examples=200, derandomize=True)
@given(st.data())
def test_a_schema_takes_whatever_text_the_model_takes(data: st.DataObject) -> None:
    """Also texts that nobody thought of: those that a pattern is made for, and those that are nearly so."""
    kind, field = data.draw(st.sampled_from(sorted(PATTERNS, key=str)))
    text = data.draw(st.from_regex(data.draw(st.sampled_from(PATTERNS[kind, field]))) | st.text())
    text = text[: data.draw(st.integers(0, len(text)))] + data.draw(st.sampled_from(["", "\n", " ", "/", "{", "0"]))
    for value in (text, [text]):
        record = {**LEAST[kind], field: value}
        wrong, (taken,) = refusals(kind, record), takes(RECORDS[kind.__name__], record)

        assert taken or wrong
        assert not taken or all(map(reason, wrong)), wrong


@pytest.mark.parametrize("kind", LEAST, ids=lambda kind: kind.__name__)
def test_a_record_has_its_fields_and_no_others(kind: type[records.Record]) -> None:
    """What is needed is needed in the schema, and what is unknown is unknown there."""
    whole = RECORDS[kind.__name__]

    lacking = [{name: one for name, one in LEAST[kind].items() if name != field} for field in LEAST[kind]]
    wrong = [{**LEAST[kind], "surplus": 1}, [LEAST[kind]], *lacking]

    assert [*takes(whole, LEAST[kind], *wrong)] == [True, *([False] * len(wrong))]
    assert all(refusals(kind, one) for one in wrong)


@pytest.mark.parametrize(
    ("value", "taken"),
    [
        (None, True),
        ({}, True),
        ({"31": 1204}, True),
        ({"31": -1}, False),
        ({"031": 1}, False),
        ({"31": "1"}, False),
        ([], False),
    ],
)
def test_counted_views_are_judged_alike(value: Any, taken: bool) -> None:
    """views.yaml holds counts by ids, or nothing at all."""
    assert [*takes(SCHEMAS["views.json"], value)] == [taken]
    assert (not refusals(records.Views, {} if value is None else value)) == taken


@pytest.mark.parametrize("name", ["people", "categories", "groups", "members", "accounts", "keys"])
def test_a_list_may_be_empty(name: str) -> None:
    """A file of remarks only is a list without entries, and fields are no list."""
    assert [*takes(SCHEMAS[f"{name}.json"], [], None, {}, "")] == [True, True, False, False]


@pytest.mark.skipif(not NODE, reason="node is not installed")
def test_patterns_mean_the_same_in_javascript() -> None:
    """Editors search with ECMAScript's regular expressions, which find what Python's find."""
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
