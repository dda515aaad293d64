"""Paths below the media folder of the original service -> file names of a catalog, or URLs."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...catalog.field_values import percent_encoded
from ...reading_sites.image_paths import image
from ...reading_sites.notes import Notes
from ..pages import files_or_urls


@dataclass(frozen=True, slots=True)
class MediaFolder:
    """The media folder of a site, by its URL."""

    url: str

    def image(self, path: str, folder: str) -> str:
        """Return the file name of an image in a folder of the catalog's layout; otherwise its URL."""
        return image(self._url(path), self.url, folder)

    def pages(self, paths: Iterable[str], folder: str, slug: str, notes: Notes) -> list[str]:
        """Return file names if all pages are in the chapter's folder, otherwise URLs."""
        return files_or_urls([self._url(path) for path in paths], self.url, folder, slug, notes)

    def _url(self, path: str) -> str:
        # Not every text of a database is valid Unicode.
        names = path.encode(errors="replace").decode().split("/")
        return self.url + "/".join(map(percent_encoded, names)) if path else ""
