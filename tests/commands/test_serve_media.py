"""Images that `serve` serves: those of `media_folder`, or of `--media DIR`."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.commands.test_serve import ask, edit, serving
from tests.conftest import Site
from tests.support import tree_snapshot
from tests.support.servers import free_port
from tests.support.tables import each

SETTINGS = "base_url: https://a.example\n"


def image(folder: Path, text: str = "an image") -> Path:
    path = folder / "series/first/c.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return folder


def get(port: int, url: str = "/media/series/first/c.png") -> tuple[int, str]:
    answer = ask(port, url)
    return answer.status, answer.body.decode() if answer.status == 200 else ""


def test_media_folder_is_served(site: Site) -> None:
    """It may be created later, with any name: nginx's temporary folders are called body and proxy.

    For another port than that of the site, the build is in another folder.
    """
    site.write("site.yaml", "base_url: http://localhost:8000\nmedia_folder: body\n")
    with serving(site) as served:
        before = get(served.port)
        folder = image(site.folder / "body")
        after = get(served.port)

    assert f"serving images at /media/ from {folder}, which does not exist\n" in served.first
    assert (before, after) == ((404, ""), (200, "an image"))
    assert [path.name for path in folder.iterdir()] == ["series"]


def test_option_serves_any_folder(site: Site, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Instead of `media_folder`. The emitted nginx.conf has no trace of it."""
    image(site.folder / "media", "of the project")
    elsewhere = image(tmp_path_factory.mktemp("else") / 'a "place"', "of elsewhere")
    site.write("site.yaml", f"{SETTINGS}media: /img/\nmedia_folder: media\n")
    with serving(site, "--media", str(elsewhere)) as served:
        answer = get(served.port, "/img/series/first/c.png")

    assert f"serving images at /img/ from {elsewhere}\n" in served.first
    assert answer == (200, "of elsewhere")
    assert str(elsewhere) not in (site.folder / "dist/current/media.conf").read_text()


@pytest.mark.end_to_end
def test_watch_follows_site_yaml(site: Site) -> None:
    """The path, the folder and the age of images may change, and go."""
    image(site.folder / "media")
    image(site.folder / "files/my images", "another")
    site.write("site.yaml", SETTINGS)
    with serving(site, "--watch") as served:
        answers = [get(served.port)]
        for lines in ("media_folder: media\n", "media_folder: files/my images\n", ""):
            edit(site, "site.yaml", SETTINGS + lines)
            served.until("is live")
            answers.append(get(served.port))

    assert "images" not in served.first
    assert answers == [(404, ""), (200, "an image"), (200, "another"), (404, "")]


@each(
    ("media", "message"),
    [
        ("https://i.example/", "media in site.yaml is https://i.example/, which is on another host; omit --media"),
        ("/", "images cannot be served at /, which has other URLs; set media to a path like /media/"),
    ],
)
def test_option_without_a_path_for_images_is_refused(
    site: Site, run: Callable[..., Result], media: str, message: str
) -> None:
    site.write("site.yaml", f"{SETTINGS}media: {media}\n")
    result = run("serve", *tree_snapshot.options(site), "--port", free_port(), "--media", site.folder)

    assert (result.exit_code, result.stderr) == (1, f"--media: {message}\n")


def test_option_needs_a_folder(site: Site, run: Callable[..., Result]) -> None:
    assert run("serve", "--media", site.folder / "none").exit_code == 2
