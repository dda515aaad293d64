"""What pages and feeds show, given the routes that `site.yaml` restricts.

A page needs no API key. So it shows nothing that a restricted route of /api/v2 tells, even if another route tells it,
too: the table below says what disappears with each route.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ...catalog.site_settings import RestrictedRoute


class Visible(NamedTuple):
    """The parts of pages and feeds that are shown."""

    # Lists of series: the library, the covers on the first page, searches, the sitemap of series, the library feed.
    library: bool = True
    # Of a series: description, other titles, status, people, categories.
    details: bool = True
    # Of a series: its chapters, the links between chapters, its feed.
    chapters: bool = True
    # The latest chapters of all series, and the feed of releases.
    latest: bool = True
    # The page of a chapter.
    chapter: bool = True
    # The images of a chapter.
    images: bool = True
    # The list of categories, and the page of one, with its description.
    categories: bool = True
    category: bool = True
    # The list of authors, and the page of one; the same for artists, groups.
    authors: bool = True
    author: bool = True
    artists: bool = True
    artist: bool = True
    # The feed of a group needs `group`, `latest` and `chapters`.
    groups: bool = True
    group: bool = True
    # The members on the page of a group.
    members: bool = True

    def has(self, parts: Iterable[str]) -> bool:
        """Whether all of these parts are shown."""
        return all(getattr(self, part) for part in parts)


HIDDEN_BY: dict[RestrictedRoute, tuple[str, ...]] = {
    "/series": ("library",),
    "/series/{slug}": ("details",),
    "/series/{slug}/chapters": ("chapters",),
    "/chapters": ("latest",),
    "/chapters/{id}": ("chapter",),
    "/chapters/{id}/pages": ("images",),
    # Only a redirect to the page of a chapter.
    "/chapters/{id}/read": (),
    "/pages": ("images",),
    "/categories": ("categories",),
    "/categories/{name}": ("category",),
    "/authors": ("authors",),
    "/authors/{id}": ("author",),
    "/artists": ("artists",),
    "/artists/{id}": ("artist",),
    "/groups": ("groups",),
    "/groups/{id}": ("group",),
    "/members": ("members",),
    "/members/{id}": ("members",),
    "/cubari/{slug}": ("details", "chapters", "images"),
}


def visible(restricted: Iterable[RestrictedRoute]) -> Visible:
    """The parts that are shown if these routes are restricted."""
    return Visible(**{name: False for route in restricted for name in HIDDEN_BY[route]})
