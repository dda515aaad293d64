"""URLs that differ -> the things that changed, each told once, and what else follows from them.

A chapter that is new is in its series, in a volume, and in a dozen lists. It is told of its series; that the lists
show it follows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .compare import RETIMED, Comparison, UrlDifference
from .entity_views import ACCOUNT, CATEGORY, LISTS, SERIES, SITE, EntityName, Load, entity_of_url, entity_view, sources
from .json_diff import ADDED, CHANGED, REMOVED, FieldChange, Path, field_changes
from .release_view import ReleaseView, UrlResponse

_CATEGORIES = "/api/v1/categories"
# What is made of other fields beside it, and changes with them.
_FOLLOWS = {
    "full_title": {"number", "volume", "published", "date"},
    "url": {"number", "volume"},
    "pages_root": {"number", "volume"},
    "completed": {"status"},
}
# Where names of things stand in a series.
_SHOWN_AS = {"author": "authors", "artist": "artists", CATEGORY: "categories"}
_OF_MEMBER = ("name", "twitter", "discord")


@dataclass(slots=True)
class EntityChange:
    """What became of one thing."""

    name: EntityName
    differences: list[UrlDifference]
    kind: str = CHANGED
    # What it is called by people, where it is new or gone.
    title: str = ""
    changes: list[FieldChange] = field(default_factory=list)
    # The one body that the changes were found in, where what all of its bodies say of it is the same.
    seen_in: str = ""
    # Whose changes it shows; none of them is told of it again.
    because: list[EntityName] = field(default_factory=list)

    @property
    def access(self) -> list[UrlDifference]:
        """What others may read now than before."""
        return [one for one in self.differences if one.access]

    @property
    def is_told(self) -> bool:
        """Whether there is something to say that is not said of another thing."""
        if self.name.kind == LISTS:
            return bool(self.changes or self.access)
        return self.kind != CHANGED or bool(self.changes or self.access) or not self.because


@dataclass(frozen=True, slots=True)
class BodyReader:
    """Opens bodies, but for those that only a key opens, if they are to stay closed."""

    comparison: Comparison
    private: bool = False

    def value(self, release: ReleaseView, one: UrlResponse | None) -> Any:
        return release.value(one) if one and (self.private or not one.restricted) else None

    def loads(self) -> tuple[Load, Load]:
        """What the older and the newer body of a URL says, if it changed and both can be seen."""

        @cache
        def load(url: str) -> tuple[Any, Any]:
            found = self.comparison.by_url.get(url)
            if not found:
                return None, None
            old, new = self.value(self.comparison.old, found.old), self.value(self.comparison.new, found.new)
            return (None, None) if old is None or new is None else (old, new)

        return (lambda url: load(url)[0]), (lambda url: load(url)[1])

    def details(self, one: UrlDifference) -> list[FieldChange]:
        """What changed inside a body, or where a redirect leads."""
        if one.old and one.new and one.old.status == one.new.status == 308 and self.is_open(one):
            return [FieldChange(("Location",), CHANGED, one.old.tag, one.new.tag)]
        old, new = (load(one.url) for load in self.loads())
        return list(field_changes(old, new))

    def is_open(self, one: UrlDifference) -> bool:
        """Whether neither answer needs a key, or those that do may be shown."""
        return self.private or not any(answer and answer.restricted for answer in (one.old, one.new))

    def shown(self, url: str) -> str:
        """A URL without whose it is, if that is nobody's business."""
        return url if self.private or entity_of_url(url, "").kind != ACCOUNT else f"{url.partition('#')[0]}#…"

    def thing(self, one: UrlDifference) -> EntityName:
        found = entity_of_url(one.url, one.slug)
        return found if self.private or found.kind != ACCOUNT else EntityName(ACCOUNT)


def entity_changes(reader: BodyReader) -> list[EntityChange]:
    """Everything that changed, each thing once: series first, then people and groups, the site, and the lists."""
    found: dict[EntityName, EntityChange] = {}
    for one in reader.comparison.differences:
        if one.kind != RETIMED:
            name = reader.thing(one)
            found.setdefault(name, EntityChange(name, [])).differences.append(one)
    for each in found.values():
        _look(each, reader)
    _explain(found, reader)
    if lists := found.get(EntityName(LISTS)):
        lists.because = sorted(name for name, each in found.items() if each.is_told and each is not lists)
        if not lists.because:
            _look_inside(lists, reader)
    return sorted(found.values(), key=lambda each: (_ORDER.index(each.name.kind), _natural(each.name.name)))


_ORDER = (SERIES, "chapter", "author", "artist", "group", "member", "category", ACCOUNT, SITE, LISTS)


def _natural(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (0, name)


def _look(one: EntityChange, reader: BodyReader) -> None:
    """What became of it, by all that is said of it."""
    kinds, slug = {difference.kind for difference in one.differences}, one.differences[0].slug
    comparison = reader.comparison
    for kind, missing, there in ((ADDED, comparison.old, comparison.new), (REMOVED, comparison.new, comparison.old)):
        if kinds == {kind} and not missing.answers(slug).keys() & set(sources(one.name)):
            one.kind = kind
            one.title = _title(one, there, reader)
            return
    if one.name.kind != LISTS:
        old, new = (entity_view(one.name, load) for load in reader.loads())
        one.changes = list(field_changes(old, new))
        if not one.changes:
            _look_inside(one, reader)


def _look_inside(one: EntityChange, reader: BodyReader) -> None:
    """The first of its bodies in which something can be seen to differ."""
    for difference in one.differences:
        if found := reader.details(difference):
            one.changes, one.seen_in = found, difference.url
            return


def _title(one: EntityChange, release: ReleaseView, reader: BodyReader) -> str:
    answers = release.answers(one.differences[0].slug)
    found = entity_view(one.name, lambda url: reader.value(release, answers.get(url)))
    return str(found.get("title") or found.get("name") or "")


# What follows from what


def _explain(found: Mapping[EntityName, EntityChange], reader: BodyReader) -> None:
    """Leave to each thing only what is not told of another."""
    roots = {name for name, one in found.items() if _is_root(one)}
    renames = list(_renames(found, reader))
    for one in found.values():
        beside = {change.path: change for change in one.changes}
        reasons: set[EntityName] = set()
        own = []
        for change in one.changes:
            because = _because(one, change, roots) or _renamed(one, change, renames)
            reasons.update(because)
            if not because and not _follows(change, beside):
                own.append(change)
        one.changes, one.because = own, sorted(reasons)


def _is_root(one: EntityChange) -> bool:
    return one.kind != CHANGED or bool(one.access) or any(_refers(one, change) is None for change in one.changes)


def _because(one: EntityChange, change: FieldChange, roots: set[EntityName]) -> list[EntityName]:
    """The things that a change is about, where it is shown of another."""
    other = _refers(one, change)
    if other is None or other in roots:
        return [other] if other else []
    return sorted(root for root in roots if root.kind == other.kind and not other.name)


def _refers(one: EntityChange, change: FieldChange) -> EntityName | None:
    """Whose business it is; without a name, that of some thing of its kind."""
    match one.name.kind, *change.path:
        case "author" | "artist" | "group", "series", step, *_:
            return EntityName(SERIES, _called(step))
        case "group", "members", step, field, *_ if field in _OF_MEMBER:
            return EntityName("member", _called(step))
        case "member", "groups", *_:
            return EntityName("group")
        case "series", "chapters", _, "groups", step, _:
            return EntityName("group", _called(step))
        case "series", "categories", step, _:
            return EntityName("category", _called(step))
    return None


def _called(step: str) -> str:
    """The value of an identity: 4 of [id=4]."""
    return step.strip("[]").partition("=")[2]


def _follows(change: FieldChange, beside: Mapping[Path, FieldChange]) -> bool:
    """Whether a field is made of others that changed beside it."""
    if change.kind != CHANGED or not change.path:
        return False
    *around, field = change.path
    titles = (beside.get(path) for path in (("title",), (*around, "title"))) if field == "full_title" else ()
    if any(title and _is_part(title, change) for title in titles):
        return True
    return any((*around, name) in beside for name in _FOLLOWS.get(field, ()))


def _is_part(title: FieldChange, whole: FieldChange) -> bool:
    """Whether a title is all that changed in a longer one, which is made otherwise where there is none."""
    old, new = str(title.old or ""), str(title.new or "")
    return not (old and new) or str(whole.old).replace(old, new) == whole.new


_Rename = tuple[str, str, EntityName]


def _renames(found: Mapping[EntityName, EntityChange], reader: BodyReader) -> Iterator[_Rename]:
    """Names that stand in other things as well."""
    yield reader.comparison.old.base_url or "", reader.comparison.new.base_url or "", EntityName(SITE)
    for name, one in found.items():
        for change in one.changes:
            if change.path == ("name",) and change.kind == CHANGED:
                yield change.old, change.new, name
    # The name of a category is part of its address: renamed, it is another thing.
    if categories := reader.comparison.by_url.get(_CATEGORIES):
        for change in reader.details(categories):
            if change.path[1:] == ("name",):
                yield change.old, change.new, EntityName(CATEGORY, change.new)


def _renamed(one: EntityChange, change: FieldChange, renames: Sequence[_Rename]) -> list[EntityName]:
    """Whose name a field is, or begins with, if that is all that changed in it."""
    if change.kind != CHANGED or not (isinstance(change.old, str) and isinstance(change.new, str)):
        return []
    found = []
    for old, new, name in renames:
        if name.kind == SITE:
            shown = change.old.startswith(old) and change.new == new + change.old.removeprefix(old)
        else:
            shown = change.path[:1] == (_SHOWN_AS.get(name.kind),) and (change.old, change.new) == (old, new)
        found += [name] if shown and name != one.name else []
    return found
