"""`build --check`, `verify`, `releases`, `rollback` and `export`."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from generator.release import manifest
from tests.commands.test_cli import Run, outcome
from tests.conftest import Site, serving
from tests.support import nginx_client, tree_snapshot
from tests.support.tables import each

REMEDY = "restore the file, or remove dist/current to build a first release with new dates"


def test_build_check_passes_after_a_build(site: Site, run: Run) -> None:
    """It prints one line, or none with --quiet."""
    site.build()
    before = tree_snapshot.state(site.folder)

    assert outcome(run("build", *tree_snapshot.options(site), "--check")) == (0, "up to date\n", "")
    assert outcome(run("build", *tree_snapshot.options(site), "--check", "--quiet")) == (0, "", "")
    assert json.loads(run(*tree_snapshot.options(site), "--check", "--json").stdout) == {"ok": True, "outdated": []}
    assert tree_snapshot.state(site.folder) == before


BASE = "base_url: https://minimal.example\n"
REWRITTEN = "nginx.conf: is out of date: a build would rewrite it"
CHANGES: dict[str, tuple[Callable[[Site], object], str]] = {
    "the catalog": (
        tree_snapshot.first_version,
        "dist: is out of date: a build would change 48 URLs (12 added, 36 changed)",
    ),
    "an age": (
        lambda site: site.write("site.yaml", f"{BASE}cache: {{index: 5}}\n"),
        "dist: is out of date: a build would change the configuration",
    ),
    "the port": (lambda site: site.write("site.yaml", f"{BASE}port: 8001\n"), REWRITTEN),
    "the configuration": (lambda site: (site.folder / "nginx.conf").write_text("events {}"), REWRITTEN),
    "no configuration": (lambda site: (site.folder / "nginx.conf").unlink(), REWRITTEN),
    "no release": (
        lambda site: (site.folder / "dist/current").unlink(),
        "dist: nothing has been built yet; run the command `build` first",
    ),
}


@pytest.mark.end_to_end
@pytest.mark.parametrize("change", CHANGES)
def test_build_check_reports_outdated_files(site: Site, run: Run, change: str) -> None:
    """Exit code 1 if the site or nginx.conf is out of date, and no file is written."""
    site.build()
    edit, fault = CHANGES[change]
    edit(site)
    before, sentence = tree_snapshot.state(site.folder), f"{site.folder}/{fault}"

    assert outcome(run("build", *tree_snapshot.options(site), "--check")) == (1, "", f"{sentence}\n")
    listed = run("build", *tree_snapshot.options(site), "--check", "--json")
    assert (listed.exit_code, json.loads(listed.stdout)) == (1, {"ok": False, "outdated": [sentence]})
    assert tree_snapshot.state(site.folder) == before


def test_build_check_without_a_cache_compares_content(site: Site, run: Run) -> None:
    """As a build without a cache does. With one, both read no unchanged file, and the size of these is unchanged."""
    options = ("build", *tree_snapshot.options(site))
    assert run(*options).exit_code == 0
    body = site.folder / "dist" / site.manifest.resources["/api/series"].file
    for path in (body, Path(f"{body}.headers")):
        content = path.read_bytes()
        path.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
        assert outcome(run(*options, "--check", "--no-cache")) == (1, "", f"{path}: a build would rewrite it\n")
        assert run(*options, "--check").stdout == "up to date\n"
        assert run(*options, "--no-cache").exit_code == 0
        assert path.read_bytes() == content
    assert run(*options, "--check", "--no-cache").stdout == "up to date\n"


def test_rollback_prints_the_current_release(site: Site, run: Run) -> None:
    """And asks for a reload of nginx. The first release has none before it."""
    tree_snapshot.write_series(site, "First", volumes=1, others=["second"])
    first, out = site.build().release, site.folder / "dist"
    assert outcome(run("rollback", "--out", out)) == (1, "", f"{out}: no previous release\n")
    tree_snapshot.first_version(site)
    site.build()

    sentence = f"{out}: release {first} is current again; reload nginx to serve it\n"
    assert outcome(run("rollback", "--out", out)) == (0, sentence, "")
    assert site.store.current() == first


def test_nginx_serves_the_earlier_release_after_a_reload(site: Site, run: Run) -> None:
    """Before the reload, responses are unchanged; afterwards bodies and ETags are those of the other release."""
    tree_snapshot.first_version(site)
    old = site.build().release
    first = responses_of(site)
    tree_snapshot.second_version(site)
    with serving(site) as nginx:
        new, second = str(site.store.current()), responses_of(site)
        # After a response it has read its configuration.
        assert {url: given(nginx, url) for url in second} == second
        for release, before, after in ((old, second, first), (new, first, second)):
            assert run("rollback", release, "--reopen", "--out", site.folder / "dist").exit_code == 0
            assert {url: given(nginx, url) for url in before} == before
            nginx.reload()
            assert {url: given(nginx, url) for url in after} == after


URLS = ("/api/series/first", "/api/series", "/api/releases")


def responses_of(site: Site) -> dict[str, tuple[str | None, bytes]]:
    """The responses of the current release to a few URLs."""
    bodies = {url: site.manifest.resources[url] for url in URLS}
    return {url: (f'"{one.etag}"', (site.folder / "dist" / one.file).read_bytes()) for url, one in bodies.items()}


def given(nginx: nginx_client.Web, url: str) -> tuple[str | None, bytes]:
    answer = nginx.ask(url)
    return answer["etag"], answer.body


def test_verify_output_and_exit_codes(site: Site, run: Run) -> None:
    """0 and one line, or 1 and every fault."""
    release = site.build().release
    out = site.folder / "dist"
    assert outcome(run("verify", "--out", out)) == (0, f"{out}: OK: all files match release {release}\n", "")
    facts = {"ok": True, "damaged": [], "leftover": [], "repaired": [], "problem": None}
    assert json.loads(run("verify", "--out", out, "--json").stdout) == facts

    (out / "current/more.conf").write_text("?")
    sentence = f"{out}/releases/{release}/more.conf: is in no release"
    assert outcome(run("verify", "--out", out)) == (1, "", f"{sentence}\n")
    listed = run("verify", "--out", out, "--json")
    assert (listed.exit_code, json.loads(listed.stdout)) == (1, facts | {"ok": False, "damaged": [sentence]})


def test_export_counts_its_files_and_dates_them(site: Site, run: Run) -> None:
    """tests/responses/test_golden.py compares all bodies and sidecars."""
    site.build()
    target = site.folder / "plain"
    result = run("export", "--out", site.folder / "dist", target)
    resources = {url: published for url, published in site.manifest.resources.items() if manifest.is_plain(published)}

    # `/` and `/index.json` have one file.
    assert outcome(result) == (0, f"{target}: {len(resources) - 1} resources\n", "")
    assert (target / "api/series/first.json").stat().st_mtime == resources["/api/series/first"].modified


def test_export_lists_redirects(site: Site, run: Run) -> None:
    """In one file, for the host's configuration. Without old slugs there is none."""
    path = site.folder / "catalog_src/series/first.yaml"
    path.write_text(f"formerly: [oldest]\n{path.read_text()}")
    site.build()
    target = site.folder / "plain"
    run("export", "--out", site.folder / "dist", target)

    assert json.loads((target / "redirects.json").read_text()) == {
        "/api/series/oldest": "/api/series/first",
        "/api/v1/series/oldest": "/api/v1/series/first",
        "/api/v2/cubari/oldest": "/api/v2/cubari/first",
        "/api/v2/series/oldest": "/api/v2/series/first",
    }


def test_export_needs_an_empty_folder(site: Site, run: Run) -> None:
    """A folder with files, or a file, is refused."""
    site.build()
    full, file, empty = (site.folder / name for name in ("full", "file", "empty"))
    for folder in (full, empty):
        folder.mkdir()
    (full / "thesis.txt").write_text("mine")
    file.write_text("mine")
    before = tree_snapshot.state(site.folder)

    for target in (full, file):
        sentence = f"{target}: is not an empty folder, and has no list of an earlier export; choose a new one\n"
        assert outcome(run("export", "--out", site.folder / "dist", target)) == (1, "", sentence)
    assert tree_snapshot.state(site.folder) == before
    assert run("export", "--out", site.folder / "dist", empty).exit_code == 0


@pytest.mark.parametrize(
    "words", [("export",), ("export", "--for", "caddy"), ("export", "--cubari"), ("pack",)], ids=" ".join
)
def test_export_into_the_releases_is_refused(site: Site, run: Run, words: tuple[str, ...]) -> None:
    """Its files would become part of a release, or lie among the sources."""
    site.build()
    (site.folder / "link").symlink_to("dist/www")
    before = tree_snapshot.state(site.folder)

    for target in (site.folder / "dist/current/new", site.folder / "link/new"):
        sentence = f"{target}: is in {site.folder}/dist, which holds the releases; choose another folder\n"
        assert outcome(run(*words, target, "--out", site.folder / "dist")) == (1, "", sentence)
    for target in (site.folder / "catalog_src/series/new", site.folder / "catalog_src/series"):
        sentence = f"{target}: is among the series of a catalog; choose another folder\n"
        assert outcome(run(*words, target, "--out", site.folder / "dist")) == (1, "", sentence)
    sentence = f"{site.folder}/theme/new: is in the theme of a site; choose another folder\n"
    assert outcome(run(*words, site.folder / "theme/new", "--out", site.folder / "dist")) == (1, "", sentence)
    assert tree_snapshot.state(site.folder) == before
    # A project of this name, or below a folder of this name, is one of its own.
    site.write("../theme/project/catalog/site.yaml", "")
    site.write("../theme/catalog/site.yaml", "")
    for project in ("theme/project", "theme/catalog", "theme"):
        assert run(*words, site.folder / project / "new", "--out", site.folder / "dist").exit_code == 0


@each(
    "command",
    ["releases", "rollback", "verify", "verify --repair", "export plain", "pack edge", "publish s3://comics"],
)
@each("kind", ["nothing", "empty", "foreign"])
def test_commands_without_a_release_create_nothing(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, command: str, kind: str
) -> None:
    """A folder that is not a dist stays as it is, and all commands print the same error."""
    folder = tmp_path / kind
    (folder / "dist").mkdir(parents=True, exist_ok=True)
    if kind == "nothing":
        (folder / "dist").rmdir()
    elif kind == "foreign":
        (folder / "dist/thesis.txt").write_text("mine")
    before = tree_snapshot.content(folder)
    monkeypatch.chdir(folder)

    sentence = "dist: nothing has been built yet; run the command `build` first\n"
    assert outcome(run(*command.split())) == (1, "", sentence)
    assert tree_snapshot.content(folder) == before


@pytest.mark.parametrize(
    "command",
    ["build --no-cache", "build --check", "verify", "verify --repair", "releases", "rollback", "export plain"],
)
@pytest.mark.parametrize("damage", ["truncated", "removed"])
def test_damaged_current_release_has_one_remedy(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch, command: str, damage: str
) -> None:
    """Every command names it, also `verify`, which lists all damaged files."""
    monkeypatch.chdir(site.folder)
    manifest_path = Path("dist/releases", site.build().release, "manifest.json")
    if damage == "removed":
        shutil.rmtree("dist/releases")
        fault = "is missing"
    else:
        manifest_path.write_bytes(manifest_path.read_bytes()[:300])
        fault = "does not match the id of the release"
    sentence = f"{fault}, so no build can continue the release; {REMEDY}"

    assert outcome(run(*command.split())) == (1, "", f"{manifest_path}: {sentence}\n")


def test_damaged_older_release_is_named(site: Site, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current release is undamaged."""
    monkeypatch.chdir(site.folder)
    older = Path("dist/releases", site.build().release, "manifest.json")
    tree_snapshot.first_version(site)
    site.build()
    content = older.read_text()
    older.write_text("{}")
    sentence = f"{older}: does not match the id of the release; restore the file, or remove {older.parent}, which only "
    expected = (1, "", f"{sentence}a rollback needs\n")

    for command in ("releases", "verify", "verify --repair", "rollback", "build --no-cache"):
        assert outcome(run(*command.split())) == expected, command

    older.write_text(content.replace('"size":', '"size":1', 1))

    assert outcome(run("rollback")) == expected

    shutil.rmtree(older.parent)

    assert run("build", "--no-cache").exit_code == 0
    assert run("verify").exit_code == 0
