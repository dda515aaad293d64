"""Redirects of old slugs -> `formerly` of the series that has the slug now."""

import re
from collections.abc import Collection

from ...catalog import field_values
from ...reading_sites.notes import Notes
from .tables import Tables

# The page of a series.
_SERIES = re.compile(r"/reader/([^/]+)/?")
_BY_HAND = "redirect written by hand: not of a series; add it to the configuration of your server"


def old_slugs(tables: Tables, slugs: Collection[str], notes: Notes) -> dict[str, list[str]]:
    """Return the old slugs of each series, the first one first; a note names every other redirect."""
    targets = {row["old_path"]: row["new_path"] for row in sorted(tables.rows("django_redirect"), key=_by_id)}
    used = {slug.lower() for slug in slugs}
    formerly: dict[str, list[str]] = {}
    for old_path, new_path in targets.items():
        old, new = _slug(old_path), _slug(_end(new_path, targets))
        if old is None or new not in slugs:
            notes.add(_BY_HAND, f"{old_path} -> {new_path or 'nothing (410)'}")
        elif old.lower() in used:
            notes.add("redirect of a slug that another series has or had; skipped", f"{old_path} -> {new_path}")
        else:
            used.add(old.lower())
            formerly.setdefault(str(new), []).append(old)
    return formerly


def _by_id(row: object) -> int:
    return row["id"] or 0  # type: ignore[index]


def _slug(path: str) -> str | None:
    match = _SERIES.fullmatch(path)
    return match[1] if match and field_values.is_slug(match[1]) else None


def _end(path: str, targets: dict[str, str]) -> str:
    """Return the last path of a chain; a circle ends where it begins again."""
    passed = set[str]()
    while path in targets and path not in passed:
        passed.add(path)
        path = targets[path]
    return path
