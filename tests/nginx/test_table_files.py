"""The maps and the configuration of nginx are functions of the table of a release, byte for byte."""

from dataclasses import replace
from pathlib import Path

import pytest

from generator.nginx.config import MediaConf, ServerConf
from generator.release.manifest import ID_PLACEHOLDER
from tests.conftest import AS_OF, SITES, Site
from tests.support.release_table import different_configuration, different_maps
from tests.support.site_variants import SMALL, variant_of

FOLDER = f"dist/releases/{ID_PLACEHOLDER}"
PLAIN = ServerConf("dist", FOLDER, views_per_second=5)
# What site.yaml of these sites says about nginx alone.
SERVERS = {
    "everything": replace(PLAIN, views_per_second=7),
    "hostile": replace(PLAIN, media=MediaConf("/-._~/", 'my {media}; return 200 "#" ~ 霧/@%', 2_592_000)),
}
ODD = """title: Odd
cover: c.jpg
modified: 2026-01-01
restricted: {restricted}
licensed: {licensed}
formerly: [Constructor, default, include]
chapters:
  - {{id: 901, volume: 2, number: 10.5, published: 2026-01-01, modified: 2026-01-01, pages: [a.jpg]}}
  - {{id: 902, number: 0, published: 2026-01-01, modified: 2026-01-01, pages: []}}
"""


def assert_derived(site: Site, server: ServerConf) -> None:
    assert different_maps(site.store) == []
    assert different_configuration(site.store, server) == []


@pytest.mark.parametrize("name", sorted(path.name for path in SITES.iterdir()))
def test_files_of_a_built_site_follow_from_its_table(name: str, tmp_path: Path) -> None:
    """Of each test site: pages, restricted and licensed series, old slugs, odd names, keys with accounts."""
    site = variant_of(SMALL if name == "v2" else name, tmp_path)
    site.build()

    assert_derived(site, SERVERS.get(name, PLAIN))


@pytest.mark.parametrize(("restricted", "licensed"), [("false", "false"), ("true", "false"), ("false", "true")])
@pytest.mark.parametrize("pages", ["true", "false"])
def test_files_of_odd_series_follow_from_the_table(site: Site, restricted: str, licensed: str, pages: str) -> None:
    """Old slugs that are keywords of maps, upper case, decimal numbers, restricted routes, images on this server."""
    (site.folder / "media").mkdir()
    site.write(
        "site.yaml",
        f"base_url: https://minimal.example\npages: {pages}\nreader: /Read/\nmedia_folder: media\nviews_per_second: 9\n"
        'restricted: ["/pages", "/chapters/{id}/read", "/authors"]\ncache: {errors: 7, v1: {series: 77}}\n',
    )
    site.write("accounts.yaml", "- {username: Lena, modified: 2026-01-01T00:00:00Z}\n")
    site.write(
        "keys.yaml", f"- {{name: one, sha256: {'a' * 64}, account: Lena}}\n- {{name: two, sha256: {'b' * 64}}}\n"
    )
    site.write("series/Odd_Slug.yaml", ODD.format(restricted=restricted, licensed=licensed))
    site.build()

    assert_derived(site, replace(PLAIN, views_per_second=9, media=MediaConf("/media/", "media", 2_592_000)))


def test_files_after_changes_and_a_rollback_follow_from_the_table(site: Site) -> None:
    """The segments of unchanged series come from the cache, those of a rollback from the release before."""
    site.write("keys.yaml", f"- {{name: one, sha256: {'c' * 64}}}\n")
    site.build()
    site.write("series/odd.yaml", ODD.format(restricted="false", licensed="false"))
    site.write("keys.yaml", f"- {{name: two, sha256: {'d' * 64}}}\n")
    site.build(AS_OF + 60)
    assert_derived(site, PLAIN)

    site.roll_back(at=AS_OF + 120)
    assert_derived(site, PLAIN)
