"""The route that a URL belongs to."""

import pytest

from generator.api.routes import route_of


@pytest.mark.parametrize(
    ("url", "route"),
    [
        ("/api/v2/series/tea", "/api/v2/series/{slug}"),
        ("/api/v3/series", "others"),
        ("/opds/v1.2/catalog", "opds"),
        ("/komga/series/tea", "komga"),
        ("/opds-news/", "pages"),
        ("/latest/", "pages"),
        ("/library.atom", "feeds"),
    ],
)
def test_route_of_a_url(url: str, route: str) -> None:
    """A release of another version may have URLs that no route of this one has."""
    assert route_of(url) == route
