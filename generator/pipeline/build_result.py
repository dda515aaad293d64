"""The result of a build: what it changed, and its warnings."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ..catalog import git, layout, loopback
from ..catalog.site_settings import Site
from ..errors import Problem
from ..escaping import escaped
from .build_options import Options
from .removals import Removals
from .segments import Segments

# A build without changes takes these fields from the result of the build before.
_KEPT = ("dist", "release", "resources", "next_publication")


@dataclass(slots=True)
class BuildResult:
    """What a build did."""

    site: Site
    # The path of `dist` in the nginx configuration.
    dist: str
    release: str
    # The number of URLs that were added, changed, removed and left unchanged.
    changes: dict[str, int]
    # Series with a body that was added, changed or removed.
    changed_series: list[str]
    resources: int
    # The number of bytes written.
    written: int
    # The number of parsed files of series.
    parsed: int
    next_publication: int | None
    warnings: list[str] = field(default_factory=list)
    # Warnings with a place in a file.
    located: list[Problem] = field(default_factory=list)
    # Series and chapters that the release before published and this one does not.
    removed: Removals = field(default_factory=Removals)
    # Whether the main configuration file changed.
    conf_written: bool = False


def dump(result: BuildResult) -> dict[str, object]:
    """A result as JSON for the cache."""
    fields = {name: getattr(result, name) for name in _KEPT}
    # The name of a folder may have unpaired surrogates, which JSON in UTF-8 cannot represent.
    warnings = list(map(escaped, result.warnings))
    located = [replace(problem, file=escaped(problem.file)) for problem in result.located]
    return {**fields, "site": result.site.to_values(), "warnings": warnings, "located": located}


def load_unchanged(dumped: dict[str, Any]) -> BuildResult:
    """The result of a build without changes, from the dumped result of the build before."""
    return BuildResult(
        **{name: dumped[name] for name in _KEPT},
        site=Site.model_validate(dumped["site"]),
        changes={"added": 0, "changed": 0, "removed": 0, "unchanged": dumped["resources"]},
        changed_series=[],
        written=0,
        parsed=0,
        warnings=dumped["warnings"],
        located=[Problem(**problem) for problem in dumped["located"]],
    )


def warnings_of_git(options: Options, past: git.FileTimes) -> list[str]:
    shallow = f"{options.catalog}: is a shallow git clone, so dates of older files are wrong; fetch the whole history"
    return [*past.warnings, *[shallow] * past.is_shallow]


def warnings_of_site(options: Options, site: Site, chapters_without_id: int) -> Iterator[str]:
    if not options.local and loopback.is_loopback(site.base_url):
        yield (
            f"{options.catalog / layout.SITE}: base_url is {site.base_url}, which works only on this machine; "
            "set it to the public URL of the site before you publish it"
        )
    if chapters_without_id:
        some = f"{chapters_without_id} chapters have no id and are"
        chapters = "1 chapter has no id and is" if chapters_without_id == 1 else some
        yield f"{options.catalog}: {chapters} missing from /api/v2; `python build.py ids` changes that"


def warnings_of_size(options: Options, site: Site, segments: Segments) -> Iterator[str]:
    """A warning for each body that exceeds `body_budget`."""
    limit = f"body_budget ({site.body_budget} MiB) in {options.catalog / layout.SITE}"
    for _, summary in segments.in_order():
        for url, size in summary.oversized:
            yield f"{url}: {size / (1 << 20):.1f} MiB exceed {limit}"
