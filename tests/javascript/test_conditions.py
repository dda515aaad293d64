"""Conditions, dates and codings in the core: the same texts as nginx maps get."""

import re

from generator import encoding
from generator.nginx import config
from tests.support.core_server import needs_node
from tests.support.tables import each

pytestmark = needs_node

TAG = "0123456789abcdef0123456789abcdef"
NOW = 1_700_000_000
BEFORE, AT, AFTER = (encoding.http_date(NOW + seconds) for seconds in (-1, 0, 1))


@each(
    ("value", "strong", "weak"),
    [
        (f'"{TAG}"', True, True),
        (f'W/"{TAG}"', False, True),
        (f' "{TAG}" ', True, True),
        (f'"x", W/"y,"\t,\t"{TAG}" , "z"', True, True),
        (f'"x" , W/"{TAG}"', False, True),
        (f'"x,"{TAG}"', False, False),
        (f'"x, "{TAG}"", "{TAG}"', True, True),
        (f"{TAG}", False, False),
        (f'w/"{TAG}"', False, False),
        (f'"{TAG.upper()}"', False, False),
        (f', "{TAG}"', True, True),
        (f'x y "z" x, "{TAG}"', True, True),
        ("*", True, True),
        (' "*"', False, False),
        ("*, *", False, False),
        (",", False, False),
        (f'"{TAG}', False, False),
    ],
)
def test_list_of_tags_is_compared(core, value: str, strong: bool, weak: bool) -> None:
    """If-Match compares strongly, If-None-Match weakly."""
    match = core("conditions", "verdict", {"headers": {"If-Match": value}}, TAG, NOW)
    none_match = core("conditions", "verdict", {"headers": {"If-None-Match": value}}, TAG, NOW)

    assert (match, none_match) == ("passed" if strong else "failed", "fresh" if weak else "")


@each(
    ("headers", "verdict"),
    [
        ({}, ""),
        ({"If-Modified-Since": AT}, "fresh"),
        ({"If-Modified-Since": AFTER}, "fresh"),
        ({"If-Modified-Since": BEFORE}, ""),
        ({"If-Modified-Since": "yesterday"}, ""),
        ({"If-None-Match": '"x"', "If-Modified-Since": AT}, ""),
        ({"If-Unmodified-Since": AT}, "passed"),
        ({"If-Unmodified-Since": AFTER}, "passed"),
        ({"If-Unmodified-Since": BEFORE}, "failed"),
        ({"If-Unmodified-Since": "yesterday"}, "passed"),
        ({"If-Match": "*", "If-Unmodified-Since": BEFORE}, "passed"),
        ({"If-Match": '"x"', "If-None-Match": "*"}, "failed"),
        ({"If-Match": "*", "If-None-Match": "*"}, "fresh"),
        ({"If-Unmodified-Since": AT, "If-Modified-Since": AT}, "fresh"),
    ],
)
def test_conditions_are_judged_in_order(core, headers: dict[str, str], verdict: str) -> None:
    """RFC 9110, 13.2.2."""
    assert core("conditions", "verdict", {"headers": headers}, TAG, NOW) == verdict


def test_body_without_date_ignores_dates(core) -> None:
    for name, verdict in (("If-Modified-Since", ""), ("If-Unmodified-Since", "passed")):
        assert core("conditions", "verdict", {"headers": {name: AFTER}}, TAG, -1) == verdict
        assert core("conditions", "verdict", {"headers": {name: BEFORE}}, TAG, -1) == verdict


MONTHS = dict(zip(encoding.MONTHS, (f"{month:02}" for month in range(1, 13)), strict=True))
LINES = [(re.compile(pattern.replace("(?<fp_", "(?P<fp_")), value) for pattern, value in config.date_lines("fp_x")]


def nginx_digits(date: str) -> str:
    """The digits that the maps of the configuration give."""
    for pattern, value in LINES:
        if match := pattern.search(date):
            parts = match.groupdict()
            month, two = MONTHS[parts["fp_x_b"]], parts.get("fp_x_yy") or "99"
            text = value.replace("${fp_x_month}", month).replace("${fp_x_century}", "20" if two < "70" else "19")
            for name, part in parts.items():
                text = text.replace(f"${{{name}}}", part)
            return text
    return ""


DATES = [
    *(encoding.http_date(seconds) for seconds in (0, NOW, 951_782_400, 4_107_542_400)),
    *(f"Sun, {day:02} {month} {year} 08:49:37 GMT" for day in (0, 28, 29, 30, 31, 32) for month in encoding.MONTHS
      for year in (1900, 1999, 2000, 2024)),
    *(f"Sunday, {day:02}-{month}-{year} 08:49:37 GMT" for day in (1, 29, 30, 31) for month in encoding.MONTHS
      for year in ("00", "69", "70", "72", "99")),
    *(f"Sun {month} {day:>2} 08:49:37 {year}" for day in (0, 1, 9, 28, 29, 30, 31, 32) for month in encoding.MONTHS
      for year in (1900, 2000, 2023, 2024)),
    *(f"Sun, 06 Nov 1994 {clock} GMT" for clock in ("23:59:60", "24:00:00", "8:49:37", "08:60:00", "08:49:61", "")),
    *("Sun, 6 Nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Mon,", "now"),
    *("Sunday, 06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun Nov 06 08:49:37 1994", "0"),
]  # fmt: skip


def test_dates_are_read_as_nginx_reads_them(core) -> None:
    """The patterns of the configuration, run by Python, are the reference."""
    assert {date: core("http_dates", "digits", date) for date in DATES} == {date: nginx_digits(date) for date in DATES}
    assert sum(bool(nginx_digits(date)) for date in DATES) > len(DATES) / 2


@each("seconds", [0, 1, NOW, 951_782_399, 4_102_444_800, encoding.LAST_INSTANT])
def test_instant_is_written(core, seconds: int) -> None:
    assert core("http_dates", "text", seconds) == encoding.http_date(seconds)
    assert core("http_dates", "ofInstant", seconds) == nginx_digits(encoding.http_date(seconds))


@each(
    ("accepted", "is_accepted"),
    [
        ("", False),
        ("gzip", True),
        ("GZip, deflate", True),
        ("deflate, gzip;q=0.1", True),
        ("x-gzip", True),
        ("gzip;q=0", False),
        ("gzip ; q = 0.000 , br", False),
        ("gzip;q=0.001", True),
        ("gzip;q=0, *", False),
        ("*", True),
        ("br, *;q=0.5", True),
        ("*;q=0", False),
        ("*;q=0, gzip", True),
        ("gzippy", False),
        ("agzip", False),
    ],
)
def test_coding_is_chosen(core, accepted: str, is_accepted: bool) -> None:
    assert core("codings", "acceptsGzip", accepted) is is_accepted
