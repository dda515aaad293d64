"""The changes of one entity, and access to the bodies in which they are found."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ...api.resources import HTML
from .compare import Comparison, UrlDifference
from .entity_views import ACCOUNT, FEEDS, GROUPS, LISTS, PAGES, EntityName, Load, entity_of_url
from .json_diff import CHANGED, JsonChange, json_changes
from .release_view import ReleaseView, UrlResponse


@dataclass(slots=True)
class EntityChange:
    """An entity that was added, removed or changed."""

    name: EntityName
    differences: list[UrlDifference]
    kind: str = CHANGED
    # The title or name of an added or removed entity.
    title: str = ""
    changes: list[JsonChange] = field(default_factory=list)
    # The URL of the only body with these changes, if the assembled entity does not show them.
    body_url: str = ""
    # Entities whose changes caused this one; those changes are not repeated here.
    causes: list[EntityName] = field(default_factory=list)

    @property
    def access_differences(self) -> list[UrlDifference]:
        """URLs that are more or less accessible than before."""
        return [difference for difference in self.differences if difference.access]

    @property
    def is_rendered(self) -> bool:
        """Whether its bodies only show other entities: pages and feeds."""
        return self.name.kind in (PAGES, FEEDS)

    @property
    def is_reported(self) -> bool:
        """Whether the entity has changes of its own. Otherwise it is listed among the affected ones."""
        has_changes = bool(self.changes or self.access_differences)
        if self.name.kind == LISTS:
            return has_changes
        if self.is_rendered:
            return not self.causes
        return self.kind != CHANGED or has_changes or not self.causes


@dataclass(frozen=True, slots=True)
class BodyReader:
    """Reads bodies of both releases; restricted ones only if `private`."""

    comparison: Comparison
    private: bool = False

    def value(self, release: ReleaseView, response: UrlResponse | None) -> Any:
        return release.body_value(response) if response and (self.private or not response.restricted) else None

    def loaders(self) -> tuple[Load, Load]:
        """Functions that return the old and the new body of a URL, if it changed and both are readable.

        They return GROUPS even if it is unchanged.
        """

        @cache
        def values(url: str) -> tuple[Any, Any]:
            difference = self.comparison.by_url.get(url)
            if not difference:
                release = self.comparison.new
                unchanged = self.value(release, release.responses("").get(GROUPS)) if url == GROUPS else None
                return unchanged, unchanged
            old = self.value(self.comparison.old, difference.old)
            new = self.value(self.comparison.new, difference.new)
            return (None, None) if old is None or new is None else (old, new)

        return _item(values, 0), _item(values, 1)

    def details(self, difference: UrlDifference) -> list[JsonChange]:
        """The changed fields of a body, or the changed target of a redirect."""
        before, after = difference.old, difference.new
        if before and after and before.status == after.status == 308 and self.is_readable(difference):
            return [JsonChange(("Location",), CHANGED, before.etag_or_target, after.etag_or_target)]
        old, new = (load(difference.url) for load in self.loaders())
        return list(json_changes(old, new))

    def is_readable(self, difference: UrlDifference) -> bool:
        """Whether both responses may be shown."""
        return self.private or not any(
            response and response.restricted for response in (difference.old, difference.new)
        )

    def display_url(self, url: str) -> str:
        """The URL; without the name of an account unless `private`."""
        return url if self.private or entity_of_url(url, "").kind != ACCOUNT else f"{url.partition('#')[0]}#…"

    def entity(self, difference: UrlDifference) -> EntityName:
        name = entity_of_url(difference.url, difference.slug)
        responses = (difference.old, difference.new)
        if difference.url == "/" and any(item and item.body and item.body.type == HTML for item in responses):
            name = EntityName(PAGES)  # otherwise it is the index
        return name if self.private or name.kind != ACCOUNT else EntityName(ACCOUNT)


def _item(values: Callable[[str], tuple[Any, Any]], index: int) -> Load:
    return lambda url: values(url)[index]
