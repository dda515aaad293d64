"""Ids, volumes and chapters in paths: a malformed number is a 400, an unused number is a 404."""

from tests.support.api_errors import BODIES, assert_error
from tests.support.nginx_client import Web
from tests.support.tables import each

SITE = "everything"
# Texts in the place of a number.
NOT_NUMBERS = [
    "abc",
    "01",
    "1.0",
    "1.",
    ".5",
    "1,5",
    "1e3",
    "-1",
    "0x10",
    "1%20",
    "1%0A",
    "%D9%A1",
    "\xe9",
]
INTEGERS = ["0", "999", "2147483648", "9999999999999999999999", "1" * 2000]
FRACTIONS = ["1.5", "0.5", "10.25", "1.00000000000000000000001", "123456789.12345"]
# Ids and volumes are integers. Chapter numbers may have a fraction.
OF_INTEGERS = [
    "/api/authors/{}",
    "/api/artists/{}",
    "/api/v1/groups/{}",
    "/api/series/paused/{}",
    "/api/v1/series/paused/{}",
    "/api/series/nothing/{}",
    "/api/series/paused/{}/10",
    "/api/series/members-only/{}/1",
    "/api/v1/series/nothing/{}/1",
]
OF_DECIMALS = [
    "/api/series/paused/2/{}",
    "/api/v1/series/paused/2/{}",
    "/api/series/members-only/2/{}",
    "/api/v1/series/nothing/1/{}",
]
PLACES = [*OF_INTEGERS, *OF_DECIMALS, "/api/series/nothing/abc/{}", "/api/v1/series/nothing/1.5/{}"]


@each("place", PLACES)
@each("slash", ["", "/"])
def test_non_canonical_number_is_400(web: Web, place: str, slash: str) -> None:
    """An id, volume or chapter number has one canonical form, whether or not the series exists."""
    paths = [place.format(number) + slash for number in NOT_NUMBERS]

    assert {path: web.ask(path).body for path in paths} == dict.fromkeys(paths, BODIES[400])


@each("place", OF_INTEGERS)
@each("slash", ["", "/"])
def test_fraction_for_an_integer_is_400(web: Web, place: str, slash: str) -> None:
    """An id or a volume has no fraction, whether or not the series exists."""
    paths = [place.format(number) + slash for number in FRACTIONS]

    assert {path: web.ask(path).body for path in paths} == dict.fromkeys(paths, BODIES[400])


@each(
    ("place", "numbers"),
    [*((place, INTEGERS) for place in OF_INTEGERS), *((place, INTEGERS + FRACTIONS) for place in OF_DECIMALS)],
)
@each("slash", ["", "/"])
def test_unused_number_is_404(web: Web, place: str, numbers: list[str], slash: str) -> None:
    """0 and numbers of any length are valid."""
    paths = [place.format(number) + slash for number in numbers]

    assert {path: web.ask(path).body for path in paths} == dict.fromkeys(paths, BODIES[404])


@each("path", ["/api/authors/abc", "/api/series/paused/1.0?x=1"])
def test_400_has_json_body_and_all_headers(web: Web, path: str) -> None:
    """Caches may not keep it."""
    assert_error(web.ask(path), 400)
