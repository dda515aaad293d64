"""The options of a build."""

from dataclasses import dataclass
from pathlib import Path

from ..catalog import git
from ..catalog.confined_folder import Folder


@dataclass(frozen=True, slots=True)
class Options:
    """Everything that a build depends on besides the catalog, the current time included."""

    catalog: Folder
    out: Path
    nginx: Path
    as_of: int
    # The manifest whose dates are continued, instead of that of the current release.
    previous: Path | None = None
    jobs: int = 1
    # The folder of the cache; None builds without one.
    cache: Path | None = None
    # Serve from `out` on this machine, and ignore `server_folder` of site.yaml.
    local: bool = False
    # Replaces `base_url` of site.yaml.
    base_url: str | None = None
    # The commit times of files; None reads them from git.
    past: git.FileTimes | None = None
    # The share of series and chapters that may be removed, in percent; None allows all.
    max_removed: int | None = None
    # A preview for editors: with scheduled chapters, and with pages that also show what needs an API key.
    preview: bool = False
