"""What the promises are about: the URLs of a release, and a sample of them for checks that cost many requests."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...api.payloads.resources import Alias, Gate
from ...release.manifest import Published
from ...release.rules import Rules
from ...release.store import Store


@dataclass(frozen=True)
class Subjects:
    """The URLs of a release, and its rules."""

    store: Store
    release: str
    rules: Rules
    # By URL; with bodies that only the server reads.
    bodies: Mapping[str, Published]
    gates: tuple[Gate, ...]
    aliases: tuple[Alias, ...]

    @classmethod
    def of(cls, store: Store) -> "Subjects":
        with store.table() as table:
            entries = [entry for slug in table.segments for entry in table.entries(slug)]
            return cls(
                store,
                table.id,
                table.rules,
                {entry.url: entry for entry in entries if isinstance(entry, Published)},
                tuple(entry for entry in entries if isinstance(entry, Gate)),
                tuple(entry for entry in entries if isinstance(entry, Alias)),
            )

    @property
    def redirects(self) -> Mapping[str, str]:
        """The present path of each path with an old slug."""
        return self.rules.redirected_paths()

    @cached_property
    def public(self) -> list[Published]:
        return [body for body in self.bodies.values() if not body.restricted and "#" not in body.url]

    @cached_property
    def restricted(self) -> list[Published]:
        """Bodies that need an API key, without those that depend on its account."""
        return [body for body in self.bodies.values() if body.restricted and "#" not in body.url]

    @cached_property
    def sample(self) -> list[Published]:
        """The first and the last public body of each kind."""
        return sample_of(self.public)

    def is_on_restricted_route(self, url: str) -> bool:
        """Whether site.yaml restricts the route of a URL of /api/v2 without variable parts."""
        return url.partition("?")[0].removeprefix("/api/v2") in self.rules.restricted

    @property
    def count(self) -> int:
        """The number of URLs; each path with an old slug counts once."""
        bodies = len(self.public) + len(self.restricted)
        return bodies + len(self.gates) + len(self.aliases) + len(self.redirects)

    def body(self, url: str) -> bytes:
        return (self.store.root / self.bodies[url].file).read_bytes()


def sample_of(bodies: Iterable[Published]) -> list[Published]:
    """The first and the last body of each kind: route, content type, gzip form, max-age."""
    kinds: dict[object, list[Published]] = {}
    for body in bodies:
        path, _, query = body.url.partition("?")
        segments = path.split("/")
        kind = (segments[1:4], len(segments), query.partition("=")[0], body.type, body.gzip, body.max_age)
        kinds.setdefault(repr(kind) if segments[1] == "api" else repr(kind[1:]), []).append(body)
    return [body for group in kinds.values() for body in dict.fromkeys((group[0], group[-1]))]
