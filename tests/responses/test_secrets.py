"""No key anywhere but in the hand of whom it was made for, and digests only where nginx looks them up."""

import gzip
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from generator import filesystem
from generator.pipeline.cache import FILE
from tests.conftest import AS_OF, Site, copy_of
from tests.support.author_catalogs import Run
from tests.support.site_variants import served

TWO = "2" * 63 + "b"
SECRET = f"fpk_{'Zz9-_' * 8}xyz"[:47]
SENTENCE = "here stands a key itself"


@pytest.fixture
def keyed(tmp_path: Path) -> Site:
    """A catalog with accounts, keys and things that need one."""
    return copy_of("v2", tmp_path)


def arguments(site: Site) -> list[object]:
    return [*("--catalog", site.folder / "catalog_src"), *("--out", site.folder / "dist")]


def build(site: Site, run: Run, *more: object) -> Result:
    return run("build", *arguments(site), "--nginx", site.folder / "nginx.conf", "--as-of", AS_OF, *more)


# Every way in which YAML can say a key, of which some do not show it.
DISGUISES = {
    "plain": SECRET,
    "quoted": f'"{SECRET}"',
    "single quotes": f"'{SECRET}'",
    "escaped": f'"\\x66{SECRET[1:]}"',
    "escaped inside": f'"{SECRET[:9]}\\u{ord(SECRET[9]):04x}{SECRET[10:]}"',
    "escaped at length": '"' + "".join(f"\\U{ord(one):08x}" for one in SECRET) + '"',
    "broken line": f'"{SECRET[:20]}\\\n    {SECRET[20:]}"',
    "block": f"|\n    a line\n    {SECRET}\n",
    "folded": f">\n    a line\n    {SECRET}\n",
    "anchored": f"&name {SECRET}",
    "list": f"[a, {SECRET}]",
    "fields": f"{{{SECRET}: a}}",
    "escaped fields": f'{{"\\x66{SECRET[1:]}": a}}',
    "in an address": f"https://comics.example/?api_key={SECRET}",
    "comment": f"a # {SECRET}",
}
FILES = {
    "accounts.yaml": "- username: {}\n",
    "keys.yaml": f"- sha256: {TWO}\n  name: {{}}\n",
    "authors.yaml": "- id: 1\n  name: {}\n",
    "site.yaml": "base_url: {}\n",
    "views.yaml": "1: {}\n",
    "series/first.yaml": "title: First\ncover: c.jpg\ndescription: {}\n",
    "series/third/series.yaml": "title: {}\ncover: c.jpg\n",
    "series/third/chapters/1.yaml": "number: 1\ntitle: {}\npages: []\n",
}


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("file", FILES)
def test_a_key_is_found_in_every_file_and_disguise(site: Site, run: Run, file: str, disguise: str) -> None:
    """What a catalog says is published; the problem has a line, and does not say the key once more."""
    site.write("series/third/series.yaml", "title: Third\ncover: c.jpg\n")
    site.write(file, FILES[file].format(DISGUISES[disguise]))
    for _ in range(2):  # what was parsed once is not believed the second time
        result = build(site, run)

        assert result.exit_code == 1
        assert any(f"/{file}:" in line and SENTENCE in line for line in result.stderr.splitlines()), result.stderr
        assert SECRET[4:] not in result.output
    assert not (site.folder / "dist").exists()


@pytest.mark.parametrize("text", [r'"\x66pk_short"', r'"a\tb fpk_"', r'"fpk\u005f"', r"'\x66pk_" + SECRET[4:] + "'"])
def test_what_only_resembles_a_key_is_none(site: Site, run: Run, text: str) -> None:
    """Too short, or an escape where YAML has none."""
    site.write("series/first.yaml", f"title: First\ncover: c.jpg\ndescription: {text}\n")

    assert build(site, run).exit_code == 0


def digests(site: Site) -> list[str]:
    """Of all keys in the catalog."""
    texts = [(site.folder / "catalog_src" / name).read_text() for name in ("accounts.yaml", "keys.yaml")]
    found = [word.strip(" {}[],") for text in texts for word in text.replace("sha256:", "\0").split("\0")[1:]]
    return [one.split()[0].strip(" {}[],") for one in found]


def written(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            yield path.relative_to(folder).as_posix(), gzip.decompress(data) if path.suffix == ".gz" else data


def test_nothing_that_is_said_or_published_has_a_key_or_a_digest(keyed: Site, run: Run, tmp_path: Path) -> None:
    """Every command, as text and as JSON, and every file but the one in which nginx looks digests up."""
    key = run("keys", "add", "night stand", "--catalog", keyed.folder / "catalog_src").stdout.strip()
    secret = [key[4:], *digests(keyed)]
    assert len(secret) >= 4 and all(len(one) >= 40 for one in secret)
    outputs = [build(keyed, run), build(keyed, run, "--json"), build(keyed, run, "--check")]
    outputs += [run("check", "--catalog", keyed.folder / "catalog_src", *more) for more in ((), ("--json",))]
    outputs += [run("verify", "--out", keyed.folder / "dist", *more) for more in ((), ("--json",))]
    outputs += [run("keys", "list", "--catalog", keyed.folder / "catalog_src", *more) for more in ((), ("--json",))]
    map_of_keys = keyed.folder / "dist/current/keys.map"
    map_of_keys.write_bytes(map_of_keys.read_bytes() + b"\n")
    outputs += [run("verify", "--out", keyed.folder / "dist", *more) for more in ((), ("--json",))]
    assert [one.exit_code for one in outputs[-2:]] == [1, 1]
    outputs.append(run("export", tmp_path / "public", "--out", keyed.folder / "dist"))
    outputs.append(run("keys", "revoke", "night stand", "--catalog", keyed.folder / "catalog_src"))
    outputs += [build(keyed, run, "--json"), run("rollback", "--out", keyed.folder / "dist")]

    assert [one.output for one in outputs if any(text in one.output for text in secret)] == []
    holding = {
        name.rpartition("/")[2]
        for folder in (keyed.folder / "dist", tmp_path / "public", keyed.folder / ".flatpanel_cache")
        for name, data in written(folder)
        if any(text.encode() in data for text in secret)
    }
    assert holding == {"keys.map", FILE}
    assert key.encode() not in (keyed.folder / ".flatpanel_cache" / FILE).read_bytes()


def test_a_log_has_neither_key_nor_digest(tmp_path: Path) -> None:
    """Whatever a key is sent with: a right one, a wrong one, one in the address."""
    with served(tmp_path) as (site, web):
        for key in ("key-one", SECRET):
            for path in ("/api/v2/profile", f"/api/v2/profile?api_key={key}", f"/nothing?{key}", f"/api/{key}"):
                for more in ({}, {"If_Match": "*"}, {"If_None_Match": "*"}):
                    web.ask(path, X_API_Key=key, **more)
            web.ask(f"/api/v2/chapters/11/pages?track=true&api_key={key}", X_API_Key=key)
        logs = list(written(site.folder / "dist/run"))
        secret = ["key-one", SECRET, *digests(site)]

        assert {"views.log", "error.log"} <= {name for name, _ in logs}
        assert [name for name, data in logs for text in secret if text.encode() in data] == []


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_what_a_build_remembers_is_for_its_owner_alone(keyed: Site, run: Run, umask: int) -> None:
    """The cache holds the catalog: addresses, bookmarks and digests; one that was open to others is closed."""
    before = os.umask(umask)
    try:
        build(keyed, run)
        folder = keyed.folder / ".flatpanel_cache"
        assert (mode(folder), mode(folder / FILE)) == (0o700, 0o600)
        (folder / FILE).chmod(0o644)
        build(keyed, run)
        assert mode(folder / FILE) == 0o600
    finally:
        os.umask(before)


def test_what_takes_the_place_of_a_cache_is_for_its_owner_alone(keyed: Site, run: Run, monkeypatch) -> None:
    """`--no-cache` and `--check` work in a temporary folder, which nobody else may enter."""
    found = []
    clean = filesystem.PartialFile.__init__

    def looking(growing: filesystem.PartialFile, path: Path) -> None:
        found.append(mode(path.parent))
        clean(growing, path)

    monkeypatch.setattr(filesystem.PartialFile, "__init__", looking)
    build(keyed, run, "--no-cache")

    assert 0o700 in found


def test_a_file_of_keys_is_never_open_to_more_people_than_before(keyed: Site, run: Run, monkeypatch) -> None:
    """Not for the moment either in which the new one has no name yet."""
    file = keyed.folder / "catalog_src/keys.yaml"
    file.chmod(0o600)
    seen = []
    write = os.write

    def looking(descriptor: int, data: bytes) -> int:
        seen.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", looking)
    run("keys", "add", "night stand", "--catalog", keyed.folder / "catalog_src")

    assert (set(seen), mode(file)) == ({0o600}, 0o600)


def test_a_report_names_keys_and_nothing_of_them(keyed: Site, run: Run) -> None:
    """`keys list --json` has three fields, and no digest is one of them."""
    found = json.loads(run("keys", "list", "--catalog", keyed.folder / "catalog_src", "--json").stdout)

    assert {name for one in found["keys"] for name in one} == {"name", "account", "file"}


def test_what_needs_a_key_is_not_exported(keyed: Site, run: Run, tmp_path: Path) -> None:
    """A host that has no gates gets nothing that would need one."""
    build(keyed, run)
    run("export", tmp_path / "public", "--out", keyed.folder / "dist")
    inside = b"".join(data for _, data in written(keyed.folder / "dist/private"))
    public = b"".join(data for _, data in written(tmp_path / "public"))

    for text in (b"hidden-page", b'"bookmarks":[', b"una@mail.example"):
        assert (text in inside, text in public) == (True, False)
