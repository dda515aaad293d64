"""API keys appear only in the output of the command that creates them; digests only in the file that nginx reads."""

import gzip
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from generator.pipeline.cache import FILE, Cache
from tests.conftest import AS_OF, Site
from tests.support.author_catalogs import Run
from tests.support.site_variants import SMALL, variant_of

TWO = "2" * 63 + "b"
SECRET = f"fpk_{'Zz9-_' * 8}xyz"[:47]
SENTENCE = "plaintext API key"


@pytest.fixture
def keyed(tmp_path: Path) -> Site:
    """A catalog with accounts, keys and restricted series."""
    return variant_of(SMALL, tmp_path)


def arguments(site: Site) -> list[object]:
    return [*("--catalog", site.folder / "catalog_src"), *("--out", site.folder / "dist")]


def build(site: Site, run: Run, *more: object) -> Result:
    return run("build", *arguments(site), "--nginx", site.folder / "nginx.conf", "--as-of", AS_OF, *more)


# Every way to write a key in YAML. Some do not show it as plain text.
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
    "sizes.yaml": "1: {}\n",
    "series/first.yaml": "title: First\ncover: c.jpg\ndescription: {}\n",
    "series/third/series.yaml": "title: {}\ncover: c.jpg\n",
    "series/third/chapters/1.yaml": "number: 1\ntitle: {}\npages: []\n",
}


def test_plaintext_key_is_an_error_in_every_file(site: Site, run: Run) -> None:
    """The problem has the line and does not repeat the key."""
    for disguise in DISGUISES.values():
        for file, text in FILES.items():
            site.write(file, text.format(disguise))
        for _ in range(2):  # a second build reads the cache
            result = build(site, run)

            assert result.exit_code == 1
            lines = [line for line in result.stderr.splitlines() if SENTENCE in line]
            assert [file for file in FILES if not any(f"/{file}:" in line for line in lines)] == [], disguise
            assert SECRET[4:] not in result.output, disguise
    assert not (site.folder / "dist").exists()


def test_similar_text_is_no_key(site: Site, run: Run) -> None:
    """The texts are too short, or have an escape that YAML does not resolve."""
    for text in (r'"\x66pk_short"', r'"a\tb fpk_"', r'"fpk\u005f"', r"'\x66pk_" + SECRET[4:] + "'"):
        site.write("series/first.yaml", f"title: First\ncover: c.jpg\ndescription: {text}\n")

        assert build(site, run).exit_code == 0, text


def digests(site: Site) -> list[str]:
    """The digests of all keys in the catalog."""
    texts = [(site.folder / "catalog_src" / name).read_text() for name in ("accounts.yaml", "keys.yaml")]
    values = [word.strip(" {}[],") for text in texts for word in text.replace("sha256:", "\0").split("\0")[1:]]
    return [value.split()[0].strip(" {}[],") for value in values]


def written(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            yield path.relative_to(folder).as_posix(), gzip.decompress(data) if path.suffix == ".gz" else data


@pytest.mark.end_to_end
def test_no_output_or_file_contains_a_key_or_digest(keyed: Site, run: Run, tmp_path: Path) -> None:
    """Every command is checked, as text and as JSON. The files that nginx and the cache need have digests."""
    key = run("keys", "add", "night stand", "--catalog", keyed.folder / "catalog_src").stdout.strip()
    secrets = [key[4:], *digests(keyed)]
    assert len(secrets) >= 4 and all(len(result) >= 40 for result in secrets)
    outputs = [build(keyed, run), build(keyed, run, "--json"), build(keyed, run, "--check")]
    outputs += [run("check", "--catalog", keyed.folder / "catalog_src", *more) for more in ((), ("--json",))]
    outputs += [run("verify", "--out", keyed.folder / "dist", *more) for more in ((), ("--json",))]
    outputs += [run("keys", "list", "--catalog", keyed.folder / "catalog_src", *more) for more in ((), ("--json",))]
    map_of_keys = keyed.folder / "dist/current/keys.map"
    map_of_keys.write_bytes(map_of_keys.read_bytes() + b"\n")
    outputs += [run("verify", "--out", keyed.folder / "dist", *more) for more in ((), ("--json",))]
    assert [result.exit_code for result in outputs[-2:]] == [1, 1]
    outputs.append(run("export", tmp_path / "public", "--out", keyed.folder / "dist"))
    outputs.append(run("keys", "revoke", "night stand", "--catalog", keyed.folder / "catalog_src"))
    outputs += [build(keyed, run, "--json"), run("rollback", "--out", keyed.folder / "dist")]

    assert [result.output for result in outputs if any(text in result.output for text in secrets)] == []
    holding = {
        name.rpartition("/")[2]
        for folder in (keyed.folder / "dist", tmp_path / "public", keyed.folder / ".flatpanel_cache")
        for name, data in written(folder)
        if any(text.encode() in data for text in secrets)
    }
    assert holding == {"keys.map", "keys.json", FILE}
    assert key.encode() not in (keyed.folder / ".flatpanel_cache" / FILE).read_bytes()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_can_read_the_cache(site: Site, run: Run, umask: int) -> None:
    """The cache contains email addresses, bookmarks and digests. A build closes a cache that others can read."""
    before = os.umask(umask)
    try:
        build(site, run)
        folder = site.folder / ".flatpanel_cache"
        assert (mode(folder), mode(folder / FILE)) == (0o700, 0o600)
        (folder / FILE).chmod(0o644)
        build(site, run)
        assert mode(folder / FILE) == 0o600
    finally:
        os.umask(before)


def test_only_the_owner_can_read_a_temporary_cache(site: Site, run: Run, monkeypatch) -> None:
    """`--no-cache` works in a temporary folder with mode 700."""
    modes = []
    initialise = Cache.__init__

    def recording(cache: Cache, folder: Path, *arguments: Any, **options: Any) -> None:
        modes.append(mode(folder))
        initialise(cache, folder, *arguments, **options)

    monkeypatch.setattr(Cache, "__init__", recording)
    build(site, run, "--no-cache")

    assert modes == [0o700]


def test_replaced_key_file_keeps_its_mode(keyed: Site, run: Run, monkeypatch) -> None:
    """The temporary file has the mode of the old file before anything is written to it."""
    file = keyed.folder / "catalog_src/keys.yaml"
    file.chmod(0o600)
    modes = []
    write = os.write

    def recording(descriptor: int, data: bytes) -> int:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", recording)
    run("keys", "add", "night stand", "--catalog", keyed.folder / "catalog_src")

    assert (set(modes), mode(file)) == ({0o600}, 0o600)
