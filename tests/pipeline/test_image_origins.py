"""The origins of images in the Content-Security-Policy of pages: those that a page can show, and no others."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from generator.api.pages.context import PageContext
from generator.catalog.entities import Catalog, Series
from generator.catalog.site_settings import RestrictedRoute
from generator.pipeline.catalog_lists import image_origins
from tests.support import yaml_catalogs

CATALOG = """
site: {pages: true, hide_licensed: true}
groups: [{id: 1, name: A, logo: "https://logo.example/l.png"}]
series:
  open:
    cover: https://open-cover.example/c.png
    chapters: [{number: 1, published: 2026-01-01, pages: [https://open-page.example/1.png]}]
  restricted:
    restricted: true
    cover: https://restricted-cover.example/c.png
    chapters: [{number: 1, published: 2026-01-01, pages: [https://restricted-page.example/1.png]}]
  licensed:
    licensed: true
    updated: 2026-01-01
    cover: https://licensed-cover.example/c.png
    chapters: [{number: 1, published: 2026-01-01, pages: [https://licensed-page.example/1.png]}]
  scheduled:
    cover: https://scheduled-cover.example/c.png
    chapters: [{number: 1, published: 2036-01-01, pages: [https://scheduled-page.example/1.png]}]
"""
COVERS = {"open-cover", "restricted-cover", "licensed-cover", "scheduled-cover"}


def hosts(catalog: Catalog, restricted: Sequence[RestrictedRoute] = (), *, preview: bool = False) -> set[str]:
    site = catalog.site.model_copy(update={"restricted": list(restricted)})
    origins = image_origins(replace(catalog, site=site), PageContext(site, preview=preview))
    return {origin.removeprefix("https://").removesuffix(".example") for origin in origins}


@pytest.mark.parametrize(
    ("restricted", "expected"),
    [
        ([], {*COVERS, "open-page", "logo"}),
        (["/pages"], {*COVERS, "logo"}),
        (["/chapters/{id}"], {*COVERS, "logo"}),
        (["/chapters/{id}/pages"], {*COVERS, "logo"}),
        (["/groups/{id}"], {*COVERS, "open-page"}),
        (["/series"], {*COVERS, "open-page", "logo"}),
        (["/series", "/series/{slug}"], {"open-cover", "open-page", "scheduled-cover", "logo"}),
    ],
)
def test_policy_has_the_hosts_of_images_that_pages_show(restricted: list[RestrictedRoute], expected: set[str]) -> None:
    """The cover of a restricted series is in lists; its chapters need a key. `/api` tells that of a scheduled one."""
    assert hosts(yaml_catalogs.catalog(CATALOG), restricted) == expected


def test_preview_has_the_hosts_of_chapters_that_it_shows() -> None:
    catalog = yaml_catalogs.catalog(CATALOG)
    series = [
        replace(series, shows_chapters=True) if series.slug == "restricted" else series for series in catalog.series
    ]
    assert all(isinstance(item, Series) for item in series)

    shown = hosts(replace(catalog, series=tuple(series)), ["/pages"], preview=True)

    assert shown == {*COVERS, "open-page", "restricted-page", "logo"}
