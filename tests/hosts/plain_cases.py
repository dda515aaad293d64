"""What is requested of every plain host: all URLs of a site, and unusual requests."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from generator.encoding import http_date
from generator.release.manifest import Published
from tests.conftest import Site
from tests.support.nginx_client import Answer, Web

if TYPE_CHECKING:
    from tests.support.plain_hosts import Pair

GZIP = {"Accept_Encoding": "gzip"}


class Case(NamedTuple):
    """A request."""

    path: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()

    def send(self, web: Web) -> Answer:
        return web.ask(self.path, self.method, **dict(self.headers))


def public(site: Site) -> list[Published]:
    """The public bodies that a path selects."""
    return [body for body in site.manifest.resources.values() if not body.restricted and not {"?", "#"} & {*body.url}]


def conditions(body: Published) -> Iterator[Case]:
    """Conditional requests for a body, and one for a part of it."""
    tag, date, later = f'"{body.etag}"', http_date(body.modified), http_date(body.modified + 1)
    earlier = http_date(body.modified - 1)
    for headers in (
        {"If_None_Match": tag},
        {"If_None_Match": f"W/{tag}"},
        {"If_None_Match": f'"a", W/"b,c" ,{tag}'},
        {"If_None_Match": "*"},
        {"If_None_Match": '"a"'},
        {"If_None_Match": '"a"', "If_Modified_Since": later},
        {"If_None_Match": tag, "If_Modified_Since": earlier},
        {"If_None_Match": "*", "If_Modified_Since": "yesterday"},
        {"If_Modified_Since": date},
        {"If_Modified_Since": later},
        {"If_Modified_Since": earlier},
        {"If_Modified_Since": "yesterday"},
        {"If_Match": tag},
        {"If_Match": f'"a", {tag}'},
        {"If_Match": "*"},
        {"If_Match": tag, "If_Unmodified_Since": earlier},
        {"If_Unmodified_Since": date},
        {"Range": "bytes=0-3"},
        {"Range": "bytes=0-3", "If_Range": tag},
    ):
        for coding in ({}, GZIP):
            yield Case(body.url, headers=tuple({**headers, **coding}.items()))
    yield Case(body.url, "HEAD")
    yield Case(body.url, "HEAD", tuple(GZIP.items()))
    yield Case(body.url, "HEAD", (("If_None_Match", tag),))


# Queries that have no meaning, those that have one beside them, such as those of campaigns, and wrong ones.
_OF_SERIES = (
    *("page=1", "page=99", "sort=-title", "page=1&sort=views", "a=b"),
    *("page=1&utm_source=x", "page=1&", "&page=1", "api_key=&page=1", "a&sort=-title&b=c", "page=99&a=b"),
    *("a=b&sort=views&c=d&page=1&e=f", "a=b&page=1&c=d&sort=views&e=f"),
    # Only lists of chapters have this parameter.
    *(f"date_format={value}" for value in ("timestamp", "iso-8601", "x", "")),
)
_OF_CHAPTERS = (
    *("date_format=timestamp&utm_source=x", "&date_format=rfc-5322", "a=b&date_format=x&", "date_format=iso-8601&a"),
)
_PATHS = (
    *(f"/api/authors/{id}" for id in ("x", "01", "77", "-1", "1.0", "9/9")),
    *(f"/api/v1/groups/{id}" for id in ("x", "01", "77")),
    *(f"/api/series/nope/{path}" for path in ("x", "1", "01", "1/1.50", "1/x", "1/2.5", "x/1", "1/2/3")),
    *("/api/series.json", "/api/series.json.etag", "/api/series/.etag", "/api/v2/openapi"),
    *("//api///series", "/api/./series", "/api/x/../series", "/api%2fseries", "/api/series%00"),
    # Longer than the name of a file and the longest path.
    *(f"{folder}{'a' * 300}{rest}" for folder in ("/", "/api/", "/api/v2/", "/reader/") for rest in ("", "/x/1")),
    *(f"/api/series/x/{number}{'1' * 300}" for number in ("", "0", "1.")),
    *(f"{folder}{'/a' * 3000}" for folder in ("", "/api/series", "/api/v2")),
    *("/api/Series", "/api/%73eries", "/api/series?", "/api/series?limit=1", "/index", "/query/a"),
    *("/opds", "/opds/", "/opds/x", "/komga/api/v1/x", "/Komga/x", "/opdsx", "/komga//opds"),
    *("/index.json/", "/404", "/404.html", "/404.html/", "/404.html//", "/.flatpanel-export.json"),
    *(f"/api/v2/series?{query}" for query in _OF_SERIES),
    *(f"/api/v2/chapters?date_format={value}" for value in ("timestamp", "iso-8601", "x", "")),
    *(f"/api/v2/chapters{slash}?{query}" for slash in ("", "/") for query in _OF_CHAPTERS),
    *(f"/api/v2/pages?{query}" for query in ("", "series=a", "series=a&volume=1", "series=a&volume=1&number=2")),
)
# Requests that select no file of a site, or select it in an unusual way.
ODD = (
    *(Case(path, method) for path in ("/api", "/api/v2/x", "/nope", "/") for method in ("OPTIONS", "POST", "DELETE")),
    *(Case(path, "HEAD") for path in ("/api/nope", "/api/v2/nope", "/nope/")),
    Case("/opds/v1.2/catalog", "POST"),
    *map(Case, _PATHS),
    # An empty list has no date.
    *(
        Case("/api/v2/pages?series=a&volume=1&number=2", headers=((name, f"{day} GMT"),))
        for name, day in (
            ("If_Modified_Since", "Sun, 22 Nov 2026 00:00:00"),
            ("If_Unmodified_Since", "Fri, 02 Jan 1970 00:00:00"),
        )
    ),
)


def every_entry(site: Site) -> list[Case]:
    """Every URL of a release, with and without gzip, and in the other spelling of its path."""
    with site.store.table() as table:
        urls = [entry.url for slug in table.segments for entry in table.entries(slug) if "#" not in entry.url]
        old = [*table.rules.redirected_paths(), *table.rules.redirected_paths_in_apps()]
    cases = [Case(url, headers=tuple(coding.items())) for url in urls for coding in ({}, GZIP)]
    # A number that no chapter has, in each series.
    cases += map(Case, dict.fromkeys(re.sub("number=.*", "number=77", url) for url in urls if "&number=" in url))
    for url in (url for url in urls if "?" not in url):
        cases += [Case(path) for path in (f"{url.rstrip('/')}/", url.rstrip("/")) if path]
    for path in old:
        cases += [
            Case(f"{path}{rest}")
            for rest in ("", "/", "/1/2/", "?a=1", "/?api_key=x&a=1", "/%C3%A9?b", ".atom", ".rss?c=d")
        ]
    assert len(cases) > 300
    return cases


class AnswersAsNginx:
    """What each server of plain files does; the fixture `pair` of the module has one."""

    def test_each_url_answers_as_nginx_does(self, pair: "Pair") -> None:
        """With and without gzip, and without an API key: 200, 401, 451 and 308."""
        text = pair.differences(every_entry(pair.site))
        assert not text, text

    def test_conditions(self, pair: "Pair") -> None:
        bodies = {(body.type, body.gzip): body for body in public(pair.site)}
        text = pair.differences(case for body in bodies.values() for case in conditions(body))
        assert not text, text

    def test_a_failed_condition_is_a_412_without_a_body(self, pair: "Pair") -> None:
        answer = pair.other.ask("/api/authors", If_Match='"a"')
        assert (answer.status, answer.body) == (412, b"")

    def test_filters_are_refused(self, pair: "Pair") -> None:
        """An unfiltered list would be wrong, and a client could read its first page for ever."""
        for query in (
            *("title=a", "page=1&limit=2", "categories=a&sort=title", "slug=a"),
            *("page=1&page=2", "sort=title&page=x", "page=1&sort=x", "a=b&page=0", "sort=x&a=b"),
        ):
            answer = pair.other.ask(f"/api/v2/series?{query}")
            assert (answer.status, answer.body) == (501, b'{"detail":"Not implemented."}')
