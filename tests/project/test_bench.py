"""The bench works, with catalogs of two series. No test depends on speed."""

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from urllib.parse import parse_qs

import pytest

from bench import __main__ as program
from bench import (
    bodies,
    building,
    catalogs,
    edge,
    edits,
    load,
    machine,
    maps,
    parsing,
    report,
    requests,
    scale,
    search,
    servers,
    soak,
    starting,
    worst,
)
from bench.program import Site
from bench.report import Figure, Findings, Series
from tests.support import linked_catalog, tree_snapshot
from tests.support.edge_servers import needs_edge_runtimes


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Two series of two chapters, built. Measurements add files, and change none."""
    small = Site(tmp_path_factory.mktemp("bench"), 2, 2)
    small.write()
    small.build()
    return small


def nothing(_: str) -> None:
    """Discard progress messages."""


def test_equal_numbers_give_equal_catalogs(tmp_path: Path) -> None:
    """Results of different days can be compared. All series and chapters are published."""
    sizes = [catalogs.write(tmp_path / name, series=2, chapters=3) for name in ("one", "two")]

    assert tree_snapshot.content(tmp_path / "one") == tree_snapshot.content(tmp_path / "two")
    assert sizes == [sum(path.stat().st_size for path in (tmp_path / "one").rglob("*.yaml"))] * 2
    catalog = linked_catalog.read_catalog(tmp_path / "one", as_of=1_780_000_000)
    assert [len(series.chapters) for series in catalog.series] == [3, 3]


def test_filters_use_values_of_the_catalogs() -> None:
    """Filters without results would be too fast, and so would repeated queries."""
    queries = [parse_qs(query) for kind in search.TARGETS for query in search.queries(kind, 60, 7)]

    assert [len({str(query) for query in queries[start : start + 60]}) for start in (0, 60, 120)] == [60, 60, 60]
    assert {query["status"][0] for query in queries if "status" in query} <= set(catalogs.STATUSES)


@pytest.mark.bench
def test_worst_queries_are_measured(site: Site) -> None:
    """Each query has its expected status and fits a request line."""
    findings = worst.measure(site, 1, nothing)

    assert [series.name for series in findings.series] == [f"a list: {name}" for name in worst.QUERIES]
    assert all(value > 0 for series in findings.series for value in series.values)
    assert all(len(query) <= worst.LENGTH for query, _ in worst.QUERIES.values())


def test_unexpected_status_ends_a_measurement(site: Site) -> None:
    """A wrong response may be fast."""
    with servers.nginx("the release", site.folder, servers.RELEASE) as server, pytest.raises(SystemExit):
        worst.milliseconds(server, "/api/v2/series?page=0", 200)


def test_ratios_are_computed_within_a_round() -> None:
    """A round that is ten times as slow changes nothing."""
    assert median(report.ratios([1, 20, 2], [1, 10, 1])) == 2


def test_tables_show_figures_and_measurements() -> None:
    """A figure has its target and whether it is met; measurements have a table of their own."""
    figures = [Figure("rebuild", [0.2, 0.25, 0.5], "≤", 0.4, "s"), Figure("hot", [2]), Figure("cold", [0.5], "≥", 0.9)]
    findings = Findings(figures, [Series("requests", [70_000, 60_000, 90_000], "/s")])
    lines = report.markdown(["- a machine"], findings).splitlines()

    assert "| rebuild | 0.25 s | 0.2 s – 0.5 s | ≤ 0.4 s | met |" in lines
    assert "| hot | 2 | 2 | none |  |" in lines
    assert "| cold | 0.5 | 0.5 | ≥ 0.9 | **missed** |" in lines
    assert f"| requests | {median((70_000, 60_000, 90_000)):,} /s | 60,000 /s | 90,000 /s |" in lines


@pytest.mark.bench
def test_starting_measures_short_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each figure has one measurement for each run; the copy of the example is removed."""
    monkeypatch.setattr(starting, "RUNS", 2)
    findings = starting.measure(tmp_path, 1, nothing)

    assert [figure.name for figure in findings.figures] == ["the help", "build of the example with nothing changed"]
    assert [len(series.values) for series in findings.series] == [2] * 6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.bench
def test_building_is_measured(tmp_path: Path) -> None:
    """All figures of builds are present, and the catalog is unchanged."""
    small = Site(tmp_path, 2, 1)
    small.write()
    before = tree_snapshot.content(small.catalog)
    findings = building.measure(small, 1, nothing)

    assert len(findings.figures) == 9
    assert all(value > 0 for series in findings.series for value in series.values)
    assert tree_snapshot.content(small.catalog) == before
    assert parsing.seconds(small.catalog) > 0


@pytest.mark.bench
def test_edits_are_measured(tmp_path: Path) -> None:
    """As a command, while the catalog is watched, and the floor of both."""
    findings = edits.measure(Site(tmp_path, 1, 1), 1, nothing)

    assert [series.name.partition(": ")[2] for series in findings.series] == [
        "an edit as a command",
        "last write to first new response",
        "floor of both",
    ]
    assert all(value > 0 for series in findings.series for value in series.values)


@pytest.mark.bench
def test_cost_of_a_url_is_measured(site: Site) -> None:
    """Memory and time come from a real nginx; with so few URLs, their values are arbitrary."""
    assert len(maps.measure(site, 1, nothing).figures) == 2


def test_servers_give_equal_responses(site: Site) -> None:
    """All have the expected status for every request: 200, compressed or not, or 304 for their own ETags."""
    listed = bodies.mixed(site.dist)
    bodies.link_plainly(listed, site.folder)
    inside = {"release": servers.RELEASE, "bare": servers.BARE, "cached": servers.CACHED}
    for name, configuration in inside.items():
        with servers.nginx(name, site.folder, configuration) as server:
            for asked in requests._mixes(site.folder, name, listed, bare=name != "release").values():
                load.check(server, asked)
            fresh = load.Request(listed[0].path, (("If-None-Match", "*"),))
            with pytest.raises(SystemExit, match="status 304 instead of 200"):
                load.check(server, load.mix(site.folder / "wrong.list", [fresh]))


needs_wrk = pytest.mark.skipif(not load.have_wrk(), reason="wrk is not installed")


@pytest.mark.bench
@needs_wrk
def test_requests_are_measured(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind is compared with both bare servers; with so few URLs and rounds, the values are arbitrary.

    One kind of each measurement: wrk takes a second for each kind and server.
    """
    monkeypatch.setattr(requests, "KINDS", requests.KINDS[:1])
    monkeypatch.setattr(search, "TARGETS", dict([*search.TARGETS.items()][-1:]))
    figures = requests.measure(site, 1, 1, nothing).figures

    assert len([figure for figure in figures if figure.measured > 0]) >= 2 * len(requests.KINDS)
    assert [figure.measured > 0 for figure in search.measure(site, 1, 1, nothing).figures] == [True] * 2


@pytest.mark.bench
@needs_edge_runtimes
@needs_wrk
def test_workerd_is_measured(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A packed release and the hello world answer 200 to every request; with so few URLs, values are arbitrary."""
    monkeypatch.setattr(edge, "KINDS", edge.KINDS[:1])
    findings = edge.measure(site, 1, 1, nothing)

    assert [figure.measured > 0 for figure in findings.figures] == [True]
    assert len(findings.remarks) == 1


def test_missing_workerd_is_a_remark(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other parts of the bench are measured without it."""
    monkeypatch.setattr(edge, "find_workerd", lambda: None)
    findings = edge.measure(site, 1, 1, nothing)

    assert (findings.figures, len(findings.remarks)) == ([], 1)


def test_ended_children_belong_to_the_bench() -> None:
    """Only the time of other processes makes figures doubtful."""
    own, busy = machine.own_seconds(), machine.busy_seconds()
    loop = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", loop], check=True)

    # Both clocks are read in steps.
    assert machine.own_seconds() - own > 0.25
    assert machine.busy_seconds() - busy > 0.1


@pytest.mark.skipif(not importlib.util.find_spec("fastapi"), reason="FastAPI is installed for the bench only")
def test_python_server_evaluates_conditions(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server that a release is compared with has the same validators."""
    body = bodies.mixed(site.dist)[0]
    (site.folder / "bodies").write_text(f"{body.path}\t{body.etag}\t{body.file}\n")
    monkeypatch.setenv("BENCH_BODIES", str(site.folder / "bodies"))
    app = importlib.import_module("bench.app")
    prepared = app.ANSWERS[body.path]

    assert prepared.etag == f'"{body.etag}"'
    assert app.is_fresh(prepared, f'"other", W/{prepared.etag}', None)
    assert app.is_fresh(prepared, None, prepared.modified)
    assert not app.is_fresh(prepared, '"other"', prepared.modified)
    assert not app.is_fresh(prepared, None, "yesterday")


@pytest.mark.parametrize(
    ("arguments", "message"), [(["--series", "100000000", "--only", "maps"], "is too small"), (["--only", "x"], "2")]
)
def test_impossible_measurement_is_refused(arguments: Sequence[str], message: str, tmp_path: Path) -> None:
    """A message ends the bench before the first build."""
    with pytest.raises(SystemExit, match=message):
        program.main([*arguments, "--results", str(tmp_path / "results.md")])

    assert not (tmp_path / "results.md").exists()


@pytest.mark.bench
def test_results_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`python -m bench` prints the text that it writes, with the machine."""
    results = tmp_path / "results.md"
    program.main(["--series", "2", "--chapters", "1", "--rounds", "1", "--only", "maps", "--results", str(results)])

    assert capsys.readouterr().out == results.read_text(encoding="utf-8") + "\n"
    assert f"Python {sys.version.split()[0]}" in results.read_text(encoding="utf-8")


@pytest.mark.bench
def test_scale_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two catalogs are measured, a third is computed; with so few chapters, the values are arbitrary."""
    results = tmp_path / "results.md"
    results.write_text("# Results\n\n## Scale\n\nold\n")
    arguments = ["--chapters", "50", "100", "--computed", "200", "--folder", str(tmp_path), "--results", str(results)]
    scale.main(arguments)
    text = results.read_text(encoding="utf-8")

    assert text == f"# Results\n\n{capsys.readouterr().out.removesuffix(chr(10))}"
    assert "| | 50 chapters | 100 chapters | 200 chapters, computed |" in text
    assert [text.count(f"\n| {row} | ") for row in scale.ROWS] == [1] * len(scale.ROWS)


def test_larger_catalog_is_on_the_line_of_two_measured_ones() -> None:
    """Three times the difference of the smallest and the largest, from the largest."""
    columns = {size: dict.fromkeys(scale.ROWS, float(value)) for size, value in ((10, 100), (15, 900), (20, 110))}

    assert set(scale.computed(columns, 50).values()) == {140}


def test_other_results_keep_the_scale(tmp_path: Path) -> None:
    """A run of the other parts writes what is before the section."""
    results = tmp_path / "results.md"

    assert report.keep_section(results, "new\n") == "new\n"
    results.write_text("old\n\n## Scale\n\ntable\n")
    assert report.keep_section(results, "new\n") == "new\n\n## Scale\n\ntable\n"


def test_soak_compares_the_end_with_the_start() -> None:
    """The first rounds do not count, a single outlier is ignored, and growth is detected."""
    rounds = [1, 5, 9, 100, 100, 100, 900, 100, 101]

    assert soak.flat([(size, size) for size in rounds])
    assert not soak.flat([(size, size) for size in (100, 100, 100, 100, 110, 120, 130, 140, 150)])
    assert not soak.flat([(size, size * 1.2) for size in rounds])


@pytest.mark.bench
def test_soak_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """All kinds of requests, held connections, releases and reloads; so short a run measures nothing."""
    monkeypatch.setattr(soak, "flat", lambda sizes: len(sizes) == 4 and min(sizes) > (0, 0))
    soak.main(["--minutes", "0", "--rounds", "4", "--series", "2", "--requests", "70"])

    assert capsys.readouterr().out.startswith("rounds, each with a reload: 4\n")


def test_soak_with_too_few_rounds_is_refused() -> None:
    """No round would count."""
    with pytest.raises(SystemExit, match="more --rounds"):
        soak.main(["--rounds", "3"])
