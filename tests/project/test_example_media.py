"""The images of the example: drawn by tools/draw-media, and served at the URLs in the responses."""

import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import Result

from generator import encoding
from tests.conftest import Site, serving
from tests.support import tools
from tests.support.documents import AS_OF
from tests.support.nginx_client import Web
from tests.support.paths import ROOT
from tests.support.runs import sample

pytestmark = pytest.mark.checkout

MEDIA = ROOT / "media"
MOST_BYTES = 1_000_000
HOST = "http://localhost:8000"
KEY = "images"
TYPES = {".jpg": "image/jpeg", ".png": "image/png", ".webp": "image/webp"}


def test_every_named_file_is_an_image_and_no_other_exists(run: Callable[..., Result]) -> None:
    """`media check` finds nothing: no missing or extra file, no link, and no format that a name does not state."""
    checked = json.loads(run("media", "check", MEDIA, "--catalog", ROOT / "catalog_src", "--json").stdout)

    assert (checked["ok"], checked["findings"]) == (True, [])
    assert checked["bytes"] <= MOST_BYTES


@pytest.mark.end_to_end
def test_script_draws_the_same_images(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compared without the compression of PNGs, which depends on the version of zlib. Every day, of some chapters."""
    script = tools.tool("draw-media")
    chapters = script.chapters
    monkeypatch.setattr(script, "chapters", lambda sources: sample([*chapters(sources)], 20))
    drawn = dict(script.images())

    assert len(drawn) > 50
    ours = {name: script.content((MEDIA / name).read_bytes()) for name in drawn}
    assert [name for name, image in drawn.items() if script.content(image) != ours[name]] == []


def test_script_names_and_repairs_each_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tools.tool("draw-media")
    images = {
        name: (MEDIA / name).read_bytes()
        for name in ("groups/1/owl with lamp.png", "series/kettle-and-comet/cover.png")
    }
    monkeypatch.setattr(script, "images", images.items)
    (tmp_path / "series/kettle-and-comet").mkdir(parents=True)
    (tmp_path / "series/kettle-and-comet/cover.png").write_bytes(b"another")
    (tmp_path / "extra.png").write_bytes(b"")

    assert tools.run(script, "--check", tmp_path) == (
        1,
        f"{tmp_path}/extra.png: not named by the catalog\n"
        f"{tmp_path}/groups/1/owl with lamp.png: missing or another image\n"
        f"{tmp_path}/series/kettle-and-comet/cover.png: missing or another image\n",
    )
    assert tools.run(script, tmp_path)[0] == 0
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in files} == images
    assert tools.run(script, "--check", tmp_path) == (0, "")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """The example, with a key to everything, served as `make build` leaves it."""
    folder = tmp_path_factory.mktemp("example")
    for name in ("catalog_src", "media"):
        shutil.copytree(ROOT / name, folder / name)
    with (folder / "catalog_src/keys.yaml").open("a") as keys:
        keys.write(f"- {{name: images, sha256: {encoding.sha256(KEY.encode())}, account: lamplighter}}\n")
    with serving(Site(folder), AS_OF) as running:
        yield running
        assert running.complaints() == []


def texts(value: object) -> Iterator[str]:
    """Every text of a JSON value."""
    if isinstance(value, dict):
        yield from (text for part in value.values() for text in texts(part))
    elif isinstance(value, list):
        yield from (text for part in value for text in texts(part))
    elif isinstance(value, str):
        yield value


def test_every_image_url_of_the_api_is_served(server: Web) -> None:
    """Covers, pages, logos and the avatar: those of restricted series too, with a key to their URLs."""
    body = server.ask("/api/v2/chapters?limit=9999", X_API_Key=KEY).body
    ids = [chapter["id"] for chapter in encoding.parse(body)["results"]]
    paths = ["/api/v2/series?limit=999", "/api/v2/groups", "/api/v2/profile", "/api/series"]
    paths += [f"/api/v2/chapters/{number}/pages" for number in ids]
    answers = [server.ask(path, X_API_Key=KEY) for path in paths]
    assert {answer.status for answer in answers} <= {200, 451}
    bodies = (encoding.parse(answer.body) for answer in answers if answer.status == 200)
    urls = {text for body in bodies for text in texts(body) if text.startswith(f"{HOST}/media/")}
    kinds = Counter(url.removeprefix(f"{HOST}/media/").split("/")[0] for url in urls if "." in url[-5:])

    assert kinds["series"] > 900 and kinds["groups"] == 2 and kinds["users"] == 1
    # Clients of the older API join both parts.
    for chapter in ("mayonaka-no-tokei-neko/0/0", "un-ete-a-vapeur/1/1.25", "paper-moons/0/12"):
        body = encoding.parse(server.ask(f"/api/v1/series/{chapter}").body)
        assert urls >= {body["pages_root"] + page for page in body["pages_list"]}, chapter
        assert len(body["pages_list"]) > 1
    # The common start of pages is no image.
    for url in sample(sorted(url for url in urls if not url.endswith("/")), 10):
        answer = server.ask(url.removeprefix(HOST))
        path = MEDIA / unquote(url.removeprefix(f"{HOST}/media/"))
        assert (answer.status, answer["content-type"]) == (200, TYPES[path.suffix]), url
        assert answer.body == path.read_bytes()
