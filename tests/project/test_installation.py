"""How the program was installed: its advice to install something works where it is printed.

No package index has this program. Of its optional libraries, pip installs those that a person asks for.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from generator import __version__, installation
from tests.conftest import Site
from tests.support.archives import copy_example, named, needs_hatchling, unmeasured
from tests.support.documents import DOCUMENTS, blocks_of, sections, steps
from tests.support.paths import ROOT

REPOSITORY = "https://git.example/flatpanel"
WHEEL = f"https://files.example/flatpanel-{__version__}-py3-none-any.whl"
COMMIT, DIGEST = "a" * 40, "b" * 64
VCS = {"vcs": "git", "commit_id": COMMIT}
GIT = "git -c user.name=a -c user.email=a@b.example"
OPTIONAL = ("PIL", "apprise", "imagesize", "markdown_it", "mdurl", "obstore")


# The requirements of a new project


def record(packages: Path, direct_url: dict[str, Any] | None) -> Path:
    """Write what pip records of an installed program; return the folder of its package."""
    information = packages / f"flatpanel-{__version__}.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: flatpanel\nVersion: {__version__}\n")
    if direct_url:
        (information / "direct_url.json").write_text(json.dumps(direct_url))
    package = packages / "flatpanel"
    package.mkdir()
    (package / "encoding.py").write_text("program = 1\n")
    return package


def last_line() -> str:
    return installation.requirement().splitlines()[-1].removeprefix("flatpanel[images,texts] @ ")


@pytest.mark.parametrize(
    ("recorded", "source"),
    [
        ({"url": REPOSITORY, "vcs_info": VCS}, f"git+{REPOSITORY}@{COMMIT}"),
        ({"url": REPOSITORY, "subdirectory": "a", "vcs_info": VCS}, f"git+{REPOSITORY}@{COMMIT}#subdirectory=a"),
        ({"url": WHEEL, "archive_info": {"hashes": {"sha256": DIGEST}}}, f"{WHEEL}#sha256={DIGEST}"),
        ({"url": WHEEL, "archive_info": {"hash": f"sha256={DIGEST}"}}, f"{WHEEL}#sha256={DIGEST}"),
        ({"url": WHEEL, "archive_info": {}}, None),
        ({"url": WHEEL, "archive_info": {"hashes": {"md5": "c" * 32}}}, None),
        ({"url": "file:///home/me/flatpanel.whl", "archive_info": {"hashes": {"sha256": DIGEST}}}, None),
        (None, None),
    ],
    ids=["commit", "subdirectory", "digest", "older pip", "no digest", "weak digest", "file", "from an index"],
)
def test_requirements_have_the_url_that_pip_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: dict[str, Any] | None, source: str | None
) -> None:
    """With a commit or a digest. No other line has the name of a package: any account could register it."""
    monkeypatch.setattr(installation, "_PACKAGE", record(tmp_path / "packages", recorded))
    monkeypatch.setattr(installation, "_CHECKOUT", tmp_path / "packages")
    monkeypatch.syspath_prepend(tmp_path / "packages")

    assert last_line() == source or (source is None and last_line().startswith("<fill in the URL of Flatpanel "))
    assert f"flatpanel=={__version__}" not in installation.requirement()
    monkeypatch.setattr(installation, "_PACKAGE", tmp_path / "another/flatpanel")
    assert last_line().startswith("<fill in "), "another copy of the package is running"


def shell(script: str, folder: Path, environment: dict[str, str] | None = None, code: int = 0) -> str:
    """Run lines in a shell that stops at the first error; return what they print."""
    done = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env=environment or unmeasured(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == code, done.stdout
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone whose commit is in the repository that it came from."""
    folder = tmp_path / "check out"
    (folder / "generator").mkdir(parents=True)
    (folder / "generator/encoding.py").write_text("program = 1\n")
    shell(
        f"git init -q && git add . && {GIT} commit -qm first && git remote add upstream {REPOSITORY} && "
        "git remote add local /srv/flatpanel && git update-ref refs/remotes/upstream/main HEAD",
        folder,
    )
    return folder


NOT_PUBLISHED = {
    "an edited file": "echo '#' >> generator/encoding.py",
    "a new file": "touch generator/new.py",
    "a commit that is in no repository": f"{GIT} commit -q --allow-empty -m second",
    "a repository of this machine": "git remote set-url upstream /srv/other",
    "a repository that needs an account": "git remote set-url upstream git@git.example:flatpanel",
    "no repository": "git remote remove upstream && git remote remove local",
    "a damaged clone": "rm .git/HEAD",
    "no clone": "rm -rf .git",
    "no git": ":",
}


@pytest.mark.parametrize("is_installed", [False, True], ids=["started in the clone", "installed from it"])
@pytest.mark.parametrize("change", [None, "password", *NOT_PUBLISHED])
def test_requirements_have_the_repository_of_a_clone(
    tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch, change: str | None, is_installed: bool
) -> None:
    """If the program is that of a commit which other machines can get. No password of the URL is written."""
    head = shell("git rev-parse HEAD", checkout).strip()
    package = checkout / "generator"
    if is_installed:
        package = record(tmp_path / "packages", {"url": checkout.as_uri(), "dir_info": {}})
        monkeypatch.syspath_prepend(tmp_path / "packages")
    if change == "password":
        shell("git remote set-url upstream https://me:secret@git.example/flatpanel", checkout)
    shell(NOT_PUBLISHED.get(str(change), ":"), checkout)
    monkeypatch.setattr(installation, "_PACKAGE", package)
    monkeypatch.setattr(installation, "_CHECKOUT", package.parent)
    if change == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    # A hook runs with the repository of the catalog in its environment.
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "catalog/.git"))

    source = last_line()
    assert source.startswith("<fill in ") if change in NOT_PUBLISHED else source == f"git+{REPOSITORY}@{head}"


def test_pip_refuses_requirements_that_are_not_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the workflows of a new project with it. It prints what is missing, and requests no package."""
    monkeypatch.setattr(installation, "_CHECKOUT", tmp_path)
    (tmp_path / "requirements.txt").write_text(installation.requirement() + "\n")
    with socket.socket() as index:
        index.bind(("127.0.0.1", 0))
        index.listen()
        index.setblocking(False)
        # Once a week, pip asks the index for a newer pip.
        index_url = f"http://127.0.0.1:{index.getsockname()[1]}/simple"
        options = f"--index-url {index_url} --retries 0 --disable-pip-version-check"
        pip = f'"{sys.executable}" -m pip --isolated install --dry-run {options} --requirement requirements.txt'
        printed = shell(pip, tmp_path, code=1)

        assert re.search("(?s)Invalid requirement: .*fill in the URL of Flatpanel .* requirements.txt", printed)
        with pytest.raises(BlockingIOError):
            index.accept()


# Optional libraries


MANAGED, PIP = "lib/EXTERNALLY-MANAGED", "`'{prefix}/bin/python' -m pip install imagesize`"


@pytest.mark.parametrize(
    ("file", "is_environment", "has_pip", "command"),
    [
        ("", True, True, PIP),
        ("env/pipx_metadata.json", True, False, "`pipx inject env imagesize`"),
        ("", True, False, "`uv pip install --python '{prefix}/bin/python' imagesize`"),
        (MANAGED, True, True, PIP),
        (MANAGED, False, True, PIP.replace("install", "install --break-system-packages")),
        ("", False, True, PIP),
        (f"{MANAGED} tools/setup", False, False, "`'{folder}/tools/setup' run`, then use '{folder}/.venv/bin/python'"),
    ],
    ids=["venv", "pipx", "uv", "venv of a system", "system", "container", "checkout and system"],
)
def test_each_kind_of_environment_has_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, is_environment: bool, has_pip: bool, command: str
) -> None:
    """A path with a space is quoted."""
    folder = tmp_path / "a b"
    for name in ("lib/os.py", *file.split()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / "env").mkdir(exist_ok=True)
    prefix = folder / "env"
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(sys, "base_prefix", "/usr" if is_environment else str(prefix))
    monkeypatch.setattr(sys, "executable", str(prefix / "bin/python"))
    monkeypatch.setattr(installation.os, "__file__", str(folder / "lib/os.py"))
    monkeypatch.setattr(installation, "find_spec", lambda _name: has_pip or None)
    monkeypatch.setattr(installation, "_CHECKOUT", folder)

    assert installation.how_to_add("imagesize") == command.format(prefix=prefix, folder=folder)


# Following the advice, with the real tools and the public index


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with pipx and uv, and with a home of its own."""
    folder = tmp_path_factory.mktemp("tools")
    # Most of the time of pip is the compilation of modules that no test imports.
    faster = {"PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CACHE_DIR": str(folder / "cache")}
    environment = {**unmeasured(), **faster}
    venv = [sys.executable, "-m", "venv", "--without-pip", folder / "venv"]
    subprocess.run(venv, check=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / "venv/bin/python", "install", "--quiet", "pipx", "uv"]
    if subprocess.run(pip, env=environment, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no package index")
    # Not the folder of these commands: its python is not that of the user.
    (folder / "bin").mkdir()
    for name in ("pipx", "uv"):
        (folder / "bin" / name).symlink_to(folder / "venv/bin" / name)
    path = os.pathsep.join(map(str, (folder / ".local/bin", folder / "bin", os.environ["PATH"])))
    return {**environment, "HOME": str(folder), "PATH": path, "PIPX_HOME": str(folder / "pipx")}


@pytest.fixture(scope="module")
def required(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The libraries that are not optional; pip is that of each environment."""
    folder = tmp_path_factory.mktemp("required")
    for place in {sysconfig.get_path(name) for name in ("purelib", "platlib")}:
        for path in Path(place).iterdir():
            if not path.name.startswith((*OPTIONAL, "pip", "setuptools")):
                (folder / path.name).symlink_to(path)
    return folder


# Each prints the path of the environment that it makes. pipx insists on the packages that the wheel needs.
ENVIRONMENTS = {
    "venv": '"{python}" -m venv env; env/bin/python -m pip install --quiet --no-deps --no-index "{wheel}"; echo env',
    "pipx": 'pipx install --quiet "{wheel}" >/dev/null; echo "$PIPX_HOME/venvs/flatpanel"',
    "uv": 'uv venv --quiet --python "{python}" env; uv pip install --quiet --no-deps --python env "{wheel}"; echo env',
}


@pytest.mark.packages
@needs_hatchling
@pytest.mark.parametrize("kind", ENVIRONMENTS)
def test_the_printed_command_adds_the_library(
    tools: dict[str, str], packages: dict[str, Path], required: Path, site: Site, tmp_path: Path, kind: str
) -> None:
    """Where the wheel was installed."""
    script = ENVIRONMENTS[kind].format(python=sys.executable, wheel=named(packages, ".whl"))
    environment = tmp_path / shell(script, tmp_path, tools).split()[-1]
    (packages_of,) = environment.glob("lib/python*/site-packages")
    (packages_of / "required.pth").write_text(f"{required}\n")
    follow(f'"{environment}/bin/flatpanel"', site, tools)


@pytest.mark.packages
@pytest.mark.skipif(
    not Path(os.__file__).with_name("EXTERNALLY-MANAGED").is_file(),
    reason="pip does not refuse the Python of this system",
)
def test_the_printed_command_works_in_a_checkout_with_the_python_of_the_system(
    tools: dict[str, str], required: Path, site: Site, tmp_path: Path
) -> None:
    """Which has its libraries for all programs; pip refuses to add one (PEP 668)."""
    folder, environment = clone(tmp_path / "check out"), {**tools, "HOME": str(tmp_path)}
    system = Path(sys.executable).resolve()
    libraries = Path(shell(f'"{system}" -m site --user-site || true', tmp_path, environment).strip())
    libraries.mkdir(parents=True)
    (libraries / "required.pth").write_text(f"{required}\n")
    (python,) = follow(f'"{system}" "{folder}/build.py"', site, environment)

    assert "no problems" in shell(f'{python} "{folder}/build.py" check', site.folder, environment)


def follow(program: str, site: Site, environment: dict[str, str]) -> list[str]:
    """Use a library that is missing, and do what the message says; then the program works.

    Returns the Python to use from then on, if the message names one.
    """
    site.write("site.yaml", "base_url: https://minimal.example\npages: true\n")
    (site.folder / "theme").mkdir()
    (site.folder / "theme/about.md").write_text("# About\n")
    printed = shell(f"{program} check", site.folder, environment, code=1)
    advice = re.search(r"needs the library markdown-it-py; install it: `(.+)`(?:, then use (.+))?\n", printed)
    assert advice, printed
    shell(advice[1], site.folder, environment)
    if advice[2]:
        return [advice[2]]
    assert "no problems" in shell(f"{program} check", site.folder, environment)
    return []


def copy_project(folder: Path, *left_out: str) -> None:
    """The files of the working copy that git knows or may know, except those below some folders."""
    for name in filter(None, shell("git ls-files -z --cached --others --exclude-standard", ROOT).split("\0")):
        if (ROOT / name).is_file() and not name.startswith(left_out):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def clone(folder: Path) -> Path:
    """A clone of the working copy, whose commit is in a repository with a URL."""
    copy_project(folder, "tests/", "docs/")
    shell(f"git init -q && git add . && {GIT} commit -qm first && git remote add origin {REPOSITORY}", folder)
    shell("git update-ref refs/remotes/origin/main HEAD", folder)
    return folder


@pytest.mark.packages
def test_the_readme_of_a_new_project_installs_the_program_that_made_it(tools: dict[str, str], tmp_path: Path) -> None:
    """By the URL and commit in its requirements. The installed program writes the same requirements."""
    folder = clone(tmp_path / "checkout")
    shell(f'"{sys.executable}" "{folder}/build.py" init project', tmp_path, tools)
    project = tmp_path / "project"
    requirements = (project / "requirements.txt").read_text()
    (first, *_) = blocks_of((project / "README.md").read_text(), "sh")
    commands = [command for command, _ in steps(first)]
    assert commands.pop() == "flatpanel serve --watch"

    # git reads the folder in place of the URL of the repository.
    settings = {f"url.{folder.as_uri()}.insteadOf": REPOSITORY, "safe.directory": "*"}
    environment = {**tools, "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        environment |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    check = ["flatpanel check", "mkdir theme && echo x > theme/about.md", "flatpanel check"]
    printed = shell("\n".join([*commands, *check, "flatpanel init ../second"]), project, environment)

    head = shell("git rev-parse HEAD", folder).strip()
    assert requirements.splitlines()[-1] == f"flatpanel[images,texts] @ git+{REPOSITORY}@{head}"
    assert printed.count("no problems") == 2
    assert (tmp_path / "second/requirements.txt").read_text() == requirements


@pytest.mark.packages
@needs_hatchling
@pytest.mark.parametrize("number", [0, 1, 2], ids=["pipx", "venv", "pipx run"])
def test_the_documented_installation_works(
    tools: dict[str, str], packages: dict[str, Path], tmp_path: Path, number: int
) -> None:
    """Line by line, beside a catalog and the wheel. The installed program has all optional libraries."""
    folder, home = tmp_path / "site", tmp_path / "home"
    folder.mkdir()
    copy_example(folder)
    shutil.copy(named(packages, ".whl"), folder)
    block = blocks_of(sections(DOCUMENTS["docs/serving.md"])["an-installed-program"], "sh")[number]
    home.mkdir()
    environment = {**tools, "HOME": str(home), "PIPX_HOME": f"{home}/pipx", "PIPX_BIN_DIR": str(home / ".local/bin")}
    environment["PATH"] = f"{home}/.local/bin{os.pathsep}{tools['PATH']}"
    printed = shell("\n".join(command for command, _ in steps(block)), folder, environment)
    if number == 2:
        assert "no problems" in printed
        return
    python = next(path for path in home.rglob("bin/python") if "flatpanel" in str(path))

    assert (folder / "dist/current/manifest.json").is_file()
    shell(f'"{python}" -c "import PIL, apprise, imagesize, markdown_it, obstore"', tmp_path, environment)


@pytest.mark.packages
def test_build_py_without_its_libraries_prints_commands_that_install_them(
    tools: dict[str, str], tmp_path: Path
) -> None:
    """In any folder. An archive of the sources has no tools; the test of a checkout above runs tools/setup."""
    folder = clone(tmp_path / "check out")
    start = f'"{Path(sys.executable).resolve()}" -S "{folder}/build.py" check'
    setup = f"`'{folder}/tools/setup' run`, then use '{folder}/.venv/bin/python'\n"
    assert f"is not installed; run {setup}" in shell(start, tmp_path, tools, code=2)

    shutil.rmtree(folder / "tools")
    advice = re.search("is not installed; run `(.+)`, then use (.+)\n", shell(start, tmp_path, tools, code=2))
    assert advice
    shell(advice[1], tmp_path, tools)
    assert "no problems" in shell(f'{advice[2]} "{folder}/build.py" check', folder, tools)
