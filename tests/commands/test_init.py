"""`init`: the project builds, and nginx, editors and CI accept its files."""

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from generator.authoring import scaffold
from generator.catalog import json_schema
from generator.catalog.yaml import reader
from generator.commands import init as command
from tests.conftest import AS_OF, Site, serving
from tests.faults.test_hostile_repositories import REFUSED, disguise, settings
from tests.project.test_docs import unknown_in
from tests.project.test_installation import GIT, shell
from tests.support import nginx_client, tree_snapshot
from tests.support.author_catalogs import Run
from tests.support.images import cbz
from tests.support.paths import BUILD
from tests.support.schema_editor import SCHEMAS, Editor, plain
from tests.support.tables import each

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
    *(f"catalog_src/.schemas/{name}.json" for name in json_schema.NAMES),
}


@pytest.fixture
def created(tmp_path: Path, run: Run) -> Site:
    """A project that `build.py init` creates with default options."""
    result = run("init", tmp_path / "comics", SOURCE_DATE_EPOCH=str(AS_OF))

    assert (result.exit_code, result.stderr) == (0, "")
    return Site(tmp_path / "comics")


def text(site: Site, file: str) -> str:
    return (site.folder / file).read_text(encoding="utf-8")


def test_a_project_has_these_files(created: Site) -> None:
    """And no others, and no placeholder is left."""
    assert tree_snapshot.files(created.folder) == FILES
    assert [file for file in FILES if re.search("<<[a-z_]+>>", text(created, file))] == []


def test_a_new_project_builds_with_one_warning(created: Site, run: Run) -> None:
    """About base_url; its chapter is published."""
    catalog, out, nginx = created.paths
    result = run("build", "--catalog", catalog, "--out", out, "--nginx", nginx, "--as-of", AS_OF, "--no-cache")

    assert (result.exit_code, result.stderr) == (
        0,
        f"warning: {catalog}/site.yaml: base_url is http://localhost:8000, which works only on this machine; "
        "set it to the public URL of the site before you publish it\n",
    )
    assert {"/api/series/first-series", "/api/v2/chapters/1", "/api/authors/1"} <= set(created.manifest.resources)


def test_a_new_project_can_be_served(created: Site) -> None:
    """With the nginx.conf that the build writes. The README names the pages for readers, then those about the API."""
    named = re.findall("<http://localhost:8000(/.*?)>", text(created, "README.md"))
    with serving(created) as server:
        response = server.ask("/api/v2/series")
        pages = [server.ask(path) for path in named]

    assert response.status == 200
    assert b'"title":"The First Series"' in response.body
    assert named == ["/", "/api/v2/docs/"]
    assert [(page.status, page["content-type"]) for page in pages] == [(200, "text/html; charset=utf-8")] * 2
    assert b"The First Series" in pages[0].body and b"swagger" in pages[1].body


def test_comics_conf_works_in_nginx(created: Site) -> None:
    """With server_folder set in site.yaml."""
    settings, own = created.folder / "catalog_src/site.yaml", created.folder / "nginx/comics.conf"
    lines = settings.read_text()
    assert lines.count("# server_folder: /srv/comics\n") == 1
    settings.write_text(lines.replace("# server_folder: /srv/comics", f"server_folder: {created.folder}"))
    created.build()
    with nginx_client.listening() as listener:
        conf = own.read_text().replace("/srv/comics", str(created.folder)).replace("/var/log/nginx", "dist/run")
        own.write_text(conf.replace("listen 80;", f"listen {listener.getsockname()[1]};"))
        (created.folder / "media").mkdir()
        (created.folder / "media/cover.jpg").write_bytes(b"image")
        (created.folder / "main.conf").write_text(
            "worker_rlimit_nofile 20000; pid dist/run/own.pid; error_log dist/run/error.log;\n"
            "events { worker_connections 8192; }\n"
            f"http {{ {nginx_client.TEMPORARY_PATHS} access_log off; include nginx/comics.conf; }}\n"
        )
        with nginx_client.running(created.folder, listener, "main.conf") as server:
            responses = [server.ask(path) for path in ("/", "/api/series", "/api/x", "/x", "/media/cover.jpg")]

    assert [response.status for response in responses] == [200, 200, 404, 404, 200]
    assert responses[-1]["access-control-allow-origin"] == "*"
    assert '"GET /api/series" 200' in (created.folder / "dist/run/comics.log").read_text()
    assert responses[2].body == b'{"error":"Not found","status":404}'
    assert [response["content-type"] for response in responses[:1] + responses[3:4]] == ["text/html; charset=utf-8"] * 2
    assert responses[-1].body == b"image"


@each("file", sorted(one for one in FILES if one.endswith(".yaml")))
def test_each_file_names_its_schema(created: Site, file: str) -> None:
    """And is valid under it."""
    first = text(created, file).splitlines()[0]
    named = (created.folder / file).parent / first.removeprefix(MODELINE)

    assert first.startswith(MODELINE)
    assert named.resolve().parent == (created.folder / "catalog_src/.schemas").resolve()
    assert list(Editor(SCHEMAS[named.name]).iter_errors(plain(reader.load((created.folder / file).read_bytes())))) == []


def test_commented_settings_are_defaults(created: Site, run: Run) -> None:
    """Removing a # changes nothing."""
    settings = created.folder / "catalog_src/site.yaml"
    shown = re.sub("(?m)^# ([a-z_]+: [^ ]+)$", r"\1", settings.read_text())
    assert {"reader", "media", "port", "server_folder"} < set(reader.load(shown.encode()))
    created.build()
    settings.write_text(shown.replace("server_folder:", "# server_folder:"))

    assert created.build().changes["changed"] == 0


def test_options_are_written_to_the_files(tmp_path: Path, run: Run) -> None:
    """The name to the README and site.yaml, the URL to site.yaml and server_name."""
    created = Site(tmp_path)
    arguments = ["--name", "Ours & 紙: \\1 #", "--base-url", "https://comics.example:8443"]
    assert run("init", tmp_path, *arguments, SOURCE_DATE_EPOCH="0").exit_code == 0

    assert text(created, "README.md").startswith("# Ours & 紙: \\1 #\n")
    assert reader.load((tmp_path / "catalog_src/site.yaml").read_bytes())["title"] == "Ours & 紙: \\1 #"
    assert "\nbase_url: https://comics.example:8443\n" in text(created, "catalog_src/site.yaml")
    assert "server_name comics.example;" in text(created, "nginx/comics.conf")
    assert "published: 1970-01-01T00:00:00Z " in text(created, "catalog_src/series/first-series.yaml")


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
def test_invalid_options_are_refused(tmp_path: Path, run: Run, arguments: list[str], sentence: str) -> None:
    """Both at once; nothing is written."""
    result = run("init", tmp_path / "new", *arguments)

    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"{sentence}\n")
    assert not (tmp_path / "new").exists()


def test_an_invalid_name_of_the_folder_is_refused(tmp_path: Path, run: Run) -> None:
    """The message does not name an option that was not given."""
    assert run("init", tmp_path / "a\nb").stderr == (
        "name of the folder: should be one line without control characters, not 'a\\nb'; or choose one with --name\n"
    )
    assert list(tmp_path.iterdir()) == []


NAME_ANOTHER = "pass a folder that is empty, does not exist, or contains only .git, a README or a license"


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([".hidden"], "contains '.hidden'"),
        (["README.md", "b", "LICENSE", "a", "licensed"], "contains 'a' and 2 more"),
    ],
)
def test_a_folder_with_other_files_is_refused(tmp_path: Path, run: Run, names: list[str], sentence: str) -> None:
    """Also hidden files; nothing is written."""
    for name in names:
        (tmp_path / name).write_text("mine")
    before = tree_snapshot.content(tmp_path)
    result = run("init", tmp_path)

    assert (result.exit_code, result.stderr) == (1, f"{tmp_path}: {sentence}; {NAME_ANOTHER}\n")
    assert tree_snapshot.content(tmp_path) == before


@pytest.mark.end_to_end
@pytest.mark.parametrize(
    ("readme", "licence"),
    [("README.md", None), ("readme.rst", "LICENCE.txt"), ("README", "COPYING"), (None, "LICENSE")],
)
def test_readme_and_license_are_kept(tmp_path: Path, run: Run, readme: str | None, licence: str | None) -> None:
    """Code hosts create them in new repositories."""
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
def test_a_file_or_a_broken_link_is_refused(tmp_path: Path, run: Run, kind: str) -> None:
    """A broken link may have a target later."""
    path = tmp_path / "a"
    path.symlink_to("nowhere") if kind == "link" else path.write_text("mine")
    before = tree_snapshot.content(tmp_path)
    result = run("init", path)

    assert result.exit_code == 1
    assert result.stderr == f"{path}: not a folder; pass a folder that is empty or does not exist\n"
    assert tree_snapshot.content(tmp_path) == before


def test_an_empty_repository_is_accepted(tmp_path: Path, run: Run) -> None:
    """The output of the build is ignored by git."""
    shell("git init --quiet", tmp_path)
    assert run("init", tmp_path).exit_code == 0
    Site(tmp_path).build()

    assert set(shell("git ls-files --others --exclude-standard", tmp_path).split()) == FILES


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


def commands(printed: str) -> list[str]:
    return re.findall("(?m)^  (.+)$", printed)


@pytest.mark.end_to_end
def test_the_printed_commands_work(tmp_path: Path, program: dict[str, str]) -> None:
    """In a new shell, from any folder."""
    printed = shell(f'python {shlex.quote(str(BUILD))} init "new comics"', tmp_path, program)
    steps = commands(printed)
    pages = cbz(tmp_path / "a.cbz", "1.png")
    (tmp_path / "elsewhere").mkdir()

    assert printed.startswith(f"new comics: created {len(FILES)} files; README.md describes them. Next steps:\n")
    assert steps[0] == f"cd {shlex.quote(str(tmp_path / 'new comics'))}"
    words = [shlex.split(step) for step in steps[1:]]
    assert [step[2:4] for step in words] == [["serve", "--watch"], ["new", "series"], ["new", "chapter"]]
    measured = {name: value for name, value in os.environ.items() if name.startswith("COVERAGE_")}
    new = {"PATH": os.defpath, "HOME": str(tmp_path), **measured}
    script = "\n".join(step for step in steps if "serve" not in step).replace("FOLDER", shlex.quote(str(pages)))
    shell(script, tmp_path / "elsewhere", new)
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
def test_the_printed_program_works_in_a_new_shell(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Run,
    script: str,
    executable: str,
    in_environment: bool,
    wanted: list[str],
) -> None:
    """By name if it is on the PATH, otherwise by path."""
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


def test_the_printed_cd_has_an_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """Also for `init .`. The default name is that of the folder."""
    monkeypatch.chdir(tmp_path)
    result = run("init", ".")

    assert result.stdout.startswith(f".: created {len(FILES)} files; ")
    assert commands(result.stdout)[0] == f"cd {shlex.quote(str(tmp_path.resolve()))}"
    assert text(Site(tmp_path), "README.md").startswith(f"# {tmp_path.name}\n")
    assert "\n# title: " in text(Site(tmp_path), "catalog_src/site.yaml")


def workflow(created: Site, name: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A workflow, and the steps of its only job."""
    content = reader.load((created.folder / f".github/workflows/{name}.yml").read_bytes())
    assert content["permissions"] == {"contents": "read"}
    (job,) = content["jobs"].values()
    return content, job["steps"]


def scripts(created: Site, name: str) -> list[str]:
    return [step["run"] for step in workflow(created, name)[1] if "run" in step]


@pytest.fixture
def runner(program: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """The environment of a step on GitHub, with a `pip` that does nothing."""
    (Path(program["HOME"]) / "bin/pip").write_text("#!/bin/sh\ntest -f requirements.txt\n")
    (Path(program["HOME"]) / "bin/pip").chmod(0o755)
    files = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    return {**program, **files, "GITHUB_EVENT_NAME": "schedule", "GITHUB_SHA": "1" * 40}


@pytest.mark.end_to_end
def test_the_publish_workflow_works(created: Site, runner: dict[str, str], tmp_path: Path) -> None:
    """Twice; then nothing is due."""
    first = "".join(shell(script, created.folder, runner) for script in scripts(created, "publish"))
    (created.folder / "dist").rename(created.folder / "dist of another machine")
    second = "".join(shell(script, created.folder, runner) for script in scripts(created, "publish"))

    assert "due=yes\n" in first and "added, 0 changed, 0 removed, 0 unchanged" in first
    assert "due=no\n" in second, "the commit is published and no chapter is scheduled"
    assert "0 changed, 0 removed" in second
    for step in (step for step in workflow(created, "publish")[1] if "uses" in step):
        path = step.get("with", {}).get("path")
        assert path is None or (created.folder / path.replace("~", runner["HOME"])).exists()


@pytest.mark.end_to_end
def test_a_catalog_cannot_run_code_in_ci(created: Site, runner: dict[str, str]) -> None:
    """Files that make the catalog a git repository have no effect."""
    shell(f"git init -q && git add . && {GIT} commit -qm one", created.folder, runner)
    disguise(created.folder / "catalog_src", created.folder, settings(created.folder / "ran"))
    shell(f"git add . && {GIT} commit -qm two", created.folder, runner)
    steps = [script for name in ("review", "publish") for script in scripts(created, name) if "flatpanel" in script]
    outputs = [shell(f"! bash -e -c {shlex.quote(script)}", created.folder, runner) for script in steps]

    assert len(steps) == 3
    assert f"::error file=catalog_src/HEAD,line=1,col=1,title=catalog::catalog_src/HEAD:1:1: {REFUSED}" in outputs[0]
    assert all(REFUSED in output for output in outputs)
    assert not (created.folder / "ran").exists()


@pytest.mark.end_to_end
def test_the_review_workflow_works(created: Site, runner: dict[str, str]) -> None:
    """On the merge of a branch."""
    start = f"git init -q -b main . && git add . && {GIT} commit -qm first && git checkout -qb change"
    shell(start, created.folder, runner)
    series = created.folder / "catalog_src/series/first-series.yaml"
    series.write_text(series.read_text().replace("The First Series", "Another Title"))
    shell(f"{GIT} commit -qam second && git checkout -q main && {GIT} merge -q --no-ff change", created.folder, runner)
    printed = "".join(shell(script, created.folder, runner) for script in scripts(created, "review"))

    assert "no problems" in printed
    assert "Another Title" in Path(runner["GITHUB_STEP_SUMMARY"]).read_text()


def test_the_review_workflow_has_no_permissions(created: Site) -> None:
    """No secrets, read-only, and it runs the installed program. A newer review cancels the older one."""
    source, (content, _) = text(created, ".github/workflows/review.yml"), workflow(created, "review")

    assert content["on"] == {"pull_request": None}
    assert "secrets." not in source and "build.py" not in source
    assert [script.split()[0] for script in scripts(created, "review")] == ["pip", *["flatpanel"] * 2]
    assert content["concurrency"]["cancel-in-progress"] is True


def test_publish_continues_from_the_last_manifest_if_a_build_is_due(created: Site) -> None:
    """It is saved after all other steps. All but the two steps that check it depend on it; publications wait."""
    content, steps = workflow(created, "publish")
    restore, save, upload = (
        next(one for one in steps if f"{action}@" in one.get("uses", ""))
        for action in ("cache/restore", "cache/save", "upload-artifact")
    )

    assert [step.get("if") for step in steps] == [None, None, *["steps.due.outputs.due == 'yes'"] * (len(steps) - 2)]
    assert steps[-1] is save
    assert restore["with"]["path"] == save["with"]["path"] == "~/previous"
    assert restore["with"]["key"] == save["with"]["key"]
    assert save["with"]["key"].startswith(restore["with"]["restore-keys"])
    # As docs/authors.md says.
    assert upload["with"]["retention-days"] == 14
    assert content["concurrency"]["cancel-in-progress"] is False


@each("name", ["publish", "review"])
def test_actions_are_pinned_to_the_digests_of_this_repository(created: Site, name: str) -> None:
    """With the version in a comment."""
    ours = (BUILD.parent / ".github/workflows/publish.yml").read_text()
    used = re.findall(r"uses: (.+)", text(created, f".github/workflows/{name}.yml"))

    assert len(used) > 1
    assert set(used) <= set(re.findall(r"uses: (.+)", ours))


@each("file", [file for file in sorted(FILES) if "/.schemas/" not in file])
def test_commands_in_the_files_exist(created: Site, file: str) -> None:
    """With their options."""
    commands = re.findall(r"(?:^|`|\s)flatpanel((?: +[-\w./\"]+)+)", text(created, file))

    assert [one for command in commands for one in unknown_in(command.split())] == []
    assert commands or file != "README.md"


def test_each_scaffold_file_is_used() -> None:
    """No file is left over."""
    names = {path.name for path in Path(scaffold.__file__).parent.iterdir() if path.suffix != ".py" and path.is_file()}

    assert names == {*scaffold._FILES.values(), scaffold._IMPORTED}
