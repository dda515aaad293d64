"""docs/serving.md and its reference: the files of a build, and the configuration to include in another server."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click import Option

from generator import encoding
from generator.api.payloads import errors
from generator.commands.publish import publish
from generator.hosts.plain.export import export_release
from generator.nginx import process
from tests.conftest import Site, copy_of
from tests.support import nginx_client
from tests.support.documents import DOCUMENTS, blocks, first_cells
from tests.support.paths import ROOT
from tests.support.servers import LIMIT, free_port

SERVING = DOCUMENTS["docs/serving.md"]
REFERENCE = DOCUMENTS["docs/serving-reference.md"]
# A surrounding configuration that rejects other host names and compresses every JSON response.
AROUND = "server {{ listen {port} ssl default_server; ssl_reject_handshake on; }} gzip on; gzip_types application/json;"
CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=comics.example "
    "-addext subjectAltName=DNS:comics.example"
)


def test_every_file_of_a_build_is_explained(site: Site) -> None:
    """The tables list exactly the files of a build."""
    site.write("accounts.yaml", "- username: reader\n")
    site.write("site.yaml", "base_url: https://comics.example\nmedia_folder: media\napps: [komga]\n")
    site.build()
    site.write("series/third.yaml", "title: Third\ncover: c.jpg\n")
    site.build()

    in_dist = {name.split("/")[0] for name in first_cells(REFERENCE, "below `dist/`")}
    in_release = {name.rstrip("/") for name in first_cells(REFERENCE, "in a release")}
    assert in_dist == set(os.listdir(site.folder / "dist"))
    assert in_release == set(os.listdir(site.folder / "dist/current"))


@pytest.fixture(scope="module", params=["listen 443 ssl;", "listen 443 ssl http2;"], ids=["HTTP/1.1", "HTTP/2"])
def own_server(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[nginx_client.Web]:
    """The configuration in the document, with this machine's port and folders, in a strict surrounding server."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed, so there is no certificate")
    site = copy_of("minimal", tmp_path_factory.mktemp("own_server"))
    pair = ["-keyout", f"{site.folder}/privkey.pem", "-out", f"{site.folder}/fullchain.pem"]
    subprocess.run([*CERTIFICATE.split(), *pair], check=True, capture_output=True)
    settings = blocks("docs/serving.md", "yaml")[0].text.replace("/srv/comics", str(site.folder))
    site.write("site.yaml", f"base_url: https://comics.example\n{settings}")
    (site.folder / "media").mkdir()
    (site.folder / "media/image.png").touch()
    site.build()
    with nginx_client.listening() as listener:
        text = whole(request.param).replace("listen 80;", f"listen {free_port()};")
        (site.folder / "nginx.conf").write_text(placed(text, site.folder, listener.getsockname()[1]))
        with nginx_client.running(site.folder, listener) as server:
            yield server


def whole(listen: str) -> str:
    """The configuration in the document, with the lines for TLS inserted."""
    main, secure = (block.text for block in blocks("docs/serving.md", "nginx"))
    assert "listen 443 ssl;" in main and f"`{listen}`" in SERVING
    return main.replace("listen 443 ssl;", listen).replace("    server {", f"{secure}\n    server {{", 1)


def placed(text: str, folder: Path, port: int) -> str:
    module = "load_module modules/ngx_http_js_module.so;"
    assert module in text
    text = text.replace(module, f"load_module {process.find_js_module()};")
    for path in ("/srv/comics", "/etc/ssl/comics.example", "/var/log/nginx"):
        assert path in text
        text = text.replace(path, str(folder))
    around = f"{AROUND.format(port=port)} access_log off; {nginx_client.TEMPORARY_PATHS}"
    text = text.replace("http {\n", f"http {{\n{around}\n").replace("listen 443 ", f"listen {port} ")
    return f"pid {folder}/nginx.pid;\nerror_log stderr;\n{text}"


def curl(server: nginx_client.Web, path: str, *options: str) -> str:
    """Output of curl for one request over TLS, with HTTP/2 where the server has it, from a client that accepts gzip."""
    if not shutil.which("curl") or "HTTP2" not in subprocess.run(["curl", "-V"], capture_output=True, text=True).stdout:
        pytest.skip("curl does not support HTTP/2")
    where = [f"https://comics.example:{server.port}{path}", "--resolve", f"comics.example:{server.port}:127.0.0.1"]
    common = ["--cacert", f"{server.folder}/fullchain.pem", "--max-time", str(LIMIT), "-H", "Accept-Encoding: gzip"]
    command = ["curl", "-s", "--http2", *common, *options, *where]
    return subprocess.run(command, capture_output=True).stdout.decode(errors="replace")


@pytest.mark.parametrize(
    ("path", "field", "status"),
    [
        ("/", "", 200),
        ("/api/series", "", 200),
        ("/api/series", "If-None-Match: *", 304),
        ("/api/series", "If-Match: *", 200),
        ("/api/series", 'If-Match: "other"', 412),
        ("/media/image.png", "", 200),
        ("/media/none.png", "", 404),
        ("/api/unknown", "", 404),
        ("/elsewhere", "", 404),
    ],
)
def test_example_configuration_serves_the_site(
    own_server: nginx_client.Web, path: str, field: str, status: int
) -> None:
    """The example works with TLS, including second requests to itself and errors, and with `http2`."""
    version = "2" if "http2" in (own_server.folder / "nginx.conf").read_text() else "1.1"
    body, _, line = curl(
        own_server, path, "-w", "\n%{http_version} %{http_code}", *(["-H", field] if field else [])
    ).rpartition("\n")

    assert line == f"{version} {status}"
    assert status < 400 or body == encoding.json(errors.error(status)).decode()


def test_the_folders_that_an_ordinary_account_must_set_are_named() -> None:
    """The example is started by root. The lines that the tests add to it are those that the document names."""
    named = set(re.findall(r"`(\w+_temp_path)`", SERVING))

    assert named == set(re.findall(r"\w+_temp_path", nginx_client.TEMPORARY_PATHS))


def test_304_has_no_content_length_over_tls(own_server: nginx_client.Web) -> None:
    """Some clients wait for a body of the announced length."""
    head = curl(own_server, "/api/series", "-I", "-H", "If-None-Match: *").lower()

    assert re.findall(r"^(?:http/\S+ 304|etag|content-\w+)", head, re.MULTILINE) == [
        head.split(" ", 1)[0] + " 304",
        "content-type",
        "etag",
    ]


def test_plain_http_is_redirected_to_https(own_server: nginx_client.Web) -> None:
    """The second server redirects to the first and keeps parameters."""
    (plain,) = re.findall(r"listen (\d+);", (own_server.folder / "nginx.conf").read_text())
    answer = nginx_client.Web(int(plain), own_server.folder, own_server.process).ask("/api/v2/series?page=2")

    assert (answer.status, answer["location"]) == (301, "https://comics.example/api/v2/series?page=2")


def test_the_command_of_a_reload_is_that_of_the_script() -> None:
    """The help and the documents name the command that runs without --reload."""
    script = (ROOT / "generator/hosts/publish/ssh/scripts/release.sh").read_text()
    (command,) = set(re.findall(r"nginx -p \S+ -c \S+ -s reload", script))
    (help,) = (option.help for option in publish.params if isinstance(option, Option) and option.name == "reload")

    assert help and f"[default: {command} in the folder]" in help
    assert f"by default `{command}` in the folder" in DOCUMENTS["docs/serving.md"]


def test_object_store_script_uploads_what_export_writes(site: Site) -> None:
    """The script has a command for each body that `export` writes, with the URL as its key."""
    site.write("categories.yaml", "- {id: slow, name: Slow & steady, modified: 2026-01-01}\n")
    site.build()
    (script,) = blocks("docs/serving-reference.md", "python")
    command = [sys.executable, "-c", script.text]
    output = subprocess.run(command, cwd=site.folder, capture_output=True, text=True, check=True).stdout
    commands = {words[-1]: words for words in map(shlex.split, output.splitlines())}
    exported = export_release(site.store, site.folder / "public")

    assert len(commands) == len(output.splitlines()) == exported
    assert "s3://comics/api/v2/categories/Slow & steady" in commands
    assert commands["s3://comics/api/series"][:6] == [
        *("cp", "--raw", "--content-type", "application/json"),
        *("--cache-control", "public, max-age=300"),
    ]
    for key, words in commands.items():
        body = (site.folder / words[-2]).read_bytes()
        assert f".{encoding.etag(body)}." in words[-2], key


@pytest.mark.parametrize(("field", "status"), [("If-None-Match", 304), ("If-Match", 502)])
def test_behind_a_proxy_protocol_only_if_match_fails(site: Site, field: str, status: int) -> None:
    """The second request has no PROXY line and fails; the error is JSON, and other requests succeed."""
    with nginx_client.listening() as listener:
        port = listener.getsockname()[1]
        site.write("site.yaml", f"base_url: https://comics.example\nport: {port}\n")
        site.build()
        conf = site.folder / "nginx.conf"
        conf.write_text(conf.read_text().replace("default_server;", "default_server proxy_protocol;"))
        with nginx_client.running(site.folder, listener) as server:
            head = f"GET /api/series HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{field}: *\r\n\r\n"
            answer = nginx_client.parse(server.raw(f"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n{head}".encode()))

    assert (answer.status, answer["content-type"]) == (status, "application/json")
