"""Builds of previews: with scheduled chapters and pages of restricted series, and never mixed up with releases."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from generator.api.pages.context import PageContext
from generator.catalog.site_settings import Site as Settings
from generator.catalog.snapshot import take
from generator.errors import FlatpanelError
from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from generator.release.store import PREVIEW_FILE, Store
from tests.conftest import AS_OF, Site
from tests.support import tree_snapshot
from tests.support.linked_catalog import read_catalog

SCHEDULED = "  - {id: 7, number: 2, published: 2035-06-01T16:00:00Z, pages: [1.png]}\n"
# More pages than have ids of their own: the build allocates ids.
MANY_PAGES = "  - {id: 8, number: 3, published: 2035-06-02T16:00:00Z, pages: 0001.png .. 1200.png}\n"
RESTRICTED = (
    "title: Secret\ncover: c.png\nrestricted: true\nchapters:\n  - {number: 1, published: 2020-01-01, pages: [1.png]}\n"
)
LICENSED = RESTRICTED.replace("restricted", "licensed")


def extend(site: Site) -> None:
    """Add scheduled chapters, a restricted and a licensed series."""
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(path.read_text() + SCHEDULED + MANY_PAGES)
    site.write("series/secret.yaml", RESTRICTED)
    site.write("series/lost.yaml", LICENSED)


def options(site: Site) -> Options:
    """Those of a preview beside the release, in the same folder of caches."""
    preview = site.folder / "preview"
    return replace(site.options, out=preview / "dist", nginx=preview / "nginx.conf", preview=True)


def urls(out: Path) -> set[str]:
    store = Store(out, preview=True)
    return set(store.manifest(store.current()).resources)


def test_a_preview_contains_scheduled_chapters_and_pages_of_restricted_series(site: Site) -> None:
    """Also if `site.yaml` has no pages. A chapter of a licensed series has a page that says why it is not there."""
    extend(site)
    pipeline.build(options(site))
    shown = urls(site.folder / "preview/dist")

    assert {"/reader/first/0/2/", "/reader/first/0/3/", "/reader/secret/0/1/"} <= shown
    assert {"/api/v2/chapters/7", "/api/v2/chapters/8/pages", "/", "/reader/lost/"} <= shown
    assert "/reader/lost/0/1/" in shown


def test_the_number_of_published_chapters_of_a_preview_includes_scheduled_ones(site: Site) -> None:
    """So no rebuild reports them as removed."""
    extend(site)
    pipeline.build(options(site))
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(path.read_text().replace("title: First", "title: Changed"))
    result = pipeline.build(options(site))

    assert not result.removed
    assert result.next_publication == 2064326400


def test_a_chapter_that_becomes_due_is_no_longer_marked(site: Site, tmp_path: Path) -> None:
    """Its series is rendered again, though the preview has the same chapters."""
    extend(site)
    cached = replace(options(site), cache=tmp_path / "cache")
    before = pipeline.build(cached)
    after = pipeline.build(replace(cached, as_of=before.next_publication or 0))
    again = pipeline.build(replace(cached, as_of=before.next_publication or 0))

    assert (after.parsed, after.changed_series, again.changed_series) == (0, ["first"], [])


def test_one_cache_for_a_preview_and_a_release_mixes_nothing(site: Site, tmp_path: Path) -> None:
    """The options are part of what the cache compares."""
    extend(site)
    cache, preview = tmp_path / "cache", options(site)
    release = replace(site.options, cache=cache)
    pipeline.build(release)
    expected = tree_snapshot.content(site.folder / "dist")
    pipeline.build(replace(preview, cache=cache))
    pipeline.build(release)

    assert tree_snapshot.content(site.folder / "dist") == expected
    assert "/reader/first/0/2/" in urls(preview.out)


def test_a_folder_has_releases_or_previews(site: Site) -> None:
    """Neither build writes into the folder of the other."""
    site.build()
    pipeline.build(options(site))
    before = take(site.folder)

    with pytest.raises(FlatpanelError, match="dist: is not a preview; remove the folder"):
        pipeline.build(replace(site.options, preview=True))
    with pytest.raises(FlatpanelError, match="preview/dist: is a preview with unpublished chapters"):
        pipeline.build(replace(options(site), preview=False))
    assert take(site.folder) == before


def test_a_preview_that_was_killed_at_its_start_is_one(site: Site) -> None:
    """The mark is the first file."""
    out = options(site).out
    out.mkdir(parents=True)
    (out / PREVIEW_FILE).touch()

    pipeline.build(options(site))
    assert "not publish" in (out / PREVIEW_FILE).read_text()


@pytest.mark.parametrize(
    "arguments",
    [
        ["build"],
        ["build", "--check"],
        ["export", "exported"],
        ["rollback"],
        ["releases"],
        ["verify"],
        ["verify", "--repair"],
        ["verify", "--url", "http://localhost:1"],
    ],
    ids=" ".join,
)
def test_commands_refuse_a_preview(
    site: Site, run: Callable[..., Result], arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With exit code 1, before they write a file or print a fact."""
    monkeypatch.chdir(site.folder)
    pipeline.build(options(site))
    before = take(site.folder)
    result = run(*arguments, "--out", "preview/dist")

    assert result.exit_code == 1
    assert result.stderr == "preview/dist: is a preview with unpublished chapters; choose another with --out\n"
    assert not result.stdout
    assert take(site.folder) == before


def test_a_preview_ignores_restricted_routes_on_pages_and_allows_no_caching() -> None:
    """The API of the preview still needs the key."""
    settings = Settings(base_url="https://minimal.example", restricted=["/chapters", "/series"])
    preview = settings.for_preview()

    assert not PageContext(settings).visible.latest
    assert all(PageContext(preview, preview=True).visible)
    assert (preview.pages, preview.restricted) == (True, settings.restricted)
    assert preview.cache.v1.people == preview.cache.pages == preview.cache.errors == preview.cache.media == 0


def test_in_a_preview_chapters_are_marked(site: Site) -> None:
    """Of a series, and among the latest chapters."""
    extend(site)
    site.write("site.yaml", "base_url: https://minimal.example\npages: true\n")
    series = {
        summary.slug: summary for summary in read_catalog(site.folder / "catalog_src", AS_OF, preview=True).series
    }

    assert [chapter.scheduled for chapter in series["first"].recent] == [True, True, False]
    assert series["secret"].shows_chapters and series["secret"].recent
    assert not series["lost"].shows_chapters and not series["lost"].recent
