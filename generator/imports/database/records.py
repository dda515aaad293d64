"""Tables -> the records of an import."""

import re

from ...catalog import patterns
from ...catalog.site_settings import Site
from ...reading_sites.lenient import Fields
from ...reading_sites.notes import Notes
from ..imported import Imported
from . import accounts, lists
from .accounts import AccountData
from .media_paths import MediaFolder
from .series import SeriesRecords
from .tables import Tables

# The base URL where the database does not have one.
_UNKNOWN = "http://localhost:8000"
_MEDIA = "/media/"


def read(tables: Tables, media: str, now: int, notes: Notes, data: AccountData) -> Imported:
    """Return the records of a database, without settings; `media` is the URL of the media folder."""
    folder = MediaFolder(media)
    imported = Imported(lists=lists.lists(tables, folder, notes))
    for slug, series, chapters in SeriesRecords(tables, folder, imported.lists, now, notes).read():
        imported.series[slug], imported.chapters[slug] = series, chapters
    notes.add("the database has no times of changes of people, categories and groups; the time of the file is used")
    if data:
        imported.accounts = accounts.read(tables, folder, notes, personal=data == "personal data")
    else:
        notes.add("accounts, bookmarks and API keys are not imported; --accounts brings them")
    return imported


def read_alone(
    tables: Tables, settings: Site | None, base_url: str, now: int, notes: Notes, data: AccountData
) -> Imported:
    """Return the records of a database without a site. The settings of the catalog stay; a new one needs a base URL.

    Without the argument, it is that of the table `django_site`.
    """
    if settings:
        return read(tables, media_url({"base_url": settings.base_url, "media": settings.media}), now, notes, data)
    site = {"base_url": base_url or _base_url(tables, notes)}
    imported = read(tables, media_url(site), now, notes, data)
    imported.site = site
    notes.add("reader, media and page_size are not in the database; defaults are used", "site.yaml")
    return imported


def media_url(site: Fields) -> str:
    """Return the URL of the media folder by the fields of `site.yaml`."""
    media = str(site.get("media", _MEDIA))
    return media if "://" in media else f"{site['base_url']}{media}"


def _base_url(tables: Tables, notes: Notes) -> str:
    """Return the base URL by the table `django_site`, which is as the site was first set up."""
    urls = (f"https://{row['domain']}" for row in tables.rows("django_site"))
    url = next((url for url in urls if re.fullmatch(patterns.HOST, url)), _UNKNOWN)
    if url == _UNKNOWN:
        notes.add(f"the database does not have the address of the site; base_url is {url}: change it", "site.yaml")
    else:
        notes.add(f"base_url is {url}, from the first setup of the old site: check it", "site.yaml")
    return url
