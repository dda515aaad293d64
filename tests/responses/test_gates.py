"""Access: every route with a gate, for every kind of series and every kind of key."""

import json

import pytest

from generator.release.manifest import Published
from tests.conftest import Site
from tests.responses.conftest import OF_API, OF_V2, visible
from tests.support.nginx_client import Answer, Web
from tests.support.runs import sample
from tests.support.tables import each

# A series of each kind with the id, volume and number of a chapter.
KINDS = {
    "open": ("full-book", "11", "1", "1"),
    "licensed": ("in-shops", "41", "1", "1"),
    "restricted": ("members-only", "31", "1", "1"),
    "both": ("in-shops-for-members", "51", "1", "1"),
    "scheduled": ("tomorrow", "61", "0", "1"),
    "without chapters": ("empty", "62", "0", "1"),
    "unknown": ("nobody", "99", "1", "1"),
    "another case": ("Full-Book", "011", "01", "1"),
    "licensed in another case": ("In-Shops", "041", "01", "1"),
    "bad": ("full%20book", "abc", "x", "-1"),
    "far out": ("f" * 200, "99999999999999999999", "1" * 30, "1e3"),
}
PATHS = {
    "series": "/api/v2/series/{slug}",
    "chapters of it": "/api/v2/series/{slug}/chapters",
    "dated chapters of it": "/api/v2/series/{slug}/chapters?date_format=timestamp",
    "chapters of it with the other dates": "/api/v2/series/{slug}/chapters?date_format=rfc-5322",
    "chapter": "/api/v2/chapters/{id}",
    "pages": "/api/v2/chapters/{id}/pages",
    "read": "/api/v2/chapters/{id}/read",
    "cubari": "/api/v2/cubari/{slug}",
    "pages by number": "/api/v2/pages?series={slug}&volume={volume}&number={number}",
    "pages by a number that no chapter has": "/api/v2/pages?series={slug}&volume={volume}&number=9{number}",
    "chapters by slug": "/api/v2/chapters?series={slug}",
}
# Ways to send a key: headers, query, and the expected verdict.
ABSENT, INVALID, GOOD = "absent", "invalid", "good"
KEYS = {
    "none": ({}, "", ABSENT),
    "empty header": ({"X_API_Key": ""}, "", ABSENT),
    "empty parameter": ({}, "api_key=", ABSENT),
    "both empty": ({"X_API_Key": ""}, "api_key=", ABSENT),
    "parameter in another case": ({}, "API_KEY=key-one", ABSENT),
    "another header": ({"Authorization": "X-API-Key key-one"}, "", ABSENT),
    "header": ({"X_API_Key": "key-one"}, "", GOOD),
    "header in another case": ({"x_api_KEY": "key-two"}, "", GOOD),
    "without account": ({"X_API_Key": "key-of-nobody"}, "", GOOD),
    "parameter": ({}, "api_key=key-one", GOOD),
    "escaped parameter": ({}, "api%5Fkey=%6Bey%2Done", GOOD),
    "last parameter": ({}, "api_key=nonsense&api_key=key-one", GOOD),
    "empty header and parameter": ({"X_API_Key": ""}, "api_key=key-one", GOOD),
    "header before parameter": ({"X_API_Key": "key-one"}, "api_key=nonsense", GOOD),
    "bad header before parameter": ({"X_API_Key": "nonsense"}, "api_key=key-one", INVALID),
    "first parameter": ({}, "api_key=key-one&api_key=nonsense", INVALID),
    "revoked": ({"X_API_Key": "key-revoked"}, "", INVALID),
    "key in another case": ({"X_API_Key": "KEY-ONE"}, "", INVALID),
    "longer": ({}, "api_key=key-one%00", INVALID),
    "no text": ({}, "api_key=%FF%FE", INVALID),
    "its digest": ({"X_API_Key": "b5f8a4a2" * 8}, "", INVALID),
    "a pattern": ({"X_API_Key": "~.*"}, "", INVALID),
    "a keyword of nginx": ({"X_API_Key": "default"}, "", INVALID),
}
DETAILS = {
    401: {ABSENT: "Authentication credentials were not provided.", INVALID: "Invalid token."},
    404: "Not found.",
    451: "This series is licensed.",
}
EMPTY = {"results": []}


@pytest.fixture(scope="module")
def bodies(asked_site: Site) -> dict[str, Published]:
    return asked_site.manifest.resources


def url_of(route: str, kind: str, more: str = "") -> str:
    slug, chapter, volume, number = KINDS[kind]
    path = PATHS[route].format(slug=slug, id=chapter, volume=volume, number=number)
    return f"{path}{'&' if '?' in path else '?'}{more}" if more else path


def status(route: str, kind: str, key: str) -> int:
    """The table of gates."""
    if route == "chapters by slug":
        return 200
    if route.startswith("pages by"):
        return 400 if kind == "bad" else 401 if kind == "restricted" and key != GOOD else 200
    if kind == "licensed" or kind == "both":
        return 200 if route == "series" else 451
    if kind == "restricted" and route != "series" and key != GOOD:
        return 401
    if kind in ("open", "restricted"):
        return 308 if route == "read" else 200
    return 404


def published(bodies: dict[str, Published], route: str, kind: str) -> Published | None:
    """The body that the release has for a 200, or None for an empty list."""
    slug, chapter, _, _ = KINDS[kind]
    url = {
        # /pages and /chapters?series= accept other cases of a slug and other spellings of a number.
        "pages by number": f"/api/v2/chapters/{chapter.lstrip('0')}/pages",
        "chapters by slug": f"/api/v2/series/{slug.lower()}/chapters",
    }.get(route, url_of(route, kind))
    if route == "chapters by slug" and kind == "restricted":
        return None
    return bodies.get(url)


def expected(
    asked_site: Site, bodies: dict[str, Published], route: str, kind: str, key: str
) -> tuple[int, object, dict[str, str]]:
    code = status(route, kind, key)
    body: object = {"detail": DETAILS[code][key] if code == 401 else DETAILS.get(code)}
    behind_key = kind == "restricted" and route not in ("series", "chapters by slug")
    headers = {"cache-control": f"{'private' if behind_key else 'public'}, max-age=60"}
    if behind_key:
        headers["vary"] = "X-API-Key"
    if code == 200:
        release_body = published(bodies, route, kind)
        body = json.loads((asked_site.folder / "dist" / release_body.file).read_bytes()) if release_body else EMPTY
        if release_body and release_body.gzip:
            headers["vary"] = ", ".join([*filter(None, [headers.get("vary")]), "Accept-Encoding"])
        headers["cache-control"] = headers["cache-control"].replace("60", "300")
    elif code == 400:
        body = {"error": f"Invalid volume: {KINDS[kind][2]}"}
        headers["cache-control"] = "no-store"
    elif code == 308:
        slug, _, volume, number = KINDS[kind]
        body = {"url": f"https://lists.example/reader/{slug}/{volume}/{number}/"}
        headers["location"] = body["url"]
    elif code == 401:
        headers |= {"cache-control": "no-store", "www-authenticate": "X-API-Key"}
    return code, body, OF_API | OF_V2 | headers


def without_validators(response: Answer) -> tuple[int, object, dict[str, str]]:
    """A response without the headers that differ between bodies."""
    names = [name for name, _ in response.headers]
    assert len(names) == len(set(names)), names
    own = ("date", "etag", "last-modified", "content-length")
    headers = {name: value for name, value in response.headers if name not in own}
    return response.status, json.loads(response.body) if response.body else None, headers


@each("kind", [*KINDS])
@each("route", [*PATHS])
def test_gate_table(asked_site: Site, bodies: dict[str, Published], web: Web, route: str, kind: str) -> None:
    """Status, body and every header are as expected for every kind of key; those of HEAD as well."""
    expectations = {key: expected(asked_site, bodies, route, kind, key) for key in (ABSENT, INVALID, GOOD)}
    for headers, query, key in KEYS.values():
        path = url_of(route, kind, query)
        get, head = web.ask(path, **headers), web.ask(path, "HEAD", **headers)

        assert (path, headers, without_validators(get)) == (path, headers, expectations[key])
        assert (path, head.status, head.fields, head.body) == (path, get.status, get.fields, b"")


@each("kind", [*KINDS])
@each("route", [*PATHS])
def test_options_needs_no_key(web: Web, route: str, kind: str) -> None:
    """Browsers send OPTIONS without a key."""
    for headers, query, _ in (KEYS["none"], KEYS["revoked"]):
        response = web.ask(url_of(route, kind, query), "OPTIONS", **headers)

        assert (response.status, response.body, response["allow"]) == (204, b"", "GET, HEAD, OPTIONS")
        assert response["access-control-allow-origin"] == "*" and response.fields | OF_V2 == response.fields


@each("method", ["POST", "PUT", "DELETE", "PATCH", "TRACE", "X-ANY", "X_Y"])
def test_other_method_is_405_behind_a_gate(web: Web, method: str) -> None:
    """The method is checked before the gate, and the error names it."""
    response = web.ask(url_of("pages", "restricted"), method, Content_Length="0")

    assert (response.status, json.loads(response.body)) == (405, {"detail": f'Method "{method}" not allowed.'})
    assert response["allow"] == "GET, HEAD, OPTIONS"


def test_public_resource_ignores_keys(bodies: dict[str, Published], web: Web) -> None:
    """Valid and invalid keys change no header."""
    public = [url for url, body in bodies.items() if not body.restricted and "#" not in url and "?" not in url]
    for url in sample(public, 5):
        plain = web.ask(url)
        for key in ("nonsense", "key-one"):
            response = web.ask(url, X_API_Key=key)
            assert visible(response) == visible(plain), url


@each("route", ["chapters of it", "dated chapters of it", "chapter", "pages", "cubari"])
def test_restricted_resource_is_304_with_a_key(web: Web, route: str) -> None:
    """The 304 is private."""
    path = url_of(route, "restricted")
    first = web.ask(path, X_API_Key="key-one")
    by_etag = web.ask(path, X_API_Key="key-two", If_None_Match=first["etag"])
    by_date = web.ask(path, X_API_Key="key-one", If_Modified_Since=first["last-modified"])

    assert (by_etag.status, by_etag["cache-control"], by_etag["vary"]) == (304, "private, max-age=300", "X-API-Key")
    assert (by_etag["etag"], by_etag["last-modified"]) == (first["etag"], first["last-modified"])
    assert by_date.status == 304


def test_if_match_is_evaluated_after_the_gate(web: Web) -> None:
    """The second request has the key of the first, from the header or the query."""
    path = url_of("pages", "restricted")
    plain = web.ask(path, X_API_Key="key-one")

    assert web.ask(path, X_API_Key="key-one", If_Match=plain["etag"]).body == plain.body
    assert web.ask(f"{path}?api_key=key-one", If_Match=plain["etag"]).body == plain.body
    assert web.ask(path, X_API_Key="key-one", If_Match='"x"').status == 412


@each("route", ["chapters of it", "dated chapters of it", "chapter", "pages", "cubari"])
@each("key", [{}, {"X_API_Key": "nonsense"}])
def test_condition_does_not_reveal_validators_behind_a_gate(web: Web, route: str, key: dict[str, str]) -> None:
    """Without a key or with a wrong one, matching and other values return the same 401."""
    path = url_of(route, "restricted")
    first = web.ask(path, X_API_Key="key-one")
    rejected = visible(web.ask(path, **key))
    for name in ("If_Match", "If_None_Match"):
        for etag in (first["etag"], '"x"', "*"):
            assert visible(web.ask(path, **key, **{name: etag})) == rejected, (name, etag)
    for name in ("If_Modified_Since", "If_Unmodified_Since"):
        for date in (first["last-modified"], "Sat, 01 Jan 2000 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"):
            assert visible(web.ask(path, **key, **{name: date})) == rejected, (name, date)

    assert rejected[0] == 401
    assert {"etag", "last-modified"}.isdisjoint(rejected[1])


@each(
    "path",
    [
        "/api/v2/chapters/11/READ",
        "/api/v2/series/full-book/Chapters?date_format=timestamp",
        # A line break is part of a path, not its end.
        "/api/v2/bookmarks%0A",
        "/api/v2/profile%0A/",
        "/api/v2/pages%0A",
        "/api/v2/series%0A",
        "/api/v2/series%0A?title=full",
        "/api/v2/chapters%0A?series=full-book",
        "/api/v2/pages%0A?series=full-book&volume=1&number=1",
        "/api/v2/series/full-book/chapters%0A?date_format=timestamp",
        "/api/v2/chapters/31%0A",
    ],
)
def test_similar_path_is_404(web: Web, path: str) -> None:
    """In another letter case, and with a line break; tests/responses/test_paths.py has escaped slashes."""
    for headers in ({}, {"X_API_Key": "key-one"}):
        response = web.ask(path, **headers)
        assert (response.status, json.loads(response.body)) in (
            (404, {"detail": "Not found."}),
            (404, {"error": "Not found", "status": 404}),
        )


@each(
    "path",
    [
        "/api/v2/Chapters/31",
        "/api/v2/Chapters/31/read/",
        "/api/v2/cubari/Members-Only",
        "/api/v2/series/Members-Only/chapters?date_format=timestamp",
    ],
)
@each("conditions", [{}, {"If_None_Match": "*"}, {"If_Match": '"x"'}])
def test_restricted_path_in_another_case_is_a_public_404(web: Web, path: str, conditions) -> None:
    """Paths are case-sensitive, so the 404 reveals nothing."""
    missing = without_validators(web.ask("/api/v2/chapters/99"))

    assert missing[0] == 404
    assert missing[2]["cache-control"] == "public, max-age=60"
    for headers, query, _ in (KEYS["none"], KEYS["header"], KEYS["revoked"], KEYS["parameter"]):
        url = f"{path}{'&' if '?' in path else '?'}{query}"
        assert without_validators(web.ask(url, **headers, **conditions)) == missing


def test_numbers_of_restricted_chapters_cannot_be_found_without_a_key(web: Web) -> None:
    """Each request gets the same response whether a chapter has the number or not, in any spelling of the series."""
    sent = [
        ("GET", {}),
        ("GET", {"X_API_Key": "nonsense"}),
        ("GET", {"If_None_Match": "*"}),
        ("GET", {"If_Match": '"x"'}),
        ("GET", {"If_Modified_Since": "Fri, 01 Jan 2100 00:00:00 GMT"}),
        ("HEAD", {}),
        ("OPTIONS", {}),
        ("POST", {"Content_Length": "0"}),
    ]
    for series in ("members-only", "Members-ONLY", "%6Dembers-only"):
        for more in ("", "&track=true"):
            for method, headers in sent:
                answers = [
                    visible(web.ask(f"/api/v2/pages?series={series}&{numbers}{more}", method, **headers))
                    for numbers in (
                        *("volume=1&number=1", "volume=01&number=1.0", "volume=1&number=999", "volume=7&number=1e9"),
                        *("volume=0&number=1000000000", "volume=0&number=0"),
                    )
                ]
                assert answers == answers[:1] * len(answers), (method, headers)
                assert answers[0][0] == {"OPTIONS": 204, "POST": 405}.get(method, 401)
