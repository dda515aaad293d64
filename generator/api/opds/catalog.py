"""The start of the OPDS 1.2 catalog."""

from ...catalog.entities import Catalog
from ...catalog.field_values import iso
from ..feeds.formats import DECLARATION, xml_text
from ..pages.context import PageContext
from ..payloads.resources import NAVIGATION, Body


def catalog(page: PageContext, catalog: Catalog) -> Body:
    url = xml_text(f"{page.site.base_url}/opds/v1.2/catalog")
    text = (
        f'{DECLARATION}<feed xmlns="http://www.w3.org/2005/Atom"><id>{url}</id><title>{xml_text(page.title)}</title>'
        f"<updated>{iso(catalog.site_modified)}</updated><author><name>{xml_text(page.title)}</name></author>"
        f'<link href="/opds/v1.2/catalog" rel="self" type="{NAVIGATION}"/>'
        f'<link href="/opds/v1.2/catalog" rel="start" type="{NAVIGATION}"/></feed>'
    )
    return Body(text.encode(), catalog.site_modified)
