"""An export for Caddy: a file beside each body has its ETag, and a Caddyfile has the rules."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ... import encoding
from ...api.payloads.resources import LOCKED_RESULTS_URL, SUFFIXES, Alias, key
from ...templating import Templates
from . import export_folder
from .export_folder import HostExport, HostFile, body_file, exact_name, gzip_file, text_file
from .patterns import INTEGER, NUMBER, SEGMENTS, app_slugs, path_rules, paths_with_slugs, rule_values
from .plain_release import NAMED_ERRORS, PlainRelease, media_types


def quote(value: object) -> str:
    """A value as one word of a Caddyfile, with braces that are no placeholders."""
    text = str(value)
    return f"`{text}`" if "`" not in text else '"' + text.replace('"', '\\"') + '"'


_TEMPLATES = Templates(Path(__file__).parent / "templates", quote=quote, json=encoding.json_text)


def export(release: PlainRelease) -> HostExport:
    """The files of an export for Caddy, which has no limits of its own."""
    return HostExport(list(_files(release)))


def _files(release: PlainRelease) -> Iterator[HostFile]:
    for body in (*release.bodies, *release.queries):
        name = exact_name(body)
        yield body_file(name, body, release.dist)
        # After its body: a reader between both gets a body with the ETag of the one before, which is harmless.
        yield text_file(f"{name}.etag", f'"{body.etag}"'.encode())
        if body.gzip:
            yield gzip_file(f"{name}.gz", body, release.dist)
            yield text_file(f"{name}.gz.etag", f'W/"{body.etag}"'.encode())
    yield from export_folder.markers(release.licensed, 451)
    yield from export_folder.markers(release.locked, 401)
    yield text_file("flatpanel-read.map", _lines(release.moved))
    yield text_file("flatpanel-series.map", _lines(dict(map(_series_line, release.aliases))))
    yield text_file("flatpanel-pages.map", _lines(dict(map(_page_line, release.aliases))))
    if release.rules.sends_302:
        yield text_file("flatpanel-apps.map", _lines(release.redirects_in_apps))
    yield text_file("flatpanel.caddy", _TEMPLATES.render("flatpanel.caddy", _values(release)))
    # An address of Caddy has no dot at the end of its host.
    address = re.sub(r"\.(?=(?::\d+)?$)", "", release.rules.base_url)
    main = _TEMPLATES.render("example.caddy", {"base_url": address})
    yield text_file("Caddyfile", main, is_editable=True)


def _lines(values: Mapping[str, str]) -> bytes:
    return "".join(f"{quote(name)} {quote(value)}\n" for name, value in sorted(values.items())).encode()


def _series_line(alias: Alias) -> tuple[str, str]:
    """A pattern of a slug in any letter case, and the slug."""
    slug = key(alias.url).split("/")[3]
    return f"~(?i)^{re.escape(slug)}$", slug


def _page_line(alias: Alias) -> tuple[str, str]:
    name = key(alias.url).removeprefix("/query/pages/")
    if alias.target == LOCKED_RESULTS_URL:
        return f"~^{re.escape(name.partition('/')[0])}/{INTEGER}/{NUMBER}$", "401"
    return name, alias.target


def _values(release: PlainRelease) -> dict[str, object]:
    rules = release.rules
    return {
        **rule_values(rules),
        "types": [(SUFFIXES[type], type) for type in media_types(release)],
        "ages": list(_ages(release)),
        "moved": list(_moved(release)),
        "moved_in_apps": [
            (rf"~^{pattern}({SEGMENTS})/*(?:\?|$)", f"{target}${{1}}") for pattern, target in app_slugs(rules)
        ],
        "named_errors": NAMED_ERRORS,
    }


def _ages(release: PlainRelease) -> Iterator[tuple[str, int]]:
    """Patterns of paths and the max-age of their bodies."""
    ages = {key(body.url): body.max_age for body in (*release.bodies, *release.queries)}
    for rule, age in path_rules(ages).items():
        yield f"~^{re.escape(rule.removesuffix('*'))}" if rule.endswith("/*") else f"~^{re.escape(rule)}$", age


def _moved(release: PlainRelease) -> Iterator[tuple[str, str]]:
    """Patterns of URLs with old slugs, and the path with the present slug."""
    for path, (old, present), is_page in paths_with_slugs(release.rules):
        begin = path.replace("/", "/+")
        if is_page:
            yield rf"~^({begin}){old}(\.(?:atom|rss|json))/?(?:\?|$)", f"{path}{present}${{2}}"
        end = "/" if is_page else ""
        yield rf"~^{begin}{old}({SEGMENTS})/*(?:\?|$)", f"{path}{present}${{1}}{end}"
