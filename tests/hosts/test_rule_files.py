"""`_headers` and `_redirects`: their grammar, limits of hosts, and rules that give each path its headers."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from generator.api import policies
from generator.api.payloads.resources import Gate
from generator.hosts.plain import cloudflare, netlify, plain_release
from generator.hosts.plain.caddy import quote
from generator.hosts.plain.export import export_for
from generator.hosts.plain.patterns import path_rules
from generator.hosts.plain.plain_release import PlainRelease
from tests.conftest import Site, copy_of
from tests.hosts.plain_cases import public


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Site]:
    """One with pages, and one without."""
    made = {name: copy_of(name, tmp_path_factory.mktemp(name)) for name in ("pages", "everything")}
    for site in made.values():
        site.build()
    return made


@pytest.fixture(scope="module")
def site(sites: dict[str, Site]) -> Site:
    return sites["pages"]


@pytest.fixture(scope="module")
def release(site: Site) -> PlainRelease:
    with site.store.table() as table:
        return plain_release.read(table, site.store.root)


def matches(pattern: str, path: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), path) is not None


def test_path_rules_give_each_path_its_value() -> None:
    """A folder whose paths agree is one rule; no two rules have a path in common."""
    values = {"/": 1, "/a": 1, "/a/b": 2, "/a/c/": 2, "/a/c/d": 2, "/b/x": 3, "/b/y": 4, "/b/y/z": 3}
    rules = path_rules(values)
    assert rules == {"/": 1, "/a": 1, "/a/*": 2, "/b/x": 3, "/b/y": 4, "/b/y/*": 3}
    for path, value in values.items():
        assert [rules[rule] for rule in rules if matches(rule, path)] == [value]
    assert path_rules({"/a": 1, "/b/c": 1}) == {"/*": 1}


def blocks(text: str) -> dict[str, list[str]]:
    """The rules of a file `_headers`."""
    rules: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("/"):
            pattern = line
            assert pattern not in rules
            rules[pattern] = []
        else:
            assert re.fullmatch(r"  (?:! )?[A-Za-z-]+(?:: \S.*)?", line), line
            rules[pattern].append(line.strip())
    return rules


def headers(rules: dict[str, list[str]], path: str) -> list[str]:
    """The headers of a path: each rule that fits adds some, and a line with ! removes those of a name."""
    lines: list[str] = []
    for line in (line for pattern, lines in rules.items() if matches(pattern, path) for line in lines):
        name = line.removeprefix("! ")
        lines = [*lines, line] if name == line else [other for other in lines if not other.startswith(f"{name}:")]
    return lines


@pytest.mark.parametrize("host", ["cloudflare", "netlify"])
def test_one_rule_gives_a_path_its_cache_control(site: Site, tmp_path: Path, host: str) -> None:
    """Both hosts apply every rule that fits, and would join the values of two."""
    export_for(site.store, host, tmp_path / "export")
    rules = blocks((tmp_path / "export/site/_headers").read_text())
    for body in public(site):
        lines = headers(rules, body.url)
        names = [line.partition(":")[0] for line in lines]
        assert f"Cache-Control: public, max-age={body.max_age}" in lines
        assert len(names) == len(set(names)), body.url


def test_redirects_of_netlify(site: Site, release: PlainRelease, tmp_path: Path) -> None:
    """Every line has a path, a target and a status; the 404s come last, and the page of the last one has its policy."""
    export_for(site.store, "netlify", tmp_path / "export")
    folder = tmp_path / "export/site"
    lines = [line.split(" ") for line in (folder / "_redirects").read_text().splitlines()]
    assert {len(line) for line in lines} == {3} and {line[2] for line in lines} == {"302", "308", "200", "404"}
    assert [line for line in lines if line[2] == "404"] == [
        ["/api/v2/*", "/api/v2/404.json", "404"],
        ["/api/*", "/api/404.json", "404"],
        ["/komga/*", "/api/404.json", "404"],
        ["/opds/*", "/api/404.json", "404"],
        ["/*", "/404.html", "404"],
    ]
    for _, target, status in lines:
        if status == "404":
            assert (folder / target[1:]).is_file()
    policy = policies.page_policy(release.rules.image_origins)
    assert f"Content-Security-Policy: {policy}" in headers(blocks((folder / "_headers").read_text()), "/404.html")
    for body in public(site):
        if body.url.startswith("/api/") and body.type == "application/json":
            assert (folder / f"{body.url[1:].replace('%20', ' ').removesuffix('.json')}.json").is_file()


@pytest.mark.parametrize(("name", "begin"), [("everything", b'{"error"'), ("pages", b"<!DOCTYPE html>")])
def test_cloudflare_has_an_error_for_each_path(sites: dict[str, Site], tmp_path: Path, name: str, begin: bytes) -> None:
    """The host sends that of the nearest folder, so the root needs one with and without pages."""
    export_for(sites[name].store, "cloudflare", tmp_path / "export")
    assert (tmp_path / "export/site/404.html").read_bytes().lower().startswith(begin.lower())


def test_netlify_without_pages(sites: dict[str, Site], tmp_path: Path) -> None:
    totals = export_for(sites["everything"].store, "netlify", tmp_path / "export")
    text = (tmp_path / "export/site/_redirects").read_text()
    assert "/ /index.json 200\n" in text and text.endswith("/* /404.json 404\n")
    assert (tmp_path / "export/site/404.json").read_bytes() == b'{"error":"Not found","status":404}'
    # Its lists have two series a page.
    assert [text for text in totals.warnings if "set page_size in site.yaml" in text]


def test_cloudflare_has_limits(release: PlainRelease, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is over a limit is left out, and the warnings say so."""
    gates = tuple(Gate(f"/api/v2/chapters/{id}/read", 308, "/read/x/") for id in range(1, 2100))
    slugs = {f"old-{number}": "moons" for number in range(30)}
    changed = release._replace(gates=gates, rules=replace(release.rules, redirects=slugs))
    (page,) = (body for body in release.bodies if body.url == "/latest/")
    names = tuple(page._replace(url=f"/categories/{number}.html/") for number in range(1050))
    assert "no room for the rules of 100 paths" in "\n".join(cloudflare.export(release._replace(bodies=names)).warnings)
    monkeypatch.setattr(cloudflare, "MAX_BYTES", 50_000)
    monkeypatch.setattr(cloudflare, "MAX_FILES", 20)
    monkeypatch.setattr(cloudflare, "MAX_RULES", 10)
    export = cloudflare.export(changed)
    text = "\n".join(export.warnings)
    for part in (
        "/api/v2/docs/swagger-ui-bundle.js: 1.",
        "this host takes at most 0 MiB; left out",
        "_redirects: has 2460 redirects and 270 with `*`, this host takes 2,000 and 100",
        "rules, this host takes 10; the others were left out",
        "files, and Cloudflare takes 20 for free",
    ):
        assert part in text, text
    contents = {file.name: file.content for file in export.files}
    redirects, headers = contents["site/_redirects"], contents["site/_headers"]
    assert isinstance(redirects, bytes) and isinstance(headers, bytes)
    assert redirects.count(b"\n") == 2100 and redirects.startswith(b"/404/ /404 200\n/api/v2/chapters/2099/read ")
    rules = blocks(headers.decode())
    assert len(rules) == 10 and "Content-Type: application/json" in rules["/api/*"]
    assert not [name for name in contents if "bundle" in name]


@pytest.mark.parametrize(("pages", "hosts"), [(0, 0), (0, 60), (120, 0), (120, 60)])
def test_cloudflare_has_each_policy_for_any_catalog(release: PlainRelease, pages: int, hosts: int) -> None:
    """Neither many texts of a theme nor many hosts of images leave a page without a policy."""
    (page,) = (body for body in release.bodies if body.url == "/latest/")
    # With different ages, no rule fits two of them.
    added = tuple(page._replace(url=f"/p{number}/", max_age=300 + number) for number in range(pages))
    origins = tuple(f"https://images-{number:03}.cdn.example" for number in range(hosts))
    rules = replace(release.rules, image_origins=origins)
    changed = release._replace(bodies=(*release.bodies, *added), rules=rules)
    export = cloudflare.export(changed)
    (text,) = (file.content for file in export.files if file.name == "site/_headers")
    assert isinstance(text, bytes)
    lines = blocks(text.decode())
    assert len(lines) <= 100 and max(map(len, text.decode().splitlines())) <= 2000
    # The page of a missing path has the policy, too.
    expected = {path: policies.page_policy(origins) for path in ("/missing", *(body.url for body in (page, *added)))}
    expected |= {"/api/v2/docs/": policies.DOCS_POLICY, "/sw.js": policies.worker_policy(origins)}
    for path, policy in expected.items():
        sent = [line for line in headers(lines, path) if line.startswith("Content-Security-Policy")]
        assert sent == [f"Content-Security-Policy: {policy}"], path


def test_cloudflare_redirects_to_https_only(release: PlainRelease) -> None:
    """It ignores rules with other schemes; the export names the setting."""
    changed = release._replace(rules=replace(release.rules, base_url="http://minimal.example"))
    export = cloudflare.export(changed)
    (warning, *_) = [text for text in export.warnings if text.startswith("base_url")]
    (redirects,) = (file.content for file in export.files if file.name == "site/_redirects")

    assert re.fullmatch(r"base_url: http://minimal\.example is not https, .*; \d\d redirects were left out", warning)
    assert isinstance(redirects, bytes) and {line.split()[2] for line in redirects.splitlines()} == {b"200"}


def test_hosts_without_limits_warn_of_nothing(release: PlainRelease) -> None:
    assert len(netlify.export(release._replace(gates=())).warnings) == 0


def test_words_of_a_caddyfile() -> None:
    assert [quote(text) for text in ('a "b"', "a `b`", '`"')] == ['`a "b"`', '"a `b`"', '"`\\""']
