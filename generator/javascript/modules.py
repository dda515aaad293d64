"""The modules in JavaScript that a release or a pack of it contains, as flat files."""

from pathlib import Path

_FOLDER = Path(__file__).parent
# njs starts all of them for each request that needs one, so a release has only those that the adapter imports.
_NGINX = (
    "core/keys.js",
    "core/list_query.js",
    "core/list_search.js",
    "core/parameters.js",
    "core/redirects.js",
    "nginx/bytes.js",
    "nginx/flatpanel.js",
)


# The modules that a site with apps has besides.
_APPS = ("core/app_calls.js", "core/komga_list.js", "nginx/apps.js")


def of_nginx(*, apps: bool) -> dict[str, bytes]:
    """Name and text of the modules that njs runs: the adapter, and the part of the core that maps cannot do."""
    return _flat(_NGINX + _APPS if apps else _NGINX)


def of_worker() -> dict[str, bytes]:
    """Name and text of the modules of a worker, with those of the core."""
    return _flat(_names("core") + _names("worker"))


def _names(folder: str) -> list[str]:
    return sorted(f"{folder}/{path.name}" for path in (_FOLDER / folder).glob("*.js"))


def _flat(names: tuple[str, ...] | list[str]) -> dict[str, bytes]:
    """Files in one folder, where `../core/x.js` is `./x.js`."""
    paths = [_FOLDER / name for name in names]
    return {path.name: path.read_bytes().replace(b" from '../core/", b" from './") for path in paths}
