"""The OpenSearch 1.1 description: browsers add the site to their search engines."""

from ...catalog.entities import Catalog
from ..pages.context import PageContext
from ..resources import Body
from . import texts
from .formats import DECLARATION, xml_text

# The specification allows no longer names.
_MAX_NAME = 16


def description(page: PageContext, catalog: Catalog) -> Body:
    name = xml_text(page.title[:_MAX_NAME].strip())
    about = xml_text(texts.SEARCH.format(site=page.title))
    template = xml_text(f"{page.site.base_url}{page.paths.search}?title={{searchTerms}}")
    body = (
        f'{DECLARATION}<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        f"<ShortName>{name}</ShortName><Description>{about}</Description>"
        f'<Url type="text/html" method="get" template="{template}"/>'
        f"<InputEncoding>UTF-8</InputEncoding><OutputEncoding>UTF-8</OutputEncoding></OpenSearchDescription>"
    )
    return Body(body.encode(), catalog.site_modified)
