"""docs/clients.md: it lists every status, and its URLs exist. tests/project/test_docs.py runs its examples."""

import re

from generator.api.openapi.document import RESPONSES_BY_STATUS
from generator.api.routes import ROUTES
from tests.support.documents import DOCUMENTS, SPAN, sections

CLIENTS = DOCUMENTS["docs/clients.md"]
# A path in the text, without host and parameters.
PATH = re.compile(r"(?<![\w.}])/api(?:/[\w{}.-]+)*")


def test_every_status_is_explained() -> None:
    """The table has each status of the OpenAPI document, and no status twice."""
    rows = re.findall(r"^\| (\d{3}(?:, \d{3})*) \|", sections(CLIENTS)["what-a-status-means"], re.MULTILINE)
    statuses = [int(status) for row in rows for status in row.split(", ")]

    assert len(statuses) == len(set(statuses))
    assert {status for status in RESPONSES_BY_STATUS if isinstance(status, int)} <= set(statuses)


def test_paths_in_the_document_exist() -> None:
    """Every path is a path of the API, except the example of a future API version."""
    paths = {re.sub(r"[?#].*", "", route.path) for route in ROUTES} | {"/api", "/api/v1", "/api/v2", "/api/v3"}
    paths.add("/api/v2/chapters/{id}/read")
    named = {path for span in SPAN.findall(CLIENTS) for path in PATH.findall(span)}

    assert named - paths == set()
    assert len(named) > 10
