"""An export for Netlify: files of JSON have the suffix .json, and a rewrite adds it to paths."""

from collections.abc import Iterator

from ...api.payloads.resources import SUFFIXES
from ...release.manifest import plain_file
from .export_folder import ROOT, HostExport, body_file, text_file
from .plain_release import PlainRelease
from .rule_files import (
    Redirect,
    app_redirects,
    app_types,
    chapter_redirects,
    header_rules,
    lost,
    missing_files,
    rule_files,
    slug_redirects,
)

_SETTINGS = f"""# A later export does not change this file once you have changed it.
[build]
  publish = "{ROOT}"
  command = ""
""".encode()


def export(release: PlainRelease) -> HostExport:
    """The files of an export for Netlify."""
    files = [body_file(f"{ROOT}/{plain_file(body)}", body, release.dist) for body in release.bodies]
    files += missing_files(release, ".json")
    # The page of missing paths. A rule of all paths would also change the policies of other files.
    missing = (body._replace(url=f"/{plain_file(body)}") for body in release.bodies if body.url == "/404/")
    headers = header_rules(release._replace(bodies=(*release.bodies, *missing)))
    for pattern, type in app_types(release).items():
        headers.setdefault(pattern, []).append(f"Content-Type: {type}")
    files += rule_files(headers, _redirects(release))
    files.append(text_file("netlify.toml", _SETTINGS, is_editable=True))
    # Without pages, `/` and `/index.json` have one file.
    return HostExport(list({file.name: file for file in files}.values()), tuple(lost(release)))


def _redirects(release: PlainRelease) -> Iterator[Redirect]:
    """Of the rules that fit a path, the first counts. A file of the path itself comes before all rules."""
    yield from chapter_redirects(release)
    yield from slug_redirects(release.rules)
    yield from app_redirects(release)
    yield Redirect("/api/*", "/api/:splat.json", 200)
    for pattern, type in app_types(release).items():
        yield Redirect(pattern, f"{pattern.replace('*', ':splat')}{SUFFIXES[type]}", 200)
    if not release.rules.pages:
        yield Redirect("/", "/index.json", 200)
    yield Redirect("/api/v2/*", "/api/v2/404.json", 404)
    yield Redirect("/api/*", "/api/404.json", 404)
    yield from (Redirect(f"/{app}/*", "/api/404.json", 404) for app in release.rules.apps)
    yield Redirect("/*", "/404.html" if release.rules.pages else "/404.json", 404)
