"""Dockerfile and compose.yaml: their steps run in folders instead of images, and nginx serves the result.

No Docker is needed; the CI job `image` builds the real one.
"""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from generator import filesystem
from generator.nginx import config
from generator.nginx import process as serve
from tests.support import nginx_client, servers, tree_snapshot
from tests.support.archives import ROOT, unmeasured
from tests.support.documents import AS_OF

HOME = "/srv/comics"
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"]["web"]
IGNORED = [
    line for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line and line[0] != "#"
]
# Who serves where tests are run by root: an account that owns nothing.
NOBODY = 65534


# A name of an instruction of the Dockerfile, and its text.
Step = tuple[str, str]


def stages() -> Iterator[list[Step]]:
    """The instructions of each stage, beginning with FROM."""
    text = re.sub(r"(?m)^#.*\n|\\\n\s*", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    for stage in re.split(r"(?m)^(?=FROM )", text)[1:]:
        yield [(word, rest) for word, _, rest in (line.partition(" ") for line in stage.splitlines()) if word]


BUILD, SERVE = stages()


def said(stage: list[Step], word: str) -> str:
    """The arguments of an instruction that occurs once in a stage."""
    (rest,) = (rest for name, rest in stage if name == word)
    return rest


def is_let_in(path: str) -> bool:
    """Whether .dockerignore admits a file: the last line that matches it, or a folder around it, decides."""
    around = [path, *map(str, Path(path).parents)][:-1]
    let_in = True
    for line in IGNORED:
        pattern = line.removeprefix("!")
        spellings = (pattern, pattern.removeprefix("**/"))
        if any(fnmatch(one, spelling) for one in around for spelling in spellings):
            let_in = line.startswith("!")
    return let_in


class Image:
    """A folder that replaces /srv/comics of an image, in which a stage runs."""

    def __init__(self, folder: Path, context: Path, build: Path | None = None, **arguments: str) -> None:
        self.folder, self.context, self.build = folder, context, build
        self.arguments = {"SOURCE_DATE_EPOCH": str(AS_OF), **arguments}

    def make(self, stage: list[Step]) -> None:
        for word, rest in stage:
            match word:
                case "WORKDIR":
                    assert rest == HOME
                    self.folder.mkdir()
                case "COPY":
                    *sources, target = rest.removeprefix("--from=build ").split()
                    for source in sources:
                        self.copy(source, target, is_built=rest.startswith("--from=build "))
                case "ARG":
                    name, _, value = rest.partition("=")
                    self.arguments.setdefault(name, value)
                case "RUN":
                    done = self.run(rest)
                    assert done.returncode == 0, f"{rest}: {done.stdout}{done.stderr}"
                case _:
                    # These say how the image is run, which comes later.
                    assert word in ("FROM", "LABEL", "USER", "EXPOSE", "HEALTHCHECK", "ENTRYPOINT", "CMD")

    def copy(self, source: str, target: str, *, is_built: bool) -> None:
        """From the stage before, or from what .dockerignore lets in."""
        found = self.build / Path(source).relative_to(HOME) if is_built and self.build else self.context / source
        paths = sorted(found.rglob("*")) if found.is_dir() else [found]
        taken = [path for path in paths if is_built or is_let_in(path.relative_to(self.context).as_posix())]
        assert taken and found.exists(), f"{source} is not there, or .dockerignore keeps it away"
        for path in taken:
            place(path, self.folder / target / path.relative_to(found if found.is_dir() else found.parent))

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """A command of the image, with programs of ours in the place of its own."""
        programs = self.folder.parent / "programs"
        path = os.pathsep.join([str(programs), os.environ["PATH"], os.path.dirname(serve.find_nginx())])
        return subprocess.run(
            ["sh", "-c", command.replace(HOME, str(self.folder))],
            cwd=self.folder,
            env={**unmeasured(), **self.arguments, "PATH": path},
            capture_output=True,
            text=True,
        )


def place(path: Path, copy: Path) -> None:
    """Type, content and time of a file, link or folder."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        copy.mkdir(exist_ok=True)
    else:
        shutil.copy2(path, copy, follow_symlinks=False)


def program(folder: Path, name: str, script: str) -> None:
    (folder / "programs").mkdir(exist_ok=True)
    (folder / "programs" / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / "programs" / name).chmod(0o755)


@pytest.fixture(scope="module")
def port() -> Iterator[socket.socket]:
    with nginx_client.listening() as listener:
        yield listener


@pytest.fixture(scope="module")
def workshop(port: socket.socket) -> Iterator[Path]:
    """The folder of the Dockerfile, with substitutes for programs that need a network or an account."""
    with filesystem.scratch_folder(shared=True) as folder:
        for name in ("build.py", "catalog_src", "generator", "requirements"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            (folder / "context").mkdir(exist_ok=True)
            copy(ROOT / name, folder / "context" / name)
        for name in ("key.txt", "dist/current", ".venv/bin/python", ".flatpanel_cache/x", "tests/x.py"):
            (folder / "context" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "context" / name).write_text("fpk_")
        site = folder / "context/catalog_src/site.yaml"
        site.write_text(site.read_text().replace("port: 8000", f"port: {port.getsockname()[1]}"))
        program(folder, "python", f'exec "{sys.executable}" "$@"')
        # The locked packages are installed here already; what is asked for has to be there.
        locked = " && ".join(
            f'grep -q "^{name}==" "$last"'
            for name in ("apprise", "click", "imagesize", "markdown-it-py", "obstore", "pillow")
        )
        program(folder, "pip", f'for last; do :; done; test "$1" = install && {locked}')
        program(folder, "chown", 'test "$1" = nginx:nginx && test -d "$2" && echo "$2" >>../owned')
        yield folder


@pytest.fixture(scope="module")
def built(workshop: Path) -> Image:
    image = Image(workshop / "build", workshop / "context")
    image.make(BUILD)
    return image


@pytest.fixture(scope="module")
def image(workshop: Path, built: Image) -> Image:
    image = Image(workshop / "serve", workshop / "context", built.folder)
    image.make(SERVE)
    return image


def sources(folder: Path) -> set[str]:
    """Without compiled modules: other tests import the program at the same time."""
    return {name for name in tree_snapshot.files(folder) if "__pycache__" not in name}


@pytest.mark.packages
def test_docker_gets_only_files_that_a_build_reads(built: Image) -> None:
    """No stray keys, no dist, no tests; the whole catalog and program."""
    assert is_let_in(".git/HEAD") and is_let_in("last.json")
    assert not any(map(is_let_in, ("generator/__pycache__/x.pyc", "requirements/dev.txt", "compose.yaml", "README.md")))
    assert {path.name for path in built.folder.iterdir()} == {
        *("build.py", "catalog_src", "generator", "requirements"),
        *("dist", "nginx.conf"),
    }
    for name in ("catalog_src", "generator/nginx/templates", "generator/api/docs_page", "generator/javascript"):
        assert sources(built.folder / name) == sources(ROOT / name)


def test_base_images_have_a_version_and_a_digest() -> None:
    """A tag alone can be moved to another image. The serving one has the required module and programs."""
    images = [said(stage, "FROM").split()[0] for stage in (BUILD, SERVE)]

    assert [image for image in images if not re.fullmatch(r"[a-z]+:\d+\.\d+[-.\w]*@sha256:[0-9a-f]{64}", image)] == []
    assert not any("slim" in image for image in images)
    assert "package-ecosystem: docker" in (ROOT / ".github/dependabot.yml").read_text(encoding="utf-8")


@pytest.mark.packages
def test_image_build_continues_a_previous_manifest(workshop: Path, built: Image) -> None:
    """--build-arg PREVIOUS names a file below the folder; a missing file is an error."""
    shutil.copy(built.folder / "dist/current/manifest.json", workshop / "context/last.json")
    again = Image(workshop / "again", workshop / "context", PREVIOUS="last.json")
    again.make(BUILD)
    lost = Image(workshop / "lost", workshop / "context", PREVIOUS="lost.json")

    assert tree_snapshot.content(again.folder / "dist/www") == tree_snapshot.content(built.folder / "dist/www")
    with pytest.raises(AssertionError, match=r"lost\.json: No such file"):
        lost.make(BUILD)


@contextmanager
def started(image: Image, port: socket.socket, run: Path) -> Iterator[nginx_client.Web]:
    """The image as compose.yaml starts it, with an account that can write only into `run`."""
    shutil.rmtree(image.folder / "dist/run")
    (image.folder / "dist/run").symlink_to(run)
    for _, path in tree_snapshot.walk(image.folder):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
    account = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    if account:
        os.chown(run, NOBODY, NOBODY)
    command = json.loads(said(SERVE, "ENTRYPOINT")) + json.loads(said(SERVE, "CMD"))
    command = [serve.find_nginx() if part == "nginx" else part.replace(HOME, str(image.folder)) for part in command]
    number, options = port.getsockname()[1], {**account, "env": {**os.environ, "NGINX": f"{port.fileno()};"}}
    try:
        with servers.running(command, servers.answers(number), listener=port, cwd=image.folder, **options) as process:
            yield nginx_client.Web(number, image.folder, process)
    finally:
        for _, path in tree_snapshot.walk(image.folder):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | 0o200)


@pytest.mark.packages
def test_image_serves_and_writes_only_into_its_run_folder(image: Image, port: socket.socket) -> None:
    """Bodies, conditions, errors and views work, and the health check detects a stopped server."""
    with filesystem.scratch_folder(shared=True) as run:
        with started(image, port, run) as server:
            before = tree_snapshot.state(image.folder)
            body = server.ask("/api/series/paper-moons")
            statuses = [
                server.ask("/api/series/paper-moons", If_None_Match=str(body["etag"])).status,
                server.ask("/api/series/paper-moons", If_Match=str(body["etag"])).status,
                server.ask("/nowhere").status,
                server.ask("/api/v2/chapters/210/pages?track=true").status,
            ]
            alive = image.run(said(SERVE, "HEALTHCHECK").partition("CMD ")[2])
            after = tree_snapshot.state(image.folder)
        dead = image.run(said(SERVE, "HEALTHCHECK").partition("CMD ")[2])
        views = (run / "views.log").read_text()

    assert (body.status, statuses) == (200, [304, 200, 404, 200])
    assert (alive.returncode, dead.returncode) == (0, 7)  # curl could not connect
    assert before == after
    assert re.fullmatch(r"\S+ [0-9a-f]{32} 210\n", views)


@pytest.mark.packages
def test_run_folder_belongs_to_nginx(workshop: Path, image: Image) -> None:
    """The image gives the folder to the account of nginx, and compose.yaml mounts memory over the same folder."""
    (path,) = COMPOSE["tmpfs"]

    assert (workshop / "owned").read_text().split() == ["dist/run"]
    assert path.split(":") == [f"{HOME}/dist/run", "uid=101,gid=101,mode=0755"]
    assert said(SERVE, "USER") == "nginx"
    assert f"load_module {config.JS_MODULE};" in (image.folder / "nginx.conf").read_text()


def test_compose_gives_the_image_minimal_rights() -> None:
    """It is read-only and without capabilities; its port is that of the example, and its build arguments exist."""
    site = yaml.safe_load((ROOT / "catalog_src/site.yaml").read_text(encoding="utf-8"))
    port = str(site["port"])

    assert (COMPOSE["read_only"], COMPOSE["cap_drop"]) == (True, ["ALL"])
    assert COMPOSE["ports"] == [f"{port}:{port}"]
    assert said(SERVE, "EXPOSE") == port
    assert COMPOSE["build"]["context"] == "."
    media = site["media_folder"]
    assert COMPOSE["volumes"] == [f"./{media}:{HOME}/{media}:ro"]
    assert list(COMPOSE["build"]["args"]) == [said(BUILD, "ARG").partition("=")[0]]
    assert shlex.split(COMPOSE["security_opt"][0]) == ["no-new-privileges:true"]
