"""A small catalog with pages and feeds, written as text, for tests of feeds and sitemaps."""

import json
from pathlib import Path
from typing import Any

from generator.catalog.confined_folder import ConfinedFolder
from generator.catalog.entities import Catalog
from tests.conftest import AS_OF
from tests.support.linked_catalog import read_catalog

SITE = {"base_url": "https://comics.example", "title": "Paper Comics", "pages": True}


class FeedCatalog:
    """Files of a catalog. JSON is YAML, and its escapes have characters that YAML allows only as escapes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.series: dict[str, dict[str, Any]] = {}
        self.lists: dict[str, list[dict[str, Any]]] = {"groups.yaml": [{"id": 5, "name": "Night Shift"}]}
        self.site: dict[str, Any] = dict(SITE)

    def add(self, slug: str, *chapters: dict[str, Any], **fields: Any) -> None:
        """Add a series; its chapters have ids, dates and a group unless they say otherwise."""
        self.series[slug] = {
            **{"title": slug.title(), "cover": "cover.jpg", "modified": "2026-01-02T03:04:05Z"},
            **fields,
            "chapters": [
                {"id": 10 * len(self.series) + position, "number": position, "published": f"2026-02-{position:02}"}
                | {"modified": f"2026-02-{position:02}T00:10:00Z", "groups": [5], "pages": ["1.png"]}
                | chapter
                for position, chapter in enumerate(chapters, 1)
            ],
        }

    def read(self, as_of: int = AS_OF) -> Catalog:
        """Write the files, and read them again."""
        values: dict[str, Any] = {"site.yaml": self.site, **self.lists}
        values |= {f"series/{slug}.yaml": series for slug, series in self.series.items()}
        for file in self.folder.rglob("*.yaml"):
            file.unlink()
        for name, value in values.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value))
        return read_catalog(ConfinedFolder(self.folder), as_of)
