"""Generates catalogs of any size; the same numbers give the same catalog."""

from pathlib import Path

# Authors, artists and groups each, in a catalog with at least as many series.
PEOPLE = 200
CATEGORIES = ("action", "comedy", "drama", "fantasy", "horror", "mystery", "quiet", "romance", "school", "travel")
STATUSES = ("ongoing", "completed", "hiatus", "canceled")
FIRST = (
    "Paper",
    "Silent",
    "Copper",
    "Midnight",
    "Borrowed",
    "Northern",
    "Gentle",
    "Hollow",
    "Second",
    "Winter",
    "Glass",
)
SECOND = ("Moons", "Harbor", "Orchard", "Engine", "Letters", "Garden", "Ferry", "Lantern", "Choir", "Atlas")
GIVEN = ("Mira", "Ines", "Tomas", "Yuki", "Ada", "Olu", "Noor", "Jonas", "Lucia", "Wen", "Petra")
FAMILY = ("Okafor", "Halloway", "Castellane", "Brandt", "Tanaka", "Silva", "Moreau", "Lindqvist", "Adeyemi", "Novak")


def write(folder: Path, *, series: int, chapters: int, pages: int = 20) -> int:
    """Write a catalog; return its size in bytes."""
    people = min(series, PEOPLE)
    (folder / "series").mkdir(parents=True)
    files = {"site.yaml": "base_url: https://bench.example\n"}
    for kind in ("authors", "artists", "groups"):
        lines = (f"- {{id: {one}, name: {person(one)}, {MADE}}}\n" for one in range(1, people + 1))
        files[f"{kind}.yaml"] = "".join(lines)
    files["categories.yaml"] = "".join(f"- {{id: {one}, name: {one.title()}, {MADE}}}\n" for one in CATEGORIES)
    size = 0
    for name, text in files.items():
        size += (folder / name).write_bytes(text.encode())
    for number in range(series):
        text = one_series(number, chapters, pages, people)
        size += (folder / "series" / f"{slug(number)}.yaml").write_bytes(text.encode())
    return size


MADE = "modified: 2026-01-01T00:00:00Z"


def slug(number: int) -> str:
    return f"series-{number:05}"


def person(number: int) -> str:
    return f"{GIVEN[number % len(GIVEN)]} {FAMILY[number // len(GIVEN) % len(FAMILY)]} {number}"


def title(number: int) -> str:
    return f"{FIRST[number % len(FIRST)]} {SECOND[number // len(FIRST) % len(SECOND)]} {number}"


def one_series(number: int, chapters: int, pages: int, people: int) -> str:
    one = number % people + 1
    categories = sorted({CATEGORIES[number * step % len(CATEGORIES)] for step in (1, 3, 7)})
    head = (
        f"title: {title(number)}\naliases: [Alias {number}, 別名 {number}]\ndescription: Number {number} of many.\n"
        f"authors: [{one}]\nartists: [{one}]\ncategories: [{', '.join(categories)}]\n"
        f"status: {STATUSES[number % len(STATUSES)]}\ncover: cover.jpg\n{MADE}\nchapters:\n"
    )
    return head + "".join(
        chapter(number * chapters + one, one, number % people + 1, pages) for one in range(1, chapters + 1)
    )


def chapter(identity: int, number: int, group: int = 1, pages: int = 20) -> str:
    names = "".join(f"      - page-{page:03}-{identity}.jpg\n" for page in range(1, pages + 1))
    day = f"2025-{number % 12 + 1:02}-{number % 28 + 1:02}"
    return (
        f"  - id: {identity}\n    volume: {(number - 1) // 10 + 1}\n    number: {number}\n"
        f"    title: What happened in chapter {number}\n    published: {day}T12:00:00Z\n"
        f"    {MADE}\n    groups: [{group}]\n    pages:\n{names}"
    )
