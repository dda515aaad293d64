"""The documentation page in a real browser: it works under a policy that allows only its own files."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from generator.api import docs_page
from generator.api.openapi.document import OPERATIONS, TAGS
from generator.hosts.plain.export import export_release
from tests.conftest import Site
from tests.support import browser
from tests.support.nginx_client import Web
from tests.support.tables import each

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


@pytest.fixture(scope="module")
def web(serve: Callable[[str], tuple[Site, Web]]) -> Web:
    return serve("v2")[1]


@pytest.fixture(scope="module")
def tab(web: Web, chromium: browser.Browser) -> Iterator[browser.Tab]:
    """A browser tab with the page, after all operations are loaded."""
    with chromium.tab() as opened:
        opened.open(f"http://127.0.0.1:{web.port}{PAGE}")
        opened.wait_for(".opblock")
        yield opened


# Responses


@each(("path", "type"), TYPES.items())
def test_each_file_has_its_type(web: Web, path: str, type: str) -> None:
    """Browsers may not guess another type. Conditions are those of other bodies."""
    plain = web.ask(path)
    fresh, matched = web.ask(path, If_None_Match=str(plain["etag"])), web.ask(path, If_Match=str(plain["etag"]))

    assert (plain.status, plain["content-type"], plain["x-content-type-options"]) == (200, type, "nosniff")
    assert (fresh.status, fresh["content-length"], web.ask(path, If_Match='"another"').status) == (304, None, 412)
    assert (matched.status, matched["content-type"], matched.body) == (200, type, plain.body)
    assert matched["content-security-policy"] == plain["content-security-policy"]
    assert (web.ask(path, "HEAD")["content-type"], web.ask(path, "POST").status) == (type, 405)


def test_script_is_sent_compressed(web: Web) -> None:
    response = web.ask("/api/v2/docs/swagger-ui-bundle.js", Accept_Encoding="gzip")

    assert (response["content-encoding"], response["content-type"]) == ("gzip", "text/javascript; charset=utf-8")


@pytest.mark.parametrize("path", ["/api/v2/DOCS", "/api/v2/docs/index.html", "/api/v2/docs/swagger-ui.CSS"])
def test_other_path_below_the_page_is_404(web: Web, path: str) -> None:
    """The error has the format of v2."""
    response = web.ask(path)

    assert (response.status, response["content-type"], response.body) == (
        404,
        "application/json",
        b'{"detail":"Not found."}',
    )


def test_exported_page_has_the_paths_that_it_uses(serve: Callable[[str], tuple[Site, Web]], tmp_path: Path) -> None:
    """Static hosts serve index.html for the folder."""
    export_release(serve("v2")[0].store, tmp_path / "plain")
    folder = tmp_path / "plain/api/v2"

    assert sorted(path.name for path in (folder / "docs").iterdir() if path.suffix != ".headers") == [
        "index.html",
        "start.js",
        "swagger-ui-bundle.js",
        "swagger-ui.css",
    ]
    assert (folder / "openapi.json").is_file()
    assert (folder / "series.json").is_file()


def test_swagger_ui_has_the_digests_of_the_readme() -> None:
    folder = Path(docs_page.__file__).parent
    readme = (folder / "README.md").read_text()

    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert f"| `{sha256((folder / name).read_bytes()).hexdigest()}` | `{name}` |" in readme


# In a browser


@pytest.mark.browser
@browser.needs_browser
def test_page_shows_every_operation(tab: browser.Tab) -> None:
    """It lists every tag and every path, including the deprecated one."""
    paths = tab.run(
        "[...document.querySelectorAll('.opblock-summary-path,.opblock-summary-path__deprecated')]"
        ".map((one) => one.dataset.path)"
    )
    tags = tab.run("[...document.querySelectorAll('.opblock-tag')].map((one) => one.dataset.tag)")

    assert sorted(paths) == sorted(OPERATIONS)
    assert tags == list(TAGS)
    assert tab.run("document.querySelectorAll('.opblock-deprecated').length") == 1


@pytest.mark.browser
@browser.needs_browser
def test_operation_can_be_tried(tab: browser.Tab, web: Web) -> None:
    """The buttons send a request to this server and show its response."""
    tab.run("document.querySelector('#operations-categories-listCategories button').click()")
    tab.wait_for("#operations-categories-listCategories .try-out__btn")
    tab.run("document.querySelector('#operations-categories-listCategories .try-out__btn').click()")
    tab.wait_for("#operations-categories-listCategories .execute")
    tab.run("document.querySelector('#operations-categories-listCategories .execute').click()")
    tab.wait_for("#operations-categories-listCategories .live-responses-table .response-col_status")

    assert f"http://127.0.0.1:{web.port}/api/v2/categories" in [url for url, _ in tab.requests()]
    status = tab.run("document.querySelector('.live-responses-table .response .response-col_status').innerText")
    assert status.startswith("200")


@pytest.mark.browser
@browser.needs_browser
def test_page_sends_requests_to_this_host_only(tab: browser.Tab, web: Web) -> None:
    """Images inside the style sheet are data URLs. No request fails, and nothing is logged, thrown or refused."""
    urls = [url for url, _ in tab.requests()]

    assert f"http://127.0.0.1:{web.port}/api/v2/openapi.json" in urls
    assert [url for url in urls if not url.startswith((f"http://127.0.0.1:{web.port}/", "data:"))] == []
    assert tab.events_of("Network.loadingFailed") == []
    assert {status for _, status in tab.requests()} == {200}
    names = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    assert {name: tab.events_of(name) for name in names} == {name: [] for name in names}
    issues = [audit["issue"]["code"] for audit in tab.events_of("Audits.issueAdded")]
    assert "ContentSecurityPolicyIssue" not in issues
