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
from tests.support.archives import named, needs_hatchling, packages, unmeasured
from tests.support.documents import DOCUMENTS, blocks_of, sections, steps
from tests.support.paths import ROOT

REPOSITORY = "https://git.example/flatpanel"
WHEEL = "https://files.example/flatpanel-0.1.0-py3-none-any.whl"
COMMIT, DIGEST = "a" * 40, "b" * 64
GIT = "git -c user.name=a -c user.email=a@b.example"
OPTIONAL = ("imagesize", "markdown_it", "mdurl", "obstore")


# The requirements of a new project


def record(packages: Path, direct_url: dict[str, Any] | None) -> Path:
    """Write what pip records of an installed program; return the folder of its package."""
    information = packages / "flatpanel-0.1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: flatpanel\nVersion: {__version__}\n")
    if direct_url:
        (information / "direct_url.json").write_text(json.dumps(direct_url))
    package = packages / "flatpanel"
    package.mkdir()
    (package / "cli.py").write_text("program = 1\n")
    return package


def last_line() -> str:
    return installation.requirement().splitlines()[-1].removeprefix("flatpanel[images,texts] @ ")


@pytest.mark.parametrize(
    ("recorded", "source"),
    [
        ({"url": REPOSITORY, "vcs_info": {"vcs": "git", "commit_id": COMMIT}}, f"git+{REPOSITORY}@{COMMIT}"),
        (
            {"url": REPOSITORY, "subdirectory": "sub", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
            f"git+{REPOSITORY}@{COMMIT}#subdirectory=sub",
        ),
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
    (folder / "generator/cli.py").write_text("program = 1\n")
    shell(
        f"git init -q && git add . && {GIT} commit -qm first && git remote add upstream {REPOSITORY} && "
        "git remote add local /srv/flatpanel && git update-ref refs/remotes/upstream/main HEAD",
        folder,
    )
    return folder


NOT_PUBLISHED = {
    "an edited file": "echo '#' >> generator/cli.py",
    "a new file": "touch generator/new.py",
    "a commit that is in no repository": f"{GIT} commit -q --allow-empty -m second",
    "a repository of this machine": "git remote set-url upstream /srv/other",
    "a repository that needs an account": "git remote set-url upstream git@git.example:flatpanel",
    "no repository": "git remote remove upstream && git remote remove local",
    "a damaged clone": "rm .git/HEAD",
    "no clone": "rm -rf .git",
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
    # A hook runs with the repository of the catalog in its environment.
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "catalog/.git"))

    source = last_line()
    assert source.startswith("<fill in ") if change in NOT_PUBLISHED else source == f"git+{REPOSITORY}@{head}"


def test_requirements_without_git_have_no_commit(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git is not installed."""
    monkeypatch.setattr(installation, "_PACKAGE", checkout / "generator")
    monkeypatch.setattr(installation, "_CHECKOUT", checkout)
    monkeypatch.setenv("PATH", str(checkout))

    assert last_line().startswith("<fill in ")


def test_pip_refuses_requirements_that_are_not_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the workflows of a new project with it. It prints what is missing, and requests no package."""
    monkeypatch.setattr(installation, "_CHECKOUT", tmp_path)
    (tmp_path / "requirements.txt").write_text(installation.requirement() + "\n")
    with socket.socket() as index:
        index.bind(("127.0.0.1", 0))
        index.listen()
        index.setblocking(False)
        options = f"--index-url http://127.0.0.1:{index.getsockname()[1]}/simple --retries 0"
        pip = f'"{sys.executable}" -m pip --isolated install --dry-run {options} --requirement requirements.txt'
        printed = shell(pip, tmp_path, code=1)

        assert re.search("Invalid requirement: .*fill in the URL of Flatpanel .* requirements.txt", printed)
        with pytest.raises(BlockingIOError):
            index.accept()


