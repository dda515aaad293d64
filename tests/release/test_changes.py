"""The comparison of releases: which URLs differ, and what is listed of them."""

from collections import Counter
from typing import NamedTuple

import pytest

from generator.api.payloads.resources import Alias, Gate
from generator.errors import FlatpanelError
from generator.release import changes, manifest
from generator.release.changes import EntryDifference, differences, release_changes
from generator.release.manifest import Entry, Published


class Release(NamedTuple):
    """The lines of a release by series."""

    segments: dict[str, bytes]
    name: str = "a release"

    def segment(self, slug: str) -> bytes:
        return self.segments.get(slug, b"")


def body(url: str, etag: str = "a", max_age: int = 60) -> Published:
    return Published(url, f"www{url}.{etag}.json", etag, 1, 2, "c", True, max_age)


def release(**segments: list[Entry]) -> Release:
    lines = {slug: manifest.SEPARATOR.join(map(manifest.entry_line, entries)) for slug, entries in segments.items()}
    return Release({slug.replace("catalog", ""): text for slug, text in lines.items()})


OLD = release(
    catalog=[body("/api/series"), body("/index.json")],
    first=[body("/1"), body("/1/a"), body("/1/b"), Gate("/1/read", 308, "/x")],
    second=[body("/2"), Alias("/2?page=1", "/2")],
)


def test_urls_with_equal_lines_are_no_difference() -> None:
    """A release does not differ from itself."""
    assert list(differences(OLD, OLD)) == []


def test_differences_are_the_lines_of_one_side_by_url() -> None:
    """Gates and aliases as well; a body that becomes a gate is one difference."""
    new = release(
        catalog=[body("/api/series", "b"), body("/index.json")],
        first=[body("/1"), body("/1/a", max_age=5), Gate("/1/b", 451)],
        third=[body("/3")],
    )
    found = list(differences(OLD, new))

    assert found == [
        EntryDifference("", "/api/series", body("/api/series"), body("/api/series", "b")),
        EntryDifference("first", "/1/a", body("/1/a"), body("/1/a", max_age=5)),
        EntryDifference("first", "/1/b", body("/1/b"), Gate("/1/b", 451)),
        EntryDifference("third", "/3", None, body("/3")),
        EntryDifference("first", "/1/read", Gate("/1/read", 308, "/x"), None),
        EntryDifference("second", "/2", body("/2"), None),
        EntryDifference("second", "/2?page=1", Alias("/2?page=1", "/2"), None),
    ]
    assert [difference.kind for difference in found] == ["changed", None, "removed", "added", None, "removed", None]


def test_a_url_that_moves_to_another_series_is_one_difference() -> None:
    """And none if its line is the same, in both directions."""
    new = release(
        catalog=[body("/api/series"), body("/index.json")],
        first=[body("/1"), Gate("/1/read", 308, "/x"), Alias("/2?page=1", "/2")],
        second=[body("/2"), body("/1/a"), body("/1/b", "b")],
    )

    assert list(differences(OLD, new)) == [EntryDifference("second", "/1/b", body("/1/b"), body("/1/b", "b"))]
    assert list(differences(new, OLD)) == [EntryDifference("first", "/1/b", body("/1/b", "b"), body("/1/b"))]


def test_only_the_given_series_are_read() -> None:
    """A build names those that it rendered; damage elsewhere is not its concern."""
    damaged = Release(OLD.segments | {"second": b'"/2":{}'}, "kept.json")

    assert list(differences(damaged, OLD, ["", "first"])) == []
    with pytest.raises(FlatpanelError, match=r"^kept\.json: is not the manifest of a release"):
        list(differences(damaged, OLD))


def test_everything_is_added_to_an_empty_release() -> None:
    """In the order of the lines."""
    assert [(one.slug, one.url, one.old) for one in differences(Release({}), OLD)] == [
        *(("", url, None) for url in ("/api/series", "/index.json")),
        *(("first", url, None) for url in ("/1", "/1/a", "/1/b", "/1/read")),
        *(("second", url, None) for url in ("/2", "/2?page=1")),
    ]


def test_changes_list_the_first_series_and_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Added, changed, removed, in this order; other series are counted."""
    monkeypatch.setattr(changes, "MAX_SERIES", 2)
    monkeypatch.setattr(changes, "MAX_URLS", 2)
    new = release(catalog=[body("/api/series", "b"), body("/new"), body("/newer"), body("/newest")], first=[body("/1")])
    listed = release_changes(differences(OLD, new))

    assert [(series.slug, series.counts, series.urls) for series in listed.listed] == [
        ("", Counter(added=3, changed=1, removed=1), [("added", "/new"), ("added", "/newer")]),
        ("first", Counter(removed=2), [("removed", "/1/a"), ("removed", "/1/b")]),
    ]
    assert (listed.other_series, listed.other_counts) == (1, Counter(removed=1))
