"""Images of `media_folder`, served by nginx."""

import os
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import quote

import pytest

from generator.nginx import config
from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from tests.conftest import AS_OF, Site, copy_of, serving
from tests.responses.test_included_in_other_server import OTHER_SETTINGS, conf
from tests.support import nginx_client
from tests.support.nginx_client import Web
from tests.support.tables import each

FOLDER = 'files/my {images}; return 200 "#"; 霧'
BODY = b"an image, as far as nginx can tell"
JPEG = "series/first/cover.jpg"
TYPES = {
    JPEG: "image/jpeg",
    "series/first/0/1/1.JPEG": "image/jpeg",
    "series/first/0/1/a page.Png": "image/png",
    "series/first/0/1/#1 50%?.webp": "image/webp",
    "series/first/0/1/100%20.gif": "image/gif",
    "groups/1/霧 ü.avif": "image/avif",
    'users/ada/it\'s "x" & $host {1}.png': "image/png",
    "001.png": "image/png",
}
# Files and links that must not be served.
NOT_IMAGES = ["page.html", "drawing.svg", "archive.zip", "jpg", "x.jpg.txt", ".cover.jpg", ".git/x.jpg", "a/.b/x.png"]
NOT_FOUND = b'{"error":"Not found","status":404}'


def write(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(BODY)


def fill(media: Path) -> None:
    """Write images, files of other kinds, and links."""
    for name in (*TYPES, *NOT_IMAGES):
        write(media / name)
    write(media.parent / "secret.jpg")
    (media / "folder.jpg").mkdir()
    (media / "out.jpg").symlink_to(media.parent / "secret.jpg")
    (media / "in.jpg").symlink_to(JPEG)
    (media / "up").symlink_to("..")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """The ready-made configuration with a folder of images whose name could be read as directives."""
    site = copy_of("minimal", tmp_path_factory.mktemp("media"))
    fill(site.folder / FOLDER)
    site.write("site.yaml", f"base_url: https://a.example\nmedia_folder: '{FOLDER}'\n")
    with serving(site) as running:
        yield running
        assert running.complaints() == []


@each(("name", "type"), TYPES.items())
def test_image_is_sent_with_its_type(server: Web, name: str, type: str) -> None:
    """Endings count in any letter case; any character of a file name can be in a URL."""
    answer = server.ask(f"/media/{quote(name)}")

    assert (answer.status, answer.body) == (200, BODY)
    assert answer.fields == {
        "server": "nginx",
        "connection": "close",
        "content-type": type,
        "content-length": str(len(BODY)),
        "last-modified": answer["last-modified"],
        "etag": answer["etag"],
        "accept-ranges": "bytes",
        "cache-control": "public, max-age=2592000",
        "x-content-type-options": "nosniff",
        "access-control-allow-origin": "*",
        "access-control-expose-headers": "ETag",
        "cross-origin-resource-policy": "cross-origin",
    }


@each(
    "path",
    [
        *NOT_IMAGES,
        *("", "series/", "series/first", "series/none.jpg", "folder.jpg", "folder.jpg/", f"{JPEG}/", f"{JPEG}%0a"),
        *("in.jpg", "out.jpg", "up/secret.jpg", f"up/{quote(FOLDER)}/{JPEG}", "SERIES/first/cover.jpg"),
        *("../secret.jpg", "%2e%2e/secret.jpg", "..%2fsecret.jpg", "series/..%2f..%2fsecret.jpg"),
    ],
)
def test_anything_else_is_404_in_json(server: Web, path: str) -> None:
    """No listing, no dot files, no links, no redirect from a folder."""
    answer = server.ask(f"/media/{path}")

    assert (answer.status, answer.body) == (404, NOT_FOUND)
    assert answer["content-type"] == "application/json"
    assert answer["cache-control"] == "public, max-age=60"
    assert answer["access-control-allow-origin"] == "*"


def test_methods_are_those_of_the_api(server: Web) -> None:
    url = f"/media/{JPEG}"
    head, options, post = (server.ask(url, method) for method in ("HEAD", "OPTIONS", "POST"))

    assert (head.status, head["content-length"]) == (200, str(len(BODY)))
    assert (options.status, options["allow"]) == (204, "GET, HEAD, OPTIONS")
    assert options["access-control-allow-origin"] == "*"
    assert (post.status, post["allow"]) == (405, "GET, HEAD, OPTIONS")
    assert post.body == b'{"error":"Method not allowed","status":405}'
    chunked = f"GET {url} HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    assert server.raw(chunked.encode()).startswith(b"HTTP/1.1 400 ")


def test_conditions_and_ranges_are_evaluated_by_nginx(server: Web) -> None:
    """No header is repeated, not even in a 416."""
    url = f"/media/{JPEG}"
    whole = server.ask(url)
    etag, date = str(whole["etag"]), str(whole["last-modified"])
    for headers, status in (
        ({"If_None_Match": etag}, 304),
        ({"If_None_Match": '"x"'}, 200),
        ({"If_Match": '"x"'}, 412),
        ({"If_Modified_Since": date}, 304),
        ({"If_Modified_Since": "Fri, 01 Jan 2100 00:00:00 GMT"}, 304),
        ({"If_Modified_Since": "Sat, 01 Jan 2000 00:00:00 GMT"}, 200),
    ):
        answer = server.ask(url, **headers)
        assert (headers, answer.status) == (headers, status)
        assert status != 304 or (answer["content-length"], answer["etag"]) == (None, etag)
    part, outside = server.ask(url, Range="bytes=3-7"), server.ask(url, Range="bytes=900-")
    assert (part.status, part.body, part["content-range"]) == (206, BODY[3:8], f"bytes 3-7/{len(BODY)}")
    assert (outside.status, outside.body) == (416, b'{"error":"Range not satisfiable","status":416}')
    assert (outside.fields["content-range"], outside["content-type"]) == (f"bytes */{len(BODY)}", "application/json")


CBZ = "archives/first/2/10.5.cbz"
NAMES = {
    CBZ: "first v2 c10.5.cbz",
    "archives/Long-slug_1/0/1-version-12.cbz": "Long-slug_1 v0 c1-version-12.cbz",
}
NO_ARCHIVES = (
    *(
        "first/2/10.5.cbz",
        "archives/1.cbz",
        "archives/first/2.cbz",
        "archives/first/2/10.5.CBZ",
        "archives/first/2/x.cbz",
    ),
    *("archives/fi.rst/0/1.cbz", "archives/first/2/.10.5.cbz.new", "archives/first/2/10.5.cbz/1.cbz"),
    *("archives/first/0/0/1.cbz", "archivesx/first/2/10.5.cbz", "series/archives/first/2/10.5.cbz"),
    *("archives/first/2/link.cbz", "archives/first/2/10.5.zip", "archives/first/2/10.5.cbz.html"),
)


def archive_site(folder: Path, apps: str = "apps: [archives]") -> AbstractContextManager[Web]:
    """A site with archives at a path that is read as a pattern if it is not escaped."""
    site = copy_of("minimal", folder)
    for name in (*NAMES, JPEG):
        write(folder / "media" / name)
    settings = f"base_url: https://a.example\nmedia: /m.d/\nmedia_folder: media\n{apps}\n"
    site.write("site.yaml", f"{settings}cache: {{v2: {{series: 7}}}}\n")
    return serving(site)


def test_archives_are_sent_from_their_folder_alone(tmp_path: Path) -> None:
    """With their type and a name that is made of the path, by ranges, and not longer in caches than a chapter."""
    with archive_site(tmp_path) as server:
        for name, saved in NAMES.items():
            answer = server.ask(f"/m.d/{name}")
            image = server.ask(f"/m.d/{JPEG}")
            assert (answer.status, answer.body, image.status) == (200, BODY, 200)
            assert {**answer.fields, **{field: image[field] for field in ("etag", "last-modified")}} == {
                **image.fields,
                "content-type": "application/vnd.comicbook+zip",
                "content-disposition": f'attachment; filename="{saved}"',
                "cache-control": "public, max-age=7",
            }
        assert image["cache-control"] == "public, max-age=2592000"
        part = server.ask(f"/m.d/{CBZ}", Range="bytes=3-7")
        assert (part.status, part.body, part["content-range"]) == (206, BODY[3:8], f"bytes 3-7/{len(BODY)}")
        assert server.ask(f"/m.d/{CBZ}", If_None_Match=server.ask(f"/m.d/{CBZ}")["etag"] or "").status == 304
        for name in NO_ARCHIVES:
            path = tmp_path / "media" / name
            if not path.is_relative_to(tmp_path / "media" / CBZ):
                write(path)
        (tmp_path / "media/archives/first/2/link.cbz").unlink()
        (tmp_path / "media/archives/first/2/link.cbz").symlink_to("10.5.cbz")
        served = {name: server.ask(f"/m.d/{name}").status for name in NO_ARCHIVES}
        assert served == dict.fromkeys(NO_ARCHIVES, 404)
        missing = server.ask("/m.d/archives/first/2/11.cbz")
        assert (missing.status, missing["content-disposition"], missing.body) == (404, None, NOT_FOUND)
        assert [server.ask(f"/mxd/{CBZ}").status, server.ask(f"/m.d/{CBZ}?x").status] == [404, 200]


def test_without_the_setting_no_archive_is_sent(tmp_path: Path) -> None:
    """The location of the images is that of a site without archives, letter by letter."""
    with archive_site(tmp_path, "apps: [opds]") as server:
        assert server.ask(f"/m.d/{CBZ}").status == 404
    conf = (tmp_path / "dist/current/media.conf").read_text()
    assert not [word for word in ("cbz", "archive", "fp_") if word in conf.replace("$fp_family", "")]


def test_replaced_image_is_sent_at_once(server: Web) -> None:
    path = server.folder / FOLDER / "series/first/replaced.png"
    write(path)
    before = server.ask("/media/series/first/replaced.png")
    path.with_name("new").write_bytes(b"another")
    path.with_name("new").rename(path)
    after = server.ask("/media/series/first/replaced.png", If_None_Match=before["etag"] or "")

    assert (before.body, after.status, after.body) == (BODY, 200, b"another")


def test_unreadable_image_is_404(server: Web) -> None:
    """nginx would answer 403."""
    path = server.folder / FOLDER / "loop.jpg"
    path.symlink_to("loop.jpg")
    closed = server.folder / FOLDER / "closed.jpg"
    write(closed)
    closed.chmod(0)

    assert server.ask("/media/loop.jpg").status == 404
    assert server.ask("/media/closed.jpg").status == (200 if os.access(closed, os.R_OK) else 404)


def test_api_is_unchanged_beside_the_images(server: Web) -> None:
    assert server.ask("/api/series").status == 200
    assert server.ask("/media").body == NOT_FOUND
    assert server.ask("/api/v2/../../media/none.jpg").body == NOT_FOUND
    assert server.ask("/mediated/x.jpg").status == 404


def test_settings_of_another_server_do_not_change_images(tmp_path: Path) -> None:
    """Other locations, types, caches, ranges and error pages."""
    site = copy_of("minimal", tmp_path)
    fill(tmp_path / "media")
    site.write("site.yaml", "base_url: https://a.example\nmedia_folder: media\ncache: {media: 7}\n")
    site.build()
    (tmp_path / "other").mkdir()
    locations = "location / { return 200 other; } location ~ [.]jpg$ { return 200 other; }"
    settings = OTHER_SETTINGS.replace("open_file_cache off;", "open_file_cache max=10; open_file_cache_valid 1h;")
    settings = settings.replace("etag on;", "etag off;").replace("if_modified_since before;", "if_modified_since off;")
    with nginx_client.listening() as listener:
        include = f"{locations} include dist/current/media.conf;"
        (tmp_path / "other.conf").write_text(conf(listener, settings, include))
        with nginx_client.running(tmp_path, listener, "other.conf") as other:
            other.ask(f"/media/{JPEG}")
            (tmp_path / "new").write_bytes(BODY * 9)
            (tmp_path / "new").rename(tmp_path / "media" / JPEG)
            answer = other.ask(f"/media/{JPEG}", Accept_Encoding="gzip")
            fresh = other.ask(f"/media/{JPEG}", If_Modified_Since=answer["last-modified"] or "")
            ranges = other.ask(f"/media/{JPEG}", Range="bytes=0-0,2-2,4-4,6-6,8-8")
            missing, outside = other.ask("/media/x.jpg"), other.ask(f"/media/{JPEG}", Range="bytes=900-")

    assert (answer.status, answer.body, answer["cache-control"]) == (200, BODY * 9, "public, max-age=7")
    assert answer["etag"] and fresh.status == 304
    assert answer["content-type"] == "image/jpeg"
    assert (answer["expires"], answer["x-other"], answer["content-encoding"]) == (None, None, None)
    assert ranges.status == 200
    assert (missing.status, missing.body) == (404, NOT_FOUND)
    assert (outside.status, outside["cache-control"]) == (416, "public, max-age=7")


def test_earlier_release_without_images_is_served(site: Site) -> None:
    """After a rollback, the main file includes a media.conf that does not exist."""
    site.build()
    without = site.store.current()
    before = (site.folder / "nginx.conf").read_text()
    write(site.folder / "media" / JPEG)
    with nginx_client.listening() as listener:
        port = listener.getsockname()[1]
        site.write("site.yaml", f"base_url: https://a.example\nport: {port}\nmedia_folder: media\n")
        site.build()
        site.roll_back(without)
        with nginx_client.running(site.folder, listener) as server:
            assert server.ask("/api/series").status == 200
            assert server.ask(f"/media/{JPEG}").status == 404

    assert "media" not in before
    assert not (site.folder / "dist/current" / config.MEDIA_FILE).exists()


def test_server_folder_contains_the_images(site: Site, tmp_path: Path) -> None:
    server_folder = tmp_path / "srv"
    write(tmp_path / "media" / JPEG)
    with nginx_client.listening() as listener:
        port = listener.getsockname()[1]
        settings = f"port: {port}\nmedia_folder: media\nserver_folder: {server_folder}\n"
        site.write("site.yaml", f"base_url: https://a.example\n{settings}")
        site.build()
        server_folder.mkdir()
        for name in ("dist", "media"):
            shutil.move(tmp_path / name, server_folder)
        main = str(tmp_path / "nginx.conf")
        with nginx_client.running(Path("/"), listener, conf=main, prefix="/") as server:
            assert server.ask(f"/media/{JPEG}").body == BODY


def test_configuration_elsewhere_names_the_folder_of_the_project(site: Site, tmp_path: Path) -> None:
    """Images belong to the catalog's project; a main file in another folder has their absolute path."""
    site.write("site.yaml", "base_url: https://a.example\nmedia_folder: media\nmedia: https://a.example/img/\n")
    paths = (site.folder / "catalog_src", tmp_path / "other/dist", tmp_path / "other/nginx.conf")
    os.mkdir(tmp_path / "other")
    pipeline.build(Options(*paths, AS_OF))
    text = (tmp_path / "other/dist/current" / config.MEDIA_FILE).read_text()

    assert f"alias {tmp_path}/media/;" in text
    assert "location ^~ /img/ {" in text
