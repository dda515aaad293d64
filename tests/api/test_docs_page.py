"""The page that shows the API, in a real browser: it works alone, and under a policy that lets nothing else in."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from generator.api import docs_page
from generator.api.openapi.operations import OPERATIONS, TAGS
from generator.release.export import export_release
from tests.conftest import Site
from tests.support import browser
from tests.support.nginx_client import Answer, Web

PAGE = "/api/v2/docs/"
TYPES = {
    PAGE: "text/html; charset=utf-8",
    "/api/v2/docs": "text/html; charset=utf-8",
    "/api/v2/docs/start.js": "text/javascript; charset=utf-8",
    "/api/v2/docs/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "/api/v2/docs/swagger-ui.css": "text/css; charset=utf-8",
    "/api/v2/docs/swagger-ui.css/": "text/css; charset=utf-8",
    "/api/v2/openapi.json": "application/json",
}
# Where there is no browser the page is tested as far as HTTP goes.
needs_browser = pytest.mark.skipif(not browser.COMMAND, reason="chromium is not installed")


@pytest.fixture(scope="module")
def web(serve: Callable[[str], tuple[Site, Web]]) -> Web:
    return serve("v2")[1]


@pytest.fixture(scope="module")
def shown(web: Web, tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    """The page, as it stands when every operation is there."""
    with browser.browsing(tmp_path_factory.mktemp("browser")) as tab:
        tab.open(f"http://127.0.0.1:{web.port}{PAGE}")
        tab.wait_for(".opblock")
        yield tab


# As HTTP has it


@pytest.mark.parametrize("path", TYPES)
def test_each_part_is_what_it_says(web: Web, path: str) -> None:
    """The page and its parts have the type that a browser which guesses nothing asks for."""
    answer = web.ask(path)

    assert (answer.status, answer["content-type"], answer["x-content-type-options"]) == (200, TYPES[path], "nosniff")


@pytest.mark.parametrize("path", TYPES)
def test_each_part_is_a_resource_like_any_other(web: Web, path: str) -> None:
    """The page and its parts have tags, dates, a compressed form, 304, 412, HEAD and 405 as all the rest has."""
    plain = web.ask(path)
    tag, date = plain["etag"], plain["last-modified"]
    assert tag and date

    fresh = web.ask(path, If_None_Match=tag)
    assert (fresh.status, fresh["content-length"]) == (304, None)
    assert fresh["content-type"] in (None, TYPES[path])
    assert web.ask(path, If_Modified_Since=date).status == 304
    assert web.ask(path, If_Match='"another"').status == 412
    again = web.ask(path, If_Match=tag)
    assert (again.status, again["content-type"], again.body) == (200, TYPES[path], plain.body)
    assert again["content-security-policy"] == plain["content-security-policy"]
    head = web.ask(path, "HEAD")
    assert (head.status, head["content-type"], head["content-length"]) == (200, TYPES[path], str(len(plain.body)))
    assert web.ask(path, "POST").status == 405


def test_the_script_is_sent_compressed(web: Web) -> None:
    """What is large is sent compressed, and is still a script."""
    answer = web.ask("/api/v2/docs/swagger-ui-bundle.js", Accept_Encoding="gzip")

    assert (answer["content-encoding"], answer["content-type"]) == ("gzip", "text/javascript; charset=utf-8")


@pytest.mark.parametrize("path", ["/api/v2/DOCS", "/api/v2/docs/index.html", "/api/v2/docs/swagger-ui.CSS"])
def test_nothing_is_below_the_page_but_its_parts(web: Web, path: str) -> None:
    """Other spellings and other names are not found, in the words of v2."""
    answer = web.ask(path)

    assert (answer.status, answer["content-type"], answer.body) == (404, "application/json", b'{"detail":"Not found."}')


def policy(answer: Answer) -> dict[str, list[str]]:
    words = [part.split() for part in (answer["content-security-policy"] or "").split(";")]
    return {name: sources for name, *sources in words}


def test_the_policy_lets_in_what_the_page_is_made_of_and_nothing_else(web: Web) -> None:
    """Scripts and styles are files of this host; nothing inside the page is run, no page elsewhere frames it."""
    assert policy(web.ask(PAGE)) == {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'self'"],
    }


def test_a_plain_tree_holds_the_page_under_the_names_that_it_uses(
    serve: Callable[[str], tuple[Site, Web]], tmp_path: Path
) -> None:
    """An exported site has the page where servers of files look for it, and its parts and the document beside it."""
    export_release(serve("v2")[0].store, tmp_path / "plain")
    folder = tmp_path / "plain/api/v2"

    assert sorted(one.name for one in (folder / "docs").iterdir() if one.suffix != ".headers") == [
        "index.html",
        "start.js",
        "swagger-ui-bundle.js",
        "swagger-ui.css",
    ]
    assert (folder / "openapi.json").is_file()
    assert (folder / "series.json").is_file()


def test_the_viewer_is_as_it_was_published() -> None:
    """The viewer's files have the digests that are written beside them."""
    folder = Path(docs_page.__file__).parent
    told = (folder / "README.md").read_text()

    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert f"| `{sha256((folder / name).read_bytes()).hexdigest()}` | `{name}` |" in told


# As a browser has it


@needs_browser
def test_every_operation_is_shown(shown: browser.Browser) -> None:
    """The page lists every tag and every path of the document, the deprecated one among them."""
    paths = shown.run(
        "[...document.querySelectorAll('.opblock-summary-path,.opblock-summary-path__deprecated')]"
        ".map((one) => one.dataset.path)"
    )
    tags = shown.run("[...document.querySelectorAll('.opblock-tag')].map((one) => one.dataset.tag)")

    assert sorted(paths) == sorted(OPERATIONS)
    assert tags == list(TAGS)
    assert shown.run("document.querySelectorAll('.opblock-deprecated').length") == 1


@needs_browser
def test_an_operation_can_be_opened_and_tried(shown: browser.Browser, web: Web) -> None:
    """Somebody who presses the buttons is shown what this very server answers."""
    shown.run("document.querySelector('#operations-categories-listCategories button').click()")
    shown.wait_for("#operations-categories-listCategories .try-out__btn")
    shown.run("document.querySelector('#operations-categories-listCategories .try-out__btn').click()")
    shown.wait_for("#operations-categories-listCategories .execute")
    shown.run("document.querySelector('#operations-categories-listCategories .execute').click()")
    shown.wait_for("#operations-categories-listCategories .live-responses-table .response-col_status")

    assert f"http://127.0.0.1:{web.port}/api/v2/categories" in [url for url, _ in shown.requests()]
    status = shown.run("document.querySelector('.live-responses-table .response .response-col_status').innerText")
    assert status.startswith("200")


@needs_browser
def test_the_page_asks_nobody_else(shown: browser.Browser, web: Web) -> None:
    """Every request goes to this host, or to a picture inside the style sheet, and none fails."""
    asked = [url for url, _ in shown.requests()]

    assert f"http://127.0.0.1:{web.port}/api/v2/openapi.json" in asked
    assert [url for url in asked if not url.startswith((f"http://127.0.0.1:{web.port}/", "data:"))] == []
    assert shown.told("Network.loadingFailed") == []
    assert {status for _, status in shown.requests()} == {200}


@needs_browser
def test_the_page_complains_of_nothing(shown: browser.Browser) -> None:
    """No error is logged or thrown, and the policy is never violated."""
    issues = [one["issue"]["code"] for one in shown.told("Audits.issueAdded")]

    assert shown.told("Log.entryAdded") == []
    assert shown.told("Runtime.exceptionThrown") == []
    assert shown.told("Runtime.consoleAPICalled") == []
    assert "ContentSecurityPolicyIssue" not in issues
