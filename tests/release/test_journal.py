"""The journal of releases, the command `releases`, and the order in which `rollback` goes back."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from generator.errors import FlatpanelError
from generator.pipeline.run import build
from generator.release import journal
from generator.release.journal import JournalEntry
from generator.review import verify_files
from tests.commands.test_cli import Run, outcome
from tests.conftest import AS_OF, Site, copy_of
from tests.review.test_repair import delete
from tests.support import tree_snapshot
from tests.support.incremental_pair import stray


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Site, list[str]]:
    site = copy_of("minimal", tmp_path_factory.mktemp("five"))
    site.write("site.yaml", "base_url: https://minimal.example\nkeep_releases: 5\n")
    return site, [publish(site, number) for number in range(5)]


@pytest.fixture
def five(built: tuple[Site, list[str]], tmp_path: Path) -> tuple[Site, list[str]]:
    """A site that keeps five releases, and the ids of its five releases, oldest first."""
    site, releases = built
    return Site(shutil.copytree(site.folder, tmp_path / "five", symlinks=True)), releases


def publish(site: Site, number: int) -> str:
    """Build a release with a series of its own."""
    tree_snapshot.write_series(site, f"Title {number}", volumes=1, others=[f"only-{number}"])
    return site.build(AS_OF + number).release


def lines(site: Site) -> list[JournalEntry]:
    return journal.parse(journal_of(site).read_bytes())


def journal_of(site: Site) -> Path:
    return site.folder / "dist/releases" / journal.FILE


def there(site: Site) -> set[str]:
    return {path.name for path in (site.folder / "dist/releases").iterdir() if path.is_dir()}


def test_each_rollback_goes_one_release_further_back(five: tuple[Site, list[str]]) -> None:
    """With five releases, four rollbacks reach the first, and all five stay complete."""
    site, releases = five
    for release in releases[-2::-1]:
        assert site.roll_back() == site.store.current() == release
        assert there(site) == set(releases)
        assert stray(site.store) == []

    with pytest.raises(FlatpanelError, match=r"no previous release; .*releases` lists"):
        site.roll_back()
    assert site.roll_back(releases[4]) == releases[4]
    assert site.roll_back() == releases[3]
    assert stray(site.store) == []


def test_build_after_rollbacks_continues_the_current_release(five: tuple[Site, list[str]]) -> None:
    """`rollback` from the new release skips releases that were rolled back; they are kept by the time they were last
    current.
    """
    site, (first, second, third, fourth, fifth) = five
    site.roll_back()
    site.roll_back()
    sixth = publish(site, 5)

    assert [sixth, *site.store.older()] == [sixth, third, fourth, fifth, second]
    assert there(site) == {sixth, third, fourth, fifth, second}
    assert (site.roll_back(), site.roll_back()) == (third, second)
    with pytest.raises(FlatpanelError, match="no previous release"):
        site.roll_back()
    assert site.roll_back(fifth[:8]) == fifth
    assert site.store.previous() == second
    assert first not in there(site)
    assert stray(site.store) == []


def test_build_after_reordering_rollbacks_keeps_bodies_of_kept_releases(site: Site) -> None:
    """Rollbacks change the order of releases, and with it the files that a build may remove."""
    site.write("site.yaml", "base_url: https://minimal.example\nkeep_releases: 5\n")
    cached = replace(site.options, cache=site.folder / "cache")
    releases = []
    for number, others in enumerate(([], ["shared"], ["shared", "more"], [])):
        tree_snapshot.write_series(site, f"Title {number}", volumes=1, others=others)
        releases.append(build(cached).release)
    site.roll_back(releases[1])
    site.roll_back(releases[3])
    site.write("site.yaml", "base_url: https://minimal.example\nkeep_releases: 3\n")
    tree_snapshot.write_series(site, "Title 5", volumes=1, others=[])
    last = build(cached).release

    assert there(site) == {last, releases[3], releases[1]}
    assert stray(site.store) == []


def test_release_published_twice_is_one_rollback_step(site: Site) -> None:
    """A setting that is changed and changed back gives the first release again; rollbacks do not loop."""
    first = site.build().release
    site.write("site.yaml", "base_url: https://minimal.example\ncache: {index: 5}\n")
    second = site.build().release
    site.write("site.yaml", "base_url: https://minimal.example\n")

    assert site.build().release == first != second
    assert site.roll_back() == second
    with pytest.raises(FlatpanelError, match="no previous release"):
        site.roll_back()


def test_journal_records_time_and_reason_of_each_release(site: Site) -> None:
    """One line per release, the current one last, and no pending entries after the commit."""
    tree_snapshot.first_version(site)
    first = site.build(AS_OF).release
    tree_snapshot.second_version(site)
    second = site.build(AS_OF + 60).release
    assert lines(site) == [
        JournalEntry(first, journal.BUILD, AS_OF, AS_OF),
        JournalEntry(second, journal.BUILD, AS_OF + 60, AS_OF + 60, (first,)),
    ]
    site.roll_back(at=AS_OF + 90)

    assert lines(site) == [
        JournalEntry(second, journal.BUILD, AS_OF + 60, AS_OF + 60, (first,)),
        JournalEntry(first, journal.ROLLBACK, AS_OF + 90, AS_OF),
    ]
    assert not any("pending" in json.loads(line) for line in journal_of(site).read_text().splitlines())


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-40])


def spoil(path: Path) -> None:
    path.write_bytes(b'[1]\n{"release":"../../x","reason":"build","at":1,"as_of":1,"before":[]}\n\xff\n{"release":3}\n')


def set_clocks(path: Path) -> None:
    path.write_text(path.read_text().replace('"at":1', '"at":2'))


@pytest.mark.parametrize("damage", [delete, cut, spoil, set_clocks])
def test_missing_or_damaged_journal_costs_only_times(
    five: tuple[Site, list[str]], run: Run, damage: Callable[[Path], None]
) -> None:
    """The `previous` links give the order, and the next build repairs the journal."""
    site, releases = five
    damage(journal_of(site))
    out = site.folder / "dist"

    assert [site.store.current(), *site.store.older()] == releases[::-1]
    listed = json.loads(run("releases", "--out", out, "--json").stdout)["releases"]
    assert [one["release"] for one in listed] == releases[::-1]
    assert listed[0]["time"] is None
    problem = f"{journal_of(site)}: is damaged; the next build or rollback rewrites it"
    assert stray(site.store) == [problem] * (damage is not delete)
    assert (site.roll_back(), site.roll_back()) == (releases[3], releases[2])
    sixth = publish(site, 5)
    assert [one.release for one in lines(site)] == [releases[1], releases[4], releases[3], releases[2], sixth]
    assert stray(site.store) == []


@pytest.mark.parametrize("number", [0, 2, 4], ids=["first", "middle", "last"])
def test_damaged_line_costs_only_the_time_of_its_release(five: tuple[Site, list[str]], number: int) -> None:
    """The links show its place in the order, so the next build does not remove it early."""
    site, releases = five
    written = journal_of(site).read_text().splitlines(keepends=True)
    written[number] = written[number].replace('"at":1', '"at":2')
    journal_of(site).write_text("".join(written))

    assert [site.store.current(), *site.store.older()] == releases[::-1]
    assert [one.release for one in site.store.journal() if one.at is None] == [releases[number]]
    sixth = publish(site, 5)
    assert [sixth, *site.store.older()] == [sixth, *releases[:0:-1]]
    assert stray(site.store) == []


NAME = "0123456789abcdef"


@pytest.mark.parametrize(
    "entry",
    [
        JournalEntry("../../elsewhere"),
        JournalEntry(NAME, before=("..",)),
        JournalEntry(NAME, at=253_402_300_800),
        JournalEntry(NAME, as_of=-1),
    ],
)
def test_line_that_no_build_writes_counts_as_missing(entry: JournalEntry) -> None:
    """A valid checksum does not make a path a release id, or an impossible time a date."""
    assert journal.parse(journal.dump([JournalEntry(NAME), entry])) == [JournalEntry(NAME)]


def test_pending_entry_of_a_killed_build_is_ignored(five: tuple[Site, list[str]]) -> None:
    """A build that is killed before it replaces `current` changes neither order nor times."""
    site, releases = five
    entries = site.store.journal()
    with journal_of(site).open("ab") as opened:
        opened.write(journal.dump([JournalEntry(releases[0], journal.BUILD, AS_OF + 9, AS_OF + 9, pending=True)]))

    assert site.store.journal() == entries


def test_link_replaced_by_hand_decides_the_current_release(five: tuple[Site, list[str]], run: Run) -> None:
    """`current` is authoritative, not the journal, and the other releases stay available."""
    site, releases = five
    link = site.folder / "dist/current"
    link.unlink()
    link.symlink_to(f"releases/{releases[1]}")

    listed = json.loads(run("releases", "--out", site.folder / "dist", "--json").stdout)["releases"]
    assert [(one["release"], one["reason"]) for one in listed] == [
        (releases[1], "unrecorded"),
        *((one, "build") for one in (releases[4], releases[3], releases[2], releases[0])),
    ]
    assert list(verify_files.check_files(site.store)) == []
    assert site.roll_back() == releases[0]
    assert site.roll_back(releases[4]) == releases[4]
    assert stray(site.store) == []


def test_releases_lists_ids_times_and_counts(five: tuple[Site, list[str]], run: Run) -> None:
    """The release that was current last comes first."""
    site, releases = five
    out = site.folder / "dist"
    tree_snapshot.first_version(site)
    big = site.build(AS_OF + 3600).release
    resources = len(site.manifest.resources)
    shown = outcome(run("releases", "--out", out))
    rows = [line.split() for line in shown[1].splitlines()]

    assert (shown[0], shown[2]) == (0, "")
    assert rows[0] == ["release", "time", "series", "chapters", "URLs"]
    assert rows[1] == [big, "2026-09-21T15:13:20Z", "2", "3", str(resources), "current"]
    assert [row[0] for row in rows[2:]] == releases[:0:-1]
    assert rows[2][1:4] == ["2026-09-21T14:13:24Z", "2", "1"]
    listed = json.loads(run("releases", "--out", out, "--json").stdout)
    keys = ("release", "time", "series", "chapters", "resources")
    assert [[str(one[key]) for key in keys] for one in listed["releases"]] == [row[:5] for row in rows[1:]]
    assert [one["current"] for one in listed["releases"]] == [True, *[False] * 4]


def test_rollback_accepts_the_beginning_of_an_id(five: tuple[Site, list[str]], run: Run) -> None:
    """The beginning must be unique; the current release and unknown ids are refused."""
    site, releases = five
    out = site.folder / "dist"
    before = tree_snapshot.state(site.folder)

    refused = {
        releases[4]: f"release {releases[4]} is already the current one",
        "zz": "no release id begins with 'zz'",
        "": f"'' matches {', '.join(releases)}; write more of the id",
    }
    for wanted, sentence in refused.items():
        result = run("rollback", wanted, "--out", out)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"{out}: {sentence}")
    assert tree_snapshot.state(site.folder) == before
    assert run("rollback", releases[0][:15], "--out", out, "--reopen").exit_code == 0
    assert site.store.current() == releases[0]


def test_ids_of_all_existing_releases_are_not_reused(site: Site, run: Run) -> None:
    """After two rollbacks, the release with the highest id is neither the current nor the previous one."""
    site.write("site.yaml", "base_url: https://minimal.example\nkeep_releases: 4\n")
    for volumes in (1, 2, 9):
        tree_snapshot.write_series(site, f"Title {volumes}", volumes=volumes, others=[])
        site.build()
    site.roll_back()
    site.roll_back()
    site.roll_back(site.store.older()[0])
    tree_snapshot.write_series(site, "Title", volumes=1, others=[])
    text = (site.folder / "catalog_src/series/first.yaml").read_text()
    site.write("series/first.yaml", text + "  - {number: 2, published: 2026-02-02T10:00:00Z, pages: [1.png]}\n")
    given = json.loads(run("ids", *tree_snapshot.options(site)[:4], "--json").stdout)["given"]

    assert [one["id"] for one in given] == [10]
