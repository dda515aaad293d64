"""At which address `serve` answers, and where links lead then."""

import http.client
import re
import socket

import pytest

from generator.catalog import loopback
from generator.errors import FlatpanelError
from generator.nginx import process
from generator.release.store import Store
from tests.commands.test_serve import FIRST, SERIES, ask, edit, free_port, serving
from tests.conftest import AS_OF, Site
from tests.support import tree_snapshot
from tests.support.author_catalogs import Run

CHAPTER = "chapters:\n  - {id: 1, number: 1, published: 2020-01-01, pages: [1.png]}\n"


@pytest.fixture
def local(site: Site) -> Site:
    """A site of this machine, for another port than any test serves it at."""
    site.write("site.yaml", "base_url: http://localhost:8000\n")
    site.write("series/first.yaml", SERIES.format("First") + CHAPTER)
    return site


def body(port: int, url: str) -> tuple[str, str | None]:
    """What is answered, and the field Location."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", url)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return text, answer.headers["Location"]


@pytest.mark.parametrize("arguments", [(), ("--no-cache",)])
def test_at_another_port_every_link_leads_to_that_port(local: Site, arguments: tuple[str, ...]) -> None:
    """Bodies, the index and `Location` name the port that answers; what is built for base_url stays untouched."""
    local.build()
    before = tree_snapshot.state(local.folder / "dist"), (local.folder / "nginx.conf").stat()
    with serving(local, *arguments) as served:
        base = f"http://localhost:{served.port}"
        texts = [body(served.port, url)[0] for url in (FIRST, "/", "/api/v2/series/first", "/api/v2/openapi.json")]
        location = body(served.port, "/api/v2/chapters/1/read")[1]

    assert location == f"{base}/reader/first/0/1/"
    assert all("localhost:8000" not in text for text in texts)
    assert f'"{base}/media/series/first/c.png"' in texts[0]
    assert (tree_snapshot.state(local.folder / "dist"), (local.folder / "nginx.conf").stat()) == before
    own = local.folder / ".flatpanel_serve" / str(served.port)
    assert {path.name for path in own.iterdir()} == {"dist", "nginx.conf", "cache"} - (
        {"cache"} if arguments else set()
    )


def test_it_says_what_is_built_where(local: Site) -> None:
    """One line names the address, the folder and what stays as it is."""
    with serving(local) as served:
        said = served.first

    folder = local.folder / ".flatpanel_serve" / str(served.port)
    dist = local.folder / "dist"
    assert f"building for http://localhost:{served.port} in {folder}; {dist} is for http://localhost:8000\n" in said
    assert not dist.exists()


def test_at_its_own_address_a_site_is_served_as_it_is_built(site: Site) -> None:
    """A build and `serve` at the port of base_url make the same release."""
    port = free_port()
    site.write("site.yaml", f"base_url: http://127.0.0.1:{port}\n")
    before = site.build().release
    with serving(site, "--as-of", str(AS_OF), "--port", str(port)) as served:
        assert ask(port).status == 200
    assert served.port != port
    assert site.store.current() == before
    assert not (site.folder / ".flatpanel_serve").exists()


def test_that_links_lead_to_a_public_address_is_said_once(site: Site) -> None:
    """Where base_url is public, the site is built for it, and one line says so."""
    with serving(site, "--watch") as served:
        said = served.first
        if "the base_url of the site\n" not in said:
            said += served.until("the base_url of the site\n")
        edit(site, "series/first.yaml", SERIES.format("Fjrst"))
        later = served.until(" is live")

    assert said.count("links in responses lead to https://minimal.example, the base_url of the site\n") == 1
    assert "minimal.example" not in later
    assert site.store.current()


def test_base_url_may_change_while_the_site_is_watched(local: Site) -> None:
    """From the moment at which base_url is public, the site is built for it, in dist/, and back again.

    Settings that are wrong change no folder.
    """
    with serving(local, "--watch") as served:
        before = tree_snapshot.files(local.folder)
        edit(local, "site.yaml", "base_url: nowhere\n")
        served.until("still serving the previous release")
        assert tree_snapshot.files(local.folder) == before

        edit(local, "site.yaml", "base_url: https://comics.example\n")
        assert " from now on" in served.until(" is live")
        assert '"https://comics.example/media/series/first/c.png"' in body(served.port, FIRST)[0]
        assert local.store.current()

        edit(local, "site.yaml", "base_url: http://localhost:8000\n")
        served.until(" is live")
        assert f'"http://localhost:{served.port}/media/series/first/c.png"' in body(served.port, FIRST)[0]


def test_a_problem_in_the_settings_is_told_as_by_a_build(site: Site, run: Run) -> None:
    """Without settings there is no port to look at; the build says what is wrong with them."""
    site.write("site.yaml", "base_url: nowhere\n")
    result = run("serve", *tree_snapshot.options(site))

    assert result.exit_code == 1
    assert result.stderr.startswith(f"{site.folder}/catalog_src/site.yaml:1:11: base_url: ")


def test_watching_stamps_lines_and_names_series(site: Site) -> None:
    """Each line after an edit begins with the time; the series that changed are named, whatever happened to them."""
    edits = {
        "series/first.yaml": SERIES.format("Fjrst"),
        "series/third.yaml": SERIES.format("Third"),
        "authors.yaml": "# nothing\n" + (site.folder / "catalog_src/authors.yaml").read_text(),
    }
    said = []
    with serving(site, "--watch") as served:
        if "the base_url of the site\n" not in served.first:
            served.until("the base_url of the site\n")
        for path, text in edits.items():
            edit(site, path, text)
            said.append(served.until(" is live"))
        (site.folder / "catalog_src/series/third.yaml").unlink()
        said.append(served.until(" is live"))
        edit(site, "series/first.yaml", "titel: First\n")
        said.append(served.until("still serving the previous release"))

    lines = "".join(said).splitlines()
    assert [line for line in lines if not re.match(r"\d\d:\d\d:\d\d ", line)] == []
    assert [line.partition("is live; ")[2] for line in lines if " is live" in line] == [
        "changed series: first",
        "changed series: third",
        "no series changed",
        "changed series: third",
    ]
    assert any(re.fullmatch(r"\d\d:\d\d:\d\d       \| \^", line) for line in lines)


def test_of_many_series_ten_are_named(site: Site) -> None:
    """A change of the whole site is one short line."""
    for number in range(11):
        site.write(f"series/more-{number}.yaml", SERIES.format("More"))
    with serving(site, "--watch") as served:
        edit(site, "site.yaml", "base_url: https://other.example\n")
        said = served.until(" is live")

    assert re.search(r"changed series: first, more-0, (?:more-\d+, ){7}more-7 and 3 more\n", said)


# IPv6


def six() -> socket.socket:
    """A socket of IPv6 on this machine's own address."""
    found = socket.socket(socket.AF_INET6)
    try:
        found.bind(("::1", 0))
    except OSError:
        found.close()
        pytest.skip("this machine has no IPv6")
    return found


def test_localhost_is_answered_on_ipv6_too(site: Site) -> None:
    """`localhost` is ::1 first in many programs."""
    six().close()
    with serving(site) as served, socket.create_connection(("::1", served.port), timeout=60) as client:
        client.sendall(f"GET {FIRST} HTTP/1.1\r\nHost: test\r\nIf-Match: *\r\nConnection: close\r\n\r\n".encode())
        assert client.makefile("rb").readline() == b"HTTP/1.1 200 OK\r\n"


def test_a_port_that_is_taken_on_ipv6_is_refused() -> None:
    """A program that has ::1 alone would answer in place of the site."""
    with six() as other:
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(FlatpanelError, match=f"port {port} cannot be used: Address already in use"):
            process.free_port(port)


def test_a_machine_without_ipv6_serves_on_ipv4(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system knows no such family of addresses."""
    monkeypatch.setattr(process.socket, "AF_INET6", 12345)

    assert process.free_port(free_port()) == ""


@pytest.mark.parametrize(("line", "lines"), [("", []), ("ipv6: true\n", ["        listen [::]:8000 default_server;"])])
def test_the_ready_made_file_listens_on_ipv6_if_the_site_says_so(site: Site, line: str, lines: list[str]) -> None:
    """By default it works on machines without."""
    site.write("site.yaml", f"base_url: https://minimal.example\n{line}")
    site.build()
    text = (site.folder / "nginx.conf").read_text()

    assert [one for one in text.splitlines() if "[::" in one] == lines


# Loopback addresses


@pytest.mark.parametrize(
    ("base_url", "port", "found", "local"),
    [
        ("http://localhost:8000", 8000, "http://localhost:8000", True),
        ("http://localhost:8000", 8101, "http://localhost:8101", True),
        ("http://LocalHost", 8101, "http://LocalHost:8101", True),
        ("http://localhost", 80, "http://localhost", True),
        ("https://localhost:8443", 8443, "http://localhost:8443", True),
        ("http://127.0.0.1:8000", 8101, "http://127.0.0.1:8101", True),
        ("http://127.1.2.3", 8101, "http://127.1.2.3:8101", True),
        ("http://comics.localhost:8000", 8101, "http://comics.localhost:8101", True),
        ("https://localhost.example", 8101, "https://localhost.example", False),
        ("https://notlocalhost", 8101, "https://notlocalhost", False),
        ("http://127.0.0.1.example:8000", 8101, "http://127.0.0.1.example:8000", False),
        ("http://10.0.0.1:8000", 8101, "http://10.0.0.1:8000", False),
    ],
)
def test_only_a_loopback_address_is_replaced(base_url: str, port: int, found: str, local: bool) -> None:
    """The host stays as it is written."""
    assert loopback.local_base_url(base_url, port) == found
    assert loopback.is_loopback(base_url) is local


def test_a_build_for_a_loopback_address_warns(local: Site, run: Run) -> None:
    """What is published would lead every reader to the reader's own machine."""
    result = run("build", *tree_snapshot.options(local))
    sentence = (
        f"warning: {local.folder}/catalog_src/site.yaml: base_url is http://localhost:8000, which works only on "
        "this machine; set it to the public URL of the site before you publish it\n"
    )

    assert (result.exit_code, result.stderr) == (0, sentence)
    local.write("site.yaml", "base_url: https://comics.example\n")
    assert run("build", *tree_snapshot.options(local)).stderr == ""


def test_serve_does_not_warn_of_a_loopback_address(local: Site) -> None:
    """It is the right address while one looks at the site."""
    port = free_port()
    local.write("site.yaml", f"base_url: http://localhost:{port}\n")
    with serving(local, "--port", str(port)) as served:
        assert "warning" not in served.first
    assert Store(local.folder / "dist").current()
