"""Warnings about the settings and the bodies of a new release."""

from collections.abc import Iterator

from ..catalog import layout, loopback
from ..catalog.site_settings import Site
from .build_options import Options
from .segments import Segments


def of_site(options: Options, site: Site, chapters_without_id: int) -> Iterator[str]:
    if not options.local and loopback.is_loopback(site.base_url):
        yield (
            f"{options.catalog / layout.SITE}: base_url is {site.base_url}, which works only on this machine; "
            "set it to the public URL of the site before you publish it"
        )
    if chapters_without_id:
        some = f"{chapters_without_id} chapters have no id and are"
        chapters = "1 chapter has no id and is" if chapters_without_id == 1 else some
        yield f"{options.catalog}: {chapters} missing from /api/v2; `python build.py ids` changes that"


def of_size(options: Options, site: Site, segments: Segments) -> Iterator[str]:
    """A warning for each body that exceeds `body_budget`."""
    limit = f"body_budget ({site.body_budget} MiB) in {options.catalog / layout.SITE}"
    for _, summary in segments.in_order():
        for url, size in summary.oversized:
            yield f"{url}: {size / (1 << 20):.1f} MiB exceed {limit}"
