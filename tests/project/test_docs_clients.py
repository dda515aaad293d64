"""docs/clients.md lists every status and every list. Its examples are run by tests/project/test_docs.py."""

import re

from generator.api.openapi.responses import BY_STATUS
from generator.api.routes import ROUTES
from tests.support.documents import DOCUMENTS, SPAN, sections

CLIENTS = DOCUMENTS["docs/clients.md"]
# A path as it stands in the text, without host and parameters.
PATH = re.compile(r"(?<![\w.}])/api(?:/[\w{}.-]+)*")


def test_every_status_is_explained() -> None:
    """The table says what an app does with each status that the API's own document knows, and with no other twice."""
    rows = re.findall(r"^\| (\d{3}(?:, \d{3})*) \|", sections(CLIENTS)["what-a-status-means"], re.MULTILINE)
    told = [int(one) for row in rows for one in row.split(", ")]

    assert len(told) == len(set(told))
    assert {one for one in BY_STATUS if isinstance(one, int)} <= set(told)


def test_the_addresses_that_it_names_exist() -> None:
    """Every path in it is a path of the API; a family that is to come excepted."""
    known = {re.sub(r"[?#].*", "", route.path) for route in ROUTES} | {"/api", "/api/v1", "/api/v2", "/api/v3"}
    known.add("/api/v2/chapters/{id}/read")
    named = {path for span in SPAN.findall(CLIENTS) for path in PATH.findall(span)}

    assert named - known == set()
    assert len(named) > 10
