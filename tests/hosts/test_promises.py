"""Every promise of the table is checked: kept by nginx, and found broken behind a proxy that breaks it."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from http.client import HTTPException
from pathlib import Path

import pytest
from click.testing import Result

from generator import encoding
from generator.api import routes
from generator.catalog.site_paths import APPS
from generator.review.promises.table import PROMISES
from generator.review.verify_server import ServerResult, check_server
from tests.conftest import Serve, Site
from tests.support.lying_proxy import Answer, Asked, Lie, lying
from tests.support.nginx_client import Web
from tests.support.runs import sample
from tests.support.site_variants import served
from tests.support.tables import each

pytestmark = pytest.mark.comparisons

# tests/hosts/test_documented_hosts.py has one with pages, licences and restrictions.
SITES = ("hostile", "imported", "minimal", "v2", "everything")


def check(site: Site, url: str, host: str = "nginx") -> ServerResult:
    return check_server(site.store, url, time.monotonic, host=host)


@pytest.mark.end_to_end
@pytest.mark.parametrize("name", sample(SITES, 5))
def test_nginx_keeps_every_promise(serve: Serve, name: str) -> None:
    """Of sites with and without pages, licences, restrictions and old slugs."""
    site, web = serve(name)

    result = check(site, f"http://127.0.0.1:{web.port}")

    assert result.faults == []
    assert {result.outcome(promise.id) for promise in PROMISES} <= {"kept", "not checked"}


def respond(answer: Answer, status: int, body: bytes = b"{}") -> Answer:
    return answer._replace(status=status, body=body)


def has(asked: Asked, *names: str) -> bool:
    """Whether the request has all these headers."""
    return set(names) <= asked.headers.keys()


def of_page(asked: Asked, answer: Answer) -> bool:
    return answer.status == 200 and (answer.headers.get("Content-Type") or "").startswith("text/html")


def lie(broken: str, asked: Asked, answer: Answer) -> Answer:
    """The response of a server that breaks one promise."""
    plain = answer.status == 200 and asked.method == "GET" and "range" not in asked.headers
    etag = asked.headers.get("if-none-match", "")
    date = asked.headers.get("if-modified-since", "")
    gzipped = answer.headers.get("Content-Encoding") == "gzip"
    match broken:
        case "bodies" if plain and asked.path == "/api/v1/authors":
            return answer._replace(body=b"[]")
        case "pages" if plain and of_page(asked, answer):
            return answer._replace(body=b"<h1>Hello</h1>")
        case "content-type" if answer.status == 200:
            return answer.with_header("Content-Type", "application/octet-stream")
        case "etag" if answer.status in (200, 304):
            return answer.with_header("ETag", '"own"' if not gzipped else 'W/"own"')
        case "last-modified" if answer.status in (200, 304) and answer.headers.get("Last-Modified"):
            return answer.with_header("Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT")
        case "cache-control" if answer.status in (200, 304):
            return answer.with_header("Cache-Control", "no-cache")
        case "cors" if answer.status == 200:
            return answer.with_header("Access-Control-Expose-Headers", None)
        case "gzip" if gzipped and answer.status == 200:
            body = encoding.gunzip(answer.body, 1 << 24)
            etag = (answer.headers["ETag"] or "").removeprefix("W/")
            assert body is not None
            return answer._replace(body=body).with_header("Content-Encoding", None).with_header("ETag", etag)
        case "vary" if answer.status in (200, 304):
            return answer.with_header("Vary", None)
        case "safety" if answer.status == 200:
            return answer.with_header("X-Content-Type-Options", None)
        case "policy":
            return answer.with_header("Content-Security-Policy", None)
        case "date":
            return answer.with_header("Date", None)
        case "length" if answer.status == 200 and asked.path.startswith("/api/authors"):  # ends the connection
            return answer.with_header("Content-Length", None)
        case "both-kinds" if has(asked, "if-unmodified-since", "if-none-match"):
            return respond(answer, 200)
        case "if-none-match" if etag[:1] == '"' and "," not in etag and asked.method == "GET" and answer.status == 304:
            return respond(answer, 200)
        case "if-none-match-weak" if etag.startswith("W/") and answer.status == 304:
            return respond(answer, 200)
        case "if-none-match-list" if "," in etag and answer.status == 304:
            return respond(answer, 200)
        case "if-none-match-any" if etag == "*" and answer.status == 304:
            return respond(answer, 200)
        case "future-date" if "9999" in date:
            return respond(answer, 200)
        case "if-modified-since" if date.endswith("GMT") and "-" not in date and answer.status == 304:
            return respond(answer, 200)
        case "date-forms" if date and (not date.endswith("GMT") or "-" in date) and answer.status == 304:
            return respond(answer, 200)
        case "etag-first" if has(asked, "if-none-match", "if-modified-since"):
            return respond(answer, 304)
        case "if-match" if has(asked, "if-match") and answer.status == 412:
            return respond(answer, 200)
        case "if-unmodified-since" if has(asked, "if-unmodified-since") and answer.status == 412:
            return respond(answer, 200)
        case "not-modified" if answer.status == 304:
            return answer.with_header("Cache-Control", None)
        case "not-modified-date" if answer.status == 304:
            return answer.with_header("Last-Modified", None)
        case "head" if asked.method == "HEAD":
            return answer.with_header("ETag", None)
        case "options" if asked.method == "OPTIONS":
            return respond(answer, 200)
        case "methods" if answer.status == 405 and asked.method != "BREW":
            return answer.with_header("Allow", None)
        case "unknown-methods" if asked.method == "BREW":
            return respond(answer, 501)
        case "ranges" if has(asked, "range"):
            return respond(answer, 206)
        case "final-slash" if asked.path.endswith("/") and asked.path.startswith("/api/") and answer.status == 200:
            return respond(answer, 404)
        case "double-slash" if "//" in asked.path:
            return respond(answer, 404)
        case "letter-case" if asked.path == asked.path.upper() and answer.status == 404 and "-" in asked.path:
            return respond(answer, 200)
        case "other-parameters" if asked.path.endswith("?a=1") and "old" not in asked.path and answer.status == 200:
            return respond(answer, 404)
        case "not-found" if answer.status == 404 and asked.path == "/api/v1/no-such-path":
            return answer._replace(body=b"<h1>404</h1>")
        case "bad-request" if answer.status == 400 and "?" not in asked.path and "pages" not in asked.path:
            return respond(answer, 404)
        case "bad-parameters" if answer.status == 400 and ("?" in asked.path or asked.path == "/api/v2/pages"):
            return respond(answer, 404)
        case "not-found-page" if answer.status == 404 and asked.path.split("/")[1] not in ("api", *APPS):
            return answer._replace(body=b"<h1>404</h1>")
        case "parameters" if plain and ("sort=" in asked.path or "date_format=" in asked.path):
            return answer._replace(body=b"{}")
        case "filters" if answer.status == 200 and ("limit=" in asked.path or "slug=" in asked.path):
            return answer._replace(body=b"{}")
        case "page-not-found" if "page=999999999" in asked.path:
            return respond(answer, 200)
        case "deprecated-pages" if answer.status == 200 and "volume=1&" in asked.path:
            return respond(answer, 404)
        case "licensed" if answer.status == 451:
            return respond(answer, 200)
        case "read" if answer.status == 308 and asked.path.endswith("/read"):
            return answer.with_header("Location", "https://elsewhere.example/")
        case "old-slugs" if answer.status == 308 and not asked.path.endswith("/read"):
            return respond(answer, 404)
        case "app-redirects" if answer.status == 302 and "?" not in asked.path and "/pages/" not in asked.path:
            return answer.with_header("Location", "https://elsewhere.example/")
        case "app-images" if answer.status == 302 and "/pages/" in asked.path:
            return respond(answer, 404)
        case "robots":
            return answer.with_header("X-Robots-Tag", None)
        case "secret" if asked.path.startswith("/private/"):
            return respond(answer, 200)
        case "unauthorized" if answer.status == 401 and not has(asked, "x-api-key"):
            return answer.with_header("WWW-Authenticate", None)
        case "invalid-key" if answer.status == 401 and has(asked, "x-api-key"):
            return answer.with_header("WWW-Authenticate", None)
        case "keys" if has(asked, "x-api-key"):
            return answer.with_header("Cache-Control", "public, max-age=300")
    return answer


BROKEN = [promise.id for promise in PROMISES if promise.check and promise.id != "keys"]
# A server that breaks several of them at once. Those of a group change different responses. Samples have the first one.
GROUPS = sorted((BROKEN[start::8] for start in range(8)), key=lambda group: "length" not in group)


# What else differs: the proxy does not judge conditions by its own ETag, and the length of a HEAD by its own body.
ALSO = {
    "bodies": {"double-slash", "final-slash", "head", "other-parameters"},
    "parameters": {"head"},
    "last-modified": {"if-modified-since", "if-unmodified-since", "date-forms", "both-kinds"},
    "etag": {
        *("if-none-match", "if-none-match-list", "if-none-match-weak", "if-match", "etag-first", "both-kinds", "head")
    },
    "if-none-match": {"etag-first", "both-kinds"},
    "if-modified-since": {"etag-first", "future-date"},
    "robots": {"app-images", "app-redirects", "old-slugs"},
}


def lies(promises: Sequence[str], asked: Asked, answer: Answer) -> Answer:
    for promise in promises:
        answer = lie(promise, asked, answer)
    return answer


# A small site with responses of every kind.
EVERY_KIND = 'pages: true\napps: [komga, opds]\nrestricted: ["/artists/{id}"]'
SERIES = """title: One
cover: c.png
modified: 2026-01-01
{}
chapters: [{{id: {}, number: 1, volume: 1, published: 2026-01-01, modified: 2026-01-01, pages: [1.png]}}]
"""
FILES = {
    "series/first.yaml": SERIES.format("authors: [Ada Penn]\nformerly: [old]", 1),
    "series/second.yaml": SERIES.format("licensed: true", 2),
    "artists.yaml": "- {id: 1, name: Bo, modified: 2026-01-01}\n",
}


@pytest.fixture(scope="module")
def without_its_script() -> Iterator[None]:
    """Nearly two megabytes of a script take most of the time of a check."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routes, "ROUTES", tuple(route for route in routes.ROUTES if "bundle" not in route.path))
        yield


@pytest.fixture(scope="module")
def of_every_kind(without_its_script: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Web]]:
    with served(tmp_path_factory.mktemp("site"), "minimal", settings=EVERY_KIND, files=FILES) as running_site:
        yield running_site


@pytest.fixture(scope="module")
def quick(without_its_script: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Web]]:
    with served(tmp_path_factory.mktemp("site"), "minimal") as running_site:
        yield running_site


@pytest.mark.parametrize("promises", sample(GROUPS, 7), ids=lambda promises: promises[0])
def test_broken_promises_are_found(of_every_kind: tuple[Site, Web], promises: Sequence[str]) -> None:
    """And only those."""
    site, web = of_every_kind

    with lying(web.port, partial(lies, promises)) as url:
        result = check(site, url)

    broken = {name for name, differences in result.differences.items() if differences}
    assert broken >= set(promises)
    assert broken - set(promises) <= {also for promise in promises for also in ALSO.get(promise, ())}
    assert {result.outcome(promise) for promise in promises} == {"broken"}


def test_outcomes_name_what_the_table_says() -> None:
    """A promise that is kept although the table says otherwise is named, so that the table stays exact."""
    result = ServerResult(1, "caddy", {"bodies": ["a"], "etag": [], "filters": [], "keys": ["b"]})

    names = ("bodies", "etag", "filters", "keys", "views", "vary")
    assert {name: result.outcome(name) for name in names} == {
        "bodies": "broken",
        "etag": "kept",
        "filters": "kept, documented as not kept",
        "keys": "not kept",
        "views": "not kept, not checked",
        "vary": "not checked",
    }
    assert result.faults == ["a"]


def test_the_table_is_printed(quick: tuple[Site, Web], run: Callable[..., Result]) -> None:
    """One line for each promise, and the reasons of the host below."""
    site, web = quick
    out = site.folder / "dist"

    result = run("verify", "--out", out, "--url", f"http://127.0.0.1:{web.port}", "--for", "deno", "--table")

    assert result.exit_code == 0
    assert sum(line.startswith(("kept", "not ")) for line in result.stdout.splitlines()) == len(PROMISES)
    assert result.stdout.endswith(
        "deno does not promise views: requests are counted by the host only, not by chapter\n"
    )


def test_hosts_need_a_url(run: Callable[..., Result]) -> None:
    """The options about a server are refused without one."""
    result = run("verify", "--for", "caddy")

    assert (result.exit_code, "need --url" in result.stderr) == (2, True)


def test_lists_that_are_restricted_or_empty(without_its_script: None, tmp_path: Path) -> None:
    """Their parameters need a key, or choose nothing."""
    settings = "restricted: [/series, /chapters, /pages]"
    with served(tmp_path / "restricted", "minimal", settings=settings) as (site, web):
        assert check(site, f"http://127.0.0.1:{web.port}").faults == []
    hidden = {"series/first.yaml": "title: First\ncover: c.png\nmodified: 2026-03-01T00:00:00Z\n"}
    with served(tmp_path / "empty", "minimal", files=hidden) as (site, web):
        assert check(site, f"http://127.0.0.1:{web.port}").faults == []


@pytest.mark.end_to_end
@pytest.mark.parametrize(("times", "found"), [(1, []), (2, ["the response is broken instead of 200"])])
def test_a_connection_that_ends_is_opened_again_once(quick: tuple[Site, Web], times: int, found: list[str]) -> None:
    """A second end before a response is a difference."""
    site, web = quick
    ends = [HTTPException()] * times

    def end(asked: Asked, answer: Answer) -> Answer:
        if asked.path == "/api/v1/groups" and ends:
            raise ends.pop()
        return answer

    with lying(web.port, end) as url:
        faults = check(site, url).faults

    assert [fault.rpartition(": ")[2] for fault in faults] == found


def fail(asked: Asked, answer: Answer) -> Answer:
    return respond(answer, 500) if asked.method == "HEAD" else answer


def misdate(asked: Asked, answer: Answer) -> Answer:
    return answer.with_header("Last-Modified", "yesterday") if answer.headers.get("Last-Modified") else answer


def know_one_letter_case(asked: Asked, answer: Answer) -> Answer:
    return answer._replace(body=b'{"results":[]}') if "series=FIRST" in asked.path else answer


@each(
    ("lie", "broken"),
    [
        # The headers of a response that fails are not compared.
        (fail, {"head"}),
        # Conditions are then judged by the first second of 1970.
        (misdate, {"last-modified", "if-modified-since", "if-unmodified-since", "date-forms", "both-kinds"}),
        # A server that finds pages by the slug of the catalog only.
        (know_one_letter_case, {"deprecated-pages"}),
    ],
)
def test_other_lies_are_differences(quick: tuple[Site, Web], lie: Lie, broken: set[str]) -> None:
    site, web = quick
    with lying(web.port, lie) as url:
        result = check(site, url)

    assert {name for name, differences in result.differences.items() if differences} == broken
