"""`export --for apache`: a real Apache answers as nginx does, from nothing but an .htaccess and its sidecars."""

from collections.abc import Iterator

import pytest

from generator.hosts.plain.export import export_for
from tests.conftest import Serve
from tests.hosts.plain_cases import ODD, AnswersAsNginx, Case
from tests.support import plain_hosts
from tests.support.plain_hosts import Pair, Seen, without

REFUSED = ("POST", "DELETE")
OWN = [
    *(case for case in ODD if case.method == "HEAD"),
    Case("/api/series%00"),
    Case("/nope", "OPTIONS"),
]
pytestmark = [pytest.mark.hosts, plain_hosts.needs_apache]


def simplified(answer: Seen) -> Seen:
    """A 304 of Apache has no Content-Type, and the Content-Encoding of its body."""
    return without(answer, "content-type", "content-encoding") if answer[0] == 304 else answer


@pytest.fixture(scope="module", params=["pages", "everything"])
def pair(request: pytest.FixtureRequest, serve: Serve) -> Iterator[Pair]:
    site, nginx = serve(request.param)
    with plain_hosts.readable_folder() as folder:
        export_for(site.store, "apache", folder / "export")
        with plain_hosts.apache(folder / "export") as web:
            yield Pair(site, nginx, web, simplified)


class TestApache(AnswersAsNginx):
    pass


def test_odd_requests(pair: Pair) -> None:
    text = pair.differences(case for case in ODD if case.method not in REFUSED and case not in OWN)
    assert not text, text


def test_requests_that_apache_itself_answers(pair: Pair) -> None:
    """The HEAD of an error has no length. An encoded NUL and OPTIONS outside the API do not reach all rules."""
    for case in OWN:
        answer = case.send(pair.other)
        assert answer.status in (404, 204 if case.method == "OPTIONS" else 404)
        assert answer.body in (b"", b'{"error":"Not found","status":404}')
        assert not answer.body or answer["content-type"] == "application/json"


def test_other_methods_are_refused(pair: Pair) -> None:
    """A second header Allow is of Apache itself."""
    for case in (case for case in ODD if case.method in REFUSED):
        expected, answer = case.send(pair.nginx), case.send(pair.other)
        assert (answer.status, answer.body) == (expected.status, expected.body)
        assert answer["cache-control"] == expected["cache-control"]
        assert answer.all("allow")[:1] == expected.all("allow")


def test_sidecars_are_not_served(pair: Pair) -> None:
    for path in ("/.htaccess", "/api/authors.json.headers", "/../apache.conf", "/_flatpanel/page.json"):
        assert pair.other.ask(path).status in (400, 403, 404)


@pytest.mark.parametrize("pair", ["pages"], indirect=True)
def test_redirects_repeat_no_api_key(pair: Pair) -> None:
    """Not a second one either, nor one whose name is escaped. No cache stores them."""
    path = "/api/series/folding-moons"
    for query in ("api_key=a", "api_key=a&api_key=b", "x=1&api_key=a&y=2&api_key=b", "x=1&%61pi%5Fkey=a"):
        answer = pair.other.ask(f"{path}?{query}")
        assert (answer.status, answer["cache-control"]) == (308, "private, no-store")
        assert "key" not in answer["location"].lower() and b"key" not in answer.body.lower()
    assert pair.other.ask(f"{path}?x=1&api_key=a&y=2")["location"].endswith("/api/series/moons?x=1&y=2")
