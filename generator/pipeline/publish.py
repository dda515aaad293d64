"""Resources -> files of bodies, and the lines of a segment: what a series adds to the long files of a release."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .. import encoding
from ..api.payloads.resources import SERIES_INDEX_URL, Alias, Gate, Resource
from ..catalog.linking import offers_archives
from ..catalog.site_paths import APPS
from ..catalog.site_settings import Site
from ..nginx import maps
from ..release import manifest
from ..release.bodies import BodyWriter
from ..release.manifest import Entry, Published
from ..release.rules import Rules


class SegmentSummary(NamedTuple):
    """What later steps need of a segment, so that its lines need not be read."""

    resources: int
    # The number of lines in each long map, and the length of the longest line.
    lines: list[int]
    longest_line: int
    # The ids of the chapters in API version 2. A chapter keeps its URLs when it moves to another series.
    chapters: "array[int]"
    # The number of bytes of its lines in the manifest.
    manifest_length: int
    # URL and size of each body that exceeds `body_budget` of site.yaml.
    oversized: list[tuple[str, int]]
    # The file of one body. If it is missing, all bodies of the segment are written again.
    sample_file: str


class Segment(NamedTuple):
    """The lines of one series, or of the whole catalog, in the manifest and in each long map."""

    manifest: bytes
    maps: list[bytes]
    summary: SegmentSummary


@dataclass(slots=True)
class ResourcePublisher:
    """Writes the bodies of resources and makes their lines."""

    bodies: BodyWriter
    site: Site
    as_of: int
    # Skip a body whose ETag is unchanged. Requires that this version of the program wrote the current release: another
    # one may have made other compressed forms.
    skip_unchanged: bool

    def publish(self, resource: Resource, continued: Mapping[str, Published]) -> Published:
        """Write the missing files of a body. An unchanged body keeps its date in the `continued` release."""
        body = encoding.body(resource.body.value)
        etag, previous = encoding.etag(body), continued.get(resource.url)
        if self.skip_unchanged and previous and previous.etag == etag:
            same = previous._replace(max_age=resource.max_age)
            file = manifest.body_file(resource, etag)
            if file == previous.file and self.bodies.reuse(same, previous):
                return same
        # nginx reads the index itself.
        compressed = None if resource.url == SERIES_INDEX_URL else encoding.gzip(body)
        content = encoding.BodyDigests(etag, encoding.sha256(body), len(body))
        published = manifest.with_validators(resource, content, compressed is not None, previous, self.as_of)
        self.bodies.put(published, body, compressed, previous)
        return published

    def segment(
        self,
        published: Sequence[Published],
        gates: Iterable[Gate] = (),
        aliases: Iterable[Alias] = (),
        chapters: Iterable[int] = (),
    ) -> Segment:
        """Make the lines of bodies, gates and aliases."""
        entries: list[Entry] = [*published, *gates, *aliases]
        lines = maps.lines(entries, maps.age_letters(max_ages(self.site)))
        text = manifest.SEPARATOR.join(map(manifest.entry_line, entries))
        summary = SegmentSummary(
            resources=len(published),
            lines=list(map(len, lines.values())),
            longest_line=maps.longest(lines),
            chapters=array("q", chapters),
            manifest_length=len(text),
            oversized=[(body.url, body.size) for body in published if body.size > self.site.body_budget << 20],
            sample_file=published[0].file if published else "",
        )
        texts = [b"".join(map_lines) for map_lines in lines.values()]
        return Segment(text, texts, summary)


def max_ages(site: Site) -> tuple[int, ...]:
    """Every max-age of site.yaml in ascending order, whether a body has it or not."""
    cache = site.cache
    ages = {age for version in (cache.unversioned, cache.v1, cache.v2) for _, age in version} | {cache.index}
    return tuple(sorted(ages | {cache.pages} if site.pages else ages))


def site_rules(
    site: Site, redirects: Mapping[str, str], image_origins: Iterable[str], *, preview: bool = False
) -> Rules:
    """The rules of a site with these old slugs, each with the present one, and these origins of images in pages."""
    apps, archives = tuple(sorted(APPS.intersection(site.apps))), site.pages and offers_archives(site)
    return Rules(
        base_url=site.base_url,
        reader=site.reader,
        pages=site.pages,
        preview=preview,
        error_age=site.cache.errors,
        max_ages=max_ages(site),
        restricted=tuple(site.restricted),
        redirects=dict(sorted(redirects.items())),
        image_origins=tuple(image_origins),
        apps=apps,
        archives=archives,
        apps_age=site.cache.v2.series if apps or archives else 0,
    )
