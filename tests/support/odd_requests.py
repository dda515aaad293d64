"""Requests that clients may send, usual and odd ones: the same seed gives the same requests."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from time import asctime, gmtime, strftime
from typing import NamedTuple, TypeVar
from unicodedata import normalize
from urllib.parse import quote

T = TypeVar("T")
# The features besides spellings, parameters, conditions and methods.
KINDS = (
    *("restricted", "gate 308", "gate 451", "v2", "v2 with a query", "v1", "unversioned", "feed", "page"),
    *("page of a chapter", "old slug", "unknown", "list", "search", "image page", "number", "query"),
    *("valid key", "invalid key", "valid key in the query", "invalid key in the query", "coding", "no coding"),
    *("GET", "HEAD", "OPTIONS", "odd value", "escaped parameter", "parameter in other case", "parameter twice"),
    *("many parameters", "chunked", "other header", "two hosts", "HTTP/1.0", "host", "no host", "host of nginx"),
    "absolute target",
)
METHODS = ("POST", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND", "PURGE", "BREW")
_DAY = 86400


class Target(NamedTuple):
    """A URL that a site answers, with the validators of its body; empty for a gate."""

    url: str
    etag: str = ""
    modified: int = 0
    restricted: bool = False
    status: int = 200


@dataclass(frozen=True)
class Request:
    """A request in parts. Texts are Latin-1, one letter for each byte."""

    target: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    version: str = "1.1"
    host: str = "test"
    # What the request tries.
    features: frozenset[str] = frozenset()

    def encode(self) -> bytes:
        lines = [f"{self.method} {self.target} HTTP/{self.version}", f"Host: {self.host}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join([*lines, "", self.body]).encode("latin-1")


@dataclass(frozen=True)
class Words:
    """What the requests of a site are made of."""

    targets: Sequence[Target]
    slugs: Sequence[str]
    old_slugs: Sequence[str]
    # API keys: those of the site.
    keys: Sequence[str]
    reader: str
    # Names that searches find, by parameter.
    names: Mapping[str, Sequence[str]]


def requests(words: Words, seed: int, count: int) -> list[Request]:
    generator = _Generator(words, random.Random(seed))
    return [generator.request() for _ in range(count)]


class _Generator:
    def __init__(self, words: Words, random: random.Random) -> None:
        self.words, self.random = words, random
        self.targets = _by_kind(words.targets)
        self.features: set[str] = set()

    def request(self) -> Request:
        self.features = set()
        target = self.target()
        path, mark, query = target.url.partition("?")
        is_search = "search" in self.features
        if self.chance(0.05 if is_search else 0.3):
            path = self.odd_path(path)
        if is_search or self.chance(0.4 if "/v2/" in path else 0.1):
            query = "&".join([query] * bool(query) + self.queries(path))
        headers = self.conditions(target) if self.chance(0.45) else []
        if self.chance(0.5):
            headers.append(("Accept-Encoding", self.coding()))
        if self.chance(0.25):
            query = self.key(headers, query)
        if self.chance(0.06):
            headers.append(self.pick(OTHER_HEADERS))
            self.features.add("other header")
        method, body = self.method(headers)
        version = self.version(headers)
        self.random.shuffle(headers)
        url = f"{path}?{query}" if query or (mark and self.chance(0.5)) else path
        if self.chance(0.01):
            url += "?"
        url, host = self.authority(url)
        return Request(_wire(url), method, tuple(headers), body, version, host, frozenset(self.features))

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, values: Sequence[T]) -> T:
        return self.random.choice(values)

    # Which URL

    def target(self) -> Target:
        own = ("old slug", "unknown", "list", *["search"] * 4, "image page", "number")
        kind = self.pick((*self.targets, *own))
        self.features.add(kind)
        if kind in self.targets:
            return self.pick(self.targets[kind])
        url = {
            "old slug": self.old_slug,
            "unknown": self.unknown,
            "list": self.list_url,
            "search": lambda: self.pick(("/api/v2/series", "/api/v2/series", _KOMGA)),
            "number": self.number,
        }.get(kind, self.image_page)()
        return Target(url, *self.pick(self.words.targets)[1:3])

    def old_slug(self) -> str:
        slug = self.pick(self.words.old_slugs)
        if self.chance(0.1):
            slug = slug.swapcase()
        below = ("", "/1", "/1/10.5", "/chapters", "/a/b%20c", "/1/1/2", ".atom", ".json", "/.hidden", "/%C3%A9")
        api = ("/api/series/", "/api/v1/series/", "/api/v2/series/", "/api/v2/cubari/")
        apps = ("/opds/v1.2/series/", "/opds/v1.2/page/2/series/", "/komga/api/v1/series/", "/komga/series/")
        prefix = self.pick((*api, *apps, self.words.reader))
        return f"{prefix}{slug}{self.pick(below)}"

    def unknown(self) -> str:
        own = (
            *("api", "v1", "v2", "series", "chapters", "nothing", "index.json", "pages", "opds", "komga", "query"),
            *("of", "bad", "x", "1", "read", "private", "www", "_flatpanel", "search", "assets", "packs"),
            *self.words.slugs,
        )
        return "".join(f"/{self.pick(own)}" for _ in range(self.random.randint(1, 4)))

    def list_url(self) -> str:
        return self.pick(("/api/v2/series", "/api/v2/chapters", "/api/v2/pages", "/api/v2/series/{}/chapters")).format(
            self.pick(self.words.slugs)
        )

    def image_page(self) -> str:
        pages = self.targets.get("page of a chapter") or self.words.targets
        number = self.pick(("1", "2", "3", "4", "9", "0", "01", "9999", "10000", "-1", "1.5", "x", ""))
        return f"{self.pick(pages).url.rstrip('/')}/{number}"

    def number(self) -> str:
        """A path with a number that is spelled in another way."""
        slug = self.pick(self.words.slugs)
        odd = ("0", "1", "2", "01", "1.0", "10.5", "10.50", "+1", "-1", "1e3", "abc", "1_0", "٣", "9" * 18, "")
        forms = (
            *("authors/{}", "v1/artists/{}", "v1/groups/{}", "series/{slug}/{}", "v1/series/{slug}/{}/{}"),
            *("v2/chapters/{}", "v2/chapters/{}/pages", "v2/chapters/{}/read", "v2/groups/{}", "v2/members/{}"),
        )
        form = self.pick([*(f"/api/{form}" for form in forms), f"{self.words.reader}{{slug}}/{{}}/{{}}"])
        return form.format(*(self.pick(odd) for _ in range(2)), slug=slug)

    # Its spelling

    def odd_path(self, path: str) -> str:
        for _ in range(self.pick((1, 1, 1, 2, 3))):
            feature = self.pick(tuple(SPELLINGS))
            path = SPELLINGS[feature](path, self.random)
            self.features.add(feature)
        return path if path.startswith("/") else f"/{path}"

    # Its query

    def queries(self, path: str) -> list[str]:
        self.features.add("query")
        count = self.pick((1, 1, 1, 2, 2, 3, 4))
        chosen = [self.parameter(path) for _ in range(count)]
        if self.chance(0.05):
            chosen.append(self.pick(chosen))
            self.features.add("parameter twice")
        if self.chance(0.02):
            chosen += [f"p{number}=1" for number in range(self.pick((60, 64, 70)))]
            self.features.add("many parameters")
        return chosen

    def parameter(self, path: str) -> str:
        name = self.pick(_fitting(path)) if self.chance(0.85) else self.pick(tuple(PARAMETERS))
        self.features.add(name)
        own = self.own_values(name)
        value = self.pick(own if own and self.chance(0.7) else PARAMETERS[name])
        if self.chance(0.15):
            self.features.add("odd value")
            value = self.pick(ODD_VALUES)
        elif self.chance(0.6):
            value = quote(value, safe=self.pick(("", "/,-", ", -")))
        name = "sort" if name == "order" else name
        if self.chance(0.1):
            self.features.add("escaped parameter")
            name = "".join(f"%{ord(letter):02x}" if self.chance(0.3) else letter for letter in name)
        if self.chance(0.04):
            self.features.add("parameter in other case")
            name = name.swapcase()
        return f"{name}={value}" if self.chance(0.97) else name

    def own_values(self, name: str) -> Sequence[str]:
        if name in ("slug", "series"):
            slug = self.pick((*self.words.slugs, *self.words.old_slugs))
            # Characters whose small letters are those of ASCII.
            return [self.pick((slug, slug.upper(), slug.replace("k", "\u212a").replace("i", "\u0130")))]
        field = {"search": "title", "genre": "categories"}.get(name, name)
        return [self.name(self.words.names[field])] if field in self.words.names else []

    def name(self, names: Sequence[str]) -> str:
        """A name or a part of one, in any letter case and form. The index lists parts of up to eight characters."""
        name = self.pick([name for name in names if not name.isascii()] if self.chance(0.5) else names)
        if self.chance(0.8):
            at = self.random.randrange(len(name) or 1)
            name = name[at : at + self.random.randint(1, 12)]
        name = NAME_FORMS[self.pick(tuple(NAME_FORMS))](name)
        # Nearly the name: its pairs of characters are in the index.
        return name + self.pick(self.pick(names) or "x") if self.chance(0.1) else name

    # Its headers

    def conditions(self, target: Target) -> list[tuple[str, str]]:
        chosen = [self.pick(CONDITIONS)]
        if self.chance(0.3):
            chosen = [name for name in CONDITIONS if self.chance(0.6)]
        return [(name, self.date(name, target) if "Since" in name else self.tags(name, target)) for name in chosen]

    def tags(self, name: str, target: Target) -> str:
        tag = target.etag or "0" * 32
        form = self.pick(tuple(TAGS))
        self.features.add(f"{name} {form}")
        return TAGS[form].replace("TAG", tag)

    def date(self, name: str, target: Target) -> str:
        seconds = max(0, (target.modified or 10**9) + self.pick((0, 0, 0, 1, -1, _DAY, -_DAY, 10**8, -(10**9))))
        form = self.pick(tuple(DATES))
        self.features.add(f"{name} {form}")
        return DATES[form](seconds)

    def coding(self) -> str:
        value = self.pick(CODINGS)
        if self.chance(0.2):
            value = ", ".join(self.pick(CODINGS) for _ in range(3))
        self.features.add("coding" if "gzip" in value else "no coding")
        return value

    def key(self, headers: list[tuple[str, str]], query: str) -> str:
        value = self.pick((*self.words.keys, *self.words.keys, "unknown", "", "é", "a b", "%6b"))
        kind = "valid key" if value in self.words.keys else "invalid key"
        if self.chance(0.6):
            headers.append((self.pick(("X-API-Key", "x-api-key", "X-Api-Key")), _wire(value, keep=True)))
        if len(headers) % 2 or self.chance(0.3):
            kind += " in the query"
            name = "api_key" if self.chance(0.8) else self.pick(("api%5Fkey", "API_KEY", "api_key[]", "%61pi_key"))
            query = "&".join(filter(None, [query, f"{name}={quote(value) if self.chance(0.5) else value}"]))
        self.features.add(kind)
        return query

    def method(self, headers: list[tuple[str, str]]) -> tuple[str, str]:
        body = ""
        method = self.pick(("GET",) * 14 + ("HEAD",) * 3 + ("OPTIONS", self.pick(METHODS)))
        if method in METHODS or self.chance(0.01):
            body = self.pick(("", "", "a=b", "x" * 5000))
            headers.append(("Content-Length", str(len(body))))
        elif self.chance(0.02):
            self.features.add("chunked")
            body = "3\r\nabc\r\n0\r\n\r\n"
            headers.append(("Transfer-Encoding", "chunked"))
        self.features.add(method)
        return method, body

    def version(self, headers: list[tuple[str, str]]) -> str:
        if self.chance(0.01):
            self.features.add("two hosts")
            headers.append(("Host", self.pick(("test", "other"))))
        if self.chance(0.01) or ("chunked" in self.features and self.chance(0.1)):
            self.features.add("HTTP/1.0")
            return "1.0"
        return "1.1"

    def authority(self, url: str) -> tuple[str, str]:
        """The target, which may be absolute, and the header Host."""
        host = "test"
        if self.chance(0.02):
            self.features.add("absolute target")
            url = self.pick(("http://test", "HTTP://X.Example:80", "https://[::1]", "ftp://a.b.")) + url
        elif self.chance(0.03):
            kind = self.pick(tuple(HOSTS))
            self.features.add(kind)
            host = _wire(self.pick(HOSTS[kind]), keep=True)
        return url, host


def _by_kind(targets: Sequence[Target]) -> Mapping[str, Sequence[Target]]:
    """The targets in kinds of about equal interest."""
    kinds: dict[str, list[Target]] = {}
    for target in targets:
        kinds.setdefault(_kind(target), []).append(target)
    return kinds


def _kind(target: Target) -> str:
    if target.status != 200:
        return f"gate {target.status}"
    if target.restricted:
        return "restricted"
    if target.url.startswith("/api/v2"):
        return "v2 with a query" if "?" in target.url else "v2"
    if target.url.startswith("/api"):
        return "v1" if target.url.startswith("/api/v1") else "unversioned"
    if re.search(r"\.(atom|rss|json|xml|txt)$", target.url):
        return "feed"
    return "page of a chapter" if re.search(r"/\d+/[\d.]+/(version-\d+/)?$", target.url) else "page"


def _wire(text: str, *, keep: bool = False) -> str:
    """A text as Latin-1 letters, one for each byte in UTF-8; without blanks and line breaks, unless they are kept."""
    sent = text.encode().decode("latin-1")
    return sent if keep else re.sub(r"[\x00-\x20\x7f]", lambda match: f"%{ord(match[0]):02X}", sent)


def _before(text: str) -> Callable[[str, random.Random], str]:
    """Insert a text before one of the slashes."""

    def change(path: str, random: random.Random) -> str:
        at = random.choice([match.start() for match in re.finditer("/", path)] or [0])
        return path[:at] + text + path[at:]

    return change


def _inside(*texts: str) -> Callable[[str, random.Random], str]:
    def change(path: str, random: random.Random) -> str:
        at = random.randint(1, len(path))  # behind the first letter
        return path[:at] + random.choice(texts) + path[at:]

    return change


def _escaped(path: str, random: random.Random) -> str:
    at = random.randrange(len(path))
    digits = "".join(random.choice((f"%{byte:02x}", f"%{byte:02X}")) for byte in path[at].encode())
    return path[:at] + digits + path[at + 1 :]


def _escaped_slash(path: str, random: random.Random) -> str:
    at = random.choice([match.start() for match in re.finditer("/", path)] or [0])
    return path[:at] + random.choice(("%2F", "%2f", "/%2F", "%2F/")) + path[at + 1 :]


def _other_case(path: str, random: random.Random) -> str:
    if random.random() < 0.5:
        return path.upper() if random.random() < 0.5 else path.swapcase()
    at = random.randrange(len(path))
    return path[:at] + path[at].swapcase() + path[at + 1 :]


SPELLINGS: Mapping[str, Callable[[str, random.Random], str]] = {
    "final slash": lambda path, random: f"{path}/",
    "no final slash": lambda path, random: path.rstrip("/") or "/",
    "final slashes": lambda path, random: path + "//",
    "two slashes": _before("/"),
    "three slashes": _before("//"),
    "dot": _before("/."),
    "two dots": _before("/x/.."),
    "two dots too many": lambda path, random: f"/..{path}",
    "dots at the end": lambda path, random: path + random.choice(("/..", "/.", "/x/..", ".", "..", "...")),
    "escaped dots": _before("/x/%2e%2E"),
    "escaped dot": _before("/%2e"),
    "escape": _escaped,
    "escaped slash": _escaped_slash,
    "double escape": _inside("%2541", "%252F", "%25"),
    "NUL": _inside("%00"),
    "control letter": _inside("%0A", "%0d", "%09", "%7f", "%01"),
    "invalid escape": _inside("%", "%4", "%zz", "%u0041"),
    "letters beyond ASCII": _inside("é", "%C3%A9", "%e9", "霧", "%F0%9F%98%80", "%EF%BB%BF", "%ff", "%c0%af"),
    "other case": _other_case,
    "punctuation": _inside(";a=1", "%3F", "%23", "%20", *":@&=+$!'()*,~"),
    "quoted": _inside(*'"<>\\^`{|}'),
    "fragment": lambda path, random: path + random.choice(("#part", "#", "#%00", "#a/%2F")),
    "another ending": lambda path, random: path.rstrip("/") + random.choice((".json", ".html", ".gz", ".md5", ".atom")),
    "shorter": lambda path, random: path[:-1] or "/",
    "one segment less": lambda path, random: path.rstrip("/").rpartition("/")[0] or "/",
    "one segment more": lambda path, random: path.rstrip("/") + random.choice(("/x", "/1", "/pages", "/read", "/_")),
    "long": lambda path, random: path + "/" + "a" * random.choice((200, 1000, 3000)),
}

PARAMETERS: Mapping[str, Sequence[str]] = {
    "page": ("1", "2", "3", "99", "0", "01", "-1", "1.0", "1e2", "x", "", "999999999", "1000000000", " 1"),
    "limit": ("1", "2", "5", "25", "999", "1000", "0", "007", "-3", "x", "", "99999999999999999999"),
    "sort": (
        *("title", "-title", "latest_upload", "-latest_upload", "chapter_count", "-chapter_count", "views", "-views"),
        *("Title", "title,-views", " title ", "nothing", "constructor", "__proto__", "", "--title"),
    ),
    "title": ("o", "The", "full", "É", "straße", "STRASSE", "İ", "ﬁ", "10", "nothing at all"),
    "author": ("a", "Ada", "penn", "o", "é", "x" * 10, "Mira Okafor,writer", "mira okafor,PENCILLER", ",writer"),
    "artist": ("a", "Ada", "penn", "o", "é", ""),
    "categories": (
        *("drama", "-drama", "drama,action", "Drama", " drama , -slow life", ",,", "nothing", "slow life", "-"),
    ),
    "status": (
        *("any", "ongoing", "completed", "canceled", "cancelled", "hiatus", "ONGOING", "licensed", "x"),
        *("ENDED,HIATUS", "ABANDONED,x"),
    ),
    "slug": ("nothing", "UPPER-lower_9", "upper-LOWER_9", "constructor", "__proto__", ""),
    "date_format": ("timestamp", "rfc-5322", "iso-8601", "Timestamp", "", "x", "rfc-5322 "),
    "series": ("nothing", ""),
    "volume": ("1", "2", "0", "null", "None", "", "01", "x", "-1"),
    "number": ("1", "2", "10.5", "10.50", "1.0", "01", "0", "x", "", "11", "1e1"),
    "track": ("true", "True", "1", "false", ""),
    "order": (
        *("relevance,asc", "relevance,desc", "name", "metadata.titleSort,desc", "createdDate,asc", "createdDate,desc"),
        *("lastModifiedDate,desc", "random,asc", "random,desc", "x,desc", "constructor", ",", "random,DESC"),
    ),
    "search": ("o", "The", "full", "É", "STRASSE", "nothing at all", ""),
    "genre": ("Drama", "drama,Action", "nothing", ",,", "Drama,drama,Comedy, Tragedy", "__proto__"),
    "tag": ("Manga", "manga,webtoon", "x"),
    "publisher": ("Night Shift", "x,Third Breakfast Press", "constructor"),
    "library_id": ("1", "2", "1,2", ""),
    "read_status": ("UNREAD", "READ", "IN_PROGRESS,unread", "x"),
    "unknown": ("", "1", "a b"),
    "utm_source": ("mail",),
}
NAME_FORMS: Mapping[str, Callable[[str], str]] = {
    "as it is": str,
    "upper": str.upper,
    "swapped": str.swapcase,
    "title": str.title,
    "composed": lambda name: normalize("NFC", name),
    "decomposed": lambda name: normalize("NFD", name),
    "plain": lambda name: normalize("NFKC", name),
}
_LIST = ("page", "page", "limit", "limit", "sort", "sort", "title", "author", "artist", "categories", "status", "slug")


# The list of series of another API, for apps.
_KOMGA = "/komga/api/v1/series"
_LIST_OF_KOMGA = (
    *("page", "order", "order", "search", "genre", "tag", "publisher", "author", "author", "status", "library_id"),
    "read_status",
)


def _fitting(path: str) -> Sequence[str]:
    if "/pages" in path:
        return ("series", "volume", "number", "track")
    if "/chapters" in path:
        return ("date_format", "date_format", "page", "track")
    if path.startswith(_KOMGA):
        return _LIST_OF_KOMGA
    return _LIST if "/series" in path else tuple(PARAMETERS)


ODD_VALUES = (
    *("%", "%zz", "%C3%A9", "%e9", "%ff%fe", "%00", "+", "a+b", "%2B", "%26", "a%3Db", "a=b", "=", "[]", "'", "%22"),
    *("é", "%F0%9F%98%80", "%EF%BB%BFx", "%20", "%0A", "1%0A", "%31", "?", "/", "..%2F", ";", "a;b"),
    *("x" * 199, "x" * 201, "é" * 120, "🌵" * 120, "🌵" * 201),
    *(",".join(f"c{number}" for number in range(count)) for count in (64, 65, 80)),
)
CONDITIONS = ("If-None-Match", "If-Match", "If-Modified-Since", "If-Unmodified-Since")
TAGS: Mapping[str, str] = {
    "equal": '"TAG"',
    "weak": 'W/"TAG"',
    "other": '"0123456789abcdef0123456789abcdef"',
    "list": '"x", "TAG", W/"y"',
    "list without blanks": '"x","TAG"',
    "list of others": '"x", W/"y", "z"',
    "list with a comma inside": '"a,b", "TAG"',
    "weak in a list": '"x", W/"TAG"',
    "star": "*",
    "star in a list": '"x", *',
    "unquoted": "TAG",
    "half quoted": '"TAG',
    "inside another": '"x TAG"',
    "small weak": 'w/"TAG"',
    "empty": "",
    "commas": ',, "TAG" ,',
    "upper case": '"' + "ABCDEF" * 5 + '"',
    "blanks": '   "TAG"   ',
    "junk behind": '"TAG"x',
    "long list": ", ".join([f'"{number:032x}"' for number in range(40)] + ['"TAG"']),
}


# The value of the header Host: a host, no host, and none that nginx takes for one nevertheless.
HOSTS: Mapping[str, Sequence[str]] = {
    "host": ("test:80", "test:", "X.Example", "x.", "a_b", "%41", "x,y", "127.0.0.1", "[::1]", "[::1]:8000", "*"),
    "no host": (
        *("x/api/v2/chapters/704?", "test/", "/", "//", "x//y", "http://x", "x?/api/series", "x#/", "u@h/"),
        *("", ".", "..", "a..b", ":80", "::1", "a b", "a\tb"),
    ),
    "host of nginx": ("x?", "x?y", "x#", "x\\y", "u@h", "u:p@h", "x:abc", "x:80:80", "[::1", "[::1]x", 'a"b', "é"),
}
DATES: Mapping[str, Callable[[int], str]] = {
    "in the usual form": lambda seconds: formatdate(seconds, usegmt=True),
    "as in RFC 850": lambda seconds: strftime("%A, %d-%b-%y %H:%M:%S GMT", gmtime(seconds)),
    "as in C": lambda seconds: asctime(gmtime(seconds)),
    "in small letters": lambda seconds: formatdate(seconds, usegmt=True).lower(),
    "without zone": lambda seconds: formatdate(seconds, usegmt=True)[:-4],
    "with an offset": lambda seconds: formatdate(seconds),
    "with a wrong hour": lambda seconds: re.sub(r"\d\d:", "25:", formatdate(seconds, usegmt=True), count=1),
    "twice": lambda seconds: ", ".join([formatdate(seconds, usegmt=True)] * 2),
    "as a number": str,
    "empty": lambda seconds: "",
    "with a wrong day": lambda seconds: re.sub(r"^\w+", "Xyz", formatdate(seconds, usegmt=True)),
    "with blanks": lambda seconds: f"  {formatdate(seconds, usegmt=True)}  ",
}
CODINGS = (
    *("gzip", "gzip", "gzip, deflate", "gzip, deflate, br", "gzip, deflate, br, zstd", "identity", "*", "br", ""),
    *("gzip;q=0", "gzip;q=0.5", "gzip;q=1.0", "gzip; q = 0.000", "gzip;q=0.001", "x-gzip", "GZIP", "*;q=0", "*;q=0.3"),
    *("identity;q=1, *;q=0", "gzip;q=0, *", "deflate, gzip;q=1.0, *;q=0.5", "gzipped", "xgzip", "gzip;level=1"),
    *("gzip;q=0.0, *;q=1", "identity;q=0", "br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip ;q=1", ",gzip,"),
)
OTHER_HEADERS = (
    *(("Range", "bytes=0-9"), ("Origin", "https://app.example"), ("Cookie", "a=b"), ("Expect", "100-continue")),
    *(("Flatpanel-Again", "1"), ("Connection", "keep-alive"), ("If-Range", '"x"'), ("X-Forwarded-Host", "other")),
    *(("Access-Control-Request-Method", "GET"), ("Accept", "text/html"), ("Authorization", "Basic eDp5")),
    *(("Cache-Control", "no-cache"), ("Upgrade", "h2c"), ("X-HTTP-Method-Override", "DELETE"), ("TE", "trailers")),
)
