"""If-None-Match and If-Modified-Since, judged as RFC 9110 section 13 orders it, by the nginx that serves."""

from email.utils import parsedate_to_datetime

import pytest

from tests.conftest import Serve
from tests.responses.test_golden import bodies, sidecar
from tests.support.nginx_client import Web

SITE = "everything"
URL = "/api/series/long-road/2/10.5"
# 10 Feb 2026, 13:45:27: no two of its parts are alike.
MODIFIED = sidecar(SITE, URL)["last-modified"]
TAG = sidecar(SITE, URL)["etag"]
OTHER = '"00000000000000000000000000000000"'
LEAP_DAY = "/api/series/__proto__/1/0.1"


@pytest.fixture
def web(serve: Serve) -> Web:
    return serve(SITE)[1]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(TAG, id="lone"),
        pytest.param(f"W/{TAG}", id="weak"),
        pytest.param(f"{OTHER}, {TAG}", id="last in a list"),
        pytest.param(f"{TAG}, {OTHER}", id="first in a list"),
        pytest.param(f'"a", W/{TAG}, "b"', id="weak in a list"),
        pytest.param(f"{OTHER},{TAG},{OTHER}", id="no blanks"),
        pytest.param(f"  {OTHER}  ,   {TAG}  ", id="many blanks"),
        pytest.param(f"{OTHER}\t,\t{TAG}\t", id="tabs"),
        pytest.param(f",, ,{TAG},,", id="empty elements"),
        pytest.param(f'"a,b", {TAG}', id="after a comma inside a tag"),
        pytest.param(f'W/"a, b, ", W/{TAG}, "c,"', id="between commas inside tags"),
        pytest.param(f'"", {TAG}', id="after an empty tag"),
        pytest.param(f'"/", "W/", {TAG}', id="after tags that look like prefixes"),
        pytest.param(f'"\xfc\xff", {TAG}', id="after a tag beyond ASCII"),
        pytest.param("*", id="star"),
        pytest.param("  * ", id="star with blanks"),
    ],
)
def test_a_tag_that_matches_is_a_304(web: Web, value: str) -> None:
    """Weak comparison, anywhere in a list, and whatever is current for a star."""
    assert web.ask(URL, If_None_Match=value).status == 304


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(OTHER, id="other"),
        pytest.param(f"W/{OTHER}", id="other, weak"),
        pytest.param(TAG.strip('"'), id="without quotes"),
        pytest.param(TAG[:-1], id="never closed"),
        pytest.param(TAG[1:], id="never opened"),
        pytest.param(TAG.upper(), id="capitals"),
        pytest.param(f"w/{TAG}", id="small w"),
        pytest.param(f"W {TAG}", id="no slash"),
        pytest.param(f"W/ {TAG}", id="a blank behind the prefix"),
        pytest.param(f"{TAG}x", id="text behind the tag"),
        pytest.param(f"x{TAG}", id="text before the tag"),
        pytest.param(f"{OTHER} {TAG}", id="no comma"),
        pytest.param(f"{OTHER}; {TAG}", id="semicolon"),
        pytest.param(f'"{TAG[1:-1]},"', id="comma in the tag"),
        pytest.param(f'" {TAG[1:-1]}"', id="blank in the tag"),
        pytest.param(f'"a, {TAG[1:-1]}, b"', id="inside another tag"),
        pytest.param(f'"a,{TAG},b"', id="between two other tags"),
        pytest.param(f"'{TAG[1:-1]}'", id="single quotes"),
        pytest.param(f'"{TAG[1:-2]}"', id="a digit less"),
        pytest.param(f'"{TAG[1:-1]}0"', id="a digit more"),
        pytest.param('"*"', id="star in quotes"),
        pytest.param("**", id="two stars"),
        pytest.param('*, "a"', id="star in a list"),
        pytest.param('""', id="empty tag"),
        pytest.param('"', id="half a tag"),
        pytest.param(",", id="only a comma"),
        pytest.param("garbage", id="garbage"),
        pytest.param(".*", id="a pattern"),
        pytest.param("$fp_tag", id="a variable"),
        pytest.param("\xff\xfe", id="no text"),
    ],
)
def test_a_tag_that_does_not_match_is_a_200(web: Web, value: str) -> None:
    """What is not this tag is another one, and what is no tag matches nothing."""
    assert web.ask(URL, If_None_Match=value).status == 200


def test_the_tag_that_nginx_would_make_is_nobody_s(web: Web) -> None:
    """The time and the size of the file, which a copy of the site may have differently, are no validator."""
    size = len(bodies(SITE)[URL])
    moment = int(parsedate_to_datetime(MODIFIED).timestamp())
    tag = f'"{moment:x}-{size:x}"'

    assert [web.ask(URL, If_None_Match=tag).status, web.ask(URL, If_Match=tag).status] == [200, 412]


def test_an_empty_list_of_tags_is_no_condition(web: Web) -> None:
    """A field without a value asks nothing."""
    assert web.ask(URL, If_None_Match="").status == 200


LONG_LISTS = {
    "tags": ", ".join(f'"{number:032x}"' for number in range(220)),
    "quotes": '"' * 7900,
    "commas": "," * 7900,
    "blanks and commas": ", " * 3950,
    "empty tags": '"",' * 2600,
    "prefixes": "W/" * 3900,
    "one tag": f'"{"a" * 7900}"',
    "almost the tag": f'"{TAG[1:-2]}",' * 225,
}


@pytest.mark.parametrize("text", LONG_LISTS.values(), ids=LONG_LISTS.keys())
def test_a_long_list_is_searched_to_its_end(web: Web, text: str) -> None:
    """8 kB of anything is answered, and the tag behind them is found."""
    assert web.ask(URL, If_None_Match=text).status == 200
    assert web.ask(URL, If_None_Match=f"{text}, {TAG}").status == 304


def test_a_long_list_with_a_quote_too_many_matches_nothing(web: Web) -> None:
    """Inside quotes that were never closed there are no tags, however many quotes come before."""
    assert web.ask(URL, If_None_Match='"' * 7901 + f", {TAG}").status == 200


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("tag", "date", "status"),
    [
        (TAG, "Mon, 01 Jan 1990 00:00:00 GMT", 304),
        (TAG, "garbage", 304),
        ("*", "Mon, 01 Jan 1990 00:00:00 GMT", 304),
        (OTHER, MODIFIED, 200),
        (OTHER, "Fri, 31 Dec 9999 23:59:59 GMT", 200),
        ("garbage", MODIFIED, 200),
        ("", MODIFIED, 304),
    ],
)
def test_the_tag_alone_decides_where_there_is_one(web: Web, method: str, tag: str, date: str, status: int) -> None:
    """If-Modified-Since is looked at only in the absence of If-None-Match."""
    assert web.ask(URL, method, If_None_Match=tag, If_Modified_Since=date).status == status


@pytest.mark.parametrize(
    ("date", "status"),
    [
        (MODIFIED, 304),
        # One part earlier or later, all others equal.
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
        # A part that is earlier after one that is later, and the other way round.
        ("Wed, 11 Feb 2026 00:00:00 GMT", 304),
        ("Mon, 09 Feb 2026 23:59:59 GMT", 200),
        ("Fri, 01 Jan 2027 00:00:00 GMT", 304),
        ("Wed, 31 Dec 2025 23:59:59 GMT", 200),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 304),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 200),
        ("Mon, 01 Jan 0001 00:00:00 GMT", 200),
        ("Sat, 01 Jan 0000 00:00:00 GMT", 200),
        # RFC 850: years below 70 are in this century.
        ("Tuesday, 10-Feb-26 13:45:27 GMT", 304),
        ("Tuesday, 10-Feb-26 13:45:26 GMT", 200),
        ("Tuesday, 10-Feb-26 13:45:28 GMT", 304),
        ("Tuesday, 31-Dec-69 23:59:59 GMT", 304),
        ("Thursday, 01-Jan-70 00:00:00 GMT", 200),
        ("Friday, 31-Dec-99 23:59:59 GMT", 200),
        ("Saturday, 01-Jan-00 00:00:00 GMT", 200),
        # asctime.
        ("Tue Feb 10 13:45:27 2026", 304),
        ("Tue Feb 10 13:45:26 2026", 200),
        ("Tue Feb 10 13:45:28 2026", 304),
        ("Sun Feb  1 00:00:00 2026", 200),
        ("Sun Mar  1 00:00:00 2026", 304),
        # Dates that exist, and such as do not.
        ("Thu, 29 Feb 2029 00:00:00 GMT", 200),
        ("Tue, 29 Feb 2028 00:00:00 GMT", 304),
        ("Mon, 29 Feb 2100 00:00:00 GMT", 200),
        ("Tue, 29 Feb 2400 00:00:00 GMT", 304),
        ("Tuesday, 29-Feb-28 00:00:00 GMT", 304),
        ("Thursday, 29-Feb-29 00:00:00 GMT", 200),
        ("Tue Feb 29 00:00:00 2028", 304),
        ("Thu Feb 29 00:00:00 2029", 200),
        ("Sat, 31 Apr 2027 00:00:00 GMT", 200),
        ("Fri, 30 Apr 2027 00:00:00 GMT", 304),
        ("Sat, 00 May 2027 00:00:00 GMT", 200),
        ("Sat, 32 May 2027 00:00:00 GMT", 200),
        ("Sat, 01 May 2027 25:61:61 GMT", 200),
        ("Sat, 01 May 2027 24:00:00 GMT", 200),
        ("Sat, 01 May 2027 23:60:00 GMT", 200),
        ("Sat, 01 May 2027 23:59:61 GMT", 200),
        ("Sat, 01 May 2027 23:59:60 GMT", 304),
        # What is no date is ignored.
        ("", 200),
        ("garbage", 200),
        ("sat, 01 may 2027 00:00:00 gmt", 200),
        ("Sat, 01 May 2027 00:00:00", 200),
        ("Sat, 01 May 2027 00:00:00 UTC", 200),
        ("Sat, 01 May 2027 00:00:00 +0000", 200),
        ("Sat, 1 May 2027 00:00:00 GMT", 200),
        ("Sat, 01 May 27 00:00:00 GMT", 200),
        ("Sat, 01 May 12027 00:00:00 GMT", 200),
        ("Sat May 01 00:00:00 2027", 200),
        ("Sat, 01-May-2027 00:00:00 GMT", 200),
        ("2027-05-01T00:00:00Z", 200),
        ("1809129600", 200),
        (f"{MODIFIED}, {MODIFIED}", 200),
        (f"{MODIFIED}; length=201", 200),
        (f'"{MODIFIED}"', 200),
        ("*", 200),
        (TAG, 200),
        ("9" * 7900, 200),
    ],
)
def test_a_date_that_is_not_earlier_is_a_304(web: Web, date: str, status: int) -> None:
    """Equal or later than Last-Modified, in any of the three forms; anything else is ignored."""
    assert web.ask(URL, If_Modified_Since=date).status == status


@pytest.mark.parametrize(
    ("date", "status"),
    [
        ("Thu, 29 Feb 2024 23:59:59 GMT", 304),
        ("Thu, 29 Feb 2024 23:59:58 GMT", 200),
        ("Thursday, 29-Feb-24 23:59:59 GMT", 304),
        ("Thu Feb 29 23:59:59 2024", 304),
        ("Wed, 28 Feb 2024 23:59:59 GMT", 200),
        ("Fri, 01 Mar 2024 00:00:00 GMT", 304),
    ],
)
def test_a_leap_day_is_a_last_modified_like_any_other(serve: Serve, date: str, status: int) -> None:
    """The date of the resource goes through the same patterns as that of the request."""
    assert serve("hostile")[1].ask(LEAP_DAY, If_Modified_Since=date).status == status


@pytest.mark.parametrize(
    ("date", "status"),
    [
        ("Fri Jan  2 00:00:00 2026", 304),
        ("Thu Jan  1 23:59:59 2026", 200),
        ("Fri Jan 02 00:00:00 2026", 200),
        ("Fri Jan 2 00:00:00 2026", 200),
    ],
)
def test_a_day_of_one_digit_stands_behind_two_blanks(web: Web, date: str, status: int) -> None:
    """As asctime writes it, and in no other way."""
    assert web.ask("/api/series/long-road/0/0", If_Modified_Since=date).status == status


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "path",
    [
        "/api/nothing",
        "/api/series/nothing",
        "/api/v1/groups/999",
        "/nothing",
        "/API/series",
        "/api/Series/long-road",
        "/api/series/LONG-ROAD",
        "/api/series/Long-Road/2/10.5",
    ],
)
@pytest.mark.parametrize("condition", ["If-None-Match", "If-Match"])
def test_what_is_not_there_has_no_condition(web: Web, path: str, method: str, condition: str) -> None:
    """A path that is missing, or right but for the case of a letter, is a 404 and neither a 304 nor a 412."""
    assert web.ask(path, method, **{condition: "*"}).status == 404


@pytest.mark.parametrize("date", ["If-Modified-Since", "If-Unmodified-Since"])
def test_what_is_not_there_has_no_date(web: Web, date: str) -> None:
    """No date makes a missing path anything but missing."""
    for value in ("Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"):
        assert web.ask("/api/series/nothing", **{date: value}).status == 404


def test_a_bad_request_stays_one_under_a_condition(web: Web) -> None:
    """Conditions are judged after everything else has been."""
    assert web.ask("/api/authors/abc", If_None_Match="*").status == 400


def test_the_tag_of_one_resource_means_nothing_to_another(web: Web) -> None:
    """Tags are compared with that of the resource that is asked for."""
    assert web.ask("/api/series", If_None_Match=TAG).status == 200
