"""What is asked of a site, in which order; answers with everything that came back, by path.

The second version is asked first and says most; the older ones add what it does not say. Which of them exist is found
out by asking. How a body is understood is decided elsewhere; here only the names in it matter that lead further.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from .. import encode, values
from ..errors import FlatpanelError
from ..keys import digest
from ..model import MAX_SLUG
from ..payloads.listing import DEFAULT_ORDER, ORDERS
from .loose import entries, fields, http_date, texts, whole
from .notes import Notes
from .shelf import Kept, Shelf
from .wire import Unusable, Wire

MAX_PAGES = 10_000
_OLD = ("/api/v1", "/api")
_PEOPLE = ("authors", "artists", "groups", "members")
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Got:
    """What a path answered: its JSON, if it was one, and since when it has been so."""

    status: int
    value: Any = None
    modified: int | None = None
    # Whether it took a key.
    locked: bool = False

    @property
    def good(self) -> bool:
        return self.status == 200


@dataclass(slots=True)
class Asker:
    """Asks for one path after the other, and never for one twice."""

    wire: Wire
    shelf: Shelf
    notes: Notes
    key: str | None = None
    progress: Progress = lambda done, known: None
    answers: dict[str, Got] = field(default_factory=dict)
    # How many paths are still to be asked for, as far as anybody can tell.
    ahead: int = 0
    slugs: list[str] = field(default_factory=list)

    def all(self, paths: Iterable[str]) -> None:
        """Ask for whatever can be named before the first answer is there."""
        wanted = [path for path in dict.fromkeys(paths) if path not in self.answers]
        for path in wanted:
            self.progress(len(self.answers), len(self.answers) + max(len(wanted), self.ahead))
            self.ask(path)

    def ask(self, path: str) -> Got:
        if path not in self.answers:
            self.answers[path] = self._ask(path)
        return self.answers[path]

    def _ask(self, path: str) -> Got:
        try:
            kept = self._answer(path, {}, path)
            locked = kept.status == 401
            if locked and self.key:
                kept = self._answer(path, {"X-API-Key": self.key}, f"{path} {digest(self.key)}")
        except Unusable as error:
            self.notes.add(f"the answer {error}; it is passed over", path)
            return Got(0)
        if kept.status == 401:
            self.notes.add(f"takes a key{', and not this one' if self.key else ''}; what it tells is not known", path)
        return Got(kept.status, self._json(path, kept), _moment(kept.headers.get("last-modified", "")), locked)

    def _answer(self, path: str, headers: dict[str, str], name: str) -> Kept:
        kept = self.shelf.find(name)
        if kept and kept.run == self.shelf.run:
            return kept
        conditions = {}
        if kept and kept.status == 200:
            pairs = (("If-None-Match", "etag"), ("If-Modified-Since", "last-modified"))
            conditions = {asked: kept.headers[said] for asked, said in pairs if said in kept.headers}
        answer = self.wire.get(path, headers | conditions)
        if answer.status == 304 and kept and conditions:
            return self.shelf.keep(name, kept.status, kept.headers | dict(answer.headers), kept.body)
        return self.shelf.keep(name, answer.status, dict(answer.headers), answer.body)

    def _json(self, path: str, kept: Kept) -> Any:
        if kept.status != 200:
            return None
        try:
            return encode.parse(kept.body)
        except ValueError:
            self.notes.add("the answer is no JSON; it is passed over", path)
            return None


def _moment(text: str) -> int | None:
    seconds = http_date(text)
    return seconds if seconds is not None and 0 <= seconds <= encode.LAST_INSTANT else None


def ask_everything(asker: Asker) -> None:
    """Have every answer that says something of the catalog."""
    first = asker.ask("/api/v2/series")
    pages = list(_pages(asker, first))
    if first.modified is not None:
        asker.all(
            f"/api/v2/series?sort={order}&page={page}" for order in _orders() for page in range(1, len(pages) + 1)
        )
    asker.all(("/", "/api/v2/openapi.json"))
    asker.all(f"/api/v2/{name}" for name in ("categories", *_PEOPLE))
    old = [family for family in _OLD if asker.ask(f"{family}/series").good]
    if not first.good and not old:
        raise FlatpanelError(f"{asker.wire.address}: answers neither /api/v2/series nor /api/v1/series nor /api/series")
    for family in old:
        asker.all(f"{family}/{name}" for name in ("authors", "artists", "releases"))
    if "/api/v1" in old:
        asker.all(("/api/v1/categories", "/api/v1/groups"))
    asker.all(_alone(asker, old))
    asker.slugs = slugs(asker, pages, old)
    for done, slug in enumerate(asker.slugs):
        asker.ahead = (len(asker.slugs) - done) * (3 + len(old))
        _series(asker, slug, old)
    asker.all(_telling_groups(asker))


def _pages(asker: Asker, page: Got) -> Iterator[Any]:
    """Every page of the list of series; one that brings nothing new ends it, whatever it says of itself."""
    seen: set[str] = set()
    for number in range(2, MAX_PAGES):
        found = {str(one.get("slug")) for one in entries(fields(page.value).get("results"))}
        if found <= seen:
            return
        seen |= found
        yield page.value
        if fields(page.value).get("last") is True:
            return
        page = asker.ask(f"/api/v2/series?page={number}")


def _orders() -> Iterator[str]:
    """The other orders of the list, whose pages show the same series together with others: their dates tell more."""
    return (f"{sign}{order}" for order in ORDERS for sign in ("", "-") if f"{sign}{order}" != DEFAULT_ORDER)


def _alone(asker: Asker, old: list[str]) -> Iterator[str]:
    """Each person, category and group alone, whose answers tell when it changed."""
    for name in _PEOPLE:
        for one in entries(fields(asker.answers[f"/api/v2/{name}"].value).get("results")):
            if (number := whole(one.get("id"))) is not None:
                yield f"/api/v2/{name}/{number}"
    for one in entries(fields(asker.answers["/api/v2/categories"].value).get("results")):
        if isinstance(genre := one.get("name"), str):
            yield f"/api/v2/categories/{quote(genre, safe='')}"
    for path in (f"{family}/{name}" for family in old[:1] for name in _PEOPLE):
        if path in asker.answers:
            for one in entries(asker.answers[path].value):
                if (number := whole(one.get("id"))) is not None:
                    yield f"{path}/{number}"


def slugs(asker: Asker, pages: list[Any], old: list[str]) -> list[str]:
    """The slugs of all series, each once; one that is no slug would lead out of the folder, and is told of."""
    lists = [fields(page).get("results") for page in pages]
    lists += [asker.answers[f"{family}/{name}"].value for family in old for name in ("series", "releases")]
    found: dict[str, str] = {}
    told = (one.get("slug") for entry in lists for one in entries(entry))
    for slug in told:
        if not isinstance(slug, str) or not values.is_slug(slug) or len(slug) > MAX_SLUG:
            asker.notes.add("has a slug that is none; the series is left out", repr(slug)[:60])
        elif found.setdefault(slug.lower(), slug) != slug:
            asker.notes.add(f"differs from {found[slug.lower()]} only in case; the series is left out", slug)
    return list(found.values())


def _series(asker: Asker, slug: str, old: list[str]) -> None:
    v2 = f"/api/v2/series/{slug}"
    asker.all((v2, f"{v2}/chapters", f"/api/v2/cubari/{slug}", *(f"{family}/series/{slug}" for family in old)))
    named = asker.answers[f"{v2}/chapters"].good
    if not named:
        _old_chapters(asker, slug, old)
    elif not asker.answers[f"/api/v2/cubari/{slug}"].good:
        for one in entries(fields(asker.answers[f"{v2}/chapters"].value).get("results")):
            if (number := whole(one.get("id"))) is not None:
                asker.ask(f"/api/v2/chapters/{number}/pages")


def _old_chapters(asker: Asker, slug: str, old: list[str]) -> None:
    """Each chapter alone, of a series whose chapters the second version does not tell; some sites cannot do that."""
    path = f"{old[-1]}/series/{slug}" if old else ""
    volumes = fields(asker.answers[path].value).get("volumes") if path else None
    for volume, chapters in fields(volumes).items():
        for number in fields(chapters):
            one = f"{path}/{quote(volume, safe='')}/{quote(number, safe='')}"
            if not asker.ask(one).good:
                return


def _telling_groups(asker: Asker) -> Iterator[str]:
    """The oldest chapter of each group, which tells whether the group or one of its members changed later."""
    oldest: dict[str, tuple[str, int]] = {}
    for path, got in asker.answers.items():
        if path.startswith("/api/v2/series/") and path.endswith("/chapters"):
            for one in entries(fields(got.value).get("results")):
                number, published = whole(one.get("id")), str(one.get("published"))
                if number is not None:
                    for group in texts(one.get("groups")):
                        oldest[group] = min(oldest.get(group, (published, number)), (published, number))
    return (f"/api/v2/chapters/{number}" for _, number in oldest.values())
