"""The OpenAPI document: valid, complete, and true of every body."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generator import encoding
from generator.api.openapi.operations import OPERATIONS, TAGS
from generator.api.openapi.schemas import SCHEMA_OF, SCHEMAS
from generator.api.resources import HTML, JSON
from generator.api.routes import GATES, ROUTES
from generator.catalog.entities import Catalog
from tests.conftest import AS_OF, SITES
from tests.support import linked_catalog
from tests.support.paths import EXAMPLE
from tests.support.yaml_catalogs import resources

jsonschema = pytest.importorskip("jsonschema")
validate = pytest.importorskip("openapi_spec_validator").validate

DOCUMENT = "/api/v2/openapi.json"


def read(folder: Path, **settings: object) -> Catalog:
    """A catalog, with other settings than its site.yaml has."""
    catalog = linked_catalog.read_catalog(folder, AS_OF)
    vars(catalog)["site"] = catalog.site.model_copy(update=settings)
    return catalog


def document_of(catalog: Catalog) -> Any:
    (found,) = (one for _, one in resources(catalog) if one.url == DOCUMENT)
    return json.loads(encoding.body(found.body.value))


@pytest.fixture(scope="module")
def example() -> Catalog:
    return read(EXAMPLE)


@pytest.fixture(scope="module")
def document(example: Catalog) -> Any:
    return document_of(example)


def plain(path: str) -> str:
    return re.split("[?#]", path)[0]


def parts(value: Any) -> Iterator[Any]:
    """Everything inside a value, itself first."""
    yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(one)


def operations(document: Any) -> dict[str, Any]:
    return {path: item["get"] for path, item in document["paths"].items()}


def resolved(document: Any, value: Any) -> Any:
    """What a reference stands for."""
    while "$ref" in value:
        _, _, kind, name = value["$ref"].split("/")
        value = document["components"][kind][name]
    return value


def accepted(document: Any, path: str, kind: str, body: Any) -> None:
    """Raises where a body is not as its path's 200 says."""
    schema = operations(document)[path]["responses"]["200"]["content"][kind]["schema"]
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(body)


# The document as a document


def test_the_document_is_valid(document: Any) -> None:
    """A public validator finds nothing wrong with the document."""
    validate(document)


def test_every_schema_is_one(document: Any) -> None:
    """Every schema says what JSON Schema lets it say."""
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_path_of_the_tables_is_described_and_nothing_else(document: Any) -> None:
    """The document's paths are those of the tables of routes and gates, without the parts of its own page."""
    routes = {plain(one.path) for one in ROUTES if one.type in (JSON, HTML)}

    assert set(document["paths"]) == set(OPERATIONS) == routes | {plain(one.path) for one in GATES}


def test_every_shape_is_described() -> None:
    """The schemas are told by the functions that make the bodies, and none is told for a function that makes none."""
    first = {plain(one.path): one.payload for one in reversed(ROUTES) if one.type == JSON}

    assert set(SCHEMA_OF) == set(first.values()) - {first[DOCUMENT]} | {
        one.payload for one in ROUTES if "series=~" in one.path
    }


def test_every_gate_is_described(document: Any) -> None:
    """Whatever a gate answers is among the statuses of its path."""
    for gate in GATES:
        assert str(gate.status) in operations(document)[plain(gate.path)]["responses"]


def test_every_parameter_of_the_tables_is_described(document: Any) -> None:
    """What stands in braces is a parameter of the path, what stands behind a question mark one of the query."""
    for route in (*ROUTES, *GATES):
        if getattr(route, "type", JSON) not in (JSON, HTML):
            continue
        parameters = [resolved(document, one) for one in operations(document)[plain(route.path)]["parameters"]]
        found = {where: {one["name"] for one in parameters if one["in"] == where} for where in ("path", "query")}
        query = route.path.partition("#")[0].partition("?")[2]

        assert found["path"] == set(re.findall(r"{(\w+)}", plain(route.path)))
        assert found["query"] >= {part.partition("=")[0] for part in query.split("&") if part}


def test_nothing_is_told_that_nobody_refers_to(document: Any) -> None:
    """Every component is used, and what is used exists."""
    used = {one["$ref"] for one in parts(document) if isinstance(one, dict) and "$ref" in one}
    kinds = ("schemas", "parameters", "headers", "responses")

    assert used == {f"#/components/{kind}/{name}" for kind in kinds for name in document["components"][kind]}


def test_tags_are_declared_and_used(document: Any) -> None:
    """Every tag is declared once, and at least one operation has it."""
    assert [one["name"] for one in document["tags"]] == list(TAGS)
    assert {tag for one in operations(document).values() for tag in one["tags"]} == set(TAGS)


def test_operation_ids_are_names_of_their_own(document: Any) -> None:
    """No two operations have one id, and categories are not categorys."""
    ids = [one["operationId"] for one in operations(document).values()]

    assert len(set(ids)) == len(ids)
    assert [one for one in ids if one.endswith("ys") or not re.fullmatch("[a-z][A-Za-z0-9]+", one)] == []
    assert {"listSeries", "retrieveSeries", "listCategories", "retrieveCategory"} <= set(ids)


# Conventions


def test_every_record_is_closed(document: Any) -> None:
    """An object with named keys always has all of them and never another."""
    for one in parts(document["components"]["schemas"]):
        if isinstance(one, dict) and "properties" in one:
            assert one["additionalProperties"] is False
            assert one["required"] == list(one["properties"])


def test_slugs_ids_and_numbers_are_what_clients_expect(document: Any) -> None:
    """Ids are integers, slugs have their pattern, numbers with a point are floats, addresses have no pattern."""
    for one in parts(document):
        if not isinstance(one, dict) or "type" not in one:
            continue
        if one["type"] == "number":
            assert one["format"] == "float"
        if one.get("format") == "uri":
            assert "pattern" not in one
    for record in parts(document["components"]["schemas"]):
        for name, field in record.get("properties", {}).items() if isinstance(record, dict) else ():
            if name == "slug":
                assert field["pattern"] == "^[-a-zA-Z0-9_]+$"
            if name == "id" and record is not document["components"]["schemas"]["V1Category"]:
                assert field["type"] == "integer"
    parameters = document["components"]["parameters"]
    assert parameters["slug"]["schema"]["pattern"] == "^[-a-zA-Z0-9_]+$"
    assert parameters["id"]["schema"]["type"] == "integer"


def test_what_is_deprecated_says_so(document: Any) -> None:
    """Deprecated are one path and one field, both of v2."""
    assert [path for path, one in operations(document).items() if one.get("deprecated")] == ["/api/v2/pages"]
    assert [
        (name, field)
        for name, schema in SCHEMAS.items()
        for field, told in schema.get("properties", {}).items()
        if told.get("deprecated")
    ] == [("V2Series", "completed")]


def test_what_may_change_says_so(document: Any) -> None:
    """The reader format is experimental, the redirect temporary."""
    assert operations(document)["/api/v2/cubari/{slug}"]["description"].startswith("Experimental")
    assert operations(document)["/api/v2/chapters/{id}/read"]["description"].startswith("Temporary")


def test_a_key_has_two_forms(document: Any) -> None:
    """A key comes in a header or in the query."""
    schemes = document["components"]["securitySchemes"].values()

    assert [(one["type"], one["in"], one["name"]) for one in schemes] == [
        ("apiKey", "header", "X-API-Key"),
        ("apiKey", "query", "api_key"),
    ]


KEYS: list[Any] = [{"header": []}, {"query": []}]


@pytest.mark.parametrize(
    ("path", "security"),
    [
        ("/api/v2/profile", KEYS),
        ("/api/v2/bookmarks", KEYS),
        ("/api/v2/cubari/{slug}", [{}, *KEYS]),
        ("/api/v2/chapters/{id}/read", [{}, *KEYS]),
        ("/api/v2/groups", []),
        ("/api/v1/series", []),
    ],
)
def test_who_needs_a_key_is_told(document: Any, path: str, security: object) -> None:
    """An account needs a key, a single series may, everybody else does not."""
    assert operations(document)[path]["security"] == security
    assert ("401" in operations(document)[path]["responses"]) == bool(security)


def test_routes_that_the_site_restricts_need_a_key() -> None:
    """The document describes this site: what site.yaml puts behind a key is told with it."""
    restricted = ["/groups", "/chapters/{id}/read", "/series"]
    found = operations(document_of(read(EXAMPLE, restricted=restricted)))

    for path in restricted:
        assert found[f"/api/v2{path}"]["security"] == KEYS
        assert "401" in found[f"/api/v2{path}"]["responses"]
    assert found["/api/v2/groups/{id}"]["security"] == []


def test_the_document_names_the_sites_own_page_size_and_address() -> None:
    """Defaults and addresses are those of the site."""
    found = document_of(read(EXAMPLE, page_size=7, base_url="https://comics.example"))

    assert found["components"]["parameters"]["limit"]["schema"]["default"] == 7
    assert found["servers"] == [{"url": "/"}, {"url": "https://comics.example"}]


# The document and the bodies


@pytest.mark.parametrize("folder", [EXAMPLE, *sorted(SITES.iterdir())], ids=lambda folder: folder.name)
def test_every_body_is_as_described(folder: Path) -> None:
    """Every body of every site has the shape that the document promises for its path."""
    catalog = read(folder)
    document = document_of(catalog)
    for route, one in resources(catalog):
        if plain(route.path) in document["paths"] and not route.path.endswith("#index"):
            body = encoding.body(one.body.value)
            accepted(document, plain(route.path), one.type, json.loads(body) if one.type == JSON else body.decode())


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/v2/authors/{id}", {"id": 1}),
        ("/api/v2/authors/{id}", {"id": "1", "name": "Ada"}),
        ("/api/v2/authors/{id}", {"id": 1, "name": None}),
        ("/api/v2/authors/{id}", {"id": 1, "name": "Ada", "aliases": []}),
        ("/api/v2/cubari/{slug}", {"chapters": {}}),
        ("/api/v2/bookmarks", {"bookmarks": [{"series": "not a slug"}]}),
        ("/api/series/{slug}/{volume}", {"1.0": {}}),
        ("/api/authors", {}),
    ],
)
def test_a_body_that_is_not_as_described_is_told_apart(document: Any, path: str, body: object) -> None:
    """A key too few or too many, a wrong type, a null where none is listed: the schemas notice."""
    with pytest.raises(jsonschema.ValidationError):
        accepted(document, path, JSON, body)


def test_the_document_is_the_same_twice(document: Any) -> None:
    """Two builds describe one site in the same bytes."""
    assert encoding.json(document_of(read(EXAMPLE))) == encoding.json(document)
