"""http.conf and server.conf included in a server of somebody else, who has settings and locations of their own."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.api.payloads.errors import MESSAGES
from tests.conftest import Serve, Site, copy_of
from tests.nginx.test_quoting import temporary
from tests.responses.test_golden import bodies
from tests.support import nginx_client as server
from tests.support.nginx_client import Answer, Web

SITE = "everything"

# Whatever a server may have said for all of its locations.
HOUSE_RULES = """
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
    error_page 404 405 412 /house/error;
    error_page 400 413 414 501 505 /house/error;
    add_header X-House yes always;
    add_header X-Frame-Options DENY always;
    proxy_set_header X-House yes;
    proxy_intercept_errors on;
    open_file_cache off;
    client_max_body_size 1k;
"""
LOCATIONS = """
    location / { try_files $uri =404; }
    location = /house/error { internal; return 200 "house error"; }
    location /house/ { return 200 "house"; }
    location /apiary { return 200 "bees"; }
    location ~ \\.json$ { return 200 "any json"; }
    location ~ ^/api/ { return 200 "any api"; }
"""
# nginx answers a 408 by closing the connection.
STATUSES = sorted(MESSAGES.keys() - {408})
LOCATIONS += "".join(
    f"location = /status/{status} {{ include dist/current/errors.conf; return {status}; }}\n" for status in STATUSES
)


def conf(listener: socket.socket, rules: str, locations: str) -> str:
    """A main file that a foreigner wrote."""
    return f"""
worker_processes 1;
pid dist/run/nginx.pid;
error_log dist/run/error.log;
events {{ }}
http {{
    {temporary()}
    access_log off;
    {rules}
    include dist/current/http.conf;
    server {{
        listen {listener.getsockname()[1]};
        root house;
        {locations}
        include dist/current/server.conf;
    }}
}}
"""


def house(folder: Path) -> Site:
    """A built site beside somebody's files."""
    site = copy_of(SITE, folder)
    site.build()
    (folder / "house").mkdir()
    (folder / "house/page.html").write_text("<p>page")
    return site


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    """Our locations between somebody else's."""
    folder = tmp_path_factory.mktemp("foreign")
    house(folder)
    with server.listening() as listener:
        (folder / "foreign.conf").write_text(conf(listener, HOUSE_RULES, LOCATIONS))
        with server.running(folder, listener, "foreign.conf") as started:
            yield started
            assert started.complaints("client intended to send too large body") == []


def alike(answer: Answer) -> tuple[int, dict[str, str], bytes]:
    """What must be the same on both servers; who they are may differ."""
    return answer.status, {**answer.fields, "server": "nginx"}, answer.body


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


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST"])
@pytest.mark.parametrize("kind", REQUESTS)
@pytest.mark.parametrize(
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
def test_the_api_is_answered_as_on_a_server_of_its_own(
    web: Web, serve: Serve, path: str, kind: str, method: str
) -> None:
    """No setting of the server around it reaches an answer, header for header and byte for byte."""
    own = serve(SITE)[1]

    assert alike(web.ask(path, method, **REQUESTS[kind])) == alike(own.ask(path, method, **REQUESTS[kind]))


def test_every_resource_is_there(web: Web) -> None:
    """All but the index, which is the server's own."""
    urls = [url for url in bodies(SITE) if url != "/"]

    assert {url: web.ask(url).body for url in urls} == {url: bodies(SITE)[url] for url in urls}


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("/page.html", 200, b"<p>page"),
        ("/house/", 200, b"house"),
        ("/apiary", 200, b"bees"),
        ("/other.json", 200, b"any json"),
        ("/nothing", 404, b"house error"),
        ("/house", 404, b"house error"),
        ("/_flatpanel/nothing", 404, b"house error"),
        ("/_flatpanel/error", 404, b"house error"),
    ],
)
def test_the_other_locations_stay_as_they_are(web: Web, path: str, status: int, body: bytes) -> None:
    """Their files, their errors, their headers."""
    answer = web.ask(path)

    assert (answer.status, answer.body) == (status, body)
    assert (answer["x-house"], answer["x-frame-options"], answer["access-control-allow-origin"]) == (
        "yes",
        "DENY",
        None,
    )


def test_a_request_that_is_none_is_answered_by_the_house(web: Web) -> None:
    """Without a path there is no location of ours that could answer."""
    answer = server.parse(web.raw(b"HELLO\r\n\r\n"))

    assert (answer.status, answer.body) == (400, b"house error")


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_a_body_of_ours(web: Web, status: int) -> None:
    """Whoever raises it: where errors.conf is included, nginx writes no page of its own."""
    answer = web.ask(f"/status/{status}")

    assert answer.status == status
    assert answer.body == f'{{"error":"{MESSAGES[status]}","status":{status}}}'.encode()
    assert (answer["content-type"], answer["access-control-allow-origin"]) == ("application/json", "*")


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_server_that_cannot_ask_itself_says_so(tmp_path: Path, method: str) -> None:
    """The second request that a condition needs may fail, and that is an error like any other."""
    house(tmp_path)
    path = tmp_path / "dist/current/server.conf"
    text = path.read_text()
    assert text.count("$fp_self:$server_port$request_uri") == 1
    path.write_text(text.replace("$fp_self:$server_port$request_uri", "127.0.0.1:1$request_uri"))
    with server.listening() as listener:
        (tmp_path / "foreign.conf").write_text(conf(listener, "", ""))
        with server.running(tmp_path, listener, "foreign.conf") as started:
            answer = started.ask("/api/series", method, If_Match="*")

    assert (answer.status, answer["content-type"], answer["cache-control"]) == (502, "application/json", "no-store")
    assert answer.body == (b"" if method == "HEAD" else b'{"error":"Bad gateway","status":502}')
