"""Responses -> the pages of a chapter."""

from typing import Any

from ..catalog import field_values
from ..reading_sites.image_paths import image
from ..reading_sites.lenient import entries, fields, text, texts, whole
from ..reading_sites.notes import Notes
from .imported import ImportedChapter
from .people_and_groups import ImportedLists

# A chapter in the JSON of one version.
ChapterJson = dict[str, Any]


def page_urls(pages: ChapterJson, old: ChapterJson, cubari: ChapterJson, lists: ImportedLists) -> list[str] | None:
    """Return the encoded URLs of the pages; None if no response states them."""
    urls = _stated(pages, old, cubari)
    # Where there is version 2, version 1 has names without any encoding.
    names = texts(old.get("pages_list")) if lists.responses["/api/v2/series"].good else []
    return urls if urls is None else lists.images.pages(urls, names)


def _stated(pages: ChapterJson, old: ChapterJson, cubari: ChapterJson) -> list[str] | None:
    """Return the URLs of the pages. The original service makes `pages_root` from the chapter's path, not its files."""
    if groups := fields(cubari.get("groups")):
        return texts(next(iter(groups.values())))
    if pages:
        ordered = sorted(entries(pages.get("results")), key=lambda page: whole(page.get("number")) or 0)
        return [text(page.get("image")) for page in ordered]
    if isinstance(root := old.get("pages_root"), str):
        return [f"{root}{name}" for name in texts(old.get("pages_list"))]
    return None


def note_gaps(numbers: list[int], place: str, notes: Notes) -> None:
    """Add a note if the numbers of the pages are not 1, 2, 3 and so on: a catalog has an order only."""
    if sorted(numbers) != list(range(1, len(numbers) + 1)):
        notes.add("gaps in the numbers of pages are closed", place)


def stored_pages(chapter: ImportedChapter, slug: str, lists: ImportedLists) -> list[str] | None:
    """File names if all pages are in the chapter's folder, otherwise URLs; None if no response states them."""
    if chapter.page_urls is None:
        return chapter.page_names
    folder = f"series/{slug}/{chapter.volume or 0}/{chapter.number}/"
    return files_or_urls(chapter.page_urls, lists.images.root, folder, slug, lists.notes)


def files_or_urls(urls: list[str], root: str, folder: str, slug: str, notes: Notes) -> list[str]:
    """Return file names if all images are in a folder below the root; otherwise URLs, if these have one folder."""
    images = [image(url, root, folder) for url in urls]
    if not any(map(field_values.is_url, images)):
        return images
    images = [image(url, "", folder) for url in urls]
    if len({field_values.split_url(url)[0] for url in images}) > 1:
        notes.add("some chapters have pages in two folders, which a catalog cannot hold; written without pages", slug)
        return []
    notes.add("some pages are not in the chapter's media folder; their URLs are kept", slug)
    return images
