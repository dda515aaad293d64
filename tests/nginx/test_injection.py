"""Text of a catalog stays data: it never becomes a directive, a header, a path, or a redirect to another host."""

import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from generator.api.payloads.resources import key
from generator.catalog import records, site_settings
from generator.catalog.field_values import percent_encoded
from generator.errors import CatalogError
from generator.pipeline import run
from generator.pipeline.build_options import Options
from tests.conftest import AS_OF, Site, copy_of, serving
from tests.nginx.test_config import conf_text, nginx_check
from tests.support import nginx_client, runs

# Characters that end a word, a string, a block, a line or a header, and placeholders that are filled in.
PIECES = [
    '"',
    "'",
    ";",
    "{",
    "}",
    "$host",
    "${uri}",
    "\\",
    "%0d%0a",
    "..",
    " ",
    "#",
    "~",
    "Set-Cookie: a=b",
    "return 200 x;",
    "{{ 7*7 }}",
    "</script>",
    "//evil.example",
    "\u2028",
    "紙",
    "\x80",
    "default",
    "\r",
    "\n",
    "\0",
    "\t",
]
# Each of these is part of a text in which it is allowed.
CONTROLS = "\r\n\0\t"


def texts(count: int) -> Iterator[str]:
    """Hostile texts of one line, the same ones each time."""
    chance = random.Random(7)
    allowed = [piece for piece in PIECES if piece not in CONTROLS]
    for number in range(count):
        yield f"x{''.join(chance.choices(allowed, k=chance.randrange(1, 9)))}{number}"


TEXTS = list(texts(60))
# A file name contains no slash, a category name no slash and no comma.
NAMES = [re.sub(r"[/\\]", "", text) for text in TEXTS]
CATEGORIES = [re.sub(r"[/,]", "", text)[:50].rstrip() for text in TEXTS]


def block(rows: list[dict[str, object]]) -> str:
    return "".join(f"- {json.dumps(row)}\n" for row in rows)


def hostile(folder: Path) -> Site:
    """The minimal catalog with hostile text in every text field."""
    site = copy_of("minimal", folder)
    ids = range(100, 100 + len(TEXTS))
    links = ("website", "email", "discord", "twitter", "reddit", "irc")
    people = [{"id": id, "name": text, "aliases": [text]} for id, text in zip(ids, TEXTS, strict=True)]
    site.write("authors.yaml", block([{"id": 1, "name": "Ada Penn"}, *people]))
    site.write("artists.yaml", block(people))
    site.write("members.yaml", block([{"id": one["id"], "name": one["name"], "irc": one["name"]} for one in people]))
    site.write(
        "groups.yaml",
        block(
            [
                {"id": id, "name": text, "description": f"{text}\n{text}\t", "logo": name, **dict.fromkeys(links, text)}
                | {"members": [{"member": id, "role": text}]}
                for id, text, name in zip(ids, TEXTS, NAMES, strict=True)
            ]
        ),
    )
    site.write("categories.yaml", block([{"id": f"c{i}", "name": name} for i, name in enumerate(CATEGORIES)]))
    accounts = [{"username": f"u{i}", "first_name": text, "bio": text, "avatar": name} for i, (text, name) in PAIRS]
    site.write("accounts.yaml", block([one | {"keys": []} for one in accounts]))
    for index, (text, name) in PAIRS:
        series = {
            **{"title": text, "aliases": [text], "description": f"{text}\n{text}", "cover": name},
            **{"authors": [100 + index], "artists": [100 + index], "categories": [f"c{index}"]},
            "chapter_title": re.sub(r"[{}]", "", text) + " {title}",
            "modified": "2026-01-01",
        }
        chapter = {"id": 5000 + index, "number": 1, "title": text, "published": "2026-01-01", "pages": [name]}
        series["chapters"] = [chapter | {"groups": [100 + index], "modified": "2026-01-01"}]
        site.write(f"series/h{index}.yaml", json.dumps(series))
    return site


PAIRS = list(enumerate(zip(TEXTS, NAMES, strict=True)))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, nginx_client.Web]]:
    site = hostile(tmp_path_factory.mktemp("hostile"))
    with serving(site) as server:
        yield site, server
        assert server.complaints() == []


def test_nginx_accepts_hostile_text_without_warnings(served: tuple[Site, nginx_client.Web]) -> None:
    """Hostile text in a value changes no directive."""
    site, _ = served

    assert nginx_check(site.folder) == "0: "


def test_hostile_text_changes_only_the_maps(served: tuple[Site, nginx_client.Web], tmp_path: Path) -> None:
    """All other lines are the same, except for names and sizes that the build computes."""
    site, _ = served
    port = (site.folder / "catalog_src/site.yaml").read_text()
    harmless = copy_of("minimal", tmp_path)
    harmless.write("site.yaml", port)
    harmless.build()
    ours = re.compile(r"releases/[0-9a-f]+|[0-9a-f]{32}|_hash_\w+ \d+")

    assert ours.sub("", conf_text(site)) == ours.sub("", conf_text(harmless))


def test_every_response_is_its_file_with_the_usual_headers(served: tuple[Site, nginx_client.Web]) -> None:
    """Byte for byte, with any text in the body and the URL."""
    site, server = served
    for url, body in site.manifest.resources.items():
        if not url.startswith("/api") or "#" in url or "?" in url:
            continue
        answer = server.ask(quote(unquote(url), safe="/"))

        assert (answer.status, answer.body) == (200, (site.folder / "dist" / body.file).read_bytes()), url
        assert set(answer.fields) <= HEADERS, url


HEADERS = {"server", "content-type", "content-length", "connection", "etag", "last-modified", "cache-control", "vary"}
HEADERS |= {"access-control-allow-origin", "access-control-expose-headers", "access-control-allow-methods"}
HEADERS |= {"access-control-allow-headers", "content-security-policy", "x-content-type-options", "x-frame-options"}


def test_redirect_stays_on_the_own_host(served: tuple[Site, nginx_client.Web]) -> None:
    """With any title of a chapter."""
    _, server = served
    for index, _ in PAIRS:
        answer = server.ask(f"/api/v2/chapters/{5000 + index}/read")

        assert answer.status == 308
        assert re.fullmatch(rf"https://minimal\.example/reader/h{index}/[-\w./]*", str(answer["location"]))


# Values of site.yaml do reach the configuration.
SETTINGS = ["base_url", "reader", "media", "server_folder"]
# A title of the site and hosts of images that are no syntax of nginx. The catalog allows no other characters in hosts.
TITLE = "\"; return 200 x; # $host ${uri} $ \\ '}{ </title><script>alert(1)</script> \u2028紙"
HOSTS = ["https://a~b.example", "https://[::1]:8443", "http://A_b.example."]
GOOD = {"base_url": "https://a.example", "reader": "/r/", "media": "/m/", "server_folder": "/srv/a"}
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), min_size=1, max_size=4).map("".join)


def test_title_and_hosts_of_images_change_no_directive(site: Site) -> None:
    """The title is in no file of the configuration, and a header names only usual hosts."""
    digests = re.compile(r"releases/[0-9a-f]+|[0-9a-f]{32}|_hash_\w+ \d+|(?:img|connect)-src [^;]*")
    texts = []
    for title in ("Title", TITLE):
        site.write("site.yaml", f"base_url: https://minimal.example\npages: true\ntitle: {json.dumps(title)}\n")
        site.build()
        texts.append(digests.sub("", conf_text(site)))
        # The site with the first title names no such host.
        for index, host in enumerate(HOSTS):
            series = f"title: T\ncover: {host}/c.png\nlicensed: true\nupdated: 2026-01-01\n"
            site.write(f"series/host-{index}.yaml", series)

    assert texts[0] == texts[1]
    assert nginx_check(site.folder) == "0: "


@settings(max_examples=600 if runs.everything else 150, derandomize=True)
@given(st.sampled_from(SETTINGS), st.integers(0, 20), TEXT)
@example("base_url", 17, "\n")
@example("reader", 3, "\n")
@example("server_folder", 6, "\n")
def test_settings_with_special_characters_are_refused(name: str, at: int, text: str) -> None:
    """A setting is a URL or a folder of plain characters to its end."""
    value = GOOD[name][:at] + text + GOOD[name][at:]
    try:
        site = site_settings.Site.model_validate({"base_url": GOOD["base_url"], name: value})
    except ValidationError:
        return

    assert re.fullmatch(r"[-A-Za-z0-9._~:/]+", getattr(site, name))
    if name == "reader":
        assert not value.startswith("//")


@settings(max_examples=300 if runs.everything else 75, derandomize=True)
@given(TEXT)
@example("a\n")
@example("..")
def test_slugs_with_special_characters_are_refused(text: str) -> None:
    """They become paths, keys and file names."""
    try:
        account = records.Account.model_validate({"username": "a", "bookmarks": [text]})
    except ValidationError:
        return

    assert re.fullmatch(r"[-A-Za-z0-9_]+", account.bookmarks[0], re.ASCII)


@settings(max_examples=300 if runs.everything else 75, derandomize=True)
@given(TEXT)
@example("a\n")
@example("..")
@example("霧" * 200)
@example("Noor")
def test_username_becomes_plain_words_in_keys_and_urls(text: str) -> None:
    """Other usernames are refused. A file name is shorter than 255 bytes."""
    try:
        account = records.Account.model_validate({"username": text})
    except ValidationError:
        return
    url = f"/api/v2/profile#{percent_encoded(account.username)}"

    assert re.fullmatch(r"[-A-Za-z0-9_.~%]*[-A-Za-z0-9_~%][-A-Za-z0-9_.~%]*", percent_encoded(account.username))
    assert re.fullmatch(r"/of/(?:[-a-z0-9_]{1,200}|~[0-9a-f]{32})/profile", key(url))


@pytest.mark.parametrize("field", ["title", "cover", "aliases", "chapter_title"])
def test_control_characters_are_refused(site: Site, field: str) -> None:
    """Even quoted, they would break headers and lines of logs."""
    signs = "\r\n\0\x7f\x1b"
    for place, sign in enumerate(signs):
        value: object = f"a{sign}Set-Cookie: b"
        fields = {"title": "T", "cover": "c.jpg", field: [value] if field == "aliases" else value}
        site.write(f"series/x{place}.yaml", json.dumps(fields))
    with pytest.raises(CatalogError) as caught:
        run.build(Options(*site.paths, AS_OF))

    assert [one.field.partition("[")[0] for one in caught.value.problems] == [field] * len(signs)
    assert not (site.folder / "dist").exists()


# The findings of gixy, and why each is right as it is.
FINDINGS = {
    # A map without a match gives an empty value: a key without a line is a 404, and an unknown month no date.
    "hash_without_default",
    # Only `set` followed by `return`, and `rewrite … break`: both end the processing of the request.
    "if_is_evil",
    # A repeated request must reach the server {} that its Host selected the first time.
    "host_spoofing",
    # $fp_file consists of values of maps and is a path, never a header. queries.conf checks the parts that come
    # from the request.
    "http_splitting",
}
# Feeds and styles are inside the location of pages, whose two headers concern HTML only.
FINDINGS_WITH_PAGES = {"add_header_redefinition"}


@pytest.mark.end_to_end
@pytest.mark.parametrize("pages", ["false", "true"] if runs.everything else ["true"])
def test_gixy_reports_no_other_issue(site: Site, pages: str) -> None:
    """gixy checks the whole configuration for weaknesses."""
    site.write("site.yaml", f"base_url: https://minimal.example\nmedia_folder: media\npages: {pages}\n")
    site.build()
    # gixy cannot parse possessive quantifiers. Without them, the expressions match the same texts, only slower.
    for path in [site.folder / "nginx.conf", *(site.folder / "dist/releases").glob("*/*.conf")]:
        text = path.read_text().replace("dist/current/", f"dist/releases/{site.store.current()}/")
        path.write_text(text.replace("*+", "*").replace("++", "+"))
    command = [Path(sys.executable).with_name("gixy"), "-f", "json", "nginx.conf"]
    process = subprocess.run(command, cwd=site.folder, capture_output=True, text=True, check=False)
    issues = json.loads(process.stdout)

    assert {one["plugin"] for one in issues} == (FINDINGS | FINDINGS_WITH_PAGES if pages == "true" else FINDINGS)
    # The shim escapes control characters in $fp_location; tests/responses/test_slug_redirects.py requests them.
    assert {one["reason"] for one in issues if one["plugin"] == "http_splitting"} == {
        'At least variable "$fp_location" can contain "\\n"',
    }
