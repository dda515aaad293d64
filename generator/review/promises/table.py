"""The promises, one row each, and the functions that check them."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from . import bodies, keys, lists
from .probe import Observation, Probe
from .requests import conditions, methods, spellings
from .subjects import Subjects

Check = Callable[[Probe, Subjects], Iterator[Observation]]


class Promise(NamedTuple):
    """A promise of the API. Without a check, it cannot be observed from outside; several promises share a check."""

    id: str
    sentence: str
    check: Check | None


_NOT_OBSERVABLE = None

# fmt: off
PROMISES = (
    Promise("bodies", "every path of the API and of feeds has its body", bodies.check),
    Promise("pages", "every page for people has its body", bodies.check),
    Promise("content-type", "`Content-Type` is exact", bodies.check),
    Promise("etag", "`ETag` is the MD5 of the body", bodies.check),
    Promise("last-modified", "`Last-Modified` is the date of the newest part of the body", bodies.check),
    Promise("cache-control", "`Cache-Control` has the max-age of `site.yaml`", bodies.check),
    Promise("cors", "apps on every host may read bodies and ETags", bodies.check),
    Promise("gzip", "the gzip form is sent exactly where the release has one", bodies.check),
    Promise("vary", "`Vary` names `Accept-Encoding` exactly where a gzip form exists", bodies.check),
    Promise("safety", "`X-Content-Type-Options` and `X-Frame-Options` are sent", bodies.check),
    Promise("policy", "pages have a `Content-Security-Policy`", bodies.check),
    Promise("date", "responses have a `Date`", bodies.check),
    Promise("length", "responses have a `Content-Length`", bodies.check),
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
    Promise("not-found", "a missing path below `/api` is a JSON 404", spellings),
    Promise("bad-request", "a malformed number in a path of `/api` or `/api/v1` is a JSON 400", spellings),
    Promise("bad-parameters", "a malformed parameter is a JSON 400", spellings),
    Promise("not-found-page", "a missing path outside `/api` is the 404 of the site", spellings),
    Promise("parameters", "`sort`, `page` and `date_format` choose a body", bodies.check),
    Promise("filters", "lists of series can be filtered and cut", lists.check),
    Promise("page-not-found", "a page after the last one is a JSON 404", lists.check),
    Promise("deprecated-pages", "`/api/v2/pages` has the pages of a chapter", bodies.check_gates),
    Promise("licensed", "licensed chapters are 451", bodies.check_gates),
    Promise("read", "`/read` redirects to the chapter (308)", bodies.check_gates),
    Promise("old-slugs", "old slugs redirect to present ones (308)", bodies.check_gates),
    Promise("secret", "no URL sends a restricted body without an API key", keys.check),
    Promise("unauthorized", "a restricted URL is 401 without an API key", keys.check),
    Promise("invalid-key", "a restricted URL is 401 with an unknown API key", keys.check),
    Promise("keys", "a valid API key opens restricted URLs", keys.check_with_key),
    Promise("views", "views are counted", _NOT_OBSERVABLE),
    Promise("switch", "all URLs change at once when a release is published", _NOT_OBSERVABLE),
)
# fmt: on
