"""A site with names and ids that hosts of files read in a way of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from generator import encoding
from tests.conftest import Site, copy_of
from tests.support.nginx_client import Web
from tests.support.site_variants import served

MODIFIED = "2026-03-01T00:00:00Z"
# Names that a server decodes twice, or reads as a query or a fragment.
ENCODED = ("50%", "%41", "%2F", "%252F", "a?b", "a#b")
# Names that a server of HTML pages redirects, and those that browsers do not encode.
REDIRECTED = ("404", "index", "404.html", "index.html", "x", "x.html", "x.json", "Boys' Love", "a!(b)*")


def _series(title: str, first_id: int, *numbers: str, more: str = "") -> str:
    chapters = [
        f"  - {{id: {id}, number: {number}, title: {title}, published: {MODIFIED}, modified: {MODIFIED}, "
        f"pages: [{id}.png]}}\n"
        for id, number in enumerate(numbers, first_id)
    ]
    return f"title: {title}\ncover: c.png\nmodified: {MODIFIED}\n{more}chapters:\n{''.join(chapters)}"


def _files() -> dict[str, str]:
    names = (*ENCODED, *REDIRECTED)
    categories = [{"id": name, "name": name, "modified": MODIFIED} for name in names]
    ids = encoding.json(names).decode()
    return {
        "categories.yaml": encoding.json(categories).decode(),
        "series/Upper-Case.yaml": _series(
            "Upper", 403, "1", "404", more=f"formerly: [Old_Name, hostile-old]\ncategories: {ids}\n"
        ),
        "series/Members-2.yaml": _series("Members", 503, "1", more="restricted: true\nformerly: [Old-Members]\n"),
        "series/index.yaml": _series("Index", 603, "1"),
        "series/404.yaml": _series("Missing", 703, "1"),
        "series/lower.yaml": _series("Lower", 803, "1", "2"),
    }


@contextmanager
def unusual_site(folder: Path) -> Iterator[tuple[Site, Web]]:
    """The site, built and served by nginx."""
    with served(folder, "minimal", settings="pages: true", files=_files()) as site:
        yield site


def unusual_copy(folder: Path) -> Site:
    """The site, not built yet."""
    site = copy_of("minimal", folder)
    for path, text in _files().items():
        site.write(path, text)
    site.write("site.yaml", "base_url: https://minimal.example\npages: true\n")
    return site
