"""The URL at which `serve` responds, and the URLs in its responses."""

import re
import socket

import pytest

from generator import server_url
from generator.errors import FlatpanelError
from generator.nginx import process
from tests.commands.test_serve import FIRST, SERIES, ask, edit, own_addresses, serving
from tests.conftest import AS_OF, Site
from tests.support import tree_snapshot
from tests.support.author_catalogs import Run
from tests.support.runs import everything
from tests.support.servers import free_port

CHAPTER = "chapters:\n  - {id: 1, number: 1, published: 2020-01-01, pages: [1.png]}\n"


@pytest.fixture
def local(site: Site) -> Site:
    """A site with a loopback base_url on another port than the test uses."""
    site.write("site.yaml", "base_url: http://localhost:8000\n")
    site.write("series/first.yaml", SERIES.format("First") + CHAPTER)
    return site


@pytest.mark.parametrize("arguments", [(), ("--no-cache",)] if everything else [()])
def test_links_use_the_port_of_serve(local: Site, arguments: tuple[str, ...]) -> None:
    """In bodies, the index and `Location`. The build for base_url is not touched; one line names both."""
    local.build()
    before = tree_snapshot.state(local.folder / "dist"), (local.folder / "nginx.conf").stat()
    with serving(local, *arguments) as served:
        base = f"http://localhost:{served.port}"
        texts = [
            ask(served.port, url).body.decode() for url in (FIRST, "/", "/api/v2/series/first", "/api/v2/openapi.json")
        ]
        location = ask(served.port, "/api/v2/chapters/1/read")["location"]

    assert location == f"{base}/reader/first/0/1/"
    assert all("localhost:8000" not in text for text in texts)
    assert f'"{base}/media/series/first/c.png"' in texts[0]
    assert (tree_snapshot.state(local.folder / "dist"), (local.folder / "nginx.conf").stat()) == before
    own = local.folder / ".flatpanel_serve" / str(served.port)
    places = f"building for {base} in {own}; {local.folder / 'dist'} is for http://localhost:8000\n"
    assert places in served.first and "warning" not in served.first
    assert {path.name for path in own.iterdir()} == {"dist", "nginx.conf", "cache"} - (
        {"cache"} if arguments else set()
    )


@pytest.mark.end_to_end
def test_serve_at_base_url_makes_the_same_release_as_build(site: Site) -> None:
    """Only another port needs a build of its own."""
    port = free_port()
    site.write("site.yaml", f"base_url: http://127.0.0.1:{port}\n")
    before = site.build().release
    with serving(site, "--as-of", str(AS_OF), "--port", str(port)) as served:
        assert ask(port).status == 200
    assert served.port != port and "warning" not in served.first
    assert site.store.current() == before
    assert not (site.folder / ".flatpanel_serve").exists()


def test_watch_follows_a_changed_base_url(local: Site) -> None:
    """The site is built into dist for a public base_url, and back again.

    Invalid settings change no folder.
    """
    with serving(local, "--watch") as served:
        before = tree_snapshot.files(local.folder)
        edit(local, "site.yaml", "base_url: nowhere\n")
        served.until("still serving the previous release")
        assert tree_snapshot.files(local.folder) == before

        edit(local, "site.yaml", "base_url: https://comics.example\n")
        assert " from now on" in served.until(" is live")
        assert '"https://comics.example/media/series/first/c.png"' in ask(served.port).body.decode()
        assert local.store.current()

        edit(local, "site.yaml", "base_url: http://localhost:8000\n")
        served.until(" is live")
        assert f'"http://localhost:{served.port}/media/series/first/c.png"' in ask(served.port).body.decode()


def test_serve_prints_problems_of_the_settings(site: Site, run: Run) -> None:
    """As a build does, although the port is unknown."""
    site.write("site.yaml", "base_url: nowhere\n")
    result = run("serve", *tree_snapshot.options(site))

    assert result.exit_code == 1
    assert result.stderr.startswith(f"{site.folder}/catalog_src/site.yaml:1:11: base_url: ")


@pytest.mark.end_to_end
def test_watch_prints_times_and_changed_series(site: Site) -> None:
    """Each line after an edit begins with the time. A public base_url is named once, and at most ten series are."""
    for number in range(11):
        site.write(f"series/more-{number}.yaml", SERIES.format("More"))
    people = (site.folder / "catalog_src/authors.yaml").read_text()
    public = "links in responses lead to https://minimal.example, the base_url of the site\n"
    printed = []
    with serving(site, "--watch") as served:
        first = served.first
        if public not in first:
            first += served.until(public)
        edit(site, "authors.yaml", f"# nothing\n{people}")
        printed.append(served.until(" is live"))
        (site.folder / "catalog_src/series/more-10.yaml").unlink()
        printed.append(served.until(" is live"))
        edit(site, "site.yaml", "base_url: https://other.example\n")
        printed.append(served.until(" is live"))
        edit(site, "series/first.yaml", "titel: First\n")
        printed.append(served.until("still serving the previous release"))

    lines = "".join(printed).splitlines()
    assert [line for line in lines if not re.match(r"\d\d:\d\d:\d\d ", line)] == []
    *changed, last = [line.partition("is live; ")[2] for line in lines if " is live" in line]
    assert changed == ["no series changed", "changed series: more-10"]
    assert re.fullmatch(r"changed series: first, more-0, (?:more-\d, ){7}more-8 and 2 more", last)
    assert first.count(public) == 1 and "minimal.example" not in "".join(printed)
    assert any(re.fullmatch(r"\d\d:\d\d:\d\d       \| \^", line) for line in lines)


# Addresses of nginx


def ipv6_socket() -> socket.socket:
    """A listening socket on ::1."""
    listener = socket.socket(socket.AF_INET6)
    try:
        listener.bind(("::1", 0))
    except OSError:
        listener.close()
        pytest.skip("this machine has no IPv6")
    return listener


def test_a_port_in_use_on_ipv6_is_an_error() -> None:
    """Another program would respond in place of the site."""
    with ipv6_socket() as other:
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(FlatpanelError, match=f"port {port} of ::1 cannot be used: Address already in use"):
            process.addresses(port)


def test_a_machine_without_ipv6_serves_on_ipv4(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system does not support IPv6."""
    monkeypatch.setattr(process.socket, "AF_INET6", 12345)

    port = free_port()
    assert process.addresses(port) == [f"127.0.0.1:{port}"]


def accepts(address: str, port: int) -> bool:
    """Whether a program of this machine can connect to an address."""
    try:
        socket.create_connection((address, port), timeout=300).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.mark.parametrize(
    ("hosts", "place", "listens", "is_open"),
    [
        ([], "localhost", "127.0.0.1:{0} and [::1]:{0}: only this machine can open it (see --host)", False),
        (["0.0.0.0", "::"], "localhost", "0.0.0.0:{0} and [::]:{0}: other machines can open it", True),
        (["127.0.0.2", "127.0.0.2"], "127.0.0.2", "127.0.0.2:{0}: only this machine can open it (see --host)", True),
    ],
    ids=["default", "all addresses", "one address"],
)
def test_serve_listens_on_loopback_unless_told_otherwise(
    local: Site, hosts: list[str], place: str, listens: str, is_open: bool
) -> None:
    """It says where. A catalog in the making is for this machine; other machines need --host.

    127.0.0.2 stands for the other addresses of this machine, which not every machine has.
    """
    ipv6_socket().close()
    with serving(local, *(word for host in hosts for word in ("--host", host))) as served:
        first = served.first
        others = {address for address in own_addresses() if not address.startswith("127.")}

        assert (accepts("127.0.0.1", served.port), accepts("::1", served.port)) == (place == "localhost",) * 2
        assert accepts("127.0.0.2", served.port) is is_open
        assert [accepts(address, served.port) for address in others] == ["0.0.0.0" in hosts] * len(others)
        assert f"listening on {listens.format(served.port)}\n" in first
        assert f"serving http://{place}:{served.port}/ (Ctrl-C stops)\n" in first
        if "0.0.0.0" in hosts:
            link = f"links in responses lead to http://localhost:{served.port}, the base_url of the site\n"
            assert link in first or link in served.until(link)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--host", "fe80::1%a b;"], 2, "'fe80::1%a b;' has a zone, which nginx does not know; pass an address"),
        (["--host", "nas"], 2, "'nas' does not appear to be an IPv4 or IPv6 address; pass an address of this machine"),
        (
            ["--host", "192.0.2.1", "--port", "8123"],
            1,
            "port 8123 of 192.0.2.1 cannot be used: Cannot assign requested address; choose another with --host",
        ),
        (["--host", "0.0.0.0", "--preview"], 2, "so it is for this machine only; omit --host"),
    ],
    ids=["with a zone", "a name", "of another machine", "of a preview"],
)
def test_an_address_that_serve_cannot_use_is_refused(
    site: Site, run: Run, arguments: list[str], code: int, sentence: str
) -> None:
    """Before anything is built. A preview has chapters that are not published."""
    result = run("serve", *tree_snapshot.options(site), *arguments)

    assert (result.exit_code, sentence in result.stderr) == (code, True)
    assert not (site.folder / "dist").exists()


@pytest.mark.parametrize(("line", "addresses"), [("", ["8000"]), ("ipv6: true\n", ["8000", "[::]:8000"])])
def test_nginx_conf_listens_on_all_addresses(site: Site, line: str, addresses: list[str]) -> None:
    """It is for servers and containers. By default without IPv6, for machines without it."""
    site.write("site.yaml", f"base_url: https://minimal.example\n{line}")
    site.build()
    text = (site.folder / "nginx.conf").read_text()

    assert re.findall(r"(?m)^ +listen (.+) default_server;$", text) == addresses


# Loopback base URLs


@pytest.mark.parametrize(
    ("base_url", "port", "expected", "local"),
    [
        ("http://localhost:8000", 8000, "http://localhost:8000", True),
        ("http://localhost:8000", 8101, "http://localhost:8101", True),
        ("http://LocalHost", 8101, "http://LocalHost:8101", True),
        ("http://localhost", 80, "http://localhost", True),
        ("https://localhost:8443", 8443, "http://localhost:8443", True),
        ("http://127.1.2.3", 8101, "http://127.1.2.3:8101", True),
        ("http://comics.localhost:8000", 8101, "http://comics.localhost:8101", True),
        ("https://localhost.example", 8101, "https://localhost.example", False),
        ("https://notlocalhost", 8101, "https://notlocalhost", False),
        ("http://127.0.0.1.example:8000", 8101, "http://127.0.0.1.example:8000", False),
        ("http://10.0.0.1:8000", 8101, "http://10.0.0.1:8000", False),
    ],
)
def test_only_a_loopback_base_url_is_replaced(base_url: str, port: int, expected: str, local: bool) -> None:
    """The host name is kept."""
    assert server_url.local_base_url(base_url, port) == expected
    assert server_url.is_loopback(base_url) is local
