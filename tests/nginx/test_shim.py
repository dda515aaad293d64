"""The functions of the shim, called one by one. tests/responses/test_series_list.py has more queries, with nginx."""

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
        ("a", {}),
        ("&&a=1&&a=b=c", {"a": "b=c"}),
        ("%zz+=c+d", {"%zz ": "c+d"}),
        ("%ff=1", {"\ufffd": "1"}),
        ("hasOwnProperty=1&toString=2", {"hasOwnProperty": "1", "toString": "2"}),
    ],
)
def test_query_of_a_list_is_split(shim: Shim, query: str, parameters: dict[str, str]) -> None:
    """Names are decoded, values are not; the last of a repeated parameter counts."""
    assert shim("parameters", plain=[query])["returned"] == parameters


@each(
    ("query", "value"),
    [
        ("track", ""),
        ("track=a&track=", ""),
        ("&&track=a&&", "a"),
        ("xtrack=a", ""),
        ("tracks=a", ""),
        ("Track=a", ""),
        ("%74%72%61%63%6b=a", "a"),
        ("trac%6B=c+d", "c d"),
        ("track=%zz%20%4", "%zz %4"),
        ("track=%0A&x", "\n"),
    ],
)
def test_single_parameter_is_read(shim: Shim, query: str, value: str) -> None:
    """The last value counts, decoded as a whole or left as sent; the name may have escapes."""
    assert shim("parameter", plain=[query, "track"])["returned"] == value


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
        ("page=&limit=&sort=&slug=&status=&categories=&title=&author=&artist=", {}),
        ("page=1&limit=25&sort=title&status=any&categories=,", {}),
        ("limit=1000", {"limit": 999}),
        ("limit=" + "9" * 400, {"limit": 999}),
        # An engine may have two small letters for it.
        ("slug=%C4%B0", {"slug": "İ"}),
        ("status=CANCELLED", {"status": "canceled"}),
        ("categories=+A+,-b,,-,+-+c+", {"categories": {"any": ["a"], "none": ["b", "c"]}}),
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
        *((text, "1") for text in ("01", "1.000", "1E0", "0.01e02")),
        *((text, "0") for text in ("0", "0e99", "0" * 8000)),
        ("1e99", "1" + "0" * 99),
        ("0" * 4000 + "7." + "0" * 4000, "7"),
        ("1." + "0" * 4000 + "1", "1." + "0" * 4000 + "1"),
        *((text, "") for text in ("", "1.", ".5", "1e", "e1", "1e+1", "1e1.0", "1\n", "１", "1_0", "0x1", "1.2.3")),
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


def test_empty_index_has_one_empty_page(shim: Shim) -> None:
    """A site may have no series yet."""
    sets = NamedSets(0)
    order = sets.in_order([], ranked=False)
    index = {"orders": {"/title": order}, "items": [], "words": 0, "everything": 0, "counts": sets.counts, "slug": {}}

    assert shim("listed", plain=[DEFAULTS], index=index)["returned"] == '{"total":0,"last":true,"results":[]}'
    assert shim("listed", plain=[DEFAULTS | {"page": 2}], index=index)["returned"] is None
