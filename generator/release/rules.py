"""What holds for a release as a whole; each host makes its own configuration of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

# The paths below which a slug follows, besides the reader's.
_WITH_SLUG = ("/api/series", "/api/v1/series", "/api/v2/series", "/api/v2/cubari")


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
    # The apps with paths of their own, and the max-age of redirects there.
    apps: tuple[str, ...] = ()
    apps_age: int = 0

    def dump(self) -> dict[str, Any]:
        """The rules as in the head of a manifest. Those of a site without apps do not mention them."""
        values = asdict(self)
        return values if self.apps else {name: value for name, value in values.items() if not name.startswith("apps")}

    def redirected_paths(self) -> dict[str, str]:
        """The present path of each path with an old slug."""
        folders = (*_WITH_SLUG, *((self.reader.removesuffix("/"),) if self.pages else ()))
        pairs = ((f"{path}/{old}", f"{path}/{new}") for old, new in self.redirects.items() for path in folders)
        return dict(sorted(pairs))


# The rules of an empty release.
NO_RULES = Rules("", "/", False, False, 0, (), (), {}, ())


def load(value: Mapping[str, Any]) -> Rules:
    """The rules in the head of a manifest. Raises TypeError."""
    lists = {name: tuple(value.get(name, ())) for name in ("max_ages", "restricted", "image_origins", "apps")}
    return Rules(**{**value, **lists})
