"""What every page needs besides its entity: paths, head, site settings, texts, templates and what is visible."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple
from urllib.parse import urlsplit

from ...catalog.entities import Category, Chapter, Group, OpdsChapter, Person, RecentChapter, Variants
from ...catalog.field_values import percent_encoded
from ...catalog.linking import media_root, variant_path
from ...catalog.site_paths import APPS, APPS_PAGE
from ...catalog.site_settings import Site
from ...templating import Html, Templates
from . import values
from .texts import Texts
from .visibility import Visible, visible


class PagePaths:
    """Links to the pages and feeds of a site. A test compares them with `page_routes.PAGES`."""

    # A theme may call these; see `templating`.
    template_methods = ("library", "with_status", "owned")

    home = "/"
    latest = "/latest/"
    search = "/search/"
    categories = "/categories/"
    authors = "/authors/"
    artists = "/artists/"
    groups = "/groups/"
    shelf = "/shelf/"
    apps = f"/{APPS_PAGE}/"
    # Feeds, without their format.
    releases = "/releases"
    library_feed = "/library"
    titles = "/search/titles.json"

    def __init__(self, reader: str) -> None:
        self.reader = reader

    def library(self, page: int = 1) -> str:
        return self.reader if page == 1 else f"/library/{page}/"

    @staticmethod
    def with_status(status: str, page: int = 1) -> str:
        return _page(f"/library/{status}/", page)

    @staticmethod
    def category(category: Category, page: int = 1) -> str:
        """The path of a category; empty for one without a page."""
        return _page(f"/categories/{percent_encoded(category.id)}/", page) if category.has_page else ""

    @staticmethod
    def owned(kind: str, number: int) -> str:
        """The path of an author, an artist or a group; `kind` is the first segment."""
        return f"/{kind}/{number}/"


def _page(path: str, page: int) -> str:
    return path if page == 1 else f"{path}{page}/"


class FeedLink(NamedTuple):
    """A feed that belongs to a page: its name, and the path without the format."""

    title: str
    path: str


class PageHead(NamedTuple):
    """The head of a page, for browsers, search engines and previews of links."""

    # Empty for the first page, whose title is that of the site.
    title: str
    # The canonical path; empty for pages that search engines must not list.
    path: str
    description: str = ""
    # The URL of an image.
    image: str = ""
    # The type in Open Graph: website, book or article.
    type: str = "website"
    feeds: tuple[FeedLink, ...] = ()
    # Data of schema.org.
    data: object = None
    # The language of the content, if it may be another one than that of the texts.
    language: str | None = None
    # Whether a notice is over the page until the reader closes it.
    is_explicit: bool = False


TEMPLATES = Path(__file__).parent / "templates"
_TEMPLATES = Templates(TEMPLATES)
# The formats of feeds: their extensions and types.
FORMATS = (("atom", "application/atom+xml"), ("rss", "application/rss+xml"), ("json", "application/feed+json"))


class Link(NamedTuple):
    """A link with its text; without a path, only the text."""

    path: str
    text: str


class OwnPage(NamedTuple):
    """A page with a text of the owner, at /{name}/."""

    name: str
    title: str
    html: Html
    # The origins of its images.
    image_origins: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"/{self.name}/"


class Frame(NamedTuple):
    """Markup that all pages share: of the head, and around the content."""

    head: Html
    header: Html
    footer: Html


# Compared by identity, so that it can be part of the key of a cached feed.
@dataclass(frozen=True, eq=False)
class PageContext:
    """The settings of all pages of a site."""

    # What templates of a theme may call; attributes they may read.
    template_methods: ClassVar = frozenset(("fill", "image", "copies"))

    site: Site
    templates: Templates = field(default=_TEMPLATES, repr=False)
    # Whether this is a preview for editors, which also shows what a release hides.
    preview: bool = False
    text: Texts = field(default_factory=Texts)
    # Files of the theme that replace or extend files of the pages, and its pages.
    assets: Mapping[str, str] = field(default_factory=dict)
    icons: Mapping[str, bytes] = field(default_factory=dict)
    own_pages: Mapping[str, OwnPage] = field(default_factory=dict)
    # Markup that several pages have; see `shared` and `cards`.
    rendered: dict[object, Html] = field(default_factory=dict)

    @cached_property
    def visible(self) -> Visible:
        return Visible() if self.preview else visible(self.site.restricted)

    @cached_property
    def title(self) -> str:
        return self.site.title or urlsplit(self.site.base_url).netloc

    @cached_property
    def paths(self) -> PagePaths:
        return PagePaths(self.site.reader)

    @cached_property
    def navigation(self) -> tuple[Link, ...]:
        """The links of every page."""
        paths, text, shown = self.paths, self.text, self.visible
        links = (
            (shown.library, paths.library(), text.library),
            (shown.latest, paths.latest, text.latest),
            (shown.categories, paths.categories, text.categories),
            (shown.authors, paths.authors, text.authors),
            (shown.artists, paths.artists, text.artists),
            (shown.groups, paths.groups, text.groups),
            (self.site.shelf, paths.shelf, text.shelf),
        )
        return tuple(Link(path, str(name)) for is_shown, path, name in links if is_shown)

    @cached_property
    def feeds(self) -> tuple[FeedLink, ...]:
        """The feeds of the whole site."""
        releases = FeedLink(self.text.latest_chapters, self.paths.releases)
        library = FeedLink(self.text.library, self.paths.library_feed)
        return (*((releases,) if self.visible.latest else ()), *((library,) if self.visible.library else ()))

    @cached_property
    def frame(self) -> Frame:
        """The parts that all pages share."""
        head, header, footer = (Html(self.render(f"{name}.html").decode()) for name in Frame._fields)
        return Frame(head, header, footer)

    @property
    def has_apps_page(self) -> bool:
        """Whether the site has the page about apps: it has paths for apps, and the theme has no page of this name."""
        return not APPS.isdisjoint(self.site.apps) and APPS_PAGE not in self.own_pages

    @property
    def shows_series_of_subjects(self) -> bool:
        """Whether pages show which series have an author, an artist, a category or a status."""
        return self.visible.library and self.visible.details

    def fill(self, text: str, **parts: object) -> str:
        """A text of the table with the name of the site and other parts filled in."""
        return self.text.fill(text, site=self.title, **parts)

    def page_of(self, chapter: Chapter | RecentChapter | OpdsChapter) -> str:
        """The path of the page that shows a chapter; empty if there is none.

        Where the chapters of a series are hidden, the page of a number does not tell that several chapters share it.
        """
        if not self.visible.chapter:
            return ""
        return chapter.page_path if self.visible.chapters else chapter.path

    def link_to(self, kind: str, entity: Person | Group) -> Link:
        """The link to an author, an artist or a group; `kind` is the singular, and the name of its page's flag."""
        is_shown = getattr(self.visible, kind)
        return Link(self.paths.owned(f"{kind}s", entity.id) if is_shown else "", entity.name)

    def category_link(self, category: Category) -> Link:
        return Link(self.paths.category(category) if self.visible.category else "", category.name)

    def image(self, url: str) -> str:
        """The address of an image as a page names it: a path for images of this site."""
        return values.own_path(url, self.site.base_url)

    def copies(self, url: str, variants: Variants | None, enough: int = 480) -> str:
        """The smaller copies of an image, as `srcset` names them; empty if there are none.

        The image itself is one of the choices, unless a copy is as wide as that, or `enough`.
        """
        if not variants:
            return ""
        root = media_root(self.site)
        path, widths = url.removeprefix(root), variants.widths
        choices = [(self.image(root + variant_path(width, path)), width) for width in widths]
        if widths[-1] < min(enough, variants.image):
            choices.append((self.image(url), variants.image))
        return ", ".join(f"{address} {width}w" for address, width in choices)

    def html(self, name: str, head: PageHead, **parts: object) -> bytes:
        """A complete page. Every template has `page`, this context, and `text`, its texts."""
        data = head.data and values.script_data(head.data)
        feeds = self.shared("alternates.html", head.feeds)
        return self.render(name, head=head, data=data, feeds_of_page=feeds, **parts)

    def shared(self, name: str, value: object = None) -> Html:
        """The markup of a template for a value that many pages have: rendered once."""
        markup = self.rendered.get((name, value))
        if markup is None:
            markup = self.rendered[name, value] = Html(self.render(name, value=value).decode())
        return markup

    def render(self, name: str, **parts: object) -> bytes:
        return self.templates.render(name, {"page": self, "text": self.text, "feed_formats": FORMATS, **parts})
