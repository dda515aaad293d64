"""The promises, one row each, with the functions that check them; and the hosts, with the promises that each breaks."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from .probe import Observation, Probe, Subjects
from .requests import conditions, lists, methods, spellings
from .urls import app_images, bodies, gates, keys, with_key

Check = Callable[[Probe, Subjects], Iterator[Observation]]


class Promise(NamedTuple):
    """A promise of the API. Without a check, it cannot be observed from outside; several promises share a check."""

    id: str
    sentence: str
    check: Check | None


_NOT_OBSERVABLE = None

# fmt: off
PROMISES = (
    Promise("bodies", "every path of the API and of feeds has its body", bodies),
    Promise("pages", "every page for people has its body", bodies),
    Promise("content-type", "`Content-Type` is exact", bodies),
    Promise("etag", "`ETag` is the MD5 of the body", bodies),
    Promise("last-modified", "`Last-Modified` is the date of the newest part of the body", bodies),
    Promise("cache-control", "`Cache-Control` has the max-age of `site.yaml`", bodies),
    Promise("cors", "apps on every host may read bodies and ETags", bodies),
    Promise("gzip", "the gzip form is sent exactly where the release has one", bodies),
    Promise("vary", "`Vary` names `Accept-Encoding` exactly where a gzip form exists", bodies),
    Promise("safety", "`X-Content-Type-Options` and `X-Frame-Options` are sent", bodies),
    Promise("policy", "pages have a `Content-Security-Policy`", bodies),
    Promise("date", "responses have a `Date`", bodies),
    Promise("length", "responses have a `Content-Length`", bodies),
    Promise("if-none-match", "`If-None-Match` with the ETag is 304", conditions),
    Promise("if-none-match-weak", "`If-None-Match` with the weak ETag is 304", conditions),
    Promise("if-none-match-list", "`If-None-Match` with a list is 304 if an element matches", conditions),
    Promise("if-none-match-any", "`If-None-Match: *` is 304", conditions),
    Promise("if-modified-since", "`If-Modified-Since` with the date or a later one is 304", conditions),
    Promise("future-date", "`If-Modified-Since` after the clock of the server is 304, too", conditions),
    Promise("date-forms", "the two older forms of dates are read, too", conditions),
    Promise("etag-first", "beside a condition of ETags, one of dates does not count", conditions),
    Promise("if-match", "`If-Match` with another ETag is 412", conditions),
    Promise("if-unmodified-since", "`If-Unmodified-Since` with an earlier date is 412", conditions),
    Promise("both-kinds", "if `If-Unmodified-Since` holds, `If-None-Match` decides on 304", conditions),
    Promise("not-modified", "a 304 repeats the other headers of the 200 and has no `Content-Length`", conditions),
    Promise("not-modified-date", "a 304 repeats `Last-Modified`", conditions),
    Promise("head", "`HEAD` has the headers of `GET`", methods),
    Promise("options", "`OPTIONS` is 204 with `Allow` and the CORS headers", methods),
    Promise("methods", "other methods are 405 with `Allow` and a JSON error", methods),
    Promise("unknown-methods", "a method that HTTP does not define is 405, too", methods),
    Promise("ranges", "ranges are not offered: the whole body is sent", methods),
    Promise("final-slash", "a URL with and without a final slash has the same body", spellings),
    Promise("double-slash", "`//` counts as `/`", spellings),
    Promise("letter-case", "a path in other letter case is 404", spellings),
    Promise("other-parameters", "parameters that have no meaning are ignored", spellings),
    Promise("not-found", "a missing path below `/api`, and of OPDS and Komga, is a JSON 404", spellings),
    Promise("bad-request", "a malformed number in a path of `/api` or `/api/v1` is a JSON 400", spellings),
    Promise("bad-parameters", "a malformed parameter is a JSON 400", spellings),
    Promise("not-found-page", "a missing path outside `/api` is the 404 of the site", spellings),
    Promise("parameters", "`sort`, `page` and `date_format` choose a body", bodies),
    Promise("filters", "lists of series can be filtered and cut", lists),
    Promise("page-not-found", "a page after the last one is a JSON 404", lists),
    Promise("deprecated-pages", "`/api/v2/pages` has the pages of a chapter", gates),
    Promise("licensed", "licensed chapters are 451", gates),
    Promise("read", "`/read` redirects to the chapter (308)", gates),
    Promise("old-slugs", "old slugs redirect to present ones (308; OPDS and Komga: 302)", gates),
    Promise("app-redirects", "covers and pages of OPDS and Komga, and old paths of archives, redirect (302)", gates),
    Promise("app-images", "OPDS and Komga have the images of a chapter by number (302)", app_images),
    Promise("robots", "`X-Robots-Tag` keeps OPDS and Komga out of search engines", bodies),
    Promise("secret", "no URL sends a restricted body without an API key", keys),
    Promise("unauthorized", "a restricted URL is 401 without an API key", keys),
    Promise("invalid-key", "a restricted URL is 401 with an unknown API key", keys),
    Promise("keys", "a valid API key opens restricted URLs", with_key),
    Promise("views", "views are counted", _NOT_OBSERVABLE),
    Promise("switch", "all URLs change at once when a release is published", _NOT_OBSERVABLE),
)
# fmt: on


# The hosts, and the promises that each of them cannot keep, with the reason
#
# docs/hosts.md shows this table. Tests run `verify --url --for HOST` against the real host and require exactly these
# differences.


class Host(NamedTuple):
    """A host, and the reason for each promise that it does not keep."""

    title: str
    missing: Mapping[str, str]
    # A pattern of the URLs that its export leaves out, with a warning.
    left_out: str = "(?!)"
    # Whether it has what only a worker may read: restricted bodies, and the index of searches if that is restricted.
    has_private: bool = True


_NO_COUNTER = {"views": "requests are counted by the host only, not by chapter"}
_WORKERD_METHODS = "the runtime answers 501 itself; the service was not tried"
_NO_PROGRAM = {
    "filters": "no program assembles lists; without their parameters, they are whole",
    "keys": "nothing checks API keys, so restricted bodies are not there",
    "app-images": "no program reads the list of images",
    **_NO_COUNTER,
}
_NOT_AT_ONCE = {"switch": "files are replaced one after the other"}
# What needs a decision about the request, where a host only finds files.
_FILES_ONLY = {
    **_NO_PROGRAM,
    "bad-request": "a missing path is 404, however it is written",
    "bad-parameters": "parameters are ignored",
    "parameters": "parameters are ignored",
    "page-not-found": "parameters are ignored",
    "deprecated-pages": "parameters are ignored",
    "licensed": "licensed URLs are 404",
    "unauthorized": "restricted URLs are 404",
    "invalid-key": "restricted URLs are 404",
}

HOSTS: Mapping[str, Host] = {
    "nginx": Host("nginx", {}),
    "workerd": Host("Workers", {**_NO_COUNTER, "unknown-methods": _WORKERD_METHODS}),
    "deno": Host("Deno", _NO_COUNTER),
    "public-packs": Host(
        "public packs",
        {
            **_NO_COUNTER,
            "unknown-methods": _WORKERD_METHODS,
            "unauthorized": "restricted URLs are 404; `/api/v2/pages` of restricted series is an empty list",
            "invalid-key": "restricted URLs are 404",
            "keys": "restricted bodies are not there",
        },
        has_private=False,
    ),
    "caddy": Host(
        "Caddy",
        {
            **_NO_PROGRAM,
            **_NOT_AT_ONCE,
            "not-modified-date": "Go removes `Last-Modified` from a 304 with an `ETag`",
        },
    ),
    "apache": Host(
        "Apache",
        {
            **_NO_PROGRAM,
            **_NOT_AT_ONCE,
            "methods": "a 405 has a second `Allow`, of Apache itself",
            "unknown-methods": "a 405 has a second `Allow`, of Apache itself",
            "future-date": "Apache ignores such a date",
            "both-kinds": "then Apache sends the body",
        },
        left_out="%(?:25|3F|23)",
    ),
    "cloudflare": Host(
        "Cloudflare assets",
        {
            **_FILES_ONLY,
            "content-type": "feeds have types without `charset`",
            "etag": "the service has ETags of its own",
            "last-modified": "none is sent",
            "gzip": "the service compresses by rules of its own",
            "vary": "none is sent",
            "date": "the local runtime sends none; the service was not tried",
            "length": "responses of pages are sent in chunks",
            "if-none-match-list": "lists are not read",
            "if-none-match-any": "`*` is not read",
            "if-modified-since": "dates are not read",
            "future-date": "dates are not read",
            "date-forms": "dates are not read",
            "if-match": "`If-Match` is not read",
            "if-unmodified-since": "dates are not read",
            "head": "no `Content-Length`",
            "options": "405",
            "methods": "405 without `Allow` and without a JSON error",
            "unknown-methods": "501, of the local runtime; the service was not tried",
            "final-slash": "307 to the other form",
            "double-slash": "307 to the single slash",
            "not-found": "a JSON 404, but with an `ETag` and the max-age of its folder",
            "read": "308 without the JSON body; at most 2,000 of them",
            "old-slugs": "308 or 302 without the JSON body",
            "app-redirects": "302 without the JSON body; with those of `/read`, at most 2,000 of them",
        },
    ),
    "s3": Host(
        "bucket",
        {
            **_FILES_ONLY,
            **_NOT_AT_ONCE,
            "pages": "a path is a key, so `/reader/` does not find `index.html`",
            "last-modified": "it is the date of the upload",
            "gzip": "each object has one form, and the plain one has our `ETag`",
            "vary": "some stores add `Origin`, none `Accept-Encoding`",
            "safety": "stores send no headers of this kind",
            "policy": "stores send no headers of this kind",
            "if-none-match-weak": "stores compare ETags as texts",
            "not-modified": "a 304 has no `Cache-Control`",
            "not-modified-date": "a 304 has no `Last-Modified`",
            "options": "stores answer only preflights of browsers, with 200",
            "methods": "errors are XML, and writes are refused with 403",
            "unknown-methods": "errors are XML",
            "ranges": "stores send ranges",
            "final-slash": "the key with a slash is another key; SeaweedFS sends 200 and no bytes if others lie below",
            "not-found": "errors are XML",
            "not-found-page": "errors are XML",
            "read": "a key cannot redirect",
            "old-slugs": "a key cannot redirect",
            "app-redirects": "a key cannot redirect",
            "robots": "stores send no headers of this kind",
        },
    ),
}
