"""Requests made from the OpenAPI document: every response is described, and every described response can be had."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from generator import encoding
from generator.api.openapi.document import OPERATIONS
from generator.catalog import api_keys
from generator.catalog.entities import Catalog, Chapter
from tests.api.test_openapi import EXAMPLE, operations, resolved
from tests.conftest import AS_OF, Site, serving
from tests.support import linked_catalog
from tests.support import nginx_client as web
from tests.support.tables import each

jsonschema = pytest.importorskip("jsonschema")

# The key of an account, and a key without an account.
KEY, SPARE_KEY = api_keys.new_key(), api_keys.new_key()


@dataclass(frozen=True)
class Served:
    """The example site with an account whose key the tests have."""

    catalog: Catalog
    web: web.Web
    document: Any

    def chapter(self, *, licensed: bool = False, restricted: bool = False) -> Chapter:
        """A chapter with a volume, of a series with these properties."""
        return next(
            chapter
            for series in self.catalog.listed_series
            if (series.licensed, series.restricted) == (licensed, restricted)
            for chapter in series.chapters
            if chapter.volume
        )


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(EXAMPLE, folder / "catalog_src")
    with (folder / "catalog_src/accounts.yaml").open("a") as accounts:
        accounts.write(f"\n- {{username: asked, keys: [{{name: test, sha256: {encoding.sha256(KEY.encode())}}}]}}\n")
    (folder / "catalog_src/keys.yaml").write_text(f"- {{name: spare, sha256: {encoding.sha256(SPARE_KEY.encode())}}}\n")
    with serving(Site(folder)) as server:
        document = json.loads(server.ask("/api/v2/openapi.json").body)
        yield Served(linked_catalog.read_catalog(folder / "catalog_src", AS_OF), server, document)


# Every response is described


def existing_values(served: Served) -> dict[str, list[object]]:
    """Values that exist, by parameter name. Random values would return hardly anything but 404."""
    chapters = [served.chapter(), served.chapter(licensed=True), served.chapter(restricted=True)]
    etag = served.web.ask("/api/v2/series")["etag"]
    return {
        "id": [1, *(chapter.id for chapter in chapters)],
        "slug": [chapter.slug for chapter in chapters],
        "volume": [chapter.volume for chapter in chapters],
        "chapter": [chapter.number for chapter in chapters],
        "name": [served.catalog.categories[0].name],
        "pages_series": [chapter.slug for chapter in chapters],
        "pages_volume": [chapter.volume for chapter in chapters],
        "pages_number": [chapter.number for chapter in chapters],
        "If-None-Match": ["*", etag],
        "If-Match": ["*", etag],
    }


def document_with_existing_values(served: Served) -> Any:
    """The document with existing values among the allowed ones, and without the default response."""
    document = json.loads(json.dumps(served.document))
    for name, values in existing_values(served).items():
        parameter = document["components"]["parameters"][name]
        parameter["schema"] = {"anyOf": [{"enum": values}, parameter["schema"]]}
    for operation in operations(document).values():
        del operation["responses"]["default"]
    # v2's `url` is a path, which a format checker does not accept as a URI.
    return json.loads(json.dumps(document).replace('"format": "uri"', '"format": "uri-reference"'))


WITHOUT_KEY = ["--phases", "coverage,fuzzing", "--max-examples", "4"]
WITH_KEY = ["--phases", "coverage", "-H", f"X-API-Key: {KEY}", "--include-path-regex"]
WITH_KEY += ["^/api/v2/(bookmarks|profile|cubari|chapters/|pages|series/.*/chapters)"]


@pytest.mark.searches
@pytest.mark.parametrize(
    ("arguments", "tested"), [(WITHOUT_KEY, len(OPERATIONS)), (WITH_KEY, 8)], ids=["without key", "with key"]
)
def test_every_response_is_described(served: Served, tmp_path: Path, arguments: list[str], tested: int) -> None:
    """Values at and beyond every limit, wrong types, other methods and conditions return only described responses.

    Schemathesis checks server errors, statuses, headers, types and schemas. Its check for rejected input is off,
    because the API ignores unknown parameters.
    """
    (tmp_path / "openapi.json").write_text(json.dumps(document_with_existing_values(served)))
    command = [sys.executable, "-m", "schemathesis.cli", "run", "openapi.json", "--no-color", "--seed", "1"]
    command += ["--url", f"http://127.0.0.1:{served.web.port}", "--generation-database", "none", *arguments]
    command += ["--checks", "not_a_server_error,status_code_conformance,content_type_conformance"]
    command += ["--checks", "response_headers_conformance,response_schema_conformance,unsupported_method"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"COLUMNS": "120"})

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Tested: {tested}\n" in done.stdout


def examples(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each schema below a value that has examples, and each of these."""
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from examples(item)
    if isinstance(value, dict) and isinstance(value.get("examples"), list):
        yield from ((value, example) for example in value["examples"])


def test_examples_fit_their_schemas(served: Served) -> None:
    found = list(examples(served.document))

    assert len(found) > 10
    for schema, example in found:
        jsonschema.Draft202012Validator({**schema, "components": served.document["components"]}).validate(example)
        if str(example).startswith("/"):
            assert served.web.ask(example).status == 200


def test_examples_of_parameters_are_accepted(served: Served) -> None:
    """None is malformed: only what it names may be missing, or a condition fail."""
    existing = {name: values[0] for name, values in existing_values(served).items()}
    asked = 0
    for path, operation in operations(served.document).items():
        names = [parameter["$ref"].rpartition("/")[2] for parameter in operation.get("parameters", ())]
        parameters = {name: served.document["components"]["parameters"][name] for name in names}
        needed = {name: existing[name] for name in names if parameters[name].get("required")}
        for name in names:
            for example in parameters[name]["schema"].get("examples", ()):
                places: dict[str, dict[str, object]] = {"path": {}, "query": {}, "header": {}}
                for other, value in {**needed, name: example}.items():
                    places[parameters[other]["in"]][parameters[other]["name"]] = value
                url = f"{path.format(**places['path'])}?{urlencode(places['query'])}".removesuffix("?")
                headers = {field.replace("-", "_"): str(value) for field, value in places["header"].items()}
                status = served.web.ask(url, X_API_Key=KEY, **headers).status
                assert status in (200, 304, 308, 404, 412, 451), (url, headers, status)
                asked += 1
    assert asked > 50


# Every described response can be had


def names_of(chapter: Chapter) -> dict[str, str]:
    return {"id": str(chapter.id), "slug": chapter.slug, "volume": str(chapter.volume), "chapter": chapter.number}


def response_with(served: Served, path: str, status: int) -> web.Answer:
    """Send a request that is expected to return `status`."""
    chapter = served.chapter(licensed=status == 451, restricted=status == 401)
    names = names_of(chapter) | {"name": served.catalog.categories[0].name}
    if path.endswith("{id}") and "chapters" not in path:
        names["id"] = str(getattr(served.catalog, path.split("/")[-2])[0].id)
    query: dict[str, object] = {}
    if path == "/api/v2/pages":
        query = {"series": chapter.slug, "volume": chapter.volume, "number": chapter.number}
    if status == 308:
        names["slug"] = next(old for series in served.catalog.listed_series for old in series.formerly)
    if status == 404:
        names = {"id": "2147483647", "slug": "nobody", "volume": "0", "chapter": "0", "name": "nothing"}
        query = {"page": 999}
    if status == 400:
        names |= {"id": "01", "volume": "1.0", "chapter": "1e3"}
        query = {"date_format": "roman"} | ({"title": "x" * 201} if path == "/api/v2/series" else {})
    fields = {304: {"If_None_Match": "*"}, 412: {"If_Match": '"another"'}}.get(status, {})
    if status != 401 and path in ("/api/v2/bookmarks", "/api/v2/profile"):
        fields = fields | {"X_API_Key": SPARE_KEY if status == 404 else KEY}
    words = "&".join(f"{name}={value}" for name, value in query.items())
    url = path.format(**names) + (f"?{words}" if words else "")
    return served.web.ask(url, "POST" if status == 405 else "GET", **fields)


@each("path", [*OPERATIONS])
def test_every_described_response_can_be_had(served: Served, path: str) -> None:
    """Each status of a path can be had, with exactly the described headers and body."""
    described = operations(served.document)[path]["responses"]
    for status in map(int, described.keys() - {"default"}):
        response = response_with(served, path, status)

        assert response.status == status, (status, response)
        assert_described(served.document, resolved(served.document, described[str(status)]), response)


def assert_described(document: Any, described: Any, response: web.Answer) -> None:
    """The response has the required headers, no undescribed header, and a body that matches type and schema."""
    plain = {"date", "server", "connection", "content-length", "content-type"}
    headers = {name.lower(): resolved(document, header) for name, header in described["headers"].items()}
    required = {name for name, header in headers.items() if header["required"]}
    sent = {name for name, _ in response.headers} - plain

    assert required <= sent <= headers.keys()
    for name in sent:
        jsonschema.validate(response[name], headers[name]["schema"])
    if "content" not in described:
        assert response.body == b""
        return
    ((kind, content),) = described["content"].items()
    assert response["content-type"] == kind
    body = json.loads(response.body) if kind == "application/json" else response.body.decode()
    jsonschema.Draft202012Validator({**content["schema"], "components": document["components"]}).validate(body)
