"""Lists made by the njs shim: everything except the body is as for a file."""

import hashlib
import json

from tests.support.nginx_client import Web
from tests.support.tables import each

LIST = "/api/v2/series"


FILTERED = f"{LIST}?title=full&limit=5"


def test_filtered_list_has_the_headers_of_a_file(web: Web) -> None:
    """The ETag is the MD5 of its own body. There is no compressed form, and therefore no Vary."""
    file, searched = dict(web.ask(LIST).headers), dict(web.ask(FILTERED, Accept_Encoding="gzip").headers)
    body = web.ask(FILTERED).body

    assert searched["etag"] == f'"{hashlib.md5(body).hexdigest()}"'
    for headers in (file, searched):
        for name in ("etag", "content-length", "date", "vary"):
            headers.pop(name, None)
    # The index also contains people and categories, and may be newer than the list.
    assert searched.pop("last-modified") >= file.pop("last-modified")
    assert searched == file


def test_filtered_list_is_304_for_its_etag(web: Web) -> None:
    """The maps are those of files."""
    etag = web.ask(FILTERED)["etag"]
    response = web.ask(FILTERED, If_None_Match=f'"x", W/{etag}')

    assert (response.status, response.body, response["etag"], response["content-length"]) == (304, b"", etag, None)
    assert web.ask(FILTERED, If_None_Match='"x"').status == 200


def test_filtered_list_is_304_for_its_date(web: Web) -> None:
    """If-Modified-Since counts if If-None-Match is absent."""
    response = web.ask(FILTERED)

    assert web.ask(FILTERED, If_Modified_Since=response["last-modified"]).status == 304
    assert web.ask(FILTERED, If_Modified_Since="Thu, 01 Jan 1970 00:00:00 GMT").status == 200


def test_filtered_list_honours_if_match(web: Web) -> None:
    """Its ETag returns the body, another one a 412."""
    plain = web.ask(FILTERED)
    matched = web.ask(FILTERED, If_Match=plain["etag"])

    assert (matched.status, matched.body, matched["etag"]) == (200, plain.body, plain["etag"])
    assert web.ask(FILTERED, If_Match='"x"').status == 412


@each("query", ["?title=full", "?page=2", "?page=99", "?title=full&page=2"])
def test_head_of_a_list_has_the_headers_of_get(web: Web, query: str) -> None:
    """This holds for files, the shim and missing pages."""
    get, head = web.ask(LIST + query), web.ask(LIST + query, "HEAD")

    assert (head.status, head.body) == (get.status, b"")
    assert [pair for pair in head.headers if pair[0] != "date"] == [pair for pair in get.headers if pair[0] != "date"]


def test_filter_without_matches_is_an_empty_list(web: Web) -> None:
    """The first page always exists."""
    assert web.ask(f"{LIST}?status=nonsense").body == b'{"total":0,"last":true,"results":[]}'
    assert web.ask(f"{LIST}?status=nonsense&page=2").status == 404


def test_licensed_series_is_sorted_by_its_number_of_chapters(web: Web) -> None:
    """The list has null as its number of chapters."""
    results = json.loads(web.ask(f"{LIST}?sort=-chapter_count&limit=999").body)["results"]
    chapters = {series["slug"]: series["chapters"] for series in results}
    slugs = list(chapters)

    assert chapters["in-shops"] is None
    assert slugs.index("in-shops") < slugs.index("half-out")
