"""A site behind nginx and behind another server, whose responses are compared."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

from tests.conftest import Site
from tests.hosts.plain_cases import Case
from tests.support.nginx_client import Answer, Web

Seen: TypeAlias = tuple[int, dict[str, str], bytes]


def seen(answer: Answer) -> Seen:
    """What is compared: all but the date and the name of the server."""
    fields = answer.fields
    for name in ("server", "connection"):
        fields.pop(name, None)
    return answer.status, fields, answer.body


class Pair(NamedTuple):
    """A site, served by nginx and by another server."""

    site: Site
    nginx: Web
    other: Web
    # What is left out of the comparison, since the other server cannot answer so.
    simplified: Callable[[Seen], Seen]

    def differences(self, cases: Iterable[Case]) -> str:
        """How the other server answers requests otherwise, one line for each request."""
        return "\n".join(filter(None, map(self._difference, cases)))

    def _difference(self, case: Case) -> str:
        expected, answer = (self.simplified(seen(case.send(web))) for web in (self.nginx, self.other))
        if answer == expected:
            return ""
        headers = {
            name: (expected[1].get(name), answer[1].get(name))
            for name in sorted(expected[1].keys() | answer[1].keys())
            if expected[1].get(name) != answer[1].get(name)
        }
        body = "" if expected[2] == answer[2] else f" {expected[2][:200]!r}, {answer[2][:200]!r}"
        return f"{case.method} {case.path} {dict(case.headers)}: {expected[0]}, {answer[0]} {headers}{body}"


def without(answer: Seen, *names: str) -> Seen:
    """A response without some headers."""
    status, fields, body = answer
    return status, {name: value for name, value in fields.items() if name not in names}, body
