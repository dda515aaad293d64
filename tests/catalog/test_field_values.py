"""The canonical form of single values, for every accepted spelling."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.catalog import field_values
from generator.catalog.yaml import reader
from tests.support.tables import each

NOON = int(datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp())


def test_instant_has_many_spellings() -> None:
    """Zones count, fractions are dropped, the default zone is UTC and the default time midnight."""
    cases: list[Any] = [
        ("2026-05-01T12:00:00Z", NOON),
        ("2026-05-01t12:00:00Z", NOON),
        ("2026-05-01 12:00:00 Z", NOON),
        ("2026-05-01T12:00", NOON),
        ("2026-05-01 14:00 +02:00", NOON),
        ("2026-05-01T06:30:00-05:30", NOON),
        ("2026-04-30T13:00:00-23:00", NOON),
        ("2026-05-01T12:00:00.999999999Z", NOON),
        ("2026-05-01T12:00:00,5", NOON),
        ("2026-05-01", NOON - 12 * 3600),
        ("2028-02-29", int(datetime(2028, 2, 29, tzinfo=UTC).timestamp())),
        ("1970-01-01", 0),
        ("1969-12-31T23:00:00-01:00", 0),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
    ]
    assert [field_values.instant(text) for text, _ in cases] == [seconds for _, seconds in cases]


@each(
    "value",
    [
        *("2026-5-1", "2026-05-01T12", "2026-05-01T24:00:00Z", "2026-05-01T23:59:60Z", "2026-05-01T12:00:00.Z"),
        *("2026-05-01T12:00:00+0200", "2026-05-01T12:00:00+02:60", "2026-05-01\n", "٢٠٢٦-٠٥-٠١", 20260501),
    ],
)
def test_invalid_instant_is_answered_with_an_example(value: object) -> None:
    """Nothing is guessed; the message shows the form."""
    with pytest.raises(ValueError, match=r"^should be a time like 2026-05-01T12:00:00Z$"):
        field_values.instant(value)


@given(st.datetimes(datetime(1971, 1, 1), datetime(9998, 12, 31)), st.integers(-1439, 1439))
def test_zone_is_subtracted_from_the_clock(moment: datetime, minutes: int) -> None:
    """For any zone and microsecond, the instant is the clock in UTC minus the zone, in whole seconds."""
    sign, (hours, rest) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
    cut = int(moment.replace(microsecond=0, tzinfo=UTC).timestamp())

    assert field_values.instant(f"{moment:%Y-%m-%dT%H:%M:%S.%f}{sign}{hours:02}:{rest:02}") == cut - 60 * minutes


@pytest.mark.parametrize(("seconds", "day"), [(0, "1970-01-01"), (86_399, "1970-01-01"), (NOON, "2026-05-01")])
def test_day_is_that_of_utc(seconds: int, day: str) -> None:
    """Titles have the same date on every machine."""
    assert field_values.day(seconds) == day


def test_number_has_one_canonical_form() -> None:
    """Texts and numbers are equal, and no significant digit is lost."""
    cases: list[Any] = [
        (0, "0"),
        ("010", "10"),
        (Decimal("10.5"), "10.5"),
        ("10.50", "10.5"),
        (Decimal("1.0"), "1"),
        ("0.5", "0.5"),
        (Decimal("0.0001"), "0.0001"),
        (Decimal("0E-9"), "0"),
        (Decimal("999999999.9999"), "999999999.9999"),
        (999_999_999, "999999999"),
    ]
    assert [field_values.number(value) for value, _ in cases] == [spelling for _, spelling in cases]


@pytest.mark.parametrize(
    "value",
    [
        *(-1, Decimal("1e3"), Decimal("NaN"), Decimal("Infinity"), Decimal("-0.0000001")),
        *("-1", "+1", "1e3", ".5", "5.", "1,5", "", " 1", "1 ", "1\n", "٣", "0x1f", "1.2.3", "ten"),
    ],
)
def test_number_is_digits_and_a_point(value: Any) -> None:
    """Signs, exponents, spaces and other digits are refused."""
    with pytest.raises(
        ValueError, match=r"^should be digits with at most one decimal point between them, like 10 or 10\.5$"
    ):
        field_values.number(value)


@pytest.mark.parametrize(("text", "spelling"), [("+1", "1"), ("-0", "0"), ("1.", "1"), (".5", "0.5"), ("1e0", "1")])
def test_unquoted_number_has_the_forms_of_yaml(text: str, spelling: str) -> None:
    """Only its value is known, so these forms cannot be refused as they are in a text."""
    assert field_values.number(reader.scalar(text)) == spelling
    with pytest.raises(ValueError, match=r"^should be digits"):
        field_values.number(text)


@each("value", [10**9, "1234567890", "1.00001", Decimal("1.00001"), Decimal("1E-7"), Decimal("1E-400"), 10**399])
def test_number_is_never_rounded(value: object) -> None:
    """Nine digits before the point and four after it are kept; more are refused."""
    with pytest.raises(ValueError, match=r"^has too many digits; use at most 9 before the decimal point and 4"):
        field_values.number(value)


@given(st.integers(0, 999_999_999), st.integers(0, 9999))
def test_any_number_keeps_its_value(whole: int, part: int) -> None:
    """As text, as Decimal and in canonical form, it is the same number."""
    text = f"{whole}.{part:04}"
    spelling = field_values.number(text)

    assert Decimal(spelling) == Decimal(text)
    assert field_values.number(Decimal(text)) == field_values.number(spelling) == spelling


@pytest.mark.parametrize(
    ("texts", "slugs"),
    [(["paper-moons", "A_1", "-", "constructor"], True), (["", "a b", "a/b", "é", "a\n", "..", "٣"], False)],
)
def test_slug_is_letters_digits_hyphens_and_underscores(texts: list[str], slugs: bool) -> None:
    """A path segment is ASCII."""
    assert [field_values.is_slug(text) for text in texts] == [slugs] * len(texts)


def test_valid_title_template_is_unchanged() -> None:
    """Only names in braces are checked here; the model checks the type."""
    for template in ["", "plain", "{volume}{number}{title}{date}{series}", "{{title}}", "{", "}{", "{title", 10, None]:
        assert field_values.chapter_title(template) == template


@pytest.mark.parametrize("template", ["{number}: {}", "{title!r}", "{{{x}}}", "{{}{x}"])
def test_unknown_field_of_a_title_template_is_refused(template: str) -> None:
    """Two braces are no field."""
    with pytest.raises(ValueError, match="unknown field"):
        field_values.chapter_title(template)


def test_two_braces_in_a_title_template_are_one() -> None:
    """As in the title formats of the original service."""
    for template, title in [
        ("{{x}} {title}", "{x} T"),
        ("{{{number}}}", "{1}"),
        ("{{title}}", "{title}"),
        ("{{", "{"),
        ("{title}}}", "T}"),
    ]:
        assert field_values.chapter_title(template) == template
        assert field_values.full_title(template, 1, {"title": "T", "number": "1"}) == title
