"""`export --for caddy`: a real Caddy answers as nginx does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.hosts.plain.export import export_for
from tests.conftest import Serve, Site
from tests.hosts.plain_cases import ODD, AnswersAsNginx
from tests.support import plain_hosts
from tests.support.plain_hosts import Pair, Seen, without
from tests.support.tables import each

pytestmark = [pytest.mark.hosts, plain_hosts.needs_caddy]


def simplified(answer: Seen) -> Seen:
    """Go sends neither Last-Modified nor Content-Type with a 304."""
    return without(answer, "last-modified", "content-type") if answer[0] == 304 else answer


@pytest.fixture(scope="module", params=["pages", "everything"])
def pair(request: pytest.FixtureRequest, serve: Serve, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    site, nginx = serve(request.param)
    target = tmp_path_factory.mktemp("caddy") / "export"
    export_for(site.store, "caddy", target)
    with plain_hosts.caddy(target) as web:
        yield Pair(site, nginx, web, simplified)


class TestCaddy(AnswersAsNginx):
    pass


def test_odd_requests(pair: Pair) -> None:
    text = pair.differences(ODD)
    assert not text, text


def test_files_beside_the_site_are_not_served(pair: Pair) -> None:
    for path in ("/../flatpanel.caddy", "/%2e%2e/flatpanel.caddy", "/api/authors.json.etag", "/api/../../Caddyfile"):
        assert pair.other.ask(path).status == 404


@pytest.mark.parametrize("pair", ["pages"], indirect=True)
@each("query", ["api_key=a", "x=1&%61pi_key=a", "x=%zz&api_key=a", "x=%&api_key=a", "x;&api_key=a", "api_key=a&x=%4"])
def test_redirects_repeat_no_api_key(pair: Pair, query: str) -> None:
    """Nor a query in which Caddy cannot find one."""
    answer = pair.other.ask(f"/api/series/folding-moons?{query}")
    assert (answer.status, "key" in str(answer["location"]), b"key" in answer.body) == (308, False, False)


@pytest.mark.parametrize("pair", ["pages"], indirect=True)
@each("query", ["x=1", "x=%41&y=100%25", "%7e"])
def test_redirects_repeat_other_queries(pair: Pair, query: str) -> None:
    answer = pair.other.ask(f"/api/series/folding-moons?{query}")
    assert str(answer["location"]).endswith(f"/api/series/moons?{query}")


def test_the_example_is_accepted(pair: Pair) -> None:
    plain_hosts.caddy_accepts(pair.other.folder / "Caddyfile")


@pytest.mark.parametrize("base_url", ["https://comics.example.", "https://comics.example.:8443"])
def test_a_host_that_ends_with_a_dot_is_accepted(base_url: str, site: Site, tmp_path: Path) -> None:
    site.write("site.yaml", f"base_url: {base_url}\n")
    site.build()
    export_for(site.store, "caddy", tmp_path / "export")
    plain_hosts.caddy_accepts(tmp_path / "export/Caddyfile")
