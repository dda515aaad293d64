"""Removals: every build names what is no longer published, and `--max-removed` limits it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

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
    site.write("site.yaml", "base_url: https://minimal.example\nhide_licensed: true\n")
    for path in (site.folder / "catalog_src/series").iterdir():
        path.unlink()
    for index, slug in enumerate(("alpha", "beta")):
        write(site, slug, {str(number): 10 * index + number for number in range(1, 5)})
    write(site, "gamma", dict.fromkeys("1234"))
    return site


def remove(site: Site, slug: str) -> None:
    (site.folder / f"catalog_src/series/{slug}.yaml").unlink()


ALL = {str(number): number for number in range(1, 5)}
WITHOUT_IDS = dict.fromkeys(ALL)
# Removed series, written series with the arguments of `write`, and the series and chapters that are named.
CASES: dict[str, tuple[list[str], dict[str, tuple[Any, ...]], dict[str, int], list[str]]] = {
    "a removed series": (["alpha"], {}, {"alpha": 4}, []),
    "a removed series without ids": (["gamma"], {}, {"gamma": 4}, []),
    "removed chapters": (
        [],
        {"alpha": ({"1": 1, "4": 4},), "gamma": (dict.fromkeys("123"),)},
        {},
        ["alpha/1/2", "alpha/1/3", "gamma/1/4"],
    ),
    "scheduled": ([], {"alpha": (ALL, "", FUTURE)}, {}, [f"alpha/1/{number}" for number in ALL]),
    "new ids for two chapters, without the others": (
        [],
        {"gamma": ({"1": 31, "2": 32},)},
        {},
        ["gamma/1/3", "gamma/1/4"],
    ),
    # The URLs of the series change, its chapters keep their ids.
    "renamed": (["alpha"], {"omega": (ALL,)}, {"alpha": 0}, []),
    "redirected": (["alpha"], {"omega": (ALL, "formerly: [alpha]\n")}, {}, []),
    # The numbers of its chapters decide.
    "redirected without ids": (
        ["gamma"],
        {"omega": (dict.fromkeys("123"), "formerly: [gamma]\n")},
        {},
        ["gamma/1/4"],
    ),
    "renumbered": ([], {"alpha": ({f"{number}.5": id for number, id in ALL.items()},)}, {}, []),
    "other ids": ([], {"alpha": ({number: 90 + id for number, id in ALL.items()},)}, {}, []),
    "moved to another series": (
        [],
        {"alpha": ({"1": 1},), "beta": ({"1": 11, "2": 12, "3": 13, "4": 14, "12": 2, "13": 3, "14": 4},)},
        {},
        [],
    ),
    "restricted": ([], {"alpha": (ALL, "restricted: true\n"), "gamma": (WITHOUT_IDS, "restricted: true\n")}, {}, []),
    "licensed": ([], {"alpha": (ALL, "licensed: true\n"), "gamma": (WITHOUT_IDS, "licensed: true\n")}, {}, []),
    "another title": ([], {"alpha": (ALL, "description: Changed.\n")}, {}, []),
}


@pytest.mark.parametrize("name", sample([*CASES], 3))
def test_removals_are_named(full: Site, run: Run, tmp_path: Path, name: str) -> None:
    """Compared with the current release, and with the manifest of one that was published elsewhere."""
    removed, written, series, chapters = CASES[name]
    options = options_of(full, tmp_path, previous=True)
    for slug in removed:
        remove(full, slug)
    for slug, arguments in written.items():
        write(full, slug, *arguments)
    plain = json.loads(run("build", *options, "--json").stdout)["no_longer_published"]

    counts = {"series": len(series), "chapters": len(chapters) + sum(series.values())}
    advice = plain.pop("advice", [])
    assert len(advice) == (name == "renamed")
    assert plain == {
        "counts": counts,
        "series": [{"series": slug, "chapters": count} for slug, count in series.items()],
        "chapters": chapters,
    }
    for here in (counts, {"series": 0, "chapters": 0}):
        again = json.loads(run("build", *tree_snapshot.options(full), "--json").stdout)["no_longer_published"]
        assert again["counts"] == here


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
    remove(full, "alpha")
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
        remove(full, slug)
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


@pytest.mark.parametrize(
    ("heir", "similar", "of_beta"), [("Alpha", "Alpha", ""), ("omega", "ALPHA", "formerly: [ALPHA]\n")]
)
def test_no_old_slug_is_advised_that_differs_only_in_case(
    full: Site, run: Run, heir: str, similar: str, of_beta: str
) -> None:
    """The catalog would be refused."""
    full.build()
    remove(full, "alpha")
    write(full, heir, ALL)
    write(full, "beta", {"1": 11}, of_beta)
    advice = f"the old URLs cannot redirect: the slug {similar} differs from alpha only in case\n"

    assert (
        f"  series/{heir}.yaml has 4 chapters of alpha; {advice}" in run("build", *tree_snapshot.options(full)).stdout
    )


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
        remove(full, f"short-{number:02}")
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
    remove(full, "alpha")
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
    remove(full, "alpha")
    before = tree_snapshot.state(full.folder / "dist")

    assert run("build", *tree_snapshot.options(full), "--no-cache", "--max-removed", 20).exit_code == 1
    assert tree_snapshot.state(full.folder / "dist") == before


def test_a_refused_build_keeps_the_existing_cache(full: Site, run: Run) -> None:
    """The build that is allowed later parses nothing again."""
    options = [option for option in tree_snapshot.options(full) if option != "--no-cache"]
    run("build", *options)
    remove(full, "alpha")
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
