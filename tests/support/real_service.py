"""Replay of the original service: the recorded exchanges of tests/data/real_service, served over real sockets.

A plain request gets the recorded response. Conditional requests are computed where only the plain one is recorded.
The recorded address of the site is replaced by the address of the replay. ETags are those of the recorded bodies.
"""

import json
import lzma
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import cache
from hashlib import md5
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from tests.support import servers
from tests.support.paths import DATA

# Responses that are not recorded, computed from those that are: filters, dates, redirects

_HOST = "https://saltshelf.example"
FILTERS = {"author", "artist", "title", "slug", "categories"}
Plain = Callable[[str], "Exchange"]


def computed(target: str, plain: Plain) -> "Exchange | None":
    """Return the response for a target of version 2; None if nothing here computes it."""
    path, _, query = target.partition("?")
    parameters = {name: values[-1] for name, values in parse_qs(query).items()}
    if re.fullmatch(r"/api/v2/chapters/[0-9]+/read", path):
        chapter = plain(path.removesuffix("/read"))
        return replace(chapter, status=308, headers={"Location": _HOST + json.loads(chapter.body)["url"]}, body="")
    if path == "/api/v2/chapters" and query:
        return _chapters(plain(path), parameters)
    return None


def _chapters(whole: "Exchange", parameters: dict[str, str]) -> "Exchange":
    """The list of all chapters, of one series or with other dates."""
    if whole.status != 200:
        return whole
    value = json.loads(whole.body)
    if "series" in parameters:
        value["results"] = [chapter for chapter in value["results"] if chapter["series"] == parameters["series"]]
    if parameters.get("date_format") == "rfc-5322":
        for chapter in value["results"]:
            moment = datetime.fromisoformat(chapter["published"].replace("Z", "+00:00"))
            chapter["published"] = format_datetime(moment, usegmt=True)
    return replace(whole, body=json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def matches(slug: str, parameters: dict[str, str], plain: Plain, lists: dict[str, Any]) -> bool:
    """Whether a filtered list has a series. `lists` has lists of version 1 by name, which the filters look into."""
    detail = json.loads(plain(f"/api/v2/series/{slug}").body)
    for name in ("author", "artist"):
        # The list of authors of version 1 shows artists: only names are known.
        if name in parameters and not _has(parameters[name], detail[f"{name}s"]):
            return False
    if "title" in parameters and not _has(parameters["title"], [detail["title"], *detail["aliases"]]):
        return False
    if "slug" in parameters and slug.lower() != parameters["slug"].lower():
        return False
    ids = {row["id"].lower() for row in lists["categories"] if row["name"] in detail["categories"]}
    items = [item.strip().lower() for item in parameters.get("categories", "").split(",") if item.strip()]
    includes = [item for item in items if not item.startswith("-")]
    excludes = [item[1:] for item in items if item.startswith("-")]
    return (not includes or bool(ids.intersection(includes))) and not ids.intersection(excludes)


def _has(part: str, names: list[str]) -> bool:
    return any(part.lower() in name.lower() for name in names)


RECORDED = DATA / "real_service"
# The instant of the recording: chapters published later are scheduled.
RECORDED_AT = 1_795_312_800
V1_OFF = "ENABLE_API_V1=off"
CDNS = ("USE_CDN=weserv", "USE_CDN=photon", "USE_CDN=statically")
BIG_NUMBER = "a chapter with the number 1234567"
BAD_FORMAT = "an unknown name in the format of a series"
CONTROL_CHARACTER = "a description with a control character among the ten newest series"
# AFTER_EDIT is the usual site after edits.
USUAL, AFTER_EDIT = "usual", "after-edit"
_HOSTS = {
    "v0.9.6": "saltshelf.example",
    "v0.8.5": "tideshelf.example",
    "v0.8.0": "saltyard.example",
    "v0.4.5": "oldshelf.example",
}
_KEYS = ("ffeeddccbbaa9988" + "7766554433221100", "0011223344556677" + "8899aabbccddeeff")
KEY_OF_READER, KEY_OF_ADMINISTRATOR = (key * 2 for key in _KEYS)
# Request headers that choose a recorded exchange.
_CHOOSING = ("If-None-Match", "If-Modified-Since", "X-API-Key")
# Groups of lines that are no answers to plain requests of an ordinary client.
_SPECIAL = ("throttling", "other")
_HOP_BY_HOP = ("date", "content-length", "server", "connection")
# The URL of an image in JSON; a folder of images ends in a slash.
_IMAGE = re.compile(r'https://saltshelf\.example/media/[^"]*[^"/](?=")')


@dataclass(frozen=True)
class Exchange:
    """A recorded response, and the request headers that it answers."""

    status: int
    headers: Mapping[str, str]
    body: str
    request: Mapping[str, str | None] = field(default_factory=dict)

    def with_body(self, body: str) -> "Exchange":
        """The same response with another body; the ETag follows."""
        if body == self.body:
            return self
        return replace(self, body=body, headers={**self.headers, "ETag": f'"{_md5(body)}"'})


@dataclass(frozen=True)
class Request:
    """A request that the replay received; header names are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]


# Recorded exchanges by method and target.
Exchanges = dict[tuple[str, str], list[Exchange]]


@cache
def recorded_bytes(name: str) -> bytes:
    """Return the content of a compressed file."""
    return lzma.decompress((RECORDED / name).read_bytes())


@cache
def lines(version: str, name: str) -> list[dict[str, Any]]:
    """Return the lines of a recorded file."""
    with lzma.open(RECORDED / version / f"{name}.jsonl.xz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@cache
def exchanges(version: str, setting: str) -> Exchanges:
    """Return the recorded exchanges of one setting; other settings than the usual one have only a few."""
    is_edited = setting == AFTER_EDIT
    rows = lines(version, AFTER_EDIT if is_edited else "exchanges")
    rows = [row for row in rows if row.get("setting", USUAL) == (USUAL if is_edited else setting)]
    if version == "v0.9.6" and setting in (USUAL, AFTER_EDIT):
        state = "after" if is_edited else "before"
        rows += [row for name in ("feeds", "human-pages") for row in lines(version, name) if row["state"] == state]
    by_target: Exchanges = {}
    for row in rows:
        if row.get("about") not in _SPECIAL:
            exchange = Exchange(row["status"], row["headers"], row["body"] or "", row["request"])
            by_target.setdefault((row["method"], row["target"]), []).append(exchange)
    return by_target


def cdn_url(setting: str, url: str) -> str:
    """Return the URL of an image of the recorded site as a CDN setting writes it."""
    path = url.removeprefix("https://saltshelf.example")
    size = 300 if "/cover" in path else 150 if path.startswith("/media/groups/") else 0
    if setting == "USE_CDN=weserv":
        resized = f"&w={size}&h={size}" if size else ""
        return f"https://images.weserv.nl/?url={quote(unquote(url), safe='')}{resized}&l=0&q=100&we"
    if setting == "USE_CDN=photon":
        quality = "&quality=100" if path.endswith(".jpg") else ""
        resized = f"&fit={size}%2C{size}" if size else ""
        return f"https://i3.wp.com/saltshelf.example{path}?ssl=1{quality}{resized}"
    resized = f"w={size},h={size}" if size else "/"
    return f"https://cdn.statically.io/img/saltshelf.example/{resized}{path}".replace("///", "//")


def with_cdn(exchange: Exchange, setting: str) -> Exchange:
    """Rewrite the images of a usual response for a CDN; `pages_root` of version 1 stays as it is."""
    if exchange.headers.get("Content-Type") != "application/json" or "/media/" not in exchange.body:
        return exchange
    return exchange.with_body(_body_with_cdn(exchange.body, setting))


@cache
def _body_with_cdn(body: str, setting: str) -> str:
    return _IMAGE.sub(lambda match: cdn_url(setting, match[0]), body)


def _shows_title(target: str, exchange: Exchange) -> bool:
    """Whether a response has full titles of the series whose format is broken."""
    return "kiln-sisters" in f"{target}{exchange.body}" and '"full_title"' in exchange.body


@cache
def _md5(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


@dataclass
class RealService:
    """A running replay, and what a test may change about it while it runs."""

    setting: str
    version: str
    # The address that the site calls its own; a proxy may listen there.
    host: str = "127.0.0.1"
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    # Bodies by target that replace a recorded body; the ETag follows.
    changed: dict[str, str] = field(default_factory=dict)
    # Texts that are replaced in all targets and bodies, in order: the site renamed something.
    renamed: dict[str, str] = field(default_factory=dict)
    _failures: dict[str, list[Exchange]] = field(default_factory=dict)
    # Requests until each connection is closed without a response; None for never.
    _left: int | None = None
    _lock: Lock = field(default_factory=Lock)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def targets(self) -> list[str]:
        """The targets of all requests, in order."""
        return [request.target for request in self.requests]

    def reset(self, setting: str = USUAL, version: str = "v0.9.6") -> None:
        """Replay a setting of a version as if nothing had been requested and changed."""
        vars(self).update(vars(RealService(setting, version, self.host, self.port)))

    def edit(self) -> None:
        """Switch to the recorded state after the edits."""
        self.setting = AFTER_EDIT

    def fail(self, target: str, status: int, times: int = 1, **headers: str) -> None:
        """Answer the next requests for a target with this status."""
        sent = {"Content_Type": "application/json", **headers}
        named = {name.replace("_", "-"): value for name, value in sent.items()}
        failure = Exchange(status, named, '{"error": "Internal server error"}')
        self._failures.setdefault(target, []).extend([failure] * times)

    def close_after(self, count: int | None) -> None:
        """Answer this many further requests, then close every connection without a response."""
        self._left = count

    def change(self, target: str, edit: Callable[[Any], None]) -> None:
        """Edit the JSON of a recorded body in place."""
        value = json.loads(self.changed.get(target) or self._plain("GET", target).body)
        edit(value)
        self.changed[target] = json.dumps(value, ensure_ascii=False)

    def swap(self, one: str, other: str) -> None:
        """Exchange two texts in all bodies."""
        self.renamed |= {one: "\0", other: one, "\0": other}

    def respond(self, method: str, target: str, headers: Mapping[str, str]) -> Exchange | None:
        """Return the response to a request with header names in lower case; None to close the connection."""
        with self._lock:
            self.requests.append(Request(method, target, dict(headers)))
            if self._left is not None:
                self._left -= 1
                if self._left < 0:
                    return None
            if failures := self._failures.get(target):
                return self._addressed(failures.pop(0))
        sent = {name: headers[name.lower()] for name in _CHOOSING if name.lower() in headers}
        return self._addressed(self._chosen(method, self._recorded_target(target), sent))

    def _recorded_target(self, target: str) -> str:
        new = {after: before for before, after in self.renamed.items()}
        return "".join(new.get(segment, segment) for segment in re.split("([/?])", target))

    def _chosen(self, method: str, target: str, sent: Mapping[str, str]) -> Exchange:
        recorded = [] if target in self.changed or self.renamed else self._recorded(method, target)
        for exchange in recorded:
            if exchange.request == sent:
                return exchange
        plain = self._plain(method, target)
        return replace(plain, status=304, body="") if plain.status == 200 and _is_fresh(plain, sent) else plain

    def _recorded(self, method: str, target: str) -> list[Exchange]:
        """The lines of this setting, or those of the usual one, as this setting would answer."""
        own = exchanges(self.version, self.setting).get((method, target), [])
        if self.setting in (USUAL, AFTER_EDIT):
            return own
        return own + list(self._as_usual(method, target))

    def _as_usual(self, method: str, target: str) -> Iterator[Exchange]:
        """The lines of the usual setting, as another setting would answer."""
        gone = exchanges("v0.9.6", V1_OFF)["GET", "/api/v1/series/"][0]
        for exchange in exchanges(self.version, USUAL).get((method, target), []):
            if self.setting == V1_OFF and target.startswith("/api/v1/") and exchange.status != 501:
                yield replace(gone, request=exchange.request)
            elif self.setting == BAD_FORMAT and _shows_title(target, exchange):
                broken = exchanges("v0.9.6", BAD_FORMAT)["GET", "/api/v2/chapters/49"][0]
                yield replace(broken, request=exchange.request)
            elif self.setting not in CDNS:
                yield exchange
            elif not {"If-None-Match", "If-Modified-Since"} & exchange.request.keys():
                yield with_cdn(exchange, self.setting)

    def _plain(self, method: str, target: str) -> Exchange:
        """The response to a request without special headers, computed where none is recorded."""
        original = self._unchanged(method, target)
        body = self.changed.get(target, original.body)
        for before, after in self.renamed.items():
            body = body.replace(before, after)
        return original.with_body(body)

    def _unchanged(self, method: str, target: str) -> Exchange:
        plain = next((exchange for exchange in self._recorded(method, target) if not exchange.request), None)
        if plain:
            return plain
        if target.startswith("/api/v2/series?") and self.version == "v0.9.6":
            return self._filtered(target)
        if self.version == "v0.9.6" and (exchange := computed(target, lambda target: self._plain("GET", target))):
            return exchange
        return self._unknown(target)

    def _filtered(self, target: str) -> Exchange:
        """The list of series with filters that are not recorded, ordered by title."""
        whole = self._plain("GET", "/api/v2/series")
        parameters = {name: values[-1] for name, values in parse_qs(target.partition("?")[2]).items()}
        assert FILTERS & parameters.keys(), f"pages that are not recorded are not computed: {target}"
        setting = self.setting if self.setting == AFTER_EDIT else USUAL
        lists = {"categories": json.loads(exchanges(self.version, setting)["GET", "/api/v1/categories/"][0].body)}
        value = json.loads(whole.body)
        value["results"] = [
            series
            for series in value["results"]
            if matches(series["slug"], parameters, lambda target: self._plain("GET", target), lists)
        ]
        return replace(whole, body=json.dumps(value | {"total": len(value["results"])}, ensure_ascii=False))

    def _unknown(self, target: str) -> Exchange:
        """404, or 501 for a path that the service spells in another way."""
        json_type = {"Content-Type": "application/json"}
        if not target.startswith("/api"):
            return Exchange(404, {"Content-Type": "text/html; charset=utf-8"}, "<h1>Not found</h1>")
        path = target.partition("?")[0]
        if self.version == "v0.4.5":
            spelled = ("GET", f"{path}/")
            if target.startswith("/api/v1/") and not path.endswith("/") and spelled in exchanges("v0.4.5", USUAL):
                return self._plain(*spelled)
            if re.match(r"/api/v1/(series|authors|artists|groups)/", target):
                return Exchange(404, json_type, '{"error": "Not found", "status": 404}')
            return Exchange(501, json_type, '{"error": "Invalid API endpoint", "status": 501}')
        if target.startswith("/api/v2/") and not path.endswith("/"):
            return Exchange(404, json_type, '{"detail":"Not found."}')
        if re.match(r"/api/v1/(series|authors|artists|groups)/.*/$", path):
            return Exchange(404, json_type, '{"error": "Not found", "status": 404}')
        return Exchange(501, json_type, '{"error": "Invalid API endpoint"}')

    def _addressed(self, exchange: Exchange) -> Exchange:
        """Replace the address of the recorded site by that of the replay."""
        host, here = _HOSTS[self.version], f"{self.host}:{self.port}"
        pairs = [(f"{scheme}://{host}", self.url) for scheme in ("https", "http")]
        pairs += [(quote(old, safe=""), quote(new, safe="")) for old, new in pairs]
        # Two CDNs name the host alone.
        pairs += [(f"{cdn}/{host}", f"{cdn}/{here}") for cdn in ("i3.wp.com", "cdn.statically.io/img")]

        def addressed(text: str) -> str:
            for old, new in pairs:
                text = text.replace(old, new)
            return text

        headers = {name: addressed(value) for name, value in exchange.headers.items() if value}
        return replace(exchange, headers=headers, body=addressed(exchange.body))


def _is_fresh(plain: Exchange, sent: Mapping[str, str]) -> bool:
    """Whether a conditional request gets 304: the date counts only without an ETag, and only where there is one."""
    if "If-None-Match" in sent:
        tags = [tag.strip().removeprefix("W/") for tag in sent["If-None-Match"].split(",")]
        return "*" in tags or plain.headers.get("ETag", "").removeprefix("W/") in tags
    since, modified = sent.get("If-Modified-Since"), plain.headers.get("Last-Modified")
    return bool(since and modified) and parsedate_to_datetime(since) >= parsedate_to_datetime(modified)


@contextmanager
def real_service(setting: str = USUAL, version: str = "v0.9.6") -> Iterator[RealService]:
    """Replay one setting of a version on a free loopback port."""
    site = RealService(setting, version)

    class Handler(servers.Handler):
        def _reply(self) -> None:
            asked = {name.lower(): value for name, value in self.headers.items()}
            response = site.respond(self.command, self.path, asked)
            if response is None:
                self.close_connection = True
                return
            headers = {name: value for name, value in response.headers.items() if name.lower() not in _HOP_BY_HOP}
            body = response.body.encode() if self.command != "HEAD" else b""
            self.reply(response.status, headers | {"Date": self.date_time_string(RECORDED_AT)}, body)

        do_GET = do_HEAD = do_POST = do_PUT = do_OPTIONS = _reply

    with servers.answering(Handler) as site.port:
        yield site
