"""A difference, and what other responses of the compared sites state about it: the basis of reasons."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

from ...reading_sites.image_paths import SiteImages, unwrapped
from ...reading_sites.lenient import entries, fields, http_date, line, text, texts
from ..diff.json_diff import Path, path_text
from .compared_site import SERIES_LIST, V1, V2, ComparedSite

# An origin for images that are paths here.
_ORIGIN = "http://site.invalid"
_NO_VOLUME = ("None", "null", "")


# Kinds of differences that no JSON has: another status, and a response that one site did not complete.
STATUS, UNUSABLE = "status", "unusable"


@dataclass(frozen=True, slots=True)
class Difference:
    """A field of a response that differs, or its status."""

    path: str
    # The path with placeholders, such as /api/v2/series/{slug}.
    route: str
    kind: str
    steps: Path = ()
    first: Any = None
    second: Any = None
    # Empty if no reason is known.
    reason: str = ""

    @property
    def field(self) -> str:
        """The field without identities of list items, such as results[].title."""
        return path_text(tuple("[]" if step.startswith("[") else step for step in self.steps))

    @property
    def place(self) -> str:
        return path_text(self.steps)

    @property
    def name(self) -> str:
        """The name of the field; that of the list for an item of a list."""
        return next((step for step in reversed(self.steps) if not step.startswith("[")), "")


@dataclass(frozen=True, slots=True)
class Facts:
    """Both sites, the time, and the responses that differ."""

    first: ComparedSite
    second: ComparedSite
    now: int
    # The values of the two responses that are compared.
    values: tuple[Any, Any] = (None, None)
    # The values of each series that lists are sorted by, by field: many differences need them.
    sorted_by: dict[str, dict[str, Any]] = field(default_factory=dict)

    def of(self, first: Any, second: Any) -> "Facts":
        return replace(self, values=(first, second))

    @property
    def from_original(self) -> bool:
        """Whether the first site runs the original service and the second one does not."""
        return self.first.is_original and not self.second.is_original

    @property
    def has_v2(self) -> bool:
        """Whether the first site has version 2, which may need an API key."""
        return self.first.get(SERIES_LIST).status in (200, 401)

    def first_value(self, path: str) -> Any:
        return self.first.get(path).value

    def second_value(self, path: str) -> Any:
        return self.second.get(path).value

    def results(self, path: str) -> list[dict[str, Any]]:
        """The entries of a list of version 2 of the first site."""
        return list(entries(fields(self.first_value(path)).get("results")))

    def listed(self, path: str) -> list[dict[str, Any]]:
        """The entries of a list of version 1 of the first site."""
        return list(entries(self.first_value(path)))

    def old_chapters(self, slug: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yield volume, number and fields of the chapters of a series in version 1 of the first site."""
        for volume, chapters in fields(fields(self.first_value(f"{V1}/series/{slug}")).get("volumes")).items():
            for number, chapter in fields(chapters).items():
                yield plain_volume(volume), number, fields(chapter)

    def newest_chapters(self, slug: str) -> list[dict[str, Any]]:
        """Return the published chapters with the newest date, as a list of releases shows them."""
        releases = [
            {"title": line(row.get("title")), "volume": volume, "number": number, "date": text(row.get("date"))}
            for volume, number, row in self.old_chapters(slug)
        ]
        dates = {release["date"]: http_date(release["date"]) or 0 for release in releases}
        newest = max((date for date in dates.values() if date <= self.now), default=None)
        return [release for release in releases if dates[release["date"]] == newest]

    def cubari_pages(self, slug: str, volume: str, number: str) -> Iterator[list[str]]:
        """Yield the images of the chapters with a number in the Cubari JSON of the first site."""
        cubari = fields(fields(self.first_value(f"{V2}/cubari/{slug}")).get("chapters"))
        for chapter in map(fields, cubari.values()):
            if (plain_volume(chapter.get("volume")), chapter.get("number")) in (
                (volume, number),
                (volume, six(number)),
            ):
                yield [image for images in fields(chapter.get("groups")).values() for image in texts(images)]

    def plain_image(self, stated: str) -> str:
        """Return the path of an image of the first site without the URL of a CDN around it."""
        return self.first.origins.path(unwrapped(stated, self.first.crawler.client.site.origin))

    def image(self, stated: str) -> str:
        """Return the encoded path of an image of the first site."""
        path = self.plain_image(stated)
        url = f"{_ORIGIN}{path}" if path.startswith("/") else path
        return SiteImages(_ORIGIN, True).url(url).removeprefix(_ORIGIN)

    def same_image(self, first: str, second: str) -> bool:
        """Whether only the encoding of an image's path differs, or the CDN around it."""
        return unquote(second) in (self.plain_image(first), unquote(self.image(first)))


def plain_volume(volume: Any) -> str:
    return "0" if volume is None or str(volume) in _NO_VOLUME else str(volume)


def six(number: str) -> str:
    """Return a number with at most six digits, as the original service writes it."""
    try:
        return f"{float(number):.6g}"
    except ValueError:
        return number


def value_at(value: Any, steps: Path) -> Any:
    """The list or object that a difference is in."""
    for step in steps:
        name, _, wanted = step.strip("[]").partition("=")
        if isinstance(value, list):
            value = next((item for item in entries(value) if str(item.get(name)) == wanted), None)
        else:
            value = fields(value).get(name.strip('"'))
    return value
