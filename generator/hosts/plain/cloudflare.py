"""An export for Cloudflare's static assets, without a worker."""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote

from ... import encoding
from ...api import policies
from ...api.payloads.resources import JSON, key
from ...errors import counted
from ...release.manifest import Published, plain_file
from ..packs.worker_files import worker_name
from .export_folder import ROOT, HostExport, body_file, text_file
from .plain_release import PlainRelease
from .rule_files import (
    HeaderRules,
    Redirect,
    app_redirects,
    app_types,
    chapter_redirects,
    header_rules,
    lost,
    missing_files,
    rule_files,
    slug_redirects,
    too_large,
)

# Limits of static assets: bytes of a file, files of the free and of the paid plan, rules in `_headers`, and redirects
# with and without a `*`. A line of `_headers` has at most 2,000 characters, see `api/policies.py`.
MAX_BYTES = 25 * 2**20
MAX_FILES, MAX_PAID_FILES = 20_000, 100_000
MAX_RULES = 100
MAX_STATIC, MAX_DYNAMIC = 2000, 100
# The last segments that the host redirects: 404.html is the page of errors of a folder, index.html the folder itself.
_REDIRECTED = re.compile(r"404|index|.*\.html")
_POLICY = "Content-Security-Policy"
# The folder of their bodies, where no name collides with that of another URL.
_OWN = "/_flatpanel"
# Characters that an escaped path of the release has, and that the host redirects to their plain form.
_PLAIN = "!'()*"


def export(release: PlainRelease) -> HostExport:
    """The files of an export for Cloudflare."""
    warnings = [*lost(release), *too_large(release.bodies, MAX_BYTES)]
    bodies = [body for body in release.bodies if body.size <= MAX_BYTES]
    files = [body_file(f"{ROOT}/{_name(body)}", body, release.dist) for body in bodies]
    # The host sends the error of the nearest folder.
    files += missing_files(release, ".html", *(f"/{app}" for app in release.rules.apps))
    redirects, warning = _redirects(release)
    warnings += warning
    redirects, warning = _limited([*_rewrites(bodies), *redirects])
    warnings += warning
    rules, warning = _headers(release)
    warnings += warning
    files += rule_files(rules, redirects)
    files.append(text_file("wrangler.jsonc", _wrangler(release), is_editable=True))
    if len(files) > MAX_FILES:
        warnings.append(
            f"{len(files)} files, and Cloudflare takes {MAX_FILES:,} for free and {MAX_PAID_FILES:,} otherwise; "
            "`python build.py pack` needs fewer"
        )
    return HostExport(files, tuple(warnings))


def _name(body: Published) -> str:
    """The file of a URL: x.html for /x, and x/index.html for /x/. The host removes both endings from a path."""
    if body.url == "/":
        return "index.html"
    if plain_file(body) == key(body.url)[1:]:
        return plain_file(body)
    path = unquote(_served_path(body))[1:]
    return f"{path}index.html" if path.endswith("/") else f"{path}.html"


def _served_path(body: Published) -> str:
    """The path at which the host serves a body without a redirect."""
    if body.url == "/404/":
        return "/404"
    path = quote(unquote(body.url), safe=f"/{_PLAIN}")
    bare = path.removesuffix("/")
    return f"{_OWN}{bare}/" if _REDIRECTED.fullmatch(bare.rpartition("/")[2]) else path


def _rewrites(bodies: Iterable[Published]) -> Iterator[Redirect]:
    """Rules that serve a body at its URL, with and without a final slash, where the host redirects the URL."""
    for body in bodies:
        path, bare = _served_path(body), body.url.removesuffix("/")
        if path != body.url:
            yield from (Redirect(url, path, 200) for url in (bare, f"{bare}/") if url != path)


def _headers(release: PlainRelease) -> tuple[HeaderRules, list[str]]:
    """The rules of `_headers`, and what does not fit into them."""
    rules: HeaderRules = {"/*": [], "/api/*": []}
    # First of all, since rules over the limit are left out: files of JSON have the suffix .html here.
    rules["/api/*" if release.rules.pages else "/*"].append(f"Content-Type: {JSON}")
    rules |= {f"/{app}/*": [f"Content-Type: {JSON}"] for app in release.rules.apps if release.rules.pages}
    types = app_types(release) | {body.url: body.type for body in release.bodies if _is_document(body)}
    # A line with ! removes the header that an earlier rule has set.
    rules |= {pattern: ["! Content-Type", f"Content-Type: {type}"] for pattern, type in types.items()}
    for pattern, lines in header_rules(release).items():
        rules.setdefault(pattern, []).extend(lines)
    rules = {pattern: lines for pattern, lines in rules.items() if lines}
    if release.rules.pages:
        rules = _with_policy_everywhere(rules, f"{_POLICY}: {policies.page_policy(release.rules.image_origins)}")
    if len(rules) <= MAX_RULES:
        return rules, []
    warning = f"_headers: has {len(rules)} rules, this host takes {MAX_RULES}; the others were left out"
    return _limited_headers(rules), [warning]


def _with_policy_everywhere(rules: HeaderRules, page_policy: str) -> HeaderRules:
    """All paths without a policy of their own have that of pages: also missing ones, whose page is 404.html."""
    result: HeaderRules = {}
    for pattern, lines in rules.items():
        others = [line for line in lines if line != page_policy]
        result[pattern] = [*[f"! {_POLICY}"] * _has_policy(others), *others]
    result["/*"].append(page_policy)
    return {pattern: lines for pattern, lines in result.items() if lines}


def _has_policy(lines: Iterable[str]) -> bool:
    return any(line.startswith(_POLICY) for line in lines)


def _limited_headers(rules: HeaderRules) -> HeaderRules:
    """The rules that the host takes: the first, and those with policies of their own."""
    own = {pattern for pattern, lines in rules.items() if pattern != "/*" and _has_policy(lines)}
    left_out = {*[pattern for pattern in rules if pattern not in own][max(1, MAX_RULES - len(own)) :]}
    kept = [(pattern, lines) for pattern, lines in rules.items() if pattern not in left_out]
    return dict(kept[:MAX_RULES])


def _is_document(body: Published) -> bool:
    return body.url.startswith("/api/") and body.type != JSON


def _redirects(release: PlainRelease) -> tuple[list[Redirect], list[str]]:
    """The redirects to pages and present slugs, and a sentence about a base URL to which the host cannot redirect."""
    redirects = [*chapter_redirects(release), *app_redirects(release), *slug_redirects(release.rules)]
    if not redirects or release.rules.base_url.startswith("https://"):
        return redirects, []
    return [], [
        f"base_url: {release.rules.base_url} is not https, and this host redirects to https only; {len(redirects)} "
        "redirects were left out"
    ]


def _limited(redirects: list[Redirect]) -> tuple[list[Redirect], list[str]]:
    """The redirects that the host takes, those without `*` first, and a sentence about the others."""
    static = [redirect for redirect in redirects if not redirect.is_dynamic]
    dynamic = [redirect for redirect in redirects if redirect.is_dynamic]
    warnings = []
    if len(static) > MAX_STATIC or len(dynamic) > MAX_DYNAMIC:
        warnings.append(
            f"_redirects: has {len(static)} redirects and {len(dynamic)} with `*`, this host takes {MAX_STATIC:,} and "
            f"{MAX_DYNAMIC}; those of the oldest chapters and of some old slugs were left out"
        )
    if count := sum(redirect.status == 200 for redirect in static[MAX_STATIC:]):
        warnings.append(f"_redirects: has no room for the rules of {counted(count, 'path')}, which this host redirects")
    return [*static[:MAX_STATIC], *dynamic[:MAX_DYNAMIC]], warnings


def _wrangler(release: PlainRelease) -> bytes:
    """The settings of wrangler, without a worker."""
    assets = {"directory": f"./{ROOT}", "html_handling": "auto-trailing-slash", "not_found_handling": "404-page"}
    name = worker_name(release.rules.base_url)
    return encoding.indented({"name": name, "compatibility_date": "2025-01-01", "assets": assets})
