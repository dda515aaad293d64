"""`init`: a project that builds at once, and that nginx, editors and CI take as it is."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from generator import __version__
from generator.authoring import scaffold
from generator.authoring.scaffold import installed_from
from generator.catalog import json_schema
from generator.catalog.yaml import reader
from generator.commands import init as command
from tests.conftest import AS_OF, Site
from tests.faults.test_hostile_repositories import REFUSED, disguise, settings
from tests.nginx.test_config import nginx_check
from tests.nginx.test_quoting import temporary
from tests.project.test_docs import unknown_in
from tests.support import nginx_client, tree_snapshot
from tests.support.author_catalogs import Run
from tests.support.page_archives import cbz
from tests.support.paths import BUILD
from tests.support.schema_editor import SCHEMAS, Editor, plain

MODELINE = "# yaml-language-server: $schema="
FILES = {
    ".github/workflows/publish.yml",
    ".github/workflows/review.yml",
    ".gitignore",
    "README.md",
    "catalog_src/artists.yaml",
    "catalog_src/authors.yaml",
    "catalog_src/categories.yaml",
    "catalog_src/groups.yaml",
    "catalog_src/series/first-series.yaml",
    "catalog_src/site.yaml",
    "nginx/comics.conf",
    "requirements.txt",
    *(f"catalog_src/.schemas/{name}" for name in json_schema.files()),
}


@pytest.fixture
def made(tmp_path: Path, run: Run) -> Site:
    """What `build.py init` makes, with nothing said."""
    result = run("init", tmp_path / "comics", SOURCE_DATE_EPOCH=str(AS_OF))

    assert (result.exit_code, result.stderr) == (0, "")
    return Site(tmp_path / "comics")


def text(site: Site, file: str) -> str:
    return (site.folder / file).read_text(encoding="utf-8")


def test_a_project_has_what_it_needs(made: Site) -> None:
    """These files and no others, and nothing that should have been filled in is left in them."""
    assert tree_snapshot.files(made.folder) == FILES
    assert [file for file in FILES if re.search("<<[a-z_]+>>", text(made, file))] == []


def test_a_new_project_builds_and_only_its_address_is_to_be_written(made: Site, run: Run) -> None:
    """No other warning, and what it shows has been published."""
    catalog, out, nginx = made.paths
    result = run("build", "--catalog", catalog, "--out", out, "--nginx", nginx, "--as-of", AS_OF, "--no-cache")

    assert result.exit_code == 0
    assert re.fullmatch(r"warning: \S+: base_url is http://localhost:8000, which works only [^\n]+\n", result.stderr)
    assert {"/api/series/first-series", "/api/v2/chapters/1", "/api/authors/1"} <= set(made.manifest.resources)
    assert nginx_check(made.folder) == "0: "


def test_a_new_project_can_be_served(made: Site) -> None:
    """By the nginx.conf that the build writes."""
    with nginx_client.listening() as listener:
        settings = made.folder / "catalog_src/site.yaml"
        settings.write_text(f"{settings.read_text()}port: {listener.getsockname()[1]}\n")
        made.build()
        with nginx_client.running(made.folder, listener) as server:
            found = server.ask("/api/v2/series")

    assert found.status == 200
    assert b'"title":"The First Series"' in found.body


def test_the_configuration_for_a_server_of_ones_own_is_one(made: Site) -> None:
    """With the folder of that server in site.yaml, nginx takes it as it is, and answers with it."""
    settings, own = made.folder / "catalog_src/site.yaml", made.folder / "nginx/comics.conf"
    lines = settings.read_text()
    assert lines.count("# server_folder: /srv/comics\n") == 1
    settings.write_text(lines.replace("# server_folder: /srv/comics", f"server_folder: {made.folder}"))
    made.build()
    with nginx_client.listening() as listener:
        conf = own.read_text().replace("/srv/comics", str(made.folder)).replace("/var/log/nginx", "dist/run")
        own.write_text(conf.replace("listen 80;", f"listen {listener.getsockname()[1]};"))
        (made.folder / "media").mkdir()
        (made.folder / "media/cover.jpg").write_bytes(b"image")
        (made.folder / "main.conf").write_text(
            "worker_rlimit_nofile 20000; pid dist/run/own.pid; error_log dist/run/error.log;\n"
            "events { worker_connections 8192; }\n"
            f"http {{ {temporary()} access_log off; include nginx/comics.conf; }}\n"
        )
        with nginx_client.running(made.folder, listener, "main.conf") as server:
            found = [server.ask(path) for path in ("/", "/api/series", "/api/x", "/x", "/media/cover.jpg")]

    assert [one.status for one in found] == [200, 200, 404, 404, 200]
    assert '"GET /api/series" 200' in (made.folder / "dist/run/comics.log").read_text()
    assert [one.body for one in found[2:]] == [b'{"error":"Not found","status":404}'] * 2 + [b"image"]


@pytest.mark.parametrize("file", sorted(one for one in FILES if one.endswith(".yaml")))
def test_editors_know_every_file(made: Site, file: str) -> None:
    """The first line leads to a schema, which has nothing against the rest."""
    first = text(made, file).splitlines()[0]
    named = (made.folder / file).parent / first.removeprefix(MODELINE)

    assert first.startswith(MODELINE)
    assert named.resolve().parent == (made.folder / "catalog_src/.schemas").resolve()
    assert list(Editor(SCHEMAS[named.name]).iter_errors(plain(reader.load((made.folder / file).read_bytes())))) == []


def test_settings_that_are_shown_are_defaults(made: Site, run: Run) -> None:
    """Whoever removes the # before a setting has changed nothing yet."""
    settings = made.folder / "catalog_src/site.yaml"
    shown = re.sub("(?m)^# ([a-z_]+: [^ ]+)$", r"\1", settings.read_text())
    assert {"reader", "media", "port", "server_folder"} < set(reader.load(shown.encode()))
    made.build()
    settings.write_text(shown.replace("server_folder:", "# server_folder:"))

    assert made.build().changes["changed"] == 0


def test_what_was_said_is_in_the_files(tmp_path: Path, run: Run) -> None:
    """The name in the README, the address in site.yaml and in the server's name."""
    made = Site(tmp_path)
    arguments = ["--name", "Ours & 紙", "--base-url", "https://comics.example:8443"]
    assert run("init", tmp_path, *arguments, SOURCE_DATE_EPOCH="0").exit_code == 0

    assert text(made, "README.md").startswith("# Ours & 紙\n")
    assert "\nbase_url: https://comics.example:8443\n" in text(made, "catalog_src/site.yaml")
    assert "server_name comics.example;" in text(made, "nginx/comics.conf")
    assert "published: 1970-01-01T00:00:00Z " in text(made, "catalog_src/series/first-series.yaml")


def test_a_project_is_called_as_its_folder(made: Site) -> None:
    """Unless somebody says otherwise."""
    assert text(made, "README.md").startswith("# comics\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--name", "a\nb"], "--name: should be one line without control characters, not 'a\\nb'"),
        (
            ["--base-url", "comics.example", "--name", "\udcff"],
            "--name: should be text that can be written in UTF-8\n"
            "--base-url: should be a scheme and a host only, like https://comics.example, "
            "not comics.example",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, run: Run, arguments: list[str], sentence: str) -> None:
    """Both options at once, and nothing is made."""
    result = run("init", tmp_path / "new", *arguments)

    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"{sentence}\n")
    assert not (tmp_path / "new").exists()


NAME_ANOTHER = "pass a folder that is empty, does not exist, or contains only .git, a README or a license"


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([".hidden"], "contains '.hidden'"),
        (["README.md", "b", "LICENSE", "a", "licensed"], "contains 'a' and 2 more"),
    ],
)
def test_a_folder_with_other_files_is_refused(tmp_path: Path, run: Run, names: list[str], sentence: str) -> None:
    """Hidden files count, and nothing is written beside them."""
    for name in names:
        (tmp_path / name).write_text("mine")
    before = tree_snapshot.content(tmp_path)
    result = run("init", tmp_path)

    assert result.exit_code == 1
    assert result.stderr == f"{tmp_path}: {sentence}; {NAME_ANOTHER}\n"
    assert tree_snapshot.content(tmp_path) == before


@pytest.mark.parametrize("readme", ["README.md", "readme.rst", "README", None])
@pytest.mark.parametrize("licence", ["LICENSE", "LICENCE.txt", "COPYING", None])
def test_a_project_may_begin_beside_a_readme_and_a_licence(
    tmp_path: Path, run: Run, readme: str | None, licence: str | None
) -> None:
    """As code hosts make a repository; both files stay as they are."""
    for name in filter(None, (readme, licence)):
        (tmp_path / name).write_text("mine")
    result = run("init", tmp_path)

    assert result.exit_code == 0
    assert {(tmp_path / name).read_text() for name in filter(None, (readme, licence))} <= {"mine"}
    assert tree_snapshot.files(tmp_path) == FILES - {"README.md"} | {readme or "README.md"} | set(
        filter(None, [licence])
    )
    assert ("; kept your README" in result.stdout) == bool(readme)


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_folder_is_refused(tmp_path: Path, run: Run, kind: str) -> None:
    """A link that leads nowhere may lead somewhere tomorrow."""
    path = tmp_path / "a"
    path.symlink_to("nowhere") if kind == "link" else path.write_text("mine")
    before = tree_snapshot.content(tmp_path)
    result = run("init", path)

    assert result.exit_code == 1
    assert result.stderr == f"{path}: not a folder; pass a folder that is empty or does not exist\n"
    assert tree_snapshot.content(tmp_path) == before


def test_a_repository_without_files_is_empty(tmp_path: Path, run: Run) -> None:
    """Some begin with `git init`; what is built is then none of git's business."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    assert run("init", tmp_path).exit_code == 0
    Site(tmp_path).build()
    untracked = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"], cwd=tmp_path, check=True, capture_output=True, text=True
    )

    assert set(untracked.stdout.split()) == FILES


def test_a_second_init_changes_nothing(made: Site, run: Run) -> None:
    """What was edited since is safe."""
    before = tree_snapshot.state(made.folder)

    assert run("init", made.folder).exit_code == 1
    assert tree_snapshot.state(made.folder) == before


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """An environment in which `flatpanel` and `python` are those of this test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, script in (
        ("flatpanel", f'"{sys.executable}" "{BUILD}"'),
        ("python", f'"{sys.executable}"'),
    ):
        (folder / name).write_text(f'#!/bin/sh\nexec {script} "$@"\n')
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}


def measured() -> dict[str, str]:
    """What a process needs to be measured by coverage."""
    return {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}


def typed(script: str, folder: Path, environment: dict[str, str]) -> str:
    """As GitHub and people do it: a shell that stops at the first failure."""
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def commands(printed: str) -> list[str]:
    return re.findall("(?m)^  (.+)$", printed)


def test_what_to_type_next_can_be_typed(tmp_path: Path, program: dict[str, str]) -> None:
    """Every line that is printed works in a new shell, from any folder."""
    printed = typed(f'python {shlex.quote(str(BUILD))} init "new comics"', tmp_path, program)
    steps = commands(printed)
    pages = cbz(tmp_path / "a.cbz", "1.png")
    (tmp_path / "elsewhere").mkdir()

    assert printed.startswith(f"new comics: created {len(FILES)} files; README.md describes them. Next steps:\n")
    assert steps[0] == f"cd {shlex.quote(str(tmp_path / 'new comics'))}"
    words = [shlex.split(step) for step in steps[1:]]
    assert [step[2:4] for step in words] == [["serve", "--watch"], ["new", "series"], ["new", "chapter"]]
    shell = {"PATH": os.defpath, "HOME": str(tmp_path)}
    script = "\n".join(step for step in steps if "serve" not in step).replace("FOLDER", shlex.quote(str(pages)))
    typed(script, tmp_path / "elsewhere", {**shell, **measured()})
    assert unknown_in(words[0][2:]) == []
    assert (tmp_path / "new comics/catalog_src/series/my-comic.yaml").read_text().endswith("    pages: [1.png]\n")


@pytest.mark.parametrize(
    ("script", "executable", "in_environment", "wanted"),
    [
        ("bin/flatpanel", "bin/python3", False, ["flatpanel"]),
        ("bin/flatpanel", "bin/python3", True, ["{folder}/bin/flatpanel"]),
        ("elsewhere/flatpanel", "bin/python3", False, ["{folder}/elsewhere/flatpanel"]),
        ("a b/build.py", "bin/python3", False, ["python3", "{folder}/a b/build.py"]),
        ("build.py", "bin/python3", True, ["{folder}/bin/python3", "{folder}/build.py"]),
        ("build.py", "elsewhere/python3", False, ["{folder}/elsewhere/python3", "{folder}/build.py"]),
    ],
)
def test_the_printed_program_is_found_by_a_new_shell(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
    script: str,
    executable: str,
    in_environment: bool,
    wanted: list[str],
) -> None:
    """By its name where every shell finds it, and by its path in a virtual environment or off the PATH."""
    folder = tmp_path.resolve()
    for name in ("bin/flatpanel", "bin/python3"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch(0o755)
    monkeypatch.setenv("PATH", str(folder / "bin"))
    monkeypatch.setattr(command.sys, "argv", [str(folder / script)])
    monkeypatch.setattr(command.sys, "executable", str(folder / executable))
    monkeypatch.setattr(command.sys, "prefix", str(folder))
    monkeypatch.setattr(command.sys, "base_prefix", "/usr" if in_environment else str(folder))

    (serve,) = (step for step in commands(run("init", tmp_path / "new").stdout) if "serve" in step)
    assert shlex.split(serve) == [*(word.format(folder=folder) for word in wanted), "serve", "--watch"]


def test_a_project_in_the_current_folder_is_named_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """`init .` prints its `cd` as well, for the next shell."""
    monkeypatch.chdir(tmp_path)
    result = run("init", ".")

    assert result.stdout.startswith(f".: created {len(FILES)} files; ")
    assert commands(result.stdout)[0] == f"cd {shlex.quote(str(tmp_path.resolve()))}"
    assert text(Site(tmp_path), "README.md").startswith(f"# {tmp_path.name}\n")


REPOSITORY = "https://git.example/flatpanel"
WHEEL = "https://files.example/flatpanel-0.1.0-py3-none-any.whl"
UNKNOWN = f"\n# flatpanel @ git+{REPOSITORY}@<commit>\nflatpanel=={__version__}"


@pytest.mark.parametrize(
    ("noted", "line"),
    [
        ({"url": REPOSITORY, "vcs_info": {"vcs": "git", "commit_id": "a" * 40}}, f"git+{REPOSITORY}@{'a' * 40}"),
        (
            {"url": REPOSITORY, "subdirectory": "sub", "vcs_info": {"vcs": "git", "commit_id": "a" * 40}},
            f"git+{REPOSITORY}@{'a' * 40}#subdirectory=sub",
        ),
        ({"url": WHEEL, "archive_info": {"hashes": {"sha256": "b" * 64}}}, f"{WHEEL}#sha256={'b' * 64}"),
        ({"url": WHEEL, "archive_info": {"hash": f"sha256={'b' * 64}"}}, f"{WHEEL}#sha256={'b' * 64}"),
        ({"url": WHEEL, "archive_info": {}}, WHEEL),
        ({"url": "file:///home/me/flatpanel", "dir_info": {}}, None),
        (None, None),
    ],
    ids=["commit", "subdirectory", "digest", "older pip", "no digest", "folder", "from an index"],
)
def test_the_requirements_install_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, noted: dict[str, Any] | None, line: str | None
) -> None:
    """The place that pip noted, pinned; a version where other machines cannot use that place."""
    packages = tmp_path / "packages"
    information = packages / "flatpanel-0.1.0.dist-info"
    information.mkdir(parents=True)
    (packages / "generator").symlink_to(installed_from._PACKAGE)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: flatpanel\nVersion: {__version__}\n")
    if noted:
        (information / "direct_url.json").write_text(json.dumps(noted))
    monkeypatch.syspath_prepend(packages)

    assert installed_from.requirement().endswith(f"\nflatpanel @ {line}" if line else UNKNOWN)
    (packages / "generator").unlink()
    assert installed_from.requirement().endswith(UNKNOWN), "another copy of the package is running"


def test_the_requirements_of_a_checkout_say_where_to_get_it(made: Site) -> None:
    """The version alone, and a comment with the form of a place."""
    lines = text(made, "requirements.txt").splitlines()

    assert lines[-1] == f"flatpanel=={__version__}"
    assert all(line.startswith("# ") for line in lines[:-1])


def workflow(made: Site, name: str) -> list[dict[str, Any]]:
    """The steps of the only job of a workflow."""
    found = reader.load((made.folder / f".github/workflows/{name}.yml").read_bytes())
    assert found["permissions"] == {"contents": "read"}
    (job,) = found["jobs"].values()
    return job["steps"]


def scripts(made: Site, name: str) -> list[str]:
    return [step["run"] for step in workflow(made, name) if "run" in step]


@pytest.fixture
def runner(program: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """The environment of a step at GitHub, with a `pip` that has installed everything already."""
    (Path(program["HOME"]) / "bin/pip").write_text("#!/bin/sh\ntest -f requirements.txt\n")
    (Path(program["HOME"]) / "bin/pip").chmod(0o755)
    files = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    return {**program, **files, "GITHUB_EVENT_NAME": "schedule", "GITHUB_SHA": "1" * 40}


def test_what_ci_is_told_to_do_can_be_done(made: Site, runner: dict[str, str], tmp_path: Path) -> None:
    """The steps of the workflow that publishes, and again for the next change; then nothing is due."""
    first = "".join(typed(script, made.folder, runner) for script in scripts(made, "publish"))
    (made.folder / "dist").rename(made.folder / "dist of another machine")
    second = "".join(typed(script, made.folder, runner) for script in scripts(made, "publish"))

    assert "due=yes\n" in first and "added, 0 changed, 0 removed, 0 unchanged" in first
    assert "due=no\n" in second, "the commit is published and no chapter is scheduled"
    assert "0 changed, 0 removed" in second
    for step in (step for step in workflow(made, "publish") if "uses" in step):
        path = step.get("with", {}).get("path")
        assert path is None or (made.folder / path.replace("~", runner["HOME"])).exists()


def test_every_step_of_the_build_waits_for_what_is_due(made: Site) -> None:
    """All but the two that find out."""
    steps = workflow(made, "publish")

    assert ["if" in step for step in steps] == [False, False, *[True] * (len(steps) - 2)]
    assert {step["if"] for step in steps[2:]} == {"steps.due.outputs.due == 'yes'"}


def test_a_pull_request_runs_nothing_by_its_catalog(made: Site, runner: dict[str, str]) -> None:
    """No step of a review or of a build obeys files that make the catalog a repository."""
    git = "git -c user.name=a -c user.email=a@b.example"
    for change in ("git init --quiet", f"git add . && {git} commit --quiet --message one"):
        typed(change, made.folder, runner)
    disguise(made.folder / "catalog_src", made.folder, settings(made.folder / "ran"))
    typed(f"git add . && {git} commit --quiet --message two", made.folder, runner)
    steps = [script for name in ("review", "publish") for script in scripts(made, name) if "flatpanel" in script]
    said = [typed(f"! bash -e -c {shlex.quote(script)}", made.folder, runner) for script in steps]

    assert len(steps) == 3
    assert f"::error file=catalog_src/HEAD,line=1,col=1,title=catalog::catalog_src/HEAD:1:1: {REFUSED}" in said[0]
    assert all(REFUSED in one for one in said)
    assert not (made.folder / "ran").exists()


def test_a_pull_request_is_checked_and_shown(made: Site, runner: dict[str, str]) -> None:
    """The steps of the review, on the merge of a branch."""
    git = "git -c user.name=a -c user.email=a@b.example"
    typed(
        f"git init -q -b main . && git add . && {git} commit -qm first && git checkout -qb change", made.folder, runner
    )
    series = made.folder / "catalog_src/series/first-series.yaml"
    series.write_text(series.read_text().replace("The First Series", "Another Title"))
    typed(f"{git} commit -qam second && git checkout -q main && {git} merge -q --no-ff change", made.folder, runner)
    printed = "".join(typed(script, made.folder, runner) for script in scripts(made, "review"))

    assert "no problems" in printed
    assert "Another Title" in Path(runner["GITHUB_STEP_SUMMARY"]).read_text()


def test_a_review_runs_the_pull_request_without_rights(made: Site) -> None:
    """It has no secrets, may only read, and runs the installed program."""
    source = text(made, ".github/workflows/review.yml")
    found = reader.load(source.encode())

    assert found["on"] == {"pull_request": None}
    assert "secrets." not in source and "build.py" not in source
    assert [step["run"].split()[0] for step in workflow(made, "review") if "run" in step] == ["pip", *["flatpanel"] * 2]


@pytest.mark.parametrize("name", ["publish", "review"])
def test_runs_of_a_workflow_do_not_overlap(made: Site, name: str) -> None:
    """A publication waits for the one before it; a newer review replaces the one before it."""
    found = reader.load((made.folder / f".github/workflows/{name}.yml").read_bytes())

    assert found["concurrency"]["cancel-in-progress"] is (name == "review")


def test_ci_does_not_keep_sites_for_ever(made: Site) -> None:
    """An artifact says how many days it stays."""
    (upload,) = (step for step in workflow(made, "publish") if "upload-artifact@" in step.get("uses", ""))

    assert upload["with"]["retention-days"] == 14


def test_ci_continues_from_the_last_manifest(made: Site) -> None:
    """What is restored is what was kept, and it is kept after everything else."""
    steps = workflow(made, "publish")
    restore, save = (
        next(one for one in steps if f"cache/{what}@" in one.get("uses", "")) for what in ("restore", "save")
    )

    assert steps[-1] is save
    assert restore["with"]["path"] == save["with"]["path"] == "~/previous"
    assert restore["with"]["key"] == save["with"]["key"]
    assert save["with"]["key"].startswith(restore["with"]["restore-keys"])


def test_ci_shows_problems_beside_their_lines(made: Site, program: dict[str, str]) -> None:
    """What the workflow checks with says where to show what is wrong."""
    (check,) = (script for script in scripts(made, "review") if "flatpanel check" in script)
    made.write("series/first-series.yaml", "title: 1\ncover: c.jpg\n")

    assert "::error file=catalog_src/series/first-series.yaml,line=1," in typed(f"! {check}", made.folder, program)


@pytest.mark.parametrize("name", ["publish", "review"])
def test_ci_uses_what_ours_uses(made: Site, name: str) -> None:
    """Actions are named by the digests that we have tried, with their versions behind them."""
    ours = (BUILD.parent / ".github/workflows/publish.yml").read_text()
    used = re.findall(r"uses: (.+)", text(made, f".github/workflows/{name}.yml"))

    assert len(used) > 1
    assert set(used) <= set(re.findall(r"uses: (.+)", ours))


@pytest.mark.parametrize("file", sorted(FILES - {f"catalog_src/.schemas/{name}" for name in json_schema.files()}))
def test_commands_that_files_name_exist(made: Site, file: str) -> None:
    """No file tells of what the program does not have."""
    found = re.findall(r"(?:^|`|\s)flatpanel((?: +[-\w./\"]+)+)", text(made, file))

    assert [one for line in found for one in unknown_in(line.split())] == []
    assert found or file != "README.md"


def test_the_data_of_the_package_are_all_used() -> None:
    """No template lies there that nobody gets."""
    there = {path.name for path in Path(scaffold.__file__).parent.iterdir() if path.suffix != ".py" and path.is_file()}

    assert there == set(scaffold._FILES.values())


@pytest.mark.parametrize("name", sorted(one for one in scaffold._FILES.values() if one.endswith((".yaml", ".yml"))))
def test_templates_are_yaml_where_they_lie(name: str) -> None:
    """Tools that look at every YAML file of the repository find nothing wrong with them."""
    assert reader.load((Path(scaffold.__file__).parent / name).read_bytes())
