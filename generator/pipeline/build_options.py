"""The options of a build, and the main nginx configuration that follows from them."""

from dataclasses import dataclass
from pathlib import Path

from ..catalog import git
from ..catalog.confined_folder import Folder
from ..catalog.site_settings import Site
from ..nginx import config


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


def dist_in_conf(options: Options, site: Site) -> str:
    """The path of `out` in the nginx configuration: relative if possible, so that both can be moved together."""
    if site.server_folder and not options.local:
        return f"{site.server_folder}/{options.out.name}"
    out, folder = options.out.resolve(), options.nginx.resolve().parent
    return str(out.relative_to(folder)) if out.is_relative_to(folder) else str(out)


def main_conf(options: Options, site: Site) -> bytes:
    """The main configuration file."""
    dist = dist_in_conf(options, site)
    ipv6 = "[::]" if site.ipv6 else ""
    return config.main_conf(site.port, ipv6=ipv6, folder=f"{dist}/current", run=f"{dist}/run")
