"""JSON Schema types and helpers from which schemas, parameters and responses are made."""

from typing import Any, TypeAlias

from ... import encoding
from ...catalog import patterns

Schema: TypeAlias = dict[str, Any]

_DAY, _MONTH = f"({'|'.join(encoding.DAYS)})", f"({'|'.join(encoding.MONTHS)})"

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
ID: Schema = {"type": "integer", "minimum": 1, "maximum": 2_147_483_647}
SLUG: Schema = {"type": "string", "pattern": patterns.SLUG}
URI: Schema = {"type": "string", "format": "uri"}
FLOAT: Schema = {"type": "number", "format": "float", "minimum": 0}
# Canonical: 1 and 10.5, never 1.0, 01 or 1e3. A string, because a JSON number would lose its spelling.
DECIMAL: Schema = {"type": "string", "pattern": f"^{patterns.CANONICAL_NUMBER}$", "examples": ["1", "10.5"]}
VOLUME: Schema = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
INSTANT: Schema = {"type": "string", "format": "date-time", "pattern": "Z$"}
HTTP_DATE: Schema = {
    "type": "string",
    "pattern": f"^{_DAY}, [0-9]{{2}} {_MONTH} [0-9]{{4}} [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}} GMT$",
    "examples": ["Thu, 30 Apr 2026 18:00:00 GMT"],
}


def object_of(**fields: Schema) -> Schema:
    """An object with exactly these keys."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def keyed_by(names: Schema, values: Schema) -> Schema:
    """An object whose keys are data."""
    return {"type": "object", "propertyNames": names, "additionalProperties": values}


def nullable(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def described(schema: Schema, description: str, **more: object) -> Schema:
    """A schema with a description."""
    return {**schema, "description": description, **more}


def ref(name: str, kind: str = "schemas") -> Schema:
    return {"$ref": f"#/components/{kind}/{name}"}
