"""The line of requirements.txt that installs the running version on another machine."""

from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from ... import __version__, encoding

_NAME = "flatpanel"
_PACKAGE = Path(__file__).parents[2]
_SAME = "# The version of Flatpanel that created this project."
_UNKNOWN = """\
# Flatpanel is not on a package index yet, so pip cannot find this version.
# Replace the last line by the URL of a repository:
# flatpanel @ git+https://git.example/flatpanel@<commit>"""


def requirement() -> str:
    """Return the source that pip recorded, if other machines can use it; otherwise the version."""
    source = _installed_from()
    return f"{_SAME}\n{_NAME} @ {source}" if source else f"{_UNKNOWN}\n{_NAME}=={__version__}"


def _installed_from() -> str | None:
    """Return the URL in pip's direct_url.json (PEP 610), with its commit or digest."""
    try:
        installed = distribution(_NAME)
    except PackageNotFoundError:
        return None
    direct_url = installed.read_text("direct_url.json") if _is_running(installed) else None
    return _pinned(encoding.parse(direct_url.encode())) if direct_url else None


def _is_running(installed: Distribution) -> bool:
    """Return whether the installed package is the running one, not a checkout beside it."""
    return Path(str(installed.locate_file(_PACKAGE.name))).resolve() == _PACKAGE.resolve()


def _pinned(direct_url: dict[str, Any]) -> str | None:
    """Return a requirement with the exact commit or digest; None for a local path."""
    url = direct_url["url"]
    if url.startswith("file:"):
        return None
    subdirectory = [f"subdirectory={direct_url['subdirectory']}"] if "subdirectory" in direct_url else []
    if "vcs_info" in direct_url:
        vcs = direct_url["vcs_info"]
        return "#".join([f"{vcs['vcs']}+{url}@{vcs['commit_id']}", *subdirectory])
    archive = direct_url.get("archive_info", {})
    hashes = archive.get("hashes") or dict([archive["hash"].split("=", 1)] if "hash" in archive else [])
    digests = [f"{name}={hashes[name]}" for name in ("sha512", "sha256") if name in hashes][:1]
    return "#".join([url, *filter(None, ["&".join([*digests, *subdirectory])])])
