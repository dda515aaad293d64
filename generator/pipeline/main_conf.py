"""The main nginx configuration that follows from the options of a build, and the paths in it."""

import os
from pathlib import Path
from typing import Any

from ..catalog import layout, media_folder
from ..catalog.confined_folder import Folder
from ..catalog.linking import offers_archives
from ..catalog.site_settings import Site
from ..errors import FlatpanelError
from ..filesystem import begins_with
from ..nginx import config
from ..release.store import refuse_inside
from .build_options import Options
from .cache import MAIN_CONF, Cache

# The beginning of every main configuration file that a build wrote. `release.sh` of `publish` looks for the same.
WRITTEN = b"# Written by the build from site.yaml"


def refuse_foreign(path: Path, out: Path) -> None:
    """Refuse to replace a file that no build wrote, a file of the releases, and a new file among the series."""
    advice = "choose another file with --nginx"
    refuse_inside(out, path, advice)
    if not path.exists():
        return layout.refuse_among_sources(path, advice)
    if not path.is_file():
        raise FlatpanelError(f"{path}: is not a file; choose another one with --nginx")
    if not begins_with(path, WRITTEN):
        raise FlatpanelError(f"{path}: was not written by a build; move it, or choose another file with --nginx")


def dist_in_conf(options: Options, site: Site) -> str:
    """The path of `out` in the nginx configuration: relative if possible, so that both can be moved together."""
    if site.server_folder and not options.local:
        return f"{site.server_folder}/{options.out.name}"
    return _relative_if_possible(options, options.out.resolve())


def _relative_if_possible(options: Options, path: Path) -> str:
    folder = options.nginx.resolve().parent
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def media_in_conf(options: Options, site: Site) -> config.MediaConf | None:
    """The images of `media_folder` in the nginx configuration; None if this server has none.

    Raises if nginx would serve the folder of the releases or of the cache.
    """
    location = media_folder.url_path(site)
    if not site.media_folder or not location:
        return None
    own = local_media(options.catalog, site.media_folder)
    for path in filter(None, (options.out, options.cache)):
        if media_folder.overlap(os.path.realpath(own), os.path.realpath(path)):
            raise FlatpanelError(
                f"{options.catalog / layout.SITE}: media_folder: {site.media_folder} and {path} are in one another; "
                "choose another folder"
            )
    if site.server_folder and not options.local:
        folder = f"{site.server_folder}/{site.media_folder}"
    else:
        folder = _relative_if_possible(options, own)
    return media_conf(location, folder, site)


def media_conf(location: str, folder: str, site: Site) -> config.MediaConf:
    """The images in a folder, and the archives, if the site has any."""
    archive_age = site.cache.v2.series if offers_archives(site) else None
    return config.MediaConf(location, folder, site.cache.media, archive_age)


def local_media(catalog: Folder, folder: str) -> Path:
    """The folder of images on this machine."""
    return media_folder.project_folder(catalog).resolve() / folder


def main_conf(options: Options, site: Site) -> bytes:
    """The main configuration file."""
    return config.main_conf(**_values(options, site))


def cached_main_conf(options: Options, site: Site, cache: Cache) -> bytes:
    """The same from the cache, since importing jinja2 and rendering the file take 60 ms."""
    key = ascii(_values(options, site))
    text: str = cache.cached(MAIN_CONF, key, lambda: main_conf(options, site).decode())
    return text.encode()


def _values(options: Options, site: Site) -> dict[str, Any]:
    dist = dist_in_conf(options, site)
    current = f"{dist}/current"
    media = current if media_in_conf(options, site) else None
    return {
        "listen": [str(site.port), *[f"[::]:{site.port}"] * site.ipv6],
        "folder": current,
        "run": f"{dist}/run",
        "media": media,
    }
