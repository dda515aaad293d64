"""`rollback` publishes the content of an earlier release with the API keys of the current one."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from generator import encoding
from generator.nginx import maps
from tests.commands.test_cli import Run, outcome
from tests.conftest import AS_OF, Site
from tests.support import nginx_client, tree_snapshot
from tests.support.incremental_pair import stray

OLD, NEW, NOOR, LENA = "the old key", "the new key", "the key of noor", "the key of lena"
SITE = "base_url: https://minimal.example\nkeep_releases: 5\n"


def keys(site: Site, **holders: str) -> None:
    """Write the keys of the catalog by name: the key, and after a slash its account."""
    lines = []
    for name, value in holders.items():
        key, _, account = value.partition("/")
        owner = f", account: {account}" if account else ""
        lines.append(f"- {{name: {name}, sha256: {digest(key)}{owner}}}\n")
    site.write("keys.yaml", "".join(lines) or "[]\n")


def digest(key: str) -> str:
    return encoding.sha256(key.encode())


def accounts(site: Site, *names: str) -> None:
    text = "".join(f"- {{username: {name}, modified: 2026-01-01T00:00:00Z}}\n" for name in names)
    site.write("accounts.yaml", text or "[]\n")


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
    """Two releases: the first has the old key, the second the new key and two keys with accounts."""
    site.write("site.yaml", SITE)
    accounts(site, "lena")
    title(site, "First")
    keys(site, old=OLD)
    first = site.build().release
    accounts(site, "lena", "noor")
    title(site, "Second")
    keys(site, new=NEW, lena=f"{LENA}/lena", noor=f"{NOOR}/noor")
    return site, first, site.build().release


def test_a_rollback_publishes_the_target_with_current_keys(two: tuple[Site, str, str], run: Run) -> None:
    """The new release has its own id; the target and every other release stay."""
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
        path: state for path, state in before.items() if "/" in path
    }
    old, new = (site.store.manifest(release) for release in (first, third))
    assert new.resources == old.resources
    assert {name for name in old.files if old.files[name] != new.files[name]} == {"keys.map", "keys.json"}
    assert stray(site.store) == []
    assert [third, *site.store.older()] == [third, second, first]


def test_the_same_rollback_gives_the_same_release(two: tuple[Site, str, str]) -> None:
    """The id is a digest of the content, so a repeated rollback makes no third release."""
    site, first, second = two
    third = site.roll_back()
    before = tree_snapshot.content(site.folder / "dist/releases" / third)
    fourth = site.roll_back(second)

    assert holders(site, fourth) == {digest(NEW): "=", digest(LENA): "=lena"}
    assert site.roll_back(first) == third
    assert tree_snapshot.content(site.folder / "dist/releases" / third) == before
    assert stray(site.store) == []


def test_after_a_rollback_with_other_keys_rollbacks_and_builds_continue(two: tuple[Site, str, str]) -> None:
    """The new release replaces its target: no rollback leads to the target itself."""
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


def test_ids_of_a_rolled_back_release_stay_used(two: tuple[Site, str, str]) -> None:
    """The new release has the ids of all releases, also if its manifest is the only one that is continued."""
    site, _, second = two
    tree_snapshot.write_series(site, "Third", volumes=9, others=["second"])
    keys(site, new=OLD)
    site.build()

    assert site.roll_back() != second
    assert site.manifest.highest_id == 9


def test_build_check_knows_the_ids_of_a_rolled_back_release(site: Site, run: Run) -> None:
    """With the catalog of the release before, a build makes a new release: one with the higher id."""
    catalog, chosen = site.folder / "catalog_src", [*tree_snapshot.options(site), "--as-of", AS_OF]
    shutil.copytree(catalog, site.folder / "former")
    site.build()
    tree_snapshot.write_series(site, "Third", volumes=9, others=["second"])
    site.build()
    site.roll_back()
    shutil.rmtree(catalog)
    (site.folder / "former").rename(catalog)
    checked = run("build", *chosen, "--check")
    before, after = site.store.current(), site.build().release

    assert (checked.exit_code, before != after) == (1, True)
    assert "a build would change the configuration" in checked.stderr
    assert run("build", *chosen, "--check").exit_code == 0


def test_build_check_knows_the_ids_of_the_current_release(site: Site, run: Run) -> None:
    """Also with `--previous`, whose release has lower ids, and if the older releases were removed."""
    chosen = [*tree_snapshot.options(site), "--as-of", AS_OF]
    previous = site.folder / "previous.json"
    shutil.copy(site.folder / "dist/releases" / site.build().release / "manifest.json", previous)
    tree_snapshot.write_series(site, "Third", volumes=9, others=["second"])
    site.build()
    tree_snapshot.write_series(site, "Third", volumes=2, others=["second"])
    run("build", *chosen, "--previous", previous)
    for release in site.store.older():
        shutil.rmtree(site.folder / "dist/releases" / release)

    assert site.manifest.highest_id == 9
    assert run("build", *chosen, "--previous", previous, "--check").exit_code == 0


def test_a_rollback_goes_past_releases_with_other_keys(two: tuple[Site, str, str], run: Run) -> None:
    """Only keys changed since the release before, so that it would be the current one again."""
    site, first, second = two
    site.write("keys.yaml", f"- name: new\n  sha256: {digest('new')}\n")
    site.build()
    result = run("rollback", "--out", site.folder / "dist", "--json", "--reopen")

    assert json.loads(result.stdout)["target"] == first, (second, result.output)


def test_a_target_that_is_the_current_release_with_other_keys_is_refused(two: tuple[Site, str, str], run: Run) -> None:
    """The result would be the current release."""
    site, first, _ = two
    third = site.roll_back()
    result = run("rollback", first, "--out", site.folder / "dist")

    assert outcome(result) == (
        1,
        "",
        f"{site.folder}/dist: release {third} is already the current one; it is release {first} with the current "
        "keys\n",
    )


def test_key_of_a_username_with_special_characters_follows_its_account(site: Site, run: Run) -> None:
    """The configuration has digests of such usernames; the warning has the username."""
    site.write("site.yaml", SITE)
    accounts(site, "Åse@mail.example", "ada", "Ada")
    title(site, "First")
    first = site.build().release
    accounts(site, "Åse@mail.example", "ada", "Ada", "霧")
    names = {"a": "ada", "b": "Ada", "c": "Åse@mail.example", "d": "霧"}
    keys(site, **{name: f"{name}/'{username}'" for name, username in names.items()})
    site.build()
    before = holders(site)
    result = run("rollback", "--out", site.folder / "dist")

    assert result.stderr == f"warning: release {first} has no account 霧; 1 key left out\n"
    assert before.pop(digest("d")).startswith("=~")
    assert holders(site) == before
    assert len({*before.values()}) == 3


def restrict(site: Site) -> str:
    title(site, "Second", restricted="true")
    return "first: restricted"


def license(site: Site) -> str:
    title(site, "Second", licensed="true")
    return "first: licensed"


def remove(site: Site) -> str:
    tree_snapshot.write_series(site, "Second", volumes=2, others=["second"])
    (site.folder / "catalog_src/series/first.yaml").unlink()
    return "first: no longer published"


def remove_a_chapter(site: Site) -> str:
    tree_snapshot.write_series(site, "Second", volumes=1, others=["second"])
    return "first: 1 chapter no longer published"


def rename(site: Site) -> str:
    """A new slug cannot be distinguished from another series."""
    title(site, "Second", slug="other")
    return "first: no longer published"


def close_a_route(site: Site) -> str:
    site.write("site.yaml", f"{SITE}restricted: [/groups, '/chapters/{{id}}/pages']\n")
    return "/api/v2/groups: restricted\n  first: restricted"


CLOSINGS = [restrict, license, remove, remove_a_chapter, rename, close_a_route]


@pytest.mark.parametrize("close", CLOSINGS)
def test_a_rollback_that_reopens_content_needs_reopen(site: Site, run: Run, close: Callable[[Site], str]) -> None:
    """`rollback` lists the content and changes nothing; with --reopen it continues."""
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
    # The rollback to the newer release serves less, or serves it under another slug.
    assert run("rollback", second, "--out", out, *["--reopen"] * (close is rename)).exit_code == 0


@pytest.mark.parametrize(
    ("file", "text", "edited", "named"),
    [
        ("members.yaml", "- {id: 5, name: Jun}\n", "[]\n", "/api/v2/members/5: no longer published"),
        (
            "series/first.yaml",
            "number: 2, published: 2026",
            "number: 2, published: 2096",
            "first: 1 chapter no longer ",
        ),
    ],
)
@pytest.mark.parametrize("licensed", ["false", "true"])
def test_people_and_licensed_chapters_that_were_removed_need_reopen(
    licensed: str, file: str, text: str, edited: str, named: str, site: Site, run: Run
) -> None:
    """Of a licensed series, version 2 has neither chapter; the older versions have both."""
    site.write("site.yaml", SITE)
    title(site, "First", licensed=licensed)
    path = site.folder / "catalog_src" / file
    if file == "members.yaml":
        path.write_text(text)
    site.build()
    path.write_text(path.read_text().replace(text, edited))
    site.build()
    result = run("rollback", "--out", site.folder / "dist")

    assert (result.exit_code, f"\n  {named}" in result.stderr) == (1, True), result.stderr


def test_a_removed_page_of_the_theme_needs_reopen(site: Site, run: Run) -> None:
    """A page of the program is no text of the owner, also where `reader` of site.yaml names it."""
    title(site, "First")
    (site.folder / "theme").mkdir()
    (site.folder / "theme/about.md").write_text("# About")
    site.write("site.yaml", f"{SITE}pages: true\nreader: /read/\n")
    site.build()
    (site.folder / "theme/about.md").unlink()
    site.write("site.yaml", f"{SITE}pages: true\nreader: /books/\nshelf: false\n")
    site.build()
    result = run("rollback", "--out", site.folder / "dist", "--json")

    assert json.loads(result.stdout)["message"].splitlines()[1:] == ["  /about/: no longer published"]


def hide_what_is_licensed(site: Site) -> None:
    site.write("site.yaml", f"{SITE}hide_licensed: true\n")


def restrict_what_is_licensed(site: Site) -> None:
    title(site, "First", licensed="true", restricted="true")


@pytest.mark.parametrize("close", [hide_what_is_licensed, restrict_what_is_licensed])
def test_a_series_hidden_from_old_api_versions_is_closed(site: Site, run: Run, close: Callable[[Site], None]) -> None:
    """Version 2 served nothing of a licensed series, but the older versions did."""
    site.write("site.yaml", SITE)
    title(site, "First", licensed="true")
    site.build()
    close(site)
    site.build()

    result = run("rollback", "--out", site.folder / "dist")
    assert result.exit_code == 1
    assert result.stderr.endswith(":\n  first: no longer in /api and /api/v1\n")


def test_pages_of_a_series_that_older_api_versions_hide_are_opened_without_reopen(site: Site, run: Run) -> None:
    """The series was not in these versions before either."""
    hidden = f"{SITE}hide_licensed: true\n"
    site.write("site.yaml", f"{hidden}pages: true\n")
    title(site, "First", licensed="true")
    site.build()
    site.write("site.yaml", hidden)
    site.build()

    assert run("rollback", "--out", site.folder / "dist").exit_code == 0


@pytest.mark.parametrize("file", ["www", "validators.map", "http.conf"])
def test_an_incomplete_release_is_not_served_again(site: Site, run: Run, file: str) -> None:
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


def test_content_that_was_closed_in_the_target_needs_no_reopen(site: Site, run: Run) -> None:
    """Restricted and licensed series of the target may be missing now."""
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


def test_a_revoked_key_stays_revoked_after_a_rollback(tmp_path: Path, site: Site, run: Run) -> None:
    """nginx refuses the key of the target that was revoked since, and accepts the current key."""
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
            nginx.reload()
            assert json.loads(nginx.ask("/api/v2/series/first").body)["title"] == "First"
            assert [nginx.ask(url, X_API_Key=key).status for key in (OLD, NEW)] == [401, 200]
