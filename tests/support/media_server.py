"""A real nginx that serves a folder of images, folders of tiny images, and a catalog that names them in every way."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import Site
from tests.support import nginx_client
from tests.support.images import image

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
    *("groups/4/logo.png", "users/ada/me.png", "users/c@d/me.jpg", "series/one/cover.jpg", "series/one/0/1/1.png"),
    *("series/one/0/1/2.png", "series/one/0/1/3.png", "series/one/2/2.5/a b#.gif", "series/one/2/2.5/紙.webp"),
)


def write_catalog(site: Site, *, media: str = "", licensed: bool = False, restricted: bool = False) -> None:
    """Replace the series of a test site by one that names FILES."""
    for file in (site.folder / "catalog_src/series").iterdir():
        file.unlink()
    values = {"licensed": str(licensed).lower(), "restricted": str(restricted).lower()}
    site.write("series/one.yaml", CHAPTERS.format(**values))
    site.write("groups.yaml", GROUPS)
    site.write("accounts.yaml", ACCOUNTS)
    site.write("site.yaml", "base_url: https://comics.example\n" + (f"media: {media}\n" if media else ""))


_CONF = """
pid nginx.pid;
events {{ }}
http {{
    {temporary}
    access_log requests.log combined;
    error_log error.log;
    types {{ image/png png; image/jpeg jpg jpeg; image/gif gif; image/webp webp; image/avif avif; text/html html;
             image/svg+xml svg; }}
    server {{
        listen {port};
        location /media/ {{ root .; {rules} }}
        location = /logged {{ access_log off; return 204; }}
    }}
}}
"""


class MediaServer:
    """The folder `media` at the path /media/, and the requests for it."""

    def __init__(self, web: nginx_client.Web) -> None:
        self._web, self._log = web, web.folder / "requests.log"
        self.media = web.folder / "media"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._web.port}/media"

    @property
    def requests(self) -> list[str]:
        """Method, path and status of each request."""
        # A request is logged after its response, but before the next request.
        assert self._web.ask("/logged").status == 204
        lines = self._log.read_text().splitlines()
        parts = [line.split('"') for line in lines]
        return [f"{request.rpartition(' ')[0]} {after.split()[0]}" for _, request, after, *_ in parts]

    def forget(self) -> None:
        assert self._web.ask("/logged").status == 204
        self._log.write_text("")


@contextmanager
def media_server(folder: Path, rules: str = "") -> Iterator[MediaServer]:
    """nginx with more `rules` for the images."""
    folder.mkdir(parents=True, exist_ok=True)
    with nginx_client.listening() as listener:
        port = listener.getsockname()[1]
        (folder / "nginx.conf").write_text(_CONF.format(port=port, rules=rules, temporary=nginx_client.TEMPORARY_PATHS))
        with nginx_client.running(folder, listener) as web:
            yield MediaServer(web)


def fill(folder: Path, paths: Iterable[str]) -> None:
    """Write an image for each path; a path of no image gets some text."""
    for path in paths:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            file.write_bytes(image(path))
        except KeyError:
            file.write_bytes(b"text")
