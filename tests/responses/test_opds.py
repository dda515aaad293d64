"""OPDS as e-readers load it: the example site on nginx, by what KOReader reads, and by the client of ComicCatcher."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from click.testing import CliRunner

from generator.commands import cli
from tests.conftest import AS_OF, Site, date
from tests.support import koreader, nginx_client
from tests.support.nginx_client import Answer, Web
from tests.support.paths import DATA, EXAMPLE, ROOT

CLIENT = ROOT / ".venv-clients/bin/python"
# CI must have it, so that its test fails there instead, unless it could not install it.
_REQUIRED = os.environ.get("CI") == "true" and "WITHOUT_OPDS_CLIENT" not in os.environ
CBZ = "application/vnd.comicbook+zip"
# LuaSocket follows these, from HTTPS to HTTPS only.
FOLLOWED = (301, 302, 303, 307)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """The example with its images, its archives and OPDS."""
    folder = tmp_path_factory.mktemp("opds")
    for path in (EXAMPLE, ROOT / "media"):
        shutil.copytree(path, folder / path.name)
    settings = folder / "catalog_src/site.yaml"
    with nginx_client.listening() as listener:
        port = listener.getsockname()[1]
        text = settings.read_text().replace("http://localhost:8000", f"http://127.0.0.1:{port}")
        text = text.replace("apps: [opds, komga]", "apps: [archives, opds]")
        settings.write_text(text.replace("port: 8000", f"port: {port}"))
        date(folder)
        arguments, clock = ["media", "archives", "--catalog", str(folder / "catalog_src")], str(AS_OF)
        done = CliRunner().invoke(cli.main, arguments, env={"SOURCE_DATE_EPOCH": clock}, prog_name="python build.py")
        assert done.exit_code == 0, done.output
        Site(folder).build()
        with nginx_client.running(folder, listener) as web:
            yield web
            assert web.complaints() == []


class Reader:
    """Loads lists as KOReader does: HEAD first, then the list, unless it has one of the same date."""

    def __init__(self, web: Web) -> None:
        self.web, self.base = web, f"http://127.0.0.1:{web.port}"

    def ask(self, url: str, method: str = "GET") -> Answer:
        for _ in range(5):
            parts = urlsplit(url)
            assert f"{parts.scheme}://{parts.netloc}" == self.base
            target = parts.path + ("?" + parts.query) * bool(parts.query)
            answer = self.web.ask(target, method, Accept_Encoding="identity")
            if answer.status not in FOLLOWED:
                return answer
            url = urljoin(url, str(answer["location"]))
        pytest.fail(f"too many redirects to {url}")

    def list(self, url: str) -> bytes:
        head, answer = self.ask(url, "HEAD"), self.ask(url)
        assert head.status == answer.status == 200
        assert head["last-modified"] == answer["last-modified"] is not None
        kind = "acquisition" if b":count=" in answer.body else "navigation"
        assert answer["content-type"] == f"application/atom+xml;profile=opds-catalog;kind={kind}"
        assert answer["x-robots-tag"] == "noindex" and answer["access-control-allow-origin"] == "*"
        return answer.body


def test_a_reader_streams_and_downloads_every_chapter(example: Web) -> None:
    """From the start to the first and the last page of each chapter, which are the files of the site."""
    reader, media = Reader(example), example.folder / "media"

    found = [*koreader.publications(reader.list, f"{reader.base}/opds/v1.2/catalog")]

    every = [item for _, item in found]
    assert len({url for url, _ in found}) >= 9 and len(every) > 40
    streamed = 0
    for item in every:
        for offered in item.acquisitions:
            if not offered.pages:
                answer, file = reader.ask(offered.url), media / urlsplit(offered.url).path.removeprefix("/media/")
                assert (answer.status, answer["content-type"]) == (200, offered.type) == (200, CBZ)
                assert file.suffix == ".cbz" and answer.body == file.read_bytes()
                continue
            for index in (0, offered.pages - 1):
                answer = reader.ask(offered.page(index))
                assert answer.status == 200 and str(answer["content-type"]).startswith("image/")
                assert answer.body[:2] in (b"\xff\xd8", b"\x89P", b"GI")
                streamed += 1
            assert reader.ask(offered.page(offered.pages)).status == 404
    assert streamed > 60
    assert all(reader.ask(item.image).status == 200 for item in every if item.image)


@pytest.mark.skipif(
    not CLIENT.exists() and not _REQUIRED, reason="no client of OPDS: tools/setup clients installs ComicCatcher"
)
def test_comiccatcher_reads_both_versions(example: Web, tmp_path: Path) -> None:
    """The client of a program for the desktop reads lists, chapters and pages, and finds the same archives."""
    base = f"http://127.0.0.1:{example.port}"
    script = DATA / "clients/comiccatcher.py"
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "NO_PROXY": "127.0.0.1"}

    def read(start: str) -> dict[str, dict[str, object]]:
        command = [str(CLIENT), "-P", str(script), base, start]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        value: dict[str, dict[str, object]] = json.loads(done.stdout)
        return value

    old, new = read("/opds/v1.2/catalog"), read("/opds/v2/catalog")

    assert old["lists"]["/opds/v1.2/catalog"] == ["Latest chapters", "All series", "Categories", "Groups"]
    assert old["lists"]["/opds/v1.2/series"] == new["lists"]["/opds/v2/catalog"]
    for chapter in (*old["chapters"].values(), *new["chapters"].values()):
        assert isinstance(chapter, dict)
        assert chapter["title"] and chapter["images"] and chapter["links"] == chapter["pages"]
        for status, type, size in chapter["loaded"]:
            assert status == 200 and type.startswith("image/") and size > 100
        url, type, size = chapter["archive"]
        assert type == CBZ
        assert (example.folder / urlsplit(url).path.removeprefix("/")).stat().st_size == size
    by_series = {path.removeprefix("/opds/v2"): chapter for path, chapter in new["chapters"].items()}
    assert len(by_series) >= 8
    assert {path: facts(old["chapters"][f"/opds/v1.2{path}"]) for path in by_series} == {
        path: facts(chapter) for path, chapter in by_series.items()
    }


def facts(chapter: object) -> list[object]:
    assert isinstance(chapter, dict)
    # OPDS 1.2 has the cover twice: as an image and as its own thumbnail.
    return [*(chapter[name] for name in ("title", "authors", "pages", "loaded", "archive")), set(chapter["images"])]
