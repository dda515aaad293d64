"""Lists made by the njs shim: everything except the body is as for a file."""

import hashlib

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


def test_conditions_of_a_filtered_list(web: Web) -> None:
    """The maps are those of files. A 304 has no length."""
    plain = web.ask(FILTERED)
    fresh = web.ask(FILTERED, If_None_Match=f'"x", W/{plain["etag"]}')
    matched = web.ask(FILTERED, If_Match=plain["etag"])

    assert (fresh.status, fresh.body, fresh["etag"], fresh["content-length"]) == (304, b"", plain["etag"], None)
    assert (matched.status, matched.body, matched["etag"]) == (200, plain.body, plain["etag"])
    for headers, status in (
        ({"If_None_Match": '"x"'}, 200),
        ({"If_Modified_Since": plain["last-modified"]}, 304),
        ({"If_Modified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"}, 200),
        ({"If_Match": '"x"'}, 412),
    ):
        assert (headers, web.ask(FILTERED, **headers).status) == (headers, status)


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
