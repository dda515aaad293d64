"""What all hosts send besides bodies: types, policies and errors."""

from ...api import policies as api_policies
from ...release.rules import Rules
from .plain_release import PlainRelease


def types(release: PlainRelease) -> list[str]:
    """The media types of a release, the most frequent first."""
    counts: dict[str, int] = {}
    for body in release.bodies:
        counts[body.type] = counts.get(body.type, 0) + 1
    return sorted(counts, key=lambda type: (-counts[type], type))


def policies(rules: Rules) -> dict[str, object]:
    """The policies of pages, and the page of an error."""
    return {
        "docs_policy": api_policies.DOCS_POLICY,
        "page_policy": api_policies.page_policy(rules.image_origins),
        "svg_policy": api_policies.SVG_POLICY,
        "error_page": api_policies.error_page("{fp_text}"),
    }
