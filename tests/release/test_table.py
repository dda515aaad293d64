"""The table of a release: its entries, rules and keys, without any file of nginx."""

from pathlib import Path

import pytest

from generator.api.payloads.resources import EMPTY_RESULTS_URL, Alias, Gate, key
from generator.errors import FlatpanelError
from generator.release import manifest, manifest_reader
from generator.release.manifest import Published
from generator.release.rules import Rules
from tests.conftest import Site, copy_of

SETTINGS = """base_url: https://table.example
pages: true
reader: /read/
restricted: ["/chapters/{id}/read", "/members"]
cache: {errors: 9, index: 11, pages: 12}
"""
SERIES = """title: First
cover: https://images.example/c.jpg
modified: 2026-01-01
formerly: [old, older]
licensed: {licensed}
chapters:
  - {{id: 7, volume: 2, number: 10.5, published: 2026-01-01, modified: 2026-01-01, pages: [a.jpg]}}
"""
DIGEST, OTHER = "a" * 64, "b" * 64


def entries(site: Site, slug: str, kind: type) -> list[object]:
    with site.store.table() as table:
        return [entry for entry in table.entries(slug) if isinstance(entry, kind)]


@pytest.fixture
def small(site: Site) -> Site:
    site.write("site.yaml", SETTINGS)
    site.write("series/first.yaml", SERIES.format(licensed="false"))
    site.write("accounts.yaml", "- {username: Lena, modified: 2026-01-01T00:00:00Z}\n")
    site.write("keys.yaml", f"- {{name: one, sha256: {DIGEST}, account: Lena}}\n- {{name: two, sha256: {OTHER}}}\n")
    site.build()
    return site


def test_the_table_has_gates_and_aliases(small: Site) -> None:
    """A redirect with its target and its lock, and the deprecated URL of pages with the present and the old slugs."""
    assert entries(small, "first", Gate) == [Gate("/api/v2/chapters/7/read", 308, "/read/first/2/10.5/", True)]
    assert entries(small, "first", Alias) == [
        Alias(f"/api/v2/pages?series={slug}&volume=2&number=10.5", "/api/v2/chapters/7/pages")
        for slug in ("first", "old", "older")
    ]
    assert [key(alias.url) for alias in entries(small, "first", Alias) if isinstance(alias, Alias)] == [
        f"/query/pages/{slug}/2/10.5" for slug in ("first", "old", "older")
    ]
    assert entries(small, "", Gate) == entries(small, "", Alias) == []


def test_the_table_has_the_gates_of_licensed_series(small: Site) -> None:
    """451 for each URL of a chapter, also for those with parameters; no alias leads to a gate."""
    small.write("series/first.yaml", SERIES.format(licensed="true"))
    small.build()
    gates = entries(small, "first", Gate)

    assert {(gate.status, gate.target) for gate in gates if isinstance(gate, Gate)} == {(451, "")}
    assert [gate.url for gate in gates if isinstance(gate, Gate) and gate.restricted] == ["/api/v2/chapters/7/read"]
    assert "/api/v2/series/first/chapters?date_format=timestamp" in {getattr(gate, "url", "") for gate in gates}
    assert entries(small, "first", Alias) == []


def test_the_rules_are_those_of_the_site(small: Site) -> None:
    """Each max-age once, and the origins of all images in pages."""
    with small.store.table() as table:
        assert table.rules == Rules(
            base_url="https://table.example",
            reader="/read/",
            pages=True,
            preview=False,
            error_age=9,
            max_ages=(11, 12, 60, 300, 3600),
            restricted=("/chapters/{id}/read", "/members"),
            redirects={"old": "first", "older": "first"},
            image_origins=("https://images.example",),
        )
        assert table.rules.redirected_paths()["/read/old"] == "/read/first"
        assert len(table.rules.redirected_paths()) == 10


def test_the_keys_lie_in_a_file_beside_the_manifest(small: Site) -> None:
    """A digest with the name of its account's folder, which is empty for a key without an account."""
    with small.store.table() as table:
        folders = {path.name for path in (small.folder / "dist/private/of").iterdir()}

        assert table.keys.keys() == {DIGEST, OTHER}
        assert table.keys[OTHER] == ""
        assert table.keys[DIGEST] in folders
        assert DIGEST not in (table.folder / "manifest.json").read_text()


def test_lines_are_short_and_read_again(small: Site) -> None:
    """A gate and an alias each take less than a third of a body's line; a line holds no default."""
    with small.store.table() as table:
        lines = table.segment("first").split(manifest.SEPARATOR)

    assert lines[-4] == b'"/api/v2/chapters/7/read":[308,"/read/first/2/10.5/",true]'
    assert lines[-3] == b'"/api/v2/pages?series=first&volume=2&number=10.5":"/api/v2/chapters/7/pages"'
    assert manifest.entry_line(Gate("/a", 308, "/b")) == b'"/a":[308,"/b"]'
    assert manifest.entry_line(Gate("/a", 451)) == b'"/a":[451]'
    for entry in (Gate("/a", 451), Gate("/a", 451, "", True), Gate("/a", 308, "/b", True), Alias("/a", "/b")):
        assert manifest.parse_entries(manifest.entry_line(entry), "") == [entry]


@pytest.mark.parametrize("name", ["everything", "hostile"])
def test_each_reader_finds_the_same_entries(name: str, tmp_path: Path) -> None:
    """Reading one kind of lines only, counting bodies, and the whole manifest agree with the table."""
    site = copy_of(name, tmp_path)
    site.build()
    with site.store.table() as reader:
        all_entries = [entry for slug in reader.segments for entry in reader.entries(slug)]

        assert next(iter(reader.segments)) == ""
        assert list(manifest_reader.gates(reader)) == [entry for entry in all_entries if isinstance(entry, Gate)]
        assert list(manifest_reader.aliases(reader)) == [entry for entry in all_entries if isinstance(entry, Alias)]
        published = [entry for entry in all_entries if isinstance(entry, Published)]
        assert list(site.manifest.resources.values()) == published
        assert sum(map(reader.count, reader.segments)) == len(published)
        urls = [entry.url for entry in all_entries]
        assert len(set(urls)) == len(urls) > len(published)
        assert EMPTY_RESULTS_URL in urls
        assert len(set(map(key, urls))) == len(urls)


@pytest.mark.parametrize("text", [None, "{", "[]", '{"a": 1}'])
def test_missing_or_damaged_keys_are_refused(small: Site, text: str | None) -> None:
    """No host may be told that a site has no keys because their file is lost."""
    folder = (small.folder / "dist/current").resolve()
    (folder / "keys.json").unlink()
    if text is not None:
        (folder / "keys.json").write_text(text)

    with (
        small.store.table() as table,
        pytest.raises(FlatpanelError, match=r"keys\.json: is missing or damaged; .*verify --repair"),
    ):
        len(table.keys)
