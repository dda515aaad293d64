"""A catalog that names images in every way."""

from tests.conftest import Site

CHAPTERS = """title: One
cover: cover.jpg
formerly: [uno]
licensed: {licensed}
restricted: {restricted}
chapters:
  - {{id: 1, number: 1, published: 2026-01-01, pages: 1.png .. 3.png}}
  - {{id: 2, number: 2.5, volume: 2, published: 2030-01-01, pages: ["a b#.gif", 紙.webp]}}
"""
GROUPS = "- {id: 4, name: Four, logo: logo.png}\n- {id: 5, name: Five}\n"
ACCOUNTS = "- {username: ada, avatar: me.png}\n- {username: bo}\n- {username: c@d, avatar: me.jpg}\n"
FILES = (
    "groups/4/logo.png",
    "users/ada/me.png",
    "users/c@d/me.jpg",
    "series/one/cover.jpg",
    "series/one/0/1/1.png",
    "series/one/0/1/2.png",
    "series/one/0/1/3.png",
    "series/one/2/2.5/a b#.gif",
    "series/one/2/2.5/紙.webp",
)


def write(site: Site, *, media: str = "", licensed: bool = False, restricted: bool = False) -> None:
    """Replace the series of a test site by one that names FILES."""
    for file in (site.folder / "catalog_src/series").iterdir():
        file.unlink()
    values = {"licensed": str(licensed).lower(), "restricted": str(restricted).lower()}
    site.write("series/one.yaml", CHAPTERS.format(**values))
    site.write("groups.yaml", GROUPS)
    site.write("accounts.yaml", ACCOUNTS)
    site.write("site.yaml", "base_url: https://comics.example\n" + (f"media: {media}\n" if media else ""))
