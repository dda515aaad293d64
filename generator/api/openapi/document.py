"""The OpenAPI 3.1 document, made from the tables of routes and the schemas of bodies."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from ... import __version__
from ...catalog.entities import Catalog
from ..resources import HTML, Body
from . import parameters, responses
from .operations import OPERATIONS, TAGS, Operation
from .schema_types import Schema, array, object_of, ref
from .schemas import SCHEMA_OF, SCHEMAS

# An import recognises a site of this program by it.
TITLE = "Series catalog"
_DESCRIPTION = """\
A read-only catalog of comics. Every path accepts GET and HEAD, with or without a slash at its end, and ignores
undefined parameters. OPTIONS returns 204 with the CORS headers.

Bodies are JSON. They contain every key that their schema names, and are compressed if the client accepts gzip.
A response has an ETag and a Last-Modified header. A client that sends them back gets a 304 until the body changes.

`v1` and `unversioned` need no key. They contain licensed series, which return 451 in v2, unless the site hides them.
They do not contain series that need a key."""
_PAGE: Schema = {"type": "string"}
_DOCUMENT = object_of(
    openapi={"type": "string", "pattern": r"^3\.1\."},
    **{name: {"type": "object"} for name in ("info", "paths", "components")},
    **{name: array({"type": "object"}) for name in ("servers", "tags")},
)


@dataclass(frozen=True, slots=True)
class PathDescription:
    """A path of the tables of routes: the function that makes its body, if any, and the statuses of its gates."""

    template: str
    payload: Callable[[Any], Body] | None
    type: str
    gates: Set[int]
    restricted: bool

    @property
    def v2(self) -> bool:
        return self.template.startswith("/api/v2/")


@dataclass(frozen=True, slots=True)
class PathTable:
    catalog: Catalog
    paths: Sequence[PathDescription]


def document(table: PathTable) -> Body:
    site = table.catalog.site
    has_old_slugs = any(series.formerly for series in table.catalog.series)
    value = {
        "openapi": "3.1.1",
        "info": {"title": TITLE, "description": _DESCRIPTION, "version": __version__},
        # The host of the document comes first, so that the document works on every host.
        "servers": [{"url": "/"}, {"url": site.base_url}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": {
            path.template: {"get": _operation(path, OPERATIONS[path.template], has_old_slugs=has_old_slugs)}
            for path in table.paths
        },
        "components": {
            "schemas": SCHEMAS,
            "parameters": parameters.parameters(site.page_size),
            "headers": responses.HEADERS,
            "responses": responses.RESPONSES | (responses.redirects() if has_old_slugs else {}),
            "securitySchemes": parameters.SECURITY_SCHEMES,
        },
    }
    return Body(value, table.catalog.site_modified)


def _operation(path: PathDescription, operation: Operation, *, has_old_slugs: bool) -> Schema:
    conditions = parameters.CONDITIONS if path.payload else ()
    names = (ref(name, "parameters") for name in (*operation.parameters, *conditions))
    return {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        **({"description": operation.description} if operation.description else {}),
        **({"deprecated": True} if operation.deprecated else {}),
        "parameters": [*parameters.of_path(path.template), *names],
        "responses": _responses(path, operation, redirects=has_old_slugs and "{slug}" in path.template),
        "security": _security(path, operation),
    }


def _responses(path: PathDescription, operation: Operation, *, redirects: bool) -> dict[str, Schema]:
    """The responses of a path by status, in order; then the default, for errors that any request can cause."""
    statuses = {*path.gates, *operation.errors, 405}
    if path.payload:
        statuses |= {304, 412}
    if path.restricted or operation.of_series:
        statuses.add(401)
    names = {status: responses.BY_STATUS[status][path.v2] for status in statuses}
    if redirects:
        names[308] = responses.REDIRECTS[path.v2]
    by_status = {str(status): ref(name, "responses") for status, name in sorted(names.items())}
    if path.payload:
        schema = _schema(path, path.payload)
        by_status = {"200": responses.ok(f"{operation.summary}.", schema, v2=path.v2, kind=path.type), **by_status}
    return {**by_status, "default": ref(responses.BY_STATUS["default"][path.v2], "responses")}


def _schema(path: PathDescription, payload: Callable[[Any], Body]) -> Schema:
    if path.type == HTML:
        return _PAGE
    return _DOCUMENT if payload is document else SCHEMA_OF[payload]


def _security(path: PathDescription, operation: Operation) -> list[dict[str, list[str]]]:
    """Alternatives, of which a request needs one. The empty alternative means that no key is needed."""
    keys: list[dict[str, list[str]]] = [{name: []} for name in parameters.SECURITY_SCHEMES]
    if path.restricted:
        return keys
    return [{}, *keys] if operation.of_series else []
