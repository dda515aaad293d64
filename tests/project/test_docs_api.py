"""docs/api.md: every route, every field and every message that clients can meet, as they are returned."""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from generator import encoding
from generator.api.app_routes import BODIES, REDIRECTS
from generator.api.payloads import errors
from generator.api.payloads.resources import HTML, JSON
from generator.api.routes import GATES, ROUTES
from tests.support import linked_catalog
from tests.support.documents import AS_OF, DOCUMENTS, FENCE, ROOT, SPAN, blocks, first_cells, sections
from tests.support.yaml_catalogs import resources

API = DOCUMENTS["docs/api.md"]
EXAMPLES = re.findall(r"^`(/\S*)`(?:, with a key of `\w+`)?:\n\n```json\n(.*?)^```$", API, re.MULTILINE | re.DOTALL)
LINK_HERE = re.compile(r"\]\(#([\w-]+)\)")
# A number or the name of a group as keys: data, not the name of a field.
DATA = re.compile(r"[0-9.]+|\w*[^\x00-\x7f].*|[A-Z].*")
# path: the heading under which its shape is
SHAPES = dict(re.findall(r"^\| `(/[^`]*)` \| (?:array of )?\[[^]]+\]\(#([\w-]+)\)", API, re.MULTILINE))


def plain(path: str) -> str:
    """A path without what chooses between its bodies: parameters, and whose key it is."""
    return re.sub(r"[?#].*", "", path)


# What clients ask for: neither the parts of a page, nor what the server searches, nor `/`, which may be a page.
DOCUMENTED = [
    route for route in ROUTES if route.type in (JSON, HTML) and route.path != "/" and not route.path.endswith("#index")
]
# Those with a shape of this project's own.
SHAPED = [route for route in DOCUMENTED if route.type == JSON and route.path != "/api/v2/openapi.json"]


@cache
def answers() -> dict[str, dict[str, Any]]:
    """The bodies of the example catalog by route and URL; of the accounts, only the first."""
    catalog = linked_catalog.read_catalog(ROOT / "catalog_src", AS_OF)
    bodies_by_path: dict[str, dict[str, Any]] = {}
    for route, resource in resources(catalog):
        if route in SHAPED:
            bodies = bodies_by_path.setdefault(plain(route.path), {})
            bodies.setdefault(resource.url.partition("#")[0], encoding.parse(encoding.body(resource.body.value)))
    return bodies_by_path


def fields(value: Any) -> Iterator[str]:
    """The names of all fields inside a body."""
    if isinstance(value, dict):
        yield from (name for name in value if not DATA.fullmatch(name))
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from fields(item)


def last_name(field: str) -> str:
    """`members[].id` is the field id of something."""
    return field.replace("[]", "").split(".")[-1]


def agrees(example: Any, body: Any) -> bool:
    """Whether an example is the body, with its order of keys; `…` marks omitted parts."""
    if isinstance(example, dict) and isinstance(body, dict):
        if example.pop("…", None):
            body = {name: body[name] for name in body if name in example}
        return [*example] == [*body] and all(agrees(example[name], body[name]) for name in body)
    if isinstance(example, list) and isinstance(body, list):
        if example[-1:] == ["…"]:
            example, body = example[:-1], body[: len(example) - 1]
        return len(example) == len(body) and all(map(agrees, example, body))
    return type(example) is type(body) and bool(example == body)


def test_table_of_urls_has_every_route() -> None:
    """Every route and gate, and no other, in the order of generator/api/routes.py."""
    paths = [route.path for route in DOCUMENTED] + [gate.path for gate in GATES]

    assert first_cells(API, "GET") == [*dict.fromkeys(map(plain, paths))]


def test_table_of_opds_has_every_path() -> None:
    """All but the further pages of lists, in the words of the routes."""
    routes = (route.path.replace("{category}", "{id}") for route in BODIES if "/page/" not in route.path)
    paths = {path for path in routes if path.startswith("/opds/")}

    assert {path for path in first_cells(API, "path") if path.startswith("/opds/")} == {
        *paths,
        "/opds/v1.2/pages/{id}/{n}",
    }


def test_table_of_komga_has_every_path() -> None:
    """With the calls that servers answer from other bodies."""
    paths = {route.path for route in (*BODIES, *REDIRECTS) if route.path.startswith("/komga/")}
    books = "/komga/api/v1/books/{id}"

    assert {path for path in first_cells(API, "path") if path.startswith("/komga/")} == {
        *paths,
        *(f"{books}/pages", f"{books}/pages/{{n}}", f"{books}/thumbnail", "/komga/book/{id}"),
        "/komga/api/v1/collections/{id}/series",
    }


def test_every_field_of_a_body_is_explained() -> None:
    """The table of URLs links to a section that explains each field of the body, or links to one that does."""
    parts = sections(API)
    for path in sorted({plain(route.path) for route in SHAPED}):
        reached = [SHAPES[path]]
        for section in reached:
            reached += [other for other in LINK_HERE.findall(parts[section]) if other not in reached]
        explained = {last_name(name) for section in reached for name in SPAN.findall(FENCE.sub("", parts[section]))}
        assert {name for body in answers()[path].values() for name in fields(body)} - explained == set(), path


def test_every_explained_field_is_in_a_body() -> None:
    """The tables contain no other field."""
    sent = {name for bodies in answers().values() for body in bodies.values() for name in fields(body)}

    assert {last_name(name) for name in first_cells(API, "field")} - sent == set(errors.error(404)) - sent


def test_example_is_a_response() -> None:
    """An example is the response of the catalog in the repository."""
    for url, example in EXAMPLES:
        (body,) = [bodies[url] for bodies in answers().values() if url in bodies]
        assert agrees(json.loads(example), body), json.dumps(body, ensure_ascii=False, indent=2)


def test_every_shape_has_an_example() -> None:
    """Each heading of a shape has one example, and all examples are tested."""
    assert len(EXAMPLES) == len(blocks("docs/api.md", "json")) == len(set(SHAPES.values()))


def test_errors_are_documented() -> None:
    """The table has the message of each status, and every status that a client can cause."""
    rows = dict(re.findall(r"^\| (\d{3}) \| `(.+?)`", API, re.MULTILINE))

    assert {status: errors.MESSAGES[int(status)] for status in rows} == rows
    assert {"400", "404", "405", "412", "413", "414"} <= rows.keys()


def test_messages_of_v2_are_documented() -> None:
    """The table of details has every message of v2."""
    messages = {text for body in (*errors.DETAILS.values(), *errors.BAD_PARAMETERS.values()) for text in body.values()}
    messages |= {"Invalid volume: …", "Invalid number: …"}

    assert set(first_cells(API, "message in v2")) == messages | {"Not found.", 'Method "POST" not allowed.'}
