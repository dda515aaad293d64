"""The files `_headers` and `_redirects`, which Cloudflare and Netlify read, and what both hosts cannot do."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ... import encoding
from ...api import policies
from ...api.payloads import errors
from ...api.payloads.resources import SVG
from ...release.manifest import Published
from ...release.rules import Rules
from .export_folder import ROOT, HostFile, text_file
from .patterns import path_rules
from .plain_release import PlainRelease

# Headers of all responses, and those of v2.
_ALL = {
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag",
}
_V2 = {
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "X-API-Key, If-None-Match, If-Modified-Since",
}
# The second page of the list of series, in any order.
_SECOND_PAGE = "&page=2"

HeaderRules = dict[str, list[str]]


class Redirect(NamedTuple):
    """A line of `_redirects`."""

    path: str
    target: str
    status: int = 308

    @property
    def is_dynamic(self) -> bool:
        return "*" in self.path

    def __str__(self) -> str:
        return f"{self.path} {self.target} {self.status}"


def header_rules(release: PlainRelease) -> HeaderRules:
    """Lines of headers for each pattern of paths. One pattern at most gives a path its Cache-Control and its policy."""
    origins = release.rules.image_origins
    named = {
        "docs_policy": policies.DOCS_POLICY,
        "page_policy": policies.page_policy(origins),
        "svg_policy": policies.SVG_POLICY,
        "worker_policy": policies.worker_policy(origins),
    }
    rules: HeaderRules = {"/*": _lines(_ALL), "/api/v2/*": _lines(_V2)}
    rules |= {f"/{app}/*": ["X-Robots-Tag: noindex"] for app in release.rules.apps}
    values = {body.url: (body.max_age, "" if release.is_in_app(body.url) else _policy(body)) for body in release.bodies}
    for pattern, (age, policy) in path_rules(values).items():
        lines = [f"Cache-Control: public, max-age={age}"]
        if policy:
            lines.append(f"Content-Security-Policy: {named[policy]}")
        if policy == "page_policy":
            lines.append("Referrer-Policy: strict-origin-when-cross-origin")
        rules.setdefault(pattern, []).extend(lines)
    return rules


def _policy(body: Published) -> str:
    """The policy of a body. Outside the API, other files may have that of pages or of SVG: programs ignore it."""
    if body.url.startswith("/api/"):
        return "docs_policy" if body.url.startswith("/api/v2/docs") else ""
    if body.url == policies.WORKER:
        return "worker_policy"
    # One rule for the folder of the icon.
    return "svg_policy" if body.type == SVG or body.url.startswith("/assets/") else "page_policy"


def _lines(headers: Mapping[str, str]) -> list[str]:
    return [f"{name}: {value}" for name, value in headers.items()]


def rule_files(headers: HeaderRules, redirects: Iterable[Redirect]) -> Iterator[HostFile]:
    """The files `_headers` and `_redirects`."""
    lines = (line for pattern, values in headers.items() for line in (pattern, *(f"  {value}" for value in values)))
    yield text_file(f"{ROOT}/_headers", "".join(f"{line}\n" for line in lines).encode())
    yield text_file(f"{ROOT}/_redirects", "".join(f"{redirect}\n" for redirect in redirects).encode())


def chapter_redirects(release: PlainRelease) -> list[Redirect]:
    """The redirects to the pages of chapters, the newest first."""
    base = release.rules.base_url
    return [
        Redirect(path, f"{base}{target}") for path, target in sorted(release.moved.items(), key=_number, reverse=True)
    ]


def app_redirects(release: PlainRelease) -> Iterator[Redirect]:
    """The redirects of apps, with those of old slugs."""
    yield from (Redirect(path, url, 302) for path, url in release.redirects_in_apps.items())
    for old, present in release.rules.redirected_paths_in_apps().items():
        target = f"{release.rules.base_url}{present}"
        yield Redirect(old, target, 302)
        yield Redirect(f"{old}/*", f"{target}/:splat", 302)


def app_types(release: PlainRelease) -> dict[str, str]:
    """The media types of the bodies of apps, whose paths have no suffix, by rules of their paths."""
    types = {body.url: body.type if release.is_in_app(body.url) else "" for body in release.bodies}
    return {rule: type for rule, type in path_rules(types).items() if type}


def _number(entry: tuple[str, str]) -> int:
    """The id in /api/v2/chapters/{id}/read."""
    return int(entry[0].split("/")[4])


def slug_redirects(rules: Rules) -> Iterator[Redirect]:
    """The redirects of old slugs: each path itself, and all paths below."""
    for old, present in rules.redirected_paths().items():
        target = f"{rules.base_url}{present}"
        is_page = not old.startswith("/api/")
        yield Redirect(old, f"{target}/" if is_page else target)
        yield Redirect(f"{old}/*", f"{target}/:splat")
        if is_page:
            yield from (Redirect(f"{old}.{format}", f"{target}.{format}") for format in ("atom", "rss", "json"))


def lost(release: PlainRelease) -> Iterator[str]:
    """Sentences about URLs that a host without parameters and gates leaves out."""
    if any(_SECOND_PAGE in body.url for body in release.queries):
        yield (
            "/api/v2/series has more than one page, and this host ignores `page`: apps would read the first page again "
            "and again; set page_size in site.yaml to the number of series, at most 999"
        )
    if release.licensed:
        yield f"{len(release.licensed)} licensed URLs are missing: this host answers 404 in place of 451"


def too_large(bodies: Iterable[Published], limit: int) -> Iterator[str]:
    """A sentence for each body that is over the limit of a host."""
    for body in bodies:
        if body.size > limit:
            yield f"{body.url}: {body.size / 2**20:.1f} MiB, this host takes at most {limit // 2**20} MiB; left out"


def missing_files(release: PlainRelease, suffix: str, *folders: str) -> Iterator[HostFile]:
    """The errors of paths that do not exist, in these folders and in those of the API; without pages, of all paths."""
    for folder in ("/api", "/api/v2", *folders, *([] if release.rules.pages else [""])):
        body = errors.detail(404) if folder == "/api/v2" else errors.error(404)
        yield text_file(f"{ROOT}{folder}/404{suffix}", encoding.json(body))
