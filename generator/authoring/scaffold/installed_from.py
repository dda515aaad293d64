"""The line of a requirements.txt that installs the running program again, on another machine."""

from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from ... import __version__, encoding

_NAME = "flatpanel"
_PACKAGE = Path(__file__).parents[2]
_SAME = "# The Flatpanel that made this project, from where it was installed."
_UNKNOWN = """\
# Flatpanel is on no package index yet, so pip does not find this version.
# Write the place where it can be had in front of the @, then remove the #:
# flatpanel @ git+https://git.example/flatpanel@<commit>"""


def requirement() -> str:
    """What pip noted of the installation, if other machines can use it; otherwise the version."""
    where = _installed_from()
    return f"{_SAME}\n{_NAME} @ {where}" if where else f"{_UNKNOWN}\n{_NAME}=={__version__}"


def _installed_from() -> str | None:
    """The URL in pip's direct_url.json (PEP 610), with the commit or the digest that it names."""
    try:
        found = distribution(_NAME)
    except PackageNotFoundError:
        return None
    noted = found.read_text("direct_url.json") if _is_running(found) else None
    return _pinned(encoding.parse(noted.encode())) if noted else None


def _is_running(found: Distribution) -> bool:
    """A checkout may run beside an installed package."""
    return Path(str(found.locate_file(_PACKAGE.name))).resolve() == _PACKAGE.resolve()


def _pinned(noted: dict[str, Any]) -> str | None:
    url = noted["url"]
    if url.startswith("file:"):
        return None
    subdirectory = [f"subdirectory={noted['subdirectory']}"] if "subdirectory" in noted else []
    if "vcs_info" in noted:
        vcs = noted["vcs_info"]
        return "#".join([f"{vcs['vcs']}+{url}@{vcs['commit_id']}", *subdirectory])
    archive = noted.get("archive_info", {})
    hashes = archive.get("hashes") or dict([archive["hash"].split("=", 1)] if "hash" in archive else [])
    digests = [f"{name}={hashes[name]}" for name in ("sha512", "sha256") if name in hashes][:1]
    return "#".join([url, *filter(None, ["&".join([*digests, *subdirectory])])])
