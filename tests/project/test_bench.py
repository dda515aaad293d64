"""The bench works, on catalogs of two series. How fast anything is, no test says."""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from urllib.parse import parse_qs

import pytest

from bench import __main__ as program
from bench import bodies, building, catalogs, load, maps, parsing, report, search, servers, soak, worst
from bench.program import Site
from bench.report import Figure, Findings, Series
from tests.support import linked_catalog, tree_snapshot


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Two series of two chapters, built."""
    small = Site(tmp_path, 2, 2)
    small.write()
    small.build()
    return small


def nothing(_: str) -> None:
    """Progress that nobody looks at."""


def test_catalogs_are_the_same_for_the_same_numbers(tmp_path: Path) -> None:
    """Results of two days can be compared, because what was built is the same."""
    sizes = [catalogs.write(tmp_path / name, series=2, chapters=3) for name in ("one", "two")]

    assert tree_snapshot.content(tmp_path / "one") == tree_snapshot.content(tmp_path / "two")
    assert sizes == [sum(path.stat().st_size for path in (tmp_path / "one").rglob("*.yaml"))] * 2


def test_catalogs_are_as_large_as_asked_for(tmp_path: Path) -> None:
    """Every series and chapter that is counted is published."""
    catalogs.write(tmp_path / "catalog", series=3, chapters=4)
    found = linked_catalog.read_catalog(tmp_path / "catalog", as_of=1_780_000_000)

    assert [len(one.chapters) for one in found.series] == [4, 4, 4]


def test_filters_are_of_what_the_catalogs_have() -> None:
    """Lists that are always empty would be quick."""
    asked = [parse_qs(one) for one in search.queries(60)]

    assert len(asked) == 60
    assert {one["status"][0] for one in asked if "status" in one} <= set(catalogs.STATUSES)


def test_the_worst_queries_are_answered(site: Site) -> None:
    """Each in its time and with its status, and every one is as long as a request line may be at most."""
    found = worst.measure(site, 1, nothing)

    assert [one.name for one in found.series] == [f"a list: {name}" for name in worst.QUERIES]
    assert all(value > 0 for one in found.series for value in one.values)
    assert all(len(query) <= worst.LENGTH for query, _ in worst.QUERIES.values())


def test_an_answer_of_another_status_is_no_measurement(site: Site) -> None:
    """What is fast and wrong must not be taken for fast."""
    with servers.nginx("the release", site.folder, servers.RELEASE) as server, pytest.raises(SystemExit):
        worst.milliseconds(server, "/api/v2/series?page=0", 200)


def test_a_figure_is_met_on_its_side_of_the_limit() -> None:
    """At most and at least are told apart, and the limit itself is good enough."""
    assert [Figure("", one, "≤", 2).met for one in (1, 2, 3)] == [True, True, False]
    assert [Figure("", one, "≥", 2).met for one in (1, 2, 3)] == [False, True, True]


def test_quotients_are_taken_within_a_round() -> None:
    """A round in which everything took ten times as long changes nothing."""
    assert report.ratio([1, 20, 2], [1, 10, 1]) == 2


def test_the_table_says_what_was_measured() -> None:
    """A figure, its target, and whether it was met; and what it was computed from."""
    found = Findings([Figure("rebuild", 0.25, "≤", 0.4, "s")], [Series("requests", [70_000, 60_000, 90_000], "/s")])
    lines = report.markdown(["- a machine"], found).splitlines()

    assert "| rebuild | 0.25 s | ≤ 0.4 s | met |" in lines
    assert f"| requests | {median((70_000, 60_000, 90_000)):,} /s | 60,000 /s | 90,000 /s |" in lines


def test_building_is_measured(tmp_path: Path) -> None:
    """All figures of builds are there, and the catalog is afterwards what it was."""
    small = Site(tmp_path, 2, 1)
    small.write()
    before = tree_snapshot.content(small.catalog)
    found = building.measure(small, 1, nothing)

    assert len(found.figures) == 8
    assert all(value > 0 for one in found.series for value in one.values)
    assert tree_snapshot.content(small.catalog) == before
    assert parsing.seconds(small.catalog) > 0


def test_what_a_url_costs_is_measured(site: Site) -> None:
    """Memory and time are read from a real nginx; of so few URLs they may be anything."""
    assert len(maps.measure(site, 1, nothing).figures) == 2


def test_servers_give_the_same_answers(site: Site) -> None:
    """Both are asked for every plain path, and for 304s by the tags that they give themselves."""
    found = bodies.mixed(site.dist)
    bodies.link_plainly(found, site.folder)
    for name, inside, tag in (
        ("release", servers.RELEASE, lambda one: f'"{one.tag}"'),
        ("bare", servers.BARE, lambda one: one.tag_of_nginx),
    ):
        plain = [load.Request(one.path) for one in found]
        fresh = [load.Request(one.path, (("If-None-Match", tag(one)),)) for one in found]
        with servers.nginx(name, site.folder, inside) as server:
            load.check(server, load.mix(site.folder / "plain.list", plain))
            load.check(server, load.mix(site.folder / "fresh.list", fresh, 304))
            with pytest.raises(SystemExit, match="with 304, not 200"):
                load.check(server, load.mix(site.folder / "wrong.list", fresh))


def test_filtered_lists_are_measured(site: Site) -> None:
    """wrk walks a list of requests, and none of them fails."""
    if not load.have_wrk():
        pytest.skip("wrk is not installed")

    assert [one.measured > 0 for one in search.measure(site, 1, 1, nothing).figures] == [True, True]


@pytest.mark.skipif(not importlib.util.find_spec("fastapi"), reason="FastAPI is only there for the bench")
def test_the_server_in_python_knows_conditions(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a release is compared with gives the same validators and judges them."""
    body = bodies.mixed(site.dist)[0]
    (site.folder / "bodies").write_text(f"{body.path}\t{body.tag}\t{body.file}\n")
    monkeypatch.setenv("BENCH_BODIES", str(site.folder / "bodies"))
    app = importlib.import_module("bench.app")
    one = app.ANSWERS[body.path]

    assert one.etag == f'"{body.tag}"'
    assert app.is_fresh(one, f'"other", W/{one.etag}', None)
    assert app.is_fresh(one, None, one.modified)
    assert not app.is_fresh(one, '"other"', one.modified)
    assert not app.is_fresh(one, None, "yesterday")


@pytest.mark.parametrize(
    ("arguments", "said"), [(["--series", "100000000", "--only", "maps"], "is too small"), (["--only", "x"], "2")]
)
def test_what_cannot_be_measured_is_refused(arguments: Sequence[str], said: str, tmp_path: Path) -> None:
    """In a sentence, before anything is built."""
    with pytest.raises(SystemExit, match=said):
        program.main([*arguments, "--results", str(tmp_path / "results.md")])

    assert not (tmp_path / "results.md").exists()


def test_results_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m bench` prints what it writes, and says on what machine that was."""
    results = tmp_path / "results.md"
    program.main(["--series", "2", "--chapters", "1", "--rounds", "1", "--only", "maps", "--results", str(results)])

    assert capsys.readouterr().out == results.read_text(encoding="utf-8") + "\n"
    assert f"Python {sys.version.split()[0]}" in results.read_text(encoding="utf-8")


def test_a_soak_is_flat_when_it_ends_as_it_began() -> None:
    """The first rounds do not count, one odd round says nothing, and growth is found."""
    rounds = [1, 5, 9, 100, 100, 100, 900, 100, 101]

    assert soak.flat([(one, one) for one in rounds])
    assert not soak.flat([(one, one) for one in (100, 100, 100, 100, 110, 120, 130, 140, 150)])
    assert not soak.flat([(one, one * 1.2) for one in rounds])


def test_a_soak_works(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """All kinds of requests, a crowd, releases and reloads; what it finds in so short a time means nothing."""
    monkeypatch.setattr(soak, "flat", lambda sizes: len(sizes) == 4 and min(sizes) > (0, 0))
    soak.main(["--minutes", "0", "--rounds", "4", "--series", "2", "--requests", "70"])

    assert capsys.readouterr().out.startswith("rounds, each with a reload: 4\n")


def test_a_soak_of_too_few_rounds_is_refused() -> None:
    """It would compare nothing with nothing."""
    with pytest.raises(SystemExit, match="more --rounds"):
        soak.main(["--rounds", "3"])
