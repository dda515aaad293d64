"""What is asked of a site, in which order; answers with everything that came back, by path.

The second version is asked first and says most; the older ones add what it does not say. Which of them exist is found
out by asking. How a body is understood is decided elsewhere; here only the names in it matter that lead further.
"""

import reprlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, TypeGuard
from urllib.parse import quote

from ... import encoding
from ...api.payloads.series_list import DEFAULT_ORDER, ORDERS
from ...catalog import field_values
from ...catalog.api_keys import digest
from ...catalog.records import MAX_SLUG
from ...errors import FlatpanelError
from .answers import Bodies, Response, Responses
from .bounded_json import Unusable
from .http_client import Wire
from .lenient import entries, fields, http_date, seconds, text, texts, whole
from .notes import Notes
from .people_and_groups import OLD
from .response_cache import Kept

MAX_SERIES = 100_000
# There it is, there is nothing, or nothing for anybody.
_EXPECTED = (200, 404, 410, 451)
_NEW = "/api/v2"
_PEOPLE = ("authors", "artists", "groups", "members")
_LISTS = {
    "/api/v2": ("categories", *_PEOPLE),
    "/api/v1": ("authors", "artists", "categories", "groups"),
    "/api": ("authors", "artists"),
}
# Gets the share that is done, from 0 to 1.
Progress = Callable[[float], None]


@dataclass(slots=True)
class Asker:
    """Asks for one path after the other."""

    wire: Wire
    bodies: Bodies
    notes: Notes
    key: str | None = None
    progress: Progress = lambda share: None
    answers: Responses = field(default_factory=Responses)
    # How many paths are to be asked for after those that can be named now: an estimate.
    ahead: int = 0
    # What was reported last. An estimate may grow, and progress is never taken back.
    share: float = 0
    slugs: list[str] = field(default_factory=list)

    def all(self, paths: Iterable[str]) -> None:
        """Ask for whatever can be named before the first answer is there."""
        wanted = [path for path in dict.fromkeys(paths) if path not in self.answers]
        for left, path in zip(range(len(wanted), 0, -1), wanted, strict=True):
            done = len(self.answers)
            self.share = max(self.share, done / (done + left + self.ahead))
            self.progress(self.share)
            self.ask(path)

    def ask(self, path: str) -> Response:
        found = self.answers[path] = self._ask(path)
        return found

    def _ask(self, path: str) -> Response:
        name = path
        try:
            kept = self._answer(path, {}, name)
            locked = kept.status == 401
            if locked and self.key:
                name = f"{path} {digest(self.key)}"
                kept = self._answer(path, {"X-API-Key": self.key}, name)
            understood = kept.status == 200 and self._value(name, path, kept.body) is not None
        except Unusable as error:
            self.notes.add(f"the answer {error}; it is passed over", path)
            return Response()
        except ValueError:
            self.notes.add("the answer is no JSON; it is passed over", path)
            return Response(200, modified=_changed(kept), locked=locked)
        if kept.status == 401:
            self.notes.add(f"takes a key{', and not this one' if self.key else ''}; what it tells is not known", path)
        elif kept.status not in _EXPECTED:
            self.notes.add(f"answers {kept.status}; what it tells is not known", path)
        if not understood:
            return Response(kept.status, modified=_changed(kept), locked=locked)
        return Response(kept.status, partial(self._value, name, path), _changed(kept), locked, understood=True)

    def _value(self, name: str, path: str, body: bytes | None = None) -> Any:
        """The old lists of all series hold all that their families tell of them, so they may be large."""
        is_list = path in [f"{family}/{name}" for family in OLD for name in ("series", "releases")]
        return self.bodies.value(name, body, is_list=is_list)

    def _answer(self, path: str, headers: dict[str, str], name: str) -> Kept:
        kept = self.bodies.shelf.find(name)
        if kept and kept.run == self.bodies.shelf.run:
            return kept
        conditions = {}
        if kept and kept.status == 200:
            pairs = (("If-None-Match", "etag"), ("If-Modified-Since", "last-modified"))
            conditions = {
                asked: kept.headers[said] for asked, said in pairs if kept.headers.get(said, "\n").isprintable()
            }
        answer = self.wire.get(path, headers | conditions)
        if answer.status == 304 and kept and conditions:
            return self.bodies.shelf.keep(name, kept.status, kept.headers | dict(answer.headers), kept.body)
        return self.bodies.shelf.keep(name, answer.status, dict(answer.headers), answer.body)


def _changed(kept: Kept) -> int | None:
    found = http_date(kept.headers.get("last-modified", ""))
    return found if found is not None and 0 <= found <= encoding.LAST_INSTANT else None


def ask_everything(asker: Asker) -> None:
    """Have every answer that says something of the catalog."""
    first = asker.ask("/api/v2/series")
    pages = list(_pages(asker, first))
    # Three paths of the second version for each series, and one of each older one.
    asker.ahead = sum(1 for page in pages for _ in _results(page)) * (3 + len(OLD))
    if first.modified is not None:
        asker.all(
            f"/api/v2/series?sort={order}&page={page}" for order in _orders() for page in range(1, len(pages) + 1)
        )
    asker.all(("/", "/api/v2/openapi.json"))
    # The list of all series holds all chapters, and says nothing that is not asked for again; one of them is enough.
    old = [family for family in OLD if any(asker.ask(f"{family}/{name}").good for name in ("releases", "series"))]
    new = [_NEW] if first.good or first.locked else []
    if not new and not old:
        raise FlatpanelError(f"{asker.wire.address}: answers neither /api/v2/series nor /api/v1/series nor /api/series")
    asker.all(f"{family}/{name}" for family in (*new, *old) for name in _LISTS[family])
    asker.all(f"{family}/series" for family in old[:1])
    asker.all(_alone(asker, new + old[:1]))
    asker.slugs = slugs(asker, pages, old)
    # `_telling` names about one chapter for each group.
    groups = sum(1 for _ in _results(asker.answers[f"{_NEW}/groups"]))
    for left, slug in zip(range(len(asker.slugs), 0, -1), asker.slugs, strict=True):
        asker.ahead = (left - 1) * (3 * len(new) + len(old)) + groups
        _series(asker, slug, new, old)
    asker.ahead = 0
    asker.all(_telling(asker, new))
    asker.progress(1)


def _pages(asker: Asker, page: Response) -> Iterator[Response]:
    """Every page of the list of series; one that brings nothing new ends it, whatever it says of itself."""
    seen: set[str] = set()
    number = 1
    while new := set(filter(_is_slug, (one.get("slug") for one in _results(page)))) - seen:
        seen |= new
        yield page
        if fields(page.value).get("last") is True:
            return
        if len(seen) > MAX_SERIES:
            asker.notes.add(f"there are more than {MAX_SERIES} series; the others are left out")
            return
        number += 1
        page = asker.ask(f"/api/v2/series?page={number}")


def _orders() -> Iterator[str]:
    """The other orders of the list, whose pages show the same series together with others: their dates tell more."""
    return (f"{sign}{order}" for order in ORDERS for sign in ("", "-") if f"{sign}{order}" != DEFAULT_ORDER)


def _results(got: Response) -> Iterator[dict[str, Any]]:
    return entries(fields(got.value).get("results"))


def _ids(things: Iterable[dict[str, Any]]) -> Iterator[int]:
    return (number for one in things if (number := whole(one.get("id"))) is not None)


def _alone(asker: Asker, families: list[str]) -> Iterator[str]:
    """Each person, category and group alone, whose answers tell when it changed."""
    for path in [f"{family}/{name}" for family in families for name in _PEOPLE]:
        got = asker.answers[path]
        things = _results(got) if path.startswith(_NEW) else entries(got.value)
        yield from (f"{path}/{number}" for number in _ids(things))
    if _NEW in families:
        names = [text(one.get("name")) for one in _results(asker.answers[f"{_NEW}/categories"])]
        # A name with a slash is no segment of a path, and no site answers there.
        yield from (f"{_NEW}/categories/{quote(name, safe='')}" for name in names if name and "/" not in name)


def slugs(asker: Asker, pages: list[Response], old: list[str]) -> list[str]:
    """The slugs of all series, each once; one that is no slug would lead out of the folder, and is told of."""
    lists = [*pages, *(asker.answers[f"{family}/{name}"] for name in ("series", "releases") for family in old)]
    found: dict[str, str] = {}
    for slug in (one.get("slug") for got in lists for one in _listed(got.value)):
        if not _is_slug(slug):
            asker.notes.add("has a slug that is none; the series is left out", reprlib.repr(slug))
        elif len(found) == MAX_SERIES and slug.lower() not in found:
            asker.notes.add(f"there are more than {MAX_SERIES} series; the others are left out")
            break
        elif found.setdefault(slug.lower(), slug) != slug:
            asker.notes.add(f"differs from {found[slug.lower()]} only in case; the series is left out", slug)
    return list(found.values())


def _listed(value: Any) -> Iterator[dict[str, Any]]:
    """The things in a list of any family."""
    return chain(entries(value), entries(fields(value).get("results")))


def _is_slug(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) <= MAX_SLUG and field_values.is_slug(value)


def _series(asker: Asker, slug: str, new: list[str], old: list[str]) -> None:
    for family in new:
        asker.all(f"{family}/{name}" for name in (f"series/{slug}", f"series/{slug}/chapters", f"cubari/{slug}"))
    asker.all(f"{family}/series/{slug}" for family in old)
    chapters = asker.answers[f"{_NEW}/series/{slug}/chapters"]
    if not chapters.good:
        _old_chapters(asker, slug, old)
    elif not asker.answers[f"{_NEW}/cubari/{slug}"].good:
        asker.all(f"{_NEW}/chapters/{number}/pages" for number in _ids(_results(chapters)))


def _old_chapters(asker: Asker, slug: str, old: list[str]) -> None:
    """Each chapter alone, of a series whose chapters the second version does not tell; some sites cannot do that."""
    for family in old[-1:]:
        path = f"{family}/series/{slug}"
        for name, _ in _within(path, asker.answers[path]):
            if not asker.ask(name).good:
                return


def _telling(asker: Asker, new: list[str]) -> Iterator[str]:
    """Of all chapters of the same groups the one that changed first: its date tells if one of the groups did later."""
    oldest: dict[frozenset[object], tuple[int, str]] = {}
    for changed, groups, path in _new_chapters(asker) if new else _old_chapters_of_groups(asker):
        oldest[groups] = min(oldest.get(groups, (changed, path)), (changed, path))
    return (path for groups, (_, path) in oldest.items() if groups)


def _new_chapters(asker: Asker) -> Iterator[tuple[int, frozenset[object], str]]:
    for slug in asker.slugs:
        reader = fields(fields(asker.answers[f"{_NEW}/cubari/{slug}"].value).get("chapters"))
        for one in _results(asker.answers[f"{_NEW}/series/{slug}/chapters"]):
            for number in _ids([one]):
                changed = seconds(fields(reader.get(str(number))).get("last_updated")) or 0
                yield changed, frozenset(texts(one.get("groups"))), f"{_NEW}/chapters/{number}"


def _old_chapters_of_groups(asker: Asker) -> Iterator[tuple[int, frozenset[object], str]]:
    """The first version names groups, and the oldest tells when a chapter changed."""
    first, oldest = OLD
    for slug in asker.slugs:
        path = f"{first}/series/{slug}"
        for name, one in _within(path, asker.answers[path]):
            changed = asker.answers[oldest + name.removeprefix(first)].modified or 0
            yield changed, frozenset(_ids(entries(one.get("groups")))), name


def _within(path: str, series: Response) -> Iterator[tuple[str, dict[str, Any]]]:
    """The chapters of a series in an old family, each with its own path."""
    for volume, chapters in fields(fields(series.value).get("volumes")).items():
        for number, one in fields(chapters).items():
            yield f"{path}/{quote(volume, safe='')}/{quote(number, safe='')}", fields(one)
