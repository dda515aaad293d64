"""The page that edits a catalog in a browser: its fields, what it refuses, and an edit in Chromium."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from generator.authoring.cms import COLLECTIONS, SETTINGS
from generator.catalog import json_schema
from tests.conftest import Site
from tests.support import browser, servers
from tests.support.author_catalogs import Run
from tests.support.browser import Browser, Tab, Viewport
from tests.support.node_tools import MODULES, needs_node_tools
from tests.support.paths import EXAMPLE
from tests.support.schema_editor import objects
from tests.support.servers import LIMIT

PACKAGES = ("@sveltia/cms", "@fontsource-variable/material-symbols-outlined", "immutable")
STARTED = re.compile(r"\((http://127\.0\.0\.1:\d+)/\)")
COLLECTION, CHAPTER = "chapters_of_lighthouse-on-foot", "010-odile-writes-a-complaint"
CHAPTER_FILE = f"catalog_src/series/lighthouse-on-foot/chapters/{CHAPTER}.yaml"
# The other way to write a number, and what all pages of a chapter have in common.
LEFT_OUT = ("should be digits", "should be a URL that ends with a file name")
# Files of the test backend are in the browser's private folder.
FOLDER = "(await navigator.storage.getDirectory()).getDirectoryHandle('sveltia-cms-test', { create: true })"
WRITE = f"""(async (files) => {{
    for (const [path, text] of files) {{
        const [name, ...folders] = path.split('/').reverse();
        let folder = await {FOLDER};
        for (const part of folders.reverse()) folder = await folder.getDirectoryHandle(part, {{ create: true }});
        const stream = await (await folder.getFileHandle(name, {{ create: true }})).createWritable();
        await stream.write(text);
        await stream.close();
    }}
    return true;
}})(%s)"""
READ = f"""(async (path) => {{
    const [name, ...folders] = path.split('/').reverse();
    let folder = await {FOLDER};
    for (const part of folders.reverse()) folder = await folder.getDirectoryHandle(part);
    return (await (await folder.getFileHandle(name)).getFile()).text();
}})(%s)"""
ENTER = "[...document.querySelectorAll('button')].find((button) => button.innerText.includes('Test Repository'))"
FIELD = "[data-key-path=%s]"
INPUT = f"{FIELD} :is(input:not([type=file]), textarea)"
SAVE = "[...document.querySelectorAll('button')].find((button) => button.innerText.trim() === 'Save')"
REVERT = "[...document.querySelectorAll('[role=menuitem]')].find((item) => item.innerText.includes('Revert'))"
# Types one text, in two steps: a run begins as a list of one file. Saves as soon as all texts are there.
EDIT = f"""(texts, done) => {{
    for (const [selector, text] of Object.entries(texts)) {{
        const input = document.querySelector(selector), begin = text.slice(0, 7);
        if (done() || !input) return done();
        if (input.value !== text) {{
            const {{ set }} = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value');
            set.call(input, input.value === begin ? text : begin);
            input.dispatchEvent(new Event('input', {{ bubbles: true }}));
            return false;
        }}
    }}
    if ({SAVE}?.disabled === false) {SAVE}.click();
}}"""


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("example")
    shutil.copytree(EXAMPLE, project / "catalog_src")
    return project


@pytest.fixture(scope="module")
def collections(example: Path, run: Run) -> dict[str, Any]:
    """The collections of the page by name."""
    collections = json.loads((write(run, example) / COLLECTIONS).read_bytes())["collections"]
    return {collection["name"]: collection for collection in collections}


def write(run: Run, project: Path, folder: str = "editor") -> Path:
    """Write the page into a folder of a project, which is returned."""
    result = run("schema", "--cms", project / folder, "--catalog", project / "catalog_src")
    assert result.exit_code == 0, result.output
    return project / folder


def shapes(fields: list[dict[str, Any]]) -> Iterator[tuple[str, str, bool]]:
    """Name, help and necessity of all fields, those of inner objects, too."""
    for field in fields:
        yield field["name"], field["hint"].partition(" (default: ")[0], field["required"]
        yield from shapes(field.get("fields", []))


def expected(schema: dict[str, Any], whole: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    for name, part in schema.get("properties", {}).items():
        yield name, part["description"], name in schema.get("required", ())
        yield from expected(part, whole)
        yield from expected(part.get("items", {}), whole)


def test_every_field_of_every_record_is_there_with_its_help(collections: dict[str, Any]) -> None:
    """A new field of a record appears by itself."""
    schemas = json_schema.schemas()
    files = {file["name"]: file["fields"] for file in collections["lists"]["files"]}

    assert sorted(shapes(collections["series"]["fields"])) == sorted(expected(schemas["series"], schemas["series"]))
    assert sorted(shapes(files["site"])) == sorted(expected(schemas["site"], schemas["site"]))
    chapter = sorted(expected(schemas["chapter"], schemas["chapter"]))
    assert sorted(shapes(collections[COLLECTION]["fields"])) == chapter
    for name, schema in schemas.items():
        file = {"people": "authors"}.get(name, name)
        if schema["type"] == ["array", "null"] and file != "keys":
            assert sorted(shapes(files[file][0]["fields"])) == sorted(expected(schema["items"], schema)), file


def test_each_check_is_that_of_the_schema(collections: dict[str, Any]) -> None:
    """All patterns, choices and limits of the files are in the page; times are chosen, and pages have two patterns."""
    page = json.dumps(list(collections.values()))
    for name in ("series", "chapter", "site", "people", "groups", "categories", "members", "accounts"):
        for part in objects(json_schema.schemas()[name]):
            is_left_out = part.get("patternErrorMessage", "").startswith(LEFT_OUT)
            for key in ("pattern", "enum", "maximum", "maxLength"):
                value = part.get(key) if isinstance(part.get("type", ""), str) else None
                if value and value != json_schema.INSTANT and not is_left_out:
                    assert json.dumps(value)[1:-1] in page, (name, part)


@needs_node_tools
def test_javascript_reads_each_pattern(collections: dict[str, Any]) -> None:
    """Sveltia ignores one that it cannot read, and takes one that ends with a slash and letters for one with flags."""
    page = json.dumps(list(collections.values()))
    checks = re.findall(r'"(?:pattern": \[|page": |run": )("(?:[^"\\]|\\.)*")', page)
    patterns = [json.loads(check) for check in checks]
    script = "JSON.parse(process.argv[1]).forEach((pattern) => new RegExp(pattern))"

    assert len(patterns) > 50
    assert [pattern for pattern in patterns if not pattern.startswith("^") or re.search("/[a-z]*$", pattern)] == []
    subprocess.run(["node", "-e", script, json.dumps(patterns)], check=True, timeout=LIMIT)


@needs_node_tools
@pytest.mark.usefixtures("collections")
def test_configuration_is_valid(example: Path) -> None:
    """By the schema that Sveltia has for both files together."""
    schema = json.loads((MODULES / "@sveltia/cms/schema/sveltia-cms.json").read_bytes())
    settings = yaml.safe_load((example / "editor" / SETTINGS).read_bytes())
    whole = settings | json.loads((example / "editor" / COLLECTIONS).read_bytes())

    assert [error.message for error in Draft7Validator(schema).iter_errors(whole)] == []


@pytest.mark.usefixtures("collections")
def test_packages_are_those_of_the_tests(example: Path) -> None:
    wanted = json.loads((example / "editor/package.json").read_bytes())["dependencies"]
    tested = json.loads((MODULES.parents[1] / "requirements/node/package.json").read_bytes())["devDependencies"]

    assert wanted == {name: tested[name] for name in PACKAGES}


def test_settings_belong_to_the_owner(site: Site, run: Run) -> None:
    """All other files are written again, also after an update of the program. The page may connect to their hosts."""
    own = "# https://unused.example\nbackend:\n  name: gitea\n  api_root: https://Git.example:3000/api/v1\n"
    editor = write(run, site.folder)
    settings, page = editor / SETTINGS, editor / "index.html"
    assert " https://codeberg.org; base-uri" in page.read_text()
    settings.write_text(own)
    page.write_text("old")
    write(run, site.folder)

    assert settings.read_text() == own
    assert " https://codeberg.org https://Git.example:3000; base-uri" in page.read_text()


def test_folders_of_a_site_and_of_others_are_refused(site: Site, run: Run) -> None:
    site.write("site.yaml", "base_url: https://a.example\nmedia_folder: pictures\n")
    (site.folder / "other").mkdir()
    (site.folder / "other/index.html").write_text("mine")
    for name in ("catalog_src", "catalog_src/.editor", "theme/editor", "dist", "pictures/editor"):
        result = run("schema", "--cms", site.folder / name, "--catalog", site.folder / "catalog_src")
        assert (result.exit_code, "which a site is made of; choose another folder" in result.stderr) == (1, True), name
    result = run("schema", "--cms", site.folder / "other", "--catalog", site.folder / "catalog_src")
    advice = "has other files; choose an empty folder, or the one of an earlier run"
    assert result.stderr == f"{site.folder}/other: {advice}\n"
    assert run("schema", "--cms", site.folder / "editor", "schemas").exit_code == 2
    assert (site.folder / "other/index.html").read_text() == "mine"


# In Chromium


def in_chromium(test: Callable[..., None]) -> Callable[..., None]:
    for mark in (*browser.reads_pages, needs_node_tools):
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def tab(example: Path, run: Run, chromium: Browser) -> Iterator[Tab]:
    """The page with the example in Sveltia's test backend, whose files end with the tab."""
    editor = write(run, example, "tried")
    (editor / SETTINGS).write_text((editor / SETTINGS).read_text().replace("name: github", "name: test-repo"))
    for package in PACKAGES:
        (editor / "node_modules" / package).parent.mkdir(parents=True, exist_ok=True)
        (editor / "node_modules" / package).symlink_to(MODULES / package)
    files = [
        (path.relative_to(example).as_posix(), path.read_text(encoding="utf-8"))
        for path in sorted((example / "catalog_src").rglob("*.yaml"))
    ]
    command = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", editor, "0"]
    with servers.running(command, STARTED.search) as server, chromium.tab(Viewport(height=2000)) as opened:
        started = STARTED.search(server.printed())
        assert started
        url = started[1]
        opened.open(f"{url}/package.json")
        assert opened.run(WRITE % json.dumps(files))
        opened.open(f"{url}/")
        opened.wait_until(f"{ENTER} !== undefined")
        opened.run(f"{ENTER}.click()")
        opened.wait_until("location.hash === '#/collections/series'")
        yield opened


@in_chromium
def test_an_edit_changes_what_was_edited(tab: Tab, example: Path, run: Run) -> None:
    """Each file that has one of the shapes of the example is still valid, and only the title of its data changes."""
    for collection, entry, file in (
        ("series", "paper-moons", "catalog_src/series/paper-moons.yaml"),
        ("series_in_folders", "lighthouse-on-foot/series", "catalog_src/series/lighthouse-on-foot/series.yaml"),
        (COLLECTION, CHAPTER, CHAPTER_FILE),
    ):
        before = yaml.safe_load((example / file).read_bytes())
        after = edited(tab, collection, entry, "title", "New title", file)
        (example / file).write_text(after, encoding="utf-8")
        assert yaml.safe_load(after) == {**before, "title": "New title"}, file
    result = run("check", "--catalog", example / "catalog_src")
    assert result.exit_code == 0, result.output


@in_chromium
def test_a_new_series_is_a_file_with_its_slug(tab: Tab, example: Path, run: Run) -> None:
    texts = {"title": "Über den Mond, Nr. 2", "cover": "cover.jpg"}
    edit(tab, "#/collections/series/new", texts, "location.hash === '#/collections/series'")
    text = tab.run(READ % json.dumps("catalog_src/series/ueber-den-mond-nr-2.yaml"))
    (example / "catalog_src/series/ueber-den-mond-nr-2.yaml").write_text(text, encoding="utf-8")

    assert yaml.safe_load(text) == {"title": "Über den Mond, Nr. 2", "cover": "cover.jpg"}
    result = run("check", "--catalog", example / "catalog_src")
    assert result.exit_code == 0, result.output


@in_chromium
def test_pages_are_a_run_or_a_list(tab: Tab) -> None:
    """Wrong lines have a message, and are not saved. Reverting changes the text, too."""
    run = "001.jpg .. 018.jpg"
    two, spaced = ("c.png\nd.png", ["c.png", "d.png"]), ("b.png\n\n a.png \n", ["b.png", "a.png"])
    for text, pages in ((run, run), two, (run, run), spaced):
        after = edited(tab, COLLECTION, CHAPTER, "pages", text, CHAPTER_FILE)
        assert yaml.safe_load(after)["pages"] == pages

    message = f"document.querySelector('{FIELD % 'pages'}').innerText.includes('a/b.png: should be')"
    edit(tab, f"#/collections/{COLLECTION}/entries/{CHAPTER}", {"pages": "a/b.png"}, message)
    assert yaml.safe_load(tab.run(READ % json.dumps(CHAPTER_FILE)))["pages"] == ["b.png", "a.png"]
    tab.run(f"document.querySelector('{FIELD % 'pages'} [aria-haspopup=menu]').click()")
    tab.wait_until(f"{REVERT} !== undefined")
    tab.run(f"{REVERT}.click()")
    tab.wait_until(f"document.querySelector('{INPUT % 'pages'}').value === 'b.png\\na.png'")


@in_chromium
def test_nothing_comes_from_other_hosts(tab: Tab) -> None:
    """The program asks other hosts for fonts and for its newest version; the policy of the page refuses that."""
    assert tab.run("document.fonts.load('24px \"Material Symbols Outlined\"').then((fonts) => fonts.length)") > 0
    tab.wait_until("[...document.fonts].some((font) => font.status === 'loaded')")
    own = ("blob:", "data:", tab.run("location.origin"))
    assert [url for url, status in tab.requests() if status and not url.startswith(own)] == []


def edit(tab: Tab, address: str, texts: dict[str, str], done: str) -> None:
    """Open a form, change fields, and save until the expression `done` is true.

    The editor may replace a form that it has just opened, and what was typed there is gone.
    """
    tab.run(f"location.hash = {json.dumps(address)}")
    tab.wait_until(f"({EDIT})({json.dumps({INPUT % field: text for field, text in texts.items()})}, () => {done})")


def edited(tab: Tab, collection: str, entry: str, field: str, text: str, path: str) -> str:
    """The file of an entry after an edit."""
    address = f"#/collections/{collection}"
    edit(tab, f"{address}/entries/{entry}", {field: text}, f"location.hash === {json.dumps(address)}")
    # The form disappears after the address changes.
    tab.wait_until(f"document.querySelector('{INPUT % field}') === null")
    after: str = tab.run(READ % json.dumps(path))
    return after
