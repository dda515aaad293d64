"""The OpenAPI 3.1 document of everything here, made from the table of routes and the shapes of its bodies."""

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any

from ... import __version__
from ...catalog.entities import Catalog
from ..resources import HTML, Body
from . import parameters
from . import responses as answers
from .operations import OPERATIONS, TAGS, Operation
from .schema_types import Schema, array, object_of, ref
from .schemas import SCHEMA_OF, SCHEMAS

_DESCRIPTION = """\
A read-only catalog of comics. Every path answers GET and HEAD alike, the same with a slash at its end, and ignores
parameters that it does not define. OPTIONS is answered with 204 and what scripts of other sites may do.

Bodies are JSON with every key that their schema names, compressed if the client accepts gzip.
Each has a tag and a date: a client that sends them back gets a 304 as long as nothing changed.

`v1` and `unversioned` need no key. A series that is licensed can be read there and answers 451 in v2, unless this
service hides it; one that takes a key is not there at all."""
_PAGE: Schema = {"type": "string"}
_DOCUMENT = object_of(
    openapi={"type": "string", "pattern": r"^3\.1\."},
    **{name: {"type": "object"} for name in ("info", "paths", "components")},
    **{name: array({"type": "object"}) for name in ("servers", "tags")},
)


@dataclass(frozen=True, slots=True)
class PathDescription:
    """What the table knows of a path: the shape of its body if it has one, and what its gates answer."""

    path: str
    payload: Callable[[Any], Body] | None
    type: str
    gates: Set[int]
    restricted: bool

    @property
    def v2(self) -> bool:
        return self.path.startswith("/api/v2/")


@dataclass(frozen=True, slots=True)
class PathTable:
    catalog: Catalog
    paths: Sequence[PathDescription]


def document(table: PathTable) -> Body:
    site = table.catalog.site
    shown = {
        "openapi": "3.1.1",
        "info": {"title": "Series catalog", "description": _DESCRIPTION, "version": __version__},
        # First where the document came from, so that it works on every host that serves it.
        "servers": [{"url": "/"}, {"url": site.base_url}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": {one.path: {"get": operation(one, OPERATIONS[one.path])} for one in table.paths},
        "components": {
            "schemas": SCHEMAS,
            "parameters": parameters.parameters(site.page_size),
            "headers": answers.HEADERS,
            "responses": answers.RESPONSES,
            "securitySchemes": parameters.SECURITY_SCHEMES,
        },
    }
    return Body(shown, table.catalog.site_modified)


def operation(one: PathDescription, said: Operation) -> Schema:
    conditions = parameters.CONDITIONS if one.payload else ()
    names = (ref(name, "parameters") for name in (*said.parameters, *conditions))
    return {
        "operationId": said.id,
        "tags": [said.tag],
        "summary": said.summary,
        **({"description": said.description} if said.description else {}),
        **({"deprecated": True} if said.deprecated else {}),
        "parameters": [*parameters.of_path(one.path), *names],
        "responses": responses(one, said),
        "security": security(one, said),
    }


def responses(one: PathDescription, said: Operation) -> dict[str, Schema]:
    """The statuses of a path, in order, and at the end whatever HTTP itself may refuse."""
    statuses = {*one.gates, *said.refuses, 405}
    if one.payload:
        statuses |= {304, 412}
    if one.restricted or said.of_series:
        statuses.add(401)
    found = {str(status): ref(answers.BY_STATUS[status][one.v2], "responses") for status in sorted(statuses)}
    if one.payload:
        schema = _schema(one, one.payload)
        found = {"200": answers.body(f"{said.summary}.", schema, v2=one.v2, kind=one.type), **found}
    return {**found, "default": ref(answers.BY_STATUS["default"][one.v2], "responses")}


def _schema(one: PathDescription, shape: Callable[[Any], Body]) -> Schema:
    if one.type == HTML:
        return _PAGE
    return _DOCUMENT if shape is document else SCHEMA_OF[shape]


def security(one: PathDescription, said: Operation) -> list[dict[str, list[str]]]:
    """Any one of these is enough; an empty one means that none is needed."""
    keys: list[dict[str, list[str]]] = [{name: []} for name in parameters.SECURITY_SCHEMES]
    if one.restricted:
        return keys
    return [{}, *keys] if said.of_series else []
