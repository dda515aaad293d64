"""Settings of Sphinx for `make docs-site`, which renders the documents as a site.

The documents are plain Markdown for a git host. What only the site needs is added here: the sidebar, made from the
index in docs/README.md, and a first page called index.html.
"""

import re
import shutil
from pathlib import Path

from pygments.lexers.javascript import JavascriptLexer
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
INDEX = "docs/README"
SECTION = re.compile(r"^##? (.+)\n((?:(?!## ).*\n)*)", re.MULTILINE)
DOCUMENT = re.compile(r"\]\((\.\./)?([\w/-]+)\.md\)")
SIDEBAR = "```{{toctree}}\n:hidden:\n:caption: {}\n{}\n```\n"

project = "Flatpanel"
(release,) = re.findall('__version__ = "(.+)"', (ROOT / "generator/__init__.py").read_text(encoding="utf-8"))
root_doc = "README"
include_patterns = ["*.md", "bench/*.md", "docs/**.md"]
extensions = ["myst_parser"]
# The anchors of a git host. A link to a file or heading that does not exist is a warning, which ends the build.
myst_heading_anchors = 6
# Entries of decisions are headings of the third level, since some documents have groups of them.
suppress_warnings = ["myst.header"]

html_theme = "furo"
html_title = f"{project} {release}"
html_favicon = str(ROOT / "generator/api/pages/assets/icon.svg")
html_show_copyright = False
html_copy_source = False


def sidebar(index: str) -> str:
    """Return a hidden table of contents for each section of the index. A document is in the first that links to it."""
    captions = {f"/{INDEX}": "Documentation"}
    for caption, section in SECTION.findall(index):
        for is_outside, name in DOCUMENT.findall(section):
            captions.setdefault(f"/{name}" if is_outside else f"/docs/{name}", caption)
    pages = {caption: [name for name in captions if captions[name] == caption] for caption in captions.values()}
    return "\n".join(SIDEBAR.format(caption, "\n".join(names)) for caption, names in pages.items())


def add_contents(app: Sphinx, document: str, source: list[str]) -> None:
    if document == root_doc:
        source[0] += "\n" + sidebar((ROOT / f"{INDEX}.md").read_text(encoding="utf-8"))
    elif document == "docs/decisions/README":
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n*\n```\n"


def add_first_page(app: Sphinx, exception: Exception | None) -> None:
    if not exception:
        shutil.copyfile(app.outdir / f"{root_doc}.html", app.outdir / "index.html")


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_contents)
    app.connect("build-finished", add_first_page)
    app.add_lexer("jsonc", JavascriptLexer)
    # A git host draws the diagram. Here it is text: the program that draws it would be larger than the site.
    app.add_lexer("mermaid", TextLexer)
