"""How this program was installed: what installs the same version elsewhere, and how to add a library to it.

No package index has this program. Any account could register its name there, so no requirement is the name alone.
"""

import functools
import os
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from . import __version__, encoding

_NAME = "flatpanel"
# With the libraries for sizes of images and for texts of a theme.
_REQUIREMENT = f"{_NAME}[images,texts] @"
_PACKAGE = Path(__file__).parent
_CHECKOUT = _PACKAGE.parent
_PINNED = "# The version of Flatpanel that created this project."
# pip refuses the last line, and requests nothing.
_UNKNOWN = f"""\
# No package index has Flatpanel: pip needs the URL of a repository with a commit, or of a wheel with its digest.
# Fill it in, for example:
# {_REQUIREMENT} git+https://git.example/flatpanel@<commit>
# {_REQUIREMENT} https://files.example/flatpanel-{__version__}-py3-none-any.whl#sha256=<digest>
{_REQUIREMENT} <fill in the URL of Flatpanel as the comments of this file describe>"""


def how_to_add(library: str) -> str:
    """Return the command that adds an optional library to the Python that runs this program."""
    python, environment = shlex.quote(sys.executable), Path(sys.prefix)
    if (environment / "pipx_metadata.json").is_file():
        return f"`pipx inject {shlex.quote(environment.name)} {library}`"
    # The Python of a system that pip refuses to change (PEP 668).
    is_managed = sys.prefix == sys.base_prefix and Path(os.__file__).with_name("EXTERNALLY-MANAGED").is_file()
    setup = _CHECKOUT / "tools/setup"
    if is_managed and setup.is_file():
        return f"`{shlex.quote(str(setup))} run`, then use {shlex.quote(str(_CHECKOUT / '.venv/bin/python'))}"
    if not find_spec("pip"):
        return f"`uv pip install --python {python} {library}`"
    return f"`{python} -m pip install {'--break-system-packages ' * is_managed}{library}`"


def requirement() -> str:
    """Return the text of a requirements.txt that installs the running version on other machines.

    Without a source that they can use, it says what to fill in.
    """
    recorded = _direct_url()
    source = _at_commit(_CHECKOUT) if recorded is None else _recorded_source(recorded)
    return f"{_PINNED}\n{_REQUIREMENT} {source}" if source else _UNKNOWN


def _direct_url() -> dict[str, Any] | None:
    """Return what pip recorded about the source of the running program (PEP 610)."""
    # Slow to import, and used for new projects only.
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        installed = distribution(_NAME)
    except PackageNotFoundError:
        return None
    # A checkout beside an installed package is not that package.
    is_running = Path(str(installed.locate_file(_PACKAGE.name))).resolve() == _PACKAGE.resolve()
    direct_url = installed.read_text("direct_url.json") if is_running else None
    return encoding.parse(direct_url.encode()) if direct_url else None


def _recorded_source(recorded: dict[str, Any]) -> str | None:
    """Return the URL with its commit or digest; None if it has neither."""
    url = recorded["url"]
    if url.startswith("file:"):
        checkout = Path(unquote(urlsplit(url).path))
        return _at_commit(checkout) if _files(checkout / "generator") == _files(_PACKAGE) else None
    subdirectory = [f"subdirectory={recorded['subdirectory']}"] if "subdirectory" in recorded else []
    if "vcs_info" in recorded:
        vcs = recorded["vcs_info"]
        return "#".join([f"{vcs['vcs']}+{url}@{vcs['commit_id']}", *subdirectory])
    archive = recorded.get("archive_info", {})
    hashes = archive.get("hashes") or dict([archive["hash"].split("=", 1)] if "hash" in archive else [])
    digests = [f"{name}={hashes[name]}" for name in ("sha512", "sha256") if name in hashes][:1]
    return f"{url}#{'&'.join([*digests, *subdirectory])}" if digests else None


def _files(folder: Path) -> dict[Path, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder): path.read_bytes() for path in paths}


def _at_commit(checkout: Path) -> str | None:
    """Return the https URL of a repository that has the commit of a checkout.

    None if no remote has the commit, or if the program is not that of the commit.
    """
    git = functools.partial(_git, checkout)
    if not (checkout / ".git").exists() or git("status", "--porcelain", "--", "generator", "pyproject.toml") != "":
        return None
    for remote, url in re.findall(r"(?m)^remote\.(.+)\.url (https://.+)$", git("config", "--get-regexp", "url$") or ""):
        if git("for-each-ref", "--contains=HEAD", f"refs/remotes/{remote}/"):
            # Other machines have no use for a password in the URL, and must not get it.
            return f"git+{re.sub('^https://[^/]*@', 'https://', url)}@{git('rev-parse', 'HEAD')}"
    return None


def _git(checkout: Path, *arguments: str) -> str | None:
    """Return the output of git; None if it fails.

    GIT_DIR of a hook names another repository, so each command names this one.
    """
    # Slow to import, and used for new projects only.
    import subprocess

    places = [f"--git-dir={checkout / '.git'}", f"--work-tree={checkout}", "-C", str(checkout)]
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *places, *arguments], capture_output=True, check=True, text=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
