"""The hosts, and the promises that each of them cannot keep, with the reason.

docs/hosts.md shows this table. Tests run `verify --url --for HOST` against the real host and require exactly these
differences.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Host(NamedTuple):
    """A host, and the reason for each promise that it does not keep."""

    title: str
    missing: Mapping[str, str]


_NO_COUNTER = {"views": "requests are counted by the host only, not by chapter"}
_NO_PROGRAM = {
    "filters": "no program assembles lists; without their parameters, they are whole",
    "keys": "nothing checks API keys, so restricted bodies are not there",
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
    "workerd": Host(
        "Workers", {**_NO_COUNTER, "unknown-methods": "the runtime answers 501 itself; the service was not tried"}
    ),
    "deno": Host("Deno", _NO_COUNTER),
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
            "old-slugs": "308 without the JSON body",
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
        },
    ),
}
