"""A small catalog as data, and the folder in which it is written. Nothing in the folder depends on the clock."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from tests.conftest import AS_OF, WRITTEN

T = TypeVar("T")
Fields = dict[str, Any]

HOUR, DAY = 3600, 86_400
# Their first pages want the same page id, and the smaller id gets it: who has it depends on another series.
RIVALS = (2_147_480_615, 2_147_483_620)
SLUGS = ("epsilon", "zeta", "eta", "Theta-9", "iota_", "kappa", "lambda")


def pick(choice: Sequence[T], number: int) -> T:
    return choice[number % len(choice)]


def iso(moment: int) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%SZ}"


@dataclass
class Chapter:
    """The fields of a chapter, and the name of its own file, if it has one."""

    fields: Fields
    file: str | None = None


@dataclass
class Series:
    """The fields of a series, and whether it has a folder."""

    fields: Fields
    chapters: list[Chapter] = field(default_factory=list)
    folder: bool = False

    def free_number(self, volume: object) -> str:
        taken = {(one.fields.get("volume"), one.fields["number"]) for one in self.chapters}
        return next(str(one) for one in range(1, 99) if (volume, str(one)) not in taken)


class Catalog:
    """A catalog as data, and the folder in which it is written. Nothing in the folder depends on the clock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site: Fields = {"base_url": "https://edited.example", "page_size": 2, "pages": True}
        self.site["apps"] = ["komga", "opds"]
        self.lists: dict[str, list[Fields]] = deepcopy(LISTS)
        self.series = small_series()
        self.views: dict[int, int] = {50: 3}
        # The content of files that differ from the data; None for a missing file.
        self.wrong: dict[str, str | None] = {}
        self.good = self.data()
        self.ids = self.moment = 0
        # While the clock stands still, written files keep their time.
        self.still = False
        self.written: dict[str, str] = {}
        self.times: dict[str, int] = {}

    def data(self) -> tuple[Any, ...]:
        """A copy of the data."""
        return deepcopy((self.site, self.lists, self.series, self.views))

    def restore(self) -> None:
        """Return to the last valid data."""
        self.site, self.lists, self.series, self.views = deepcopy(self.good)

    def files(self) -> dict[str, str]:
        """The text of every file, by path."""
        texts = {"site.yaml": block(self.site)}
        texts |= {name: "".join(map(item, records)) for name, records in self.lists.items() if records}
        if self.views:
            texts["views.yaml"] = block(self.views)
        for slug, series in self.series.items():
            own = [chapter.fields for chapter in series.chapters if chapter.file is None]
            text = block(series.fields) + ("chapters:\n" + "".join(map(item, own)) if own else "")
            texts[f"series/{slug}/series.yaml" if series.folder else f"series/{slug}.yaml"] = text
            for chapter in series.chapters:
                if chapter.file is not None:
                    texts[f"series/{slug}/chapters/{chapter.file}"] = block(chapter.fields)
        return texts

    def write(self) -> None:
        """Write the files that differ from the data; others are not touched."""
        wanted = {path: text for path, text in (self.files() | self.wrong).items() if text is not None}
        for path in sorted(self.written.keys() - wanted.keys()):
            (self.folder / path).unlink()
            del self.written[path]
            for folder in (self.folder / path).parents:
                if folder == self.folder / "series" or any(folder.iterdir()):
                    break
                folder.rmdir()
        for path, text in wanted.items():
            if self.written.get(path) != text:
                self.put(path, text)

    def put(self, path: str, text: str) -> None:
        """Write a file, every second time in place, with a later time unless the clock stands still."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        kept = self.times.get(path) if self.still else None
        self.moment += 1
        if self.moment % 2:
            file.write_text(text, encoding="utf-8")
        else:
            other = file.with_name(".other")
            other.write_text(text, encoding="utf-8")
            other.replace(file)
        self.written[path] = text
        self.touch(path, kept or WRITTEN + 977 * self.moment)

    def touch(self, path: str, moment: int) -> None:
        self.times[path] = moment
        # To the last nanosecond of a second, so that rounding would give another second.
        os.utime(self.folder / path, ns=(moment * 10**9 + 999_999_999,) * 2)

    def chapters(self) -> list[tuple[Series, Chapter]]:
        return [(one, chapter) for _, one in sorted(self.series.items()) for chapter in one.chapters]

    def with_id(self) -> list[Fields]:
        return [chapter.fields for _, chapter in self.chapters() if "id" in chapter.fields]

    def some_series(self, which: int) -> Series:
        return self.series[self.some_slug(which)]

    def some_slug(self, which: int) -> str:
        return pick(sorted(self.series), which)

    def some_chapter(self, which: int) -> tuple[Series, Chapter]:
        return pick(self.chapters(), which)

    def free_slug(self, which: int) -> str:
        free = [one for one in (*SLUGS, *(f"more-{n}" for n in range(12))) if one not in self.series]
        return pick(free[:4], which)

    def next_id(self) -> int:
        self.ids += 1
        return 100 + self.ids

    def references(self, name: str) -> Iterator[list[Any]]:
        """Every list of references to the entries of the list `name`."""
        match name:
            case "groups.yaml":
                yield from (one.fields["groups"] for _, one in self.chapters() if "groups" in one.fields)
            case "categories.yaml" | "authors.yaml" | "artists.yaml":
                key = name.removesuffix(".yaml")
                yield from (one.fields[key] for one in self.series.values() if key in one.fields)

    def rename(self, name: str, entry: Fields, new: str) -> None:
        """Rename an entry, and every reference to it by name."""
        old, entry["name"] = entry["name"], new
        for references in self.references(name):
            references[:] = [new if one == old else one for one in references]
        if name == "members.yaml":
            for group in self.lists["groups.yaml"]:
                for role in group.get("members", ()):
                    role["member"] = new if role["member"] == old else role["member"]

    def drop(self, name: str, entry: Fields) -> None:
        """Remove an entry and every reference to it."""
        self.lists[name].remove(entry)
        for references in self.references(name):
            references[:] = [one for one in references if one not in (entry["id"], entry["name"])]
        if name == "members.yaml":
            for group in self.lists["groups.yaml"]:
                roles = group.get("members", [])
                roles[:] = [one for one in roles if one["member"] not in (entry["id"], entry["name"])]


def block(fields: Fields | dict[int, int]) -> str:
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items())


def item(fields: Fields) -> str:
    return f"  - {json.dumps(fields, ensure_ascii=False)}\n"


LISTS: dict[str, list[Fields]] = {
    "authors.yaml": [
        {"id": 1, "name": "Ada Penn", "aliases": ["A. P."]},
        {"id": 2, "name": "Bo Ink", "modified": "2025-01-02T00:00:00Z"},
        {"id": 3, "name": "Unused"},
    ],
    "artists.yaml": [
        {"id": 1, "name": "Ada Penn"},
        {"id": 7, "name": "Cy Brush", "modified": "2025-01-07T00:00:00Z"},
    ],
    "categories.yaml": [{"id": "action", "name": "Deeds"}, {"id": "80s", "name": "The Eighties"}],
    "groups.yaml": [
        {"id": 5, "name": "Night Shift", "members": [{"member": "Wren", "role": "Editor"}]},
        {"id": 6, "name": "Day Shift", "modified": "2025-01-06T00:00:00Z"},
    ],
    "members.yaml": [{"id": 1, "name": "Wren"}, {"id": 2, "name": "Jun", "modified": "2025-01-03T00:00:00Z"}],
    "accounts.yaml": [
        {
            "username": "lamp",
            "bookmarks": ["alpha", "beta"],
            "keys": [{"name": "tablet", "sha256": hashlib.sha256(b"tablet").hexdigest()}],
        }
    ],
    "keys.yaml": [{"name": "bot", "account": "lamp", "sha256": hashlib.sha256(b"bot").hexdigest()}],
}


def small_series() -> dict[str, Series]:
    """Both layouts, with every kind of chapter that has rules of its own."""
    past, dated = iso(AS_OF - 300 * DAY), {"modified": iso(AS_OF - 200 * DAY)}
    plain: Fields = {"published": past, "pages": ["1.png", "2.png"]}
    alpha = Series(
        {"title": "Alpha", "cover": "c.png", "authors": ["Ada Penn", 2], "artists": [1], "categories": ["action"]},
        [
            Chapter({"id": 1, "volume": 1, "number": "1", "title": "One", "groups": ["Night Shift"], **plain, **dated}),
            Chapter({"id": 2, "volume": 2, "number": "1.5", "title": "Two", "groups": [6], **plain}),
            Chapter({"id": RIVALS[1], "volume": 2, "number": "2", "title": "Second to ask", **plain}),
            Chapter({"number": "3", "title": "Without an id", **plain}),
            Chapter({"id": 3, "number": "4", "title": "Scheduled", **plain, "published": iso(AS_OF + HOUR)}),
        ],
    )
    beta = Series(
        {"title": "Beta", "cover": "c.png", "restricted": True, "artists": ["Cy Brush"], **dated},
        [
            Chapter({"id": RIVALS[0], "volume": 1, "number": "1", "title": "First to ask", **plain}, "001.yaml"),
            Chapter({"id": 11, "volume": 1, "number": "2", "views": 4, **plain, **dated}, "002.yaml"),
            Chapter({"id": 12, "volume": 1, "number": "3", "groups": [5], **plain}),
        ],
        folder=True,
    )
    gamma = Series(
        {"title": "Gamma", "cover": "c.png", "authors": [1], "categories": ["80s", "action"], **dated},
        [Chapter({"id": 50, "volume": 1, "number": "1", **plain, "pages": "0001.png .. 1002.png"})],
    )
    delta = Series(
        {"title": "Delta", "cover": "c.png", "licensed": True},
        [Chapter({"id": 60, "volume": 1, "number": "1", "groups": ["Day Shift"], **plain})],
        folder=True,
    )
    return {"alpha": alpha, "beta": beta, "gamma": gamma, "delta": delta, "soon": Series({"title": "S", "cover": "c"})}
