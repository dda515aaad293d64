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
    status, method, path = answer.status, asked.method, asked.path
    is_plain = status == 200 and method == "GET" and "range" not in asked.headers
    etag = asked.headers.get("if-none-match", "")
    date = asked.headers.get("if-modified-since", "")
    has_usual_date = date.endswith("GMT") and "-" not in date
    gzipped = answer.headers.get("Content-Encoding") == "gzip"
    # Which responses get another status.
    statuses = {
        "both-kinds": (has(asked, "if-unmodified-since", "if-none-match"), 200),
        "if-none-match": (status == 304 and method == "GET" and etag[:1] == '"' and "," not in etag, 200),
        "if-none-match-weak": (status == 304 and etag.startswith("W/"), 200),
        "if-none-match-list": (status == 304 and "," in etag, 200),
        "if-none-match-any": (status == 304 and etag == "*", 200),
        "future-date": ("9999" in date, 200),
        "if-modified-since": (status == 304 and has_usual_date, 200),
        "date-forms": (status == 304 and date and not has_usual_date, 200),
        "etag-first": (has(asked, "if-none-match", "if-modified-since"), 304),
        "if-match": (status == 412 and has(asked, "if-match"), 200),
        "if-unmodified-since": (status == 412 and has(asked, "if-unmodified-since"), 200),
        "options": (method == "OPTIONS", 200),
        "unknown-methods": (method == "BREW", 501),
        "ranges": (has(asked, "range"), 206),
        "final-slash": (status == 200 and path.startswith("/api/") and path.endswith("/"), 404),
        "double-slash": ("//" in path, 404),
        "letter-case": (status == 404 and path == path.upper() and "-" in path, 200),
        "other-parameters": (status == 200 and path.endswith("?a=1") and "old" not in path, 404),
        "bad-request": (status == 400 and "?" not in path and "pages" not in path, 404),
        "bad-parameters": (status == 400 and ("?" in path or path == "/api/v2/pages"), 404),
        "page-not-found": ("page=999999999" in path, 200),
        "deprecated-pages": (status == 200 and "volume=1&" in path, 404),
        "licensed": (status == 451, 200),
        "old-slugs": (status == 308 and not path.endswith("/read"), 404),
        "app-images": (status == 302 and "/pages/" in path, 404),
        "secret": (path.startswith("/private/"), 200),
    }
    # Which ones lose a header.
    headers = {
        "cors": (status == 200, "Access-Control-Expose-Headers"),
        "vary": (status in (200, 304), "Vary"),
        "safety": (status == 200, "X-Content-Type-Options"),
        "policy": (True, "Content-Security-Policy"),
        "date": (True, "Date"),
        # It ends the connection.
        "length": (status == 200 and path.startswith("/api/authors"), "Content-Length"),
        "not-modified": (status == 304, "Cache-Control"),
        "not-modified-date": (status == 304, "Last-Modified"),
        "head": (method == "HEAD", "ETag"),
        "methods": (status == 405 and method != "BREW", "Allow"),
        "robots": (True, "X-Robots-Tag"),
        "unauthorized": (status == 401 and not has(asked, "x-api-key"), "WWW-Authenticate"),
        "invalid-key": (status == 401 and has(asked, "x-api-key"), "WWW-Authenticate"),
    }
    if broken in statuses:
        is_broken, wrong = statuses[broken]
        return respond(answer, wrong) if is_broken else answer
    if broken in headers:
        is_broken, name = headers[broken]
        return answer.with_header(name, None) if is_broken else answer
    match broken:
        case "bodies" if is_plain and path == "/api/v1/authors":
            return answer._replace(body=b"[]")
        case "pages" if is_plain and of_page(asked, answer):
            return answer._replace(body=b"<h1>Hello</h1>")
        case "content-type" if status == 200:
            return answer.with_header("Content-Type", "application/octet-stream")
        case "etag" if status in (200, 304):
            return answer.with_header("ETag", '"own"' if not gzipped else 'W/"own"')
        case "last-modified" if status in (200, 304) and answer.headers.get("Last-Modified"):
            return answer.with_header("Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT")
        case "cache-control" if status in (200, 304):
            return answer.with_header("Cache-Control", "no-cache")
        case "gzip" if gzipped and status == 200:
            body = encoding.gunzip(answer.body, 1 << 24)
            etag = (answer.headers["ETag"] or "").removeprefix("W/")
            assert body is not None
            return answer._replace(body=body).with_header("Content-Encoding", None).with_header("ETag", etag)
        case "not-found" if status == 404 and path == "/api/v1/no-such-path":
            return answer._replace(body=b"<h1>404</h1>")
        case "not-found-page" if status == 404 and path.split("/")[1] not in ("api", *APPS):
            return answer._replace(body=b"<h1>404</h1>")
        case "parameters" if is_plain and ("sort=" in path or "date_format=" in path):
            return answer._replace(body=b"{}")
        case "filters" if status == 200 and ("limit=" in path or "slug=" in path):
            return answer._replace(body=b"{}")
        case "read" if status == 308 and path.endswith("/read"):
            return answer.with_header("Location", "https://elsewhere.example/")
        case "app-redirects" if status == 302 and "?" not in path and "/pages/" not in path:
            return answer.with_header("Location", "https://elsewhere.example/")
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
