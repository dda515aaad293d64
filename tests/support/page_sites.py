"""Sites with pages for readers, built and served: the example, and a catalog whose every text is an attack."""

import json
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from generator.api.page_routes import PAGES
from generator.api.payloads.resources import HTML
from tests.conftest import Site, serving
from tests.support import nginx_client, tree_snapshot
from tests.support.paths import EXAMPLE, ROOT

SPARE = """title: Spare series {number}
cover: cover.jpg
categories: [adventure]
status: ongoing
chapters:
  - {{id: {number}000, number: 1, published: 2025-01-01, pages: []}}
  - {{id: {number}001, number: 1, published: 2025-01-01, pages: []}}
"""
# Not the host that serves: a link that names it leaves the site.
BASE_URL = "https://comics.example"


@dataclass(frozen=True)
class PageSite:
    """A site with pages, and the server of it."""

    site: Site
    web: nginx_client.Web

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.web.port}{path}"

    @property
    def pages(self) -> list[str]:
        """The paths of all pages."""
        bodies = self.site.manifest.resources.values()
        return [body.url for body in bodies if body.type == HTML and not body.url.startswith("/api/")]

    @property
    def files(self) -> list[Path]:
        """The files of all pages; those of one series stand for the pages of all that only fill lists."""
        return self._files(path for path in self.pages if not re.search(r"/spare-(?!100/)", path))

    @property
    def largest(self) -> list[Path]:
        """The file of the largest page of each kind."""
        return self._files(self.kinds.values())

    def _files(self, paths: Iterable[str]) -> list[Path]:
        resources = self.site.manifest.resources
        return [self.site.folder / "dist" / resources[path].file for path in paths]

    @cached_property
    def kinds(self) -> dict[str, str]:
        """The path with the largest body for each kind of page, by the path of its route."""
        resources = self.site.manifest.resources
        return {kind_of(path): path for path in sorted(self.pages, key=lambda path: resources[path].size)}


def kind_of(path: str) -> str:
    """The route of a page: of all that fit, the one with the fewest parameters. `{reader}` is `/reader/`."""
    fitting = [route.path for route in PAGES if route.type == HTML and re.fullmatch(_pattern(route.path), path)]
    return min(fitting, key=lambda route: route.count("{"))


def _pattern(route: str) -> str:
    pattern = re.escape(route).replace(r"\{reader\}", "/reader/").replace(r"\{page\}", r"\d+")
    return re.sub(r"\\\{\w+\\\}", "[^/]+", pattern)


@contextmanager
def _served(site: Site, settings: str, *, is_edited: bool = False) -> Iterator[PageSite]:
    """Build a catalog with more settings, and serve it. Only a test that says so may change files."""
    site.write("site.yaml", f"{settings}\n")
    with serving(site) as web, nullcontext() if is_edited else tree_snapshot.unchanged(site.folder):
        yield PageSite(site, web)


@contextmanager
def example(folder: Path, spare: int = 50, *, is_edited: bool = False) -> Iterator[PageSite]:
    """The catalog of the project with its images. Browsers ask for each page again if the site is edited."""
    site = Site(folder)
    for name in ("catalog_src", "media"):
        shutil.copytree(ROOT / name, folder / name)
    # More series than a page of a list has.
    for number in range(100, 100 + spare):
        slug = f"spare-{number}"
        site.write(f"series/{slug}.yaml", SPARE.format(number=number))
        (folder / "media/series" / slug).mkdir()
        shutil.copy(folder / "media/series/paper-moons/cover.jpg", folder / "media/series" / slug)
    site.write(
        "../theme/about.md", "# About\n\nWho we are, and *why*.\n\n| day | chapter |\n|---|---|\n| Sunday | one |\n"
    )
    settings = (EXAMPLE / "site.yaml").read_text(encoding="utf-8")
    for line in ("base_url", "port", "pages", "apps"):
        settings = re.sub(rf"^{line}:.*\n", "", settings, flags=re.MULTILINE)
    if is_edited:
        settings = settings.replace("pages: 300", "pages: 0")
    with _served(
        site, f"{settings}\nbase_url: {BASE_URL}\npages: true\napps: [komga, opds]", is_edited=is_edited
    ) as served:
        yield served


# Markup for texts, attributes, titles, scripts, styles and templates. Each sets a global variable if it works.
ATTACK = (
    "\"'><script>hacked=1</script><img src=x onerror=hacked=1></title></script><svg/onload=hacked=1><!--{{ 7*191 }}"
)
SHORT_ATTACK = "\"'><script>hacked=1</script>"
ADDRESS = "javascript:void(hacked=1)"
FILE = '" onerror="hacked=1" x=\'<img>{{ 7*191 }}.png'
# The other host that both catalogs name images of; the hostile one has a restricted host, too.
IMAGES = "https://images.example"


def _attacks() -> dict[str, object]:
    """The files of a catalog in which each text is an attack."""
    shared = {"modified": "2026-01-01"}
    person = [{"id": 1, "name": ATTACK, "aliases": [ATTACK, ADDRESS], **shared}]
    chapter = {"title": ATTACK, "published": "2026-01-02", "groups": [1, 2], **shared}
    series = {"title": ATTACK, "aliases": [ATTACK], "description": f"{ATTACK}\n\n{ADDRESS}\n", "authors": [1]}
    series |= {"artists": [1], "categories": [SHORT_ATTACK], "cover": FILE, **shared}
    addresses = dict.fromkeys(("website", "email", "discord", "twitter", "reddit", "irc"), ADDRESS)
    roles = [{"member": 1, "role": ATTACK}]
    group = {"id": 1, "name": ATTACK, "description": ATTACK, "logo": FILE, "members": roles, **addresses, **shared}
    quoted = dict.fromkeys(addresses, ATTACK)
    return {
        "authors.yaml": person,
        "artists.yaml": person,
        "categories.yaml": [{"id": SHORT_ATTACK, "name": SHORT_ATTACK, "description": ATTACK, **shared}],
        "members.yaml": [{"id": 1, "name": ATTACK, **dict.fromkeys(("twitter", "discord"), ADDRESS), **shared}],
        "groups.yaml": [group, {**group, **quoted, "id": 2, "logo": f"{IMAGES}/logo.png?'onerror='hacked=1'"}],
        "series/open.yaml": {
            **series,
            "chapters": [
                {**chapter, "id": 1, "number": 1, "pages": [FILE, f"{FILE[:-4]}2.png"]},
                {**chapter, "id": 2, "number": 1, "pages": [FILE]},
                {**chapter, "id": 3, "number": 2, "volume": 1, "pages": [f"{IMAGES}/folder/1.png?'onerror=hacked=1"]},
            ],
        },
        "series/licensed.yaml": {**series, "licensed": True, "updated": "2026-01-01"},
        "series/restricted.yaml": {
            **series,
            "restricted": True,
            "cover": f"{IMAGES}:8443/cover.png",
            "chapters": [{**chapter, "id": 4, "number": 1, "pages": ["https://secret.example/1.png"]}],
        },
    }


@contextmanager
def hostile(folder: Path) -> Iterator[PageSite]:
    """A catalog that tries to run scripts."""
    site = Site(folder)
    for path, content in _attacks().items():
        site.write(path, json.dumps(content))
    site.write("../theme/about.md", f"# {ATTACK}\n\n{ATTACK}\n\n[link]({ADDRESS})\n\n<script>hacked=1</script>\n")
    settings = f"base_url: {BASE_URL}\npages: true\ntitle: {json.dumps(ATTACK)}"
    with _served(site, settings) as served:
        yield served
