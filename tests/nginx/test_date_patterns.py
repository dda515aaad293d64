"""The three forms of HTTP dates in the patterns of nginx maps: which texts are dates, and which date is later."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from generator.nginx import config
from tests.conftest import copy_of
from tests.support import nginx_client, runs
from tests.support.tables import each

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def python(pattern: str) -> re.Pattern[str]:
    """A PCRE pattern in Python's syntax: only named groups and references to them differ."""
    return re.compile(re.sub(r"\\g\{(\d)\}", r"\\\1", pattern).replace("(?<x_", "(?P<x_"), re.ASCII)


Form = Callable[[datetime], str]
LINES = [(python(pattern), value) for pattern, value in config.date_lines("x")]
NOT_AFTER = python(config.NOT_AFTER)


def digits(text: str) -> str:
    """The result of the map: fourteen digits, or nothing."""
    for pattern, value in LINES:
        if match := pattern.search(text):
            return filled(value, match.groupdict())
    return ""


def filled(value: str, parts: dict[str, str]) -> str:
    """The value of a map with the captures, the month and the century filled in."""
    if month := parts.get("x_b"):
        parts["x_month"] = f"{MONTHS.index(month) + 1:02}"
    if year := parts.get("x_yy"):
        parts["x_century"] = "20" if year < "70" else "19"
    return re.sub(r"\$\{(\w+)\}", lambda name: parts[name[1]], value)


def imf(at: datetime) -> str:
    return f"{DAYS[at.weekday()][:3]}, {at.day:02} {MONTHS[at.month - 1]} {at.year:04} {at:%H:%M:%S} GMT"


def rfc850(at: datetime) -> str:
    return f"{DAYS[at.weekday()]}, {at.day:02}-{MONTHS[at.month - 1]}-{at.year % 100:02} {at:%H:%M:%S} GMT"


def asctime(at: datetime) -> str:
    return f"{DAYS[at.weekday()][:3]} {MONTHS[at.month - 1]} {at.day:2} {at:%H:%M:%S} {at.year:04}"


FORMS = pytest.mark.parametrize("form", [imf, rfc850, asctime])


def moments(first: int, last: int) -> list[datetime]:
    """One moment of every day from the year `first` to the year `last`, with another time of day each."""
    start, days = datetime(first, 1, 1, tzinfo=UTC), (datetime(last, 12, 31) - datetime(first, 1, 1)).days + 1
    return [start + timedelta(days=day, seconds=day * 7919 % 86400) for day in range(days)]


@FORMS
def test_every_day_is_parsed_in_every_form(form: Form) -> None:
    """Every day from 1970 to 2069 gives its digits; the everyday run takes the first and the last days of months."""
    days = [at for at in moments(1970, 2069) if runs.everything or at.day in (1, 28, 29, 30, 31)]
    wrong = [at for at in days if digits(form(at)) != f"{at:%Y%m%d%H%M%S}"]

    assert wrong == []


@each("form", [imf, asctime])
@each("year", [1, 999, 1899, 1900, 2100, 2399, 2400, 9999])
def test_four_digit_years_follow_the_leap_year_rules(form: Form, year: int) -> None:
    """1900 and 2100 have no leap day, 2400 has one."""
    wrong = [at for at in moments(year, year) if digits(form(at)) != f"{at.year:04}{at:%m%d%H%M%S}"]

    assert wrong == []


@each("year", [1900, 1999, 2000, 2001, 2004, 2023, 2024, 2100, 2400])
def test_impossible_day_is_not_a_date(year: int) -> None:
    """Neither 00, nor 30 Feb, nor 31 Apr, nor 29 Feb in a common year."""
    missing = [
        (day, month) for day, month in product(range(100), range(1, 13)) if not 1 <= day <= monthrange(year, month)[1]
    ]
    texts = [
        text
        for day, month in missing
        for text in (
            f"Mon, {day:02} {MONTHS[month - 1]} {year} 00:00:00 GMT",
            f"Mon {MONTHS[month - 1]} {day:2} 00:00:00 {year}",
        )
    ]

    assert [text for text in texts if digits(text)] == []


def test_impossible_day_with_a_two_digit_year_is_not_a_date() -> None:
    """The same in the form of RFC 850, in each of its hundred years."""
    texts = [
        f"Monday, {day:02}-{MONTHS[month - 1]}-{year % 100:02} 00:00:00 GMT"
        for year, month, day in product(range(1970, 2070), range(1, 13), range(100))
        if not 1 <= day <= monthrange(year, month)[1]
    ]

    assert [text for text in texts if digits(text)] == []


@each("place", [0, 1, 2])
def test_time_of_day_has_upper_limits(place: int) -> None:
    """Hours end at 23, minutes at 59, seconds at 60 for leap seconds."""
    limit = {0: 24, 1: 60, 2: 61}[place]
    for number in range(100):
        clock = ["12", "34", "56"]
        clock[place] = f"{number:02}"
        expected = f"20260210{''.join(clock)}" if number < limit else ""

        assert digits(f"Tue, 10 Feb 2026 {':'.join(clock)} GMT") == expected


NEARLY = [
    "",
    "1790000000",
    "Tue, 10 Feb 2026 13:45:27",
    "Tue, 10 Feb 2026 13:45:27 UTC",
    "Tue, 10 Feb 2026 13:45:27 GMT ",
    " Tue, 10 Feb 2026 13:45:27 GMT",
    "Tue, 10 Feb 2026 13:45:27 GMT, Tue, 10 Feb 2026 13:45:27 GMT",
    "Tue, 10 Feb 2026 13:45:27 GMT; length=201",
    "tue, 10 feb 2026 13:45:27 gmt",
    "Tuesday, 10 Feb 2026 13:45:27 GMT",
    "Tue, 10-Feb-26 13:45:27 GMT",
    "Tuesday, 10-Feb-2026 13:45:27 GMT",
    "Tue, 10 Feb 26 13:45:27 GMT",
    "Tue, 3 Feb 2026 13:45:27 GMT",
    "Tue, 10 February 2026 13:45:27 GMT",
    "Tue 10 Feb 2026 13:45:27 GMT",
    "Tue, 10 Feb 2026 13.45.27 GMT",
    "Tue, 10 Feb 2026 3:45:27 GMT",
    "Tue, 10 Feb 2026 25:61:61 GMT",
    "Tue Feb 03 13:45:27 2026",
    "Tue Feb 3 13:45:27 2026",
    "Tue Feb 10 13:45:27 2026 GMT",
    "Tue Feb 10 13:45:27 26",
    "2026-02-10T13:45:27Z",
    "٠٠٠٠",
]


@each("text", NEARLY)
def test_almost_a_date_is_not_a_date(text: str) -> None:
    """Any other text than the three forms gives nothing, and its condition is ignored."""
    assert digits(text) == ""


def test_day_of_the_week_is_not_checked_against_the_date() -> None:
    """Any of the seven names is accepted."""
    assert {digits(f"{day[:3]}, 10 Feb 2026 13:45:27 GMT") for day in DAYS} == {"20260210134527"}


def test_captures_of_two_dates_do_not_collide() -> None:
    """Each date has its own prefix of names."""
    assert all("fp_a_" in value and "fp_b_" not in value for _, value in config.date_lines("fp_a"))


@each("place", range(14))
@each("ends", ["00000000000000", "09090909090909", "90909090909090"])
def test_digits_compare_like_numbers(place: int, ends: str) -> None:
    """The first different digit decides, with any digits after it. Equal texts are not after another."""
    start = "20260210134527"[:place]
    for first, other in product("0123456789", repeat=2):
        texts = [f"{start}{first}{ends}"[:14], f"{start}{other}{ends[::-1]}"[:14]]

        assert bool(NOT_AFTER.search(" ".join(texts))) == (texts[0] <= texts[1]), texts


@each("text", ["", " ", "20260210134527 ", " 20260210134527", "20260210134527"])
def test_missing_date_is_not_compared(text: str) -> None:
    """An invalid date has no digits and is neither before nor after another."""
    assert not NOT_AFTER.search(text)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[nginx_client.Web]:
    """An nginx that returns the digits of the dates in a request."""
    folder = tmp_path_factory.mktemp("dates")
    copy_of("minimal", folder).build()
    with nginx_client.listening() as listener:
        (folder / "own.conf").write_text(
            f"pid dist/run/nginx.pid; error_log dist/run/error.log; events {{ }}\n"
            f"http {{ {nginx_client.TEMPORARY_PATHS} access_log off; include dist/current/http.conf;\n"
            f"server {{ listen {listener.getsockname()[1]}; include dist/current/server.conf;\n"
            f'location / {{ if_modified_since off; return 200 "$fp_ims_digits"; }}\n'
            f'location /unmodified {{ return 404 "$fp_ius_digits"; }} }} }}'
        )
        with nginx_client.running(folder, listener, "own.conf") as server:
            yield server


@FORMS
def test_nginx_parses_the_same_dates_as_python(reader: nginx_client.Web, form: Form) -> None:
    """The patterns give the same digits in both request headers, for all months and years."""
    days = [form(at) for at in moments(1970, 2069)[::293]]
    months = [form(datetime(2026, month, 10, 13, 45, 27, tzinfo=UTC)) for month in range(1, 13)]
    texts = [*days, *months]
    results = {
        text: (
            reader.ask("/", If_Modified_Since=text).body.decode(),
            reader.ask("/unmodified", If_Unmodified_Since=text).body.decode(),
        )
        for text in texts
    }

    assert results == {text: (digits(text), digits(text)) for text in texts}
    assert "" not in map(digits, texts)


@each("text", [text for text in NEARLY if text.isascii() and text == text.strip()])
def test_nginx_rejects_the_same_texts_as_python(reader: nginx_client.Web, text: str) -> None:
    """A text that is not a date in Python is none in nginx."""
    assert reader.ask("/", If_Modified_Since=text).body == b""
