"""`keys`: a key is printed once, and only its digest is stored."""

import errno
import hashlib
import json
import os
import random
import re
import subprocess
import sys

import pytest
from click.testing import Result

from generator.catalog import api_keys
from generator.catalog.confined_folder import ConfinedFolder
from generator.catalog.yaml import reader
from tests.authoring.conftest import refused
from tests.conftest import Site
from tests.support.author_catalogs import Run
from tests.support.paths import BUILD

HEAD = "# Digests of API keys, written by `keys add`.\n"
ONE, TWO = "1" * 63 + "a", "2" * 63 + "b"
ACCOUNTS = f"""- username: noor
  keys: [{{name: tablet, sha256: {ONE}}}]
- {{username: ansel}}
"""


@pytest.fixture
def keyring(site: Site, run: Run) -> Run:
    """Run `build.py keys` on a catalog with two accounts, one of which has a key."""
    site.write("series/first.yaml", "title: First\ncover: cover.jpg\nmodified: 2026-02-01\n")
    site.write("accounts.yaml", ACCOUNTS)

    def command(name: str, *arguments: str) -> Result:
        return run("keys", name, "--catalog", site.folder / "catalog_src", *arguments)

    return command


def kept(site: Site) -> list[dict[str, str]]:
    value: list[dict[str, str]] = reader.load((site.folder / "catalog_src/keys.yaml").read_bytes()) or []
    return value


def digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def test_a_key_has_256_random_bits_of_the_system() -> None:
    """Not of a seeded generator. A prefix and 43 characters that need no escaping in a header, a URL or a shell."""
    made, state = set(), random.getstate()
    try:
        for _ in range(100):
            random.seed(1)
            made.add(api_keys.new_key())
    finally:
        random.setstate(state)

    assert len(made) == 100
    assert all(re.fullmatch("fpk_[-_A-Za-z0-9]{43}", key) for key in made)


def test_a_key_is_alone_on_stdout(site: Site, keyring: Run) -> None:
    """It can be piped; the message is on stderr. The build, which may run under another user, can read its digest."""
    result = keyring("add", "tea shop")

    key = result.stdout.removesuffix("\n")
    assert re.fullmatch("fpk_[-_A-Za-z0-9]{43}", key)
    assert result.stderr == (
        'key "tea shop" created; store it now, it cannot be shown again. '
        "Takes effect after the next build and nginx reload.\n"
    )
    file = site.folder / "catalog_src/keys.yaml"
    assert file.read_text() == f"{HEAD}- {{name: tea shop, sha256: {digest(key)}}}\n"
    assert file.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("stream", "sentence"),
    [
        (">/dev/full", "standard output: No space left on device\n"),
        (">&-", "standard output: is closed, so the key cannot be shown; no key was created\n"),
    ],
)
def test_a_key_that_cannot_be_shown_is_not_created(site: Site, keyring: Run, stream: str, sentence: str) -> None:
    """It would be valid, and its owner would not have it."""
    command = [sys.executable, str(BUILD), "keys", "add", "phone"]
    shell = ["sh", "-c", f'exec "$@" {stream}', "sh", *command]
    done = subprocess.run(shell, cwd=site.folder, stderr=subprocess.PIPE, text=True)

    assert (done.returncode, done.stderr) == (1, sentence)
    assert "phone" not in keyring("list").stdout


def test_a_key_that_cannot_be_stored_is_to_be_discarded(keyring: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has been printed, and is not valid."""

    def full(*arguments: object) -> bool:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "keys.yaml")

    monkeypatch.setattr(ConfinedFolder, "write", full)
    result = keyring("add", "phone")

    assert (result.exit_code, result.stdout[:4]) == (1, "fpk_")
    assert result.stderr == ("keys.yaml: No space left on device; discard the printed key, it was not stored\n")


def test_a_key_is_never_written(site: Site, keyring: Run) -> None:
    """Neither catalog nor release nor configuration contains the key or a half of it."""
    key = keyring("add", "phone", "--account", "noor").stdout.strip()
    site.build()

    files = [path for path in site.folder.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [path for path in files for part in (key[4:24], key[-20:]) if part.encode() in path.read_bytes()] == []


def test_a_key_is_valid_from_the_next_build_to_the_first_after_its_end(site: Site, keyring: Run) -> None:
    """The release contains the digests of all keys, and no trace of a revoked one. A file without keys is valid."""

    def digests() -> list[str]:
        site.build()
        lines = (site.folder / "dist/current/keys.map").read_text().splitlines()
        return sorted(line.split()[0] for line in lines)

    phone = keyring("add", "phone", "--account", "ansel").stdout.strip()
    shop = keyring("add", "shop").stdout.strip()
    assert digests() == sorted([ONE, digest(phone), digest(shop)])

    result = keyring("revoke", "shop")
    assert result.output == 'key "shop" revoked. Takes effect after the next build and nginx reload.\n'
    assert digests() == sorted([ONE, digest(phone)])
    keyring("revoke", "phone")
    assert (kept(site), digests()) == ([], [ONE])


def test_list_shows_keys_without_digests(site: Site, keyring: Run) -> None:
    """With account and file; both files are listed."""
    keyring("add", "phone", "--account", "ansel")
    keyring("add", "shop")

    assert keyring("list").output == "tablet of noor (accounts.yaml)\nphone of ansel (keys.yaml)\nshop (keys.yaml)\n"
    keys = [("tablet", "noor", "accounts.yaml"), ("phone", "ansel", "keys.yaml"), ("shop", None, "keys.yaml")]
    shown = [{"name": name, "account": account, "file": file} for name, account, file in keys]
    assert json.loads(keyring("list", "--json").output) == {"ok": True, "keys": shown}


def test_a_list_reassures_of_nothing(site: Site, keyring: Run) -> None:
    """It writes no files, so that a problem of the catalog ends it as it ends `check`."""
    site.write("keys.yaml", "none\n")

    assert keyring("list").stderr.endswith("\n1 problem\n")
    assert keyring("add", "phone").stderr.endswith("\n1 problem; nothing was written\n")


def test_an_empty_list_prints_nothing_to_stdout(site: Site, keyring: Run) -> None:
    """The message is on stderr."""
    site.write("accounts.yaml", "")

    result = keyring("list")

    assert (result.stdout, result.stderr) == ("", f"{site.folder / 'catalog_src'}: no keys\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("add", "tablet"), "a key named tablet already exists; revoke it or choose another name"),
        (("add", "phone"), "a key named phone already exists; revoke it or choose another name"),
        (("add", "new", "--account", "nor"), "no account has the username nor; did you mean noor?"),
        (("add", "new", "--account", ""), "no account has the username "),
        (("add", ""), "the name should not be empty"),
        (("add", "two\nlines"), "the name should be one line without control characters"),
        (("add", f"fpk_{'x' * 43}"), "the name is itself an API key; names are public, choose another one"),
        (("revoke", "phon"), "no key is named phon; did you mean phone?"),
        (("revoke", f"fpk_{'x' * 43}"), "no key is named fpk_…"),
    ],
)
def test_wrong_names_are_refused(site: Site, keyring: Run, arguments: tuple[str, ...], sentence: str) -> None:
    """Exit code 1; nothing on stdout and nothing written."""
    keyring("add", "phone")

    assert refused(site, keyring, *arguments) == f"{sentence}\n"


def test_a_key_in_accounts_is_not_revoked(site: Site, keyring: Run) -> None:
    """The message names the file; accounts.yaml is not edited."""
    place = f"{site.folder}/catalog_src/accounts.yaml: key tablet of account noor"
    assert refused(site, keyring, "revoke", "tablet") == f"{place} is in this file; remove it there\n"


@pytest.mark.parametrize("name", ["Noor's: #2", "-dash", 'a "b" \\', "12", "null", "紙の月 🌙", "a, b}", "*x", " x "])
def test_a_key_can_have_any_name(site: Site, keyring: Run, name: str) -> None:
    """YAML syntax in a name is quoted."""
    key = keyring("add", "--account", "ansel", "--", name).stdout.strip()

    assert kept(site) == [{"name": name, "account": "ansel", "sha256": digest(key)}]
    assert f"{name} of ansel (keys.yaml)\n" in keyring("list").output

    keyring("revoke", "--", name)

    assert kept(site) == []


def test_comments_are_kept(site: Site, keyring: Run) -> None:
    """When keys are added and revoked."""
    site.write("keys.yaml", f"# ours\n\n# for the shop\n- name: shop   # till May\n  sha256: {TWO}\n# that was all\n")

    key = keyring("add", "phone").stdout.strip()
    keyring("revoke", "shop")

    assert (site.folder / "catalog_src/keys.yaml").read_text() == (
        f"# ours\n\n# for the shop\n# that was all\n- {{name: phone, sha256: {digest(key)}}}\n"
    )


def test_a_file_that_cannot_be_edited_is_named(site: Site, keyring: Run) -> None:
    """For example a list in an unsupported style."""
    site.write("keys.yaml", f"[{{name: shop, sha256: {TWO}}}, {{name: cafe, sha256: {'3' * 63}c}}]\n")

    advice = "cannot be edited in this form; write one field per line, and each item of a list below a `-`"
    for arguments in (("add", "phone"), ("revoke", "shop")):
        assert refused(site, keyring, *arguments) == f"{site.folder}/catalog_src/keys.yaml: {advice}\n"
