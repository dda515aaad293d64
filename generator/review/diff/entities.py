"""Series, people and other entities: their names, everything that a release publishes about them, and their changes.

The fields of an entity are assembled from several bodies into one value, so that each field is compared once.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import unquote

from ...api.payloads.resources import HTML
from ...api.routes import route_of
from ...catalog.field_values import percent_encoded, split_url
from .compare import GROUPS, RETIMED, Comparison, ReleaseView, UrlDifference, UrlResponse
from .json_diff import ADDED, CHANGED, NUMBERED, REMOVED, JsonChange, Path, item_step, json_changes

# Returns the JSON value of the body at a URL, or None.
Load = Callable[[str], Any]
# Volume and number of a chapter, as in URLs.
_Number = tuple[str, str]

_ENTITY = re.compile(r"/api/(?:v\d/)?(author|artist|group|member|categorie)s/([^/?#]+)")
_ACCOUNT = re.compile(r"/api/v2/(?:profile|bookmarks)#(.+)")
_SITE = re.compile(r"/|/index\.json|/api/v2/(?:openapi\.json|docs(?:/.*)?)")
SERIES, ACCOUNT, CATEGORY, SITE, CHAPTER, LISTS = "series", "account", "category", "site", "chapter", "lists"
# Their bodies are not compared by field.
PAGES, FEEDS, OPDS, KOMGA = "pages", "feeds", "opds", "komga"
_NOT_COMPARED = (PAGES, FEEDS, OPDS, KOMGA)


class EntityName(NamedTuple):
    """The kind of an entity and its slug, id or name. The site and the lists have none."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


def entity_of_url(url: str, slug: str) -> EntityName:
    """The entity that a URL belongs to. `slug`: the series of the URL, or ""."""
    if not url.startswith("/api/") and not _SITE.fullmatch(url):
        return EntityName(route_of(url), slug)
    if slug:
        return EntityName(SERIES, slug)
    if match := _ENTITY.fullmatch(url):
        return EntityName(CATEGORY if match[1] == "categorie" else match[1], unquote(match[2]))
    if match := _ACCOUNT.fullmatch(url):
        return EntityName(ACCOUNT, unquote(match[1]))
    if url.startswith("/api/v2/chapters/"):
        return EntityName(CHAPTER, url.split("/")[4])
    return EntityName(SITE if _SITE.fullmatch(url) else LISTS)


def sources(entity: EntityName) -> tuple[str, ...]:
    """The URLs whose bodies together contain every field of an entity. Later bodies take precedence."""
    match entity.kind:
        case "series":
            return (f"/api/v1/series/{entity.name}", f"/api/v2/series/{entity.name}")
        case "author" | "artist" | "group":
            return (f"/api/v2/{entity.kind}s/{entity.name}", f"/api/v1/{entity.kind}s/{entity.name}")
        case "member":
            return (f"/api/v2/members/{entity.name}",)
        case "category":
            return (f"/api/v2/categories/{percent_encoded(entity.name)}",)
        case "account":
            username = percent_encoded(entity.name)
            return (f"/api/v2/profile#{username}", f"/api/v2/bookmarks#{username}")
    return ()


def entity_view(entity: EntityName, load: Load) -> dict[str, Any]:
    """The fields of an entity from all bodies that can be loaded."""
    fields: dict[str, Any] = {}
    for url in sources(entity):
        fields |= load(url) or {}
    if entity.kind == SERIES:
        chapters = list(_chapters(entity.name, fields.pop("volumes", {}), load))
        return {**fields, "chapters": chapters} if fields or chapters else {}
    return fields


def chapter_at(view: Mapping[str, Any], step: str) -> Mapping[str, Any]:
    """The chapter of a series at the step of a changed field, such as [volume=1, number=2] or [id=12]; {} if none."""
    for chapter in view.get("chapters", ()):
        if step in (item_step(NUMBERED, chapter), f"[id={chapter.get('id')}]"):
            return dict(chapter)
    return {}


def _chapters(slug: str, volumes: Mapping[str, Any], load: Load) -> Iterator[dict[str, Any]]:
    """The chapters of a series with the fields of v1 and v2. Each version may list chapters that the other omits.

    Of chapters that share a number, v1 has the one with the highest id.
    """
    v1 = {(volume, number): chapter for volume, chapters in volumes.items() for number, chapter in chapters.items()}
    results = (load(f"/api/v2/series/{slug}/chapters") or {"results": ()})["results"]
    v2 = {chapter["id"]: chapter for chapter in results}
    numbers = {
        chapter_id: (str(chapter["volume"] or 0), repr(chapter["number"]).removesuffix(".0"))
        for chapter_id, chapter in v2.items()
    }
    cubari = _cubari_chapters(slug, numbers, load, is_needed=not v1)
    numbers |= {chapter_id: chapter.number for chapter_id, chapter in cubari.items()}
    ids = _ids_by_number(numbers)
    of_v1: list[tuple[_Number, int | None]] = [(key, number) for key in v1 for number in ids.get(key, [None])]
    for key, chapter_id in (*of_v1, *((key, number) for number, key in numbers.items() if key not in v1)):
        fields = {} if chapter_id is None else {"id": chapter_id, **v2.get(chapter_id, {})}
        pages = cubari[chapter_id].fields if chapter_id in cubari else {}
        if key not in v1:
            fields = pages | fields
        elif chapter_id in ids.get(key, [None])[:-1]:
            fields |= _as_in_v1(fields, pages, v1[key], load)
        else:
            fields |= v1[key]
        fields["volume"], fields["number"] = key
        # Redundant: `published` has the date, and the entity is the series.
        for name in ("date", "series") if chapter_id in v2 else ():
            fields.pop(name, None)
        yield fields


class _CubariChapter(NamedTuple):
    """A chapter of Cubari JSON: volume and number, and the fields."""

    number: _Number
    fields: dict[str, Any]


def _cubari_chapters(
    slug: str, of_v2: Mapping[int, _Number], load: Load, *, is_needed: bool
) -> dict[int, _CubariChapter]:
    """The chapters of Cubari JSON by id. They are needed for the pages of chapters that v1 omits."""
    if of_v2 and not is_needed and len(set(of_v2.values())) == len(of_v2):
        return {}
    chapters = (load(f"/api/v2/cubari/{slug}") or {"chapters": {}})["chapters"]
    return {
        int(chapter_id): _CubariChapter(
            (chapter["volume"], chapter["number"]),
            # Pages are listed by group.
            {"id": int(chapter_id), "pages_list": list(chain.from_iterable(chapter["groups"].values()))},
        )
        for chapter_id, chapter in chapters.items()
    }


def _ids_by_number(numbers: Mapping[int, _Number]) -> dict[_Number, list[int]]:
    """The ids of the chapters with each volume and number, in ascending order."""
    ids: dict[_Number, list[int]] = {}
    for chapter_id, number in numbers.items():
        ids.setdefault(number, []).append(chapter_id)
    return {number: sorted(of_number) for number, of_number in ids.items()}


def _as_in_v1(
    fields: Mapping[str, Any], pages: Mapping[str, Any], shown: Mapping[str, Any], load: Load
) -> dict[str, Any]:
    """Fields of a chapter that v1 omits in the form of v1, so that they are equal to those in a release that has it.

    `shown` is the chapter with its number in v1.
    """
    groups = {group["name"]: group for group in (load(GROUPS) or {"results": ()})["results"]}
    of_v1: dict[str, Any] = {"url": shown["url"]}
    if "groups" in fields:
        of_v1["groups"] = [
            {"id": groups[name]["id"], "name": name} if name in groups else name for name in fields["groups"]
        ]
    if pages:
        split = [split_url(page) for page in pages["pages_list"]]
        of_v1["pages_root"] = split[0][0] if split else shown["pages_root"]
        of_v1["pages_list"] = [name for _, name in split]
    return of_v1


# The changes of an entity, and the bodies in which they are found


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
        return self.name.kind in _NOT_COMPARED

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

        return lambda url: values(url)[0], lambda url: values(url)[1]

    def details(self, difference: UrlDifference) -> list[JsonChange]:
        """The changed fields of a body, or the changed target of a redirect."""
        before, after = difference.old, difference.new
        if before and after and before.status == after.status in (302, 308) and self.is_readable(difference):
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


# Titles, covers and pages of series and chapters, as the public bodies of a release name them

# The URLs that the build makes of settings, slugs and numbers. No link leads to any other URL.
_PAGE = re.compile(r"https?://[-A-Za-z0-9._~:/]+")


class SeriesHead(NamedTuple):
    """What a release publishes about a series as a whole; "" where it publishes nothing."""

    title: str = ""
    cover: str = ""
    page: str = ""


class PageLink(NamedTuple):
    """A title and the URL of its page."""

    title: str
    url: str


def series_head(reader: BodyReader, release: ReleaseView, slug: str) -> SeriesHead:
    """Read the first body that a reader may see. That of /api/v2 has no chapters, so it is the smaller one."""
    responses = release.responses(slug)
    for url in reversed(sources(EntityName(SERIES, slug))):
        if body := reader.value(release, responses.get(url)):
            return SeriesHead(str(body.get("title", "")), str(body.get("cover", "")), page_url(release, body))
    return SeriesHead()


def series_link(reader: BodyReader, entity: EntityChange) -> PageLink | None:
    """The page of a series in the new release; None if the entity is no series, or has no public page any more."""
    if entity.name.kind != SERIES or entity.kind == REMOVED:
        return None
    head = series_head(reader, reader.comparison.new, entity.name.name)
    return PageLink(head.title, head.page) if head.page else None


def chapter_links(reader: BodyReader, entity: EntityChange) -> Iterator[PageLink]:
    """The pages of the added and changed chapters of a series, in the order of the changes."""
    if entity.name.kind == SERIES and entity.kind != REMOVED:
        release = reader.comparison.new
        _, view = entity_views(reader, entity)
        changed = (change.path[1] for change in entity.changes if change.path[:1] == ("chapters",))
        steps = dict.fromkeys(() if entity.body_url else changed)
        for chapter in view.get("chapters", ()) if entity.kind == ADDED else (chapter_at(view, step) for step in steps):
            if url := page_url(release, chapter):
                yield PageLink(str(chapter.get("full_title") or f"Chapter {chapter['number']}"), url)


def entity_views(reader: BodyReader, entity: EntityChange) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of an entity in both releases, from the bodies that changed; {} where it does not exist."""
    if entity.kind == CHANGED:
        before, after = (entity_view(entity.name, load) for load in reader.loaders())
        return before, after
    release = reader.comparison.new if entity.kind == ADDED else reader.comparison.old
    responses = release.responses(entity.differences[0].slug)
    view = entity_view(entity.name, lambda url: reader.value(release, responses.get(url)))
    return ({}, view) if entity.kind == ADDED else (view, {})


def page_url(release: ReleaseView, body: Mapping[str, Any]) -> str:
    """The absolute URL of the page that a body names. /api/v2 has paths, the older versions have URLs."""
    url = str(body.get("url", ""))
    absolute = f"{release.base_url or ''}{url}" if url.startswith("/") else url
    return absolute if _PAGE.fullmatch(absolute) else ""


# Group the URLs that differ by entity, and report each change at one entity only
#
# A new chapter appears in its series, in a volume and in a dozen lists. It is reported at its series; the lists are
# affected. A change that another entity caused is removed, and the other entity is its cause. Examples:
#
# 1. The title of series `paper-moons` changes. The bodies of its author 9 list the series with the title, so the field
#    `series[slug=paper-moons].title` of author 9 changes, too. The path refers to a series that is reported, so the
#    change is removed from author 9, whose cause is `series paper-moons`.
# 2. Author 9 is renamed from "Ines" to "Ines Halloway". In each of her series, the field `authors[1]` changes from the
#    old name to the new one. Its values equal those of the renaming, so the change is removed from the series, whose
#    cause is `author 9`.
# 3. The number of a chapter changes from 4 to 5. The fields `full_title` and `url` of the chapter change, too. Both are
#    derived from the field `number` beside them, so only the change of `number` is reported.

_ORDER = (SERIES, "chapter", "author", "artist", "group", "member", "category", ACCOUNT, SITE, LISTS, *_NOT_COMPARED)


def entity_changes(reader: BodyReader) -> list[EntityChange]:
    """Return each entity with a URL that differs: what changed in it, and which other entities caused the rest.

    Series come first, then people and groups, the site, and the lists.

    Example: an author of the series `paper-moons` and `tides` is renamed, and `tides` gets a chapter. URLs of both
    series, of the author, of lists and of pages differ. The result:

    - `series paper-moons` has no changes of its own, and the cause `author 9`: only her name differs in it.
    - `series tides` has one change, the added chapter, and the cause `author 9`, too.
    - `author 9` has one change, that of `name`, and no cause.
    - `lists` has no changes; its causes are `author 9` and `series tides`.
    - `pages tides` has the cause `series tides`; `pages paper-moons` has that of its series, `author 9`.
    """
    entities: dict[EntityName, EntityChange] = {}
    for difference in reader.comparison.differences:
        if difference.kind != RETIMED:
            name = reader.entity(difference)
            entities.setdefault(name, EntityChange(name, [])).differences.append(difference)
    for entity in entities.values():
        _compare_entity(entity, reader)
    remove_caused_changes(entities, reader)
    # Lists, pages and feeds show other entities, so their causes are the reported ones.
    reported = sorted(
        name
        for name, entity in entities.items()
        if entity.is_reported and name.kind != LISTS and not entity.is_rendered
    )
    for name, entity in entities.items():
        series = entities.get(EntityName(SERIES, name.name)) if entity.is_rendered else None
        if series:
            entity.causes = [series.name] if series.is_reported else series.causes
        elif name.kind == LISTS or entity.is_rendered:
            entity.causes = reported
        if name.kind == LISTS and not reported:
            _use_first_readable_body(entity, reader)

    def place(entity: EntityChange) -> tuple[int, int, str]:
        """Sort ids by number, and other names by text."""
        kind, name = entity.name
        return _ORDER.index(kind), *((int(name), "") if name.isdecimal() else (0, name))

    return sorted(entities.values(), key=place)


def _compare_entity(entity: EntityChange, reader: BodyReader) -> None:
    """Set whether the entity was added, removed or changed, and its changed fields."""
    kinds, slug = {difference.kind for difference in entity.differences}, entity.differences[0].slug
    old, new = reader.comparison.old, reader.comparison.new
    for kind, without in ((ADDED, old), (REMOVED, new)):
        if kinds == {kind} and not without.responses(slug).keys() & set(sources(entity.name)):
            entity.kind = kind
    if entity.kind == CHANGED and (entity.name.kind == LISTS or entity.is_rendered):
        return
    before, after = entity_views(reader, entity)
    if entity.kind == CHANGED:
        entity.changes = list(json_changes(before, after))
        if not entity.changes:
            _use_first_readable_body(entity, reader)
    else:
        fields = before | after
        entity.title = str(fields.get("title") or fields.get("name") or "")


def _use_first_readable_body(entity: EntityChange, reader: BodyReader) -> None:
    """Take the changes of the first body with a visible difference."""
    for difference in entity.differences:
        if changes := reader.details(difference):
            entity.changes, entity.body_url = changes, difference.url
            return


# Causes

_CATEGORIES = "/api/v1/categories"
# Fields that are derived from the fields beside them.
_DERIVED_FROM = {
    "full_title": {"number", "volume", "published", "date"},
    "url": {"number", "volume"},
    "pages_root": {"number", "volume"},
    "completed": {"status"},
}
# The fields of a series that contain names of other entities.
_NAME_FIELDS = {"author": "authors", "artist": "artists", CATEGORY: "categories"}
_MEMBER_FIELDS = ("name", "twitter", "discord")

# The old name, the new name, and the renamed entity.
_Rename = tuple[str, str, EntityName]


def remove_caused_changes(entities: Mapping[EntityName, EntityChange], reader: BodyReader) -> None:
    """Keep only the own changes of each entity, and set the causes of the removed ones."""
    reported = {
        name
        for name, entity in entities.items()
        if entity.kind != CHANGED
        or entity.access_differences
        or any(_referred_entity(entity, change) is None for change in entity.changes)
    }
    renames = list(_renames(entities, reader))
    for entity in entities.values():
        by_path = {change.path: change for change in entity.changes}
        causes: set[EntityName] = set()
        own = []
        for change in entity.changes:
            names = _causing_entities(entity, change, reported) or _causing_renames(entity, change, renames)
            causes.update(names)
            if not names and not _is_derived(change, by_path):
                own.append(change)
        entity.changes, entity.causes = own, sorted(causes)


def _causing_entities(entity: EntityChange, change: JsonChange, reported: set[EntityName]) -> list[EntityName]:
    """The reported entities that a change refers to (example 1)."""
    other = _referred_entity(entity, change)
    if other is None or other in reported:
        return [other] if other else []
    return sorted(name for name in reported if name.kind == other.kind and not other.name)


def _referred_entity(entity: EntityChange, change: JsonChange) -> EntityName | None:
    """The other entity that a field describes. Its name is empty if the path does not contain it."""
    match entity.name.kind, *change.path:
        case "author" | "artist" | "group", "series", step, *_:
            return EntityName(SERIES, _identity(step))
        case "group", "members", step, field, *_ if field in _MEMBER_FIELDS:
            return EntityName("member", _identity(step))
        case "member", "groups", *_:
            return EntityName("group")
        case "series", "chapters", _, "groups", step, _:
            return EntityName("group", _identity(step))
        case "series", "categories", step, _:
            return EntityName("category", _identity(step))
    return None


def _identity(step: str) -> str:
    """The value of an identity in a path: 4 of [id=4]."""
    return step.strip("[]").partition("=")[2]


def _is_derived(change: JsonChange, by_path: Mapping[Path, JsonChange]) -> bool:
    """Whether the field is derived from changed fields beside it (example 3)."""
    if change.kind != CHANGED or not change.path:
        return False
    *parent, field = change.path
    titles = (by_path.get(path) for path in (("title",), (*parent, "title"))) if field == "full_title" else ()
    # The changed title is the only difference of the full title, or is missing on one side.
    if any(
        not (title.old and title.new) or str(change.old).replace(str(title.old), str(title.new)) == change.new
        for title in filter(None, titles)
    ):
        return True
    return any((*parent, name) in by_path for name in _DERIVED_FROM.get(field, ()))


def _renames(entities: Mapping[EntityName, EntityChange], reader: BodyReader) -> Iterator[_Rename]:
    """Changed names and base URLs, which other entities contain, too."""
    yield reader.comparison.old.base_url or "", reader.comparison.new.base_url or "", EntityName(SITE)
    for name, entity in entities.items():
        for change in entity.changes:
            if change.path == ("name",) and change.kind == CHANGED:
                yield change.old, change.new, name
    # The name of a category is part of its URL, so a renamed category looks like another entity.
    if categories := reader.comparison.by_url.get(_CATEGORIES):
        for change in reader.details(categories):
            if change.path[1:] == ("name",):
                yield change.old, change.new, EntityName(CATEGORY, change.new)


def _causing_renames(entity: EntityChange, change: JsonChange, renames: Sequence[_Rename]) -> list[EntityName]:
    """The renamed entities whose names a field contains, if the name is the only difference (example 2)."""
    if change.kind != CHANGED or not (isinstance(change.old, str) and isinstance(change.new, str)):
        return []
    names = []
    for old, new, name in renames:
        if name.kind == SITE:
            is_cause = change.old.startswith(old) and change.new == new + change.old.removeprefix(old)
        else:
            is_cause = _holds_name(name.kind, change.path) and (change.old, change.new) == (old, new)
        names += [name] if is_cause and name != entity.name else []
    return names


def _holds_name(kind: str, path: Path) -> bool:
    """Whether a field of a series is the name of an entity. v2 names the groups of chapters."""
    if kind == "group":
        return len(path) == 4 and path[0] == "chapters" and path[2] == "groups"
    return path[:1] == (_NAME_FIELDS.get(kind),)
