"""The folder of images that nginx serves: `media_folder` of site.yaml, a folder below the project's folder.

The project's folder contains the folder of the catalog.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UnlocatedProblem
from ..filesystem import is_inside
from .confined_folder import Folder
from .layout import SITE

if TYPE_CHECKING:
    from .site_settings import Site

# Paths of the API and of internal locations.
_RESERVED = ("/api/", "/_flatpanel/")
_FIELD = ("media_folder",)


def url_path(site: "Site") -> str:
    """The path at which the server of `base_url` has the images, such as /media/; empty if another host has them."""
    if site.media.startswith("/"):
        return site.media
    own = f"{site.base_url}/".lower()
    return site.media[len(own) - 1 :] if site.media.lower().startswith(own) else ""


def url_path_fault(path: str) -> str | None:
    """Why images cannot be served at a path; None if they can."""
    if path == "/" or path.startswith(_RESERVED):
        return f"images cannot be served at {path}, which has other URLs; set media to a path like /media/"
    return None


def project_folder(catalog: Folder) -> Path:
    return Path(os.path.abspath(catalog)).parent


def problems(catalog: Folder, site: "Site") -> Iterator[UnlocatedProblem]:
    """Yield the problems of `media_folder`. The folder may be missing: images need not be where the build runs."""
    if not site.media_folder:
        return
    if fault := url_path_fault(url_path(site)):
        yield UnlocatedProblem(SITE, _FIELD, fault)
    project = os.path.realpath(project_folder(catalog))
    folder = os.path.realpath(os.path.join(project, site.media_folder))
    if os.path.lexists(folder) and not os.path.isdir(folder):
        yield UnlocatedProblem(SITE, _FIELD, f"{site.media_folder} is not a folder; name the folder of the images")
    elif not is_inside(folder, project):
        message = "the link leads out of the project; use a real folder, or `serve --media DIR` on your own machine"
        yield UnlocatedProblem(SITE, _FIELD, message)
    elif overlap(folder, os.path.realpath(catalog)):
        message = "the folder contains the catalog or is part of it; choose a folder beside the catalog"
        yield UnlocatedProblem(SITE, _FIELD, message)


def warnings(site: "Site") -> Iterator[UnlocatedProblem]:
    """Yield a warning if nothing is served from `media_folder`."""
    if site.media_folder and not url_path(site):
        message = f"has no effect: media is {site.media}, which is on another host; remove one of the two"
        yield UnlocatedProblem(SITE, _FIELD, message)


def overlap(folder: str, other: str) -> bool:
    """Whether one of two real paths is the other one or is below it."""
    return is_inside(folder, other) or is_inside(other, folder)
