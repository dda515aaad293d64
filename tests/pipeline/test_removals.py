"""Removals: every build names what is no longer published, and `--max-removed` limits it."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.catalog.yaml import reader
from tests.commands.test_cli import Run
from tests.conftest import Site
from tests.support import tree_snapshot
from tests.support.runs import sample

CHAPTER = "  - {{{id}number: {number}, volume: 1, published: {published}, pages: [1.png]}}\n"
PAST, FUTURE = "2026-02-02T10:00:00Z", "2036-02-02T10:00:00Z"


def write(site: Site, slug: str, numbers: dict[str, int | None], more: str = "", published: str = PAST) -> None:
    """Write a series with chapters, with ids or without."""
    chapters = "".join(
        CHAPTER.format(id="" if chapter is None else f"id: {chapter}, ", number=number, published=published)
        for number, chapter in numbers.items()
    )
    listed = f"chapters:\n{chapters}" if chapters else ""
    site.write(f"series/{slug}.yaml", f"title: {slug}\ncover: c.png\n{more}{listed}")


@pytest.fixture
def full(site: Site) -> Site:
    """Three series with four chapters each; the chapters of the last have no ids."""
    for path in (site.folder / "catalog_src/series").iterdir():
        path.unlink()
    for index, slug in enumerate(("alpha", "beta")):
        write(site, slug, {str(number): 10 * index + number for number in range(1, 5)})
    write(site, "gamma", dict.fromkeys("1234"))
    return site


def remove_a_series(site: Site) -> None:
    (site.folder / "catalog_src/series/alpha.yaml").unlink()


def remove_a_series_without_ids(site: Site) -> None:
    (site.folder / "catalog_src/series/gamma.yaml").unlink()


def remove_chapters(site: Site) -> None:
    write(site, "alpha", {"1": 1, "4": 4})
    write(site, "gamma", dict.fromkeys("123"))


def schedule_them(site: Site) -> None:
    write(site, "alpha", {str(number): number for number in range(1, 5)}, published=FUTURE)


def identify_only_some(site: Site) -> None:
    """Give two chapters new ids, and remove all others."""
    write(site, "gamma", {"1": 31, "2": 32})


def rename_a_series(site: Site) -> None:
    """The URLs of the series change, its chapters keep their ids."""
    remove_a_series(site)
    write(site, "omega", {str(number): number for number in range(1, 5)})


def redirect_a_series(site: Site) -> None:
    """A rename of which the new file knows."""
    remove_a_series(site)
    write(site, "omega", {str(number): number for number in range(1, 5)}, "formerly: [alpha]\n")


def redirect_a_series_without_ids(site: Site) -> None:
    """The numbers of its chapters decide."""
    remove_a_series_without_ids(site)
    write(site, "omega", dict.fromkeys("123"), "formerly: [gamma]\n")


def renumber(site: Site) -> None:
    write(site, "alpha", {f"{number}.5": number for number in range(1, 5)})


def give_other_ids(site: Site) -> None:
    write(site, "alpha", {str(number): 90 + number for number in range(1, 5)})


def move_to_another_series(site: Site) -> None:
    write(site, "alpha", {"1": 1})
    beta = {str(number): 10 + number for number in range(1, 5)}
    write(site, "beta", {**beta, "12": 2, "13": 3, "14": 4})


def restrict(site: Site) -> None:
    write(site, "alpha", {str(number): number for number in range(1, 5)}, "restricted: true\n")
    write(site, "gamma", dict.fromkeys("1234"), "restricted: true\n")


def license(site: Site) -> None:
    site.write("site.yaml", "base_url: https://minimal.example\nhide_licensed: true\n")
    write(site, "alpha", {str(number): number for number in range(1, 5)}, "licensed: true\n")
    write(site, "gamma", dict.fromkeys("1234"), "licensed: true\n")


def change_nothing_but_a_title(site: Site) -> None:
    path = site.folder / "catalog_src/series/alpha.yaml"
    path.write_text(path.read_text().replace("title: alpha", "title: Alpha"))


CASES: list[tuple[Callable[[Site], None], dict[str, int], list[str]]] = [
    (remove_a_series, {"alpha": 4}, []),
    (remove_a_series_without_ids, {"gamma": 4}, []),
    (remove_chapters, {}, ["alpha/1/2", "alpha/1/3", "gamma/1/4"]),
    (schedule_them, {}, ["alpha/1/1", "alpha/1/2", "alpha/1/3", "alpha/1/4"]),
    (identify_only_some, {}, ["gamma/1/3", "gamma/1/4"]),
    (rename_a_series, {"alpha": 0}, []),
    (redirect_a_series, {}, []),
    (redirect_a_series_without_ids, {}, ["gamma/1/4"]),
    (renumber, {}, []),
    (give_other_ids, {}, []),
    (move_to_another_series, {}, []),
    (restrict, {}, []),
    (license, {}, []),
    (change_nothing_but_a_title, {}, []),
]


@pytest.mark.parametrize("previous", [False, True])
@pytest.mark.parametrize(
    ("change", "series", "chapters"), sample(CASES, 3), ids=lambda value: getattr(value, "__name__", None)
)
def test_removals_are_named(
    full: Site,
    run: Run,
    tmp_path: Path,
    previous: bool,
    change: Callable[[Site], None],
    series: dict[str, int],
    chapters: list[str],
) -> None:
    """Compared with the current release, or with the manifest of one that was published elsewhere."""
    options = options_of(full, tmp_path, previous=previous)
    change(full)
    plain = json.loads(run("build", *options, "--json").stdout)["no_longer_published"]

    counts = {"series": len(series), "chapters": len(chapters) + sum(series.values())}
    advice = plain.pop("advice", [])
    assert len(advice) == (change is rename_a_series)
    assert plain == {
        "counts": counts,
        "series": [{"series": slug, "chapters": count} for slug, count in series.items()],
        "chapters": chapters,
    }
    again = json.loads(run("build", *tree_snapshot.options(full), "--json").stdout)["no_longer_published"]
    assert again["counts"] == ({"series": 0, "chapters": 0} if not previous else counts)


def test_removed_ids_of_people_and_groups_are_named(full: Site, run: Run, tmp_path: Path) -> None:
    """As chapters are; a renamed entry keeps its id. They count for no limit."""
    lists = ("authors", "artists", "groups", "members")
    for name in lists:
        full.write(f"{name}.yaml", "".join(f"- {{id: {id}, name: {name} {id}}}\n" for id in range(1, 41)))
    full.build()
    for name in lists:
        full.write(f"{name}.yaml", "- {id: 1, name: Renamed}\n")
    plain = [*tree_snapshot.options(full), "--no-cache", "--max-removed", 0]
    trial = [*plain, "--out", tmp_path / "d", "--nginx", tmp_path / "n", "--previous", full.folder / "dist"]
    removed = json.loads(run("build", *trial, "--json").stdout)["no_longer_published"]
    none = {"counts": {"series": 0, "chapters": 0}, "series": [], "chapters": []}
    assert removed == none | {name: list(range(2, 22)) for name in lists}
    lines = run("build", *plain).stdout.splitlines()
    start = lines.index("no longer published: 39 authors, 39 artists, 39 groups and 39 members")
    assert lines[start + 1] == "  author authors 2, id 2" and lines[start + 80] == "  member members 21, id 21"
    assert lines[start + 81] == "  and 76 more"
    (full.folder / "catalog_src/members.yaml").unlink()
    remove_a_series(full)
    assert "no longer published: 1 series, 4 chapters and 1 member\n" in run("build", *plain[:-2]).stdout


def test_names_of_removed_people_are_public(full: Site, run: Run, tmp_path: Path) -> None:
    """A name that needs an API key is left out, and so is one whose body is not beside the copied manifest."""
    full.write("authors.yaml", "- {id: 7, name: Ada}\n")
    full.write("artists.yaml", "- {id: 8, name: Kay}\n")
    site = full.folder / "catalog_src/site.yaml"
    site.write_text(site.read_text() + 'restricted: ["/artists/{id}"]\n')
    options = options_of(full, tmp_path, previous=True)
    for name in ("authors", "artists"):
        full.write(f"{name}.yaml", "")
    assert "  author, id 7\n  artist, id 8\n" in run("build", *options).stdout
    assert "  author Ada, id 7\n  artist, id 8\n" in run("build", *tree_snapshot.options(full)).stdout


def options_of(site: Site, folder: Path, *, previous: bool) -> list[object]:
    """Options of a build that continues the current release: in its folder, or in an empty one."""
    site.build()
    options = [*tree_snapshot.options(site), "--no-cache"]
    if previous:
        manifest = folder / "last.json"
        manifest.write_bytes((site.folder / "dist/current/manifest.json").read_bytes())
        out, nginx = folder / "elsewhere/dist", folder / "elsewhere/nginx.conf"
        options += ["--out", out, "--nginx", nginx, "--previous", manifest]
    return options


ADVICE = "  {} has {} of {}; if only the slug changed, write there: formerly: [{}]\n"


def test_line_for_an_old_slug_is_printed(full: Site, run: Run) -> None:
    """With the file that has most chapters, and the old slugs that it has; words of YAML are quoted."""
    write(full, "alpha", {"1": 1, "2": 2})
    full.write(
        "series/null.yaml",
        "title: Zero\ncover: c.png\nchapters:\n" + CHAPTER.format(id="id: 3, ", number=1, published=PAST),
    )
    full.build()
    for slug in ("alpha", "null"):
        (full.folder / f"catalog_src/series/{slug}.yaml").unlink()
    write(full, "omega/series", {"1": 1, "3": 3}, "formerly: [oldest]\n")
    write(full, "beta", {"1": 11, "2": 12, "3": 13, "4": 14, "5": 2})
    printed = run("build", *tree_snapshot.options(full)).stdout

    assert (
        "no longer published: 2 series and 0 chapters\n"
        "  alpha, with 0 chapters\n"
        "  null, with 0 chapters\n"
        + ADVICE.format("series/omega/series.yaml", "1 chapter", "alpha", "oldest, alpha")
        + ADVICE.format("series/omega/series.yaml", "1 chapter", "null", 'oldest, "null"')
    ) in printed


def test_line_for_an_old_slug_is_correct(full: Site, run: Run) -> None:
    """After it is written, the old slug is no longer missing, and the build says nothing about it."""
    full.build()
    rename_a_series(full)
    options = tree_snapshot.options(full)
    assert ADVICE.format("series/omega.yaml", "4 chapters", "alpha", "alpha") in run("build", *options).stdout
    write(full, "omega", {str(number): number for number in range(1, 5)}, "formerly: [alpha]\n")

    assert "no longer published" not in run("build", *options).stdout
    assert b"/api/series/alpha " in (full.folder / "dist/current/redirects.map").read_bytes()


def test_chapters_of_a_restricted_series_are_named_by_their_ids(full: Site, run: Run) -> None:
    """The older API versions, whose URLs have numbers, do not have them."""
    write(full, "alpha", {"1": 1, "2": 2}, "restricted: true\n")
    full.build()
    write(full, "alpha", {"1": 1}, "restricted: true\n")

    assert (
        "no longer published: 0 series and 1 chapter\n  alpha, id 2\n"
        in run("build", *tree_snapshot.options(full)).stdout
    )


VERSION = "  - {{id: {id}, number: {number}, published: 2026-02-02T10:00:00Z, pages: [1.png]}}\n"


@pytest.mark.end_to_end
@pytest.mark.parametrize(
    ("before", "after", "removed"),
    [
        ([(1, 1), (2, 2), (3, 2)], [(1, 1), (3, 2)], ["first, id 2"]),
        ([(1, 1), (2, 2), (3, 2)], [(1, 1), (2, 2)], ["first, id 3"]),
        ([(1, 1), (2, 2), (3, 2)], [(2, 2), (3, 2)], ["first, id 1"]),
        ([(1, 1), (2, 2), (3, 2)], [(1, 1), (2, 2), (4, 2)], ["first, id 3"]),
        ([(1, 1), (2, 2), (3, 2)], [(1, 1), (2, 2), (3, 3)], []),
        ([(1, 1), (2, 2)], [(1, 1), (2, 2), (3, 2)], []),
        ([(1, 1), (2, 2)], [(1, 1), (3, 2), (4, 2)], []),
    ],
)
def test_removed_version_is_named_by_its_id(
    site: Site, run: Run, before: list[tuple[int, int]], after: list[tuple[int, int]], removed: list[str]
) -> None:
    """The URLs with a number do not show which of the chapters that share it is missing."""
    for number, chapters in enumerate((before, after)):
        listed = "".join(VERSION.format(id=id, number=number) for id, number in chapters)
        site.write(
            "series/first.yaml", f"title: First {number}\ncover: c.png\nmodified: 2026-02-02\nchapters:\n{listed}"
        )
        plain = json.loads(run("build", *tree_snapshot.options(site), "--json").stdout)

    assert plain["no_longer_published"]["chapters"] == removed


def test_twenty_removals_are_named(full: Site, run: Run, tmp_path: Path) -> None:
    """All others are counted: on the terminal, on the page and in JSON."""
    write(full, "alpha", {str(number): number for number in range(100, 150)})
    for number in range(25):
        write(full, f"short-{number:02}", {})
    full.build()
    write(full, "alpha", {"100": 100})
    for number in range(25):
        (full.folder / f"catalog_src/series/short-{number:02}.yaml").unlink()
    page = tmp_path / "page.html"
    lines = run("build", *tree_snapshot.options(full), "--report", page).stdout.splitlines()

    start = lines.index("no longer published: 25 series and 49 chapters")
    assert lines[start + 1] == "  short-00, with 0 chapters"
    assert lines[start + 21] == "  alpha/1/101"
    assert lines[start + 41] == "  and 34 more"
    shown = page.read_text()
    assert "No longer published: 25 series and 49 chapters" in shown
    assert "alpha/1/101" in shown and "and 34 more" in shown


@pytest.mark.parametrize("remembering", [False, True])
@pytest.mark.parametrize("previous", [False, True])
def test_a_build_that_removes_too_much_writes_nothing(
    full: Site, run: Run, tmp_path: Path, previous: bool, remembering: bool
) -> None:
    """Exit code 1, the removals and the option; no file, folder or time changes."""
    options = options_of(full, tmp_path, previous=previous)
    if remembering:
        options.remove("--no-cache")
    remove_a_series(full)
    write(full, "gamma", dict.fromkeys("123"))
    before = tree_snapshot.state(full.folder)
    result = run("build", *options, "--max-removed", 20)

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        f"{full.folder}/catalog_src: 1 series and 5 chapters would no longer be published: 40.0 % of the release"
        " before, and --max-removed allows 20 %; nothing was written",
        "  alpha, with 4 chapters",
        "  gamma/1/4",
        "restore them, or allow it with a higher --max-removed",
    ]
    after = tree_snapshot.state(full.folder)
    after["."] = before["."]
    assert after == before
    assert not (tmp_path / "elsewhere").exists()
    assert json.loads(run("build", *options, "--max-removed", 20, "--json").stdout)["ok"] is False
    assert run("build", *options, "--max-removed", 40).exit_code == 0


def test_a_refused_build_leaves_the_leftovers_of_a_killed_one(full: Site, run: Run) -> None:
    """Removing them would be a change, too."""
    full.build()
    (full.folder / "dist/.flatpanel").write_text("unfinished\n")
    (full.folder / "dist/www/.0123456789abcdef0123456789abcdef").write_text("of a body")
    remove_a_series(full)
    before = tree_snapshot.state(full.folder / "dist")

    assert run("build", *tree_snapshot.options(full), "--no-cache", "--max-removed", 20).exit_code == 1
    assert tree_snapshot.state(full.folder / "dist") == before


def test_a_refused_build_keeps_the_existing_cache(full: Site, run: Run) -> None:
    """The build that is allowed later parses nothing again."""
    options = [option for option in tree_snapshot.options(full) if option != "--no-cache"]
    run("build", *options)
    remove_a_series(full)
    cache = full.folder / ".flatpanel_cache/cache.sqlite"
    before = cache.read_bytes()

    assert run("build", *options, "--max-removed", 0).exit_code == 1
    assert cache.read_bytes() == before
    assert run("build", *options, "--max-removed", 100).exit_code == 0


def test_two_removals_are_always_allowed(full: Site, run: Run) -> None:
    """Fewer than three are allowed at any percentage, and so is a first build."""
    options = tree_snapshot.options(full)
    assert run("build", *options, "--max-removed", 0).exit_code == 0
    write(full, "alpha", {"1": 1, "2": 2})
    assert run("build", *options, "--max-removed", 0).exit_code == 0
    write(full, "beta", {"1": 11})
    assert run("build", *options, "--max-removed", 0).exit_code == 1


def test_check_and_max_removed_exclude_each_other(full: Site, run: Run) -> None:
    """A check writes nothing anyway."""
    result = run("build", *tree_snapshot.options(full), "--check", "--max-removed", 5)

    assert result.exit_code == 2
    assert "--check writes nothing" in result.stderr


@pytest.mark.parametrize(("given", "wanted"), [("", "20"), ("0", "0"), ("75", "75")])
def test_the_workflow_allows_20_percent_by_default(tmp_path: Path, run: Run, given: str, wanted: str) -> None:
    """A manual run may set another percentage; pushes and scheduled runs do not."""
    assert run("init", tmp_path / "mine").exit_code == 0
    workflow = reader.load((tmp_path / "mine/.github/workflows/publish.yml").read_bytes())
    (step,) = (one for one in workflow["jobs"]["publish"]["steps"] if one.get("name") == "Build")
    program = tmp_path / "bin/flatpanel"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$@" >> told\n')
    program.chmod(0o755)
    (tmp_path / "dist").mkdir()
    (tmp_path / "nginx.conf").touch()
    environment = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(tmp_path), "MAX_REMOVED": given}
    subprocess.run(["bash", "-eo", "pipefail", "-c", step["run"]], cwd=tmp_path, env=environment, check=True)

    assert workflow["on"]["workflow_dispatch"]["inputs"]["max_removed"]["type"] == "number"
    assert step["env"] == {"MAX_REMOVED": "${{ inputs.max_removed }}"}
    assert f"--max-removed {wanted}" in (tmp_path / "told").read_text().splitlines()[0]
