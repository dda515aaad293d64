"""Catalogs of any size, the same ones for the same numbers."""

from pathlib import Path

PEOPLE = 200
CATEGORIES = ("action", "comedy", "drama", "mystery", "quiet")


def write(folder: Path, *, series: int, chapters: int, pages: int = 20) -> int:
    """A catalog with so many series of so many chapters each; answers with its size in bytes."""
    (folder / "series").mkdir(parents=True)
    files = {"site.yaml": "base_url: https://bench.example\n"}
    files |= {
        f"{kind}.yaml": "".join(f"- {{id: {one}, name: {kind} {one}}}\n" for one in range(1, PEOPLE + 1))
        for kind in ("authors", "artists", "groups")
    }
    files["categories.yaml"] = "".join(f"- {{id: {one}, name: {one.title()}}}\n" for one in CATEGORIES)
    files |= {f"series/series-{one:05}.yaml": one_series(one, chapters, pages) for one in range(series)}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return sum(map(len, files.values()))


def one_series(number: int, chapters: int, pages: int) -> str:
    person = number % PEOPLE + 1
    head = (
        f"title: Series {number}\naliases: [Alias {number}, 別名 {number}]\ndescription: Number {number} of many.\n"
        f"authors: [{person}]\nartists: [{person}]\ncategories: [{CATEGORIES[number % len(CATEGORIES)]}]\n"
        f"cover: cover.jpg\nmodified: 2026-01-01T00:00:00Z\nchapters:\n"
    )
    return head + "".join(chapter(number * chapters + one + 1, one + 1, person, pages) for one in range(chapters))


def chapter(identity: int, number: int, group: int, pages: int) -> str:
    names = "".join(f"      - page-{page:03}-{identity}.jpg\n" for page in range(1, pages + 1))
    day = f"2025-{number % 12 + 1:02}-{number % 28 + 1:02}"
    return (
        f"  - id: {identity}\n    volume: {(number - 1) // 10 + 1}\n    number: {number}\n"
        f"    title: What happened in chapter {number}\n    published: {day}T12:00:00Z\n"
        f"    modified: 2026-01-01T00:00:00Z\n    groups: [{group}]\n    pages:\n{names}"
    )
