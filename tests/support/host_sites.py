"""Sites for tests of hosts: with pages for readers and without, with restricted routes, API keys and old slugs."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from click.testing import CliRunner

from generator.api.payloads.resources import ANY_NUMBER, SERIES_INDEX_URL, Alias, Gate
from generator.commands import cli
from generator.release.manifest import Entry, Published
from tests.conftest import SITES, Site
from tests.support import images, nginx_client
from tests.support.odd_requests import Target, Words
from tests.support.site_variants import served

NAMES = ("v2", "pages", "everything")
# Names with characters of all planes that have any, of two cases beyond U+FFFF, too.
_TITLES = (
    "Club 🌵 𝔉lora 𐐔𐐇𐐝 𞤀𞤣 ２ 𠮷野家 \U00030ede",
    "🌵🌵🌵🌵🌵🌵🌵🌵🌵 ﬁn ẞ İı Ǆ 한글 e\u0301\U000e0101\U000f0000\U0010fffd",
)
_PERSON = "- {id: 77, name: Prickly 🌵 𐐎𐑊, aliases: [𠮷🌵𞤀], modified: 2026-01-01T00:00:00Z}\n"
_ADDED = {
    "authors.yaml": _PERSON,
    "artists.yaml": _PERSON,
    "categories.yaml": "- {id: 🌵 𞤀𐐔, name: Cactus 🌵, modified: 2026-01-01T00:00:00Z}\n",
}
_SERIES = f"""title: {_TITLES[0]}
aliases: ["{_TITLES[1]}"]
authors: [77]
artists: [77]
categories: [🌵 𞤀𐐔]
cover: cover.jpg
modified: 2026-01-01T00:00:00Z
chapters:
  - {{id: 7777, number: 1, title: 🌵, published: 2026-01-01T00:00:00Z, modified: 2026-01-01T00:00:00Z, pages: [1.png]}}
"""
# Old slugs by series, where the test site has none.
_FORMERLY = {
    "v2": {"full-book": "[first-draft, Second_Draft]", "in-shops": "[not-in-shops]", "members-only": "[for-all]"},
    "pages": {},
    "everything": {"finished": "[begun, 'Begun_2']", "licensed": "[free]"},
}
_APPS = "apps: [komga, opds]"
_SETTINGS = {"v2": f'restricted: [/members, "/members/{{id}}"]\n{_APPS}', "pages": "", "everything": ""}
# The keys of the test sites are in their keys.yaml and accounts.yaml as digests.
_KEYS = {
    "v2": ("key-one", "key-one-too", "key-two", "key-of-nobody"),
    "pages": ("key-of-nobody",),
    "everything": ("foo", "bar"),
}
_KEY_FILE = (SITES / "v2/keys.yaml").read_text(encoding="utf-8")


@dataclass(frozen=True)
class HostSite:
    """A built site that nginx serves, and what requests to it are made of."""

    name: str
    site: Site
    web: nginx_client.Web

    @cached_property
    def packed(self) -> Path:
        """The folder of its packs."""
        return pack(self.site, self.site.folder / "packed")

    @property
    def names(self) -> dict[str, list[str]]:
        """The names that searches find, by parameter."""
        index = json.loads((self.site.store.root / self.site.manifest.resources[SERIES_INDEX_URL].file).read_bytes())
        texts = {
            field: "\n".join((*index[field]["names"], *added)).split("\n")
            for field, added in (("title", _TITLES), ("author", ()), ("artist", ()))
        }
        return {**texts, "categories": [name.removeprefix("/") for name in index["categories"]]}

    @property
    def words(self) -> Words:
        with self.site.store.table() as table:
            entries = [entry for slug in table.segments for entry in table.entries(slug)]
            rules, old_slugs = table.rules, sorted(table.rules.redirects)
        slugs = {path.stem for path in (self.site.folder / "catalog_src/series").glob("*.yaml")}
        bodies = {entry.url: entry for entry in entries if isinstance(entry, Published)}
        targets = [_target(entry, bodies) for entry in entries if entry.url != SERIES_INDEX_URL]
        targets += _calls(entries if rules.apps else ())
        return Words(targets, sorted(slugs), old_slugs, _KEYS[self.name], rules.reader, self.names)


# What apps request of a chapter without a body of its own, and requests that are nearly the same.
_CALLS = (
    *("/opds/v1.2/pages/{}/0", "/opds/v1.2/pages/{}/3", "/opds/v1.2/pages/{}/01", "/opds/v1.2/pages/{}"),
    *("/komga/api/v1/books/{}/pages", "/komga/api/v1/books/{}/pages/1", "/komga/api/v1/books/{}/pages/0"),
    *("/komga/api/v1/books/{}/pages/9", "/komga/api/v1/books/{}/thumbnail", "/komga/api/v1/books/0{}/thumbnail"),
    *("/komga/api/v1/books/{}/thumbnail/1", "/komga/book/{}", "/komga/book/{}/x"),
)


def _calls(entries: Iterable[Entry]) -> Iterator[Target]:
    for entry in entries:
        if match := re.fullmatch(r"/api/v2/chapters/(\d+)/pages", entry.url):
            yield from (Target(path.format(match[1]), status=302) for path in _CALLS)


def _target(entry: Entry, bodies: Mapping[str, Published]) -> Target:
    """The URL of an entry; that of a body of an account is followed by the name of the account."""
    # One of the numbers that no chapter has stands for all.
    url = entry.url.partition("#")[0].replace(f"number={ANY_NUMBER}", "number=77")
    body = bodies[entry.target] if isinstance(entry, Alias) else entry
    if isinstance(body, Gate):
        return Target(url, status=body.status)
    return Target(url, body.etag, body.modified, body.restricted or "#" in entry.url)


def pack(site: Site, target: Path) -> Path:
    """Run the command `pack`."""
    result = CliRunner().invoke(cli.main, ["pack", str(target), "--out", str(site.folder / "dist")])
    assert result.exit_code == 0, (result.output, result.exception)
    return target


@contextmanager
def served_site(name: str, folder: Path) -> Iterator[HostSite]:
    files = {
        f"series/{slug}.yaml": f"formerly: {old}\n{(SITES / name / f'series/{slug}.yaml').read_text(encoding='utf-8')}"
        for slug, old in _FORMERLY[name].items()
    }
    files |= {path: (SITES / name / path).read_text(encoding="utf-8") + text for path, text in _ADDED.items()}
    files["series/every-plane.yaml"] = _SERIES
    if name == "pages":
        files["keys.yaml"] = _KEY_FILE
        (folder / "theme").mkdir(parents=True)
        (folder / "theme/icon-192.png").write_bytes(images.png(192, 192))
    with served(folder, name, settings=_SETTINGS[name], files=files) as (site, web):
        yield HostSite(name, site, web)
