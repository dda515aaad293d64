"""The core and nginx answer the same requests, on sites of several kinds."""

from collections.abc import Iterator

import pytest

from tests.support import core_server, host_sites, odd_requests, odd_targets, runs, same_answers
from tests.support.core_server import needs_node
from tests.support.host_sites import HostSite
from tests.support.odd_requests import Request

pytestmark = needs_node
# nginx itself judges these two if they are empty, and answers 412. An empty header cannot be told from none elsewhere.
JUDGED_BY_NGINX = ("If-Match", "If-Unmodified-Since")
PRIVATE = ("/of/one/bookmarks", "/of/index/series", "/of/foo/profile", "/query/pages/~/0/0", "/index", "/bad/pages")
METHODS = ("GET", "HEAD", "POST", "OPTIONS", "TRACE", "FOO_BAR-", "get")
HEADERS = (
    (("X-API-Key", "key-one"), ("Accept-Encoding", "gzip")),
    (("If-None-Match", "*"), ("Accept-Encoding", "gzip")),
    (("If-Match", "*"), ("Accept-Encoding", "gzip")),
    (("If-Match", '"x"'),),
)


@pytest.fixture(scope="module", params=host_sites.NAMES if runs.everything else ("v2", "pages"))
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HostSite, int]]:
    """A site, and the port of the core that answers with it."""
    folder = tmp_path_factory.mktemp(request.param)
    with (
        host_sites.served_site(request.param, folder) as site,
        core_server.serving(site.site, folder / "javascript") as port,
    ):
        yield site, port


def report(served: tuple[HostSite, int], requests: list[Request]) -> str:
    site, port = served
    ports = {"nginx": site.web.port, "core": port}
    found = same_answers.differences(ports, runs.sample(requests, 4))
    return same_answers.report(found, ports) if found else ""


def is_judged_by_nginx(request: Request) -> bool:
    """Whether nginx answers by itself: two hosts, one that is none, chunks in HTTP/1.0, or an empty condition."""
    headers = dict(request.headers)
    has_chunks = request.version == "1.0" and "Transfer-Encoding" in headers
    has_other_host = not request.features.isdisjoint(("two hosts", "host of nginx"))
    return has_other_host or has_chunks or any(headers.get(name) == "" for name in JUDGED_BY_NGINX)


def test_odd_requests_get_the_same_answers(served: tuple[HostSite, int]) -> None:
    requests = odd_requests.requests(served[0].words, 31, 1500)

    assert report(served, [request for request in requests if not is_judged_by_nginx(request)]) == ""


def test_every_url_gets_the_same_answer(served: tuple[HostSite, int]) -> None:
    """With two or three of: gzip, and each key."""
    site = served[0]
    headers = [(("Accept-Encoding", "gzip"),), *((("X-API-Key", key),) for key in site.words.keys)]
    requests = [Request(target.url, headers=sent) for target in site.words.targets for sent in headers]

    assert report(served, requests[::2]) == ""


def test_odd_targets_get_the_same_answers(served: tuple[HostSite, int]) -> None:
    """With each method, and with headers that other requests of this kind have."""
    targets = [target.encode().decode("latin-1") for target in odd_targets.TARGETS]
    requests = [Request(target, method) for target in targets for method in METHODS]
    requests += [Request(target, headers=headers) for target in targets for headers in HEADERS]
    requests += [
        Request(target, method, (("Transfer-Encoding", "chunked"),), "0\r\n\r\n")
        for target in targets
        for method in ("GET", "POST")
    ]

    assert report(served, requests) == ""


def test_no_path_is_a_key(served: tuple[HostSite, int]) -> None:
    """Keys that are no paths cannot be requested, with any API key."""
    site = served[0]
    paths = [*PRIVATE, *(f"{path}/" for path in PRIVATE), "/404", "/private"]
    paths += [f"/_flatpanel/{name}" for name in ("search", "error", "options", "refused")]
    sent = [(), *((("X-API-Key", key),) for key in site.words.keys)]
    methods = ("GET", "HEAD", "POST", "OPTIONS")
    requests = [Request(path, method, headers) for path in paths for headers in sent for method in methods]

    assert report(served, requests) == ""


def test_long_requests_are_refused(served: tuple[HostSite, int]) -> None:
    """A request line or a header line of more than 8 kB; lines that fit are read."""
    requests = [Request(f"/api/v2/series?x={'y' * length}") for length in range(8155, 8170)]
    requests += [Request(f"/api/{'%C3%A9' * 1360}/{'y' * length}") for length in range(8)]
    requests += [Request("/api/v2/series", headers=(("X-Long", "y" * length),)) for length in range(8170, 8190)]
    requests += [Request(f"{path}{'z' * 9000}") for path in ("/", "/api/", "/api/v2/", "/api/v1/", "//api//v2/")]

    assert report(served, requests) == ""
