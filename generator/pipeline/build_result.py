"""The result of a build: what it changed, and its warnings."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..catalog import git
from ..errors import Problem, escaped
from .build_options import Options
from .removals import Removals

if TYPE_CHECKING:
    from ..catalog.site_settings import Site

# A build without changes takes these fields from the result of the build before.
_KEPT = ("site_values", "dist", "release", "resources", "next_publication")


@dataclass
class BuildResult:
    """What a build did."""

    # The settings in site.yaml.
    site_values: dict[str, Any]
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

    @cached_property
    def site(self) -> "Site":
        # Imported here: only `serve` needs it after a build without changes, and pydantic takes long to import.
        from ..catalog.site_settings import Site

        return Site.model_validate(self.site_values)


def dump(result: BuildResult) -> dict[str, object]:
    """A result as JSON for the cache."""
    fields = {name: getattr(result, name) for name in _KEPT}
    # The name of a folder may have unpaired surrogates, which JSON in UTF-8 cannot represent.
    warnings = list(map(escaped, result.warnings))
    located = [replace(problem, file=escaped(problem.file)) for problem in result.located]
    return {**fields, "warnings": warnings, "located": located}


def load_unchanged(dumped: dict[str, Any]) -> BuildResult:
    """The result of a build without changes, from the dumped result of the build before."""
    return BuildResult(
        **{name: dumped[name] for name in _KEPT},
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
