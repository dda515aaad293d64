"""Content-Security-Policy headers, and the page of an error: the same for all hosts."""

import re
from collections.abc import Iterable

# The page of the API's documentation may load files from its own host only, and images inside its style sheet.
DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'{images}; connect-src 'self'; "
    "manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
# The service worker of pages, and what it may load: files of its own host, and images that it keeps.
WORKER = "/sw.js"
_WORKER_POLICY = "default-src 'none'; connect-src 'self'{images}"
# An image may have styles of its own, and nothing else: an SVG that is opened as a document runs its scripts.
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
# An origin that the policy can name, and the length of all in bytes: a line of Cloudflare has at most 2,000 characters,
# and without the header a page would have no policy.
_ORIGIN = re.compile(r"https?://[-A-Za-z0-9_]+(?:\.[-A-Za-z0-9_]+)*(?::\d+)?")
_MAX_ORIGINS = 1700


def page_policy(origins: Iterable[str]) -> str:
    """The Content-Security-Policy of pages: files of the own host, and images of these origins.

    It names the scheme in place of an origin that it has no form for, or of all if they are too many for a header.
    """
    return _POLICY.format(images=_image_sources(origins))


def worker_policy(origins: Iterable[str]) -> str:
    """The policy of the service worker, with the same origins of images."""
    return _WORKER_POLICY.format(images=_image_sources(origins))


def _image_sources(origins: Iterable[str]) -> str:
    sources = sorted({origin if _ORIGIN.fullmatch(origin) else _scheme(origin) for origin in origins})
    images = "".join(f" {source}" for source in sources)
    if len(images) > _MAX_ORIGINS:
        images = "".join(f" {scheme}" for scheme in sorted(set(map(_scheme, sources))))
    return images


def _scheme(origin: str) -> str:
    return "https:" if origin.startswith("https:") else "http:"


def error_page(text: str) -> str:
    """The body of an error. It has nothing of the catalog, so it is the same for every site."""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta name="robots" content="noindex">'
        f'<title>{text}</title></head><body><h1>{text}</h1><p><a href="/">Home</a></p></body></html>'
    )
