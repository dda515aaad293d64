"""Accounts of a database: only on request, with digests of keys, and personal data only on a further request."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from generator import encoding
from generator.authoring import key_entries
from generator.catalog.yaml import reader
from generator.imports import combine
from generator.imports.database.dumpdata import COMMANDS
from generator.imports.records import Imported, ImportedAccounts
from generator.reading_sites.notes import Notes
from tests.authoring.conftest import git
from tests.conftest import Site, serving
from tests.support.author_catalogs import Run
from tests.support.import_project import DATABASES, FirstImports, change, recorded_database
from tests.support.real_service import KEY_OF_ADMINISTRATOR, KEY_OF_READER, USUAL, RealService
from tests.support.runs import everything

Import = Callable[..., Result]
OTHER_KEY = "ab" * 32
PERSONAL = ("Quinn", "Aster", "reader.example", "tidepool@", "Reads at low", "avatar.png", "Åse", "O'Dell")
TIDEPOOL = [
    *("harbor-of-glass-bells", "tin-saint-in-the-orchard", "umbrella-for-a-giant", "the-unwritten-almanac"),
    "lantern-eel-diaries",
]


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    return tmp_path / "project/catalog_src"


@pytest.fixture
def database(database: Path) -> Path:
    """The recorded database without chapters, which have nothing of accounts."""
    change(database, *(f"DELETE FROM reader_{table}" for table in ("page", "chapter_groups", "chapter")))
    return database


@pytest.fixture
def bring(run: Run, database: Path, catalog: Path) -> Import:
    """Import the accounts of the database; an import without errors unless the test expects one."""

    def bring(*options: str, code: int = 0) -> Result:
        result = run("import", "--from-database", database, "--catalog", catalog, *(options or ("--accounts",)))
        assert result.exit_code == code, result.output
        return result

    return bring


@pytest.fixture
def imported(bring: Import, catalog: Path) -> Path:
    """The catalog after an import with accounts."""
    bring()
    return catalog


@pytest.fixture
def personal(bring: Import, catalog: Path) -> Path:
    """The catalog after an import with personal data."""
    bring("--accounts", "--personal-data")
    return catalog


def read(catalog: Path, file: str = "accounts.yaml") -> dict[str, dict[str, Any]]:
    """The entries of a list by username or name."""
    entries = reader.load((catalog / file).read_bytes())
    return {entry.get("username") or entry["name"]: entry for entry in entries}


def edit(catalog: Path, before: str, after: str, file: str = "accounts.yaml") -> None:
    text = (catalog / file).read_text()
    assert text.count(before) == 1, text
    (catalog / file).write_text(text.replace(before, after))


def digest(key: str) -> str:
    return encoding.sha256(key.encode())


def imported_key(key: str) -> dict[str, str]:
    return {"name": "MangAdventure", "sha256": digest(key)}


def texts(folder: Path) -> str:
    return "\n".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())


def test_nothing_of_accounts_is_read_without_the_option(bring: Import, catalog: Path) -> None:
    """No file has a username, and the note names the option."""
    result = bring("--dry-run")
    result = bring("--json")

    assert not (catalog / "accounts.yaml").exists()
    assert not [name for name in ("tidepool", "bellringer", digest(KEY_OF_READER)) if name in texts(catalog.parent)]
    notes = json.loads(result.stdout)["notes"]
    assert "accounts, bookmarks and API keys are not imported; --accounts brings them" in notes


def test_active_accounts_have_bookmarks_and_digests_of_keys(bring: Import, catalog: Path) -> None:
    """Inactive and deleted accounts are left out and counted."""
    notes = json.loads(bring("--accounts", "--json").stdout)["notes"]

    assert list(read(catalog).values()) == [
        {"username": "quartermaster", "keys": [imported_key(KEY_OF_ADMINISTRATOR)]},
        {"username": "bellringer"},
        {"username": "tidepool", "bookmarks": TIDEPOOL, "keys": [imported_key(KEY_OF_READER)]},
        {"username": "driftwood"},
        {"username": "ferry.reader+1@reader.example", "bookmarks": ["kiln-sisters"]},
    ]
    data = "names, email addresses, bios and avatars only with --personal-data"
    assert [note for note in notes if "account" in note] == [
        f"5 accounts with 2 API keys and 6 bookmarks; {data}",
        "1 inactive and 1 deleted account; left out",
        "1 username with an @; keep accounts.yaml private if that is an email address",
    ]


@pytest.mark.end_to_end
@pytest.mark.parametrize("option", [(), ("--personal-data",)], ids=["accounts", "personal data"])
def test_no_file_and_no_output_has_an_api_key(bring: Import, catalog: Path, option: tuple[str, ...]) -> None:
    """Not in the cache, in the report, and in the memory of the last import either."""
    output = bring("--accounts", *option, "--dry-run").output + bring("--accounts", *option).output
    everything = output + texts(catalog.parent)

    assert digest(KEY_OF_READER) in everything
    assert not [key for key in (KEY_OF_READER, KEY_OF_ADMINISTRATOR) if key in everything]
    assert not [name for name in PERSONAL if name in everything.replace("ferry.reader+1@reader.example", "")] or option
    assert not [name for name in PERSONAL if name in output]


def test_personal_data_only_on_request(personal: Path) -> None:
    """Line ends become those of a catalog; the avatar is where the old site has it."""
    account = {"username": "tidepool", "bookmarks": TIDEPOOL, "keys": [imported_key(KEY_OF_READER)]}
    names = {"first_name": "Tide", "last_name": "Pool", "email": "tidepool@reader.example"}
    profile = {"bio": "Reads at low tide.\nSlowly.", "avatar": "https://saltshelf.example/media/users/3/avatar.png"}
    assert read(personal)["tidepool"] == account | names | profile
    assert read(personal)["driftwood"] == {"username": "driftwood", "email": "driftwood@reader.example"}


def test_an_imported_key_opens_the_bookmarks_of_its_account(imported: Path) -> None:
    """An app sends the same key as to the old site."""
    with serving(Site(imported.parent)) as web:
        own = web.ask("/api/v2/bookmarks", X_API_Key=KEY_OF_READER)
        other = web.ask("/api/v2/bookmarks", X_API_Key=KEY_OF_ADMINISTRATOR)
        profile = web.ask("/api/v2/profile", X_API_Key=KEY_OF_READER)
        lapsed = web.ask("/api/v2/bookmarks", X_API_Key="0f1e2d3c4b5a69788796a5b4c3d2e1f0" * 2)

    assert (own.status, json.loads(own.body)) == (200, {"bookmarks": [{"series": slug} for slug in TIDEPOOL]})
    assert (other.status, json.loads(other.body)) == (200, {"bookmarks": []})
    assert json.loads(profile.body)["username"] == "tidepool"
    assert lapsed.status == 401


def test_second_import_follows_bookmarks_and_keys_of_the_site(bring: Import, database: Path, imported: Path) -> None:
    """Where people changed nothing here."""
    change(
        database,
        "DELETE FROM users_bookmark WHERE series_id = 5",
        f"UPDATE users_apikey SET key = '{OTHER_KEY}' WHERE user_id = 3",
        f"INSERT INTO users_apikey (user_id, key, created) VALUES (5, '{'cd' * 32}', '2026-01-01')",
        "DELETE FROM users_apikey WHERE user_id = 1",
    )
    assert json.loads(bring("--accounts", "--json").stdout)["changed"] == 4
    entries = read(imported)

    assert entries["tidepool"]["bookmarks"] == [slug for slug in TIDEPOOL if not slug.startswith("tin-saint")]
    assert entries["tidepool"]["keys"] == [imported_key(OTHER_KEY)]
    assert entries["ferry.reader+1@reader.example"]["keys"] == [imported_key("cd" * 32)]
    assert "keys" not in entries["quartermaster"]
    assert json.loads(bring("--accounts", "--json").stdout)["files"] == []


def test_keys_added_and_removed_here_stay_so(bring: Import, database: Path, imported: Path) -> None:
    """In `accounts.yaml` and in `keys.yaml`."""
    edit(imported, digest(KEY_OF_READER), f"{digest(KEY_OF_READER)}\n    - name: phone\n      sha256: {'a1' * 32}")
    edit(imported, f"\n  keys:\n    - name: MangAdventure\n      sha256: {digest(KEY_OF_ADMINISTRATOR)}\n", "")
    key_entries.add_key(imported, "tablet", "ferry.reader+1@reader.example", str)
    change(database, f"UPDATE users_apikey SET key = '{OTHER_KEY}' WHERE user_id = 3")
    bring()

    assert [key["sha256"] for key in read(imported)["tidepool"]["keys"]] == ["a1" * 32, digest(OTHER_KEY)]
    assert "keys" not in read(imported)["quartermaster"]
    assert read(imported, "keys.yaml")["tablet"]["account"] == "ferry.reader+1@reader.example"


def test_bookmarks_changed_on_both_sides_are_a_conflict(bring: Import, database: Path, imported: Path) -> None:
    """The catalog's stay, and an option decides."""
    edit(imported, "bookmarks: [kiln-sisters]", "bookmarks: [copper-weather]")
    change(database, "INSERT INTO users_bookmark (id, user_id, series_id) VALUES (99, 5, 1)")
    result = bring()

    assert "account ferry.reader+1@reader.example: bookmarks: conflict" in result.output
    assert read(imported)["ferry.reader+1@reader.example"]["bookmarks"] == ["copper-weather"]
    assert "conflict" in bring().output
    bring("--accounts", "--theirs")
    assert read(imported)["ferry.reader+1@reader.example"]["bookmarks"] == ["kiln-sisters", "harbor-of-glass-bells"]


def test_bookmarks_of_series_outside_the_catalog_are_counted(bring: Import, database: Path, catalog: Path) -> None:
    """Of an unknown series, and of one that was removed here."""
    change(database, "INSERT INTO users_bookmark (id, user_id, series_id) VALUES (99, 5, 999)")
    assert "1 bookmark of unknown series; left out" in bring().output
    (catalog / "series/kiln-sisters.yaml").unlink()
    edit(catalog, "\n  bookmarks: [kiln-sisters]", "")
    result = bring()

    assert "1 bookmark of series that are not in the catalog; left out" in result.output
    assert read(catalog)["ferry.reader+1@reader.example"] == {"username": "ferry.reader+1@reader.example"}


def test_a_changed_slug_changes_the_bookmarks(bring: Import, database: Path, imported: Path) -> None:
    """The series has the new slug in the catalog, too."""
    change(database, "UPDATE reader_series SET slug = 'sisters-of-the-kiln' WHERE slug = 'kiln-sisters'")
    bring()

    assert read(imported)["ferry.reader+1@reader.example"]["bookmarks"] == ["sisters-of-the-kiln"]


def test_a_slug_that_was_changed_here_keeps_the_bookmarks(bring: Import, imported: Path) -> None:
    (imported / "series/kiln-sisters.yaml").rename(imported / "series/kiln.yaml")
    series = imported / "series/kiln.yaml"
    series.write_text(series.read_text() + "formerly: [kiln-sisters]\n")
    edit(imported, "kiln-sisters", "kiln")
    for _ in range(2):
        output = bring().output
        assert "conflict" not in output and "not in the catalog" not in output
        assert read(imported)["ferry.reader+1@reader.example"]["bookmarks"] == ["kiln"]


def test_account_that_becomes_inactive_loses_its_imported_keys(bring: Import, database: Path, imported: Path) -> None:
    """The old site refuses them as well. They come back with the account."""
    edit(imported, digest(KEY_OF_READER), f"{digest(KEY_OF_READER)}\n    - name: phone\n      sha256: {'a1' * 32}")
    change(database, "UPDATE auth_user SET is_active = 0 WHERE id IN (1, 2, 3)")
    output = bring().output

    assert "account quartermaster, account tidepool: inactive or removed on the site; loses its imported API" in output
    assert "account bellringer, account quartermaster, account tidepool: no longer on the site; kept" in output
    assert read(imported)["tidepool"]["keys"] == [{"name": "phone", "sha256": "a1" * 32}]
    assert "keys" not in read(imported)["quartermaster"]
    bring()
    change(database, "UPDATE auth_user SET is_active = 1")
    bring()
    assert [key["sha256"] for key in read(imported)["tidepool"]["keys"]] == ["a1" * 32, digest(KEY_OF_READER)]
    assert [key["sha256"] for key in read(imported)["quartermaster"]["keys"]] == [digest(KEY_OF_ADMINISTRATOR)]


def test_removed_accounts_are_removed_on_request(bring: Import, database: Path, imported: Path) -> None:
    """Except those that people edited here. One that people removed is not added again, and a note names it."""
    edit(imported, "- username: bellringer\n", "")
    assert "account bellringer: removed from the catalog since the last import; not added again" in bring().output
    assert "bellringer" not in read(imported)

    edit(imported, "username: driftwood", "username: driftwood\n  bio: Mine.")
    change(database, "UPDATE auth_user SET is_active = 0 WHERE id IN (2, 3, 4)")
    bring("--accounts", "--remove")

    assert list(read(imported)) == ["quartermaster", "driftwood", "ferry.reader+1@reader.example"]


def test_renamed_account_is_recognised_by_its_key(bring: Import, database: Path, personal: Path) -> None:
    """Keys that were added here follow."""
    key_entries.add_key(personal, "tablet", "tidepool", str)
    key_entries.add_key(personal, "till", None, str)
    change(database, "UPDATE auth_user SET username = 'Pool@霧', first_name = '' WHERE username = 'tidepool'")
    bring()

    assert read(personal)["Pool@霧"]["bookmarks"] == TIDEPOOL
    assert read(personal)["Pool@霧"]["first_name"] == "Tide"
    assert "tidepool" not in read(personal)
    assert read(personal, "keys.yaml")["tablet"]["account"] == "Pool@霧"
    assert json.loads(bring("--accounts", "--json").stdout)["files"] == []
    bring("--accounts", "--personal-data")
    assert read(personal)["Pool@霧"]["first_name"] == ""


def test_a_key_of_another_account_here_is_not_moved(bring: Import, database: Path, catalog: Path) -> None:
    """A key without an account in keys.yaml, and one that people gave to another account."""
    change(database, "UPDATE users_apikey SET user_id = 4 WHERE user_id = 1")
    bring("--json")
    (catalog / "keys.yaml").write_text(
        f"- {{name: MangAdventure, sha256: {digest(KEY_OF_READER)}}}\n"
        f"- {{name: MangAdventure 2, sha256: {'b2' * 32}}}\n"
    )
    (catalog / "accounts.yaml").write_text(
        f"- {{username: quartermaster, keys: [{{name: own, sha256: {digest(KEY_OF_ADMINISTRATOR)}}}]}}\n"
    )
    change(database, f"INSERT INTO users_apikey (user_id, key, created) VALUES (5, '{OTHER_KEY}', '2026-01-01')")
    result = bring("--accounts", "--mine")

    assert "account tidepool, account driftwood: its API key belongs to another account of the catalog" in result.output
    assert "keys" not in read(catalog)["tidepool"]
    assert read(catalog)["ferry.reader+1@reader.example"]["keys"] == [
        {"name": "MangAdventure 3", "sha256": digest(OTHER_KEY)}
    ]


def test_second_import_without_personal_data_keeps_it(bring: Import, database: Path, personal: Path) -> None:
    """The next one with it compares with the last that had it."""
    before = (personal / "accounts.yaml").read_bytes()
    bring("--accounts")
    bring("--json")
    assert (personal / "accounts.yaml").read_bytes() == before

    change(
        database,
        "UPDATE auth_user SET last_name = 'Poole', email = 'new@reader.example' WHERE id = 3",
        "UPDATE users_userprofile SET avatar = '' WHERE user_id = 3",
    )
    edit(personal, "email: tidepool@reader.example", "email: mine@reader.example")
    result = bring("--accounts", "--personal-data")
    after = read(personal)["tidepool"]

    assert (after["last_name"], after["email"]) == ("Poole", "mine@reader.example")
    assert "avatar" not in after
    assert "account tidepool: email: conflict: one value here, another there; kept yours" in result.output
    assert "reader.example" not in result.output.replace("ferry.reader+1@reader.example", "")


def test_accounts_written_by_hand_are_not_overwritten(bring: Import, catalog: Path) -> None:
    """Without a last import, an option decides. The refusal shows no personal data."""
    bring("--json")
    (catalog / "accounts.yaml").write_text("- username: tidepool\n  email: mine@mail.example\n")
    shutil.rmtree(catalog.parent / ".flatpanel_import_cache")
    output = bring("--accounts", "--personal-data", code=1).output

    assert "account tidepool: email: one value here, another there" in output
    assert "mail.example" not in output
    bring("--accounts", "--personal-data", "--mine")
    assert read(catalog)["tidepool"]["email"] == "mine@mail.example"
    assert [key["sha256"] for key in read(catalog)["tidepool"]["keys"]] == [digest(KEY_OF_READER)]


def test_account_that_cannot_be_edited_is_refused(bring: Import, catalog: Path) -> None:
    """A note with the new value would show personal data and digests."""
    bring("--json")
    (catalog / "accounts.yaml").write_text("- {username: tidepool}\n")
    output = bring("--accounts", "--personal-data", "--mine", code=1).output

    assert "accounts.yaml: [0].keys: cannot be edited automatically; nothing was written. Write each field" in output
    assert digest(KEY_OF_READER) not in output
    assert (catalog / "accounts.yaml").read_text() == "- {username: tidepool}\n"


USERNAMES = ["霧の読者", "Tidepool", "123", "1e3", "null", "-x", "@home", "+1", "ﬁ½", "x" * 150, "霧" * 150, "a.b"]


def test_usernames_are_any_text_that_the_old_site_allows(bring: Import, database: Path, catalog: Path) -> None:
    """Two may differ in case only. Only dots cannot be a part of a URL."""
    users = enumerate([*USERNAMES, "..", "a b"], 100)
    columns = "id, password, is_superuser, username, last_name, email, is_staff, is_active, date_joined, first_name"
    change(
        database,
        *(
            f"INSERT INTO auth_user ({columns}) VALUES ({id}, '', 0, '{name}', '', '', 0, 1, '2020-01-01', '')"
            for id, name in users
        ),
    )
    output = bring().output
    Site(catalog.parent).build()

    assert list(read(catalog))[5:] == USERNAMES
    assert "account with the id 112: username should contain only letters" in output
    assert "account with the id 113: username should contain only letters" in output


def test_short_keys_are_left_out(bring: Import, database: Path, catalog: Path) -> None:
    """Their digests could be inverted."""
    change(database, "UPDATE users_apikey SET key = 'secret' WHERE user_id = 3")
    output = bring().output

    assert "1 API key without 64 digits 0-9 a-f; left out" in output
    assert "keys" not in read(catalog)["tidepool"]


@pytest.mark.end_to_end
def test_accounts_arrive_with_a_site(
    first_import: FirstImports, service: RealService, database: Path, tmp_path: Path
) -> None:
    """The next import of the site alone leaves them as they are."""
    made = first_import("--accounts", "--personal-data", database=DATABASES[USUAL]).copy(tmp_path / "project", service)
    before = made.files()
    result = made.import_("--json")

    assert read(made.catalog)["tidepool"]["bookmarks"] == TIDEPOOL
    assert read(made.catalog)["tidepool"]["avatar"] == f"{service.url}/media/users/3/avatar.png"
    assert (json.loads(result.stdout)["files"], made.files()) == ([], before)
    assert made.import_database(database, "--accounts", "--json").exit_code == 0
    assert read(made.catalog)["tidepool"]["bookmarks"] == TIDEPOOL


@pytest.mark.parametrize(
    ("tables", "fault"),
    [
        (("auth_user",), "the database has no accounts (auth.user)"),
        (("users_userprofile", "users_apikey", "users_bookmark"), "the database has no profiles, API keys and bookm"),
    ],
)
def test_database_without_accounts_is_refused(
    bring: Import, database: Path, imported: Path, tables: tuple[str, ...], fault: str
) -> None:
    """A dump of other apps must not remove all keys."""
    before = (imported / "accounts.yaml").read_bytes()
    change(database, *(f"DELETE FROM {table}" for table in tables))
    output = bring(code=1).output

    assert fault in output
    assert COMMANDS["0.9.6"] in output
    assert (imported / "accounts.yaml").read_bytes() == before


def test_version_0_4_5_has_no_accounts(run: Run, tmp_path: Path) -> None:
    """The series are imported."""
    database = recorded_database(tmp_path, DATABASES["v0.4.5"])
    result = run("import", "--from-database", database, "--catalog", tmp_path / "catalog_src", "--accounts")

    assert (result.exit_code, (tmp_path / "catalog_src/accounts.yaml").exists()) == (0, False)
    assert "version 0.4.5 has no accounts of readers" in result.output


def test_bookmarks_follow_a_slug_that_changed_after_the_copy() -> None:
    """With a site, its slugs are the newer ones."""
    chapter = {"id": 1, "number": "1", "published": "2020-01-01T00:00:00Z", "pages": []}
    site, database = (
        Imported(
            site={"base_url": "https://a.example"},
            lists={kind: {} for kind in ("authors", "artists", "categories", "members", "groups")},
            series={slug: {"title": "A", "cover": "a.png", "modified": "2020-01-01T00:00:00Z"}},
            chapters={slug: [dict(chapter)]},
        )
        for slug in ("new", "old")
    )
    database.accounts = ImportedAccounts({"ada": {"username": "ada", "bookmarks": ["old"]}, "bob": {"username": "bob"}})
    result = combine.combined(site, database, 1_800_000_000, Notes(), Notes())

    assert result.accounts
    assert [record["bookmarks"] for record in result.accounts.records.values()] == [["new"], []]


# `.gitignore`


def test_gitignore_is_continued_once(bring: Import, catalog: Path) -> None:
    """Whether or not its last line ends. A dry run writes nothing."""
    catalog.parent.mkdir()
    file, before = catalog.parent / ".gitignore", b"/dist/\ncatalog_src/accounts.yaml\n# caf\xe9"
    file.write_bytes(before)
    bring("--accounts", "--personal-data", "--dry-run")
    assert file.read_bytes() == before
    note = f"{file}: keeps accounts.yaml out of git; back it up yourself"
    assert note in bring("--accounts", "--personal-data").output
    assert "keeps accounts.yaml" not in bring("--accounts", "--personal-data").output

    added = b"\n\n# Names and email addresses of readers.\n/catalog_src/.unfinished-import\n"
    assert file.read_bytes() == before + added


@pytest.mark.parametrize("name", ["catalog_src", "#a b*[c]!", "."])
def test_git_gets_no_personal_data(name: str, run: Run, database: Path, tmp_path: Path) -> None:
    """Cache and memory of the import are ignored, too.

    Also if the catalog is the repository, or its folder has special characters in its name.
    """
    project = tmp_path / "project"
    git(tmp_path, "init", "--quiet", str(project))
    options = ("--from-database", database, "--catalog", project / name, "--accounts", "--personal-data")
    assert "in git already" not in run("import", *options).output
    git(project, "add", "--all")
    files = [project / file for file in git(project, "ls-files", "-z").split("\0") if file]

    assert project / name / "series/kiln-sisters.yaml" in files
    assert not [file for file in files for word in PERSONAL if word in file.read_text()]


@pytest.mark.parametrize("folder", ["project", "p" * 150] if everything else ["p" * 150], ids=len)
def test_file_that_is_in_git_already_is_noted(run: Run, database: Path, tmp_path: Path, folder: str) -> None:
    """The note has the command that removes it, also if the path is long."""
    project = tmp_path / folder
    command = ("import", "--from-database", database, "--catalog", project / "catalog_src", "--accounts")
    run(*command)
    git(project, "init", "--quiet")
    git(project, "add", "catalog_src/accounts.yaml")
    git(project, "commit", "--quiet", "--message", "x")
    output = run(*command, "--personal-data").output

    note = "/catalog_src/accounts.yaml: is in git already; run `git rm --cached catalog_src/accounts.yaml`, and"
    assert f"{note} remove it from earlier commits\n" in output, output
    git(project, "rm", "--cached", "catalog_src/accounts.yaml")
    assert "in git already" not in run(*command, "--personal-data").output


def test_repository_that_git_cannot_read_is_noted(bring: Import, catalog: Path) -> None:
    """The import goes on. The file may be in a commit."""
    catalog.parent.mkdir()
    (catalog.parent / ".git").write_text("no repository")
    notes = json.loads(bring("--accounts", "--personal-data", "--json").stdout)["notes"]

    (note,) = (note for note in notes if "in git already" in note)
    assert "accounts.yaml: may be in git already, because git cannot read the repository /" in note
    assert read(catalog)["tidepool"]["first_name"] == "Tide"


def test_link_that_leaves_the_project_is_not_followed(bring: Import, catalog: Path, tmp_path: Path) -> None:
    """Nothing is written."""
    catalog.parent.mkdir()
    (tmp_path / "elsewhere").write_text("")
    (catalog.parent / ".gitignore").symlink_to(tmp_path / "elsewhere")
    bring("--accounts", "--personal-data", code=1)

    assert (tmp_path / "elsewhere").read_text() == ""
    assert not (catalog / "accounts.yaml").exists()
