"""`init`: a project that builds at once, and that nginx, editors and CI take as it is."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from generator import __version__, scaffold, schema, yaml12
from generator.commands import init as command
from tests import trees, web
from tests.comics import cbz
from tests.conftest import AS_OF, Site
from tests.editors import SCHEMAS, Editor, plain
from tests.tended import Run
from tests.test_docs import unknown_in
from tests.test_nginx_conf import said
from tests.test_ngx import temporary

MODELINE = "# yaml-language-server: $schema="
FILES = {
    ".github/workflows/publish.yml",
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
    *(f"catalog_src/.schemas/{name}" for name in schema.files()),
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
    assert trees.files(made.folder) == FILES
    assert [file for file in FILES if re.search("<<[a-z_]+>>", text(made, file))] == []


def test_a_new_project_builds_without_a_word_of_complaint(made: Site, run: Run) -> None:
    """No warning, and what it shows has been published."""
    catalog, out, nginx = made.paths
    result = run("build", "--catalog", catalog, "--out", out, "--nginx", nginx, "--as-of", AS_OF, "--no-cache")

    assert (result.exit_code, result.stderr) == (0, "")
    assert {"/api/series/first-series", "/api/v2/chapters/1", "/api/authors/1"} <= set(made.manifest.resources)
    assert said(made.folder) == "0: "


def test_a_new_project_can_be_served(made: Site) -> None:
    """By the nginx.conf that the build writes."""
    with web.listening() as listener:
        settings = made.folder / "catalog_src/site.yaml"
        settings.write_text(f"{settings.read_text()}port: {listener.getsockname()[1]}\n")
        made.build()
        with web.running(made.folder, listener) as server:
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
    with web.listening() as listener:
        conf = own.read_text().replace("/srv/comics", str(made.folder)).replace("/var/log/nginx", "dist/run")
        own.write_text(conf.replace("listen 80;", f"listen {listener.getsockname()[1]};"))
        (made.folder / "media").mkdir()
        (made.folder / "media/cover.jpg").write_bytes(b"image")
        (made.folder / "main.conf").write_text(
            "worker_rlimit_nofile 20000; pid dist/run/own.pid; error_log dist/run/error.log;\n"
            "events { worker_connections 8192; }\n"
            f"http {{ {temporary()} access_log off; include nginx/comics.conf; }}\n"
        )
        with web.running(made.folder, listener, "main.conf") as server:
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
    assert list(Editor(SCHEMAS[named.name]).iter_errors(plain(yaml12.load((made.folder / file).read_bytes())))) == []


def test_settings_that_are_shown_are_defaults(made: Site, run: Run) -> None:
    """Whoever removes the # before a setting has changed nothing yet."""
    settings = made.folder / "catalog_src/site.yaml"
    shown = re.sub("(?m)^# ([a-z_]+: [^ ]+)$", r"\1", settings.read_text())
    assert {"reader", "media", "port", "server_folder"} < set(yaml12.load(shown.encode()))
    made.build()
    settings.write_text(shown.replace("server_folder:", "# server_folder:"))

    assert made.build().changes["changed"] == 0


def test_what_was_said_is_in_the_files(tmp_path: Path, run: Run) -> None:
    """The name in the README, the address in site.yaml and in the server's name, the version in the requirements."""
    made = Site(tmp_path)
    arguments = ["--name", "Ours & 紙", "--base-url", "https://comics.example:8443"]
    assert run("init", tmp_path, *arguments, SOURCE_DATE_EPOCH="0").exit_code == 0

    assert text(made, "README.md").startswith("# Ours & 紙\n")
    assert "\nbase_url: https://comics.example:8443\n" in text(made, "catalog_src/site.yaml")
    assert "server_name comics.example;" in text(made, "nginx/comics.conf")
    assert text(made, "requirements.txt").endswith(f"\nflatpanel=={__version__}\n")
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
            "--base-url: should be a scheme and a host and nothing else, like https://comics.example, "
            "not comics.example",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, run: Run, arguments: list[str], sentence: str) -> None:
    """Both options at once, and nothing is made."""
    result = run("init", tmp_path / "new", *arguments)

    assert (result.exit_code, result.stdout, result.stderr) == (1, "", f"{sentence}\n")
    assert not (tmp_path / "new").exists()


def test_a_folder_with_anything_in_it_is_refused(tmp_path: Path, run: Run) -> None:
    """Nothing of anybody's is written over, hidden files included."""
    (tmp_path / ".hidden").write_text("mine")
    result = run("init", tmp_path)

    assert result.exit_code == 1
    assert result.stderr == f"{tmp_path}: is not empty; name a folder that is empty or not there yet\n"
    assert trees.content(tmp_path) == {".": "a folder", ".hidden": b"mine"}


@pytest.mark.parametrize("kind", ["file", "link"])
def test_what_is_no_folder_is_refused(tmp_path: Path, run: Run, kind: str) -> None:
    """A link that leads nowhere may lead somewhere tomorrow."""
    path = tmp_path / "a"
    path.symlink_to("nowhere") if kind == "link" else path.write_text("mine")
    before = trees.content(tmp_path)
    result = run("init", path)

    assert result.exit_code == 1
    assert result.stderr == f"{path}: is not a folder; name one that is empty or not there yet\n"
    assert trees.content(tmp_path) == before


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
    before = trees.state(made.folder)

    assert run("init", made.folder).exit_code == 1
    assert trees.state(made.folder) == before


@pytest.fixture
def program(tmp_path: Path) -> dict[str, str]:
    """An environment in which `flatpanel` and `python` are those of this test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, script in (("flatpanel", f'"{sys.executable}" "{trees.BUILD}"'), ("python", f'"{sys.executable}"')):
        (folder / name).write_text(f'#!/bin/sh\nexec {script} "$@"\n')
        (folder / name).chmod(0o755)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}


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


def test_what_to_type_next_can_be_typed(tmp_path: Path, program: dict[str, str]) -> None:
    """Every line that is printed works, from the folder in which it was printed."""
    printed = typed(f'python {shlex.quote(str(trees.BUILD))} init "new comics"', tmp_path, program)
    steps = re.findall("(?m)^  (.+)$", printed)
    pages = cbz(tmp_path / "a.cbz", "1.png")

    assert printed.startswith(f"new comics: {len(FILES)} files; README.md says what each is for. What to type next:\n")
    assert steps[0] == "cd 'new comics'"
    assert [shlex.split(step)[2:4] for step in steps[1:]] == [
        ["serve", "--watch"],
        ["new", "series"],
        ["new", "chapter"],
    ]
    typed("\n".join(one for one in steps if "serve" not in one).replace("FOLDER", str(pages)), tmp_path, program)
    assert unknown_in(steps[1].partition("build.py ")[2].split()) == []
    assert (tmp_path / "new comics/catalog_src/series/my-comic.yaml").read_text().endswith("    pages: [1.png]\n")


@pytest.mark.parametrize(
    ("script", "wanted"),
    [
        ("/usr/bin/flatpanel", "flatpanel"),
        ("{folder}/build.py", "python ../build.py"),
        ("{folder}/a b/build.py", "python '../a b/build.py'"),
    ],
)
def test_a_program_is_called_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, script: str, wanted: str
) -> None:
    """Installed or not, by the shorter way."""
    monkeypatch.setattr(command.sys, "argv", [script.format(folder=tmp_path)])

    assert f"\n  {wanted} serve --watch\n" in run("init", tmp_path / "new").stdout


def test_whoever_is_there_need_not_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """`init .` says nothing of `cd`."""
    monkeypatch.chdir(tmp_path)
    result = run("init", ".")

    assert result.stdout.startswith(f".: {len(FILES)} files; ")
    assert "cd " not in result.stdout
    assert text(Site(tmp_path), "README.md").startswith(f"# {tmp_path.name}\n")


def workflow(made: Site) -> dict[str, list[dict[str, Any]]]:
    found = yaml12.load((made.folder / ".github/workflows/publish.yml").read_bytes())
    assert found["permissions"] == {"contents": "read"}
    return {name: job["steps"] for name, job in found["jobs"].items()}


def test_what_ci_is_told_to_do_can_be_done(made: Site, program: dict[str, str]) -> None:
    """The steps of the workflow, with a `pip` that has installed everything already; and again for the next change."""
    (Path(program["HOME"]) / "bin/pip").write_text("#!/bin/sh\ntest -f requirements.txt\n")
    (Path(program["HOME"]) / "bin/pip").chmod(0o755)
    steps = workflow(made)
    scripts = {job: [step["run"] for step in found if "run" in step] for job, found in steps.items()}
    first = "".join(typed(script, made.folder, program) for script in scripts["check"] + scripts["publish"])
    (made.folder / "dist").rename(made.folder / "dist of another machine")
    second = "".join(typed(script, made.folder, program) for script in scripts["publish"])

    assert "no problems" in first and "added, 0 changed, 0 removed, 0 unchanged" in first
    assert "0 changed, 0 removed" in second
    for step in (one for found in steps.values() for one in found if "uses" in one):
        path = step.get("with", {}).get("path")
        assert path is None or (made.folder / path).exists()


def test_ci_continues_from_the_last_manifest(made: Site) -> None:
    """What is restored is what was kept, and it is kept after everything else."""
    steps = workflow(made)["publish"]
    restore, save = (
        next(one for one in steps if f"cache/{what}@" in one.get("uses", "")) for what in ("restore", "save")
    )

    assert steps[-1] is save
    assert restore["with"]["path"] == save["with"]["path"] == "previous"
    assert restore["with"]["key"] == save["with"]["key"]
    assert save["with"]["key"].startswith(restore["with"]["restore-keys"])


def test_ci_shows_problems_beside_their_lines(made: Site, program: dict[str, str]) -> None:
    """What the workflow checks with says where to show what is wrong."""
    (check,) = (step["run"] for step in workflow(made)["check"] if "flatpanel" in step.get("run", ""))
    made.write("series/first-series.yaml", "title: 1\ncover: c.jpg\n")

    assert "::error file=catalog_src/series/first-series.yaml,line=1," in typed(f"! {check}", made.folder, program)


def test_ci_uses_what_ours_uses(made: Site) -> None:
    """Actions are named by the digests that we have tried, with their versions behind them."""
    ours = (trees.BUILD.parent / ".github/workflows/publish.yml").read_text()
    used = re.findall(r"uses: (.+)", text(made, ".github/workflows/publish.yml"))

    assert len(used) > 5
    assert set(used) <= set(re.findall(r"uses: (.+)", ours))


@pytest.mark.parametrize("file", sorted(FILES - {f"catalog_src/.schemas/{name}" for name in schema.files()}))
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
    assert yaml12.load((Path(scaffold.__file__).parent / name).read_bytes())
