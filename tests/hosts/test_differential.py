"""nginx and the edge workers answer the same: 2,500 odd requests to each, on sites of several kinds."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support import edge_servers, host_sites, odd_requests, same_answers
from tests.support.edge_servers import RUNTIMES, on_edge_runtimes
from tests.support.host_sites import HostSite
from tests.support.nginx_client import Answer
from tests.support.odd_requests import Request
from tests.support.same_answers import Reason

pytestmark = on_edge_runtimes

# How many requests each site gets.
COUNTS = {"v2": 1000, "pages": 1000, "everything": 500}
SEED = 17
STATUSES = {200, 204, 304, 308, 400, 401, 404, 405, 412, 451}


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, HostSite]]:
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(host_sites.served_site(name, tmp_path_factory.mktemp(name)))
            for name in host_sites.NAMES
        }


def requests_to(site: HostSite) -> list[Request]:
    return odd_requests.requests(site.words, SEED, COUNTS[site.name])


def test_the_same_seed_gives_the_same_requests(sites: dict[str, HostSite]) -> None:
    assert requests_to(sites["pages"]) == requests_to(sites["pages"])


def test_requests_are_of_all_kinds(sites: dict[str, HostSite]) -> None:
    """Each form of paths, queries, conditions, codings and keys occurs, and each status is an answer to some."""
    features: Counter[str] = Counter()
    statuses: Counter[int] = Counter()
    for site in sites.values():
        requests = requests_to(site)
        features.update(feature for request in requests for feature in request.features)
        statuses.update(answer.status for answer in same_answers.ask_all(site.web.port, requests))
        assert site.web.complaints() == []

    named = {*odd_requests.SPELLINGS, *odd_requests.PARAMETERS, *odd_requests.METHODS, *odd_requests.KINDS}
    for name in odd_requests.CONDITIONS:
        named |= {f"{name} {form}" for form in (odd_requests.DATES if "Since" in name else odd_requests.TAGS)}
    assert {name: features[name] for name in named if features[name] < 2} == {}
    assert {status: statuses[status] for status in STATUSES if statuses[status] < 20} == {}


def is_empty_condition(request: Request, found: Answer) -> bool:
    return any(name in ("If-Match", "If-Unmodified-Since") and not value for name, value in request.headers)


def has_escape_in_fragment(request: Request, found: Answer) -> bool:
    return re.search("#[^?]*%(?:2F|00)", request.target, re.IGNORECASE) is not None


# What a server decides before the worker, or our configuration of nginx, sees the request.
REASONS = (
    Reason("workerd: only HTTP/1.1", lambda request, found: (request.version, found.status) == ("1.0", 400)),
    Reason("workerd: known methods only", lambda request, found: (request.method, found.status) == ("BREW", 501)),
    Reason("workerd: letters that URLs escape", lambda request, found: found["content-type"] == "text/plain"),
    Reason("workerd: an empty host is refused as plain text", lambda request, found: request.host == ""),
    Reason("deno: two hosts", lambda request, found: "two hosts" in request.features),
    Reason("deno: chunks in HTTP/1.0", lambda request, found: (found.status, found.body) == (400, b"")),
    # By RFC 9110, an invalid condition does not count. nginx takes an empty one for one that fails.
    Reason("nginx: empty condition", is_empty_condition),
    # RFC 9112, 3.2: an invalid Host is 400.
    Reason("nginx: hosts that are none", lambda request, found: "host of nginx" in request.features),
    # No client sends a fragment. nginx and Deno refuse %2F and %00 in it as well.
    Reason("workerd: fragments are cut off", has_escape_in_fragment),
)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_edge_workers_answer_as_nginx(sites: dict[str, HostSite], runtime: str) -> None:
    """Status, headers and body are equal, except for what a server decides by itself."""
    reasons = [reason for reason in REASONS if reason.text.startswith((runtime, "nginx"))]
    used = set()
    for name, site in sites.items():
        with edge_servers.running(runtime, site.packed) as server:
            ports = {"nginx": site.web.port, runtime: server.port}
            found = same_answers.differences(ports, requests_to(site))
            left = [difference for difference in found if not difference.explained_by(reasons)]

            assert left == [], f"site {name}: {same_answers.report(left)}"
        used |= {reason.text for difference in found for reason in difference.explained_by(reasons)}
    assert used == {reason.text for reason in reasons}, "a reason without a difference"
    assert len(REASONS) < 10
