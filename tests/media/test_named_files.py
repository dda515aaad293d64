"""The media files that a catalog names."""

import pytest

from generator.media import named_files
from generator.media.named_files import MediaFile, NamedMedia
from tests.conftest import AS_OF, Site
from tests.support import media_server
from tests.support.media_server import FILES

ROOT = "https://comics.example/media/"


def read(site: Site) -> NamedMedia:
    return named_files.read(site.folder / "catalog_src", AS_OF)


def test_every_image_is_named_by_its_path(site: Site) -> None:
    """Covers, pages, logos and avatars, in the order of the catalog; people without an image name none."""
    media_server.write_catalog(site)
    named = read(site)

    assert (tuple(named.files), named.root, named.elsewhere) == (FILES, ROOT, {})
    assert [file.kind for file in named.files.values()] == ["logo", "avatar", "avatar", "cover", *["page"] * 5]
    assert [file.owner for file in named.files.values()] == ["4", "ada", "c@d", *["one"] * 6]
    assert named.slugs == {"one": ("one", "uno")}


def test_paths_and_urls_are_those_of_responses(site: Site) -> None:
    """The URL of a path is the URL that a client gets."""
    media_server.write_catalog(site)

    urls = [named_files.url_path(path) for path in read(site).files]
    assert urls[-2:] == ["series/one/2/2.5/a%20b%23.gif", "series/one/2/2.5/%E7%B4%99.webp"]
    assert urls[2] == "users/c%40d/me.jpg"


@pytest.mark.parametrize(
    ("values", "page", "scheduled"),
    [
        ({}, (), ("scheduled",)),
        ({"licensed": True}, ("licensed",), ("scheduled", "licensed")),
        ({"restricted": True}, ("restricted",), ("scheduled", "restricted")),
    ],
)
def test_pages_know_their_restrictions(
    site: Site, values: dict[str, bool], page: tuple[str, ...], scheduled: tuple[str, ...]
) -> None:
    """Covers are shown in any case."""
    media_server.write_catalog(site, **values)
    files = read(site).files

    assert files["series/one/0/1/1.png"].restrictions == page
    assert files["series/one/2/2.5/紙.webp"].restrictions == scheduled
    assert files["series/one/cover.jpg"].restrictions == ()


def test_restricted_pages_can_be_left_out(site: Site) -> None:
    media_server.write_catalog(site)
    named = read(site)

    assert tuple(named.without(["scheduled"]).files) == FILES[:-2]
    assert named.without(["licensed"]).files == named.without([]).files == named.files


PAGES = "title: Two\ncover: {cover}\nchapters:\n  - {{id: 9, number: 1, published: 2026-01-01, pages: [{pages}]}}\n"


def with_pages(site: Site, *pages: str, cover: str = "c.png") -> NamedMedia:
    media_server.write_catalog(site)
    site.write("series/one.yaml", PAGES.format(cover=cover, pages=", ".join(f'"{page}"' for page in pages)))
    return read(site)


def test_urls_below_the_media_root_are_paths(site: Site) -> None:
    """As imports write them where the old site has a page in another folder."""
    files = with_pages(site, f"{ROOT}series/one/5/9/1%20a.png", cover=f"{ROOT}c.png").files

    assert files["series/one/5/9/1 a.png"] == MediaFile("series/one/5/9/1 a.png", "page", "one")
    assert files["c.png"].kind == "cover"


@pytest.mark.parametrize(
    "url",
    [
        "https://images.example/media/1.png",
        f"{ROOT}1.png?v=2",
        f"{ROOT}1.png#top",
        f"{ROOT}%2E%2E/1.png",
        f"{ROOT}https:%2F%2Fa.png",
        f"{ROOT}a//b.png",
        f"{ROOT}a%0Ab.png",
        f"{ROOT}%FF.png",
    ],
)
def test_other_urls_are_elsewhere(site: Site, url: str) -> None:
    """On other hosts, or without a path of a file: none of these names a file outside of the folder."""
    named = with_pages(site, url)

    assert named.elsewhere == {url: MediaFile(url, "page", "one")}
    assert all(file.kind != "page" for file in named.files.values())


def test_the_media_root_may_be_another_host(site: Site) -> None:
    media_server.write_catalog(site, media="https://images.example/of/comics/")
    named = read(site)

    assert (named.root, tuple(named.files)) == ("https://images.example/of/comics/", FILES)


def test_a_page_that_readers_get_has_no_restriction(site: Site) -> None:
    """A second chapter with the same image is scheduled."""
    media_server.write_catalog(site)
    page = f'["{ROOT}1.png"]'
    site.write(
        "series/one.yaml",
        "title: Two\ncover: c.png\nchapters:\n"
        f"  - {{id: 9, number: 1, published: 2030-01-01, pages: {page}}}\n"
        f"  - {{id: 10, number: 2, published: 2026-01-01, pages: {page}}}\n",
    )

    assert read(site).files["1.png"].restrictions == ()


def test_a_chapter_of_many_pages_is_listed(site: Site) -> None:
    """More pages than have ids of their own."""
    media_server.write_catalog(site)
    site.write(
        "series/one.yaml",
        "title: T\ncover: c\nchapters:\n  - {id: 9, number: 1, published: 2026-01-01, pages: 1.png .. 1500.png}\n",
    )

    assert len(read(site).files) == 1500 + 4
