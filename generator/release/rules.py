"""What holds for a release as a whole; each host makes its own configuration of it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

# The paths below which a slug follows, besides the reader's.
_WITH_SLUG = ("/api/series", "/api/v1/series", "/api/v2/series", "/api/v2/cubari")
# Those of each app. A path of further pages (/opds/v1.2/page/2/series/…) is redirected as well.
_WITH_SLUG_IN_APPS = {
    "komga": ("/komga/api/v1/series", "/komga/series"),
    "opds": ("/opds/v1.2/series", "/opds/v2/series"),
}


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that responses depend on besides the entries of the table."""

    base_url: str
    # The path of the reader's pages; begins and ends with a slash.
    reader: str
    # Whether the site has pages for readers, and whether it is a preview for editors.
    pages: bool
    preview: bool
    # The max-age of 404, 451 and 308.
    error_age: int
    # Every max-age of site.yaml in ascending order, whether a body has it or not.
    max_ages: tuple[int, ...]
    # The routes that need an API key, as in site.yaml: paths below /api/v2.
    restricted: tuple[str, ...]
    # The present slug of each old slug. All paths with the old slug, and those below them, are redirected.
    redirects: Mapping[str, str]
    # Scheme and host of the images that pages contain.
    image_origins: tuple[str, ...]
    # The apps with paths of their own, whether old paths of archives redirect, and the max-age of redirects with 302.
    apps: tuple[str, ...] = ()
    archives: bool = False
    apps_age: int = 0

    def dump(self) -> dict[str, Any]:
        """The rules as in the head of a manifest. Those of a site without apps do not mention them."""
        optional = {"apps": self.apps, "archives": self.archives, "apps_age": self.sends_302}
        return {name: value for name, value in asdict(self).items() if optional.get(name, True)}

    @property
    def sends_302(self) -> bool:
        return bool(self.apps) or self.archives

    def redirected_paths(self) -> dict[str, str]:
        """The present path of each path with an old slug."""
        folders = (*_WITH_SLUG, *((self.reader.removesuffix("/"),) if self.pages else ()))
        return self._redirected(folders)

    def redirected_paths_in_apps(self) -> dict[str, str]:
        """The same for the paths of apps, which are redirected with 302."""
        return self._redirected([folder for app in self.apps for folder in _WITH_SLUG_IN_APPS[app]])

    def _redirected(self, folders: Iterable[str]) -> dict[str, str]:
        pairs = ((f"{path}/{old}", f"{path}/{new}") for path in folders for old, new in self.redirects.items())
        return dict(sorted(pairs))


# The rules of an empty release.
NO_RULES = Rules("", "/", False, False, 0, (), (), {}, ())


def load(value: Mapping[str, Any]) -> Rules:
    """The rules in the head of a manifest. Raises TypeError."""
    lists = {name: tuple(value.get(name, ())) for name in ("max_ages", "restricted", "image_origins", "apps")}
    return Rules(**{**value, **lists})
