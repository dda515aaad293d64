"""An export for Apache: a file beside each body has its headers, and an .htaccess has the rules."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from ... import encoding
from ...api import policies as api_policies
from ...api.payloads import errors
from ...api.payloads.resources import ANY_NUMBER, HTML, SUFFIXES, SVG, Gate, key, location
from ...release.manifest import Published
from ...templating import Templates
from . import export_folder
from .export_folder import ROOT, HostExport, HostFile, body_file, exact_name, gzip_file, text_file
from .patterns import SEGMENTS, app_slugs, paths_with_slugs, rule_values
from .plain_release import NAMED_ERRORS, PlainRelease, media_types

# The folder of responses that belong to no URL.
_OWN = f"{ROOT}/_flatpanel"


def quote(value: object) -> str:
    """A value as one word of the configuration."""
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def pattern(text: str) -> str:
    """A pattern of whole paths for a folder's configuration, which leaves out the first slash."""
    return re.sub(r"^\^(\(?)/", r"^\1", text).removesuffix("$") + "/?$"


_TEMPLATES = Templates(Path(__file__).parent / "templates", quote=quote, pattern=pattern, json=encoding.json_text)


def export(release: PlainRelease) -> HostExport:
    """The files of an export for Apache, without those of paths that it cannot serve."""
    lost = [body.url for body in release.bodies if _is_decoded_twice(body)]
    bodies = tuple(body for body in release.bodies if not _is_decoded_twice(body))
    warnings = (f"{url}: this host cannot serve a path with an escaped %, ? or #; left out" for url in lost)
    return HostExport(list(_files(release._replace(bodies=bodies))), tuple(warnings))


def _is_decoded_twice(body: Published) -> bool:
    """Whether Apache, which decodes the target of a rule once more, would look for another file."""
    return not {"%", "?", "#"}.isdisjoint(key(body.url))


def _files(release: PlainRelease) -> Iterator[HostFile]:
    for body in (*release.bodies, *release.queries):
        yield from _body(exact_name(body), body, release)
    yield from _aliases(release)
    yield from export_folder.markers(release.licensed, 451)
    yield from export_folder.markers(release.locked, 401)
    for gate in release.gates:
        if gate.status in (302, 308):
            yield from _redirect(gate, release)
    for name, status, text in NAMED_ERRORS:
        headers = [f"Status: {status}", "Content-Type: application/json"]
        yield from _answer(f"{_OWN}/{name}.json", encoding.json(text), headers)
    for body in release.bodies:
        if body.url == "/404/":
            yield from _answer(f"{_OWN}/404.html", (release.dist / body.file).read_bytes(), [f"Content-Type: {HTML}"])
    yield text_file(f"{ROOT}/.htaccess", _TEMPLATES.render("htaccess.conf", _values(release)))
    values = {"host": urlsplit(release.rules.base_url).hostname, "errors": errors}
    yield text_file("apache.conf", _TEMPLATES.render("apache.conf", values), is_editable=True)


def _body(name: str, body: Published, release: PlainRelease) -> Iterator[HostFile]:
    """A body, its gzip form, and the headers of both."""
    headers = list(_headers(body, release))
    # After its body: a reader between both gets a body with the ETag of the one before, which is harmless.
    yield body_file(name, body, release.dist)
    yield _sidecar(name, [f'ETag: "{body.etag}"', *headers])
    if body.gzip:
        yield gzip_file(f"{name}.gz", body, release.dist)
        yield _sidecar(f"{name}.gz", [f'ETag: W/"{body.etag}"', *headers, "Content-Encoding: gzip"])


def _headers(body: Published, release: PlainRelease) -> Iterator[str]:
    """The headers of both forms of a body. As Last-Modified, Apache itself sends the time of the file."""
    yield f"Content-Type: {body.type}"
    yield f"Cache-Control: public, max-age={body.max_age}"
    if body.gzip:
        yield "Vary: Accept-Encoding"
    if body.url.startswith("/api/v2/docs"):
        yield f"Content-Security-Policy: {api_policies.DOCS_POLICY}"
    elif body.type == SVG:
        yield f"Content-Security-Policy: {api_policies.SVG_POLICY}"
    elif body.url == api_policies.WORKER:
        yield f"Content-Security-Policy: {api_policies.worker_policy(release.rules.image_origins)}"
    elif body.type == HTML:
        yield f"Content-Security-Policy: {api_policies.page_policy(release.rules.image_origins)}"
        yield "Referrer-Policy: strict-origin-when-cross-origin"


def _aliases(release: PlainRelease) -> Iterator[HostFile]:
    """The body of each alias once more: a folder's configuration has no list of names and targets.

    The names are lowercase: the request may have a slug in any letter case.
    """
    bodies = {body.url: body for body in release.bodies}
    for alias in release.aliases:
        url = alias.url.lower()
        if alias.target in bodies:
            yield from _body(f"{ROOT}{key(url)}.json", bodies[alias.target], release)
        else:
            yield from export_folder.markers([url], 401)


def _redirect(gate: Gate, release: PlainRelease) -> Iterator[HostFile]:
    url = location(gate, release.rules.base_url)
    headers = [f"Status: {gate.status}", f"Location: {url}", "Content-Type: application/json"]
    yield from _answer(f"{ROOT}{key(gate.url)}.json", encoding.json({"url": url}), headers)


def _answer(name: str, text: bytes, headers: list[str]) -> Iterator[HostFile]:
    yield text_file(name, text)
    yield _sidecar(name, headers)


def _sidecar(name: str, headers: list[str]) -> HostFile:
    return text_file(f"{name}.headers", "".join(f"{line}\n" for line in headers).encode())


def _values(release: PlainRelease) -> dict[str, object]:
    rules = release.rules
    return {
        **rule_values(rules),
        "any_number": ANY_NUMBER,
        "suffixes": [SUFFIXES[type] for type in media_types(release)],
        "moved": list(_moved(release)),
        "moved_in_apps": [
            (rf"^\S+ {pattern}({SEGMENTS})/*[?\s]", f"{target}%1") for pattern, target in app_slugs(rules)
        ],
    }


def _moved(release: PlainRelease) -> Iterator[tuple[str, str]]:
    """Patterns of request lines with old slugs, and the path with the present slug."""
    for folder, (old, present), is_page in paths_with_slugs(release.rules):
        begin = rf"^\S+ {re.escape(folder).replace('/', '/+')}{old}"
        if is_page:
            yield rf"{begin}(\.(?:atom|rss|json))/?[?\s]", f"{folder}{present}%1"
        yield rf"{begin}({SEGMENTS})/*[?\s]", f"{folder}{present}%1{'/' if is_page else ''}"
