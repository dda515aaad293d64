"""http.conf and server.conf included in another server, which has settings and locations of its own."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.api.payloads.errors import MESSAGES
from tests.conftest import Serve, Site, copy_of
from tests.support import nginx_client as server
from tests.support.golden import bodies
from tests.support.nginx_client import Answer, Web
from tests.support.tables import each

SITE = "everything"

# Settings that the other server may have for all of its locations.
OTHER_SETTINGS = """
    default_type text/html;
    types { text/plain json; }
    charset utf-8;
    charset_types *;
    gzip on;
    gzip_min_length 1;
    gzip_types *;
    gzip_proxied any;
    etag on;
    if_modified_since before;
    max_ranges 5;
    expires 1h;
    autoindex on;
    index index.html;
    error_page 404 405 412 /other/error;
    error_page 400 413 414 501 505 /other/error;
    add_header X-Other yes always;
    add_header X-Frame-Options DENY always;
    proxy_set_header X-Other yes;
    proxy_intercept_errors on;
    open_file_cache off;
    client_max_body_size 1k;
"""
LOCATIONS = """
    location / { try_files $uri =404; }
    location = /other/error { internal; return 200 "other error"; }
    location /other/ { return 200 "other"; }
    location /apiary { return 200 "bees"; }
    location ~ \\.json$ { return 200 "any json"; }
    location ~ ^/api/ { return 200 "any api"; }
"""
# For a 408 nginx closes the connection without a response.
STATUSES = sorted(MESSAGES.keys() - {408})
LOCATIONS += "".join(
    f"location = /status/{status} {{ include dist/current/errors.conf; return {status}; }}\n" for status in STATUSES
)


def conf(listener: socket.socket, settings: str, locations: str) -> str:
    """The main configuration of the other server."""
    return f"""
worker_processes 1;
pid dist/run/nginx.pid;
error_log dist/run/error.log;
events {{ }}
http {{
    {server.TEMPORARY_PATHS}
    access_log off;
    {settings}
    include dist/current/http.conf;
    server {{
        listen {listener.getsockname()[1]};
        root other;
        {locations}
        include dist/current/server.conf;
    }}
}}
"""


def other_site(folder: Path) -> Site:
    """A built site beside the files of the other server."""
    site = copy_of(SITE, folder)
    site.build()
    (folder / "other").mkdir()
    (folder / "other/page.html").write_text("<p>page")
    return site


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """The API's locations between those of the other server."""
    folder = tmp_path_factory.mktemp("other")
    other_site(folder)
    with server.listening() as listener:
        (folder / "other.conf").write_text(conf(listener, OTHER_SETTINGS, LOCATIONS))
        with server.running(folder, listener, "other.conf") as started:
            yield started
            assert started.complaints("client intended to send too large body") == []


def comparable(response: Answer) -> tuple[int, dict[str, str], bytes]:
    """The parts of a response that must be the same on both servers. The Server header may differ."""
    return response.status, {**response.fields, "server": "nginx"}, response.body


REQUESTS = {
    "200": {},
    "gzip": {"Accept-Encoding": "gzip"},
    "304": {"If-None-Match": "*"},
    "304 to gzip": {"If-None-Match": "*", "Accept-Encoding": "gzip"},
    "condition that holds": {"If-Match": "*"},
    "condition that holds, gzip": {"If-Match": "*", "Accept-Encoding": "gzip"},
    "412": {"If-Match": '"other"'},
    "412 to gzip": {"If-Match": '"other"', "Accept-Encoding": "gzip"},
    "range": {"Range": "bytes=0-3"},
    "date": {"If-Modified-Since": "Fri, 31 Dec 9999 23:59:59 GMT"},
}


@each("method", ["GET", "HEAD", "OPTIONS", "POST"])
@each("headers", REQUESTS)
@each(
    "path",
    [
        "/api/series",
        "/api/v1/series/long-road/",
        "/api/series/empty",
        "/api/nothing",
        "/api/authors/abc",
        "/api",
        "/api/x.json",
    ],
)
def test_api_is_the_same_as_on_its_own_server(
    web: Web, serve: Serve, path: str, headers: dict[str, str], method: str
) -> None:
    """No setting of the other server changes a header or a byte."""
    own = serve(SITE)[1]

    assert comparable(web.ask(path, method, **headers)) == comparable(own.ask(path, method, **headers))


def test_every_resource_is_served(web: Web) -> None:
    """Paths outside the API belong to the other server."""
    urls = [url for url in bodies(SITE) if url.startswith("/api/")]

    assert {url: web.ask(url).body for url in urls} == {url: bodies(SITE)[url] for url in urls}


@each(
    ("path", "status", "body"),
    [
        ("/page.html", 200, b"<p>page"),
        ("/other/", 200, b"other"),
        ("/apiary", 200, b"bees"),
        ("/other.json", 200, b"any json"),
        ("/nothing", 404, b"other error"),
        ("/other", 404, b"other error"),
        ("/_flatpanel/nothing", 404, b"other error"),
        ("/_flatpanel/error", 404, b"other error"),
    ],
)
def test_other_locations_are_unchanged(web: Web, path: str, status: int, body: bytes) -> None:
    """They keep their files, errors and headers."""
    response = web.ask(path)

    assert (response.status, response.body) == (status, body)
    assert (response["x-other"], response["x-frame-options"], response["access-control-allow-origin"]) == (
        "yes",
        "DENY",
        None,
    )


def test_malformed_request_gets_the_error_of_the_other_server(web: Web) -> None:
    """Without a path, no location of the API applies."""
    response = server.parse(web.raw(b"HELLO\r\n\r\n"))

    assert (response.status, response.body) == (400, b"other error")


@each("status", STATUSES)
def test_errors_conf_has_a_body_for_every_status(web: Web, status: int) -> None:
    """nginx writes no page of its own where errors.conf is included."""
    response = web.ask(f"/status/{status}")

    assert response.status == status
    assert response.body == f'{{"error":"{MESSAGES[status]}","status":{status}}}'.encode()
    assert (response["content-type"], response["access-control-allow-origin"]) == ("application/json", "*")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_failed_second_request_is_502(tmp_path: Path, method: str) -> None:
    """A condition needs a request of nginx to itself, which may fail."""
    other_site(tmp_path)
    path = tmp_path / "dist/current/server.conf"
    text = path.read_text()
    assert text.count("$fp_self:$server_port$request_uri") == 1
    path.write_text(text.replace("$fp_self:$server_port$request_uri", "127.0.0.1:1$request_uri"))
    with server.listening() as listener:
        (tmp_path / "other.conf").write_text(conf(listener, "", ""))
        with server.running(tmp_path, listener, "other.conf") as started:
            response = started.ask("/api/series", method, If_Match="*")

    assert (response.status, response["content-type"], response["cache-control"]) == (
        502,
        "application/json",
        "no-store",
    )
    assert response.body == (b"" if method == "HEAD" else b'{"error":"Bad gateway","status":502}')
