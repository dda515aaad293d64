"""The paths of pages and feeds, as links in templates use them. A test compares them with `page_routes.PAGES`."""

from ...catalog.entities import Category, Chapter
from ...catalog.field_values import percent_encoded


class PagePaths:
    """Links to the pages of a site."""

    # A theme may call these; see `templating`.
    template_methods = ("library", "with_status", "owned")

    home = "/"
    latest = "/latest/"
    search = "/search/"
    categories = "/categories/"
    authors = "/authors/"
    artists = "/artists/"
    groups = "/groups/"
    # Feeds, without their format.
    releases = "/releases"
    library_feed = "/library"
    titles = "/search/titles.json"

    def __init__(self, reader: str) -> None:
        self.reader = reader

    def library(self, page: int = 1) -> str:
        return self.reader if page == 1 else f"/library/{page}/"

    @staticmethod
    def with_status(status: str, page: int = 1) -> str:
        return _page(f"/library/{status}/", page)

    @staticmethod
    def category(category: Category, page: int = 1) -> str:
        """The path of a category; empty for one without a page."""
        return _page(f"/categories/{percent_encoded(category.id)}/", page) if category.has_page else ""

    @staticmethod
    def owned(kind: str, number: int) -> str:
        """The path of an author, an artist or a group; `kind` is the first segment."""
        return f"/{kind}/{number}/"

    @staticmethod
    def version(chapter: Chapter) -> str:
        """The path of a chapter whose number stands for another chapter."""
        return f"{chapter.path}version-{chapter.id}/"


def _page(path: str, page: int) -> str:
    return path if page == 1 else f"{path}{page}/"
