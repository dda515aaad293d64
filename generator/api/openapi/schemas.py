"""JSON Schemas: those of bodies, derived from the return types of the payload functions, and references to them.

This is a walk of its own over the annotations, not pydantic's `TypeAdapter`: see docs/decisions/responses.md.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from inspect import unwrap
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, is_typeddict

from ... import encoding
from ..payloads import errors, unversioned, v1, v2
from ..payloads.fields import Component, Keywords
from ..payloads.resources import AllChapters, Body, JoinedBodies

Schema: TypeAlias = dict[str, Any]

_JSON_TYPES = {str: "string", int: "integer", bool: "boolean", encoding.Number: "number"}
# Values whose JSON is made elsewhere. An annotation is the type of it.
_ENCODED = (bytes, JoinedBodies, AllChapters)


def ref(name: str, kind: str = "schemas") -> Schema:
    return {"$ref": f"#/components/{kind}/{name}"}


def schema_of(payload: Callable[[Any], Body]) -> Schema:
    """The schema of the bodies that a function makes."""
    # Since Python 3.14, a cached function has no annotations of its own.
    (shape,) = get_args(unwrap(payload).__annotations__["return"])
    return schema(shape)


def schema(shape: Any) -> Schema:
    """The schema of a type: of a component, a reference."""
    return ref(name) if (name := _component(shape)) else _definition(shape)


def _component(shape: Any) -> str:
    """The name of a type that the document has as a component; private classes and other types have none."""
    if isinstance(shape, str):  # a class that is defined later
        return shape
    if is_typeddict(shape) and not shape.__name__.startswith("_"):
        # The classes of /api have a prefix, so that no entity has their name.
        return str(shape.__name__).removeprefix("Unversioned")
    return next((note.name for note in getattr(shape, "__metadata__", ()) if isinstance(note, Component)), "")


def _definition(shape: Any) -> Schema:
    origin, parameters = get_origin(shape), get_args(shape)
    if is_typeddict(shape):
        return _object(shape.__annotations__, shape.__required_keys__)
    if is_typeddict(origin):
        fields = {name: field[parameters] for name, field in origin.__annotations__.items()}
        return _object(fields, origin.__required_keys__)
    if origin is Annotated:
        return _annotated(*parameters)
    if origin is Sequence:
        return {"type": "array", "items": schema(parameters[0])}
    if origin is dict:
        keys, values = map(schema, parameters)
        return {"type": "object", "propertyNames": keys, "additionalProperties": values}
    if origin is Literal:
        return {"type": "string", "enum": list(parameters)}
    if type(None) in parameters:
        present = schema(parameters[0])
        values = {"enum": [*present["enum"], None]} if "enum" in present else {}
        return {**present, **values, "type": [present["type"], "null"]}
    return {} if shape is Any else {"type": _JSON_TYPES[shape]}


def _object(fields: Mapping[str, Any], required: Set[str]) -> Schema:
    """An object with these keys and no others."""
    properties = {name: schema(shape) for name, shape in fields.items()}
    always = [name for name in properties if name in required]
    return {"type": "object", "properties": properties, "required": always, "additionalProperties": False}


def _annotated(shape: Any, *notes: Any) -> Schema:
    if shape in _ENCODED:
        return schema(notes[0])
    annotated = dict(schema(shape))
    for note in notes:
        if isinstance(note, Keywords):
            annotated |= note.keywords
        elif isinstance(note, str):
            annotated["description"] = note
    if "anyOf" in annotated:
        annotated["anyOf"] = list(map(schema, annotated["anyOf"]))
    return annotated


def _components() -> Iterator[tuple[str, Schema]]:
    for module in (unversioned, v1, v2, errors):
        for shape in vars(module).values():
            if not isinstance(shape, str) and (name := _component(shape)):
                yield name, _definition(shape)


# By name, in the order of the modules and of their lines.
SCHEMAS: dict[str, Schema] = dict(_components())
