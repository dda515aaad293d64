"""The core and nginx answer the same requests, on sites of several kinds."""

from collections.abc import Iterator

import pytest

from tests.support import core_server, host_sites, odd_requests, runs, same_answers
from tests.support.core_server import needs_node
from tests.support.host_sites import HostSite
from tests.support.odd_requests import Request

# Targets that servers read differently: each is a case of its own in nginx, and so in the core.

# The path, the query, the fragment and the escapes of a target, in Latin-1: one letter for each byte.
TARGETS: tuple[str, ...] = (
    *("*", "/", "//", "/?", "/??", "/#", "/#x?y", "/index", "/index/", "/index.json", "/index.json/"),
    *("//index.json", "/index.json?x", "/INDEX.json", "/Index", "/api", "/api/", "/api?x", "/api//", "/API"),
    *("/Api/v2/series", "/api/v2", "/api/v2/", "/api/v2?x", "/api/v2#x", "/api//v2//series", "//api/v2/nothing%zz"),
    *("//api//v2/%", "/api/v2/%0", "/api/v2/../../..", "/api/v1/../..", "/../api/v2", "/x%zz", "/.x%zz"),
    *("/x/.y%zz", "/a%2Fb%zz", "/index.json%zz", "/index.json?%zz", "/apix%zz", "/api%zz", "/api/x%zz", "/-%zz"),
    *("/~%zz", "/?%zz", "/x y", "/\x01", "/x\x7f", "/é%zz", "/%zz", "http://test/api/v2/series", "http://test"),
    *("http://test?x", "http://test/api/v2/%zz", "http://test//api/v2/%zz", "http://test/x%zz"),
    *("https://a.example:99/api/releases", "http:/x", "/http://x", "/_flatpanel", "/_flatpanel/"),
    *("/_flatpanel/search/", "/_flatpanel/searchx", "//_flatpanel/search", "/_flatpanel/again"),
    *("/_flatpanel/refused", "//_flatpanel//refused", "/_flatpanel/options", "/_flatpanel/moved"),
    *("/_flatpanel/page_error", "/_flatpanel/missing_image", "/_flatpanel/range", "/_flatpanel/%65rror"),
    *("/releases.atom", "/releases.atom/", "/releases.atom//", "/releases.rss?x", "/releases.json"),
    *("/library.json", "/library.atom/x", "/latest", "/latest/", "/latest?page=2", "/search", "/search/?q=x"),
    *("/read/moons/1/1.cbz", "/read/moons/1/1.cbz/?x", "/read//moons/1/1.cbz", "/read/moons/1/1.CBZ"),
    *("/read/folding-moons/2/10.5.cbz", "/read/moons/0/11.cbz", "/read/moons/1/1.cbz/1", "/read/moons/1.cbz"),
    *("/search/titles.json", "/search/titles.json/", "/404", "/404/", "/404.html", "/robots.txt", "/robots.txt/"),
    *("/sitemap.xml", "/sitemaps", "/sitemaps/", "/sitemaps/x", "/favicon.ico", "/icon.svg", "/theme", "/theme/"),
    *("/opensearch.xml", "/api/v2/docs", "/api/v2/docs/", "/api/v2/docs/index.html", "/api/v2/docs/swagger-ui.css"),
    *("/api/v2/docs/swagger-ui.css/", "/api/v2/openapi.json", "/api/v2/openapi.json/", "/api/v2//view"),
    *("/api/v2//counted", "/api/v2/view", "/api/v2/series?", "/api/v2/series/?page=2", "/api/v2/series?page=1"),
    *("/api/v2/series?page=0", "/api/v2/series?page=999", "/api/v2/series?page=01", "/api/v2/series?page=1%0A"),
    *("/api/v2/series?page=1\xa0", "/api/v2/series?sort=-views", "/api/v2/series?page=1&sort=-views"),
    *("/api/v2/series?page=2&sort=title&page=1", "/api/v2/series?limit=1000&page=1"),
    *("/api/v2/series?limit=1&page=99", "/api/v2/series?title=%C3%A9", "/api/v2/series?title=é"),
    *("/api/v2/series?api_key=foo", "/api/v2/chapters?series=UPPER-LOWER_9"),
    *("/api/v2/chapters?series=x&date_format=y", "/api/v2/chapters?date_format=timestamp"),
    *("/api/v2/chapters?date_format=timestamp&x", "/api/v2/chapters?date_format=iso-8601", "/api/v2/pages"),
    *("/api/v2/pages/", "/api/v2/pages?", "/api/v2/pages?series=a&volume=1&number=x%22%5C"),
    "/api/v2/pages?series=a&volume=%C3%A9&number=1#volume=z",
    "/api/v2/pages?series=UPPER-LOWER_9&volume=1&number=1",
    "/api/v2/pages?series=upper-lower_9&volume=0&number=1.0",
    "/api/v2/pages?series=first-draft&volume=1&number=1",
    *("/api/v2/pages?series=FIRST-draft&volume=1&number=1&track=true", "/api/v2/bookmarks", "/api/v2/bookmarks/"),
    *("/api/v2/bookmarks?x", "/api/v2/profile", "/api/v2/profile%0A", "/api/v2/Bookmarks", "/api/v2/bookmarks%2F"),
    *("/api/v2%2Fbookmarks", "/api/v2/members", "/api/v2/members/1", "/api/v2/members/%2F", "/api/v2/members/x/y"),
    *("/api/v2/members//", "/api/v2/members/1?api_key=key-one", "/api/v2/members/1?%61pi_key=key-one"),
    *("/api/series/first-draft", "/api/series/first-draft/", "/api/series/first-draft?api_key=x&y=%C3%A9&z=é"),
    *("/api/series/first-draft/a%0Ab/%3F%23%25", "/api/series/first-draft/%ff/x", "/api/series/First-Draft"),
    *("/api/v2/series/first-draft/chapters?date_format=x", "/api/v2/cubari/first-draft?x#y"),
    *("/api/v2/series/first-draft%0A", "/api/series/first-draft//x/../y", "/reader/first-draft"),
    *("/reader/first-draft.atom", "/reader/first-draft/1/1/", "/read/folding-moons", "/read/folding-moons/1/1/2/"),
    *('/read/folding-moons.rss?x="<>\\', "/read/folding-moons.atom/", "/read/folding-moons.xml"),
    *("/read/folding-moons/.x", "/read/folding-moons?api_key=1&api%5fkey=2&apikey=3&api_key", "/api/authors/01"),
    *("/api/authors/%0A1", "/api/authors/1%0A", "/api/v1/groups/x", "/api/groups/x", "/api/series/x/1/01"),
    *("/api/series/x/1.0/1", "/api/series/x/1/1/1", "/api/series/x/y%2Fz", "/api/v2/series/x/y"),
    *("/api/v2/chapters/1/read", "/api/v2/chapters/1/read/", "/api/v2/chapters/1/READ", "/private"),
    *("/www/api/series", "/api/series.json", "/api/series/index.json", "/%61pi/series", "/api/%73eries"),
    *("/api/v2/categories/%2e%2e/series", "/api/v2/categories/a+b", "/api/./series/.", "/read/moons/1/1/1"),
    *(
        "/read/moons/1/1/01",
        "/read/moons/1/1/1/1",
        "/read/moons/1/1/9999/",
        "/read/moons/1/1/10000",
        "/read/Moons",
    ),
    *("/opds", "/opds/", "/opds/%zz", "/opdsx%zz", "/Opds/%zz", "//komga//%zz", "/komga%zz", "/komga?%zz", "/komga#"),
    *("/opds/v1.2/catalog", "/opds/v1.2/catalog/", "/opds/v1.2/catalog?api_key=key-one", "/opds/v1.2%2Fcatalog"),
    *("/opds/v1.2/Catalog", "/opds/./v1.2/catalog", "/opds/v1.2/catalog%00", "/opds/_flatpanel", "/_flatpanel/images"),
    *(
        "/opds/v1.2/pages/11/0?convert=png",
        "/opds/v1.2/pages/11/0%0A",
        "/opds/v1.2/pages/1%31/0/",
        "/opds/v1.2/pages/11/-0",
    ),
    *(
        "/opds/v1.2/pages/11/999999999",
        "/opds/v1.2/pages/11/1e0",
        "/opds/v1.2/pages/%D9%A1%D9%A1/0",
        "/komga/book/11?x",
    ),
    *("/opds/v1.2/pages/12345678901/0", "/opds/v1.2/pages/11/0#x", "/opds/v1.2/pages//11//0", "/komga/api/v1/books/11"),
    *("/komga/api/v1/books/11/pages?api_key=key-one", "/komga/api/v1/books/11/pages//", "/komga/api/v1/books//pages"),
    *("/opds/v1.2/series/first-draft", "/opds/v1.2/page/x/series/first-draft?a=1", "/opds/v2/series/first-draft/"),
    *(
        "/komga/series/first-draft/a%0Ab/%3F",
        "/komga/series/first-draft?api_key=1&x=<>",
        "/komga/api/v2/series/first-draft",
    ),
    *(
        "/komga/api/v1/series/First-Draft",
        "/komga/api/v1/series/folding-moons/books?unpaged=true",
        "/opds/series/first-draft",
    ),
    "/api/v2/series?title=" + "a" * 201,
    "/api/v2/series?" + "&".join("x=1" for _ in range(65)),
    "/api/v2/series?categories=" + ",".join(f"c{number}" for number in range(65)),
)

_KOMGA = "/komga/api/v1"
TARGETS += (
    *(f"{_KOMGA}/series", f"{_KOMGA}/series/", f"{_KOMGA}/series?", f"{_KOMGA}/series?x", f"{_KOMGA}/SERIES?x=1"),
    *(f"{_KOMGA}/series?page={page}" for page in ("0", "1", "2", "-1", "999999999", "1e3", "x", "%30")),
    *(f"{_KOMGA}/series?sort={sort}" for sort in ("random%2Cdesc", "createdDate,asc", "__proto__", "name,desc,x")),
    *(f"{_KOMGA}/series?search={text}" for text in ("a", "%C3%A9", "é", "x" * 200, "x" * 201, "%zz")),
    *(f"{_KOMGA}/series?genre={names}" for names in ("drama,Action", "%2c%2C,", ",".join("x" * 64))),
    f"{_KOMGA}/series?genre={','.join('x' * 65)}",
    f"{_KOMGA}/series?genre={','.join('x' * 33)}&genre={','.join('y' * 32)}",
    f"{_KOMGA}/series?{'&'.join('author=x,writer' for _ in range(65))}",
    *(f"{_KOMGA}/series?author=Mira%20Okafor%2Cwriter&author=x", f"{_KOMGA}/series?read_status=READ&library_id=1"),
    *(f"{_KOMGA}/series?api_key=key-one&x", f"{_KOMGA}/series?%73earch=a", f"{_KOMGA}/series/full-book?api_key=x"),
    *(f"{_KOMGA}/series/full-book/thumbnail", f"{_KOMGA}/series/full-book/thumbnail?x", f"{_KOMGA}/series/in-shops"),
    *(f"{_KOMGA}/series/members-only", f"{_KOMGA}/series/members-only/books", f"{_KOMGA}/series/UPPER-lower_9"),
    *(f"{_KOMGA}/collections/x/series?page=0", f"{_KOMGA}/collections//series", f"{_KOMGA}/collections/x/y/series"),
    *("/_flatpanel/series", "/_flatpanel/series/", "/komga/api/v1/nothing", "/komga/api/v2/series", "/komga"),
)

pytestmark = needs_node
# nginx itself judges these two if they are empty, and answers 412. An empty header cannot be told from none elsewhere.
JUDGED_BY_NGINX = ("If-Match", "If-Unmodified-Since")
PRIVATE = ("/of/one/bookmarks", "/of/index/series", "/of/foo/profile", "/query/pages/~/0/0", "/index", "/bad/pages")
METHODS = ("GET", "HEAD", "POST", "OPTIONS", "TRACE", "FOO_BAR-", "get")
HEADERS = (
    (("X-API-Key", "key-one"), ("Accept-Encoding", "gzip")),
    (("If-None-Match", "*"), ("Accept-Encoding", "gzip")),
    (("If-Match", "*"), ("Accept-Encoding", "gzip")),
    (("If-Match", '"x"'),),
)


@pytest.fixture(scope="module", params=host_sites.NAMES if runs.everything else ("v2", "pages"))
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[HostSite, int]]:
    """A site, and the port of the core that answers with it."""
    folder = tmp_path_factory.mktemp(request.param)
    with (
        host_sites.served_site(request.param, folder) as site,
        core_server.serving(site.site, folder / "javascript") as port,
    ):
        yield site, port


def report(served: tuple[HostSite, int], requests: list[Request]) -> str:
    site, port = served
    ports = {"nginx": site.web.port, "core": port}
    found = same_answers.differences(ports, runs.sample(requests, 4))
    return same_answers.report(found) if found else ""


def is_judged_by_nginx(request: Request) -> bool:
    """Whether nginx answers by itself: two hosts, one that is none, chunks in HTTP/1.0, or an empty condition."""
    headers = dict(request.headers)
    has_chunks = request.version == "1.0" and "Transfer-Encoding" in headers
    has_other_host = not request.features.isdisjoint(("two hosts", "host of nginx"))
    return has_other_host or has_chunks or any(headers.get(name) == "" for name in JUDGED_BY_NGINX)


def test_odd_requests_get_the_same_answers(served: tuple[HostSite, int]) -> None:
    requests = odd_requests.requests(served[0].words, 31, 1500)

    assert report(served, [request for request in requests if not is_judged_by_nginx(request)]) == ""


@pytest.mark.end_to_end
def test_every_url_gets_the_same_answer(served: tuple[HostSite, int]) -> None:
    """With two or three of: gzip, and each key."""
    site = served[0]
    headers = [(("Accept-Encoding", "gzip"),), *((("X-API-Key", key),) for key in site.words.keys)]
    requests = [Request(target.url, headers=sent) for target in site.words.targets for sent in headers]

    assert report(served, requests[::2]) == ""


@pytest.mark.end_to_end
def test_odd_targets_get_the_same_answers(served: tuple[HostSite, int]) -> None:
    """With each method, and with headers that other requests of this kind have."""
    targets = [target.encode().decode("latin-1") for target in TARGETS]
    requests = [Request(target, method) for target in targets for method in METHODS]
    requests += [Request(target, headers=headers) for target in targets for headers in HEADERS]
    requests += [
        Request(target, method, (("Transfer-Encoding", "chunked"),), "0\r\n\r\n")
        for target in targets
        for method in ("GET", "POST")
    ]

    assert report(served, requests) == ""


def test_no_path_is_a_key(served: tuple[HostSite, int]) -> None:
    """Keys that are no paths cannot be requested, with any API key."""
    site = served[0]
    paths = [*PRIVATE, *(f"{path}/" for path in PRIVATE), "/404", "/private"]
    paths += [f"/_flatpanel/{name}" for name in ("search", "error", "options", "refused")]
    sent = [(), *((("X-API-Key", key),) for key in site.words.keys)]
    methods = ("GET", "HEAD", "POST", "OPTIONS")
    requests = [Request(path, method, headers) for path in paths for headers in sent for method in methods]

    assert report(served, requests) == ""


def test_long_requests_are_refused(served: tuple[HostSite, int]) -> None:
    """A request line or a header line of more than 8 kB; lines that fit are read."""
    requests = [Request(f"/api/v2/series?x={'y' * length}") for length in range(8155, 8170)]
    requests += [Request(f"/api/{'%C3%A9' * 1360}/{'y' * length}") for length in range(8)]
    requests += [Request("/api/v2/series", headers=(("X-Long", "y" * length),)) for length in range(8170, 8190)]
    requests += [Request(f"{path}{'z' * 9000}") for path in ("/", "/api/", "/api/v2/", "/api/v1/", "//api//v2/")]

    assert report(served, requests) == ""
