"""`rollback` publishes what an earlier release had, and lets in only who is let in today."""

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from generator import encoding
from generator.nginx import maps
from tests.commands.test_cli import Run, outcome
from tests.commands.test_releases import answers, settle
from tests.conftest import Site
from tests.support import nginx_client, tree_snapshot
from tests.support.incremental_pair import stray

OLD, NEW, NOOR, LENA = "the old key", "the new key", "the key of noor", "the key of lena"
SITE = "base_url: https://minimal.example\nkeep_releases: 5\n"


def keys(site: Site, **holders: str) -> None:
    """The keys of the catalog by name: the key itself, and behind a slash its account."""
    lines = []
    for name, said in holders.items():
        key, _, account = said.partition("/")
        owner = f", account: {account}" if account else ""
        lines.append(f"- {{name: {name}, sha256: {digest(key)}{owner}}}\n")
    site.write("keys.yaml", "".join(lines) or "[]\n")


def digest(key: str) -> str:
    return encoding.sha256(key.encode())


def accounts(site: Site, *names: str) -> None:
    said = "".join(f"- {{username: {name}, modified: 2026-01-01T00:00:00Z}}\n" for name in names)
    site.write("accounts.yaml", said or "[]\n")


def title(site: Site, text: str, *, restricted: str = "false", licensed: str = "false", slug: str = "first") -> None:
    tree_snapshot.write_series(site, text, volumes=2, others=["second"])
    path = site.folder / "catalog_src/series/first.yaml"
    site.write(f"series/{slug}.yaml", f"restricted: {restricted}\nlicensed: {licensed}\n{path.read_text()}")
    if slug != "first":
        path.unlink()


def holders(site: Site, release: str | None = None) -> dict[str, str]:
    folder = site.folder / "dist/releases" / (release or str(site.store.current()))
    return maps.parse((folder / "keys.map").read_bytes())


@pytest.fixture
def two(site: Site) -> tuple[Site, str, str]:
    """Two releases: the old key counts in the first, in the second the new one and two with accounts."""
    site.write("site.yaml", SITE)
    accounts(site, "lena")
    title(site, "First")
    keys(site, old=OLD)
    first = site.build().release
    accounts(site, "lena", "noor")
    title(site, "Second")
    keys(site, new=NEW, lena=f"{LENA}/lena", noor=f"{NOOR}/noor")
    return site, first, site.build().release


def test_a_rollback_publishes_the_target_with_the_keys_of_today(two: tuple[Site, str, str], run: Run) -> None:
    """Under an id of its own; the target and every other release stay as they were, and nothing is collected."""
    site, first, second = two
    out = site.folder / "dist"
    before = tree_snapshot.state(out / "releases")
    result = run("rollback", "--out", out)
    third = str(site.store.current())

    assert (result.exit_code, result.stdout) == (
        0,
        f"{out}: release {first} is current again as {third}, with the keys of release {second};"
        " reload nginx to serve it\n",
    )
    assert "release " + first + " has no account noor; 1 key left out" in result.stderr
    assert third not in (first, second)
    assert holders(site) == {digest(NEW): "=", digest(LENA): "=lena"}
    after = tree_snapshot.state(out / "releases")
    assert {path: after[path] for path in before if "/" in path} == {
        path: one for path, one in before.items() if "/" in path
    }
    old, new = (site.store.manifest(one) for one in (first, third))
    assert new.resources == old.resources
    assert {name for name in old.files if old.files[name] != new.files[name]} == {"keys.map"}
    assert stray(site.store) == []
    assert [third, *site.store.older()] == [third, second, first]


def test_the_same_rollback_gives_the_same_release(two: tuple[Site, str, str]) -> None:
    """The id is a digest of what the release holds, so going away and back again makes no third one."""
    site, first, second = two
    third = site.roll_back()
    before = tree_snapshot.content(site.folder / "dist/releases" / third)
    fourth = site.roll_back(second)

    assert holders(site, fourth) == {digest(NEW): "=", digest(LENA): "=lena"}
    assert site.roll_back(first) == third
    assert tree_snapshot.content(site.folder / "dist/releases" / third) == before
    assert stray(site.store) == []


def test_after_a_rollback_with_other_keys_the_steps_and_the_builds_go_on(two: tuple[Site, str, str]) -> None:
    """The release with the keys of today takes the place of its target: there is no step back to the target itself."""
    site, first, second = two
    third = site.roll_back()
    assert site.store.journal()[-1].before == ()
    title(site, "Third")
    fourth = site.build().release

    assert site.store.journal()[-1].before == (third,)
    assert site.store.older() == [third, second, first]
    assert stray(site.store) == []
    assert site.roll_back() == third != fourth
    assert holders(site) == {digest(NEW): "=", digest(LENA): "=lena"}


def test_an_id_of_a_release_that_was_taken_back_is_remembered(two: tuple[Site, str, str]) -> None:
    """The new release knows the ids of all releases, also where it is the only one that is handed on."""
    site, _, second = two
    tree_snapshot.write_series(site, "Third", volumes=9, others=["second"])
    keys(site, new=OLD)
    site.build()

    assert site.roll_back() != second
    assert site.manifest.highest_id == 9


def test_a_target_that_is_the_current_release_with_other_keys_is_refused(two: tuple[Site, str, str], run: Run) -> None:
    """There is nothing to do: what would be published is what is served."""
    site, first, _ = two
    third = site.roll_back()
    result = run("rollback", first, "--out", site.folder / "dist")

    assert outcome(result) == (
        1,
        "",
        f"{site.folder}/dist: release {third} is the current one; it is release {first} with other keys\n",
    )


def test_a_key_with_an_odd_owner_is_kept(site: Site) -> None:
    """Names of accounts with blanks, quotes and backslashes are read from the map as they were written."""
    lines = {"a" * 64: '=o"d d\\', "b" * 64: "=", "c" * 64: "=plain"}

    assert maps.parse(maps.dump(lines)) == lines


def restrict(site: Site) -> str:
    title(site, "Second", restricted="true")
    return "first: restricted"


def license(site: Site) -> str:
    title(site, "Second", licensed="true")
    return "first: licensed"


def license_and_hide(site: Site) -> str:
    site.write("site.yaml", f"{SITE}hide_licensed: true\n")
    return license(site)


def remove(site: Site) -> str:
    tree_snapshot.write_series(site, "Second", volumes=2, others=["second"])
    (site.folder / "catalog_src/series/first.yaml").unlink()
    return "first: not there any more"


def rename(site: Site) -> str:
    """Nothing tells the new slug from another series."""
    title(site, "Second", slug="other")
    return "first: not there any more"


def close_a_route(site: Site) -> str:
    site.write("site.yaml", f"{SITE}restricted: [/groups, '/chapters/{{id}}/pages']\n")
    return "/api/v2/groups: restricted\n  first: restricted"


CLOSINGS = [restrict, license, license_and_hide, remove, rename, close_a_route]


@pytest.mark.parametrize("close", CLOSINGS)
def test_what_was_closed_is_not_opened_without_a_word(site: Site, run: Run, close: Callable[[Site], str]) -> None:
    """`rollback` names it and changes nothing; with --reopen it goes on."""
    site.write("site.yaml", SITE)
    title(site, "First")
    first = site.build().release
    named = close(site)
    second = site.build().release
    out, before = site.folder / "dist", tree_snapshot.state(site.folder)

    assert outcome(run("rollback", "--out", out)) == (
        1,
        "",
        f"{out}: release {first} would make public what is restricted or removed now; use --reopen to continue:\n"
        f"  {named}\n",
    )
    refused = json.loads(run("rollback", "--out", out, "--json").stdout)
    assert (refused["ok"], refused["message"].splitlines()[1:]) == (False, [f"  {one}" for one in named.split("\n  ")])
    assert tree_snapshot.state(site.folder) == before
    done = run("rollback", "--out", out, "--reopen", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (
        0,
        {
            "ok": True,
            "release": first,
            "target": first,
            "reopened": dict(one.split(": ") for one in named.split("\n  ")),
            "keys_left_out": {},
            "before": second,
        },
    )
    assert stray(site.store) == []
    # And forward again, where less is served, or under another slug.
    assert run("rollback", second, "--out", out, *["--reopen"] * (close is rename)).exit_code == 0


def hide_what_is_licensed(site: Site) -> None:
    site.write("site.yaml", f"{SITE}hide_licensed: true\n")


def restrict_what_is_licensed(site: Site) -> None:
    title(site, "First", licensed="true", restricted="true")


@pytest.mark.parametrize("close", [hide_what_is_licensed, restrict_what_is_licensed])
def test_what_left_the_older_families_is_closed_too(site: Site, run: Run, close: Callable[[Site], None]) -> None:
    """v2 served nothing of a licensed series, but the older families did."""
    site.write("site.yaml", SITE)
    title(site, "First", licensed="true")
    site.build()
    close(site)
    site.build()

    result = run("rollback", "--out", site.folder / "dist")
    assert result.exit_code == 1
    assert result.stderr.endswith(":\n  first: not in /api and /api/v1 any more\n")


@pytest.mark.parametrize("file", ["www", "validators.map", "http.conf"])
def test_a_release_that_is_not_whole_is_not_served_again(site: Site, run: Run, file: str) -> None:
    """Neither without a body nor without a file of its own."""
    title(site, "First")
    first = site.build().release
    body = site.manifest.resources["/api/series/first"].file
    title(site, "Second")
    site.build()
    lost = f"releases/{first}/{file}" if file != "www" else body
    (site.folder / "dist" / lost).unlink()
    before = tree_snapshot.state(site.folder)

    assert outcome(run("rollback", "--out", site.folder / "dist")) == (
        1,
        "",
        f"{site.folder}/dist/{lost}: is missing, so release {first} cannot be served again\n",
    )
    assert tree_snapshot.state(site.folder) == before


def test_series_that_were_closed_before_open_nothing(site: Site, run: Run) -> None:
    """What only a key opened, and what was licensed, may go without a word."""
    site.write("site.yaml", f"{SITE}hide_licensed: true\n")
    title(site, "First", restricted="true")
    title_of_second = "title: second\ncover: c.png\nlicensed: true\nmodified: 2026-03-01T00:00:00Z\n"
    chapters = "chapters: [{id: 90, number: 1, published: 2026-02-02T10:00:00Z, pages: [1.png]}]\n"
    site.write("series/second.yaml", title_of_second + chapters)
    site.build()
    for path in (site.folder / "catalog_src/series").iterdir():
        path.unlink()
    site.build()

    assert run("rollback", "--out", site.folder / "dist").exit_code == 0


def test_a_revoked_key_opens_nothing_after_a_rollback(tmp_path: Path, site: Site, run: Run) -> None:
    """nginx refuses the key that the target knew and the current release does not, and takes the one of today."""
    with nginx_client.listening() as listener:
        site.write("site.yaml", f"{SITE}port: {listener.getsockname()[1]}\n")
        title(site, "First", restricted="true")
        keys(site, old=OLD)
        site.build()
        title(site, "Second", restricted="true")
        keys(site, new=NEW)
        site.build()
        with nginx_client.running(site.folder, listener) as nginx:
            url = "/api/v2/series/first/chapters"
            assert [nginx.ask(url, X_API_Key=key).status for key in (OLD, NEW)] == [401, 200]
            assert run("rollback", "--out", site.folder / "dist").exit_code == 0
            nginx.process.send_signal(signal.SIGHUP)
            settle(nginx, answers(site, "/api/v2/series/first", "/api/series"))
            assert json.loads(nginx.ask("/api/v2/series/first").body)["title"] == "First"
            assert [nginx.ask(url, X_API_Key=key).status for key in (OLD, NEW)] == [401, 200]
