"""No URL of an edge worker gives a file of the packed folder, or a body that needs an API key."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.support import edge_servers, host_sites, same_answers
from tests.support.edge_servers import RUNTIMES, EdgeServer, on_edge_runtimes
from tests.support.host_sites import HostSite
from tests.support.odd_requests import Request

pytestmark = on_edge_runtimes


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostSite]:
    with host_sites.served_site("v2", tmp_path_factory.mktemp("v2")) as served:
        yield served


@pytest.fixture(scope="module", params=RUNTIMES)
def server(request: pytest.FixtureRequest, site: HostSite) -> Iterator[EdgeServer]:
    with edge_servers.running(request.param, site.packed) as started:
        yield started


def spellings(path: str) -> set[str]:
    """URLs that a server may take for a file, if it looks for one."""
    parts = path.split("/")
    below = {"/" + "/".join(parts[at:]) for at in range(len(parts))}
    odd = {
        spelling
        for url in below
        for spelling in (
            url,
            f"/{url}",
            f"/.{url}",
            f"/x/..{url}",
            f"/..{url}",
            f"/x/%2e%2e{url}",
            url.replace("/", "%2F").replace("%2F", "/", 1),
            "/" + quote(url[1:2]).join(("", url[2:])),
            f"/%{ord(url[1]):02x}{url[2:]}",
            f"{url}/",
            f"{url}?",
            f"{url}%00",
            url.upper(),
            f"/ASSETS{url}",
            f"/files{url}",
            f"http://assets.local{url}",
        )
    }
    return odd


def test_no_file_of_the_folder_is_a_url(site: HostSite, server: EdgeServer) -> None:
    """Packs, bodies, modules and settings: each is refused under each spelling of its name."""
    files = [path for path in site.packed.rglob("*") if path.is_file()]
    names = [path.relative_to(site.packed).as_posix() for path in files]
    requests = [Request(url) for name in names for url in sorted(spellings(name))]
    answers = same_answers.ask_all(server.port, requests)

    assert any(name.startswith("files/private/") for name in names)
    assert {answer.status for answer in answers} <= {400, 404}
    assert max(len(answer.body) for answer in answers) < 200
