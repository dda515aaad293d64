"""The functions of the shim, called one by one. Other tests cover how nginx uses them."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from generator.api.payloads.resources import SERIES_INDEX_URL
from generator.api.payloads.series_index import NamedSets
from generator.javascript import modules
from tests.conftest import Site, copy_of
from tests.support.paths import DATA
from tests.support.tables import each


def copy_modules(folder: Path) -> Path:
    """Write the files of a release to a folder where Node.js reads them as modules, not as scripts."""
    folder.mkdir(parents=True)
    for name, text in modules.of_nginx(apps=False).items():
        (folder / name).write_bytes(text)
    (folder / "package.json").write_text('{"type": "module"}')
    return folder


NODE = shutil.which("node")
CALL = DATA / "shim/call.mjs"
pytestmark = pytest.mark.skipif(not NODE, reason="node is not installed")

Shim = Callable[..., dict[str, Any]]
NO_PAGES = "/query/pages/~/0/0"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Site:
    made = copy_of("v2", tmp_path_factory.mktemp("shim"))
    made.build()
    return made


@pytest.fixture(scope="module")
def index(site: Site) -> Path:
    return site.folder / "dist" / site.manifest.resources[SERIES_INDEX_URL].file


@pytest.fixture(scope="module")
def shim(site: Site, index: Path, tmp_path_factory) -> Iterator[Shim]:
    """`shim("pages", args="…")` calls the function `pages` with a request; `plain=[…]` with values."""
    modules = copy_modules(tmp_path_factory.mktemp("modules") / "shim")
    command = [NODE, str(CALL), str(modules), str(index)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def call(name: str, plain: list[Any] | None = None, **given: Any) -> dict[str, Any]:
            process.stdin.write(json.dumps({"call": name, "given": given, "plain": plain}) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield call
        process.stdin.close()


@each(
    ("query", "parameters"),
    [
        ("", {}),
        ("a", {}),
        ("a=", {"a": ""}),
        ("=b", {"": "b"}),
        ("a=b", {"a": "b"}),
        ("a=b=c", {"a": "b=c"}),
        ("a=1&a=2", {"a": "2"}),
        ("a=1&a=", {"a": ""}),
        ("&&a=1&&", {"a": "1"}),
        ("a+b=c+d", {"a b": "c+d"}),
        ("a%20b=%2B", {"a b": "%2B"}),
        ("%61=%62", {"a": "%62"}),
        ("%zz+=1", {"%zz ": "1"}),
        ("%ff=1", {"\ufffd": "1"}),
        ("a=é", {"a": "é"}),
        ("&".join("a" for _ in range(64)), {}),
        ("a=1" + "&" * 63, {"a": "1"}),
        ("&".join("a=1" for _ in range(65)), None),
        ("a=1" + "&" * 64, None),
        ("A=1&a=2", {"A": "1", "a": "2"}),
        ("a;b=1", {"a;b": "1"}),
        ("constructor=1", {"constructor": "1"}),
        ("__proto__=1", {"__proto__": "1"}),
        ("hasOwnProperty=1&toString=2", {"hasOwnProperty": "1", "toString": "2"}),
    ],
)
def test_query_of_a_list_is_split(shim: Shim, query: str, parameters: dict[str, str] | None) -> None:
    """Names are decoded, values are not; the last of a repeated parameter counts; more than 64 are refused."""
    assert shim("parameters", plain=[query])["returned"] == parameters


@each(
    ("query", "value"),
    [
        ("", ""),
        ("track", ""),
        ("track=", ""),
        ("track=a", "a"),
        ("track=a=b", "a=b"),
        ("track=a&track=b", "b"),
        ("track=a&track=", ""),
        ("track=a&track", "a"),
        ("&&track=a&&", "a"),
        ("x=track=a", ""),
        ("xtrack=a", ""),
        ("tracks=a", ""),
        ("Track=a", ""),
        ("%54rack=a", ""),
        ("tr%61ck=a&x=1", "a"),
        ("%74%72%61%63%6b=a", "a"),
        ("trac%6B=a", "a"),
        ("track=c+d", "c d"),
        ("track=%2B", "+"),
        ("track=%C3%A9", "é"),
        ("track=é", "é"),
        ("track=%", "%"),
        ("track=%zz+", "%zz "),
        ("track=%ff", "\ufffd"),
        ("track=%zz%20%4", "%zz %4"),
        ("track=%00", "\0"),
        ("track=%0A&x", "\n"),
    ],
)
def test_single_parameter_is_read(shim: Shim, query: str, value: str) -> None:
    """The last value counts, decoded as a whole or left as sent; the name may have escapes."""
    assert shim("parameter", plain=[query, "track"])["returned"] == value


FEW = [f"c{i}" for i in range(64)]
DEFAULTS = {
    "page": 1,
    "limit": 25,
    "sort": "title",
    "slug": "",
    "status": "",
    "categories": {"any": [], "none": []},
    "title": "",
    "author": "",
    "artist": "",
}


@each(
    ("query", "changed"),
    [
        ("", {}),
        ("page=&limit=&sort=&slug=&status=&categories=&title=&author=&artist=", {}),
        ("page=1&limit=25&sort=title&status=any&categories=,", {}),
        ("status=Any", {}),
        ("page=3", {"page": 3}),
        ("page=0", {"page": 0}),
        ("page=x", {"page": 0}),
        ("page=0001", {"page": 0}),
        ("limit=999", {"limit": 999}),
        ("limit=1000", {"limit": 999}),
        ("limit=" + "9" * 400, {"limit": 999}),
        ("limit=0", {}),
        ("limit=-3", {}),
        ("sort=-views,title", {"sort": "-views"}),
        ("sort=__proto__", {}),
        ("sort=constructor", {}),
        ("slug=Full-Book", {"slug": "full-book"}),
        ("status=CANCELLED", {"status": "canceled"}),
        ("categories=+A+,-b,,-,+-+c+", {"categories": {"any": ["a"], "none": ["b", "c"]}}),
        ("title=%C3%89T%C3%89", {"title": "été"}),
        ("title=STRA%E1%BA%9EE", {"title": "strasse"}),
        ("title=%E2%84%AA", {"title": "k"}),
        ("author=%CE%A3%CF%82", {"author": "σσ"}),
        ("categories=a%2Cb%2c-c,a", {"categories": {"any": ["a", "b"], "none": ["c"]}}),
        ("title=" + "a" * 200, {"title": "a" * 200}),
        ("title=" + "a" * 201 + "&title=b", {"title": "b"}),
        ("categories=" + ",".join(f"c{i}" for i in range(64)), {"categories": {"any": FEW, "none": []}}),
        ("categories=" + ",".join(f"c{i % 64}" for i in range(999)), {"categories": {"any": FEW, "none": []}}),
        ("categories=" + "," * 7900 + "a", {"categories": {"any": ["a"], "none": []}}),
    ],
)
def test_spellings_of_a_default_equal_the_default(shim: Shim, query: str, changed: dict[str, Any]) -> None:
    """The parsed parameters of a query, complete."""
    assert shim("wanted", plain=[query])["returned"] == DEFAULTS | changed


@each(
    ("query", "key"),
    [
        ("&".join("x=1" for _ in range(65)), "/bad/parameters"),
        ("categories=" + ",".join(f"c{i}" for i in range(65)), "/bad/categories"),
        ("categories=" + ",".join(f"-c{i}" for i in range(65)), "/bad/categories"),
        ("categories=" + "%2C".join(f"c{i}" for i in range(65)), "/bad/categories"),
        ("categories=" + "%2c".join(f"c{i}" for i in range(65)), "/bad/categories"),
        ("title=" + "a" * 201, "/bad/text"),
        ("author=" + "a" * 201, "/bad/text"),
        ("artist=" + "%61" * 67, "/bad/text"),
        ("titl%65=" + "a" * 201, "/bad/text"),
    ],
)
def test_too_many_parameters_of_a_list_are_refused(shim: Shim, query: str, key: str) -> None:
    """Limits of parameters, categories and characters hold before anything is decoded."""
    assert shim("wanted", plain=[query])["returned"] == {"bad": key}
    assert shim("list", args=query)["returned"] == key


@each(
    ("query", "key"),
    [
        ("", "/query/series/title/1"),
        ("limit=25&sort=-views&page=7", "/query/series/-views/7"),
        ("page=abc", "/query/series/title/0"),
        ("sort=x&nonsense=1", "/query/series/title/1"),
        ("categories=%2C&limit=25&page=2&sort=title", "/query/series/title/2"),
        ("limit=24", "/of/index/series"),
        ("title=x", "/of/index/series"),
        ("author=x", "/of/index/series"),
        ("artist=x", "/of/index/series"),
        ("slug=x", "/of/index/series"),
        ("status=x", "/of/index/series"),
        ("categories=x", "/of/index/series"),
        ("categories=-x", "/of/index/series"),
        ("sort=/../x", "/query/series/title/1"),
    ],
)
def test_list_is_a_file_unless_filtered(shim: Shim, query: str, key: str) -> None:
    """Only a filter or another page size needs a search."""
    assert shim("list", args=query)["returned"] == key


@each(
    ("query", "chosen"),
    [
        ("", ""),
        ("date_format=", ""),
        ("date_format=iso-8601", ""),
        ("date_format=rfc-5322", "rfc-5322"),
        ("date_format=timestamp", "timestamp"),
        ("date_format=x&date_format=timestamp", "timestamp"),
        ("date_format=Timestamp", "bad"),
        ("date_format=__proto__", "bad"),
        ("Date_format=x", ""),
    ],
)
def test_date_format_is_chosen_or_bad(shim: Shim, query: str, chosen: str) -> None:
    """Empty for the default format of the path."""
    assert shim("dates", args=query)["returned"] == chosen


@each(
    ("query", "key"),
    [
        ("", "/api/v2/chapters"),
        ("series=", "/api/v2/chapters"),
        ("date_format=rfc-5322", "/query/chapters/rfc-5322"),
        ("date_format=bad", "/bad/date_format"),
        ("series=full-book&date_format=bad", "/bad/date_format"),
        ("series=full-book", "/api/v2/series/full-book/chapters"),
        ("series=FULL-BOOK&date_format=timestamp", "/query/series/full-book/chapters/timestamp"),
        ("series=upper-lower_9", "/api/v2/series/UPPER-lower_9/chapters"),
        ("series=__proto__", "/api/v2/series/__proto__/chapters"),
        ("series=constructor", "/api/v2/series/constructor/chapters"),
        ("series=toString", NO_PAGES),
        ("series=in-shops", NO_PAGES),
        ("series=members-only", NO_PAGES),
        ("series=in-shops-for-members", NO_PAGES),
        ("series=tomorrow", NO_PAGES),
        ("series=../full-book", NO_PAGES),
    ],
)
def test_chapters_of_restricted_series_look_missing(shim: Shim, query: str, key: str) -> None:
    """A restricted slug gives the same key as an unknown one."""
    assert shim("chapters", args=query)["returned"] == key


@each(
    ("query", "key"),
    [
        ("", "/bad/pages"),
        ("series=a&volume=1", "/bad/pages"),
        ("series=a&volume=1&number=", "/bad/pages"),
        ("series=a&volume=1&number=1", "/query/pages/a/1/1"),
        ("number=10.25&volume=0&series=A-_9", "/query/pages/A-_9/0/10.25"),
        ("series=a&volume=1&number=1&series=b", "/query/pages/b/1/1"),
        ("series=a%2F..&volume=1&number=1", NO_PAGES),
        ("series=a%0A&volume=1&number=1", NO_PAGES),
        ("series=~&volume=0&number=0", NO_PAGES),
        ("series=a&volume=01&number=1", "/query/pages/a/1/1"),
        ("series=a&volume=1.0&number=1.50", "/query/pages/a/1/1.5"),
        ("series=a&volume=1e0&number=15E-1", "/bad/number"),
        ("series=a&volume=1&number=1%0A", "/bad/number"),
        ("series=a&volume=-1&number=1", "/bad/volume"),
        ("series=a&volume=1.5&number=x", "/bad/volume"),
        ("series=%2F&volume=1&number=x", "/bad/number"),
        ("series=&volume=x&number=x", "/bad/pages"),
    ],
)
def test_pages_key_needs_a_slug_and_two_numbers(shim: Shim, query: str, key: str) -> None:
    """An invalid volume or number is refused; an unknown series gives the empty list."""
    assert shim("pages", args=query)["returned"] == key


@each(
    ("text", "number"),
    [
        *(
            (text, "1")
            for text in ("1", "01", "001", "1.0", "1.000", "1e0", "1E0", "1e00", "01.0e0", "0.1e1", "0.01e02")
        ),
        *((text, "0") for text in ("0", "00", "0.0", "0e99", "0.000e3", "0" * 8000)),
        *((text, "10.5") for text in ("10.5", "10.50", "0010.5", "1.05e1", "0.105e2")),
        ("1e2", "100"),
        ("1.5e3", "1500"),
        ("0.0001", "0.0001"),
        ("1e99", "1" + "0" * 99),
        ("0" * 4000 + "7." + "0" * 4000, "7"),
        ("1." + "0" * 4000 + "1", "1." + "0" * 4000 + "1"),
        *(
            (text, "")
            for text in ("", "x", "-1", "+1", " 1", "1 ", "1.", ".5", "1e", "e1", "1e+1", "1e-1", "1e100", "1e1.0")
        ),
        *((text, "") for text in ("1\n", "\n1", "٢", "１", "1_0", "1,0", "0x1", "Infinity", "NaN", "1.2.3", "1e1e1")),
    ],
)
def test_numbers_have_one_canonical_form(shim: Shim, text: str, number: str) -> None:
    """Digits, a fraction and an exponent of one or two digits; no sign, no space, ASCII only."""
    assert shim("canonical", plain=[text])["returned"] == number


@each(
    ("query", "quoted"),
    [
        ("volume=x", "x"),
        ("volume=1&volume=x+y", "x y"),
        ('volume="\\', '"\\'),
        ("volume=%22%5C%0A%00%7F%E2%80%A8", '"\\\n\0\x7f\u2028'),
        ("volume=%ff", "\ufffd"),
        ("volume=x&api_key=secret", "x"),
        ("volume=x%26API_Key%3Dsecret", "x&"),
        ("volume=" + "x" * 8000, "x" * 100),
        ("vol%75me=x#volume=y", "x"),
    ],
)
def test_invalid_number_is_quoted_without_an_api_key(shim: Shim, query: str, quoted: str) -> None:
    """The error has the beginning of the value, as JSON."""
    variables = {"fp_key": "/bad/volume", "request_uri": f"/api/v2/pages?number=1&{query}"}

    assert json.loads(shim("invalid", variables=variables)["returned"]) == {"error": f"Invalid volume: {quoted}"}


@each(
    ("sent", "counts"),
    [
        ("/x", ""),
        ("/x?", ""),
        ("/x?track", ""),
        ("/x?track=", ""),
        ("/x?track=true", "1"),
        ("/x?track=true&track=", ""),
        ("/x?track=true&track", "1"),
        ("/x?a=?track=true", ""),
        ("/x?tr%61ck=%74rue", "1"),
        ("/x?track=true#", "1"),
        ("/x#?track=true", ""),
        ("/x?a=b#?track=true", ""),
        ("/track=true", ""),
    ],
)
def test_view_is_read_from_the_request_line(shim: Shim, sent: str, counts: str) -> None:
    """After a 304, nginx has lost the arguments when it writes the log."""
    assert shim("tracked", variables={"request_uri": sent})["returned"] == counts


def sha256(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


@each(
    ("headers", "query", "digest"),
    [
        ({}, "", ""),
        ({"X-API-Key": ""}, "api_key=", ""),
        ({"X-API-Key": "a"}, "", sha256("a")),
        ({}, "api_key=a%2B+", sha256("a+ ")),
        ({"X-API-Key": "a"}, "api_key=b", sha256("a")),
        ({"X-API-Key": ""}, "api_key=b", sha256("b")),
        ({}, "api_key=a&api_key=b", sha256("b")),
        ({}, "API_KEY=a", ""),
        ({}, None, ""),
        ({}, "api_key=%C3%A9", sha256("é")),
    ],
)
def test_api_key_leaves_the_shim_as_its_digest(shim: Shim, headers: dict[str, str], query: str, digest: str) -> None:
    """The header wins over the parameter; an empty header counts as none."""
    assert shim("digest", headers=headers, args=query)["returned"] == digest


BODY = '{"total":1,"last":true,"results":[%s]}'
TAG = "0" * 32


def searched(shim: Shim, query: str, **variables: str) -> dict[str, Any]:
    return shim("search", args=query, variables={"fp_found": "body", "fp_verdict": "", "fp_tag": TAG} | variables)


def item(index: Path, slug: str) -> str:
    parsed = json.loads(index.read_bytes())
    return parsed["items"][parsed["slug"][f"/{slug}"]]


def test_search_returns_body_and_etag(shim: Shim, index: Path) -> None:
    """Items are sent as in the index; the ETag is the MD5 of the body, without a gzip form."""
    body = BODY % item(index, "full-book")
    answer = searched(shim, "title=full")

    assert answer["done"] == ["return", 200, body]
    assert answer["variables"]["fp_tag"] == hashlib.md5(body.encode()).hexdigest()
    assert answer["variables"]["fp_packed"] == "-"


@each(
    ("query", "variables", "done"),
    [
        ("title=full", {"fp_verdict": "fresh"}, ["return", 418]),
        ("title=full", {"fp_verdict": "failed"}, ["return", 412]),
        ("title=full", {"fp_verdict": "passed"}, ["internalRedirect", "/_flatpanel/again"]),
        ("title=full&page=2", {}, ["return", 404]),
        ("title=full&page=0", {"fp_verdict": "fresh"}, ["return", 404]),
        ("title=full", {"fp_found": ""}, ["return", 404]),
    ],
)
def test_maps_evaluate_conditions_of_a_search(
    shim: Shim, query: str, variables: dict[str, str], done: list[Any]
) -> None:
    """Fresh, failed, passed; a missing page or index is a 404 before them."""
    assert searched(shim, query, **variables)["done"] == done


@each(
    ("page", "limit", "slugs", "last"),
    [
        (1, 1, ["c"], False),
        (2, 1, ["a"], False),
        (3, 1, ["b"], True),
        (1, 3, ["c", "a", "b"], True),
        (2, 2, ["b"], True),
    ],
)
def test_pages_follow_the_order_of_the_index(shim: Shim, page: int, limit: int, slugs: list[str], last: bool) -> None:
    """The index holds the positions of the series."""
    sets = NamedSets(3)
    index = {
        "orders": {"/views": sets.in_order([2, 0, 1], ranked=True)},
        "items": [f'"{slug}"' for slug in "abc"],
        "words": 1,
        "everything": sets.everything,
        "counts": sets.counts,
        "slug": {},
    }
    ask = DEFAULTS | {"sort": "views", "page": page, "limit": limit}
    body = shim("listed", plain=[ask], index=index)["returned"]

    assert json.loads(body) == {"total": 3, "last": last, "results": slugs}
    assert shim("listed", plain=[ask | {"page": 99}], index=index)["returned"] is None


def test_empty_index_has_one_empty_page(shim: Shim) -> None:
    """A site may have no series yet."""
    sets = NamedSets(0)
    order = sets.in_order([], ranked=False)
    index = {"orders": {"/title": order}, "items": [], "words": 0, "everything": 0, "counts": sets.counts, "slug": {}}

    assert shim("listed", plain=[DEFAULTS], index=index)["returned"] == '{"total":0,"last":true,"results":[]}'
    assert shim("listed", plain=[DEFAULTS | {"page": 2}], index=index)["returned"] is None
