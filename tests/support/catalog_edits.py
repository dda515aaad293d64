"""Everything that can happen to a catalog, each as one small function or a row of FIELDS.

An edit gets two numbers, which choose what it changes, and how. Those in `EDITS` nearly always leave the catalog valid.
Those in `MISTAKES` nearly always add a problem; emptying `wrong` removes it.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from tests.conftest import AS_OF, WRITTEN
from tests.support.catalog_factory import DAY, HOUR, LISTS, Catalog, Chapter, Fields, Series, block, iso, item, pick

Edit = Callable[[Catalog, int, int], None]
EDITS: dict[str, Edit] = {}
MISTAKES: dict[str, Edit] = {}

# Some of one length, so that an edit can keep a file's size.
TITLES = ("Aaa", "Bbb", "Ccc", "Zzz", "Same Title", "紙の月", "")
PAGES: tuple[Any, ...] = ([], ["1.png"], ["2.png"], ["a b.png", "ü.png"], "0001.png .. 1003.png", "1.jpg .. 3.jpg")
AGES = (("unversioned", "series"), ("v1", "people"), ("v2", "releases"))
PEOPLE = ("authors.yaml", "artists.yaml")


def edit(function: Edit) -> Edit:
    EDITS[function.__name__] = function
    return function


def mistake(function: Edit) -> Edit:
    MISTAKES[function.__name__] = function
    return function


# Series


@edit
def add_series(catalog: Catalog, which: int, how: int) -> None:
    series = Series({"title": pick(TITLES, how) or "New", "cover": "c.png"}, folder=how % 2 == 1)
    catalog.series[catalog.free_slug(which)] = series
    if how % 3:
        series.chapters.append(new_chapter(catalog, series, how))


@edit
def remove_series(catalog: Catalog, which: int, how: int) -> None:
    if len(catalog.series) > 2:
        slug = catalog.some_slug(which)
        del catalog.series[slug]
        for account in catalog.lists["accounts.yaml"]:
            account["bookmarks"] = [bookmark for bookmark in account["bookmarks"] if bookmark != slug]


@edit
def rename_series_with_redirect(catalog: Catalog, which: int, how: int) -> None:
    old = catalog.some_slug(which)
    catalog.series[old].fields.setdefault("formerly", []).append(old)
    rename_series(catalog, which, how)


@mistake
def reuse_slug(catalog: Catalog, which: int, how: int) -> None:
    catalog.some_series(which).fields["formerly"] = [catalog.some_slug(how).upper()]


@edit
def rename_series(catalog: Catalog, which: int, how: int) -> None:
    old, new = catalog.some_slug(which), catalog.free_slug(how)
    catalog.series[new] = catalog.series.pop(old)
    for account in catalog.lists["accounts.yaml"]:
        account["bookmarks"] = [new if bookmark == old else bookmark for bookmark in account["bookmarks"]]


@edit
def swap_series(catalog: Catalog, which: int, how: int) -> None:
    """No content is new, but every file of two series has other content."""
    slug, other = catalog.some_slug(which), catalog.some_slug(which + 1)
    catalog.series[slug], catalog.series[other] = catalog.series[other], catalog.series[slug]


@edit
def license_series(catalog: Catalog, which: int, how: int) -> None:
    series = catalog.some_series(which)
    series.fields["licensed"] = not series.fields.pop("licensed", False)
    series.fields.pop("updated", None)
    if series.fields["licensed"] and how % 2:
        series.fields["updated"] = iso(AS_OF + pick((-900 * DAY, -HOUR, HOUR), how // 2))


@edit
def credit_series(catalog: Catalog, which: int, how: int) -> None:
    name = pick(PEOPLE, how)
    if people := catalog.lists[name]:
        person = pick(people, how // 2)
        catalog.some_series(which).fields[name.removesuffix(".yaml")] = [pick((person["name"], person["id"]), which)]


@edit
def categorise_series(catalog: Catalog, which: int, how: int) -> None:
    ids = [category["id"] for category in catalog.lists["categories.yaml"]]
    catalog.some_series(which).fields["categories"] = ids[: how % 3]


@edit
def unfold_series(catalog: Catalog, which: int, how: int) -> None:
    """Move a series from a file into a folder, or back with all of its chapters."""
    series = catalog.some_series(which)
    series.folder = not series.folder
    for chapter in series.chapters:
        chapter.file = None


# Chapters


def new_chapter(catalog: Catalog, series: Series, how: int) -> Chapter:
    volume = pick((None, 1, 2), how)
    fields: Fields = {"number": series.free_number(volume), "title": pick(TITLES, how), "pages": pick(PAGES, how)}
    fields["published"] = iso(AS_OF + pick((-DAY, -40 * DAY, 2 * HOUR, 30 * DAY), how))
    if volume:
        fields["volume"] = volume
    if how % 4:
        fields["id"] = catalog.next_id() + pick((0, 0, 2_147_400_000), how)
    return Chapter(fields)


@edit
def add_chapter(catalog: Catalog, which: int, how: int) -> None:
    series = catalog.some_series(which)
    chapter = new_chapter(catalog, series, how)
    series.chapters.insert(how % (len(series.chapters) + 1), chapter)
    if series.folder and how % 2:
        chapter.file = free_file(series)


@edit
def share_number(catalog: Catalog, which: int, how: int) -> None:
    """Add a version of a chapter without a volume: with a lower or a higher id or none, published or scheduled."""
    if chapters := [pair for pair in catalog.chapters() if "volume" not in pair[1].fields]:
        series, chapter = pick(chapters, which)
        version = new_chapter(catalog, series, how)
        version.fields.pop("volume", None)
        version.fields["number"] = chapter.fields["number"]
        if "id" in chapter.fields and how % 2:
            version.fields["id"], chapter.fields["id"] = chapter.fields["id"], catalog.next_id()
        series.chapters.append(version)


@edit
def remove_chapter(catalog: Catalog, which: int, how: int) -> None:
    series, chapter = catalog.some_chapter(which)
    if len(catalog.chapters()) > 3:
        series.chapters.remove(chapter)


@edit
def group_chapter(catalog: Catalog, which: int, how: int) -> None:
    references = [pick((group["name"], group["id"]), which) for group in catalog.lists["groups.yaml"]]
    catalog.some_chapter(which)[1].fields["groups"] = references[: how % 3]


@edit
def identify_chapter(catalog: Catalog, which: int, how: int) -> None:
    """Set an id, or another one, or remove it."""
    fields = catalog.some_chapter(which)[1].fields
    fields["id"] = catalog.next_id() + pick((0, 2_147_400_000), how)
    if how % 3 == 2:
        del fields["id"]


@edit
def swap_chapter_ids(catalog: Catalog, which: int, how: int) -> None:
    chapters = catalog.with_id()
    if chapters:
        chapter, other = pick(chapters, which), pick(chapters, which + how)
        chapter["id"], other["id"] = other["id"], chapter["id"]


@edit
def move_chapter(catalog: Catalog, which: int, how: int) -> None:
    """Move a chapter into another volume, or out of all."""
    series, chapter = catalog.some_chapter(which)
    volume = pick((None, 1, 2, 999_999_999), how)
    chapter.fields["number"] = series.free_number(volume)
    chapter.fields["volume"] = volume
    if volume is None:
        del chapter.fields["volume"]


@edit
def give_chapter_away(catalog: Catalog, which: int, how: int) -> None:
    """Move a chapter into another series; it keeps its id."""
    series, chapter = catalog.some_chapter(which)
    other = catalog.some_series(how)
    series.chapters.remove(chapter)
    chapter.fields["number"], chapter.file = other.free_number(chapter.fields.get("volume")), None
    other.chapters.append(chapter)


@edit
def part_chapter(catalog: Catalog, which: int, how: int) -> None:
    """Move a chapter into a file of its own; its series becomes a folder."""
    if chapters := [pair for pair in catalog.chapters() if pair[1].file is None]:
        series, chapter = pick(chapters, which)
        series.folder, chapter.file = True, free_file(series)


@edit
def join_chapter(catalog: Catalog, which: int, how: int) -> None:
    """Move a chapter from a file of its own into the file of the series."""
    if chapters := [chapter for _, chapter in catalog.chapters() if chapter.file is not None]:
        pick(chapters, which).file = None


@edit
def rename_chapter_file(catalog: Catalog, which: int, how: int) -> None:
    if chapters := [pair for pair in catalog.chapters() if pair[1].file is not None]:
        series, chapter = pick(chapters, which)
        chapter.file = free_file(series)


def free_file(series: Series) -> str:
    taken = {chapter.file for chapter in series.chapters}
    return next(name for name in (f"{n:03}.yaml" for n in range(99)) if name not in taken)


# People, groups, members and categories. Files of series change only if they refer to an entry by its name.


@edit
def staff_group(catalog: Catalog, which: int, how: int) -> None:
    if groups := catalog.lists["groups.yaml"]:
        staff = [
            {"member": pick((member["name"], member["id"]), how), "role": "R"}
            for member in catalog.lists["members.yaml"]
        ]
        pick(groups, which)["members"] = staff[: how % 3]


def add(catalog: Catalog, name: str, how: int) -> None:
    number = catalog.next_id()
    entry = {"id": f"c{number}" if name == "categories.yaml" else number, "name": f"Person {number}"}
    catalog.lists[name].insert(how % (len(catalog.lists[name]) + 1), entry)


def remove(catalog: Catalog, name: str, how: int) -> None:
    if entries := catalog.lists[name]:
        catalog.drop(name, pick(entries, how))


def rename(catalog: Catalog, name: str, how: int) -> None:
    if entries := catalog.lists[name]:
        catalog.rename(name, pick(entries, how), f"Renamed {catalog.next_id()}")


def swap(catalog: Catalog, name: str, how: int) -> None:
    """Swap the names of two entries: every reference by name leads to the other one."""
    if entries := catalog.lists[name]:
        entry, other = pick(entries, how), pick(entries, how + 1)
        entry["name"], other["name"] = other["name"], entry["name"]


def in_list(change: Callable[[Catalog, str, int], None], names: tuple[str, ...]) -> Edit:
    return lambda catalog, which, how: change(catalog, pick(names, which), how)


for names in PEOPLE, ("groups.yaml", "members.yaml"), ("categories.yaml",):
    EDITS |= {f"{change.__name__}_in_{names[0]}": in_list(change, names) for change in (add, remove, rename, swap)}


# Single fields. Those of the site are settings.


DATES = (iso(AS_OF - 2000 * DAY + 1), None, *(iso(AS_OF + days * DAY + 1) for days in (-100, -1, 400)))
ALIASES = ([], ["Alias"], ["Alias", "Other"])
# The values that each field may have; None removes it.
FIELDS: dict[str, dict[str, tuple[Any, ...]]] = {
    "site": {
        "media": ("/media/", "/img/", "https://media.example/"),
        "reader": ("/reader/", "/read/"),
        "base_url": ("https://edited.example", "https://other.example"),
        "page_size": (2, 1, 3, 5),
        "hide_licensed": (False, True),
        "cache": tuple({version: {kind: 60}, "errors": 5} for version, kind in AGES),
        "restricted": ([], ["/members", "/series"], ["/chapters/{id}"], ["/cubari/{slug}", "/pages"]),
        "pages": (True, False),
        "title": ("Tin & Moon", "Moon"),
        "language": ("de", "pt-BR"),
        "layout": ("strip", "paged", "double"),
        "page_ratio": (0.5, 2),
        "port": (8001, 8002),
    },
    "series": {
        "title": TITLES[:-1],
        "cover": ("c.png", "d e.png", "https://covers.example/c.png"),
        "chapter_title": ("{series} {number}", "{title}", "{date}: {title}"),
        "description": ("", "word " * 100, "word " * 400),
        "status": ("ongoing", "canceled"),
        "aliases": ALIASES,
        "restricted": (False, True),
        "modified": DATES,
    },
    "chapter": {
        "title": TITLES,
        "pages": PAGES,
        "published": tuple(iso(AS_OF + delay) for delay in (-DAY, -DAY + 1, HOUR, 30 * DAY, -900 * DAY)),
        "final": (False, True),
        "views": (0, 1, 700),
        "modified": DATES,
    },
    "authors.yaml": {"aliases": ALIASES, "modified": DATES},
    "artists.yaml": {"aliases": ALIASES, "modified": DATES},
    "groups.yaml": {"website": ("https://group.example/1", "https://group.example/2"), "logo": ("l.png", "m.png")},
    "members.yaml": {"twitter": ("member1", "member2")},
    "categories.yaml": {"description": ("", "word " * 100)},
}


def set_field(kind: str, name: str) -> Edit:
    def change(catalog: Catalog, which: int, how: int) -> None:
        match kind:
            case "site":
                records = [catalog.site]
            case "series":
                records = [catalog.series[slug].fields for slug in sorted(catalog.series)]
            case "chapter":
                records = [chapter.fields for _, chapter in catalog.chapters()]
            case _:
                records = catalog.lists[kind]
        if records:
            fields = pick(records, which)
            values = FIELDS[kind][name]
            chosen = pick(values, how)
            fields[name] = chosen if fields.get(name) != chosen else pick(values, how + 1)
            if fields[name] is None:
                del fields[name]

    return change


EDITS |= {f"{kind}: {name}": set_field(kind, name) for kind, fields in FIELDS.items() for name in fields}


# Views, keys and accounts


@edit
def count_views(catalog: Catalog, which: int, how: int) -> None:
    """Set the views of a chapter, of an id without a chapter, or remove all views."""
    ids = [*(chapter["id"] for chapter in catalog.with_id()), 9_999]
    catalog.views[pick(ids, which)] = how
    if how % 5 == 4:
        catalog.views.clear()


@edit
def add_key(catalog: Catalog, which: int, how: int) -> None:
    name = f"key {catalog.next_id()}"
    catalog.lists["keys.yaml"].append({"name": name, "sha256": hashlib.sha256(name.encode()).hexdigest()})


@edit
def revoke_key(catalog: Catalog, which: int, how: int) -> None:
    if keys := catalog.lists["keys.yaml"]:
        keys.remove(pick(keys, which))


@edit
def add_account(catalog: Catalog, which: int, how: int) -> None:
    name = f"{('user', 'Üser@', 'User.')[how % 3]}{catalog.next_id()}"
    catalog.lists["accounts.yaml"].append({"username": name, "bookmarks": [catalog.some_slug(which)]})


@edit
def change_account(catalog: Catalog, which: int, how: int) -> None:
    if accounts := catalog.lists["accounts.yaml"]:
        pick(accounts, which).update(bio=f"Reads {how}", bookmarks=[catalog.some_slug(how)])


@edit
def remove_account(catalog: Catalog, which: int, how: int) -> None:
    if accounts := catalog.lists["accounts.yaml"]:
        account = pick(accounts, which)
        accounts.remove(account)
        keys = catalog.lists["keys.yaml"]
        keys[:] = [key for key in keys if key.get("account") != account["username"]]


# Files without their contents


@edit
def touch_file(catalog: Catalog, which: int, how: int) -> None:
    catalog.touch(pick(sorted(catalog.written), which), WRITTEN + 991 * how)


@edit
def write_again(catalog: Catalog, which: int, how: int) -> None:
    """Write the same text with another time, every second time into a new inode."""
    path = pick(sorted(catalog.written), which)
    catalog.put(path, catalog.written[path])


@edit
def stop_clock(catalog: Catalog, which: int, how: int) -> None:
    """Let changed files keep their times until the clock goes on."""
    catalog.still = not catalog.still


# Mistakes


@mistake
def name_unknown_person(catalog: Catalog, which: int, how: int) -> None:
    catalog.wrong["series/wrong.yaml"] = 'title: Wrong\ncover: c.png\nauthors: ["Ada Pen"]\n'


@mistake
def lose_a_list(catalog: Catalog, which: int, how: int) -> None:
    """Files that refer to its entries are unchanged and valid by themselves."""
    catalog.wrong[pick(sorted(LISTS), which)] = pick(("[]\n", None), how)


@mistake
def repeat_an_id(catalog: Catalog, which: int, how: int) -> None:
    if chapters := catalog.with_id():
        chapter = {"id": pick(chapters, which)["id"], "number": "1", "published": "2026-01-01", "pages": []}
        catalog.wrong["series/wrong.yaml"] = f"title: Wrong\ncover: c.png\nchapters:\n{item(chapter)}"


@mistake
def repeat_a_number(catalog: Catalog, which: int, how: int) -> None:
    """In two files of one series, each valid by itself."""
    slug = catalog.some_slug(which)
    in_volumes = [chapter for chapter in catalog.series[slug].chapters if "volume" in chapter.fields]
    if catalog.series[slug].folder and in_volumes:
        fields = {**pick(in_volumes, how).fields, "title": "Again"}
        fields.pop("id", None)
        catalog.wrong[f"series/{slug}/chapters/wrong.yaml"] = block(fields)


@mistake
def differ_in_case(catalog: Catalog, which: int, how: int) -> None:
    catalog.wrong[f"series/{catalog.some_slug(which).swapcase()}.yaml"] = "title: Wrong\ncover: c.png\n"


@mistake
def break_yaml(catalog: Catalog, which: int, how: int) -> None:
    path, text = pick(sorted(catalog.files().items()), which)
    catalog.wrong[path] = text[: len(text) * (how % 12) // 12] + "\n: [{\n"


@mistake
def misspell_a_field(catalog: Catalog, which: int, how: int) -> None:
    path, text = pick(sorted((path, text) for path, text in catalog.files().items() if "series/" in path), which)
    catalog.wrong[path] = f"{text}licenced: true\n"


@mistake
def lose_a_file(catalog: Catalog, which: int, how: int) -> None:
    path = pick(sorted(path for path in catalog.files() if path.endswith(("series.yaml", "site.yaml"))), which)
    catalog.wrong[path] = None
