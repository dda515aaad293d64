"""Requests made from the OpenAPI document: every answer is one that it describes, and everything described happens."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from generator import encoding
from generator.api.openapi.operations import OPERATIONS
from generator.catalog import api_keys
from generator.catalog.entities import Catalog, Chapter
from tests.api.test_openapi import EXAMPLE, operations, resolved
from tests.conftest import AS_OF, Site
from tests.support import linked_catalog
from tests.support import nginx_client as web

jsonschema = pytest.importorskip("jsonschema")
pytest.importorskip("schemathesis")

# Of an account, and of nobody.
KEY, NOBODYS = api_keys.new_key(), api_keys.new_key()


@dataclass(frozen=True)
class Served:
    """The example site, with an account whose key is known."""

    catalog: Catalog
    web: web.Web
    document: Any

    def chapter(self, *, licensed: bool = False, restricted: bool = False) -> Chapter:
        """A chapter with all its parts, of a series that is as asked for."""
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
    with web.listening() as listener:
        with (folder / "catalog_src/accounts.yaml").open("a") as accounts:
            accounts.write(
                f"\n- {{username: asked, keys: [{{name: test, sha256: {encoding.sha256(KEY.encode())}}}]}}\n"
            )
        (folder / "catalog_src/keys.yaml").write_text(
            f"- {{name: spare, sha256: {encoding.sha256(NOBODYS.encode())}}}\n"
        )
        settings = folder / "catalog_src/site.yaml"
        settings.write_text(settings.read_text().replace("port: 8000", f"port: {listener.getsockname()[1]}"))
        Site(folder).build(AS_OF)
        with web.running(folder, listener) as server:
            document = json.loads(server.ask("/api/v2/openapi.json").body)
            yield Served(linked_catalog.read_catalog(folder / "catalog_src", AS_OF), server, document)


# Every request has an answer that is described


def known_values(served: Served) -> dict[str, list[object]]:
    """Values that exist, by the names of the document's parameters: random ones would find little but 404."""
    kinds = [served.chapter(), served.chapter(licensed=True), served.chapter(restricted=True)]
    tag = served.web.ask("/api/v2/series")["etag"]
    return {
        "id": [1, *(one.id for one in kinds)],
        "slug": [one.slug for one in kinds],
        "volume": [one.volume for one in kinds],
        "chapter": [one.number for one in kinds],
        "name": [served.catalog.categories[0].name],
        "pages_series": [one.slug for one in kinds],
        "pages_volume": [one.volume for one in kinds],
        "pages_number": [one.number for one in kinds],
        "If-None-Match": ["*", tag],
        "If-Match": ["*", tag],
    }


def leading_somewhere(served: Served) -> Any:
    """The document with known values beside all others, and without the answer that describes whatever is left."""
    document = json.loads(json.dumps(served.document))
    for name, values in known_values(served).items():
        parameter = document["components"]["parameters"][name]
        parameter["schema"] = {"anyOf": [{"enum": values}, parameter["schema"]]}
    for operation in operations(document).values():
        del operation["responses"]["default"]
    # v2's `url` is a path, which no checker of formats takes for an address.
    return json.loads(json.dumps(document).replace('"format": "uri"', '"format": "uri-reference"'))


ANYBODY = ["--phases", "coverage,fuzzing", "--max-examples", "4"]
SOMEBODY = ["--phases", "coverage", "-H", f"X-API-Key: {KEY}", "--include-path-regex"]
SOMEBODY += ["^/api/v2/(bookmarks|profile|cubari|chapters/|pages|series/.*/chapters)"]


@pytest.mark.parametrize(("who", "tested"), [(ANYBODY, len(OPERATIONS)), (SOMEBODY, 8)], ids=["anybody", "somebody"])
def test_no_answer_is_undescribed(served: Served, tmp_path: Path, who: list[str], tested: int) -> None:
    """Values at and beyond every limit, wrong types, other methods, conditions: the document has foreseen each answer.

    The generator's server errors, statuses, headers, types and shapes are checked; what it thinks should have been
    refused is not, as this service ignores what it does not know.
    """
    (tmp_path / "openapi.json").write_text(json.dumps(leading_somewhere(served)))
    command = [sys.executable, "-m", "schemathesis.cli", "run", "openapi.json", "--no-color", "--seed", "1"]
    command += ["--url", f"http://127.0.0.1:{served.web.port}", "--generation-database", "none", *who]
    command += ["--checks", "not_a_server_error,status_code_conformance,content_type_conformance"]
    command += ["--checks", "response_headers_conformance,response_schema_conformance,unsupported_method"]

    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"COLUMNS": "120"})

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Tested: {tested}\n" in done.stdout


# Every answer that is described can be had


def names_of(one: Chapter) -> dict[str, str]:
    return {"id": str(one.id), "slug": one.slug, "volume": str(one.volume), "chapter": one.number}


def request_for(served: Served, path: str, status: int) -> web.Answer:
    """A request that is made to be answered with `status`."""
    kind = served.chapter(licensed=status == 451, restricted=status == 401)
    names = names_of(kind) | {"name": served.catalog.categories[0].name}
    if path.endswith("{id}") and "chapters" not in path:
        names["id"] = str(getattr(served.catalog, path.split("/")[-2])[0].id)
    query: dict[str, object] = {}
    if path == "/api/v2/pages":
        query = {"series": kind.slug, "volume": kind.volume, "number": kind.number}
    if status == 404:
        names = {"id": "2147483647", "slug": "nobody", "volume": "0", "chapter": "0", "name": "nothing"}
        query = {"page": 999}
    if status == 400:
        names |= {"id": "01", "volume": "1.0", "chapter": "1e3"}
        query = {"date_format": "roman"} | ({"title": "x" * 201} if path == "/api/v2/series" else {})
    fields = {304: {"If_None_Match": "*"}, 412: {"If_Match": '"another"'}}.get(status, {})
    if status != 401 and path in ("/api/v2/bookmarks", "/api/v2/profile"):
        fields = fields | {"X_API_Key": NOBODYS if status == 404 else KEY}
    words = "&".join(f"{name}={value}" for name, value in query.items())
    url = path.format(**names) + (f"?{words}" if words else "")
    return served.web.ask(url, "POST" if status == 405 else "GET", **fields)


@pytest.mark.parametrize("path", OPERATIONS)
def test_every_described_answer_is_given(served: Served, path: str) -> None:
    """Each status of a path can be had, with the headers and the body that are described for it, and no others."""
    described = operations(served.document)[path]["responses"]
    for status in map(int, described.keys() - {"default"}):
        answer = request_for(served, path, status)

        assert answer.status == status, (status, answer)
        as_described(served.document, resolved(served.document, described[str(status)]), answer)


def as_described(document: Any, described: Any, answer: web.Answer) -> None:
    """The headers that are promised, none of our own that is not, and a body of the right type and shape."""
    plain = {"date", "server", "connection", "content-length", "content-type"}
    headers = {name.lower(): resolved(document, one) for name, one in described["headers"].items()}
    required = {name for name, one in headers.items() if one["required"]}
    sent = {name for name, _ in answer.headers} - plain

    assert required <= sent <= headers.keys()
    for name in sent:
        jsonschema.validate(answer[name], headers[name]["schema"])
    if "content" not in described:
        assert answer.body == b""
        return
    ((kind, content),) = described["content"].items()
    assert answer["content-type"] == kind
    body = json.loads(answer.body) if kind == "application/json" else answer.body.decode()
    jsonschema.Draft202012Validator({**content["schema"], "components": document["components"]}).validate(body)
