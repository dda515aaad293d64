"""Which folder `media_folder` may name, and where its images are."""

from pathlib import Path
from typing import Any

import pytest

from generator import filesystem
from generator.catalog import media_folder
from generator.catalog.site_settings import Site as Settings
from generator.errors import CatalogError, FlatpanelError
from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from tests.catalog.test_wrong_catalogs import problems
from tests.conftest import AS_OF, Site

LEAVES = "the link leads out of the project; use a real folder, or `serve --media DIR` on your own machine"
OVERLAPS = "the folder contains the catalog or is part of it; choose a folder beside the catalog"


def settings(site: Site, lines: str) -> None:
    site.write("site.yaml", f"base_url: https://a.example\n{lines}\n")


def test_images_of_another_host_have_no_path_here() -> None:
    cases: list[Any] = [
        ("/media/", "/media/"),
        ("/", "/"),
        ("https://A.example:81/img/", "/img/"),
        ("https://a.example:81/", "/"),
        ("https://a.example/img/", ""),
        ("https://b.example:81/img/", ""),
    ]
    assert [media_folder.url_path(Settings(base_url="https://a.example:81", media=media)) for media, _ in cases] == [
        path for _, path in cases
    ]


@pytest.mark.parametrize("folder", ["media", "files/my images", "a-b_c.d/é"])
def test_missing_folder_is_valid(site: Site, folder: str) -> None:
    """A build may run on a machine without the images."""
    settings(site, f"media_folder: {folder}")

    assert pipeline.check(site.folder / "catalog_src", AS_OF, 1).located == []


@pytest.mark.parametrize(
    "folder",
    ["/srv/media", "..", "../media", "media/..", "./media", "media/", "a//b", ".git", "a/.b", "$host", "a'b", "a*"],
)
def test_other_paths_are_refused(site: Site, folder: str) -> None:
    settings(site, f'media_folder: "{folder}"')

    assert problems(site.folder / "catalog_src") == [
        "site.yaml:2:15: media_folder: should be a folder below the folder of the project, like media or files/images: "
        f"without / at the beginning or end, names that begin with a dot, and the characters \\ $ * ? ' [, not {folder}"
    ]


def test_link_out_of_the_project_is_refused(site: Site, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Also one in a folder on the way, and a broken one."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "media").mkdir()
    (site.folder / "files").symlink_to(elsewhere)
    (site.folder / "broken").symlink_to(elsewhere / "none")
    for name in ("files", "files/media", "broken"):
        settings(site, f"media_folder: {name}")

        assert problems(site.folder / "catalog_src") == [f"site.yaml:2:15: media_folder: {LEAVES}"]


def test_folder_that_becomes_a_link_is_refused(site: Site, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Although no file of the catalog changed."""
    settings(site, "media_folder: media")
    (site.folder / "media").mkdir()
    options = Options(*site.paths, AS_OF, cache=site.folder / "cache")
    pipeline.build(options)
    (site.folder / "media").rmdir()
    (site.folder / "media").write_text("")
    with pytest.raises(CatalogError, match="media is not a folder"):
        pipeline.build(options)
    (site.folder / "media").unlink()
    (site.folder / "media").symlink_to(tmp_path_factory.mktemp("elsewhere"))
    with pytest.raises(CatalogError, match=LEAVES):
        pipeline.build(options)


def test_theme_that_becomes_a_link_is_refused(site: Site, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Although its files have the same statuses."""
    settings(site, "pages: true")
    (site.folder / "theme").mkdir()
    (site.folder / "theme/extra.css").write_text("")
    options = Options(*site.paths, AS_OF, cache=site.folder / "cache")
    pipeline.build(options)
    moved = (site.folder / "theme").rename(tmp_path_factory.mktemp("elsewhere") / "theme")
    (site.folder / "theme").symlink_to(moved)

    with pytest.raises(CatalogError, match="the link leads out of the project"):
        pipeline.build(options)


def test_link_inside_the_project_is_followed(site: Site) -> None:
    (site.folder / "files").mkdir()
    (site.folder / "media").symlink_to("files")
    settings(site, "media_folder: media")

    assert site.build().release


def test_folder_of_the_catalog_is_refused(site: Site) -> None:
    (site.folder / "link").symlink_to("catalog_src")
    for name in ("catalog_src", "catalog_src/media", "link/series"):
        settings(site, f"media_folder: {name}")

        assert problems(site.folder / "catalog_src") == [f"site.yaml:2:15: media_folder: {OVERLAPS}"]


@pytest.mark.parametrize("media", ["/", "/api/", "/api/v2/", "/_flatpanel/x/", "https://a.example/"])
def test_paths_of_the_api_are_refused(site: Site, media: str) -> None:
    """nginx would not start, or would serve images only."""
    settings(site, f"media: {media}\nmedia_folder: media")
    path = media.removeprefix("https://a.example")

    assert problems(site.folder / "catalog_src") == [
        f"site.yaml:3:15: media_folder: images cannot be served at {path}, which has other URLs; "
        "set media to a path like /media/"
    ]


def test_media_on_another_host_is_a_warning(site: Site) -> None:
    """Of `check` and of each build, also one without changes. nginx serves no images then."""
    settings(site, "media: https://images.example/media/\nmedia_folder: media")
    warning = (
        f"{site.folder}/catalog_src/site.yaml:3:15: media_folder: has no effect: media is "
        "https://images.example/media/, which is on another host; remove one of the two"
    )
    options = Options(*site.paths, AS_OF, cache=site.folder / "cache")
    results = [pipeline.check(site.folder / "catalog_src", AS_OF, 1), pipeline.build(options), pipeline.build(options)]

    assert [list(map(str, result.located)) for result in results] == [[warning]] * 3
    assert not (site.folder / "dist/current/media.conf").exists()
    assert "media" not in (site.folder / "nginx.conf").read_text()


@pytest.mark.parametrize("name", ["dist", "dist/www", "cache", "files"])
def test_folder_of_releases_and_cache_is_refused(site: Site, name: str) -> None:
    """Neither can be below the folder of images, nor the other way round."""
    out, cache = site.folder / ("files/dist" if name == "files" else "dist"), site.folder / "cache"
    settings(site, f"media_folder: {name}")
    other = cache if name == "cache" else out
    catalog = site.folder / "catalog_src"
    with pytest.raises(FlatpanelError) as raised:
        pipeline.build(Options(catalog, out, site.folder / "nginx.conf", AS_OF, cache=cache))

    assert str(raised.value) == (
        f"{catalog}/site.yaml: media_folder: {name} and {other} are in one another; choose another folder"
    )
    assert not out.exists()


def test_catalog_in_the_current_folder_has_a_project_above_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "catalog_src").mkdir()
    monkeypatch.chdir(tmp_path / "catalog_src")

    assert media_folder.project_folder(Path(".")) == tmp_path
    assert filesystem.is_inside("/a/b", "/a") and filesystem.is_inside("/a", "/") and filesystem.is_inside("/", "/")
    assert not filesystem.is_inside("/ab", "/a")
