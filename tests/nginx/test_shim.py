"""The functions of the shim, called one by one. Other tests cover how nginx uses them."""

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
        ("a=b", {"a": "b"}),
        ("a=b=c", {"a": "b=c"}),
        ("a=1&a=2", {"a": "2"}),
        ("&&a=1&&", {"a": "1"}),
        ("a+b=c+d", {"a b": "c+d"}),
        ("%61=%62", {"a": "%62"}),
        ("%zz+=1", {"%zz ": "1"}),
        ("%ff=1", {"\ufffd": "1"}),
        ("&".join("a" for _ in range(64)), {}),
        ("&".join("a=1" for _ in range(65)), None),
        ("A=1&a=2", {"A": "1", "a": "2"}),
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
        ("track=a", "a"),
        ("track=a&track=b", "b"),
        ("track=a&track", "a"),
        ("&&track=a&&", "a"),
        ("xtrack=a", ""),
        ("Track=a", ""),
        ("%54rack=a", ""),
        ("tracks=a", ""),
        ("track=a&track=", ""),
        ("tr%61ck=a&x=1", "a"),
        ("%74%72%61%63%6b=a", "a"),
        ("trac%6B=a", "a"),
        ("track=%2B", "+"),
        ("track=c+d", "c d"),
        ("track=%C3%A9", "é"),
        ("track=%zz+", "%zz "),
        ("track=%ff", "\ufffd"),
        ("track=%zz%20%4", "%zz %4"),
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
        ("page=3", {"page": 3}),
        ("page=x", {"page": 0}),
        ("limit=1000", {"limit": 999}),
        ("limit=" + "9" * 400, {"limit": 999}),
        ("limit=0", {}),
        ("sort=-views,title", {"sort": "-views"}),
        ("sort=__proto__", {}),
        ("slug=Full-Book", {"slug": "full-book"}),
        ("status=CANCELLED", {"status": "canceled"}),
        ("categories=+A+,-b,,-,+-+c+", {"categories": {"any": ["a"], "none": ["b", "c"]}}),
        ("title=%C3%89T%C3%89", {"title": "été"}),
        ("title=STRA%E1%BA%9EE", {"title": "strasse"}),
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
        ("", "/query/series/title/1"),
        ("limit=25&sort=-views&page=7", "/query/series/-views/7"),
        ("page=abc", "/query/series/title/0"),
        ("categories=%2C&limit=25&page=2&sort=title", "/query/series/title/2"),
        ("limit=24", "/of/index/series"),
        ("title=x", "/of/index/series"),
        ("author=x", "/of/index/series"),
        ("artist=x", "/of/index/series"),
        ("slug=x", "/of/index/series"),
        ("status=x", "/of/index/series"),
        ("categories=x", "/of/index/series"),
        ("sort=/../x", "/query/series/title/1"),
    ],
)
def test_list_is_a_file_unless_filtered(shim: Shim, query: str, key: str) -> None:
    """Only a filter or another page size needs a search."""
    assert shim("list", args=query)["returned"] == key


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
    ("sent", "counts"),
    [("/x?track=true", "1"), ("/x?track=true#", "1"), ("/x#?track=true", ""), ("/track=true", ""), ("/x?track=", "")],
)
def test_view_is_read_from_the_request_line(shim: Shim, sent: str, counts: str) -> None:
    """After a 304, nginx has lost the arguments when it writes the log."""
    assert shim("tracked", variables={"request_uri": sent})["returned"] == counts


@each(
    ("query", "verdict", "done"),
    [
        ("title=full", "fresh", ["return", 418]),
        ("title=full", "failed", ["return", 412]),
        ("title=full", "passed", ["internalRedirect", "/_flatpanel/again"]),
        ("title=full&page=0", "fresh", ["return", 404]),
    ],
)
def test_maps_evaluate_conditions_of_a_search(shim: Shim, query: str, verdict: str, done: list[Any]) -> None:
    """A missing page is a 404 before them."""
    variables = {"fp_found": "body", "fp_verdict": verdict, "fp_tag": "0" * 32}

    assert shim("search", args=query, variables=variables)["done"] == done


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
