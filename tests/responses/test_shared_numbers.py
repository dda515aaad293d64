"""Chapters without a volume may share a number: v2 has all of them, and URLs with a number have the highest id.

The bodies of series, pages and older versions are in the golden files of `imported`.
"""

from tests.support.nginx_client import Web
from tests.support.tables import each

SITE = "imported"


@each(("chapter", "number"), [(71, 2), (75, 2), (72, 3), (74, 3)])
def test_each_version_can_be_read_by_its_id(web: Web, chapter: int, number: int) -> None:
    """All of them lead to the page of their number."""
    read = web.ask(f"/api/v2/chapters/{chapter}/read")

    assert (read.status, read["location"]) == (308, f"https://imported.example/reader/versions/0/{number}/")


@each("number", ["2", "02", "2.0", "2e0"])
def test_pages_by_number_are_those_of_the_highest_id(web: Web, number: str) -> None:
    by_number = web.ask(f"/api/v2/pages?series=Versions&volume=0&number={number}")

    assert by_number.body == web.ask("/api/v2/chapters/75/pages").body
