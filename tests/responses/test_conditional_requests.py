"""If-None-Match and If-Modified-Since, evaluated by nginx as RFC 9110, section 13 requires."""

from email.utils import parsedate_to_datetime
from itertools import product

from generator.encoding import http_date
from tests.conftest import Serve, Site, serving
from tests.support.golden import bodies, sidecar
from tests.support.nginx_client import Web
from tests.support.tables import each

SITE = "everything"
URL = "/api/series/long-road/2/10.5"
# 10 Feb 2026, 13:45:27: all parts differ.
MODIFIED = sidecar(SITE, URL)["last-modified"]
ETAG = sidecar(SITE, URL)["etag"]
OTHER = '"00000000000000000000000000000000"'
FUTURE = 3_000_000_000  # the year 2065
LEAP_DAY = "/api/series/__proto__/1/0.1"


@each(
    "value",
    {
        "lone": ETAG,
        "weak": f"W/{ETAG}",
        "last in a list": f"{OTHER}, {ETAG}",
        "first in a list": f"{ETAG}, {OTHER}",
        "weak in a list": f'"a", W/{ETAG}, "b"',
        "many blanks": f"  {OTHER}  ,   {ETAG}  ",
        "empty elements": f",, ,{ETAG},,",
        "after a comma inside an ETag": f'"a,b", {ETAG}',
        "between commas inside ETags": f'W/"a, b, ", W/{ETAG}, "c,"',
        "after ETags that look like prefixes": f'"/", "W/", {ETAG}',
        "after an ETag beyond ASCII": f'"\xfc\xff", {ETAG}',
        "star": "*",
        "star with blanks": "  * ",
    },
)
def test_matching_etag_is_304(web: Web, value: str) -> None:
    """The comparison is weak. A list may contain the ETag anywhere, and a star matches every resource."""
    assert web.ask(URL, If_None_Match=value).status == 304


@each(
    "value",
    {
        "other": OTHER,
        "other, weak": f"W/{OTHER}",
        "without quotes": ETAG.strip('"'),
        "never opened": ETAG[1:],
        "capitals": ETAG.upper(),
        "small w": f"w/{ETAG}",
        "a blank behind the prefix": f"W/ {ETAG}",
        "text after the ETag": f"{ETAG}x",
        "text before the ETag": f"x{ETAG}",
        "no comma": f"{OTHER} {ETAG}",
        "inside another ETag": f'"a, {ETAG[1:-1]}, b"',
        "between two other ETags": f'"a,{ETAG},b"',
        "a digit more": f'"{ETAG[1:-1]}0"',
        "star in quotes": '"*"',
        "star in a list": '*, "a"',
        "empty ETag": '""',
        "only a comma": ",",
        "a pattern": ".*",
        "a variable": "$fp_tag",
        "no UTF-8": "\xff\xfe",
    },
)
def test_other_etag_is_200(web: Web, value: str) -> None:
    """A malformed ETag matches nothing."""
    assert web.ask(URL, If_None_Match=value).status == 200


def test_default_etag_of_nginx_does_not_match(web: Web) -> None:
    """It consists of the file's time and size, which differ between copies of a site."""
    size = len(bodies(SITE)[URL])
    seconds = int(parsedate_to_datetime(MODIFIED).timestamp())
    etag = f'"{seconds:x}-{size:x}"'

    assert [web.ask(URL, If_None_Match=etag).status, web.ask(URL, If_Match=etag).status] == [200, 412]


def test_empty_if_none_match_is_no_condition(web: Web) -> None:
    assert web.ask(URL, If_None_Match="").status == 200


LONG_LISTS = {
    "ETags": ", ".join(f'"{number:032x}"' for number in range(220)),
    "quotes": '"' * 7900,
    "blanks and commas": ", " * 3950,
    "empty ETags": '"",' * 2600,
    "one ETag": f'"{"a" * 7900}"',
    "almost the ETag": f'"{ETAG[1:-2]}",' * 225,
}


@each("text", LONG_LISTS.values())
def test_etag_at_the_end_of_a_long_list_matches(web: Web, text: str) -> None:
    """The list has 8 kB."""
    assert web.ask(URL, If_None_Match=text).status == 200
    assert web.ask(URL, If_None_Match=f"{text}, {ETAG}").status == 304


def test_unclosed_quote_before_an_etag_matches_nothing(web: Web) -> None:
    """Text inside quotes is no ETag."""
    assert web.ask(URL, If_None_Match='"' * 7901 + f", {ETAG}").status == 200


@each("method", ["GET", "HEAD"])
@each(
    ("etag", "date", "status"),
    [
        (ETAG, "Mon, 01 Jan 1990 00:00:00 GMT", 304),
        (ETAG, "garbage", 304),
        ("*", "Mon, 01 Jan 1990 00:00:00 GMT", 304),
        (OTHER, MODIFIED, 200),
        (OTHER, "Fri, 31 Dec 9999 23:59:59 GMT", 200),
        ("garbage", MODIFIED, 200),
        ("", MODIFIED, 304),
    ],
)
def test_if_none_match_takes_precedence(web: Web, method: str, etag: str, date: str, status: int) -> None:
    """If-Modified-Since counts only if If-None-Match is absent."""
    assert web.ask(URL, method, If_None_Match=etag, If_Modified_Since=date).status == status


@each(
    ("date", "status"),
    [
        (MODIFIED, 304),
        # One part is earlier or later, the others are equal.
        ("Tue, 10 Feb 2026 13:45:26 GMT", 200),
        ("Tue, 10 Feb 2026 13:45:28 GMT", 304),
        ("Tue, 10 Feb 2026 13:44:27 GMT", 200),
        ("Tue, 10 Feb 2026 13:46:27 GMT", 304),
        ("Tue, 10 Feb 2026 12:45:27 GMT", 200),
        ("Tue, 10 Feb 2026 14:45:27 GMT", 304),
        ("Mon, 09 Feb 2026 13:45:27 GMT", 200),
        ("Wed, 11 Feb 2026 13:45:27 GMT", 304),
        ("Sat, 10 Jan 2026 13:45:27 GMT", 200),
        ("Tue, 10 Mar 2026 13:45:27 GMT", 304),
        ("Mon, 10 Feb 2025 13:45:27 GMT", 200),
        ("Wed, 10 Feb 2027 13:45:27 GMT", 304),
        # One part is earlier and another one later.
        ("Wed, 11 Feb 2026 00:00:00 GMT", 304),
        ("Mon, 09 Feb 2026 23:59:59 GMT", 200),
        ("Fri, 01 Jan 2027 00:00:00 GMT", 304),
        ("Wed, 31 Dec 2025 23:59:59 GMT", 200),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 200),
        # RFC 850: years below 70 are in the 21st century.
        ("Tuesday, 10-Feb-26 13:45:27 GMT", 304),
        ("Tuesday, 10-Feb-26 13:45:26 GMT", 200),
        ("Tuesday, 31-Dec-69 23:59:59 GMT", 304),
        ("Thursday, 01-Jan-70 00:00:00 GMT", 200),
        # asctime.
        ("Tue Feb 10 13:45:27 2026", 304),
        ("Tue Feb 10 13:45:26 2026", 200),
        ("Thu, 29 Feb 2029 00:00:00 GMT", 200),
        ("Tue, 29 Feb 2028 00:00:00 GMT", 304),
        # Other values are ignored.
        ("", 200),
        ("garbage", 200),
        ("1809129600", 200),
        (f"{MODIFIED}, {MODIFIED}", 200),
        ("*", 200),
        (ETAG, 200),
        ("9" * 7900, 200),
    ],
)
def test_equal_or_later_date_is_304(web: Web, date: str, status: int) -> None:
    """All three HTTP date formats are valid; tests/nginx/test_date_patterns.py has more of them. Others are ignored."""
    assert web.ask(URL, If_Modified_Since=date).status == status


@each(
    ("date", "status"),
    [
        ("Thu, 29 Feb 2024 23:59:59 GMT", 304),
        ("Thu, 29 Feb 2024 23:59:58 GMT", 200),
        ("Fri, 01 Mar 2024 00:00:00 GMT", 304),
    ],
)
def test_last_modified_on_a_leap_day(serve: Serve, date: str, status: int) -> None:
    """Last-Modified is matched by the same patterns as the date of the request."""
    assert serve("hostile")[1].ask(LEAP_DAY, If_Modified_Since=date).status == status


@each(
    ("date", "status"),
    [
        ("Fri Jan  2 00:00:00 2026", 304),
        ("Thu Jan  1 23:59:59 2026", 200),
        ("Fri Jan 02 00:00:00 2026", 200),
        ("Fri Jan 2 00:00:00 2026", 200),
    ],
)
def test_asctime_day_of_one_digit_has_two_blanks(web: Web, date: str, status: int) -> None:
    assert web.ask("/api/series/long-road/0/0", If_Modified_Since=date).status == status


@each("method", ["GET", "HEAD"])
@each("path", ["/api/nothing", "/api/v1/groups/999", "/api/series/nothing"])
@each(
    ("condition", "value"),
    [
        *product(["If-None-Match", "If-Match"], ["*"]),
        *product(
            ["If-Modified-Since", "If-Unmodified-Since"],
            ["Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"],
        ),
    ],
)
def test_missing_path_is_404_with_a_condition(web: Web, path: str, method: str, condition: str, value: str) -> None:
    """test_letter_case.py has paths that differ in case only."""
    assert web.ask(path, method, **{condition: value}).status == 404


def test_bad_request_is_400_with_a_condition(web: Web) -> None:
    """Conditions are evaluated last."""
    assert web.ask("/api/authors/abc", If_None_Match="*").status == 400


def test_etag_of_another_resource_does_not_match(web: Web) -> None:
    assert web.ask("/api/series", If_None_Match=ETAG).status == 200


def test_a_change_is_sent_to_clients_with_a_date_of_the_future(site: Site) -> None:
    """One build ran with a wrong clock, and the next one changed a body: no date is later than the response, and a date
    of the former body is no match.
    """
    site.write("series/first.yaml", "title: First\ncover: c.png\nmodified: 2090-01-01\n")
    site.build(FUTURE)
    former = http_date(site.manifest.resources["/api/series/first"].modified)
    site.write("series/first.yaml", "title: Changed\ncover: c.png\nmodified: 2090-01-01\n")
    with serving(site) as web:
        for url in ("/api/series/first", "/api/v1/series/first", "/api/series/second"):
            answer = web.ask(url, If_Modified_Since=former)
            sent = dict(answer.headers)
            modified = parsedate_to_datetime(sent.get("last-modified", sent["date"]))
            assert modified <= parsedate_to_datetime(sent["date"])
            assert answer.status == (304 if "second" in url else 200), url
            assert web.ask(url, If_None_Match=sent["etag"]).status == 304
