"""Every text of the pages, by name, in English. `translations/` has the other languages, each with the same names."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace

from ...catalog.yaml import reader

_PAGE_TEXTS = {
    # The language of the texts, and their direction: ltr or rtl.
    "lang": "en",
    "dir": "ltr",
    # Navigation
    "skip": "Skip to content",
    "navigation": "Site",
    "library": "Library",
    "latest": "Latest",
    "latest_chapters": "Latest chapters",
    "all_latest": "All latest chapters",
    "all_series": "All series",
    "categories": "Categories",
    "authors": "Authors",
    "artists": "Artists",
    "groups": "Groups",
    "search": "Search",
    "search_label": "Search for a title",
    "feeds": "Feeds",
    "shelf": "Shelf",
    "shelf_needs_script": "The shelf needs JavaScript: it is on your device only.",
    "api": "API",
    # The page about apps; an address follows each sentence
    "apps": "Apps",
    "apps_intro": "Read {site} in an app: copy the address that your app needs.",
    "apps_komga": "Komga, for its extension in Mihon and other apps. Leave user name, password and API key empty:",
    "apps_opds_1": "OPDS 1.2, for KOReader and other e-readers:",
    "apps_opds_2": "OPDS 2.0, for apps that read it:",
    "list_pages": "Pages of this list",
    "previous": "Previous",
    "next": "Next",
    "page_of_list": "page {number}",
    # Descriptions for search engines and previews of links
    "about_site": "Read comics on {site}.",
    "about_list": "{name} on {site}.",
    "about_series": "Read {series} on {site}.",
    "about_chapter": "Read {chapter} of {series} on {site}.",
    # Series
    "status": "Status",
    "ongoing": "Ongoing",
    "completed": "Completed",
    "hiatus": "On hiatus",
    "canceled": "Canceled",
    "author": "Author",
    "artist": "Artist",
    "also_known_as": "Also known as",
    "chapters": "Chapters",
    "chapter_one": "1 chapter",
    "chapter_many": "{count} chapters",
    "series_one": "1 series",
    "series_many": "{count} series",
    "volume": "Volume {number}",
    "no_volume": "Not in a volume yet",
    "start_reading": "Start reading",
    "continue_reading": "Continue reading",
    "final": "final chapter",
    "licensed": "Licensed",
    "licensed_long": "This series is licensed. Its chapters are not available here.",
    "restricted": "Key needed",
    "restricted_long": "The chapters of this series need an API key, which a browser cannot send."
    " Ask the site for a key and enter it in a reader app.",
    "no_chapters": "No chapters yet.",
    "hidden": "This part needs an API key, which a browser cannot send."
    " Ask the site for a key and enter it in a reader app.",
    "cover_of": "Cover of {series}",
    "subscribe": "Subscribe",
    "elsewhere": "Elsewhere",
    "official": "Official release",
    "discussion": "Discussion",
    "rating": "Rating",
    "safe": "For all readers",
    "suggestive": "Suggestive",
    "explicit": "Explicit",
    # Over the pages of an explicit series
    "notice": "Explicit content",
    "notice_long": "This series has explicit content and is for adults only.",
    "notice_close": "Show the series",
    "notice_leave": "Leave",
    # Chapters
    "previous_chapter": "Previous chapter",
    "next_chapter": "Next chapter",
    "page_name": "Page",
    "all_chapters": "All chapters",
    "no_pages": "This chapter has no pages yet.",
    "all_so_far": "That is all so far.",
    "the_end": "The end.",
    "versions": "Other versions",
    "no_group": "No group",
    "download": "Download ({size})",
    # Groups
    "website": "Website",
    "email": "Email",
    "members": "Members",
    "series": "Series",
    # Search
    "title": "Title",
    "any_status": "Any status",
    "needs_script": "Search needs JavaScript. Without it, use the library and the lists.",
    "more": "More results",
    "sort": "Sort by",
    "latest_chapter": "Latest chapter",
    "kind": "Kind",
    "any_kind": "Any kind",
    "manga": "Manga",
    "comic": "Comic",
    "webtoon": "Webtoon",
    "filters": "Search, sort and filter",
    "random": "Random series",
    # Previews for editors
    "preview": "Preview",
    "preview_long": "Preview: this shows chapters that are not published yet. A release may look different.",
    "preview_routes": "These routes need an API key, and pages of a release hide what they tell:",
    "preview_problems": "Problems of the catalog. The preview below is that of the last catalog without problems.",
    "preview_restricted": "A release does not show these chapters: the series needs an API key.",
    "preview_scheduled": "will be published {date}",
    # Errors
    "not_found": "Not found",
    "not_found_long": "There is no page at this address. It may have moved, or never existed.",
    "empty_list": "Nothing here yet.",
}

# Those of the scripts, which get them in one file; a page has none of them.
SCRIPT_TEXTS = {
    "close": "Close",
    # Chapters
    "reading": "Reading",
    "layout": "Layout",
    "layout_strip": "Strip",
    "layout_paged": "Page by page",
    "layout_double": "Two pages",
    "fit": "Size of pages",
    "fit_width": "Width of the window",
    "fit_height": "Height of the window",
    "fit_original": "Original",
    "shift_pairs": "Pair the first page",
    "single_keys": "Keys f, o and ?",
    "fullscreen": "Full screen",
    "page_of": "Page {page} of {count}",
    "image_failed": "{page}: did not load. Tap to try again.",
    "keys": "Keys and gestures",
    "space": "Space",
    "home_key": "Home",
    "end_key": "End",
    "key_arrows": "previous or next page, in the reading direction",
    "key_space": "next page; with Shift the previous page",
    "key_ends": "first or last page",
    "key_fit": "next size of pages",
    "key_shift": "pair other pages",
    "key_touch": "Page by page: tap the sides of a page, or swipe. A tap in the middle shows the bar.",
    # Lists
    "oldest_first": "Oldest first",
    "chapter_number": "Chapter",
    "go": "Go",
    "follow": "Follow",
    "marking": "Mark chapters",
    "mark_read": "Read up to here",
    "mark_unread": "Unread from here",
    "was_read": "read",
    "new": "new",
    # The shelf
    "place": "{chapter}, page {page}",
    "nothing_here": "Nothing here yet.",
    "remove": "Remove",
    "settings": "Settings",
    "theme": "Colours",
    "theme_system": "As on this device",
    "theme_light": "Light",
    "theme_dark": "Dark",
    "notice_again": "Notice before explicit series",
    "followed": "Followed",
    "keep": "Keep offline",
    "keeping": "{done} of {count} pages, {size}",
    "kept": "Kept offline, {size}",
    "keep_failed": "This chapter cannot be kept: there is no space, no network, or its images do not permit it.",
    "kept_chapters": "Kept offline",
    "my_data": "Your data",
    "on_this_device": "Your progress, what you follow and your settings are on this device only.",
    "export": "Save as a file",
    "import": "Add from a file",
    "imported": "The file was added.",
    "not_a_shelf": "This file has no shelf.",
    "forget": "Delete all",
    "forget_all": "Delete your progress, what you follow and your settings from this device?",
    # Search
    "searching": "Searching …",
    "no_results": "Nothing found.",
    "search_failed": "The search failed. Try again later.",
}

TEXTS: Mapping[str, str] = {**_PAGE_TEXTS, **SCRIPT_TEXTS}

TRANSLATIONS = Path(__file__).parent / "translations"


def translation(language: str) -> Mapping[str, str]:
    """The texts in a language, by its tag of BCP 47; empty if there is no file. Regions share a file: de, de-AT."""
    file = TRANSLATIONS / f"{language.partition('-')[0].lower()}.yaml"
    table: Mapping[str, str] = reader.load(file.read_bytes()) if file.is_file() else {}
    return table


_PART = re.compile(r"\{([^{}]*)\}")


def parts(text: str) -> list[str]:
    """The names of the parts in braces that are filled in."""
    return _PART.findall(text)


# Of a text: a page has each of them, and a part can be a long title.
MAX_LENGTH, MAX_PARTS = 1000, 8


class Texts(SimpleNamespace):
    """The texts of a language, as attributes."""

    def __init__(self, table: Mapping[str, str] = TEXTS) -> None:
        super().__init__(**{**TEXTS, **table})

    @staticmethod
    def fill(text: str, **values: object) -> str:
        """Replace `{name}` by the value of that name. Braces inside a value are not filled."""
        first, *parts = text.split("{")
        filled = [first]
        for part in parts:
            name, end, after = part.partition("}")
            filled += [str(values[name]), after] if end and name in values else ["{", part]
        return "".join(filled)

    def count(self, name: str, count: int) -> str:
        """The number of things; `name` is `chapter` or `series`."""
        text: str = getattr(self, f"{name}_one" if count == 1 else f"{name}_many")
        return self.fill(text, count=count)
