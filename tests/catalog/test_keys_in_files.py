"""Keys in keys.yaml and accounts.yaml: problems are located, and no message contains a key."""

import pytest

from tests.conftest import Site
from tests.support.author_catalogs import Run

ONE, TWO = "1" * 63 + "a", "2" * 63 + "b"


@pytest.fixture
def keyed(site: Site) -> Site:
    """A catalog with two accounts, one of which has a key."""
    site.write("series/first.yaml", "title: First\ncover: cover.jpg\n")
    site.write(
        "accounts.yaml", f"- {{username: noor, keys: [{{name: tablet, sha256: {ONE}}}]}}\n- {{username: ansel}}\n"
    )
    return site


def problems(site: Site, run: Run) -> str:
    result = run("check", "--catalog", site.folder / "catalog_src")
    assert (result.exit_code, result.stdout) == (1, "")
    return result.stderr.replace(f"{site.folder}/catalog_src/", "")


SECRET = "hunter2-hunter2"
MADE = f"fpk_{'Zz9-_' * 8}xyz"


@pytest.mark.parametrize(
    "text",
    [
        "- {name: a, sha256: SECRET}\n",
        "- {name: a, sha256: [SECRET]}\n",
        "- {name: a, sha256: {SECRET: 1}}\n",
        f"- {{name: a, sha256: {TWO}, account: SECRET!}}\n",
        "- SECRET\n",
        "SECRET\n",
    ],
)
def test_problem_does_not_repeat_a_key(keyed: Site, run: Run, text: str) -> None:
    """A key in the wrong field must not get into the log of a build. Those of accounts are in tests/data/wrong."""
    for secret in (SECRET, MADE, f"{MADE}{MADE}"):
        keyed.write("keys.yaml", text.replace("SECRET", secret))
        for output in (problems(keyed, run), run("check", "--catalog", keyed.folder / "catalog_src", "--json").output):
            assert "keys.yaml:1:" in output or 'keys.yaml"' in output
            assert secret[4:20] not in output


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("accounts.yaml", "- username: noor\n  keys:\n    - name: a\n      sha256:\n        SECRET: b: c\n", 5),
        ("series/first.yaml", "title: First\ncover: cover.jpg\nsecret: SECRET\n", 3),
    ],
)
def test_line_with_a_secret_is_not_quoted(keyed: Site, run: Run, file: str, text: str, line: int) -> None:
    """The problem has its place without an excerpt, also if the name of the field is in a line above."""
    keyed.write(file, text.replace("SECRET", SECRET))

    for output in (problems(keyed, run), run("check", "--catalog", keyed.folder / "catalog_src", "--json").output):
        assert f"{file}:{line}:" in output or f'"line":{line},' in output
        assert SECRET not in output


@pytest.mark.parametrize(
    ("file", "text", "places"),
    [
        ("keys.yaml", "# the phone: SECRET\n", ["1:14"]),
        ("keys.yaml", f"- {{name: SECRET, sha256: {TWO}}}\n", ["1:10"]),
        ("keys.yaml", "- {name: a, SECRET: 1}\n", ["1:13"]),
        ("keys.yaml", "- {SECRET: 1, SECRET: 2}\n", ["1:4", "1:56"]),
        ("keys.yaml", "\ufeff# 紙 SECRET\r\n# SECRET", ["1:5", "2:3"]),
        ("accounts.yaml", "- username: noor\n  bio: my key is SECRET\n", ["2:18"]),
        ("accounts.yaml", "- username: noor\n  keys: [{name: a, sha256: SECRET}]\n", ["2:28"]),
    ],
)
def test_plaintext_key_is_a_problem_anywhere_in_a_file(
    keyed: Site, run: Run, file: str, text: str, places: list[str]
) -> None:
    """Even in a comment. The message says what to do and does not contain the key."""
    secret = f"fpk_{'Zz9-_' * 8}xyz"[:47]
    (keyed.folder / "catalog_src" / file).write_bytes(text.replace("SECRET", secret).encode())

    output = problems(keyed, run)

    sentence = "plaintext API key; remove it and create a new one with `python build.py keys add`"
    assert [line for line in output.splitlines() if sentence in line] == [f"{file}:{one}: {sentence}" for one in places]
    assert secret[4:24] not in output
