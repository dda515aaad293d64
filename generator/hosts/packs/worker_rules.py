"""What the worker knows of the site as a whole: the rules of the release, API keys, and the texts of errors."""

from dataclasses import asdict

from ...api import policies
from ...api.payloads import errors
from ...release.table import ReleaseTable
from . import pack_format


def rules(table: ReleaseTable) -> dict[str, object]:
    """The rules as JSON. They hold digests of API keys, so they are part of the worker and of no public file."""
    return {
        **asdict(table.rules),
        "release": table.id,
        "keys": dict(table.keys),
        "types": pack_format.TYPES,
        "errors": {
            "messages": {str(status): text for status, text in errors.MESSAGES.items()},
            "details": errors.DETAILS,
            "bad_parameters": errors.BAD_PARAMETERS,
            "pages": {str(status): policies.error_page(text) for status, text in errors.MESSAGES.items()},
        },
        "policies": {
            "pages": policies.page_policy(table.rules.image_origins),
            "docs": policies.DOCS_POLICY,
            "svg": policies.SVG_POLICY,
        },
    }
