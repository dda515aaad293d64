"""The OpenAPI document is valid and complete, and every body matches it. The golden files have its exact text."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generator import encoding
from generator.api.openapi.document import OPERATIONS, TAGS
from generator.api.openapi.schemas import schema_of
from generator.api.payloads.resources import HTML, JSON, SERIES_INDEX_URL, Resource
from generator.api.routes import GATES, ROUTES
from generator.catalog.entities import Catalog
from tests.conftest import AS_OF, SITES
from tests.support import linked_catalog
from tests.support.paths import EXAMPLE
from tests.support.runs import sample
from tests.support.yaml_catalogs import resources

jsonschema = pytest.importorskip("jsonschema")
validate = pytest.importorskip("openapi_spec_validator").validate

DOCUMENT = "/api/v2/openapi.json"


def read(folder: Path, **settings: object) -> Catalog:
    """A catalog with changed settings."""
    catalog = linked_catalog.read_catalog(folder, AS_OF)
    vars(catalog)["site"] = catalog.site.model_copy(update=settings)
    return catalog


def document_of(catalog: Catalog) -> Any:
    (resource,) = (one for _, one in resources(catalog) if one.url == DOCUMENT)
    return json.loads(encoding.body(resource.body.value))


@pytest.fixture(scope="module")
def example() -> Catalog:
    return read(EXAMPLE)


@pytest.fixture(scope="module")
def document(example: Catalog) -> Any:
    return document_of(example)


def path_of(path: str) -> str:
    return re.split("[?#]", path)[0]


def parts(value: Any) -> Iterator[Any]:
    """A value and everything inside it."""
    yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(child)


def operations(document: Any) -> dict[str, Any]:
    return {path: item["get"] for path, item in document["paths"].items()}


def resolved(document: Any, value: Any) -> Any:
    """The value that a reference points to."""
    while "$ref" in value:
        _, _, kind, name = value["$ref"].split("/")
        value = document["components"][kind][name]
    return value


def validate_body(document: Any, path: str, kind: str, body: Any) -> None:
    """Raise an error if a body does not match the 200 of its path."""
    schema = operations(document)[path]["responses"]["200"]["content"][kind]["schema"]
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(body)


# The document itself


def test_document_is_valid(document: Any) -> None:
    """A public validator accepts it."""
    validate(document)


def test_document_has_exactly_the_paths_of_the_tables(document: Any) -> None:
    """The scripts and styles of the documentation page are left out, and `/`, which may be a page."""
    routes = {path_of(one.path) for one in ROUTES if one.type in (JSON, HTML)} - {"/"}

    assert set(document["paths"]) == set(OPERATIONS) == routes | {path_of(one.path) for one in GATES}


def test_all_bodies_of_a_path_have_one_schema() -> None:
    """A parameter selects other values in the same shape."""
    first = {path_of(route.path): route.payload for route in reversed(ROUTES)}

    for route in ROUTES:
        if route.type == JSON and route.path != SERIES_INDEX_URL:
            assert schema_of(route.payload) == schema_of(first[path_of(route.path)]), route.path


def test_every_gate_status_is_described(document: Any) -> None:
    for gate in GATES:
        assert str(gate.status) in operations(document)[path_of(gate.path)]["responses"]


def test_every_parameter_of_the_tables_is_described(document: Any) -> None:
    """Path templates and queries of the tables name them."""
    for route in (*ROUTES, *GATES):
        if getattr(route, "type", JSON) not in (JSON, HTML) or route.path == "/":
            continue
        parameters = [
            resolved(document, parameter) for parameter in operations(document)[path_of(route.path)]["parameters"]
        ]
        names = {
            where: {parameter["name"] for parameter in parameters if parameter["in"] == where}
            for where in ("path", "query")
        }
        query = route.path.partition("#")[0].partition("?")[2]

        assert names["path"] == set(re.findall(r"{(\w+)}", path_of(route.path)))
        assert names["query"] >= {part.partition("=")[0] for part in query.split("&") if part}


def test_every_component_is_used(document: Any) -> None:
    """Every reference points to an existing component."""
    used = {one["$ref"] for one in parts(document) if isinstance(one, dict) and "$ref" in one}
    kinds = ("schemas", "parameters", "headers", "responses")

    assert used == {f"#/components/{kind}/{name}" for kind in kinds for name in document["components"][kind]}


def test_tags_are_declared_and_used(document: Any) -> None:
    """Each tag is declared once and used at least once."""
    assert [one["name"] for one in document["tags"]] == list(TAGS)
    assert {tag for one in operations(document).values() for tag in one["tags"]} == set(TAGS)


def test_operation_ids_are_unique(document: Any) -> None:
    """They are camel case, and the plural of category is categories."""
    ids = [one["operationId"] for one in operations(document).values()]

    assert len(set(ids)) == len(ids)
    assert [one for one in ids if one.endswith("ys") or not re.fullmatch("[a-z][A-Za-z0-9]+", one)] == []
    assert {"listSeries", "retrieveSeries", "listCategories", "retrieveCategory"} <= set(ids)


# Conventions


def test_every_object_is_closed(document: Any) -> None:
    """An object with named keys always has all of them and no others. Only links of a series are each optional."""
    schemas = document["components"]["schemas"]
    for schema in parts(schemas):
        if isinstance(schema, dict) and "properties" in schema:
            assert schema["additionalProperties"] is False
            assert schema["required"] == ([] if schema is schemas["V2SeriesLinks"] else list(schema["properties"]))


def test_slugs_ids_and_numbers_have_their_types(document: Any) -> None:
    """Ids are integers, slugs have a pattern, numbers are floats, URIs have no pattern."""
    for schema in parts(document):
        if not isinstance(schema, dict) or "type" not in schema:
            continue
        if schema["type"] == "number":
            assert schema["format"] == "float"
        if schema.get("format") == "uri":
            assert "pattern" not in schema
    for record in parts(document["components"]["schemas"]):
        for name, field in record.get("properties", {}).items() if isinstance(record, dict) else ():
            if name == "slug":
                assert field["pattern"] == "^[-a-zA-Z0-9_]+$"
            if name == "id" and record is not document["components"]["schemas"]["V1Category"]:
                assert field["type"] == "integer"
    parameters = document["components"]["parameters"]
    assert parameters["slug"]["schema"]["pattern"] == "^[-a-zA-Z0-9_]+$"
    assert parameters["id"]["schema"]["type"] == "integer"


KEYS: list[Any] = [{"header": []}, {"query": []}]


def test_restricted_routes_need_a_key() -> None:
    """The document describes the settings of this site."""
    restricted = ["/groups", "/chapters/{id}/read", "/series"]
    described = operations(document_of(read(EXAMPLE, restricted=restricted)))

    for path in restricted:
        assert described[f"/api/v2{path}"]["security"] == KEYS
        assert "401" in described[f"/api/v2{path}"]["responses"]
    assert described["/api/v2/groups/{id}"]["security"] == []


def test_document_has_page_size_and_url_of_the_site() -> None:
    document = document_of(read(EXAMPLE, page_size=7, base_url="https://comics.example"))

    assert document["components"]["parameters"]["limit"]["schema"]["default"] == 7
    assert document["servers"] == [{"url": "/"}, {"url": "https://comics.example"}]


# The document and the bodies


@pytest.mark.parametrize("folder", [EXAMPLE, *sorted(SITES.iterdir())], ids=lambda folder: folder.name)
def test_every_body_matches_its_schema(folder: Path) -> None:
    catalog = read(folder)
    document = document_of(catalog)
    bodies: dict[str, list[Resource]] = {path: [] for path in document["paths"]}
    for route, resource in resources(catalog):
        if path_of(route.path) in bodies and not route.path.endswith("#index"):
            bodies[path_of(route.path)].append(resource)
    for path, listed in bodies.items():
        # Those of one path differ little.
        for resource in sample(listed, 8):
            body = encoding.body(resource.body.value)
            value = json.loads(body) if resource.type == JSON else body.decode()
            validate_body(document, path, resource.type, value)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v2/authors/{id}", {"id": 1}),
        ("/api/v2/authors/{id}", {"id": "1", "name": "Ada"}),
        ("/api/v2/authors/{id}", {"id": 1, "name": "Ada", "aliases": []}),
        ("/api/v2/bookmarks", {"bookmarks": [{"series": "not a slug"}]}),
        ("/api/series/{slug}/{volume}", {"1.0": {}}),
        ("/api/authors", {}),
    ],
)
def test_invalid_body_does_not_match_its_schema(document: Any, path: str, body: object) -> None:
    """The schemas reject missing and extra keys, wrong types and nulls."""
    with pytest.raises(jsonschema.ValidationError):
        validate_body(document, path, JSON, body)
