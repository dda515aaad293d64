"""The emitted configuration in nginx: without warnings, in any folder, and beside other locations."""

import re
import socket
import subprocess
from itertools import product
from pathlib import Path

import pytest

from generator.api.payloads.resources import SERIES_INDEX_URL, Gate
from generator.catalog.site_settings import CacheAges, VersionAges
from generator.catalog.site_settings import Site as Settings
from generator.errors import FlatpanelError
from generator.nginx import config, maps
from generator.nginx.process import find_nginx
from generator.pipeline import run as pipeline
from generator.pipeline.build_options import Options
from generator.pipeline.publish import ResourcePublisher, max_ages, site_rules
from generator.release.bodies import BodyWriter
from generator.release.manifest import Published
from tests.conftest import AS_OF, Site, copy_of
from tests.responses.test_golden import NAMES
from tests.support import nginx_client
from tests.support.golden import bodies
from tests.support.tables import each

SETTINGS = Settings(base_url="https://minimal.example")


def nginx_check(folder: Path) -> str:
    """Exit code and output of `nginx -t -q` for a main file."""
    command = [find_nginx(), "-p", ".", "-c", "nginx.conf", "-e", "stderr", "-t", "-q"]
    process = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    # Newer versions of njs print a notice when they start.
    warnings = [line for line in process.stdout.splitlines(keepends=True) if "[notice]" not in line]
    return f"{process.returncode}: {''.join(warnings)}"


def with_port(site: Site, listener: socket.socket, more: str = "") -> Site:
    """The minimal catalog, to be served on a test's own socket."""
    site.write("site.yaml", f"base_url: https://minimal.example\nport: {listener.getsockname()[1]}\n{more}")
    return site


def assert_serves(server: nginx_client.Web) -> None:
    """Check a body, a 304 and an error of the minimal catalog."""
    responses = [server.ask("/api/series"), server.ask("/api/series", If_None_Match="*"), server.ask("/api/nothing")]

    assert [one.status for one in responses] == [200, 304, 404]
    assert [one.body for one in responses] == [
        bodies("minimal")["/api/series"],
        b"",
        b'{"error":"Not found","status":404}',
    ]


@pytest.mark.parametrize("name", NAMES)
def test_nginx_accepts_golden_sites_without_warnings(tmp_path: Path, name: str) -> None:
    """No value of any catalog causes an error or a warning."""
    copy_of(name, tmp_path).build()

    assert nginx_check(tmp_path) == "0: "


def published(number: int, max_age: int = 300, slug: str = "slug") -> Published:
    """A manifest line that no build wrote."""
    tag = f"{number:032x}"
    url = f"/api/series/{slug}-{number}"
    return Published(url, f"www{url}.{tag}.json", tag, number, 1, tag * 2, number % 2 == 0, max_age)


def release(lines: list[Published], settings: Settings = SETTINGS, *, dist: str, folder: str) -> dict[str, bytes]:
    """The files of a release with these bodies and the index."""
    index = Published(SERIES_INDEX_URL, "index.json", "0" * 32, 0, 2, "0" * 64, False, 300)
    publisher = ResourcePublisher(BodyWriter(Path(), {}, continues_current=True), settings, 0, skip_unchanged=False)
    segment = publisher.segment([index, *lines])
    summary = segment.summary
    rules = site_rules(settings, {}, ())
    data = config.ConfigData(rules, {}, index.file, max(summary.lines), summary.longest_line)
    long_maps = {f"{name}.map": text for name, text in zip(maps.LONG, segment.maps, strict=True)}
    return config.release_files(data, config.ServerConf(dist, folder, views_per_second=5)) | long_maps


def written(folder: Path, lines: list[Published]) -> Path:
    """Write a main file around a release of these lines."""
    (folder / "dist/run").mkdir(parents=True)
    (folder / "dist/index.json").write_text("{}")
    for name, text in release(lines, dist="dist", folder="release").items():
        path = folder / "release" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    (folder / "run").mkdir()
    (folder / "nginx.conf").write_bytes(config.main_conf(["8000"], folder="release", run="run"))
    return folder


@pytest.mark.end_to_end
@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([], id="none"),
        pytest.param([published(1)], id="one"),
        pytest.param([published(number) for number in range(2000)], id="2,000"),
        pytest.param([published(number) for number in range(20_000)], id="20,000"),
        pytest.param([published(number, slug="x" * 200) for number in range(5000)], id="long"),
        pytest.param([published(1, slug="x" * 3000)], id="very long"),
    ],
)
def test_hash_sizes_fit_any_number_of_lines(tmp_path: Path, lines: list[Published]) -> None:
    """nginx prints no warning for any number and length of lines."""
    assert nginx_check(written(tmp_path, lines)) == "0: "


def versions(first: int) -> dict[str, VersionAges]:
    """Ages that no two routes share."""
    kinds = list(VersionAges.model_fields)
    return {
        version: VersionAges(**{kind: first + place * len(kinds) + index for index, kind in enumerate(kinds)})
        for place, version in enumerate(("unversioned", "v1", "v2"))
    }


DIFFERENT = Settings(base_url="https://minimal.example", cache=CacheAges(**versions(300), index=299))


def test_each_age_has_a_letter_of_its_own() -> None:
    """Letters in the lines stand for max-age; http.conf turns them into seconds."""
    lines = [published(age, max_age=age) for age in range(299, 315)]
    files = {name: text.decode() for name, text in release(lines, DIFFERENT, dist="d", folder="f").items()}
    ages = dict(re.findall(r'^    ([a-z]+) "public, max-age=(\d+)";$', files["http.conf"], re.MULTILINE))
    letters = re.findall(r"^/api/series/slug-\d+ \"[0-9a-f]{32}[-+]([a-z]+)[A-Z]", files["series.map"], re.MULTILINE)

    assert sorted(int(ages[letter]) for letter in letters) == list(range(299, 315))


def test_age_letters_depend_on_the_settings_only() -> None:
    """Each age in site.yaml has two letters, restricted and public, whether a body uses them or not."""
    assert maps.age_letters(max_ages(SETTINGS)) == {
        (restricted, age): letter
        for letter, (restricted, age) in zip("abcdef", product((False, True), (60, 300, 3600)), strict=True)
    }


TAG = "0" * 32


def lines_of(url: str, target: str = "") -> list[maps.MapLine]:
    """The lines of a body and of a gate at one URL."""
    body = published(0)._replace(url=url, etag="0" * 32, modified=86_400 * 36 + 3_661)
    return [
        maps.body_line(body, maps.age_letters(max_ages(SETTINGS))),
        maps.gate_line(Gate(url, 308 if target else 451, target, restricted=True)),
    ]


@each(
    ("url", "file", "word"),
    [
        ("/api/series/a", "series", "/api/series/a"),
        ("/api/series/a/1/10.5", "series", "/api/series/a/1/10.5"),
        ("/api/v1/series/default", "v1_series", "/api/v1/series/default"),
        ("/api/v2/chapters/12", "chapters", "/api/v2/chapters/12"),
        ("/api/v2/chapters/12/pages", "chapters", "/api/v2/chapters/12/pages"),
        ("/api/v2/chapters/12/read", "chapter_read", "/12"),
        ("/api/v2/chapters/12/else", "chapters", "/api/v2/chapters/12/else"),
        ("/api/series", "validators", "/api/series"),
        ("/api/v2/chapters", "validators", "/api/v2/chapters"),
        ("/api/v2/categories/a-b_c.d", "validators", "/api/v2/categories/a-b_c.d"),
    ],
)
def test_map_and_key_of_a_line_depend_on_its_url_only(url: str, file: str, word: str) -> None:
    """Map, key and value of a line depend on no other line."""
    assert lines_of(url, "/reader/") == [
        maps.MapLine(file, word, f'"{TAG}+bFri, 06 Feb 1970 01:01:01 GMT"'),
        maps.MapLine(file, word, "key:308/reader/"),
    ]
    assert lines_of(url)[1] == maps.MapLine(file, word, f"key:451{url}")


@each(
    ("url", "word", "value"),
    [
        ("/api/v2/categories/A", "/api/v2/categories/A", "/api/v2/categories/A"),
        ("/api/v2/categories/a%20b", '"/api/v2/categories/a b"', "/api/v2/categories/a b"),
        ("/api/v2/categories/a%2520b", '"/api/v2/categories/a%20b"', "/api/v2/categories/a%20b"),
        ("/api/v2/categories/.a", "/api/v2/categories/.a", "/api/v2/categories/.a"),
        ("/api/v2/categories/a%24b", '"/api/v2/categories/a$b"', "/api/v2/categories/a${fp_dollar}b"),
    ],
)
def test_key_that_is_not_spelled_like_its_url_is_repeated(url: str, word: str, value: str) -> None:
    """nginx compares a URL as sent with the other keys, and ignores case. A dollar sign would begin a variable."""
    body, gate = lines_of(url, "/reader/")

    assert body == maps.MapLine(maps.EXACT, word, f'"{TAG}+bFri, 06 Feb 1970 01:01:01 GMT {value}"')
    assert gate == maps.MapLine(maps.EXACT, word, f'"key:308/reader/ {value}"')


def test_folder_can_be_moved_after_the_build(site: Site, tmp_path: Path) -> None:
    """`nginx -p . -c nginx.conf` works wherever the folder is then."""
    with nginx_client.listening() as listener:
        with_port(site, listener).build()
        moved = tmp_path.parent / f"{tmp_path.name} moved"
        tmp_path.rename(moved)
        with nginx_client.running(moved, listener) as server:
            assert_serves(server)


NESTED = 'a b/a;b/a"b/{a}/#a/~a/ü 紙/a&b|c/-p/a%2Fb'
# The first character of a relative path begins a word of the configuration.
RELATIVE = ("{a}", "#a", "~a", "-p", NESTED)


@pytest.mark.parametrize(("name", "relative"), [*((name, True) for name in RELATIVE), (NESTED, False)])
def test_folder_names_are_quoted(site: Site, tmp_path: Path, name: str, relative: bool) -> None:
    """Spaces, quotes, semicolons and braces in the path of `--out` work, in relative and absolute paths."""
    out = tmp_path / name / "dist"
    conf = tmp_path / "nginx.conf" if relative else tmp_path / "etc/nginx.conf"
    with nginx_client.listening() as listener:
        with_port(site, listener)
        pipeline.build(Options(tmp_path / "catalog_src", out, conf, AS_OF))

        assert (str(tmp_path) in conf.read_text()) == (not relative)
        with nginx_client.running(conf.parent, listener) as server:
            assert_serves(server)


def test_folder_name_that_nginx_cannot_use_is_refused(site: Site, tmp_path: Path) -> None:
    """The error names the folder, and nothing is written."""
    for name in ("a*b", "a?b", "[a]", "a'b", "a\\b", "a$b", "${a}", "a\nb", "a\x7fb"):
        out = tmp_path / name
        with pytest.raises(FlatpanelError, match=r"; rename it$") as error:
            pipeline.build(Options(tmp_path / "catalog_src", out, tmp_path / "nginx.conf", AS_OF))

        assert repr(name)[1:-1] in str(error.value)
        assert not out.exists(), name


def test_nginx_writes_into_dist_run_only(site: Site) -> None:
    """Its log, pid and temporary files are there, so it needs no root."""
    site.build()
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    text = (site.folder / "nginx.conf").read_text()
    paths = re.findall(r"^ *(pid|\w+_log|\w+_temp_path) (.*);$", text, re.MULTILINE)

    assert paths == [
        ("pid", "dist/run/nginx.pid"),
        ("error_log", "dist/run/error.log"),
        ("access_log", "off"),
        # nginx's temporary files for requests.
        *((f"{kind}_temp_path", f"dist/run/{kind.removeprefix('client_')}") for kind in kinds),
    ]


def test_configuration_refers_to_the_release_not_to_current(site: Site) -> None:
    """An nginx that has loaded http.conf keeps its release while `current` is replaced."""
    site.build()
    files = [file for file in (site.folder / "dist/current").iterdir() if file.is_file()]

    assert [file.name for file in files if re.search(r"^[^#\n]*dist/current", file.read_text(), re.MULTILINE)] == []
    assert (
        f"dist/releases/{site.store.current()}/validators.map" in (site.folder / "dist/current/http.conf").read_text()
    )


def test_server_folder_makes_all_paths_absolute(site: Site, tmp_path: Path) -> None:
    """The configuration then works from any folder."""
    server_folder = tmp_path / "srv"
    with nginx_client.listening() as listener:
        with_port(site, listener, f"server_folder: {server_folder}\n").build()
        paths = re.findall(r"^\s*(?:include|root|alias) (.*);$", conf_text(site), re.MULTILINE)
        server_folder.mkdir()
        (tmp_path / "dist").rename(server_folder / "dist")

        assert {path.strip('"').startswith(f"{server_folder}/dist") for path in paths} == {True}
        with nginx_client.running(Path("/"), listener, conf=str(tmp_path / "nginx.conf"), prefix="/") as server:
            assert_serves(server)


def conf_text(site: Site) -> str:
    """All configuration files of a site."""
    files = sorted((site.folder / "dist/current/").glob("*.conf"))
    return "\n".join(file.read_text() for file in [site.folder / "nginx.conf", *files])
