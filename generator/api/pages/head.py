"""What the head of a page says about it, to browsers, search engines and previews of links."""

from typing import NamedTuple


class FeedLink(NamedTuple):
    """A feed that belongs to a page: its name, and the path without the format."""

    title: str
    path: str


class PageHead(NamedTuple):
    """The head of a page."""

    # Empty for the first page, whose title is that of the site.
    title: str
    # The canonical path; empty for pages that search engines must not list.
    path: str
    description: str = ""
    # The URL of an image.
    image: str = ""
    # The type in Open Graph: website, book or article.
    type: str = "website"
    feeds: tuple[FeedLink, ...] = ()
    # Data of schema.org.
    data: object = None
