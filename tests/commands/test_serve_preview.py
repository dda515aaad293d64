"""`serve --preview` with a real nginx."""

import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from generator.catalog import reader
from generator.commands import serve as command
from generator.commands.serve import PreviewStatus
from generator.errors import FlatpanelError
from generator.pipeline.build_options import Options
from generator.pipeline.run import build
from generator.release.store import Store
from tests.commands.test_serve import DEADLINE, Serving, ask, edit, own_addresses, serving
from tests.conftest import AS_OF, Site
from tests.support.servers import free_port

SCHEDULED = "  - {id: 7, number: 2, published: 2035-06-01T16:00:00Z, pages: [1.png]}\n"
RESTRICTED = (
    "title: Secret\ncover: c.png\nrestricted: true\nchapters: [{number: 1, published: 2020-01-01, pages: [1.png]}]\n"
)
PIXEL = b"\x89PNG\r\n\x1a\n"


def status(served: Serving) -> Any:
    answer = ask(served.port, "/preview/state.json")
    assert (answer.status, answer["cache-control"]) == (200, "no-store")
    return json.loads(answer.body)


def first(site: Site) -> str:
    return (site.folder / "catalog_src/series/first.yaml").read_text()


@pytest.fixture
def previewed(site: Site) -> Site:
    """A site without pages, with a scheduled chapter, a restricted series and local images."""
    site.write("series/first.yaml", first(site) + SCHEDULED)
    site.write("series/secret.yaml", RESTRICTED)
    site.write("site.yaml", "base_url: https://minimal.example\nmedia_folder: media\nrestricted: [/chapters]\n")
    image = site.folder / "media/series/first/1/1/1.png"
    image.parent.mkdir(parents=True)
    image.write_bytes(PIXEL)
    return site


@pytest.mark.end_to_end
def test_unpublished_chapters_are_shown_and_marked(previewed: Site) -> None:
    """On every page a banner, on the chapters their date, and nothing in a release."""
    with serving(previewed, "--preview") as served:
        assert "this preview shows chapters that are not published yet" in served.first
        home, latest = ask(served.port, "/"), ask(served.port, "/latest/")
        series, chapter = ask(served.port, "/reader/first/"), ask(served.port, "/reader/first/0/2/")
        secret, error = ask(served.port, "/reader/secret/"), ask(served.port, "/reader/none/")
        secret_chapter = ask(served.port, "/reader/secret/0/1/")
        folder = previewed.folder / f".flatpanel_serve/preview-{served.port}"

    for page in (home, latest, series, chapter, secret, secret_chapter, error):
        assert 'id="preview-banner"' in page.body.decode()
        assert "hide what they tell: /chapters</p>" in page.body.decode()
        assert '<meta name="robots" content="noindex">' in page.body.decode()
        assert page["x-robots-tag"] == "noindex"
    for page in (latest, series, chapter):
        assert '<span class="preview-mark">will be published 2035-06-01 16:00 UTC</span>' in page.body.decode()
    for page in (secret, secret_chapter):
        assert '<span class="preview-mark">A release does not show these chapters' in page.body.decode()
    assert "preview-mark" not in error.body.decode()
    # The images of the folder, in place of those of the site.
    assert 'src="/media/series/first/0/2/1.png"' in chapter.body.decode()
    assert (error.status, chapter.status, secret_chapter.status) == (404, 200, 200)
    assert not (previewed.folder / "dist").exists()
    assert Store(folder / "dist", preview=True).release()

    release = previewed.build()
    assert release.changes["added"] == len(previewed.manifest.resources)
    assert not any("first/0/2" in url or url == "/" + "secret" for url in previewed.manifest.resources)


@pytest.mark.end_to_end
def test_a_missing_image_has_a_picture_with_its_name(previewed: Site) -> None:
    """So it is marked without a script. Of the URL, only harmless letters are in the picture."""
    with serving(previewed, "--preview") as served:
        image = ask(served.port, "/media/series/first/1/1/1.png".replace("1.png", "2.png"))
        strange = ask(served.port, "/media/series/<b>&.png")
        other = ask(served.port, "/media/series/first/1/1/notes.txt")
        present = ask(served.port, "/media/series/first/1/1/1.png")

    assert (image.status, image["content-type"]) == (404, "image/svg+xml")
    assert ">2.png</text>" in image.body.decode()
    assert (strange.status, other.status) == (404, 404)
    assert ">image</text>" in strange.body.decode() and "<b>" not in strange.body.decode()
    assert (present.status, present.body) == (200, PIXEL)
    assert present["access-control-allow-origin"] is None


@pytest.mark.end_to_end
def test_only_this_machine_and_its_pages_can_read_a_preview(previewed: Site) -> None:
    """It listens on loopback addresses, no site of another name reads it, and robots are asked to stay away."""
    with serving(previewed, "--preview") as served:
        hosts = [f"localhost:{served.port}", "127.0.0.1", f"[::1]:{served.port}", "LOCALHOST"]
        assert [ask(served.port, "/", host=host).status for host in hosts] == [200] * 4
        others = ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:80"]
        paths = ["/", "/preview/state.json", "/api/v2/series", "/media/series/first/1/1/1.png"]
        assert {ask(served.port, path, host=host).status for host in others for path in paths} == {421}
        for path in ("/api/v2/series", "/api/none", "/reader/first/", "/releases.atom"):
            answer = ask(served.port, path)
            assert answer["access-control-allow-origin"] is None
            assert answer["x-robots-tag"] == "noindex"
        assert ask(served.port, "/robots.txt").body.decode() == "User-agent: *\nDisallow: /\n"

        addresses = [address for address in own_addresses() if not address.startswith("127.")]
        for address in addresses:
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection((address, served.port), timeout=DEADLINE).close()


@pytest.mark.end_to_end
def test_the_status_has_the_release_of_each_page(previewed: Site) -> None:
    """A page names its release in a header; after an edit both are others. So the script reloads the page."""
    with serving(previewed, "--preview") as served:
        before, page = status(served), ask(served.port, "/reader/first/")
        edit(previewed, "series/first.yaml", first(previewed).replace("title: First", "title: Fjrst"))
        served.until(" is live")
        after, changed = status(served), ask(served.port, "/reader/first/")

    assert page["server-timing"] == f'release;desc="{before["release"]}"'
    assert changed["server-timing"] == f'release;desc="{after["release"]}"'
    assert before == {"release": before["release"], "building": False, "problems": []}
    assert before["release"] != after["release"]
    assert "Fjrst" in changed.body.decode()
    assert {page["cache-control"], changed["cache-control"]} == {"public, max-age=0"}


def test_problems_are_in_the_status_until_they_are_mended(previewed: Site) -> None:
    """With file and line. The release stays."""
    with serving(previewed, "--preview") as served:
        before, text = status(served), first(previewed)
        edit(previewed, "series/first.yaml", text.replace("title: First", "titel: First"))
        served.until("still serving the previous release")
        broken = status(served)
        assert ask(served.port, "/reader/first/").status == 200
        edit(previewed, "series/first.yaml", text)
        served.until(" is live")
        mended = status(served)

    file = str(previewed.folder / "catalog_src/series/first.yaml")
    place = {"file": file, "line": 1, "column": 1, "field": "titel"}
    assert broken["problems"][0] == {**place, "message": "unknown field; did you mean title?"}
    assert broken["release"] == before["release"] == mended["release"]
    assert mended["problems"] == []


@pytest.mark.end_to_end
@pytest.mark.parametrize("broken", ["site.yaml", "series/first.yaml"])
def test_a_catalog_with_problems_at_the_start_has_a_page_of_them(previewed: Site, broken: str) -> None:
    """Text of the catalog is not markup. The site appears when the catalog is mended."""
    path = previewed.folder / "catalog_src" / broken
    text = path.read_text()
    path.write_text(text + "'<b>': 1\n")
    with serving(previewed, "--preview") as served:
        page = ask(served.port, "/reader/first/")
        script, style = ask(served.port, "/preview/preview.js"), ask(served.port, "/preview/preview.css")
        problems = status(served)
        assert ask(served.port, "/", host="evil.example").status == 421
        edit(previewed, broken, text.replace("title: First", "titel: First") + "'<b>': 1\n")
        served.until("still serving the problems")
        edit(previewed, broken, text)
        served.until(" is live")
        assert ask(served.port, "/reader/first/0/2/").status == 200
        assert status(served)["problems"] == []

    assert (page.status, page["x-robots-tag"]) == (503, "noindex")
    assert f"<b>{path}:" in page.body.decode() and "&lt;b&gt;: unknown field" in page.body.decode()
    assert problems["release"] == "" and problems["problems"][0]["file"] == str(path)
    assert script["content-type"].startswith("text/javascript")
    assert style["content-type"].startswith("text/css")


def test_an_error_without_a_place_is_a_problem(tmp_path: Path) -> None:
    """Such as a folder that cannot be written; names of files can have bytes that are no text."""
    shown = PreviewStatus(tmp_path)
    with click.Context(command.serve):
        shown.fail(FlatpanelError("first \udcff", "second"))

    problems = json.loads((tmp_path / "state.json").read_text())["problems"]
    assert [problem["message"] for problem in problems] == ["first \\udcff", "second"]
    assert problems[0]["file"] == "" and "<b>" not in (tmp_path / "problems.html").read_text()


@pytest.mark.parametrize(
    ("settings", "base_url"),
    [
        ("base_url: https://minimal.example\nmedia_folder: media\n", "http://localhost:8123"),
        ("base_url: https://minimal.example\n", "https://minimal.example"),
        ("base_url: https://minimal.example\nmedia: https://images.example/\n", "https://minimal.example"),
        ("base_url: http://127.0.0.1:8000\nmedia_folder: media\n", "http://127.0.0.1:8123"),
    ],
    ids=["images here", "images at the site", "images on another host", "loopback"],
)
def test_urls_lead_to_the_preview_if_it_has_the_images(site: Site, settings: str, base_url: str) -> None:
    """Otherwise they lead to the site, which has the images."""
    site.write("site.yaml", settings)
    requested = Options(
        site.folder / "catalog_src", site.folder / "dist", site.folder / "nginx.conf", AS_OF, preview=True
    )
    read = reader.read_site(requested.catalog)
    local = command._local_options(requested, read, 8123, lambda site: command._images(requested, None, site))

    assert local.base_url == base_url
    assert local.out == site.folder / ".flatpanel_serve/preview-8123/dist"


def test_the_folder_of_a_preview_is_refused_if_it_has_releases(previewed: Site) -> None:
    """The message is on the page of problems, too."""
    port = free_port()
    release = previewed.folder / f".flatpanel_serve/preview-{port}/dist"
    build(replace(previewed.options, out=release))
    with serving(previewed, "--preview", "--port", str(port)):
        page = ask(port, "/")

    assert page.status == 503
    assert "dist: is not a preview; remove the folder" in page.body.decode()
