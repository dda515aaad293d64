"""The documents as a site: its links lead somewhere, its search works, and its pages need no other host."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from lxml import html
from lxml.html import HtmlElement

from tests.support import browser, servers
from tests.support.documents import DOCUMENTS, FENCE, blocks, sections
from tests.support.paths import ROOT

ENVIRONMENT = ROOT / ".venv-docs"
# CI must have it, so that these tests fail there instead, unless it could not install it.
_REQUIRED = os.environ.get("CI") == "true" and "WITHOUT_DOCS_SITE" not in os.environ
pytestmark = [
    pytest.mark.documents,
    pytest.mark.skipif(not ENVIRONMENT.exists() and not _REQUIRED, reason="no .venv-docs; run tools/setup docs"),
]
ICON = "generator/api/pages/assets/icon.svg"
# A word of one document.
WORD, PAGE = "Suwayomi", "/docs/clients.html"


def make(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", "docs-site"], cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the documents and of what renders them, with its site."""
    folder = tmp_path_factory.mktemp("docs")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("docs", "tools", "requirements"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in (*DOCUMENTS, "bench/RESULTS.md", "generator/__init__.py", ICON, "LICENSE", "Makefile"):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / ENVIRONMENT.name).symlink_to(ENVIRONMENT)
    done = make(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def site(project: Path) -> Path:
    return project / "build/docs"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, HtmlElement]:
    return {path: html.parse(path).getroot() for path in sorted(site.rglob("*.html"))}


def test_every_document_is_a_page_of_the_sidebar(site: Path, pages: dict[Path, HtmlElement]) -> None:
    """The first page is the README, and links to all others."""
    documents = {name.replace(".md", ".html") for name in {*DOCUMENTS, "bench/RESULTS.md"}}
    first = pages[site / "index.html"]

    assert documents <= {path.relative_to(site).as_posix() for path in pages}
    assert documents - {"README.html"} <= set(first.xpath("//*[@class='sidebar-tree']//a/@href"))
    assert first.xpath("string(//h1)").startswith("Flatpanel")


def test_anchors_are_those_of_a_git_host(site: Path, pages: dict[Path, HtmlElement]) -> None:
    """A link to a heading from outside is right on both."""
    for name, text in DOCUMENTS.items():
        page = pages[site / name.replace(".md", ".html")]
        assert set(sections(FENCE.sub("", text))) <= set(page.xpath("//@id")), name


def test_pages_name_no_other_host_for_what_they_load(site: Path, pages: dict[Path, HtmlElement]) -> None:
    """Neither in elements nor in style sheets."""
    loaded = [link for page in pages.values() for element, _, link, _ in page.iterlinks() if element.tag != "a"]
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    loaded += re.findall(r"(?:url\(|@import )[\"']?([^\"')]+)", styles)

    assert len(loaded) > len(pages)
    assert [url for url in loaded if urlsplit(url).netloc] == []


def test_a_diagram_is_readable_as_text(site: Path, pages: dict[Path, HtmlElement]) -> None:
    """A git host draws it. The program that draws it would be larger than the site."""
    (diagram,) = blocks("docs/architecture.md", "mermaid")
    assert diagram.text in [block.text_content() for block in pages[site / "docs/architecture.html"].iter("pre")]


class Files(servers.Handler, SimpleHTTPRequestHandler):
    """The files of a folder."""


@pytest.fixture(scope="module")
def home(site: Path) -> Iterator[str]:
    with servers.answering(partial(Files, directory=site)) as port:
        yield f"http://127.0.0.1:{port}"


@browser.needs_browser
def test_the_search_finds_a_word_without_another_host(home: str, chromium: browser.Browser) -> None:
    """A visitor types it on the first page; the result leads to the document."""
    with chromium.tab() as tab:
        tab.open(f"{home}/index.html")
        tab.click("input[name=q]")
        tab.type(WORD)
        tab.press("Enter")
        result = f"#search-results a[href*='{PAGE.lstrip('/')}']"
        tab.wait_for(result)
        # The results move as long as their summaries come: a click at a place may miss.
        tab.run(f'document.querySelector("{result}").click()')
        tab.wait_until(f"location.pathname === '{PAGE}' && document.body.innerText.includes('{WORD}')")

        asked = [event["request"]["url"] for event in tab.events_of("Network.requestWillBeSent")]
        assert {urlsplit(url).netloc for url in asked if not url.startswith("data:")} == {urlsplit(home).netloc}
        assert tab.complaints() == []


def test_a_broken_link_ends_the_build(project: Path, tmp_path: Path) -> None:
    """Each is reported with its file and line."""
    folder = tmp_path / "project"
    shutil.copytree(project, folder, symlinks=True, ignore=shutil.ignore_patterns("build", "*.md"))
    links = ("media.md#media", "nothing.md", "media.md#no-such-heading", "#no-heading-here")
    documents = {
        "README.md": "# Flatpanel\n",
        "docs/README.md": "# Documents\n\n[Serving](serving.md) [Media](media.md)\n",
        "docs/media.md": "# Media\n",
        "docs/serving.md": "# Serving\n" + "".join(f"\n[a]({link})\n" for link in links),
    }
    for name, text in documents.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = make(folder)

    assert done.returncode != 0
    warnings = re.findall(r"docs/(\S+): WARNING: .*'(\S+)'", done.stderr)
    assert warnings == [
        ("serving.md:5", "nothing.md"),
        ("serving.md:7", "no-such-heading"),
        ("serving.md:9", "no-heading-here"),
    ]
