"""Unusual requests for a site with unusual names: Caddy and Apache answer as nginx does, or refuse the request."""

import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from generator import encoding
from generator.api.payloads.resources import HTML, JSON
from generator.hosts.plain.export import export_for
from generator.review.verify_server import check_server
from tests.conftest import Site
from tests.hosts.plain_cases import Case, public
from tests.hosts.unusual_site import ENCODED, unusual_site
from tests.support import plain_hosts
from tests.support.nginx_client import Answer, Web
from tests.support.plain_hosts import Pair, seen

SERVERS = {"caddy": plain_hosts.caddy, "apache": plain_hosts.apache}
NOT_IMPLEMENTED = (501, b'{"detail":"Not implemented."}')


@pytest.fixture(scope="module")
def served_by_nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Web]]:
    with unusual_site(tmp_path_factory.mktemp("unusual")) as served:
        yield served


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("caddy", marks=plain_hosts.needs_caddy),
        pytest.param("apache", marks=plain_hosts.needs_apache),
    ],
)
def pair(request: pytest.FixtureRequest, served_by_nginx: tuple[Site, Web]) -> Iterator[Pair]:
    site, nginx = served_by_nginx
    with plain_hosts.readable_folder() as folder:
        export_for(site.store, request.param, folder / request.param)
        with SERVERS[request.param](folder / request.param) as web:
            yield Pair(site, nginx, web, lambda answer: answer)


def both(pair: Pair, path: str) -> tuple[Answer, Answer]:
    return pair.nginx.ask(path), pair.other.ask(path)


@pytest.mark.parametrize(
    "slug",
    [
        *("Upper-Case", "upper-case", "UPPER-CASE", "old_name", "OLD_NAME", "LOWER"),
        *("members-2", "MEMBERS-2", "old-members", "No-Such", "no-such", "~"),
    ],
)
def test_pages_of_a_series_in_any_letter_case(pair: Pair, slug: str) -> None:
    """A restricted series needs an API key in any spelling, and an unknown one has no pages."""
    expected, answer = both(pair, f"/api/v2/pages?series={slug}&volume=0&number=1")
    assert seen(answer) == seen(expected)
    assert answer.status == (401 if "members" in slug.lower() else 200)


def test_each_path_has_its_body(pair: Pair) -> None:
    """Apache's export leaves out the names that it cannot serve; they are a 404 in JSON."""
    left_out = {quote(name, safe="") for name in ENCODED} if pair.other.folder.name == "apache" else set()
    paths = [body.url for body in public(pair.site)]
    lost = [path for path in paths if path.rstrip("/").rpartition("/")[2] in left_out]
    text = pair.differences(Case(path) for path in paths if path not in lost)
    assert not text, text
    assert len(lost) == 2 * len(left_out)
    for path in lost:
        answer = pair.other.ask(path)
        assert (answer.status, answer["content-type"]) == (404, JSON if path.startswith("/api/") else HTML)
        assert answer.body == pair.nginx.ask("/api/v2/nope" if path.startswith("/api/") else "/nope").body


def test_apache_warns_of_names_that_it_cannot_serve(served_by_nginx: tuple[Site, Web], tmp_path: Path) -> None:
    warnings = export_for(served_by_nginx[0].store, "apache", tmp_path / "export").warnings
    assert "/api/v2/categories/50%25: this host cannot serve a path with an escaped %, ? or #; left out" in warnings
    assert len(warnings) == 2 * len(ENCODED)


@pytest.mark.end_to_end
def test_verify_does_not_expect_what_an_export_leaves_out(pair: Pair) -> None:
    """The export has a warning for each of these paths."""
    url = f"http://127.0.0.1:{pair.other.port}"
    result = check_server(pair.site.store, url, time.monotonic, host=pair.other.folder.name)
    assert result.faults == []


@pytest.mark.parametrize("rest", ['"x', "a<b", "a>b", "a\\b", "1/x\\"])
def test_redirects_repeat_no_character_that_json_escapes(pair: Pair, rest: str) -> None:
    """A path below an old slug is an error if it has a character that valid clients escape."""
    for path in (f"/api/series/hostile-old/{rest}", f"/api/v2/series/hostile-old/{rest}"):
        answer = pair.other.ask(path)
        assert answer.status in (400, 404)
        assert encoding.parse(answer.body)
    expected, answer = both(pair, f"/reader/hostile-old/{quote(rest)}")
    assert seen(answer) == seen(expected) and answer.status == 308


@pytest.mark.parametrize(
    "url",
    [
        *("series?%73tatus=hiatus", "series?a=1&p%61ge=2", "series?page=1&%6C%69mit=1", "chapters?%73eries=lower"),
        *("chapters?date%5Fformat=timestamp", "chapters?a&date%5fformat=x", "series/lower/chapters?dat%65_format=x"),
        *("chapters?date_format=%69so-8601", "chapters?date_format=%78", "chapters?date_format=x"),
        *("pages?%73eries=lower&volume=0&number=1", "pages?series=no&volume=0&number=1&%73eries=lower"),
        *("pages?series=lower&volume=0&number=1&number=2", "pages?series=lower&volume=00&number=1e0"),
        *(f"pages?series=lower&series={slug}&volume=0&number=1" for slug in ("Upper-Case", "%41", "")),
        *("pages?volume=0&number=1&series=No-Such&series=LOWER", "pages?series=%6Cower&volume=0&number=1"),
    ],
)
def test_unusual_parameters(pair: Pair, url: str) -> None:
    """The response is that of nginx, or 501: a whole list would be wrong."""
    expected, answer = both(pair, f"/api/v2/{url}")
    assert (answer.status, answer.body) in ((expected.status, expected.body), NOT_IMPLEMENTED)


@pytest.mark.parametrize("query", ["%C3%A9=1", "a=%73", "%73", "a=1&%20=2", "%54itle=x"])
def test_other_escapes_in_a_query(pair: Pair, query: str) -> None:
    """Parameters that have no meaning are ignored."""
    for url in ("series", "chapters"):
        expected, answer = both(pair, f"/api/v2/{url}?{query}")
        assert seen(answer) == seen(expected) and answer.status == 200
