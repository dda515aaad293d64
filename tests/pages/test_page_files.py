"""Pages without a browser: a page for each row of the table, their markup, and the hosts that their policy names."""

import pytest

from generator.api.page_routes import PAGES
from generator.api.payloads.resources import HTML
from tests.support import node_tools, page_sites, runs
from tests.support.page_sites import PageSite

# Two routes have the path of a chapter: one for chapters of licensed series.
KINDS = list(dict.fromkeys(route.path for route in PAGES if route.type == HTML))


@pytest.mark.end_to_end
@node_tools.needs_node_tools
def test_the_markup_is_valid(example: PageSite, hostile: PageSite) -> None:
    """html-validate finds no fault in any page of both sites; every day, in one page of each kind."""
    files = [file for site in (example, hostile) for file in (site.files if runs.everything else site.largest)]

    assert node_tools.markup_faults(files) == []


def test_the_policy_names_the_hosts_of_images(hostile: PageSite) -> None:
    """Images of other hosts are blocked. The host of restricted pages is not named."""
    for path in hostile.pages:
        policy = hostile.web.ask(path)["content-security-policy"] or ""
        (sources,) = (part.split()[1:] for part in policy.split(";") if part.strip().startswith("img-src"))

        assert sources == ["'self'", page_sites.IMAGES, f"{page_sites.IMAGES}:8443"]
